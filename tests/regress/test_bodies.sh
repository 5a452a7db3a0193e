#!/bin/bash
# Bodies from a user's files, through the program itself: one line of a scene makes one from an OBJ and runs; surfaces
# that are open, or meet themselves, and elements that are inverted are refused, with the element named.
set -eu
program=$1
export OMP_WAIT_POLICY=passive # idle threads sleep: the machine may be busy
work=$(mktemp -d /tmp/mn_bodies_XXXXXX)
trap 'rm -rf "$work"' EXIT
failed=0
cd "$work"

# expect STATUS WORDS COMMAND...: WORDS is an extended regular expression that the output must match.
expect() {
  local status=0 wanted=$1 words=$2
  shift 2
  "$@" > out 2>&1 || status=$?
  if [ $status = "$wanted" ] && { [ -z "$words" ] || grep -Eq -- "$words" out; }; then
    echo "ok    $wanted  $(head -c 300 out | tr '\n' ' ')"
  else
    echo "FAIL  $*: exit $status instead of $wanted, or no \"$words\" in: $(cat out)"
    failed=1
  fi
}
scene() { # the body's line; the domain's size
  echo "return scene { domain = box { size = ${2-{4, 4, 4\}}, cells = ${3-{8, 8, 8\}} },
    solids = { $1 }, dynamics = dynamics { dt = 0.01, contact = false }, output = { frames = 1, every = 0.02, preview = false } }" > scene.lua
}
elastic() { scene "elastic { name = 'b', shape = mesh { file = '$1' }, spacing = 0.3, young = 1e5, density = 1000 }"; }

# surface KIND: an OBJ file
surface() {
  awk -v kind="$1" 'BEGIN {
    pi = atan2(0, -1)
    if (kind == "cube" || kind == "cubes") {
      for (s = 0; s < (kind == "cubes" ? 2 : 1); s++) {
        for (c = 0; c < 8; c++)
          print "v", 1 + 0.4 * s + c % 2, 1 + 0.3 * s + int(c / 2) % 2, 1 + 0.45 * s + int(c / 4)
        n = split("1 3 4 2 5 6 8 7 1 2 6 5 3 7 8 4 1 5 7 3 2 4 8 6", q, " ")
        for (f = 1; f <= n; f += 4) print "f", q[f] + 8 * s, q[f + 1] + 8 * s, q[f + 2] + 8 * s, q[f + 3] + 8 * s
      }
      exit
    }
    if (kind == "sphere") { # 12 rings between the poles
      print "v 2 2 3"; print "v 2 2 1"
      for (i = 1; i < 12; i++) for (j = 0; j < 24; j++)
        print "v", 2 + sin(pi * i / 12) * cos(pi * j / 12), 2 + sin(pi * i / 12) * sin(pi * j / 12), 2 + cos(pi * i / 12)
      for (j = 0; j < 24; j++) {
        k = (j + 1) % 24
        print "f", 1, 3 + j, 3 + k
        print "f", 2, 243 + k, 243 + j
        for (i = 0; i < 10; i++) print "f", 3 + 24 * i + j, 27 + 24 * i + j, 27 + 24 * i + k, 3 + 24 * i + k
      }
      exit
    }
    along = 48; around = 12 # a tube along a circle, or along an eight that passes through itself
    r = kind == "torus" ? 0.35 : 0.15
    for (i = 0; i < along; i++) {
      t = 2 * pi * i / along
      if (kind == "torus") { x = cos(t); y = sin(t); dx = -sin(t); dy = cos(t) }
      else { x = sin(t); y = sin(2 * t) / 2; dx = cos(t); dy = cos(2 * t) }
      d = sqrt(dx * dx + dy * dy)
      for (j = 0; j < around; j++) {
        a = 2 * pi * j / around
        print "v", 2 + x + r * cos(a) * dy / d, 2 + y - r * cos(a) * dx / d, 2 + r * sin(a)
      }
    }
    for (i = 0; i < along; i++) for (j = 0; j < around; j++) {
      p = 1 + i * around + j; q2 = 1 + (i + 1) % along * around + j
      s = 1 + i * around + (j + 1) % around; u = 1 + (i + 1) % along * around + (j + 1) % around
      print "f", p, q2, u, s
    }
  }'
}
for kind in cube cubes sphere torus eight; do surface $kind > $kind.obj; done

# The control: clean surfaces are meshed and run, in one line of the scene, and the mesh is reported.
elastic cube.obj
expect 0 'body "b": [0-9]+ tetrahedra of order 1, [0-9]+ nodes, angles between faces from [0-9.]+ to [0-9.]+ degrees' "$program" check scene.lua
expect 0 '' "$program" run scene.lua -o cube --quiet
elastic sphere.obj
expect 0 'tetrahedra' "$program" check scene.lua
elastic torus.obj
expect 0 'tetrahedra' "$program" check scene.lua
scene "rigid { name = 'b', shape = mesh { file = 'torus.obj' }, density = 500 }"
expect 0 '' "$program" run scene.lua -o rigid --quiet

