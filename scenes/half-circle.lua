-- Water that fills the left half of a round vessel falls, runs up the far side and drops from the ceiling (2D).
local n        = param("n", 64, "cells across the unit square")
local walls    = param("walls", "separating", "separating: they let water go; sticking: they hold it")
local lcp_solver = param("lcp_solver", "fast", "of the pressure with separating walls")
local transfer = param("transfer", "marker", "how velocity travels: marker as in the thesis, apic or flip; levelset needs walls=sticking")

local vessel = disk { center = {0.5, 0.5}, radius = 0.45 }

return scene {
  title      = "Half a circle of water, walls " .. walls,
  reproduces = "Lai 2021, figure 6.1 and tables 6.1, 6.7, 6.9",
  domain     = box { size = {1, 1}, cells = {n, n} },
  fluid      = water { density = 1, walls = walls, lcp_solver = lcp_solver, transfer = transfer, cfl = 5,
                       pressure_tolerance = 1e-15, divergence_tolerance = 1e-6,
                       initial_water = box { lo = {-1, -1}, hi = {0.5, 2} } },
  solids     = { obstacle { name = "vessel", shape = difference { box { lo = {-1, -1}, hi = {2, 2} }, vessel } } },
  probes     = { area { of = "fluid" }, kinetic_energy {}, divergence {} },
  output     = { frames = 100, every = 0.01, show = "water" },
}
