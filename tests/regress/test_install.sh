#!/bin/bash
# An installed libmeniscus serves programs outside the project.
set -eu
source_dir=$2 build_dir=$3
. "$source_dir/tests/regress/external.sh"
VERSION=$(sed -n 's/^project(meniscus VERSION \([0-9.]*\).*/\1/p' "$source_dir/CMakeLists.txt")

if grep -q '^MENISCUS_SANITIZE:STRING=.' "$build_dir/CMakeCache.txt"; then
  echo "skipped: a sanitized library needs a sanitized program"
  exit 0
fi

work=$(mktemp -d /tmp/meniscus-install.XXXXXX)
trap 'rm -rf "$work"' EXIT
cmake --install "$build_dir" --prefix "$work/first" >"$work/log" || { cat "$work/log"; exit 1; }
mv "$work/first" "$work/moved" # the package files find everything from where they lie
prefix=$work/moved

for file in bin/meniscus include/meniscus/meniscus.h share/doc/meniscus/LICENSE; do
  [ -f "$prefix/$file" ] || { echo "FAIL $file was not installed"; exit 1; }
done
if [ -f "$source_dir/docs/meniscus.1" ]; then
  [ -f "$prefix/share/man/man1/meniscus.1" ] || { echo "FAIL no man page installed"; exit 1; }
fi
"$prefix/bin/meniscus" --version | grep -qF "$VERSION" || { echo "FAIL meniscus --version"; exit 1; }
if grep -rlF -e "$source_dir" -e "$build_dir" "$prefix/include" "$(find "$prefix" -name '*.pc')" \
  "$(dirname "$(find "$prefix" -name meniscusConfig.cmake)")"; then
  echo "FAIL these installed files name the source or build folder"
  exit 1
fi

static=--static
grep -q '^BUILD_SHARED_LIBS:[A-Z]*=ON' "$build_dir/CMakeCache.txt" && static=""
write_external_program "$work/external"
check_pkg_config "$prefix" "$work/external" "$static"
check_cmake "$prefix" "$work/external"

# negative control: without its .pc file the program cannot be built
if (export PKG_CONFIG_LIBDIR="$work/none" PKG_CONFIG_PATH=""; pkg-config --exists meniscus); then
  echo "FAIL pkg-config found a meniscus elsewhere"
  exit 1
fi
