#!/bin/sh
# Compile what Numba compiles, once for this machine: the loops of ingest, then the models.
# Usage: compile.sh PYTHON
set -eu

"$1" -c "from ingest.logs.compiling import compile_loops; compile_loops()"
"$1" -c "from data.models import compile_models; compile_models()"
