-- A square balloon of rubber, 20 cm thick, held at the end of a rigid tube, is blown up through the tube.
local n         = param("n", 120, "cells across the box, which is 6 m wide; the thesis: 300", { multiple = 60 })
local u_max     = param("u_max", 1, "speed in the middle of the tube, m/s; the thesis does not say", { above = 0 })
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local published = param("published", false, "the coupling as its authors printed it")
local omega     = param("omega", 0.05, "relaxation of relaxed; the first one of aitken")
local tolerance = param("tolerance", 1e-3, "of the coupling, in cells")
local closed    = param("closed", "eliminated", "how p0 is found: eliminated, solid, fluid, none (it does not inflate)")
local order     = param("order", 1, "of the elements; the thesis: 1")
local dt        = param("dt", 0.02, "longest substep, s")

local dx = 6 / n

return scene {
  title      = "Thick balloon, blown up",
  reproduces = "Akbay thesis, section 4.3.2: the area grows by 2/3 u_max (t - 1/2), t >= 1",
  domain     = box { origin = {0, -3}, size = {6, 6}, cells = {n, n},
                     right = "open", top = "open", bottom = "open" },
  fluid      = smoke { density = 1.1, viscosity = 0.146, gravity = {0, 0}, outside = "empty", max_dt = dt },
  sources    = { inflow { name = "source", shape = box { lo = {-1, -0.5}, hi = {2 * dx, 0.5} },
                          velocity = {u_max, 0}, profile = "parabolic", ramp = cosine(1) } },
  solids     = {
    obstacle { name = "upper wall", noslip = true, shape = box { lo = {-1, 0.5}, hi = {1, 0.7} } },
    obstacle { name = "lower wall", noslip = true, shape = box { lo = {-1, -0.7}, hi = {1, -0.5} } },
    -- 2 m x 2 m inside; its ends lie within the walls, and nodes on their surface are held too: nothing leaks
    elastic { name = "balloon", shape = box { lo = {0.8, -1.2}, hi = {3.2, 1.2} }, spacing = dx, order = order,
              cut = union { box { lo = {1, -1}, hi = {3, 1} }, box { lo = {0, -0.6}, hi = {1.1, 0.6} } },
              fixed = box { lo = {0, -0.7 - 1e-6}, hi = {1 + 1e-6, 0.7 + 1e-6} },
              density = 1000, young = 7e5, poisson = 0.45 },
  },
  dynamics   = dynamics { gravity = {0, 0}, dt = dt, contact = false },
  coupling   = couple { method = coupling, published = published, omega = omega, tolerance = tolerance,
                        closed = closed, predictor = published and 0 or 1, max_iterations = 500 },
  probes     = { position { name = "x_far", of = "balloon", at = {3, 0}, axis = "x" },
                 position { name = "y_top", of = "balloon", at = {2, 1}, axis = "y" },
                 position { name = "y_bottom", of = "balloon", at = {2, -1}, axis = "y" },
                 body_energy { of = "balloon" }, flux { axis = "x", position = 0.5 } },
  output     = { frames = 60, every = 0.25, show = "speed" },
}
