"""What the numbers mean: columns, units, filters, queries of the lake and pure analysis."""
