-- A block of water collapses around a pillar (3D).
local n        = param("n", 48, "cells along the tank, which is 1.2 m long", { multiple = 2 })
local transfer = param("transfer", "apic", "how velocity travels: apic, flip or marker; levelset needs walls=sticking")
local walls  = param("walls", "separating", "separating: water can leave walls; sticking: they hold it")
local solver = param("lcp_solver", "fast", "of the pressure with separating walls")

return scene {
  title      = "Dam break around a pillar",
  reproduces = "Volume stays; the front splits at the pillar and closes behind it",
  domain     = box { size = {1.2, 0.6, 0.6}, cells = {n, n // 2, n // 2} },
  fluid      = water { walls = walls, lcp_solver = solver,
                       transfer = transfer,
                       initial_water = box { lo = {-1, -1, -1}, hi = {0.35, 0.4, 1} } },
  solids     = { obstacle { name = "pillar", shape = box { lo = {0.7, -1, 0.22}, hi = {0.82, 1, 0.38} } } },
  probes     = { volume { of = "fluid" }, kinetic_energy {}, divergence {} },
  output     = { frames = 60, every = 1 / 30, show = "water" },
}
