-- A dam of water breaks against a hanging cloth and sweeps balls of several densities along (3D).
local n         = param("n", 64, "cells along the tank, which is 1.2 m long", { multiple = 4 })
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local walls     = param("walls", "separating", "separating: water can leave walls; sticking: they hold it")
local r = 0.08

local bodies = {
  springs { name = "cloth", corner = {0.62, 0.06, 0.1}, along = {0, 0.5, 0}, across = {0, 0, 0.4}, spacing = 0.04,
            density = 2, stretch = 400, bend = 2, stretch_damping = 0.5, bend_damping = 0.01,
            fixed = box { lo = {0, 0.54, 0}, hi = {1, 1, 1} } },
}
for k, density in ipairs { 200, 600, 2000 } do
  bodies[#bodies + 1] = rigid { name = "ball " .. density, density = density,
    shape = sphere { center = {0.85 + 0.02 * k, 0.1, 0.18 * k - 0.06}, radius = r } }
end

return scene {
  title      = "Cloth and balls in a breaking dam",
  reproduces = "Akbay et al. 2018, figure 2.13 of the thesis",
  domain     = box { size = {1.2, 0.9, 0.6}, cells = {n, 3 * n // 4, n // 2}, top = "open" },
  fluid      = water { walls = walls, initial_water = box { lo = {-1, -1, -1}, hi = {0.4, 0.5, 2} } },
  solids     = bodies,
  dynamics   = dynamics { dt = 0.01 },
  coupling   = couple { method = coupling, spacing = 0.8 },
  probes     = { position { of = "cloth", axis = "x" }, stretch { of = "cloth" }, position { of = "ball 200", axis = "x" },
                 volume { of = "fluid" } },
  output     = { frames = 60, every = 1 / 30, show = "water" },
}
