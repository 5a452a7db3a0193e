-- A strip of heavy cloth (2D), bent like a bridge, whose feet a spring draws together. They pass each other,
-- the strip folds over itself, and the loop holds what fluid is in it until they swing back.
local n         = param("n", 32, "cells up the box, which is 1 m high and 1 m wide", { from = 16 })
local density   = param("density", 5, "of the cloth, kg/m; the fluid has 1 kg/m^2", { above = 0 })
local top       = param("top", "slip", "slip: one region parts in two, and they merge; open: a region appears and ends", { "open", "slip" })
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local tolerance = param("tolerance", 1e-3, "of the coupling, in cells")
local closed    = param("closed", "eliminated", "how p0 is found: eliminated, solid, fluid, none")
local load      = param("load", "impulse", "what the fluid hands over: impulse, pressure")
local dt        = param("dt", 0.01, "longest substep, s", { above = 0 })

local x0, x1, y0, y1 = 0.36, 0.64, 0.15, 0.75 -- m: feet and roof

return scene {
  title      = "A strip of cloth folds over itself and opens again",
  reproduces = "the area of the loop stays what it was when it closed",
  domain     = box { size = {1, 1}, cells = {n, n}, top = top },
  fluid      = smoke { density = 1, gravity = {0, 0}, max_dt = dt },
  solids     = {
    springs { name = "strip", shape = box { lo = {x0, y0}, hi = {x1, y1} }, spacing = 1 / 64,
              cut = box { lo = {x0 + 0.001, 0}, hi = {x1 - 0.001, y0 + 0.001} },
              density = density, stretch = 2e4, stretch_damping = 20, bend = 2e3, bend_damping = 2, collides = false },
    link { of = "strip", at = {x0, y0}, to = "strip", to_at = {x1, y0}, stiffness = 60, length = 0 },
  },
  dynamics   = dynamics { gravity = {0, 0}, dt = dt, contact = false, check_start = false },
  coupling   = couple { method = coupling, tolerance = tolerance, closed = closed, load = load, max_iterations = 100 },
  probes     = { position { name = "x_left", of = "strip", at = {x0, y0}, axis = "x" },
                 position { name = "x_right", of = "strip", at = {x1, y0}, axis = "x" },
                 position { name = "y_left", of = "strip", at = {x0, y0}, axis = "y" },
                 stretch { of = "strip" }, body_energy {} },
  output     = { frames = 40, every = 0.05, show = "pressure" },
}
