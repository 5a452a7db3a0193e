-- A bent channel between two elastic arcs, blown up from both ends. The upper arc is soft and rises; the
-- lower one is stiff, holds for a while, and then snaps down, towards the side that blows harder.
local n         = param("n", 240, "cells across the box, which is 12 m wide; the thesis: 480. The arcs are 0.1 m thick", { multiple = 120, from = 240 })
local left      = param("left", 10, "speed in the middle of the left tube, m/s", { above = 0 })
local right     = param("right", 10.1, "and of the right tube", { above = 0 })
local rise      = param("rise", 0.45, "of the lower arc, m: in a lost figure. It snaps at 2.8 s (printed: about 2.5); with 0.6 at 3.9 s, to the side that blows harder", { above = 0, to = 4 })
local spacing   = param("spacing", 0.1, "of the arcs' elements, of order 2, m; the thesis: 0.05 of order 1", { above = 0, to = 1 })
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local published = param("published", false, "the coupling as its authors printed it")
local omega     = param("omega", 0.05, "relaxation of relaxed; the first one of aitken")
local tolerance = param("tolerance", 1e-3, "of the coupling, in cells")
local closed    = param("closed", "eliminated", "how p0 is found: eliminated, solid, fluid, none (nothing gives way)")
local dt        = param("dt", 0.01, "longest substep, s")

local dx, half, thick = 12 / n, 4, 0.1           -- m: half the span between the tubes, arcs
local R  = (half^2 + rise^2) / (2 * rise)        -- m: outer face of the lower arc, through (+-half, 0)
local yc = rise - R                              -- m: centre of both arcs
local Ru = R + 1                                 -- m: inner face of the upper arc, 1 m away
local yu = yc + math.sqrt(Ru^2 - (half + 1)^2)   -- m: where it meets the outer wall of the tubes
local far = 2 * Ru + 10                          -- m: beyond all of their circles

-- An arc whose ends, beyond |x| = `at`, are inside the walls of the tubes below `top`.
local function arc(name, inner, at, top, young)
  local c = inner + thick / 2
  local around = 4 * math.floor(2 * math.pi * c / (4 * spacing) + 0.5) -- so that the mesh is symmetric
  return elastic { name = name, shape = torus { center = {0, yc}, major = c, minor = thick / 2 },
                   spacing = 2 * math.pi * c / around, order = 2, density = 500, young = young, poisson = 0.3,
                   cut = union { box { lo = {-far, -far}, hi = {far, yc} }, box { lo = {-far, -far}, hi = {-at, far} },
                                 box { lo = {at, -far}, hi = {far, far} } },
                   fixed = union { box { lo = {-far, -far}, hi = {-at + 0.35, top} },
                                   box { lo = {at - 0.35, -far}, hi = {far, top} } } }
end
local function wall(x0, x1, y)
  return obstacle { noslip = true, shape = box { lo = {x0, -4}, hi = {x1, y} } }
end
local t0, t1 = 0.1, yu + 0.1 -- m: tops of the inner and the outer walls

return scene {
  title      = "Damped structural instability",
  reproduces = "Akbay thesis, section 4.3.3: the area grows by 2/3 (left + right) (t - 1/2), t >= 1",
  domain     = box { origin = {-6, -2}, size = {12, 10.5}, cells = {n, 0.875 * n}, left = "open",
                     right = "open", top = "open", bottom = "open" },
  fluid      = smoke { density = 1, viscosity = 9, gravity = {0, 0}, outside = "empty", max_dt = dt },
  sources    = {
    inflow { name = "left", shape = box { lo = {-5, -4}, hi = {-4, -2 + 2 * dx} }, velocity = {0, left},
             profile = "parabolic", ramp = cosine(1) },
    inflow { name = "right", shape = box { lo = {4, -4}, hi = {5, -2 + 2 * dx} }, velocity = {0, right},
             profile = "parabolic", ramp = cosine(1) },
  },
  solids     = {
    wall(-4, -3.6, t0), wall(3.6, 4, t0), wall(-5.4, -5, t1), wall(5, 5.4, t1),
    arc("lower", R - thick, 3.95, t0 + 0.05, 9e8),
    arc("upper", Ru, 5.25, t1 + 0.05, 9e5),
  },
  dynamics   = dynamics { gravity = {0, 0}, dt = dt, contact = false },
  coupling   = couple { method = coupling, published = published, omega = omega, tolerance = tolerance,
                        closed = closed, predictor = published and 0 or 1, max_iterations = 500 },
  probes     = { position { name = "y_lower", of = "lower", at = {0, rise}, axis = "y" },
                 position { name = "y_left", of = "lower", at = {-2, 0.7 * rise}, axis = "y" },
                 position { name = "y_right", of = "lower", at = {2, 0.7 * rise}, axis = "y" },
                 position { name = "y_upper", of = "upper", at = {0, rise + 1}, axis = "y" },
                 body_energy { of = "lower" } },
  output     = { frames = 80, every = 0.05, show = "speed" },
}
