"""One file a question; each builds SQL over the lake's views with bound parameters."""
