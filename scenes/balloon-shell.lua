-- A square balloon of springs, held at the end of a rigid tube, is blown up through the tube. There is
-- air in it only; what flows in has nowhere to go, and only p0 tells the balloon to grow.
local n         = param("n", 56, "cells across the box, which is 5.6 m wide; the thesis: 280", { multiple = 56 })
local u_max     = param("u_max", 1, "speed in the middle of the tube, m/s", { above = 0 })
local reading   = param("reading", "modulus", "of the printed stiffness k: modulus: k times strain; spring: k times stretch, N/m", { "modulus", "spring" })
local bend      = param("bend", 0, "printed: 5e4. Springs across a node, which also resist stretching: twice as much again")
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local published = param("published", false, "the coupling as its authors printed it")
local omega     = param("omega", 0.05, "relaxation of relaxed; the first one of aitken")
local tolerance = param("tolerance", 1e-3, "of the coupling, in cells")
local closed    = param("closed", "eliminated", "how p0 is found: eliminated, solid, fluid, none (it does not inflate)")
local dt        = param("dt", 0.02, "longest substep, s")

local dx = 5.6 / n
local l0 = dx
local k, b, b_bend = 5e4, 1500, 800
local per = reading == "modulus" and l0 or 1 -- a spring of length l0 has k / l0 N/m if k is a modulus

return scene {
  title      = "Thin balloon, blown up",
  reproduces = "Akbay thesis, section 4.3.4: the area grows by 2/3 u_max (t - 1/2), t >= 1",
  domain     = box { origin = {0, -2.8}, size = {5.6, 5.6}, cells = {n, n},
                     right = "open", top = "open", bottom = "open" },
  fluid      = smoke { density = 1.1, viscosity = 0.146, gravity = {0, 0}, outside = "empty", max_dt = dt },
  sources    = { inflow { name = "source", shape = box { lo = {-1, -0.5}, hi = {2 * dx, 0.5} },
                          velocity = {u_max, 0}, profile = "parabolic", ramp = cosine(1) } },
  solids     = {
    obstacle { name = "upper wall", noslip = true, shape = box { lo = {-1, 0.5}, hi = {1, 0.7} } },
    obstacle { name = "lower wall", noslip = true, shape = box { lo = {-1, -0.7}, hi = {1, -0.5} } },
    -- its ends lie within the walls, and the last nodes outside them are on their surface: nothing leaks
    springs { name = "balloon", shape = box { lo = {0.8, -1}, hi = {2.8, 1} }, spacing = l0,
              cut = box { lo = {0, -0.6}, hi = {0.9, 0.6} },
              fixed = box { lo = {0, -0.7 - 1e-6}, hi = {0.9, 0.7 + 1e-6} },
              density = 200, stretch = k / per, stretch_damping = b / per,
              bend = bend / (2 * per), bend_damping = bend > 0 and b_bend / (2 * per) or 0 },
  },
  dynamics   = dynamics { gravity = {0, 0}, dt = dt, contact = false },
  coupling   = couple { method = coupling, published = published, omega = omega, tolerance = tolerance,
                        closed = closed, predictor = published and 0 or 1, max_iterations = 500 },
  probes     = { area { of = "balloon" }, stretch { of = "balloon" }, position { of = "balloon", axis = "x" },
                 position { of = "balloon", axis = "y" }, body_energy { of = "balloon" },
                 flux { axis = "x", position = 0.5 } },
  output     = { frames = 60, every = 0.25, show = "speed" },
}
