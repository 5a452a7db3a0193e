-- Three rings of springs, one in the other, around a source in the middle. Only the innermost region
-- grows; the others are pushed outwards and keep their area. With everything round there is an exact
-- answer: r^2 = r_0^2 + 0.9 I(t), I the integral of the ramp, and p0 from the rings' tension and mass.
local n         = param("n", 120, "cells across the box, which is 9.6 m wide; the thesis: 480", { from = 32 })
local u_max     = param("u_max", 1, "speed with which air leaves the source, m/s", { above = 0 })
local reading   = param("reading", "modulus", "of the printed stiffness k: modulus: k times strain; spring: k times stretch, N/m", { "modulus", "spring" })
local bend      = param("bend", 0, "printed: 5e4. Springs across a node, which also resist stretching: twice as much again")
local damping   = param("damping", 1500, "of the springs, of the same reading")
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local published = param("published", false, "the coupling as its authors printed it")
local omega     = param("omega", 0.05, "relaxation of relaxed; the first one of aitken")
local tolerance = param("tolerance", 1e-3, "of the coupling, in cells")
local closed    = param("closed", "eliminated", "how p0 is found: eliminated, solid, fluid, none (they do not grow)")
local dt        = param("dt", 0.04, "longest substep, s")

local W  = 9.6
local l0 = W / n
local k  = 5e4

-- l0: the length of a spring at rest; there are as many as fit, so that it differs a little
local function ring(name, radius)
  local l = 2 * math.pi * radius / math.floor(2 * math.pi * radius / l0 + 0.5)
  local per = reading == "modulus" and l or 1
  return springs { name = name, shape = disk { center = {0, 0}, radius = radius }, spacing = l0,
                   density = 200, stretch = k / per, stretch_damping = damping / per, bend = bend / (2 * per) }
end

return scene {
  title      = "Nested balloons",
  reproduces = "Akbay thesis, section 4.3.7; exact: r_i^2 = r_i0^2 + 0.9 u_max I(t)",
  domain     = box { origin = {-W / 2, -W / 2}, size = {W, W}, cells = {n, n},
                     left = "open", right = "open", top = "open", bottom = "open" },
  fluid      = smoke { density = 1.1, viscosity = 0.146, gravity = {0, 0}, outside = "empty", max_dt = dt },
  sources    = { inflow { name = "source", shape = disk { center = {0, 0}, radius = 0.45 },
                          speed = u_max, ramp = cosine(1) } },
  solids     = { ring("inner", 1.5), ring("middle", 2.5), ring("outer", 3.5) },
  dynamics   = dynamics { gravity = {0, 0}, dt = dt, contact = false },
  coupling   = couple { method = coupling, published = published, omega = omega, tolerance = tolerance,
                        closed = closed, predictor = published and 0 or 1, max_iterations = 500 },
  probes     = { area { name = "area_inner", of = "inner" }, area { name = "area_middle", of = "middle" },
                 area { name = "area_outer", of = "outer" }, stretch { of = "inner" }, kinetic_energy {} },
  output     = { frames = 40, every = 0.25, show = "speed" },
}
