-- A thin balloon with an open neck is blown up by a jet of smoke (2D). As it stretches, the light
-- skin moves more and more air.
local n         = param("n", 64, "cells across the box, which is 1 m wide", { multiple = 2 })
local M         = param("M", 0.8, "mass of the balloon over that of the air it moves, as the paper's figure counts it")
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local published = param("published", false, "the coupling as its authors printed it")
local omega     = param("omega", 0.2, "relaxation of relaxed; the first one of aitken", { from = 1e-6, to = 2 })
local tolerance = param("tolerance", 0.05, "of the coupling, in cells")
local adapt     = param("adapt", true, "shorten the step after a hard substep")
local speed     = param("speed", 0.5, "of the jet, m/s")

local dx = 1 / n
local r, neck, jet = 0.15, 0.06, 0.06                -- m: balloon, half of its opening and of the jet
local center = {0.5, 0.3}
local relaxes, iterates = coupling == "relaxed" or coupling == "aitken", coupling ~= "weak"

return scene {
  title      = "Balloon filled by a jet of smoke, held at its neck",
  reproduces = "Akbay et al. 2018, figure 2.11 of the thesis",
  domain     = box { size = {1, 1.5}, cells = {n, 3 * n / 2}, top = "open" },
  fluid      = smoke { density = 1, gravity = {0, 0}, dt = dx / 2 },
  sources    = { inflow { name = "jet", shape = box { lo = {0.5 - jet, -1}, hi = {0.5 + jet, 0.1} },
                          velocity = {0, speed}, smoke = 1, ramp = cosine { duration = 0.2 } } },
  -- 0.6 m of air per unit of M, so that the fixed relaxation of the figure just copes
  solids     = { rod { name = "balloon", shape = disk { center = center, radius = r },
                       cut = box { lo = {0.5 - neck, 0}, hi = {0.5 + neck, 0.3} },
                       fixed = box { lo = {0.5 - 2 * neck, 0}, hi = {0.5 + 2 * neck, 0.18} },
                       spacing = dx / 2, density = 0.6 * M,
                       stretch = 0.1, bend = 1e-6 } },
  dynamics   = dynamics { gravity = {0, 0}, dt = dx / 2, contact = false },
  coupling   = couple { method = coupling, published = published,
                        omega = relaxes and omega or nil, tolerance = iterates and tolerance or nil,
                        adapt = adapt, frozen = iterates or nil },
  probes     = { position { of = "balloon", axis = "y" }, stretch { of = "balloon" }, body_energy { of = "balloon" } },
  output     = { frames = 60, every = 1 / 15, show = "smoke" },
}
