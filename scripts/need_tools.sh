#!/bin/sh
# Tests make real runs with fio and iperf3: install Debian's when one is missing and we may, else
# say what to do.
set -eu

missing=""
for tool in fio iperf3; do
    command -v "$tool" >/dev/null 2>&1 || missing="$missing $tool"
done
if [ -z "$missing" ]; then
    exit 0
fi
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing$missing from Debian's packages for the tests of real runs."
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086
    if apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing >/dev/null; then
        exit 0
    fi
fi
echo "Missing:$missing; the tests that run them will be skipped (and fail where CI=true)."
echo "Install as root: apt-get install$missing"
