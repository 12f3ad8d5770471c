"""Models: what theory says of interrupt handling and of energy, beside the runs."""
