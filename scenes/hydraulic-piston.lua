-- Two pistons on one fluid: a wide one on the left, a narrow one on the right. Each bears the other
-- through the fluid; with `force`, a force holds them out of balance, and is taken away slowly.
local n         = param("n", 50, "cells across the box, which is 10 m wide; the thesis: 500", { multiple = 10 })
local pushed    = param("force", false, "start out of balance, held by a force that goes within 6 s")
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local published = param("published", false, "the coupling as its authors printed it")
local omega     = param("omega", 0.1, "relaxation of relaxed; the first one of aitken")
local tolerance = param("tolerance", 1e-5, "of the coupling, in cells")
local closed    = param("closed", "eliminated", "how p0 is found: eliminated, solid, fluid, none (both pistons fall)")
local density   = param("density", 0, "of the pistons, kg/m^3; 0: as printed, 1000 at rest and 10 with the force")
local dt        = param("dt", 0.02, "longest substep, s")

-- m: cylinders, tube between them, pistons; the thesis has them in a figure only
local L, R, T, h, g = 6, 2, 2, 1, 9.8
if density == 0 then density = pushed and 10 or 1000 end
local yL, yR = 5, 5 -- m: the pistons' lower faces
if pushed then yL, yR = 5.5, 3.5 end
local f_max = R * g * (yL - yR) -- N: rho_f = 1; holds the right one down

return scene {
  title      = pushed and "Hydraulic piston, released slowly" or "Hydraulic piston at rest",
  reproduces = "Akbay thesis, section 4.3.5, " .. (pushed and "second test" or "first test"),
  domain     = box { size = {L + T + R, 10}, cells = {n, n}, top = "open" },
  fluid      = smoke { density = 1, gravity = {0, -g}, outside = "empty", max_dt = dt },
  solids     = {
    obstacle { name = "wall", shape = box { lo = {L, T}, hi = {L + T, 11} } },
    rigid { name = "left", joint = "slider", joint_axis = {0, 1}, density = density,
            shape = box { lo = {0, yL}, hi = {L, yL + h} } },
    rigid { name = "right", joint = "slider", joint_axis = {0, 1}, density = density,
            shape = box { lo = {L + T, yR}, hi = {L + T + R, yR + h} },
            force = {0, pushed and -f_max or 0},
            force_ramp = cosine { from = 1, to = 0, start = 1, duration = 5 } },
  },
  dynamics   = dynamics { gravity = {0, -g}, dt = dt, contact = false },
  coupling   = couple { method = coupling, published = published, omega = omega, tolerance = tolerance,
                        closed = closed, predictor = published and 0 or 1, max_iterations = 500 },
  probes     = { position { name = "y_left", of = "left", axis = "y" },
                 position { name = "y_right", of = "right", axis = "y" },
                 force { name = "f_left", of = "left", axis = "y" },
                 force { name = "f_right", of = "right", axis = "y" }, kinetic_energy {},
                 pressure { name = "p_bottom", at = {L / 2, 5 / n} } },
  output     = { frames = pushed and 120 or 50, every = pushed and 0.5 or 0.2, show = "pressure" },
}
