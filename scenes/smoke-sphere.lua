-- A jet of smoke hits a sphere and flows around it (3D).
local n = param("n", 40, "cells across the tunnel", { multiple = 2 })
local U = param("U", 1, "speed of the jet in m/s")

return scene {
  title      = "Smoke past a sphere",
  reproduces = "A round jet that parts at a sphere; mirror-symmetric, as the set-up is",
  domain     = box { size = {1.5, 1, 1}, cells = {1.5 * n, n, n}, right = "open" },
  fluid      = smoke { density = 1, viscosity = 1e-4, gravity = {0, 0, 0} },
  sources    = { inflow { name = "jet", velocity = {U, 0, 0}, ramp = cosine(0.2),
                          shape = capsule { a = {-0.2, 0.5, 0.5}, b = {0.05, 0.5, 0.5},
                                            radius = 0.13 } } },
  solids     = { obstacle { name = "sphere",
                            shape = sphere { center = {0.6, 0.5, 0.5}, radius = 0.17 } } },
  probes     = { pressure { name = "front_p", at = {0.40, 0.5, 0.5} },
                 flux { axis = "x", position = 1.2 },
                 volume { of = "smoke" }, volume { of = "sphere" },
                 kinetic_energy {}, divergence {} },
  output     = { frames = 30, every = 0.1 },
}
