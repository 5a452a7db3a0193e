-- Soft disks and a ring fall into a box, press each other out of shape and come to rest.
local n     = param("n", 24, "cells across the box; also the mesh of the bodies", { multiple = 2 })
local young = param("young", 1e5, "Young's modulus of the disks, Pa")
local count = param("disks", 8, "how many", { multiple = 1 })
local r = 0.09

local bodies = { elastic { name = "ring", shape = torus { center = {0.5, 0.24}, major = 0.17, minor = 0.035 },
                           spacing = 0.75 / n, young = 4 * young, poisson = 0.4, density = 1000, damping_stiffness = 0.005 } }
for i = 1, count do
  local row, place = (i - 1) // 3, (i - 1) % 3
  local x = 0.2 + 0.3 * place + 0.02 * ((row * 7 + place * 3) % 5 - 2)
  bodies[i + 1] = elastic { name = "disk " .. i, shape = disk { center = {x, 0.6 + 0.22 * row}, radius = r },
                            spacing = 1 / n, young = young, poisson = 0.4, density = 1000, damping_stiffness = 0.005 }
end

return scene {
  title    = "A pool of soft bodies",
  reproduces = "the pools of balls of Akbay et al. 2018, figure 2.5, with elastic ones and without the water",
  domain   = box { size = {1, 1.5}, cells = {n, 1.5 * n} },
  solids   = bodies,
  dynamics = dynamics { dt = 0.005 },
  probes   = { body_energy {}, area { of = "ring" }, position { of = "disk 1", axis = "y" } },
  output   = { frames = 50, every = 0.04, show = "stress" },
}
