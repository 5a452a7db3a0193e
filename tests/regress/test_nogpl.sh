#!/bin/bash
# The variant for embedders: a shared library without the GPL parts of SuiteSparse. It builds, links
# no GPL library, passes the tests of the sparse solver and serves programs outside the project.
set -eu
source_dir=$2
. "$source_dir/tests/regress/external.sh"
VERSION=$(sed -n 's/^project(meniscus VERSION \([0-9.]*\).*/\1/p' "$source_dir/CMakeLists.txt")

work=$(mktemp -d /tmp/meniscus-nogpl.XXXXXX)
trap 'rm -rf "$work"' EXIT
# -O0: this is about linking, not speed
{
  cmake -S "$source_dir" -B "$work/build" -G Ninja -DMENISCUS_GPL=OFF -DBUILD_SHARED_LIBS=ON \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 &&
    cmake --build "$work/build" -j2 --target meniscus_program unit.la.test_sparse unit.la.test_dense &&
    cmake --install "$work/build" --prefix "$work/prefix"
} >"$work/log" 2>&1 || { tail -n 40 "$work/log"; exit 1; }

links_gpl() { # binary
  ldd "$1" | grep -E 'libcholmod|libumfpack|libspqr'
}
for binary in "$work/prefix/bin/meniscus" "$work/build/tests/unit.la.test_sparse"; do
  if links_gpl "$binary"; then
    echo "FAIL $binary links a GPL library"
    exit 1
  fi
done
echo "ok   no GPL library is linked"

# negative control: the check sees CHOLMOD where it is linked
echo 'extern int cholmod_l_start(void *); int main(void) { return cholmod_l_start(0); }' >"$work/gpl.c"
if cc "$work/gpl.c" -o "$work/gpl" -lcholmod 2>"$work/log" && ! links_gpl "$work/gpl" >/dev/null; then
  echo "FAIL the check does not see CHOLMOD"
  exit 1
fi

for test in sparse dense; do
  "$work/build/tests/unit.la.test_$test" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
done
"$work/build/tests/unit.la.test_sparse" 2>/dev/null | grep -q 'back end ldl' || { echo "FAIL back end"; exit 1; }
echo "ok   tests of the linear algebra"

"$work/prefix/bin/meniscus" --version >/dev/null # finds the library through its own path
write_external_program "$work/external"
check_pkg_config "$work/prefix" "$work/external" ""
check_cmake "$work/prefix" "$work/external"
