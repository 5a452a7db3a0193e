-- Water in a vessel made of two spheres that hold two hollow balls; the lower ball has holes (3D).
local n        = param("n", 48, "cells across the unit cube")
local walls    = param("walls", "separating", "separating: they let water go; sticking: they hold it")
local lcp_solver = param("lcp_solver", "fast", "of the pressure with separating walls")
local transfer = param("transfer", "marker", "how velocity travels: marker as in the thesis, apic or flip; levelset needs walls=sticking")

local low, high   = {0.5, 0.32, 0.5}, {0.5, 0.68, 0.5}
local outer, inner = 0.16, 0.11 -- m, of the balls

local function hollow(center, ...)
  return difference { sphere { center = center, radius = outer },
                      sphere { center = center, radius = inner }, ... }
end
-- Straight holes through the lower ball, along x, y and z.
local function hole(dx, dy, dz)
  local c, l = low, 0.3
  return capsule { a = {c[1] - l * dx, c[2] - l * dy, c[3] - l * dz},
                   b = {c[1] + l * dx, c[2] + l * dy, c[3] + l * dz}, radius = 0.055 }
end

return scene {
  title      = "Water in two joined spheres, walls " .. walls,
  reproduces = "Lai 2021, scenario 3: figure 6.6 and table 6.6",
  domain     = box { size = {1, 1, 1}, cells = {n, n, n} },
  fluid      = water { density = 1, walls = walls, lcp_solver = lcp_solver, transfer = transfer, cfl = 5,
                       pressure_tolerance = 1e-15, divergence_tolerance = 1e-6,
                       initial_water = difference { box { lo = {-1, -1, -1}, hi = {0.5, 2, 2} },
                                                    sphere { center = low, radius = outer },
                                                    sphere { center = high, radius = outer } } },
  solids     = { obstacle { name = "vessel",
                            shape = difference { box { lo = {-1, -1, -1}, hi = {2, 2, 2} },
                                                 sphere { center = low, radius = 0.28 },
                                                 sphere { center = high, radius = 0.28 } } },
                 obstacle { name = "upper_ball", shape = hollow(high) },
                 obstacle { name = "lower_ball", shape = hollow(low, hole(1, 0, 0), hole(0, 1, 0), hole(0, 0, 1)) } },
  probes     = { volume { of = "fluid" }, kinetic_energy {}, divergence {} },
  output     = { frames = 100, every = 0.01, show = "water" },
}
