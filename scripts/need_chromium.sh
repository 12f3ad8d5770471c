#!/bin/sh
# Browser tests need Chromium: install Debian's when it is missing and we may, else say what to do.
set -eu

if command -v chromium >/dev/null 2>&1; then
    exit 0
fi
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing Chromium from Debian's packages for the browser tests."
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
    exit 0
fi
echo "Chromium is missing, so the browser tests will be skipped (and fail where CI=true)."
echo "Install it as root: apt-get install chromium"
