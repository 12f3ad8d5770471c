"""Distributions of what per-interrupt logs count, over thousands of runs."""
