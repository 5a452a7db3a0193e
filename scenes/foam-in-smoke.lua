-- A light block of foam is bent and lifted by a jet of smoke (3D).
local n         = param("n", 48, "cells across the box, which is 1 m wide", { multiple = 2 })
local density   = param("density", 1.5, "of the foam over that of the air")
local young     = param("young", 40, "of the foam, Pa")
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local speed     = param("speed", 1.5, "of the jet, m/s")

return scene {
  title      = "Block of foam in a jet of smoke",
  reproduces = "Akbay et al. 2018, figure 2.9 of the thesis",
  domain     = box { size = {1, 1.5, 1}, cells = {n, 3 * n / 2, n}, top = "open" },
  fluid      = smoke { density = 1, gravity = {0, -1, 0}, max_dt = 1 / 60 },
  sources    = { inflow { name = "jet", shape = box { lo = {0.38, -1, 0.38}, hi = {0.62, 0.06, 0.62} },
                          velocity = {0, speed, 0}, smoke = 1, ramp = cosine { duration = 0.2 } } },
  solids     = { elastic { name = "foam", shape = box { center = {0.5, 0.4, 0.5}, size = {0.64, 0.1, 0.3} },
                           spacing = 0.05, density = density, young = young, poisson = 0.2 } },
  dynamics   = dynamics { gravity = {0, -1, 0} },
  coupling   = couple { method = coupling, spacing = 0.7 },
  probes     = { position { of = "foam", axis = "y" }, volume_ratio { of = "foam" }, body_energy { of = "foam" },
                 kinetic_energy {} },
  output     = { frames = 48, every = 1 / 24 },
}
