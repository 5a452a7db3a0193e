-- A column of water at rest must stay at rest, with the pressure of its depth (2D).
local n    = param("n", 64, "cells across the tank")
local fill = param("fill", 0.503, "depth of the water in m; 0.5 lies on cell faces", { above = 0, to = 1 })
local walls  = param("walls", "separating", "separating: water can leave walls; sticking: they hold it")
local solver = param("lcp_solver", "fast", "of the pressure with separating walls")

return scene {
  title      = "Hydrostatic column",
  reproduces = "Exact: p = rho g (fill - y), u = 0; at the bottom 4934.43 Pa for fill 0.503",
  domain     = box { size = {1, 1}, cells = {n, n}, top = "open" },
  fluid      = water { walls = walls, lcp_solver = solver,
                       max_dt = 0.01,
                       initial_water = half_space { point = {0, fill}, normal = {0, 1} } },
  probes     = { pressure { name = "p_deep", at = {0.5, 0.1} },
                 pressure { name = "p_half", at = {0.5, 0.25} },
                 area { of = "fluid" }, kinetic_energy {}, divergence {} },
  output     = { frames = 20, every = 0.1, show = "pressure" },
}
