-- A jet of smoke blows against a plate that is moved up and down (2D).
local n = param("n", 96, "cells across the box", { multiple = 2 })
local f = param("f", 0.4, "strokes of the plate per second")

return scene {
  title      = "Jet past a moving plate",
  reproduces = "A kinematic solid that cuts cells: what flows in flows out, the volume stays",
  domain     = box { size = {1.5, 1}, cells = {1.5 * n, n}, right = "open" },
  fluid      = smoke { density = 1, viscosity = 1e-4, gravity = {0, 0} },
  sources    = { inflow { name = "jet", velocity = {1, 0}, profile = "parabolic",
                          ramp = cosine(0.3),
                          shape = box { lo = {-0.1, 0.42}, hi = {0.05, 0.58} } } },
  solids     = { obstacle { name = "plate", noslip = true,
                            shape = capsule { a = {0.6, 0.37}, b = {0.6, 0.63}, radius = 0.025 },
                            motion = motion { translate = {0, 0.2}, path = wave(f),
                                              pivot = {0.6, 0.5},
                                              turn = wave { amplitude = 0.5, frequency = f } } } },
  probes     = { velocity { name = "behind_u", at = {0.9, 0.5}, axis = "x" },
                 flux { name = "out", axis = "x", position = 1.49 },
                 area { of = "plate" }, kinetic_energy {}, divergence {} },
  output     = { frames = 100, every = 0.05, show = "smoke", range = {0, 1} },
}
