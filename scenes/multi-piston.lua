-- Two pistons in each of two cylinders that a tube joins: three closed regions, one above the other,
-- all in balance at the start. Nothing should move, whatever the constants of the pressure are.
local n         = param("n", 100, "cells across the box, which is 10 m wide; the thesis: 500", { multiple = 20 })
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local published = param("published", false, "the coupling as its authors printed it")
local omega     = param("omega", 0.1, "relaxation of relaxed; the first one of aitken")
local tolerance = param("tolerance", 1e-5, "of the coupling, in cells")
local closed    = param("closed", "eliminated", "how p0 is found: eliminated, solid, fluid, none (all pistons fall)")
local dt        = param("dt", 0.02, "longest substep, s")

local g = 9.8 -- m/s^2
local L, T, R, top = 6, 2, 2, 12 -- m: left cylinder, tube, right cylinder, height; as printed

-- heights and densities are in a lost figure; these balance: 100 + 2 + 50 + 6 = 50 + 3 + 101 + 4
local function piston(name, lo, hi, y, h, density)
  return rigid { name = name, joint = "slider", joint_axis = {0, 1}, density = density,
                 shape = box { lo = {lo, y}, hi = {hi, y + h} } }
end

return scene {
  title      = "Multi-section piston",
  reproduces = "Akbay thesis, section 4.3.8: p0 = 1522.2667, 989.8, 504.7 N/m (below, left, right)",
  domain     = box { size = {L + T + R, 12.5}, cells = {n, 1.25 * n}, top = "open" },
  fluid      = smoke { density = 1, gravity = {0, -g}, outside = "empty", max_dt = dt },
  solids     = {
    obstacle { name = "wall", shape = box { lo = {L, T}, hi = {L + T, top + 1} } },
    piston("upper left", 0, L, 9, 1, 100),
    piston("lower left", 0, L, 6, 1, 50),
    piston("upper right", L + T, L + T + R, 9, 0.5, 100),
    piston("lower right", L + T, L + T + R, 4, 2, 50.5),
  },
  dynamics   = dynamics { gravity = {0, -g}, dt = dt, contact = false },
  coupling   = couple { method = coupling, published = published, omega = omega, tolerance = tolerance,
                        closed = closed, predictor = published and 0 or 1, max_iterations = 500 },
  probes     = { position { name = "y_ul", of = "upper left", axis = "y" },
                 position { name = "y_ll", of = "lower left", axis = "y" },
                 position { name = "y_ur", of = "upper right", axis = "y" },
                 position { name = "y_lr", of = "lower right", axis = "y" },
                 pressure { name = "p_bottom", at = {3, 5 / n} } },
  output     = { frames = 32, every = 0.5, show = "pressure" },
}
