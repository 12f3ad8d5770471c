#!/bin/sh
# One browser test goes through a real nginx: install Debian's when it is missing and we may, else
# say what to do.
set -eu

if command -v nginx >/dev/null 2>&1 || [ -x /usr/sbin/nginx ]; then
    exit 0
fi
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing nginx from Debian's packages for the test behind a proxy."
    export DEBIAN_FRONTEND=noninteractive
    # The package's own service is not wanted: the test starts a server of its own.
    if apt-get update -qq && RUNLEVEL=1 apt-get install -y -qq --no-install-recommends nginx-light >/dev/null; then
        exit 0
    fi
fi
echo "nginx is missing, so the test behind a proxy will be skipped (and fail where CI=true)."
echo "Install it as root: apt-get install nginx-light"
