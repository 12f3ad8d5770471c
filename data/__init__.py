"""What the numbers mean: columns, units, filters, queries of the lake and pure analysis."""

from data.file_cache import choose_numba_folder

# Before Numba is imported.
choose_numba_folder()
