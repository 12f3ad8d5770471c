#!/bin/sh
# Build the image on a base made of Debian's packages, run it hardened, and check what it promises.
# `image_test.sh base` only makes the base, which stays for the next time.
# Needs root and Debian; installs buildah, podman, runc and mmdebstrap. No daemon, no registry of images.
set -eu

work=$(mktemp -d)
port=18050
if ! { [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; }; then
    echo "image-test: NOT RUN: it needs root on Debian." >&2
    exit 1
fi
sh scripts/need.sh buildah podman runc mmdebstrap
export CONTAINERS_CONF="$work/containers.conf"
printf '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\nruntime = "runc"\n' >"$CONTAINERS_CONF"
# Without overlays each layer and each container is a copy of all files.
for driver in overlay vfs; do
    at=/var/tmp/wattlas-image/$driver
    store="--root $at --runroot $at/run --storage-driver $driver"
    if podman $store info >/dev/null 2>&1; then break; fi
done

run() { # name, options of podman, `--`, arguments of the image
    name=$1 && shift
    podman $store run --name "$name" --ulimit nofile=20000:20000 --ulimit nproc=4096:4096 --read-only \
        --read-only-tmpfs=false --tmpfs /tmp:rw,noexec,nosuid,nodev,size=256m --cap-drop ALL \
        --security-opt no-new-privileges "$@" 2>>"$work/podman.log"
}
finish() {
    podman $store rm --force wattlas-app wattlas-ingest >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap finish EXIT
fail() {
    echo "image-test: FAILED: $1" >&2
    podman $store logs wattlas-app 2>/dev/null | tail -20 >&2
    tail -20 "$work/podman.log" >&2
    exit 1
}

# Debian's packages once with binutils, for the build, and once without.
if ! podman $store image exists localhost/wattlas-base; then
    base=$(buildah $store from scratch)
    mmdebstrap --quiet --variant=minbase --aptopt='APT::Install-Recommends "false"' \
        --include=python3,python3-venv,ca-certificates,usr-is-merged,binutils --dpkgopt='path-exclude=/usr/share/locale/*' \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' bookworm "$(buildah $store mount "$base")"
    buildah $store umount "$base" >/dev/null
    buildah $store commit -q --format docker "$base" localhost/wattlas-build-base >/dev/null
    buildah $store run --isolation chroot "$base" -- sh -c "dpkg --purge \$(dpkg-query -W -f '\${Package} ' '*binutils*' 'libctf*' 'libgprofng*')" \
        >"$work/purge.log" 2>&1 || { cat "$work/purge.log" >&2; fail "removing binutils"; }
    buildah $store commit -q --squash --format docker "$base" localhost/wattlas-base >/dev/null
    buildah $store rm "$base" >/dev/null
fi
[ "${1:-}" != base ] || exit 0
args="--isolation chroot --pull-never --layers=false --quiet -v /etc/ssl/certs:/etc/ssl/certs:ro"
[ ! -f /etc/pip.conf ] || args="$args -v /etc/pip.conf:/etc/pip.conf:ro"
# Packages once for each state of what makes them; what Numba compiled, as other clones of this user.
packages=localhost/wattlas-packages:$(sed '/^FROM ..PACKAGES/,$d' Dockerfile | cat - requirements.txt | sha256sum | cut -c 1-16)
if ! podman $store image exists "$packages"; then
    buildah $store build --format docker $args --target packages --build-arg BUILD_BASE=localhost/wattlas-build-base \
        --tag "$packages" . >"$work/build.log" 2>&1 || { tail -30 "$work/build.log" >&2; fail "packages"; }
    podman $store images --quiet --filter "before=$packages" --filter 'reference=localhost/wattlas-packages' |
        xargs --no-run-if-empty podman $store rmi >/dev/null 2>&1 || true
fi
cache=${XDG_CACHE_HOME:-$HOME/.cache}/wattlas/image
mkdir -p "$cache"
args="$args --build-arg PACKAGES=$packages -v $cache:/root/.cache/wattlas"
IMAGE=localhost/wattlas BASE=localhost/wattlas-base BUILD_BASE=localhost/wattlas-build-base STORAGE_ARGS=$store BUILD_ARGS=$args BUILDER=buildah \
    sh scripts/image.sh >"$work/build.log" 2>&1 || { tail -30 "$work/build.log" >&2; fail "build"; }
image=localhost/wattlas:latest
# What the last build left without a name.
podman $store image prune --force >/dev/null 2>&1 || true
echo "image: $(podman $store image inspect "$image" --format '{{.Size}}' | awk '{printf "%.0f MB", $1 / 1e6}')"

# The sample goes in without a network, by a user who may write to the lake alone.
.venv/bin/python -m ingest sample "$work/raw" --size tiny >/dev/null
mkdir "$work/lake" && chown 10001:10001 "$work/lake" && chmod -R a+rX "$work"
began=$(date +%s%N)
run wattlas-ingest --network none --memory 2g -v "$work/lake:/lake" -v "$work/raw:/raw:ro" "$image" ingest add /raw \
    >"$work/ingest.log" || { tail -20 "$work/ingest.log" >&2; fail "ingest add"; }
echo "ingest add of the tiny sample: $((($(date +%s%N) - began) / 1000000)) ms"

run wattlas-app --detach --memory 1g --network host -v "$work/lake:/lake:ro" "$image" \
    app --port $port --sql on >/dev/null || fail "start"
python() { podman $store exec wattlas-app python "$@"; }
tries=0
until curl -sf "http://127.0.0.1:$port/health" >/dev/null; do
    tries=$((tries + 1)) && [ $tries -lt 120 ] && sleep 0.5 || fail "no answer"
done
for path in / /explore/export.html $(python -c 'from app.pages import PAGES; print(*(p.path for p in PAGES))'); do
    [ "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port$path")" = 200 ] || fail "$path"
done
curl -s -H 'Content-Type: application/json' -d '{"sql": "SELECT count(*) AS n FROM runs"}' \
    "http://127.0.0.1:$port/sql/run" | grep -q '"columns":\["n"\]' || fail "SQL"
for path in / /lake /opt/wattlas /opt/wattlas/app; do
    if podman $store exec wattlas-app touch "$path/x" 2>/dev/null; then fail "$path can be written to"; fi
done
status=$(podman $store exec wattlas-app cat /proc/1/status)
for line in "Uid:	10001" "CapEff:	0000000000000000" "NoNewPrivs:	1" "Seccomp:	2"; do
    echo "$status" | grep -q "^$line" || fail "not $line"
done
if python -m pip --version >/dev/null 2>&1; then fail "there is pip"; fi
began=$(date +%s%N)
podman $store stop --time 10 wattlas-app >/dev/null 2>>"$work/podman.log"
took=$((($(date +%s%N) - began) / 1000000))
[ "$(podman $store inspect wattlas-app --format '{{.State.ExitCode}}')" = 0 ] || fail "status at the stop"
echo "stop: $took ms"
[ $took -lt 2000 ] || echo "image-test: the stop took longer than 2 s" >&2
echo "image-test: passed"
