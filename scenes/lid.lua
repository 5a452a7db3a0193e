-- A tank is full to its lid; the lid is lifted off (2D).
local n      = param("n", 48, "cells across the box, which is 0.4 m wide")
local speed  = param("speed", 0.5, "of the lid, upwards, in m/s", { above = 0 })
local walls  = param("walls", "separating", "separating: the water lets go; sticking: refused, for no water can follow")
local solver = param("lcp_solver", "fast", "of the pressure with separating walls")

local wall = 0.05
local tank = union {
  box { lo = {-1, -1}, hi = {wall, 0.2} },
  box { lo = {0.4 - wall, -1}, hi = {1, 0.2} },
  box { lo = {-1, -1}, hi = {1, wall} },
}

return scene {
  title      = "A lid lifted off a full tank",
  reproduces = "The water lets go in one step and stays level; without suction there is a gap at once",
  domain     = box { size = {0.4, 0.4}, cells = {n, n}, top = "open" },
  fluid      = water { walls = walls, lcp_solver = solver,
                       initial_water = box { lo = {wall, wall}, hi = {0.4 - wall, 0.2} } },
  solids     = { obstacle { name = "tank", shape = tank },
                 obstacle { name = "lid", shape = box { lo = {wall, 0.2}, hi = {0.4 - wall, 0.25} },
                            motion = motion { translate = {0, 0.12},
                                              path = keys { {0, 0}, {0.12 / speed, 1} } } } },
  probes     = { area { of = "fluid" }, pressure { name = "p_floor", at = {0.2, 0.06} },
                 kinetic_energy {}, divergence {} },
  output     = { frames = 30, every = 1 / 60, show = "water" },
}
