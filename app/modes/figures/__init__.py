"""The figures of Modes: tables in, Plotly dictionaries out."""
