"""What the numbers mean: columns, units, filters, the lake's queries and the pure analysis."""
