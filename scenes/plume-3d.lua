-- A hot plume of smoke rises from a round plate (3D).
local n    = param("n", 40, "cells across the box", { multiple = 2 })
local heat = param("heat", 80, "temperature of the source above the ambient one in K")

local ambient = 293.15 -- K

return scene {
  title      = "Buoyant plume in 3D",
  reproduces = "A thermal plume; mirror-symmetric, as the set-up is",
  domain     = box { size = {1, 1.5, 1}, cells = {n, 1.5 * n, n}, top = "open" },
  fluid      = smoke { temperature = true, ambient = ambient, expansion = 1 / ambient,
                       viscosity = 2e-5 },
  sources    = { emitter { name = "hot plate", temperature = ambient + heat,
                           shape = intersection {
                             sphere { center = {0.5, 0.05, 0.5}, radius = 0.15 },
                             box { lo = {0, 0.02, 0}, hi = {1, 0.1, 1} } } } },
  probes     = { velocity { name = "rise", at = {0.5, 0.6, 0.5}, axis = "y" },
                 flux { axis = "y", position = 1.2 },
                 volume { of = "smoke" }, kinetic_energy {}, divergence {} },
  output     = { frames = 50, every = 1 / 25 },
}
