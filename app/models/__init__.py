"""Models: theory of interrupt handling and of energy, compared with the runs."""
