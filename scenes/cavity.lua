-- The lid of a box slides and drives one large vortex (2D).
local n  = param("n", 64, "cells across the box")
local Re = param("Re", 400, "Reynolds number: 100, 400 and 1000 have tables to compare with", { above = 0 })

return scene {
  title      = "Lid-driven cavity",
  reproduces = "Ghia, Ghia & Shin 1982, J. Comput. Phys. 48, tables I and II; "
               .. "at Re 400: u_low -0.32726, v_right -0.44993, v_left 0.30203",
  domain     = box { size = {1, 1}, cells = {n, n}, left = "noslip", right = "noslip",
                     bottom = "noslip", top = wall { velocity = {1, 0} } },
  fluid      = smoke { density = 1, viscosity = 1 / Re, gravity = {0, 0} },
  probes     = { velocity { name = "u_mid", at = {0.5, 0.5}, axis = "x" },
                 velocity { name = "u_low", at = {0.5, 0.2813}, axis = "x" },
                 velocity { name = "v_right", at = {0.8594, 0.5}, axis = "y" },
                 velocity { name = "v_left", at = {0.2266, 0.5}, axis = "y" },
                 kinetic_energy {}, divergence {} },
  output     = { frames = 60, every = 0.5, show = "speed", range = {0, 1} },
}
