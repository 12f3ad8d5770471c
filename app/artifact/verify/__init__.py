"""The parts of verify.py, which needs Python and DuckDB alone."""
