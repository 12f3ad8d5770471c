"""Raw logs in, lake out."""
