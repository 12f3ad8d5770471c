"""The settings of a dataset, in layers of TOML, and the codes of its knobs."""
