-- Smoke streams past a disk and rolls up into a vortex street (2D).
local n  = param("n", 96, "cells across the channel")
local Re = param("Re", 200, "Reynolds number of the disk", { above = 0 })

local U, D = 1, 0.15 -- m/s, m

-- Thin bands of smoke upstream of the disk, to see where the fluid goes.
local sources = {
  inflow { name = "inlet", shape = box { lo = {-1, -1}, hi = {1.5 / n, 2} },
           velocity = {U, 0}, smoke = 0 },
}
for _, y in ipairs { 0.405, 0.455, 0.505, 0.555, 0.605 } do
  sources[#sources + 1] = emitter {
    shape = box { center = {0.05, y}, size = {0.06, math.max(0.025, 1.01 / n)} } }
end

return scene {
  title      = "Smoke past a disk",
  reproduces = "Vortex street at Re 200: f D / U = 0.197 in a wide channel, 0.22 in this one "
               .. "(Williamson 1996, Annu. Rev. Fluid Mech. 28)",
  domain     = box { size = {2, 1}, cells = {2 * n, n}, right = "open" },
  fluid      = smoke { density = 1, viscosity = U * D / Re, gravity = {0, 0},
                       initial_velocity = {U, 0} },
  sources    = sources,
  solids     = { obstacle { name = "disk", noslip = true,
                            -- a little off the middle, so that the wake tips over early
                            shape = disk { center = {0.4, 0.505}, radius = D / 2 } } },
  probes     = { velocity { name = "wake_v", at = {0.8, 0.5}, axis = "y" },
                 pressure { name = "front_p", at = {0.3, 0.505} },
                 flux { axis = "x", position = 1.5 },
                 kinetic_energy {}, divergence {} },
  output     = { frames = 100, every = 0.1, show = "smoke", range = {0, 1} },
}
