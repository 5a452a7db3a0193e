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

name=$(basename "$scene" .lua)
build/release/meniscus run "$scene" -o "runs/$name" "$@"

echo
echo "Report:    $PWD/runs/$name/report.html"
echo "Pictures:  $PWD/runs/$name/preview/"
[ -d "runs/$name/frames" ] && echo "Frames:    $PWD/runs/$name/frames/ (VTK, for ParaView)"
exit 0
