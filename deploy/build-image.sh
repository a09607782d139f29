#!/usr/bin/env bash
# Builds the image with its labels: deploy/build-image.sh NAME [option of the engine …]
#   deploy/build-image.sh upwave                                for the engine and architecture of this machine
#   deploy/build-image.sh registry.example.com/upwave --push    for amd64 and arm64, with attested SBOM and provenance
# `--output type=oci,dest=upwave.tar` writes the same two architectures to a file. `--push` and `--output` need buildx with a
# builder for several platforms: an engine with the containerd image store, or `docker buildx create --use`.
# Options replace those of the script: `--sbom=generator=IMAGE` uses a scanner from another registry.
# The SBOM is also in the image, as /app/sbom.cdx.json.
set -euo pipefail
cd "$(dirname "$0")/.."
name=${1:?the name of the image, such as registry.example.com/upwave}
shift
version=$(node -p "require('./package.json').version")
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
# The date of the commit, so that the same commit always gets the same date.
created=$(git log -1 --format=%cI 2>/dev/null || echo unknown)
options=(
  --file deploy/Dockerfile
  --build-arg "VERSION=$version" --build-arg "REVISION=$revision" --build-arg "CREATED=$created"
  --tag "$name:$version" "$@"
)
leaves=$(for option in "$@"; do case $option in --push | --output* | -o*) echo yes ;; esac; done)
if docker buildx version >/dev/null 2>&1; then
  if [ -n "$leaves" ]; then
    docker buildx build --platform linux/amd64,linux/arm64 --sbom=true --provenance=mode=max "${options[@]}" .
  else
    # An image in the local engine has one architecture, and cannot always have attestations.
    docker buildx build --load "${options[@]}" .
  fi
elif [ -n "$leaves" ]; then
  echo "docker buildx is not installed, and --push and --output need it; without them this builds for this machine" >&2
  exit 2
else
  here=$(docker version --format '{{.Server.Os}}/{{.Server.Arch}}')
  docker build --build-arg "BUILDPLATFORM=$here" "${options[@]}" .
fi
