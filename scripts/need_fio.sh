#!/bin/sh
# Tests of storage runs make real ones with fio: install Debian's when it is missing and we may,
# else say what to do.
set -eu

if command -v fio >/dev/null 2>&1; then
    exit 0
fi
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing fio from Debian's packages for the tests of storage runs."
    export DEBIAN_FRONTEND=noninteractive
    if apt-get update -qq && apt-get install -y -qq --no-install-recommends fio >/dev/null; then
        exit 0
    fi
fi
echo "fio is missing, so the tests that run it will be skipped (and fail where CI=true)."
echo "Install it as root: apt-get install fio"
