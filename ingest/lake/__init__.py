"""Writes to a lake: big files, commits, state and maintenance."""
