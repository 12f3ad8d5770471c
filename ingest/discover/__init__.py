"""Find raw files, assign them to runs, and decide what to read."""
