"""Panels of Modes: each is the page of its value, all are one table of cells."""

LOADS = (200_000.0, 400_000.0)
