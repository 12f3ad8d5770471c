"""The page Lake; see README.md."""
