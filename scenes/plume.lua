-- A hot plume of smoke rises from the floor and curls into a mushroom (2D).
local n    = param("n", 96, "cells across the box")
local heat = param("heat", 40, "temperature of the source above the ambient one in K")

local ambient = 293.15 -- K

return scene {
  title      = "Buoyant plume",
  reproduces = "A thermal plume; mirror-symmetric, as the set-up is",
  domain     = box { size = {1, 2}, cells = {n, 2 * n}, top = "open" },
  fluid      = smoke { temperature = true, ambient = ambient, expansion = 1 / ambient,
                       viscosity = 5e-4 },
  sources    = { emitter { name = "hot ball", temperature = ambient + heat,
                           shape = disk { center = {0.5, 0.1}, radius = 0.1 } } },
  probes     = { velocity { name = "rise", at = {0.5, 0.6}, axis = "y" },
                 temperature_at { name = "core_T", at = {0.5, 0.6} },
                 flux { axis = "y", position = 1.5 },
                 area { of = "smoke" }, kinetic_energy {}, divergence {} },
  output     = { frames = 100, every = 1 / 25, show = "smoke", range = {0, 1} },
}
