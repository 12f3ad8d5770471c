"""Windows of a run: which rows answer them, and the arithmetic on these."""
