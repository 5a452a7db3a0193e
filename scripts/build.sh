#!/bin/sh
# scripts/build.sh PRESET [tests]: configures and builds the library and the program, with `tests` all else, too;
# quiet unless it fails.
set -eu
cd "$(dirname "$0")/.."
preset=$1
tests=OFF # they need packages that the program does not
[ "${2:-}" = tests ] && tests=ON
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Building ($preset) ..."
if ! { cmake --preset "$preset" -DMENISCUS_TESTS=$tests && cmake --build --preset "$preset"; } >"$log" 2>&1; then
  tail -n 60 "$log" >&2
  echo "The build failed." >&2
  exit 1
fi
