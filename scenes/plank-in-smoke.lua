-- A light rigid plank is thrown up and turned by a jet of smoke (3D).
local n         = param("n", 32, "cells across the box, which is 1 m wide", { multiple = 2 })
local density   = param("density", 2, "of the plank over that of the air")
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local rigid_as  = param("rigid", "points", "what the coupling sees of the plank: points or freedoms")
local speed     = param("speed", 1, "of the jet, m/s")

return scene {
  title      = "Light plank in a jet of smoke",
  reproduces = "Akbay et al. 2018, figure 2.2 of the thesis",
  domain     = box { size = {1, 1.5, 1}, cells = {n, 3 * n / 2, n}, top = "open" },
  fluid      = smoke { density = 1, gravity = {0, -1, 0}, max_dt = 1 / 60 },
  sources    = { inflow { name = "jet", shape = box { lo = {0.38, -1, 0.38}, hi = {0.62, 0.06, 0.62} },
                          velocity = {0, speed, 0}, smoke = 1, ramp = cosine { duration = 0.2 } } },
  solids     = { rigid { name = "plank", density = density,
                         shape = box { center = {0.56, 0.45, 0.5}, size = {0.5, 0.08, 0.16} } } },
  dynamics   = dynamics { gravity = {0, -1, 0} },
  coupling   = couple { method = coupling, spacing = 0.7, rigid = coupling ~= "weak" and rigid_as or nil },
  probes     = { position { of = "plank", axis = "y" }, angle { of = "plank" }, force { of = "plank", axis = "y" },
                 kinetic_energy {} },
  output     = { frames = 48, every = 1 / 24 },
}
