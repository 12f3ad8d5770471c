"""The figures of Storage: tables in, Plotly dictionaries out.

assets/README.md says what the browser reads from `meta` of a trace: here `kind` (`points`, `bars`,
`cells`, or what else a trace is), `rows`, `words`, `knobs`, `box`, `behind` and `fades`.
"""
