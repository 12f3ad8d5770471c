"""SQL that nobody has checked, each query in a process of its own that can only read the lake."""
