-- A thin balloon on a nozzle (2D), air inside and outside, is filled by a jet that has no other way out.
-- Without the constant part p0 of the pressure inside (closed = "none") it does not inflate.
local n         = param("n", 64, "cells across the box, which is 1 m wide", { multiple = 16 })
local M         = param("M", 0.8, "mass of the balloon over that of the air it moves, as in balloon-in-smoke")
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local published = param("published", false, "the coupling as its authors printed it")
local omega     = param("omega", 0.2, "relaxation of relaxed; the first one of aitken")
local tolerance = param("tolerance", 0.05, "of the coupling, in cells")
local closed    = param("closed", "eliminated", "how p0 is found: eliminated, solid, fluid, none")
local speed     = param("speed", 0.5, "of the jet, m/s", { above = 0 })
local skin      = param("stretch", 0.1, "E A of the skin, N")

local dx = 1 / n
local r, bore, wall, y0 = 0.15, 0.0625, 0.03125, 0.1875 -- m: balloon, half the nozzle, its wall, its end
local ends = bore + wall / 2                             -- m: the skin ends in the middle of the wall
local yc = y0 - wall / 2 + math.sqrt(r^2 - ends^2)       -- m: and a little below its top

return scene {
  title      = "Closed balloon filled by a jet of smoke",
  reproduces = "Akbay et al. 2018, figures 2.6 and 2.12 of the thesis",
  domain     = box { size = {1, 1.5}, cells = {n, 3 * n / 2}, top = "open" },
  fluid      = smoke { density = 1, gravity = {0, 0}, dt = dx / 2 },
  sources    = { inflow { name = "jet", shape = box { lo = {0.5 - bore, -1}, hi = {0.5 + bore, 2 * dx} },
                          velocity = {0, speed}, smoke = 1, ramp = cosine { duration = 0.2 } } },
  solids     = {
    obstacle { shape = box { lo = {0.5 - bore - wall, -1}, hi = {0.5 - bore, y0} } },
    obstacle { shape = box { lo = {0.5 + bore, -1}, hi = {0.5 + bore + wall, y0} } },
    rod { name = "balloon", shape = disk { center = {0.5, yc}, radius = r },
          cut = box { lo = {0.5 - ends, 0}, hi = {0.5 + ends, yc} },
          fixed = box { lo = {0.5 - bore - wall - dx, 0}, hi = {0.5 + bore + wall + dx, y0 + dx} },
          spacing = dx / 2, density = 0.6 * M, stretch = skin, bend = 1e-6 },
  },
  dynamics   = dynamics { gravity = {0, 0}, dt = dx / 2, contact = false },
  coupling   = couple { method = coupling, published = published, omega = omega, tolerance = tolerance,
                        closed = closed, frozen = true, max_iterations = 100 },
  probes     = { area { of = "balloon" }, stretch { of = "balloon" }, position { of = "balloon", axis = "y" },
                 body_energy { of = "balloon" } },
  output     = { frames = 60, every = 1 / 15, show = "smoke" },
}
