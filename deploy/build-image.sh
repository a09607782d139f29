#!/usr/bin/env bash
# Builds the image with its labels: deploy/build-image.sh NAME [option of the engine …]
#   deploy/build-image.sh upwave                                for this machine's engine and architecture
#   deploy/build-image.sh registry.example.com/upwave --push    for amd64 and arm64, with SBOM and provenance attested
# `--output type=oci,dest=upwave.tar` writes the same two architectures to a file. Both need buildx with a builder for several
# platforms: an engine with the containerd image store, or `docker buildx create --use`.
# An option given here replaces the script's own: `--sbom=generator=IMAGE` takes the scanner from a registry of yours.
# /app/sbom.cdx.json in the image is its SBOM, too.
set -euo pipefail
cd "$(dirname "$0")/.."
name=${1:?the name of the image, such as registry.example.com/upwave}
shift
version=$(node -p "require('./package.json').version")
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
# The same commit gives the same date.
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
    # What an engine keeps for itself has one architecture, and may hold no attestations.
    docker buildx build --load "${options[@]}" .
  fi
elif [ -n "$leaves" ]; then
  echo "docker buildx is not installed, and --push and --output need it; without them this builds for this machine" >&2
  exit 2
else
  here=$(docker version --format '{{.Server.Os}}/{{.Server.Arch}}')
  docker build --build-arg "BUILDPLATFORM=$here" "${options[@]}" .
fi
