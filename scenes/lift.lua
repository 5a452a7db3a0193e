-- A light plate and a light ball, half in the water, are pulled up; the water lets go of both (2D).
local n        = param("n", 48, "cells across the box, which is 1 m high")
local density  = param("density", 50, "of the bodies, kg/m^3", { above = 0 })
local pull     = param("pull", 5, "upwards, in weights of the bodies; below 1 they float", { from = 0 })
local walls    = param("walls", "separating", "separating: the water lets go; sticking: it holds the plate by suction")
local coupling = param("coupling", "xpm", "how fluid and bodies are coupled", couplings)

local g, r = 9.81, 0.2
local plate = 0.8 * 0.1 * density
local ball  = math.pi * r * r * density

return scene {
  title      = "Lifted off the water",
  reproduces = "Bodies far lighter than a cell of water leave it: v = (pull - 1) g t for the plate, on any grid",
  domain     = box { size = {2, 1}, cells = {2 * n, n}, top = "open" },
  fluid      = water { walls = walls, max_dt = 0.005, initial_water = box { lo = {-1, -1}, hi = {3, 0.4} } },
  solids     = { rigid { name = "plate", density = density, force = {0, pull * plate * g},
                         joint = "slider", joint_axis = {0, 1}, shape = box { lo = {0.2, 0.4}, hi = {1, 0.5} } },
                 rigid { name = "ball", density = density, force = {0, pull * ball * g},
                         shape = sphere { center = {1.5, 0.4}, radius = r } } },
  coupling   = couple { method = coupling, tolerance = 1e-3 },
  probes     = { body_velocity { of = "plate", axis = "y" }, body_velocity { of = "ball", axis = "y" },
                 force { of = "plate", axis = "y" }, force { of = "ball", axis = "y" }, area { of = "fluid" } },
  output     = { frames = 15, every = 0.01, show = "water" },
}
