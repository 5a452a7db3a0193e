-- A column of water collapses and runs along the floor, up the far wall and back (2D, sealed).
local n    = param("n", 20, "cells across the column's width")
local a    = param("a", 0.05715, "width of the column in m; it is twice as high")
local tau  = param("tau", 12, "how long, in units of sqrt(a / (2 g))", { above = 0 })
local transfer = param("transfer", "apic", "how velocity travels: apic, flip or marker; levelset needs walls=sticking")
local walls  = param("walls", "separating", "separating: water can leave walls; sticking: they hold it")
local solver = param("lcp_solver", "fast", "of the pressure with separating walls")

local unit = math.sqrt(a / (2 * 9.81)) -- s

return scene {
  title      = "Dam break",
  reproduces = "Martin and Moyce 1952: the front has gone 2.3 widths at tau 2, 4.1 at 3.3",
  domain     = box { size = {8 * a, 4 * a}, cells = {8 * n, 4 * n} },
  fluid      = water { walls = walls, lcp_solver = solver,
                       transfer = transfer,
                       initial_water = box { lo = {-a, -a}, hi = {a, 2 * a} } },
  probes     = { pressure { name = "p_corner", at = {0.01 * a, 0.01 * a} },
                 area { of = "fluid" }, kinetic_energy {}, divergence {} },
  output     = { frames = math.floor(tau * 5 + 0.5), every = unit / 5, show = "water" },
}
