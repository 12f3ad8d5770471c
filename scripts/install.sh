#!/bin/sh
# Install a file of locked packages: by uv, with a quarter of pip's processor time; by pip where uv cannot.
# uv comes by its own hashes. It does not read pip's settings, such as another index: then pip installs.
# Usage: install.sh VENV FILE
set -eu

python=$1/bin/python
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
by_pip() {
    "$python" -m pip install --quiet --no-compile --disable-pip-version-check --require-hashes -r "$1"
}
sed -n '/^uv==/,/[^\\]$/p' requirements-dev.txt >"$work/uv.txt"
if by_pip "$work/uv.txt" && "$1/bin/uv" pip install --quiet --python "$python" --require-hashes -r "$2"; then
    exit 0
fi
echo "uv could not install $2; pip does." >&2
by_pip "$2"
