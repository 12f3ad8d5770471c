"""The SQL page: any other question about the lake."""
