-- Two square balloons of springs with a common wall, each blown up through a tube of its own. p0 of the
-- two regions are coupled: the wall feels both.
local n         = param("n", 80, "cells across the box, which is 8 m wide; the thesis: 400", { multiple = 80 })
local right     = param("right", 1, "speed in the right tube over that in the left one; the thesis: 1 and 0.5; 0: none", { from = 0 })
local reading   = param("reading", "modulus", "of the printed stiffness k: modulus: k times strain; spring: k times stretch, N/m", { "modulus", "spring" })
local bend      = param("bend", 0, "printed: 5e4. Springs across a node, which also resist stretching: twice as much again")
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local published = param("published", false, "the coupling as its authors printed it")
local omega     = param("omega", 0.05, "relaxation of relaxed; the first one of aitken")
local tolerance = param("tolerance", 1e-3, "of the coupling, in cells")
local closed    = param("closed", "eliminated", "how p0 is found: eliminated, solid, fluid, none (they do not inflate)")
local dt        = param("dt", 0.02, "longest substep, s")

local dx, u_max = 8 / n, 1
local l0 = dx
local k, b, b_bend = 5e4, 1500, 800
local per = reading == "modulus" and l0 or 1

local function both(make) return make(-1), make(1) end
local function box_at(side, x0, y0, x1, y1) -- x counted from the middle to the side
  return box { lo = {side > 0 and x0 or -x1, y0}, hi = {side > 0 and x1 or -x0, y1} }
end
local function wall(side, y0, y1)
  return obstacle { noslip = true, shape = box_at(side, 1.8, y0, 5, y1) }
end
local lu, ru = both(function(s) return wall(s, 0.5, 0.7) end)
local ll, rl = both(function(s) return wall(s, -0.7, -0.5) end)
local lc, rc = both(function(s) return box_at(s, 1.9, -0.6, 3, 0.6) end)
local lf, rf = both(function(s) return box_at(s, 1.9, -0.7 - 1e-6, 3, 0.7 + 1e-6) end)

return scene {
  title      = right == 1 and "Two balloons with a common wall" or "Two balloons with a common wall, not symmetric",
  reproduces = "Akbay thesis, section 4.3.6: the areas grow by 2/3 u_max (t - 1/2), t >= 1",
  domain     = box { origin = {-4, -4}, size = {8, 8}, cells = {n, n}, top = "open", bottom = "open" },
  fluid      = smoke { density = 1.1, viscosity = 0.146, gravity = {0, 0}, outside = "empty", max_dt = dt },
  sources    = {
    inflow { name = "left", shape = box_at(-1, 4 - 2 * dx, -0.5, 5, 0.5), velocity = {u_max, 0},
             profile = "parabolic", ramp = cosine(1) },
    right > 0 and inflow { name = "right", shape = box_at(1, 4 - 2 * dx, -0.5, 5, 0.5), velocity = {-u_max * right, 0},
             profile = "parabolic", ramp = cosine(1) } or nil,
  },
  solids     = {
    lu, ru, ll, rl,
    springs { name = "balloons", shape = box { lo = {-2, -1}, hi = {2, 1} }, from = {0, -1}, to = {0, 1},
              spacing = l0, cut = union { lc, rc }, fixed = union { lf, rf },
              density = 200, stretch = k / per, stretch_damping = b / per,
              bend = bend / (2 * per), bend_damping = bend > 0 and b_bend / (2 * per) or 0 },
  },
  dynamics   = dynamics { gravity = {0, 0}, dt = dt, contact = false },
  coupling   = couple { method = coupling, published = published, omega = omega, tolerance = tolerance,
                        closed = closed, predictor = published and 0 or 1, max_iterations = 500 },
  probes     = { position { name = "x_wall", of = "balloons", at = {0, 0}, axis = "x" },
                 position { name = "x_top", of = "balloons", at = {0, 1}, axis = "x" },
                 position { name = "y_top", of = "balloons", at = {0, 1}, axis = "y" },
                 stretch { of = "balloons" }, body_energy { of = "balloons" } },
  output     = { frames = 60, every = 0.25, show = "speed" },
}
