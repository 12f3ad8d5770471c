"""Pure functions on arrays and tables: no files, no queries, no figures."""
