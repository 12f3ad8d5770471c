"""Runs read by the workers of a Dask cluster."""
