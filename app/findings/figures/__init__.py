"""The figures of Findings: shares and levels in, Plotly dictionaries out."""
