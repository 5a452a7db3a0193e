-- A heavy body lies on fluid that fills a tube: the fluid cannot be squeezed, so its pressure rises at
-- once to what bears the body. A flow tells nothing of that constant part, p0, of the pressure.
local n         = param("n", 24, "cells across the tube, which is 0.6 m wide; the thesis: 192", { multiple = 4 })
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local published = param("published", false, "the coupling as its authors printed it")
local omega     = param("omega", 0.1, "relaxation of relaxed; the first one of aitken")
local tolerance = param("tolerance", 1e-5, "of the coupling, in cells")
local closed    = param("closed", "eliminated", "how p0 is found: eliminated, solid, fluid, none (the body falls)")
local density   = param("density", 1e4, "of the body, kg/m^3; the fluid has 1")
local dt        = param("dt", 0.01, "longest substep, s")

local W, H, h, g = 0.6, 0.8, 0.15, 9.8 -- m: tube, fluid, body; m/s^2

return scene {
  title      = "Rigid body on enclosed fluid",
  reproduces = "Akbay thesis, section 4.3.1: p0 = M g / A + rho g H / 2 = 14703.92 N/m",
  domain     = box { size = {W, 1.05}, cells = {n, 1.75 * n}, top = "open" },
  fluid      = smoke { density = 1, gravity = {0, -g}, outside = "empty", max_dt = dt },
  solids     = { rigid { name = "body", joint = "slider", joint_axis = {0, 1}, density = density,
                         shape = box { lo = {0, H}, hi = {W, H + h} } } },
  dynamics   = dynamics { gravity = {0, -g}, dt = dt, contact = false },
  coupling   = couple { method = coupling, published = published, omega = omega, tolerance = tolerance,
                        closed = closed, predictor = published and 0 or 1, max_iterations = 500 },
  probes     = { position { of = "body", axis = "y" }, body_velocity { of = "body", axis = "y" },
                 force { of = "body", axis = "y" }, pressure { name = "p_bottom", at = {W / 2, W / n / 2} } },
  output     = { frames = 50, every = 0.1, show = "pressure" },
}
