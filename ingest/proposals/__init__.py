"""Settings for tables that nobody described, from their headings and cells."""
