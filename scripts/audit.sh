#!/bin/sh
# Ask a public database of vulnerabilities about everything in requirements-dev.txt, which includes all
# others; called by `make audit`. Status 1 where it knows one. Where it cannot be reached, as on machines
# without a way out, this says so and has status 0: that is no fault of the project.
# `--strict`: a database that lacks a package, as a mirror may, counts as one that does not answer.
set -eu

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
status=0
{
    .venv/bin/python -m venv "$work/venv" &&
        "$work/venv/bin/pip" install --quiet --disable-pip-version-check pip-audit==2.10.1 &&
        "$work/venv/bin/pip-audit" --requirement requirements-dev.txt --require-hashes --disable-pip --strict \
            --progress-spinner off --timeout 30
} >"$work/found" 2>"$work/said" || status=$?
if [ "$status" -eq 0 ]; then
    echo "audit: no known vulnerability in requirements-dev.txt"
elif grep -q "known vulnerabilit" "$work/said"; then
    cat "$work/found" "$work/said" >&2
    exit 1
else
    echo "audit: NOT DONE: the database of vulnerabilities does not answer: $(tail -1 "$work/said" | sed 's,^ERROR:[^:]*:,,' | cut -c 1-200)"
fi
