-- A thin rubber balloon hangs from a pipe (3D) and is filled and stretched by a fast stream of water.
local n         = param("n", 32, "cells across the box, which is 1 m wide; the paper: 100", { multiple = 16 })
local speed     = param("speed", 2, "of the stream, m/s", { above = 0 })
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local published = param("published", false, "the coupling as its authors printed it")
local omega     = param("omega", 0.05, "relaxation of relaxed; the first one of aitken")
local tolerance = param("tolerance", 0.02, "of the coupling, in cells")
local closed    = param("closed", "eliminated", "how p0 is found: eliminated, solid, fluid, none")
local density   = param("density", 2, "of the rubber, kg/m^2; water has 1000 kg/m^3")
local young     = param("young", 2000, "of the rubber, times its thickness, N/m")

local dx = 1 / n
local r, bore, y0 = 0.15, 0.0625, 1 -- m: balloon, pipe, its end
local yc = y0 - math.sqrt(r^2 - 0.095^2) + 0.03
local ball = sphere { center = {0.5, yc, 0.5}, radius = r }

return scene {
  title      = "Balloon filled with water",
  reproduces = "Akbay et al. 2018, figure 6 (2.4 of the thesis)",
  domain     = box { size = {1, 1.25, 1}, cells = {n, 1.25 * n, n}, top = "open" },
  fluid      = water { density = 1000, gravity = {0, -9.8, 0}, max_dt = 0.01, walls = "sticking", -- no air comes behind it
                       initial_water = union {
                         sphere { center = {0.5, yc, 0.5}, radius = r - 0.001 }, -- within its triangles
                         cylinder { a = {0.5, yc, 0.5}, b = {0.5, 2, 0.5}, radius = bore } } },
  sources    = { inflow { name = "stream", shape = cylinder { a = {0.5, y0 + 0.1, 0.5}, b = {0.5, 2, 0.5}, radius = 0.095 }, -- all of the bore, nothing beyond the pipe
                          velocity = {0, -speed, 0}, ramp = cosine(0.2) } },
  solids     = {
    obstacle { name = "pipe", shape = cylinder { a = {0.5, y0, 0.5}, b = {0.5, 2, 0.5}, radius = 0.125, inner = bore } },
    springs { name = "balloon", shape = ball, spacing = 0.025,
              cut = cylinder { a = {0.5, yc, 0.5}, b = {0.5, 2, 0.5}, radius = 0.085 },
              fixed = cylinder { a = {0.5, yc + 0.05, 0.5}, b = {0.5, 2, 0.5}, radius = 0.135 },
              density = density, stretch = young, stretch_damping = young * 2e-3 },
  },
  dynamics   = dynamics { gravity = {0, -9.8, 0}, dt = 0.01, contact = false },
  coupling   = couple { method = coupling, published = published, omega = omega, tolerance = tolerance,
                        closed = closed, max_iterations = 100 },
  probes     = { volume { of = "balloon" }, stretch { of = "balloon" }, position { of = "balloon", axis = "y" },
                 volume { name = "water", of = "fluid" } },
  output     = { frames = 60, every = 1 / 30, show = "water" },
}
