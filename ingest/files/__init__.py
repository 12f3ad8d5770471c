"""Raw files as bytes: find, open, decompress, digest and split them into lines."""
