#!/bin/sh
# Check types from what the last check of any clone left: a clone without it takes a minute more.
# In another folder mypy goes by the hash of each source. After a stop on what it read (status 2) it
# begins anew.
# Usage: types.sh MYPY
set -eu

[ -d .mypy_cache ] || sh scripts/reuse.sh take mypy
status=0
"$1" || status=$?
if [ "$status" -eq 2 ]; then
    rm -rf .mypy_cache
    status=0
    "$1" || status=$?
fi
[ "$status" -ne 0 ] || sh scripts/reuse.sh leave mypy .mypy_cache
exit "$status"
