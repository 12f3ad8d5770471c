"""Modes: the winner of each cell."""
