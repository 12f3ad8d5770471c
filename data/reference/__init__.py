"""Small published tables, each with its source; shown beside what was measured."""
