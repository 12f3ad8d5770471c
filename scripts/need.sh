#!/bin/sh
# Install Debian's packages of programs that are missing, when we may; else say what to do.
# Usage: need.sh PROGRAM[=PACKAGE[,PACKAGE]]...
set -eu

# nginx and SLURM's daemons are there. Parts of a parallel make take turns: apt has one lock.
PATH="$PATH:/usr/sbin"
if command -v flock >/dev/null 2>&1; then
    exec 9>"${TMPDIR:-/tmp}/wattlas-packages.lock"
    flock 9
fi
packages=""
for each in "$@"; do
    command -v "${each%%=*}" >/dev/null 2>&1 || packages="$packages $(echo "${each#*=}" | tr ',' ' ')"
done
[ -n "$packages" ] || exit 0
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing Debian's packages for the tests:$packages"
    export DEBIAN_FRONTEND=noninteractive
    # Without the packages' own services: tests start servers of their own.
    # shellcheck disable=SC2086
    if apt-get update -qq && RUNLEVEL=1 apt-get install -y -qq --no-install-recommends $packages >/dev/null; then
        exit 0
    fi
fi
echo "Missing:$packages. Tests that need them will be skipped (and fail where CI=true)."
echo "Install as root: apt-get install$packages"
