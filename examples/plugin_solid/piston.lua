-- A piston that is a shared object, in a duct of fluid: it swings once in a second.
local file = param("file", "./plugin_solid.so", "the plug-in")
local coupling = param("coupling", "xpm", "weak, relaxed, aitken, rmi, xpm")
local H, L, h, v0 = 0.25, 1, 0.25, 0.02 * math.pi

return scene {
  title    = "A piston of one's own",
  domain   = box { size = {L + h, H}, cells = {40, 8}, left = "through", right = "through" },
  fluid    = smoke { density = 1000, gravity = {0, 0}, initial_velocity = {v0, 0}, dt = 0.01 },
  solids   = { plugin { name = "piston", file = file,
                        numbers = { mass = 100 * H, spring = 4 * math.pi^2 * 1100 * H,
                                    thickness = h, velocity = v0 } } },
  coupling = couple { method = coupling, tolerance = 1e-3 },
  probes   = { position { of = "piston", axis = "x" }, body_velocity { of = "piston", axis = "x" } },
  output   = { frames = 11, every = 0.1 },
}
