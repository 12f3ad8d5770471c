"""Raw files as bytes: found, opened, decompressed, digested and cut into lines."""
