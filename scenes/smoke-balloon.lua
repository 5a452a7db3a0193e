-- A thin rubber balloon on a nozzle (3D) is filled by a fast jet of smoke. Then the jet stops, the balloon
-- is let go, and flies off on the smoke that it blows out.
local n         = param("n", 32, "cells across the box, which is 1 m wide; the paper: 100", { multiple = 16 })
local speed     = param("speed", 1.5, "of the jet, m/s", { above = 0 })
local release   = param("release", 1.2, "when the balloon is let go, s; 0: never", { from = 0 })
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local published = param("published", false, "the coupling as its authors printed it")
local omega     = param("omega", 0.05, "relaxation of relaxed; the first one of aitken")
local tolerance = param("tolerance", 0.02, "of the coupling, in cells")
local closed    = param("closed", "eliminated", "how p0 is found: eliminated, solid, fluid, none (it does not fill)")
local density   = param("density", 0.1, "of the rubber, kg/m^2; the air has 1 kg/m^3")
local young     = param("young", 200, "of the rubber, times its thickness, N/m")

local dx = 1 / n
local r, bore, y0 = 0.15, 0.0625, 0.25 -- m: balloon, nozzle, its end
local yc = y0 + math.sqrt(r^2 - 0.095^2) - 0.03
local never = release == 0
local rise = never and 0.2 or math.min(0.2, 0.4 * release) -- s: the jet begins, and ends
local stop = never and 1e6 or math.max(release - 0.2, 0.6 * release)

return scene {
  title      = "Balloon filled with smoke and released",
  reproduces = "Akbay et al. 2018, figure 9 (2.7 of the thesis)",
  domain     = box { size = {1, 1.5, 1}, cells = {n, 1.5 * n, n}, top = "open" },
  fluid      = smoke { density = 1, gravity = {0, 0, 0}, max_dt = 0.02 },
  sources    = { inflow { name = "jet", shape = cylinder { a = {0.5, -1, 0.5}, b = {0.5, 2 * dx, 0.5}, radius = bore },
                          velocity = {0, speed, 0}, smoke = 1,
                          ramp = keys { {0, 0}, {rise, 1}, {stop, 1}, {never and stop + 1 or release, 0} } } },
  solids     = {
    obstacle { name = "nozzle", shape = cylinder { a = {0.5, -1, 0.5}, b = {0.5, y0, 0.5}, radius = 0.125, inner = bore } },
    -- its neck lies within the wall of the nozzle
    springs { name = "balloon", shape = sphere { center = {0.5, yc, 0.5}, radius = r }, spacing = 0.025,
              cut = cylinder { a = {0.5, 0, 0.5}, b = {0.5, yc, 0.5}, radius = 0.085 },
              fixed = cylinder { a = {0.5, 0, 0.5}, b = {0.5, yc - 0.05, 0.5}, radius = 0.135 }, release = release,
              density = density, stretch = young, bend = 0, stretch_damping = young * 2e-3 },
  },
  dynamics   = dynamics { gravity = {0, 0, 0}, dt = 0.02, contact = false },
  coupling   = couple { method = coupling, published = published, omega = omega, tolerance = tolerance,
                        closed = closed, max_iterations = 100 },
  probes     = { volume { of = "balloon" }, stretch { of = "balloon" }, position { of = "balloon", axis = "y" },
                 body_velocity { of = "balloon", axis = "y" }, volume { name = "smoke", of = "smoke" } },
  output     = { frames = 60, every = 1 / 30, show = "smoke" },
}
