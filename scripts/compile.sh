#!/bin/sh
# Compile what Numba compiles, once for this machine: the loops of ingest, then the models.
# What another clone compiled is taken. Numba sees the change of a function, but not of what it calls: so
# all models are in the name of what is left. The files of the loops are named by all that they depend on.
# Usage: compile.sh PYTHON
set -eu

scripts=$(cd "$(dirname "$0")" && pwd)
name=compiled-$(find data/models -name '*.py' | LC_ALL=C sort | xargs cat | sha256sum | cut -c 1-32)
folder=. places="data/models ingest/files"
if [ -n "${NUMBA_CACHE_DIR:-}" ]; then
    # Numba names the models' folders by their path.
    name=$name-$(pwd | sha256sum | cut -c 1-8) folder=$NUMBA_CACHE_DIR places=.
    mkdir -p "$folder"
fi
compiled() {
    (cd "$folder" && find $places -name '*.nb[ic]' -o -name '*.o')
}
reuse() {
    (cd "$folder" && sh "$scripts/reuse.sh" "$@")
}
[ -n "$(compiled)" ] || reuse take "$name"
"$1" -c "from ingest.logs.compiling import compile_loops; compile_loops()"
"$1" -c "from data.models import compile_models; compile_models()"
reuse leave "$name" $(compiled)
