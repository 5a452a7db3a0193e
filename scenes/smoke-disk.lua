-- Smoke streams past a disk and rolls up into a vortex street (2D).
local n  = param("n", 96, "cells across the channel")
local Re = param("Re", 200, "Reynolds number of the disk")

local U, D = 1, 0.2 -- m/s, m

-- Thin bands of smoke upstream of the disk, to see where the fluid goes.
local sources = {
  inflow { name = "inlet", shape = box { lo = {-1, -1}, hi = {0.5 / n, 2} },
           velocity = {U, 0}, smoke = 0, ramp = cosine(0.2) },
}
for _, y in ipairs { 0.38, 0.46, 0.54, 0.62 } do
  sources[#sources + 1] = emitter {
    shape = box { center = {0.04, y}, size = {0.05, 0.035} } }
end

return scene {
  title      = "Smoke past a disk",
  reproduces = "Vortex street behind a cylinder: Strouhal number near 0.2 at Re 200 "
               .. "(Williamson 1996, Annu. Rev. Fluid Mech. 28)",
  domain     = box { size = {2, 1}, cells = {2 * n, n}, right = "open" },
  fluid      = smoke { density = 1, viscosity = U * D / Re, gravity = {0, 0} },
  sources    = sources,
  solids     = { obstacle { name = "disk", noslip = true,
                            -- a little off the middle, so that the wake tips over early
                            shape = disk { center = {0.5, 0.505}, radius = D / 2 } } },
  probes     = { velocity { name = "wake_v", at = {0.9, 0.5}, axis = "y" },
                 pressure { name = "front_p", at = {0.37, 0.505} },
                 flux { axis = "x", position = 1.5 },
                 kinetic_energy {}, divergence {} },
  output     = { frames = 80, every = 0.1, show = "smoke", range = {0, 1} },
}
