"""Summary tables to rows of `runs`."""
