"""Explore: cost against performance, heatmap, best settings."""
