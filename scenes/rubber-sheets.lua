-- A jet of smoke blows against two thin sheets of rubber that hang one behind the other (3D): the first gives
-- way and lets the jet reach the second. The step is fixed, so that couplings can be compared by the step they bear.
--
-- The sheets weigh a little more than the air that swings with them (about 0.3 kg/m^2), and in a step of 1/30 s
-- the jet brings rho U dt = 0.5 kg/m^2 more to them: too much for a coupling that asks each side once, while at
-- 1/60 s it just bears it (without contact). At 0.45 kg/m^2 it bears neither step, from 0.6 kg/m^2 on both.
local n        = param("n", 20, "cells across the box, which is 1 m wide and high and 1.5 m long", { multiple = 2 })
local dt       = param("dt", 1 / 30, "s, fixed substep, rounded to a whole number of them in a second")
local coupling = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local speed    = param("speed", 12, "of the jet, m/s")
local mass     = param("mass", 0.52, "of a sheet, kg/m^2: rubber of half a millimetre")
local young    = param("young", 1e6, "of rubber, Pa")
local adapt    = param("adapt", false, "shorten the step after a hard substep")
local contact  = param("contact", true, "between the sheets; bench chentanez leaves it out")

dt = 1 / math.floor(1 / dt + 0.5)
local half = 0.2 -- m, half the width of the jet
local sheets = {}
for k, x in ipairs { 0.5, 0.85 } do
  sheets[k] = shell { name = "sheet " .. k, corner = {x, 0.25, 0.2}, along = {0, 0.7, 0}, across = {0, 0, 0.6}, spacing = 0.05,
                      density = 1000, thickness = mass / 1000, young = young, poisson = 0.45,
                      damping_stiffness = 1e-3, fixed = box { lo = {-1, 0.93, -1}, hi = {2, 1, 2} } }
end

return scene {
  title      = "Jet against two rubber sheets",
  reproduces = "Chentanez et al. 2006, figure 1",
  domain     = box { size = {1.5, 1, 1}, cells = {3 * n // 2, n, n}, right = "open", left = "open", top = "open",
                     bottom = "open", back = "open", front = "open" },
  fluid      = smoke { density = 1.2, gravity = {0, 0, 0}, dt = dt, cfl = 20 },
  sources    = { inflow { name = "jet", shape = box { lo = {-1, 0.5 - half, 0.5 - half}, hi = {0.1, 0.5 + half, 0.5 + half} },
                          velocity = {speed, 0, 0}, smoke = 1, ramp = cosine { duration = 0.3 } } },
  solids     = sheets,
  dynamics   = dynamics { gravity = {0, -9.81, 0}, dt = dt, integrator = "newmark", contact = contact },
  coupling   = couple { method = coupling, adapt = adapt },
  probes     = { position { of = "sheet 1", axis = "x" }, position { of = "sheet 2", axis = "x" }, stretch { of = "sheet 1" },
                 stretch { of = "sheet 2" }, body_energy {}, kinetic_energy {} },
  output     = { frames = 60, every = 1 / 30, show = "smoke" },
}
