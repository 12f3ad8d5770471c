#!/bin/sh
# Build the image with what is there: Docker, Podman or Buildah. Set if wanted:
# IMAGE (its name), BASE, BUILD_BASE, BUILD_ARGS, STORAGE_ARGS.
set -eu

image=${IMAGE:-wattlas}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
revision=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
set -- --build-arg "VERSION=$version" --build-arg "REVISION=$revision" --tag "$image:$version" --tag "$image:latest"
[ -z "${BASE:-}" ] || set -- "$@" --build-arg "BASE=$BASE" --build-arg "BUILD_BASE=${BUILD_BASE:-$BASE}"

# Without the format for Docker an image has no health check.
if [ "${BUILDER:-}" != buildah ] && docker info >/dev/null 2>&1; then
    exec docker build ${BUILD_ARGS:-} "$@" .
elif command -v buildah >/dev/null 2>&1; then
    exec buildah ${STORAGE_ARGS:-} build --format docker ${BUILD_ARGS:-} "$@" .
elif command -v podman >/dev/null 2>&1; then
    exec podman ${STORAGE_ARGS:-} build --format docker ${BUILD_ARGS:-} "$@" .
fi
echo "Building the image needs Docker, Podman or Buildah; none is there." >&2
exit 1
