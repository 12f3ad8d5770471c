"""Read the files of a run and build its row of `runs`."""
