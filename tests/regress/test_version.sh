#!/bin/bash
# One version: in the project, the header (twice) and the program.
set -eu
program=$1 source_dir=$2
project=$(sed -n 's/^project(meniscus VERSION \([0-9.]*\).*/\1/p' "$source_dir/CMakeLists.txt")

header_string() { sed -n 's/^#define MN_VERSION_STRING "\(.*\)"/\1/p' "$1"; }
header_numbers() {
  for part in MAJOR MINOR PATCH; do
    sed -n "s/^#define MN_VERSION_$part \([0-9]*\)$/\1/p" "$1"
  done | paste -sd.
}
agrees() { # header
  [ "$(header_string "$1")" = "$project" ] && [ "$(header_numbers "$1")" = "$project" ]
}

header=$source_dir/include/meniscus/base.h
echo "project $project, header $(header_string "$header") $(header_numbers "$header")"
[ -n "$project" ] && agrees "$header" || { echo "FAIL the versions differ"; exit 1; }
"$program" --version | grep -qF "$project" || { echo "FAIL meniscus --version"; exit 1; }

work=$(mktemp -d /tmp/meniscus-version.XXXXXX) # negative control
trap 'rm -rf "$work"' EXIT
sed 's/^\(#define MN_VERSION_PATCH\) .*/\1 99/' "$header" >"$work/base.h"
if agrees "$work/base.h"; then
  echo "FAIL a wrong header passes"
  exit 1
fi
