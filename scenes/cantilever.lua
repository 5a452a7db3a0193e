-- An elastic bar held at one end bends under its own weight and swings.
local n  = param("n", 100, "cells across the domain, for the picture; n / 25 elements across the bar")
local E  = param("young", 1.4e6, "Young's modulus, Pa")
local l, h = 0.35, 0.02

return scene {
  title    = "Elastic bar under its weight",
  reproduces = "Turek and Hron 2006, benchmark CSM3 (with a straight root)",
  domain   = box { size = {0.5, 0.25}, cells = {2 * (n // 2), n // 2}, origin = {-0.05, -0.17},
                   left = "open", right = "open", top = "open", bottom = "open" },
  solids   = { elastic { name = "bar", shape = box { lo = {0, -h/2}, hi = {l, h/2} }, spacing = h / math.max(1, n // 25), order = 2,
                         material = "st_venant", young = E, poisson = 0.4, density = 1000,
                         fixed = box { lo = {-1, -1}, hi = {1e-9, 1} } } },
  dynamics = dynamics { gravity = {0, -2}, dt = 0.01, integrator = "newmark", contact = false },
  probes   = { position { of = "bar", at = {l, 0}, axis = "y", name = "tip_y" },
               position { of = "bar", at = {l, 0}, axis = "x", name = "tip_x" }, body_energy {} },
  output   = { frames = 100, every = 0.02, show = "stress" },
}
