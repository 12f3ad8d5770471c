"""Windows of a run: which rows are read, and the arithmetic on them."""
