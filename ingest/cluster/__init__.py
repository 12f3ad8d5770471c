"""Read runs on the workers of a Dask cluster."""
