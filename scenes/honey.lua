-- A sheet of honey falls on a plate, folds over itself and spreads (2D).
local n         = param("n", 64, "cells across the box")
local viscosity = param("viscosity", 0.007, "kinematic viscosity in m^2/s; honey 0.007, water 1e-6")
local speed     = param("speed", 0.2, "of the jet in m/s")

return scene {
  title      = "Honey",
  reproduces = "the buckling of Batty and Bridson 2008 (free surface without viscous stress)",
  domain     = box { size = {0.12, 0.12}, cells = {n, n}, bottom = "noslip" },
  fluid      = water { density = 1400, viscosity = viscosity,
                       initial_water = box { lo = {0.055, 0.1}, hi = {0.065, 0.2} },
                       initial_velocity = {0, -speed} },
  sources    = { inflow { shape = box { lo = {0.055, 0.112}, hi = {0.065, 0.2} },
                          velocity = {0, -speed} } },
  probes     = { area { of = "fluid" }, kinetic_energy {}, divergence {} },
  output     = { frames = 60, every = 1/30, show = "water" },
}
