#!/bin/sh
# Tests of clusters submit jobs to a real SLURM: install Debian's when it is missing and we may, else
# say what to do.
set -eu

if command -v slurmctld >/dev/null 2>&1 || [ -x /usr/sbin/slurmctld ]; then
    exit 0
fi
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing SLURM from Debian's packages for the tests of clusters."
    export DEBIAN_FRONTEND=noninteractive
    # The package's own services are not wanted: the test starts daemons of its own.
    if apt-get update -qq && RUNLEVEL=1 apt-get install -y -qq --no-install-recommends slurm-wlm >/dev/null; then
        exit 0
    fi
fi
echo "SLURM IS MISSING: no job is submitted to it by the tests (they fail where CI=true)."
echo "Install it as root: apt-get install slurm-wlm"
