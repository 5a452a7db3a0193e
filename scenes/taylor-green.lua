-- A Taylor-Green vortex between free-slip walls decays at a known rate (2D).
local n  = param("n", 64, "cells across the box")
local nu = param("nu", 0.05, "kinematic viscosity in m^2/s")

local sin, cos = math.sin, math.cos

return scene {
  title      = "Taylor-Green vortex",
  reproduces = "Exact: u = sin x cos y exp(-2 nu t); the kinetic energy falls as exp(-4 nu t) "
               .. "(Taylor & Green 1937)",
  domain     = box { size = {math.pi, math.pi}, cells = {n, n} },
  fluid      = smoke { density = 1, viscosity = nu, gravity = {0, 0}, cfl = 0.5,
                       initial_velocity = function(x, y)
                         return sin(x) * cos(y), -cos(x) * sin(y)
                       end,
                       initial_smoke = function(x, y) -- a chequered dye, to see the rolling up
                         return sin(4 * x) * sin(4 * y) > 0 and 1 or 0
                       end },
  probes     = { kinetic_energy {}, pressure { at = {math.pi / 2, math.pi / 2} }, divergence {} },
  output     = { frames = 60, every = 0.05, show = "smoke", range = {0, 1} },
}
