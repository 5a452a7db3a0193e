#!/bin/sh
# Installs what is missing, builds, runs tests; exit status 0 if all passed.
#   ./test.sh            the default suite
#   ./test.sh long       the default and the long suite
#   ./test.sh asan       small scenes and the unit tests, address and undefined behaviour sanitizers
#   ./test.sh tsan       the same with the thread sanitizer, on 4 threads
#   ./test.sh valgrind   small scenes under valgrind
set -eu
cd "$(dirname "$0")"
what=${1:-default}
export OMP_WAIT_POLICY=passive # tests run side by side; it also keeps the program in one process image

suite() { # preset, ctest arguments: the summary comes last
  preset=$1
  shift
  ctest --test-dir "build/$preset" --output-on-failure -j2 "$@"
}

small_scenes() { # preset, threads, command in front: the whole path from a scene to its report
  preset=$1 threads=$2
  shift 2
  out=$(mktemp -d /tmp/meniscus-test.XXXXXX)
  trap 'rm -rf "$out"' EXIT
  for scene in plume moving-plate smoke-sphere lift; do
    n=96 # enough for two threads and more
    [ "$scene" = smoke-sphere ] && n=24
    [ "$threads" = 1 ] && n=16
    echo "Running $scene ($preset) ..."
    "$@" "build/$preset/meniscus" run "$scene" -p n=$n --frames 1 --threads "$threads" --quiet \
      -o "$out/$scene"
  done
  rm -rf "$out"
  trap - EXIT
}

case $what in
  default)
    scripts/install_deps.sh test
    scripts/build.sh release tests
    suite release -L default
    ;;
  long)
    scripts/install_deps.sh test
    scripts/build.sh release tests
    suite release -L 'default|long'
    ;;
  asan | tsan)
    scripts/install_deps.sh test
    scripts/build.sh "$what" tests
    export UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1
    export OPENBLAS_NUM_THREADS=1 # tests ask it for known answers; the sanitizer does not see its locks
    small_scenes "$what" 4 env
    suite "$what" -L default -R '^unit\.' --timeout 1800
    ;;
  valgrind)
    scripts/install_deps.sh test valgrind
    scripts/build.sh portable # valgrind does not know the newest vector instructions
    small_scenes portable 1 \
      valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite
    echo "valgrind: no errors"
    ;;
  *)
    sed -n '2,7s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
