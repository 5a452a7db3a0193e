-- A ball of water falls into a maze and runs down from shelf to shelf (2D).
local n        = param("n", 64, "cells across the unit square")
local walls    = param("walls", "separating", "separating: they let water go; sticking: they hold it")
local lcp_solver = param("lcp_solver", "fast", "of the pressure with separating walls")
local transfer = param("transfer", "marker", "how velocity travels: marker as in the thesis, apic or flip; levelset needs walls=sticking")

-- Set-up 3 of the program that the thesis took the maze from (github.com/erleben/num4lcp), with its gravity and cfl.
local hall    = box { lo = {0.1, 0.1}, hi = {0.9, 0.9} }
local shelves = union {
  box { lo = {0.3, 0.6}, hi = {1.5, 0.7} },
  box { lo = {-0.5, 0.4}, hi = {0.7, 0.5} },
  box { lo = {0.3, 0.2}, hi = {1.5, 0.3} },
}

return scene {
  title      = "Water in a maze, walls " .. walls,
  reproduces = "Lai 2021, figure 6.7 and tables 6.3, 6.11; Andersen et al. 2017",
  domain     = box { size = {1, 1}, cells = {n, n} },
  fluid      = water { density = 1, gravity = {0, -9.82}, walls = walls, lcp_solver = lcp_solver,
                       transfer = transfer, cfl = 1,
                       pressure_tolerance = 1e-15, divergence_tolerance = 1e-6,
                       initial_water = disk { center = {0.8, 0.8}, radius = 0.1 } },
  solids     = { obstacle { name = "walls", shape = difference { box { lo = {-1, -1}, hi = {2, 2} }, hall } },
                 obstacle { name = "shelves", shape = shelves } },
  probes     = { area { of = "fluid" }, kinetic_energy {}, divergence {} },
  output     = { frames = 100, every = 0.01, show = "water" },
}
