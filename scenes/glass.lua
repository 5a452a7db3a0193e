-- A jet fills a glass; then a lid comes down on the water and is lifted off again (2D).
local n     = param("n", 96, "cells across the picture, which is 0.3 m wide")
local speed = param("speed", 1.0, "of the jet in m/s")
local walls  = param("walls", "separating", "separating: water can leave walls; sticking: they hold it")
local solver = param("lcp_solver", "fast", "of the pressure with separating walls")

local wall, floor = 0.012, 0.03 -- m
local glass = union {
  box { lo = {0.08 - wall, -0.1}, hi = {0.08, 0.2} },
  box { lo = {0.22, -0.1}, hi = {0.22 + wall, 0.2} },
  box { lo = {0.08 - wall, -0.1}, hi = {0.22 + wall, floor} },
}
local fill = 0.9 -- s, until which the jet runs

return scene {
  title      = "A jet fills a glass",
  reproduces = "Particles come from an inflow and never enter glass or lid; the volume is what the jet brought",
  domain     = box { size = {0.3, 0.3}, cells = {n, n}, right = "open", left = "open" },
  fluid      = water { walls = walls, lcp_solver = solver,
                       initial_water = box { lo = {0.08, floor}, hi = {0.22, floor + 0.02} } },
  sources    = { inflow { name = "jet", velocity = {0, -speed},
                          ramp = keys { {0, 1}, {fill, 1}, {fill + 0.05, 0} },
                          shape = box { lo = {0.09375, 0.28}, hi = {0.10625, 0.4} } } }, -- whole cells if 48 divides n
  solids     = { obstacle { name = "glass", shape = glass },
                 obstacle { name = "lid", shape = box { center = {0.165, 0.26}, size = {0.09, 0.02} },
                            motion = motion { translate = {0, -0.13},
                                              path = keys { {1.1, 0}, {1.7, 1}, {2.0, 1}, {2.4, 0} } } } },
  probes     = { area { of = "fluid" }, kinetic_energy {}, divergence {} },
  output     = { frames = 80, every = 1 / 30, show = "water" },
}
