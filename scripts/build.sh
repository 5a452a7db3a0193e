#!/bin/sh
# scripts/build.sh PRESET: configures and builds; quiet unless it fails.
set -eu
cd "$(dirname "$0")/.."
preset=$1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Building ($preset) ..."
if ! { cmake --preset "$preset" && cmake --build --preset "$preset"; } >"$log" 2>&1; then
  tail -n 60 "$log" >&2
  echo "The build failed." >&2
  exit 1
fi
