#!/bin/sh
# Compile what Numba compiles, once for this machine: the loops of ingest, then the models.
# What another clone compiled is taken. Numba sees the change of a function, but not of what it calls: so
# all models are in the name of what is left. The files of the loops are named by all that they depend on.
# Usage: compile.sh PYTHON
set -eu

scripts=$(dirname "$0")
compiled() {
    find data/models ingest/files -name '*.nb[ic]' -o -name '*.o'
}
models=$(find data/models -name '*.py' | LC_ALL=C sort | xargs cat | sha256sum | cut -c 1-32)
[ -n "$(compiled)" ] || sh "$scripts/reuse.sh" take "compiled-$models"
"$1" -c "from ingest.logs.compiling import compile_loops; compile_loops()"
"$1" -c "from data.models import compile_models; compile_models()"
# An image has them in a folder of its own.
[ -n "${NUMBA_CACHE_DIR:-}" ] || sh "$scripts/reuse.sh" leave "compiled-$models" $(compiled)
