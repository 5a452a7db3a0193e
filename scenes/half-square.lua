-- Water that fills the left half of a square vessel falls, and drops from the ceiling it was thrown against (2D).
local n        = param("n", 64, "cells across the unit square")
local walls    = param("walls", "separating", "separating: they let water go; sticking: they hold it")
local lcp_solver = param("lcp_solver", "fast", "of the pressure with separating walls")
local transfer = param("transfer", "marker", "how velocity travels: marker as in the thesis, apic or flip; levelset needs walls=sticking")

local vessel = box { lo = {0.05, 0.05}, hi = {0.95, 0.95} }

return scene {
  title      = "Half a square of water, walls " .. walls,
  reproduces = "Lai 2021, figure 6.2",
  domain     = box { size = {1, 1}, cells = {n, n} },
  fluid      = water { density = 1, walls = walls, lcp_solver = lcp_solver, transfer = transfer, cfl = 5,
                       pressure_tolerance = 1e-15, divergence_tolerance = 1e-6,
                       initial_water = box { lo = {-1, -1}, hi = {0.5, 2} } },
  solids     = { obstacle { name = "vessel", shape = difference { box { lo = {-1, -1}, hi = {2, 2} }, vessel } } },
  probes     = { area { of = "fluid" }, kinetic_energy {}, divergence {} },
  output     = { frames = 100, every = 0.01, show = "water" },
}
