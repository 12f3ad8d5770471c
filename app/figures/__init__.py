"""Tables and a state in, Plotly figures out; no Dash, no DuckDB."""
