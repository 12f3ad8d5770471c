"""What holds for a dataset: its settings, in layers of TOML, and the codes of its knobs."""
