#!/usr/bin/env bash
# Builds the image with its labels: deploy/build-image.sh NAME [option of the engine …]
#   deploy/build-image.sh registry.example.com/upwave --push
# With buildx: for two architectures, with SBOM and provenance attested; `--push` sends it to its registry. Without buildx:
# for this machine's architecture. /app/sbom.cdx.json in the image is the SBOM in both cases.
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
if docker buildx version >/dev/null 2>&1; then
  docker buildx build --platform linux/amd64,linux/arm64 --sbom=true --provenance=mode=max "${options[@]}" .
else
  echo "docker buildx is not installed: the image is for $(uname -m) alone, without attestations" >&2
  docker build "${options[@]}" .
fi
