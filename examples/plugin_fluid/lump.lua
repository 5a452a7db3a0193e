-- A piston of 10 kg on a spring in a fluid that is a shared object: 90 kg that move with it. Both
-- swing once in a second.
local file = param("file", "./plugin_fluid.so", "the plug-in")
local coupling = param("coupling", "xpm", "weak, relaxed, aitken, rmi, xpm")
local drag = param("drag", 0, "of the fluid, kg/s")
local v0 = 0.02 * math.pi

return scene {
  title    = "A fluid of one's own",
  domain   = box { size = {1, 1}, cells = {16, 16}, left = "open", right = "open" },
  fluid    = plugin { file = file, numbers = { mass = 90, velocity = v0, drag = drag } },
  solids   = { rigid { name = "piston", density = 1000, joint = "slider", joint_axis = {1, 0},
                       shape = box { center = {0.5, 0.5}, size = {0.1, 0.1} },
                       velocity = {v0, 0}, spring = 100 * 4 * math.pi^2 } },
  dynamics = dynamics { gravity = {0, 0}, dt = 0.005 },
  coupling = couple { method = coupling, tolerance = 1e-4 },
  probes   = { position { of = "piston", axis = "x" } },
  output   = { frames = 11, every = 0.1, vtk = false },
}
