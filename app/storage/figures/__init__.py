"""The pictures of Storage: tables in, Plotly dictionaries out.

Every trace that can be selected has `meta`: `kind` (`points`, `bars` or `cells`), `rows` (for each
of its points the configurations behind it, by their number in the study), `knobs` (what a click
selects by) and `words` (for each point the lines of its hover).
"""
