-- A piston on a spring in a duct of fluid. Both columns end at sides through which the duct goes on,
-- so that 1000 kg of fluid per square metre move with the piston, whatever it weighs, and it swings
-- once in a second. For the light ones the fluid is the harder part: mass ratio M / 1000.
local n         = param("n", 32, "cells across the duct")
local M         = param("M", 100, "mass of the piston over its area, kg/m^2")
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local published = param("published", false, "the coupling as its authors printed it")
local tolerance = param("tolerance", 1e-3, "of the coupling, in cells")
local omega     = param("omega", 0.1, "relaxation of relaxed; the first one of aitken", { from = 1e-6, to = 2 })
local dt        = param("dt", 0.005, "substep, s")

local H, L, h, rho = 0.25, 1, 0.25, 1000 -- m: duct, both columns, piston; kg/m^3
local omega_0 = 2 * math.pi               -- rad/s
local v0 = 0.01 * omega_0                 -- m/s: the piston swings by 1 cm
local relaxes, iterates = coupling == "relaxed" or coupling == "aitken", coupling ~= "weak"

return scene {
  title      = "Spring piston on open columns",
  reproduces = "T = 2 pi sqrt((M + rho L A) / k) = 1 s",
  domain     = box { size = {L + h, H}, cells = {5 * n, n}, left = "through", right = "through" },
  fluid      = smoke { density = rho, gravity = {0, 0}, initial_velocity = {v0, 0}, dt = dt },
  solids     = { rigid { name = "piston", joint = "slider", joint_axis = {1, 0},
                         shape = box { center = {(L + h) / 2, H / 2}, size = {h, 2 * H} },
                         density = M * H / (h * 2 * H), velocity = {v0, 0},
                         spring = omega_0^2 * (M + rho * L) * H } },
  dynamics   = dynamics { gravity = {0, 0}, dt = dt, contact = false },
  coupling   = couple { method = coupling, published = published,
                        tolerance = iterates and tolerance or nil, omega = relaxes and omega or nil },
  probes     = { position { of = "piston", axis = "x" }, body_velocity { of = "piston", axis = "x" },
                 force { of = "piston", axis = "x" }, velocity { at = {0.1, H / 2}, axis = "x" } },
  output     = { frames = 44, every = 0.05, show = "speed" },
}
