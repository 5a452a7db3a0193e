-- Balls of density 0.1, 0.5, 0.9 and 10 times that of water are dropped into a pool (3D). The
-- lightest float high, the next half sunk, the next nearly sunk; the heavy ones go to the bottom.
local n         = param("n", 64, "cells along the pool, which is 1.2 m long", { multiple = 4 })
local coupling  = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)
local rigid_as  = param("rigid", "points", "what the coupling sees of the balls: points or freedoms")
local walls     = param("walls", "separating", "separating: water can leave walls; sticking: they hold it")
local r = 0.1

local densities, bodies = {100, 500, 900, 10000}, {}
for k, density in ipairs(densities) do
  for row = 1, 2 do
    bodies[#bodies + 1] = rigid { name = "ball " .. density .. " " .. row, density = density, restitution = 0.1,
      shape = sphere { center = {0.3 * k - 0.15, 0.62 + 0.02 * k, 0.3 * row - 0.15}, radius = r } }
  end
end

return scene {
  title      = "Balls of four densities in a pool",
  reproduces = "Akbay et al. 2018, figure 2.5 of the thesis",
  domain     = box { size = {1.2, 0.9, 0.6}, cells = {n, 3 * n // 4, n // 2}, top = "open" },
  fluid      = water { walls = walls, initial_water = box { lo = {-1, -1, -1}, hi = {2, 0.45, 2} } },
  solids     = bodies,
  dynamics   = dynamics { dt = 0.01 },
  coupling   = couple { method = coupling, spacing = 0.8, rigid = coupling ~= "weak" and rigid_as or nil },
  probes     = { position { name = "y_100", of = "ball 100 1", axis = "y" }, position { name = "y_500", of = "ball 500 1", axis = "y" },
                 position { name = "y_900", of = "ball 900 1", axis = "y" }, position { name = "y_10000", of = "ball 10000 1", axis = "y" },
                 volume { of = "fluid" } },
  output     = { frames = 60, every = 1 / 30, show = "water" },
}
