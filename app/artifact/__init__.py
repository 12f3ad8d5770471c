"""A study as a folder that verifies itself; see README.md."""
