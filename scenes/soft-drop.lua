-- A soft ring falls on a step, bounces and comes to rest.
local n     = param("n", 64, "cells across the domain; also the mesh of the ring")
local young = param("young", 3e5, "Young's modulus of the ring, Pa; one of 4e4 folds through itself")

return scene {
  title    = "A soft ring dropped on a step",
  reproduces = "an elastic body in contact with obstacles",
  domain   = box { size = {1, 1}, cells = {n, n} },
  solids   = { obstacle { name = "step", shape = box { lo = {-0.1, -0.1}, hi = {0.42, 0.2} } },
               elastic { name = "ring", shape = torus { center = {0.5, 0.7}, major = 0.16, minor = 0.04 },
                         spacing = 1 / n, young = young, poisson = 0.4, density = 1000,
                         damping_stiffness = 0.002 } },
  dynamics = dynamics { dt = 0.005 },
  probes   = { volume_ratio { of = "ring" }, body_energy {}, position { of = "ring", axis = "y" }, area { of = "ring" } },
  output   = { frames = 75, every = 0.04, show = "stress" },
}
