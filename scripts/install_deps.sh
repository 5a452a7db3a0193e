#!/bin/sh
# install_deps.sh [test] [valgrind]: installs what is missing of the packages needed to build, to test,
# to run valgrind. Does nothing and says nothing if all are there.
set -eu

build="cmake ninja-build gcc libc6-dev pkg-config liblua5.4-dev libcjson-dev libpng-dev zlib1g-dev
       liblapacke-dev libopenblas-dev libsuitesparse-dev"
test="libcmocka-dev python3-vtk9 python3-numpy"

packages=$build
for word in "$@"; do
  case $word in
    test) packages="$packages $test" ;;
    valgrind) packages="$packages valgrind" ;;
    *) echo "install_deps.sh: unknown word $word; known: test, valgrind" >&2 && exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "install_deps.sh: this is no Debian system; please install the equivalents of:" $packages >&2
  exit 0 # cmake says what it does not find
fi

missing=""
for package in $packages; do
  status=$(dpkg-query -W -f '${db:Status-Status} ' "$package" 2>/dev/null || true)
  case " $status" in
    *" installed "*) ;;
    *) [ "$package" = pkg-config ] && command -v pkg-config >/dev/null 2>&1 || missing="$missing $package" ;;
  esac
done
[ -z "$missing" ] && exit 0

if [ "$(id -u)" = 0 ]; then
  as_root="env DEBIAN_FRONTEND=noninteractive"
elif command -v sudo >/dev/null 2>&1; then
  as_root="sudo env DEBIAN_FRONTEND=noninteractive"
else
  echo "These packages are missing and need root to be installed:$missing" >&2
  echo "As root: apt-get install$missing" >&2
  exit 1
fi

echo "Installing:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # lists of words
if ! { $as_root apt-get update && $as_root apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "Could not install:$missing" >&2
  exit 1
fi
