"""Found in place of pandas, so that pyarrow does without it, as in the container image."""

raise ModuleNotFoundError("No module named 'pandas'", name="pandas")
