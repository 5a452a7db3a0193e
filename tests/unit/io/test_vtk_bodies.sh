#!/bin/bash
# Opens frames of bodies, as the program writes them, with VTK's own reader: kinds of cells, points, arrays.
set -eu
program=$1
export OMP_WAIT_POLICY=passive # idle threads sleep: the machine may be busy
folder=$(mktemp -d /tmp/meniscus_vtu_XXXXXX)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/flat.lua" << 'LUA'
return scene {
  domain   = box { size = {4, 2}, cells = {16, 8} },
  solids   = { elastic { name = "bar", shape = box { lo = {0.5, 0.5}, hi = {2.5, 1} }, spacing = 0.25, order = 2,
                         young = 1e6, density = 1000, velocity = {0.5, 0.25} },
               rigid { name = "disk", shape = disk { center = {3.2, 1}, radius = 0.5 }, density = 500, spin = 2 },
               rod { name = "wire", from = {0.5, 1.6}, to = {1.5, 1.6}, spacing = 0.125, stretch = 1e3, bend = 1, density = 1 } },
  dynamics = dynamics { gravity = {0, 0}, dt = 0.01, contact = false },
  output   = { frames = 1, every = 0.1, preview = false },
}
LUA
cat > "$folder/solid.lua" << 'LUA'
return scene {
  domain   = box { size = {4, 4, 4}, cells = {16, 16, 16} },
  solids   = { elastic { name = "ball", shape = sphere { center = {1, 1, 1}, radius = 0.5 }, spacing = 0.25,
                         young = 1e6, density = 1000, velocity = {0, 0.5, 0} },
               rigid { name = "box", shape = box { lo = {2, 2, 2}, hi = {3, 2.5, 3.5} }, density = 500 },
               springs { name = "cloth", corner = {0.5, 3, 0.5}, along = {1, 0, 0}, across = {0, 0, 1}, spacing = 0.25,
                         density = 0.3, stretch = 60, bend = 0.3 },
               rod { name = "wire", from = {2, 3.5, 1}, to = {3, 3.5, 1}, spacing = 0.125, stretch = 1e3, bend = 1, density = 1 },
               elastic { name = "brick", shape = box { lo = {2, 0.5, 0.5}, hi = {3, 1, 1} }, spacing = 0.25, order = 2,
                         young = 1e6, density = 1000 } },
  dynamics = dynamics { gravity = {0, 0, 0}, dt = 0.01, contact = false },
  output   = { frames = 1, every = 0.1, preview = false },
}
LUA
cat > "$folder/bent.lua" << 'LUA'
return scene {
  domain   = box { size = {2, 2}, cells = {16, 16} },
  solids   = { elastic { name = "bar", shape = box { lo = {0.5, 1}, hi = {1.5, 1.2} }, spacing = 0.1, young = 1e5,
                         poisson = 0.2, density = 1000, fixed = box { lo = {0, 0}, hi = {0.51, 2} } } },
  dynamics = dynamics { gravity = {0, -9.81}, dt = 0.01, contact = false },
  output   = { frames = 1, every = 0.2, preview = false },
}
LUA
cat > "$folder/drawn.lua" << 'LUA'
return scene {
  domain   = box { size = {2, 2, 2}, cells = {16, 16, 16} },
  solids   = { rod { name = "wire", from = {0.3, 1.8, 1}, to = {0.3, 0.8, 1}, spacing = 0.125, stretch = 40, bend = 0, density = 1,
                     fixed = box { lo = {0, 1.79, 0}, hi = {2, 2, 2} } },
               springs { name = "cloth", corner = {0.5, 1.8, 1}, along = {1, 0, 0}, across = {0, -1, 0}, spacing = 0.25,
                         density = 0.3, stretch = 60, bend = 0.3, fixed = box { lo = {0, 1.79, 0}, hi = {2, 2, 2} } },
               shell { name = "sheet", corner = {0.5, 1.8, 0.5}, along = {1, 0, 0}, across = {0, -1, 0}, spacing = 0.25,
                       density = 1000, thickness = 0.001, young = 1e5, fixed = box { lo = {0, 1.79, 0}, hi = {2, 2, 2} } } },
  dynamics = dynamics { gravity = {0, -9.81, 0}, dt = 0.01, contact = false },
  output   = { frames = 1, every = 0.1, show = "stress" },
}
LUA
for scene in flat solid bent drawn; do
  "$program" run "$folder/$scene.lua" -o "$folder/$scene" --quiet
done
/usr/bin/python3 "$(dirname "$0")/read_vtk_bodies.py" "$folder"