# Balls and tori are built in, with angles that a filled lattice does not reach.
ball="elastic { name = 'b', shape = SHAPE, spacing = 0.25, young = 1e5, density = 1000 }"
scene "${ball/SHAPE/sphere { center = {2, 2, 2\}, radius = 1 \}}"
expect 0 'body "b": 1280 tetrahedra of order 1, 309 nodes, angles between faces from 40.2 to 129.2 degrees' "$program" check scene.lua
scene "${ball/SHAPE/torus { center = {2, 2, 2\}, major = 1, minor = 0.4, axis = {0, 1, 0\} \}}"
expect 0 'body "b": 1800 tetrahedra of order 1, 475 nodes, angles between faces from 2[0-9.]+ to 12[0-9.]+ degrees' "$program" check scene.lua
expect 0 '' "$program" run scene.lua -o torus --quiet

# Surfaces that meet themselves.
elastic cubes.obj
expect 2 'body "b": .*cubes.obj: line [0-9]+: a triangle crosses or touches that of line [0-9]+ near' "$program" check scene.lua
elastic eight.obj
expect 2 'eight.obj: line [0-9]+: a triangle crosses or touches that of line [0-9]+' "$program" check scene.lua
expect 2 'eight.obj: line' "$program" run scene.lua -o eight --quiet
scene "rigid { name = 'b', shape = mesh { file = 'eight.obj' }, density = 500 }"
expect 2 'eight.obj: line' "$program" check scene.lua
scene "rigid { name = 'b', shape = transform { shape = mesh { file = 'cubes.obj' }, translate = {0.5, 0, 0} }, density = 500 }"
expect 2 'cubes.obj: line' "$program" check scene.lua
# As an obstacle it is the union of its parts, as documented.
scene "obstacle { shape = mesh { file = 'cubes.obj' } }, rigid { shape = sphere { center = {3.5, 3.5, 3.5}, radius = 0.3 }, density = 500 }"
expect 0 '' "$program" check scene.lua

# An open surface; one with a face turned; the whole inside out, which is turned.
sed '$d' cube.obj > open.obj
elastic open.obj
expect 2 'open.obj: line [0-9]+: the edge of vertices .* belongs to 1 triangle' "$program" check scene.lua
sed '$s/.*/f 6 8 4 2/' cube.obj > turned.obj
elastic turned.obj
expect 2 'turned.obj: line [0-9]+: runs along the edge' "$program" check scene.lua
awk '/^f/ { print "f", $5, $4, $3, $2; next } { print }' cube.obj > inside.obj
elastic inside.obj
expect 0 'inside out and is turned' "$program" check scene.lua

# Gmsh files: an inverted tetrahedron, an inverted triangle, and both as they should be.
msh() { # nodes of the second tetrahedron
  printf '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 1 1 1\n2 2 1 1\n3 1 2 1\n4 1 1 2\n5 2 2 2\n$EndNodes\n'
  printf '$Elements\n2\n11 4 0 1 2 3 4\n12 4 0 %s\n$EndElements\n' "$1"
}
msh '2 3 4 5' > good.msh
msh '3 2 4 5' > bad.msh
body="elastic { name = 'b', file = 'FILE', young = 1e5, density = 1000 }"
scene "${body/FILE/good.msh}"
expect 0 'body "b": 2 tetrahedra of order 1, 5 nodes' "$program" check scene.lua
expect 0 '' "$program" run scene.lua -o msh --quiet
scene "${body/FILE/bad.msh}"
expect 2 'body "b": .*bad.msh: line 15: element 12, a tetrahedron, is inverted' "$program" check scene.lua
flat() {
  printf '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 1 1 0\n2 2 1 0\n3 1 2 0\n4 2 2 0\n$EndNodes\n'
  printf '$Elements\n2\n21 2 0 1 2 3\n22 2 0 %s\n$EndElements\n' "$1"
}
flat '2 4 3' > good2.msh
flat '2 3 4' > bad2.msh
scene "${body/FILE/good2.msh}" '{4, 4}' '{8, 8}'
expect 0 'body "b": 2 triangles of order 1, 4 nodes, angles from 45.0 to 90.0 degrees' "$program" check scene.lua
scene "${body/FILE/bad2.msh}" '{4, 4}' '{8, 8}'
expect 2 'bad2.msh: line 14: element 22, a triangle, is inverted' "$program" check scene.lua
# Elements that share space: a tetrahedron within another, one that is there twice, triangles.
overlap() { # nodes of the second tetrahedron
  printf '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n1 1 1 1\n2 2 1 1\n3 1 2 1\n4 1 1 2\n5 1.1 1.1 1.1\n6 3 1.1 1.1\n7 1.1 3 1.1\n8 1.1 1.1 3\n$EndNodes\n'
  printf '$Elements\n2\n11 4 0 1 2 3 4\n12 4 0 %s\n$EndElements\n' "$1"
}
overlap '5 6 7 8' > overlap.msh
scene "${body/FILE/overlap.msh}"
expect 2 'body "b": .*overlap.msh: line 18: element 12, a tetrahedron near .*, overlaps element 11 of line 17' "$program" check scene.lua
overlap '2 3 1 4' > twice.msh
scene "${body/FILE/twice.msh}"
expect 2 'twice.msh: line 18: element 12, a tetrahedron near .*, overlaps element 11 of line 17' "$program" run scene.lua -o twice --quiet
sed 's/^4 2 2 0/4 0.9 1.2 0/' good2.msh | sed 's/^22 2 0 2 4 3/22 2 0 1 2 4/' > overlap2.msh
scene "${body/FILE/overlap2.msh}" '{4, 4}' '{8, 8}'
expect 2 'overlap2.msh: line 14: element 22, a triangle near .*, overlaps element 21 of line 13' "$program" check scene.lua

