-- Balls fall into a box, bounce and come to rest in a heap.
local n     = param("n", 32, "cells along an edge, for the picture only", { multiple = 2 })
local count = param("balls", 40, "how many", { multiple = 1 })
local r = 0.08

local bodies = {}
for i = 1, count do
  local layer = (i - 1) // 9
  local place = (i - 1) % 9
  local x = 0.2 + 0.3 * (place % 3) + 0.02 * ((layer * 7 + place * 3) % 5 - 2)
  local z = 0.2 + 0.3 * (place // 3) + 0.02 * ((layer * 3 + place * 7) % 5 - 2)
  bodies[i] = rigid { name = "ball " .. i, shape = sphere { center = {x, 0.15 + 0.2 * layer, z}, radius = r },
                      density = 800, restitution = 0.4 }
end

return scene {
  title    = "A pool of balls",
  reproduces = "the pools of balls of Akbay et al. 2018, figure 2.5, without the water",
  domain   = box { size = {1, 1.5, 1}, cells = {n, 1.5 * n, n} },
  solids   = bodies,
  dynamics = dynamics { dt = 0.005 },
  probes   = { body_energy {}, position { of = "ball 1", axis = "y" } },
  output   = { frames = 60, every = 0.04 },
}
