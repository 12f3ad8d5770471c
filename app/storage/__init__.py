"""Storage: the views of the storage studies."""
