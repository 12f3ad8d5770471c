#!/bin/sh
# The image's entry: `app ...` or `ingest ...`. The root is read-only, and Numba wants to write where
# it reads: what was compiled when the image was built goes into the temporary folder first.
set -eu

if [ ! -d "$NUMBA_CACHE_DIR" ]; then
    cp -r /opt/wattlas/numba "$NUMBA_CACHE_DIR"
fi
exec python -m "$@"
