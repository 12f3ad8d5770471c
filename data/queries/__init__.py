"""Queries of the lake, one file per question: SQL over the views with bound parameters."""
