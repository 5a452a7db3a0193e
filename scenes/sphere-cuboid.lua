-- Half a sphere of water with a block in its way: contacts form and break on the block's lower face (3D).
local n        = param("n", 48, "cells across the unit cube")
local walls    = param("walls", "separating", "separating: they let water go; sticking: they hold it")
local lcp_solver = param("lcp_solver", "fast", "of the pressure with separating walls")
local transfer = param("transfer", "marker", "how velocity travels: marker as in the thesis, apic or flip; levelset needs walls=sticking")

local vessel = sphere { center = {0.5, 0.5, 0.5}, radius = 0.45 }
local block  = box { center = {0.5, 0.45, 0.5}, size = {0.4, 0.12, 0.3} }

return scene {
  title      = "Half a sphere of water and a block, walls " .. walls,
  reproduces = "Lai 2021, scenario 2: figure 6.5 and table 6.5",
  domain     = box { size = {1, 1, 1}, cells = {n, n, n} },
  fluid      = water { density = 1, walls = walls, lcp_solver = lcp_solver, transfer = transfer, cfl = 5,
                       pressure_tolerance = 1e-15, divergence_tolerance = 1e-6,
                       initial_water = box { lo = {-1, -1, -1}, hi = {0.5, 2, 2} } },
  solids     = { obstacle { name = "vessel",
                            shape = difference { box { lo = {-1, -1, -1}, hi = {2, 2, 2} }, vessel } },
                 obstacle { name = "block", shape = block } },
  probes     = { volume { of = "fluid" }, kinetic_energy {}, divergence {} },
  output     = { frames = 100, every = 0.01, show = "water" },
}
