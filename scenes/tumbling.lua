-- A box of three different edges spins freely about its middle axis and turns over again and again.
local n = param("n", 32, "cells of the domain, for the picture only")

return scene {
  title    = "Tumbling box (the tennis racket effect)",
  reproduces = "a free rigid body about its unstable axis",
  domain   = box { size = {1, 1, 1}, cells = {n, n, n} },
  solids   = { rigid { name = "box", shape = box { center = {0.5, 0.5, 0.5}, size = {0.55, 0.3, 0.12} },
                       density = 500, spin = {0.02, 6, 0.02} } },
  dynamics = dynamics { gravity = {0, 0, 0}, dt = 0.005 },
  probes   = { angle { of = "box" }, body_energy {} },
  output   = { frames = 150, every = 0.04 },
}
