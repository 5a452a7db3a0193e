-- A constant force sets the fluid between two plates in motion until friction holds it (2D).
local n  = param("n", 32, "cells between the plates")
local nu = param("nu", 0.1, "kinematic viscosity in m^2/s")

local H, u_max = 1, 1 -- m, m/s

return scene {
  title      = "Plane Poiseuille flow",
  reproduces = "Exact: u = 4 u_max (y/H) (1 - y/H), mean 2/3 u_max, reached within 3 H^2 / "
               .. "(pi^2 nu)",
  domain     = box { size = {2 * H, H}, cells = {2 * n, n}, left = "through", right = "through",
                     bottom = "noslip", top = "noslip" },
  fluid      = smoke { density = 1, viscosity = nu, gravity = {0, 0}, max_dt = 0.02,
                       body_force = {8 * nu * u_max / H ^ 2, 0} },
  probes     = { velocity { name = "u_mid", at = {H, H / 2}, axis = "x" },
                 velocity { name = "u_quarter", at = {H, H / 4}, axis = "x" },
                 flux { axis = "x", position = H }, kinetic_energy {}, divergence {} },
  output     = { frames = 50, every = 0.1, show = "speed", range = {0, 1} },
}
