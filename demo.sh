#!/bin/sh
# ./demo.sh [SCENE [OPTIONS]]: installs what is missing, builds, runs a scene, says where the pictures are.
# OPTIONS go to `meniscus run`, e.g. ./demo.sh plume --frames 40 -p n=128
set -eu
cd "$(dirname "$0")"

scene=smoke-disk
if [ $# -gt 0 ]; then
  case $1 in
    -h | --help) sed -n '2,3s/^# //p' "$0" && exit 0 ;;
    -*) ;;
    *) scene=$1 && shift ;;
  esac
fi

scripts/install_deps.sh
scripts/build.sh release

out=$PWD/runs/$(basename "$scene" .lua)
take=
for word in "$@"; do # a directory given with -o counts
  [ -n "$take" ] && out=$(realpath -m "$word")
  take=
  [ "$word" = -o ] && take=1
done
build/release/meniscus run "$scene" -o "$out" "$@"

echo
echo "Report:    $out/report.html"
echo "Pictures:  $out/preview/"
[ -d "$out/frames" ] && echo "Frames:    $out/frames/ (VTK, for ParaView)"
exit 0
