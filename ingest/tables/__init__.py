"""Convert summary tables to rows of `runs`."""
