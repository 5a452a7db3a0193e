-- A heavy piston falls past a port in the wall of its cylinder (2D) and closes it: what it then pushes
-- down lifts another piston, on a spring, which drives it back past the port.
local n         = param("n", 48, "cells across the box, which is 3 m wide", { multiple = 6 })
local M         = param("M", 100, "of each piston, kg/m^2; the fluid has 1 kg/m^3")
local speed     = param("speed", 1, "of the falling one, m/s")
local top       = param("top", "open", "open: a region appears and ends; slip: one parts in two, and they merge", { "open", "slip" })
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local published = param("published", false, "the coupling as its authors printed it")
local omega     = param("omega", 0.1, "relaxation of relaxed; the first one of aitken")
local tolerance = param("tolerance", 1e-3, "of the coupling, in cells")
local closed    = param("closed", "eliminated", "how p0 is found: eliminated, solid, fluid, none")
local load      = param("load", "impulse", "what the fluid hands over: impulse, pressure")
local dt        = param("dt", 0.02, "longest substep, s")

local k = math.pi^2 * 2 * M / 1.5^2 -- N/m: half a period of both takes 1.5 s

return scene {
  title      = "A piston closes a port and opens it again",
  reproduces = "both pistons at v/2 after the impact, and half a period, 1.5 s, later back",
  domain     = box { size = {3, 6}, cells = {n, 2 * n}, top = top },
  fluid      = smoke { density = 1, gravity = {0, 0}, max_dt = dt },
  solids     = {
    obstacle { name = "wall", shape = box { lo = {1, 1}, hi = {2, 3} } },
    obstacle { name = "wall above", shape = box { lo = {1, 3.5}, hi = {2, 5} } },
    rigid { name = "hammer", joint = "slider", joint_axis = {0, 1}, density = M / 0.75, velocity = {0, -speed},
            shape = box { lo = {0, 3.7}, hi = {1, 4.45} } },
    rigid { name = "lifted", joint = "slider", joint_axis = {0, 1}, density = M / 0.75, spring = k,
            shape = box { lo = {2, 1.5}, hi = {3, 2.25} } },
  },
  dynamics   = dynamics { gravity = {0, 0}, dt = dt, contact = false },
  coupling   = couple { method = coupling, published = published, omega = omega, tolerance = tolerance,
                        closed = closed, load = load, max_iterations = 100 },
  probes     = { position { name = "y_hammer", of = "hammer", axis = "y" },
                 position { name = "y_lifted", of = "lifted", axis = "y" },
                 body_velocity { name = "v_hammer", of = "hammer", axis = "y" },
                 body_velocity { name = "v_lifted", of = "lifted", axis = "y" },
                 force { name = "f_hammer", of = "hammer", axis = "y" },
                 force { name = "f_lifted", of = "lifted", axis = "y" } },
  output     = { frames = 40, every = 0.1, show = "pressure" },
}
