"""Per-interrupt logs to the big tables of a run."""
