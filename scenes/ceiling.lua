-- Water hangs under a ceiling, air below, and is let go at time 0 (2D).
local n        = param("n", 48, "cells across the box, which is 1 m wide")
local walls    = param("walls", "separating", "separating: the water falls at once; sticking: it hangs")
local solver   = param("lcp_solver", "fast", "of the pressure with separating walls")
local transfer = param("transfer", "apic", "how velocity travels: apic, flip or marker; levelset needs walls=sticking")

return scene {
  title      = "Water let go under a ceiling",
  reproduces = "It falls freely, all at once and flat: y = y0 - g t^2/2; with sticking walls it hangs",
  domain     = box { size = {1, 1}, cells = {n, n} },
  fluid      = water { walls = walls, lcp_solver = solver, transfer = transfer,
                       initial_water = box { lo = {0.25, 0.7}, hi = {0.75, 2} } },
  probes     = { area { of = "fluid" }, kinetic_energy {}, divergence {} },
  output     = { frames = 36, every = 1 / 60, show = "water" },
}
