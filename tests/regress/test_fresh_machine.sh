#!/bin/bash
# ./demo.sh installs what the program needs, not what the tests need: where cmocka is missing the build must
# be configured all the same. (It was not, unless ./test.sh had run before.)
set -eu
source_dir=$2
work=$(mktemp -d /tmp/meniscus-fresh.XXXXXX)
trap 'rm -rf "$work"' EXIT

mkdir "$work/pkgconfig"
for folder in $(pkg-config --variable pc_path pkg-config | tr : ' '); do
  for file in "$folder"/*.pc; do
    case $file in */cmocka.pc | *'/*.pc') ;; *) ln -sf "$file" "$work/pkgconfig/" ;; esac
  done
done

configure() { # ON or OFF, as scripts/build.sh does it
  PKG_CONFIG_LIBDIR="$work/pkgconfig" PKG_CONFIG_PATH="" \
    cmake --preset release -S "$source_dir" -B "$work/build-$1" "-DMENISCUS_TESTS=$1" >"$work/log" 2>&1
}

grep -q 'build.sh release$' "$source_dir/demo.sh" || { echo "FAIL demo.sh asks for tests"; exit 1; }
grep -q '^tests=OFF' "$source_dir/scripts/build.sh" || { echo "FAIL build.sh builds tests unasked"; exit 1; }
cd "$source_dir"
configure OFF || { cat "$work/log"; echo "FAIL no program without cmocka"; exit 1; }
if configure ON; then # negative control: cmocka is really out of sight
  echo "FAIL cmocka was found"
  exit 1
fi
grep -q cmocka "$work/log" || { cat "$work/log"; echo "FAIL for another reason"; exit 1; }
echo "ok   the program needs nothing of the tests"
