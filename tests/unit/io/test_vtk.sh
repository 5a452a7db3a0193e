#!/bin/bash
# Opens the files that unit.io.test_frames writes with VTK's own readers and checks sizes and values.
set -eu
build=$3
folder=$(mktemp -d /tmp/meniscus_vtk_XXXXXX)
trap 'rm -rf "$folder"' EXIT
"$build/tests/unit.io.test_frames" "$folder"
/usr/bin/python3 "$(dirname "$0")/read_vtk.py" "$folder"
