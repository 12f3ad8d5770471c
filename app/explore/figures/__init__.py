"""The figures of Explore: tables and a state in, Plotly dictionaries out."""
