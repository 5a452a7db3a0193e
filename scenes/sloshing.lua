-- A small standing wave in a tank swings with the period of linear theory (2D).
local n         = param("n", 64, "cells across the tank, which is 1 m wide")
local depth     = param("depth", 0.5, "of the water in m", { above = 0, to = 1 })
local amplitude = param("amplitude", 0.01, "of the wave at the walls in m")
local transfer  = param("transfer", "apic", "how velocity travels: apic, flip or marker; levelset needs walls=sticking")
local walls  = param("walls", "separating", "separating: water can leave walls; sticking: they hold it")
local solver = param("lcp_solver", "fast", "of the pressure with separating walls")

-- The wave depth + amplitude cos(pi x), as a stack of half-spaces: the union of strips.
local strips, m = {}, 64
for i = 1, m do
  local x = (i - 0.5) / m
  strips[i] = box { lo = {(i - 1) / m, -1}, hi = {i / m, depth + amplitude * math.cos(math.pi * x)} }
end

return scene {
  title      = "Sloshing",
  reproduces = "Linear theory: period 1.1818 s at depth 0.5 m, omega^2 = g k tanh(k depth)",
  domain     = box { size = {1, 1}, cells = {n, n} },
  fluid      = water { walls = walls, lcp_solver = solver,
                       transfer = transfer, initial_water = union(strips) },
  probes     = { pressure { name = "p_left", at = {0.02, 0.25} },
                 pressure { name = "p_right", at = {0.98, 0.25} },
                 area { of = "fluid" }, kinetic_energy {}, divergence {} },
  output     = { frames = 120, every = 1 / 20, show = "water" },
}
