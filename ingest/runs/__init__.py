"""The files of a run to its row."""
