-- Water finds its way down through a maze (2D).
local n        = param("n", 64, "cells across the unit square, a multiple of 32")
local walls    = param("walls", "separating", "separating: they let water go; sticking: they hold it")
local solver   = param("solver", "fast", "of the pressure with separating walls")
local transfer = param("transfer", "marker", "how velocity travels: marker as in the thesis, apic, flip or levelset")

-- Each wall is two thirty-seconds thick; corners in thirty-seconds of the square.
local function wall(x0, y0, x1, y1)
  return box { lo = {x0 / 32, y0 / 32}, hi = {x1 / 32, y1 / 32} }
end
local maze = union {
  wall(-9, -9, 2, 41), wall(30, -9, 41, 41), wall(-9, -9, 41, 2), wall(-9, 30, 41, 41),
  wall(2, 21, 13, 23), wall(17, 21, 30, 23),                 -- below the tank
  wall(7, 15, 25, 17), wall(7, 15, 9, 19), wall(23, 15, 25, 19),
  wall(2, 9, 12, 11), wall(20, 9, 30, 11), wall(15, 6, 17, 15),
}

return scene {
  title      = "Water in a maze, walls " .. walls,
  reproduces = "Lai 2021, figure 6.7 and tables 6.3, 6.11; the maze itself is not printed there",
  domain     = box { size = {1, 1}, cells = {n, n} },
  fluid      = water { density = 1, walls = walls, lcp_solver = solver, transfer = transfer, cfl = 5,
                       pressure_tolerance = 1e-15, divergence_tolerance = 1e-6,
                       initial_water = box { lo = {2 / 32, 23 / 32}, hi = {1, 29 / 32} } },
  solids     = { obstacle { name = "maze", shape = maze } },
  probes     = { area { of = "fluid" }, kinetic_energy {}, divergence {} },
  output     = { frames = 100, every = 0.01, show = "water" },
}
