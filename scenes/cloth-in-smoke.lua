-- A free piece of cloth, thin and light, is carried and folded by a jet of smoke (2D). The lighter
-- it is, the harder the coupling: the fluid that moves with it outweighs it more and more.
local n         = param("n", 64, "cells across the box, which is 1 m wide", { multiple = 2 })
local M         = param("M", 0.8, "mass of the cloth over that of the air it moves, as the paper's table counts it")
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local published = param("published", false, "the coupling as its authors printed it")
local load      = param("load", "", "impulse or pressure; empty: what the method prefers")
local mass      = param("mass", "", "none, dual or fitted; empty: what the method prefers")
local omega     = param("omega", 0.1, "relaxation of relaxed; the first one of aitken", { from = 1e-6, to = 2 })
local tolerance = param("tolerance", 0.05, "of the coupling, in cells")
local adapt     = param("adapt", true, "shorten the step after a hard substep")
local speed     = param("speed", 0.5, "of the jet, m/s")

local dx = 1 / n
local relaxes, iterates = coupling == "relaxed" or coupling == "aitken", coupling ~= "weak"

return scene {
  title      = "Cloth in a jet of smoke",
  reproduces = "Akbay et al. 2018, figure 2.10, tables 2.1 and 2.2 of the thesis",
  domain     = box { size = {1, 1.5}, cells = {n, 3 * n / 2}, top = "open" },
  fluid      = smoke { density = 1, gravity = {0, 0}, dt = dx },
  sources    = { inflow { name = "jet", shape = box { lo = {0.35, -1}, hi = {0.65, 2 * dx} },
                          velocity = {0, speed}, smoke = 1, ramp = cosine { duration = 0.1 } } },
  -- 0.099 m of air per unit of M: the largest added mass of this cloth is 6.2 times that
  solids     = { rod { name = "cloth", from = {0.2, 0.4}, to = {0.8, 0.4}, spacing = dx / 2,
                       density = 0.099 * M, stretch = 20, bend = 1e-5 } },
  dynamics   = dynamics { gravity = {0, 0}, dt = dx, contact = false },
  coupling   = couple { method = coupling, published = published,
                        omega = relaxes and omega or nil, tolerance = iterates and tolerance or nil,
                        adapt = adapt, load = load ~= "" and load or nil,
                        mass = iterates and mass ~= "" and mass or nil, frozen = iterates or nil, kernel_radius = 2 },
  probes     = { position { of = "cloth", axis = "y" }, stretch { of = "cloth" },
                 body_energy { of = "cloth" }, kinetic_energy {} },
  output     = { frames = 60, every = 1 / 20, show = "smoke" },
}
