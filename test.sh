#!/bin/sh
# Installs what is missing, builds, runs tests; exit status 0 if all passed.
#   ./test.sh            the default suite
#   ./test.sh long       the default and the long suite
#   ./test.sh asan       the unit tests under the address and undefined behaviour sanitizers
#   ./test.sh tsan       the unit tests under the thread sanitizer
#   ./test.sh valgrind   one small scene under valgrind
set -eu
cd "$(dirname "$0")"
what=${1:-default}

suite() { # preset, ctest arguments: the summary comes last
  preset=$1
  shift
  scripts/build.sh "$preset"
  ctest --test-dir "build/$preset" --output-on-failure -j2 "$@"
}

case $what in
  default)
    scripts/install_deps.sh test
    suite release -L default
    ;;
  long)
    scripts/install_deps.sh test
    suite release -L 'default|long'
    ;;
  asan)
    scripts/install_deps.sh test
    UBSAN_OPTIONS=print_stacktrace=1 suite asan -L default -R '^unit\.' --timeout 1800
    ;;
  tsan)
    scripts/install_deps.sh test
    TSAN_OPTIONS=halt_on_error=1 suite tsan -L default -R '^unit\.' --timeout 1800
    ;;
  valgrind)
    scripts/install_deps.sh test valgrind
    scripts/build.sh portable # valgrind does not know the newest vector instructions
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
    valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
      --suppressions=tests/valgrind.supp \
      build/portable/meniscus run plume -p n=16 --frames 1 --threads 1 --quiet -o "$out/run"
    echo "valgrind: no errors"
    ;;
  *)
    sed -n '2,7s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