# Thin bodies of files: neighbours that run opposite ways, curves that branch, elements of the wrong kind; numbers are the file's.
thin="shell { name = 'b', file = 'FILE', young = 1e5, density = 1, thickness = 0.01 }"
flat '2 4 3' | sed 's/^22 2 0 2 4 3/22 2 0 2 3 4/' > turned.msh
scene "${thin/FILE/turned.msh}"
expect 2 'body "b": the neighbouring triangles of elements 21 and 22 near .* run opposite ways' "$program" check scene.lua
scene "${body/FILE/good2.msh}"
expect 2 'good2.msh: holds triangles; an elastic body in 3 dimensions is made of tetrahedra' "$program" check scene.lua
scene "${thin/FILE/good.msh}"
expect 2 'good.msh: holds tetrahedra; a shell in 3 dimensions is made of triangles' "$program" check scene.lua
scene "${body/FILE/cube.obj}"
expect 2 'cube.obj: `file` is for meshes of Gmsh .*shape = mesh' "$program" check scene.lua
flat '2 4 3' | sed 's/^21 2 0 1 2 3/21 1 0 1 2/; s/^22 2 0 2 4 3/25 1 0 1 3/' > branch.msh
scene "rod { name = 'b', file = 'branch.msh', density = 1, stretch = 10, bend = 1 }" '{4, 4}' '{8, 8}'
expect 2 'body "b": two segments start at \(1, 1, 0\), element 25 is one' "$program" check scene.lua

# Every format says where: a cube as PLY, as STL of both kinds, one cut off.
python3 - << 'END'
import struct
v = [(1 + c % 2, 1 + c // 2 % 2, 1 + c // 4) for c in range(8)]
q = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
t = [(a, b, c) for a, b, c, d in q] + [(a, c, d) for a, b, c, d in q]
def ply(t): return ("ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\nelement face %d\n"
    "property list uchar int vertex_indices\nend_header\n" % len(t) + "".join("%g %g %g\n" % p for p in v) + "".join("3 %d %d %d\n" % f for f in t))
def stl(t): return b"solid cube".ljust(80, b" ") + struct.pack("<I", len(t)) + b"".join(struct.pack("<12fH", *(0.,) * 3, *v[f[0]], *v[f[1]], *v[f[2]], 0) for f in t)
def text(t): return "solid cube\n" + "".join("facet normal 0 0 0\nouter loop\n" + "".join("vertex %g %g %g\n" % v[i] for i in f) + "endloop\nendfacet\n" for f in t) + "endsolid\n"
open("cube.ply", "w").write(ply(t)); open("open.ply", "w").write(ply(t[:-1]))
open("cube.stl", "wb").write(stl(t)); open("open.stl", "wb").write(stl(t[:-1])); open("cut.stl", "wb").write(stl(t)[:-70])
open("text.stl", "w").write(text(t)); open("short.stl", "w").write(text(t)[:-40])
END
for file in cube.ply cube.stl text.stl; do elastic $file && expect 0 'body "b": [0-9]+ tetrahedra' "$program" run scene.lua -o of-$file; done
elastic open.ply && expect 2 'open.ply: face 3: the edge of vertices 1 and 5, from .* belongs to 1 triangle' "$program" check scene.lua
elastic open.stl && expect 2 'open.stl: facet 2: the edge from \(2, 1, 2\) to \(2, 2, 2\), belongs to 1 triangle' "$program" check scene.lua
elastic cut.stl && expect 2 'a binary STL file of 12 facets must have 684 bytes, found 614: it is cut off' "$program" check scene.lua
elastic short.stl && expect 2 'short.stl: line 82: found' "$program" check scene.lua
exit $failed
