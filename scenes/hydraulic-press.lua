-- A hydraulic press (3D): a force on a small piston lifts a large, heavy one through the fluid between
-- them, which fills the space below and cannot be squeezed.
local n         = param("n", 64, "cells across the box, which is 16 m wide; the paper: 160", { multiple = 16 })
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local published = param("published", false, "the coupling as its authors printed it")
local omega     = param("omega", 0.1, "relaxation of relaxed; the first one of aitken")
local tolerance = param("tolerance", 1e-3, "of the coupling, in cells")
local closed    = param("closed", "eliminated", "how p0 is found: eliminated, solid, fluid, none (both pistons fall)")
local density   = param("density", 2000, "of the pistons, kg/m^3; the fluid has 1000")
local push      = param("push", 2e5, "force on the small piston, N, put on within 2 s")
local dt        = param("dt", 0.05, "longest substep, s")

-- m: the large and the small cylinder (square), the channel below them, the wall between, pistons
local A, a, c, w, h, y, g = 8, 4, 4, 4, 1, 9, 9.8

return scene {
  title      = "Hydraulic press",
  reproduces = "Akbay et al. 2018, figure 10 (2.8 of the thesis): pressure is passed on undiminished",
  domain     = box { size = {A + w + a, 16, 8}, cells = {n, n, n / 2}, top = "open" },
  fluid      = smoke { density = 1000, gravity = {0, -g, 0}, outside = "empty", max_dt = dt },
  solids     = {
    obstacle { name = "wall", shape = box { lo = {A, c, -1}, hi = {A + w, 17, 9} } },
    obstacle { name = "behind", shape = box { lo = {A + w, c, -1}, hi = {17, 17, 2} } },
    obstacle { name = "before", shape = box { lo = {A + w, c, 6}, hi = {17, 17, 9} } },
    rigid { name = "large", joint = "slider", joint_axis = {0, 1, 0}, density = density,
            shape = box { lo = {0, y, 0}, hi = {A, y + h, 8} } },
    rigid { name = "small", joint = "slider", joint_axis = {0, 1, 0}, density = density,
            shape = box { lo = {A + w, y, 2}, hi = {A + w + a, y + h, 6} },
            force = {0, -push, 0}, force_ramp = cosine(2) },
  },
  dynamics   = dynamics { gravity = {0, -g, 0}, dt = dt, contact = false },
  coupling   = couple { method = coupling, published = published, omega = omega, tolerance = tolerance,
                        closed = closed, predictor = published and 0 or 1, max_iterations = 500 },
  probes     = { position { name = "y_large", of = "large", axis = "y" },
                 position { name = "y_small", of = "small", axis = "y" },
                 force { name = "f_large", of = "large", axis = "y" },
                 force { name = "f_small", of = "small", axis = "y" }, kinetic_energy {} },
  output     = { frames = 40, every = 0.1, show = "pressure" },
}
