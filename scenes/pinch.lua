-- Two jaws press a balloon (2D) together until its walls meet, hold it, and let it go. The air in it
-- parts into two regions, which become one again.
local n         = param("n", 32, "cells up the box, which is 1 m high and 1.5 m wide", { multiple = 2 })
local gap       = param("gap", 0.01, "between the jaws when they are closed, m; 0.06: the walls do not meet", { from = 0, to = 0.8 })
local driven    = param("driven", "bodies", "the jaws", { "bodies", "obstacles" })
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local published = param("published", false, "the coupling as its authors printed it")
local omega     = param("omega", 0.05, "relaxation of relaxed; the first one of aitken")
local tolerance = param("tolerance", 0.01, "of the coupling, in cells")
local closed    = param("closed", "eliminated", "how p0 is found: eliminated, solid, fluid, none")
local dt        = param("dt", 0.01, "longest substep, s")

local way = (0.8 - gap) / 2
local path = keys { {0, 0}, {1, 1}, {1.5, 1}, {2.5, 0} }
local ball = disk { center = {0.75, 0.5}, radius = 0.25 }

local function jaw(name, y, up)
  local shape = capsule { a = {0.75, y}, b = {0.75, y - 0.5 * up}, radius = 0.08 }
  local moves = motion { translate = {0, up * way}, path = path }
  return driven == "bodies" and rigid { name = name, density = 1, shape = shape, motion = moves }
         or obstacle { name = name, shape = shape, motion = moves }
end

return scene {
  title      = "Balloon pressed together by two jaws",
  reproduces = "the area that it had, while regions part and merge (Akbay et al. 2018, section 6)",
  domain     = box { size = {1.5, 1}, cells = {1.5 * n, n}, top = "open" },
  fluid      = smoke { density = 1, gravity = {0, 0}, max_dt = dt, initial_smoke = ball },
  solids     = {
    jaw("upper", 0.98, -1), jaw("lower", 0.02, 1),
    springs { name = "balloon", shape = ball, spacing = 0.02, density = 0.5, stretch = 100, stretch_damping = 1 },
  },
  dynamics   = dynamics { gravity = {0, 0}, dt = dt, check_start = false },
  coupling   = couple { method = coupling, published = published, omega = omega, tolerance = tolerance,
                        closed = closed, max_iterations = 100 },
  probes     = { area { of = "balloon" }, stretch { of = "balloon" }, position { of = "balloon", axis = "x" } },
  output     = { frames = 30, every = 0.1, show = "smoke" },
}
