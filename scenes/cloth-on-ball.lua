-- A cloth falls over a ball and drapes it.
local n = param("n", 32, "springs along an edge of the cloth; cells of the picture")

return scene {
  title    = "Cloth over a ball",
  reproduces = "a mass-spring cloth, as in Akbay et al. 2018",
  domain   = box { size = {1, 1, 1}, cells = {n, n, n} },
  solids   = { obstacle { name = "ball", shape = sphere { center = {0.5, 0.35, 0.5}, radius = 0.2 } },
               springs { name = "cloth", corner = {0.15, 0.62, 0.15}, along = {0.7, 0, 0}, across = {0, 0, 0.7},
                         spacing = 0.7 / n, density = 0.3, stretch = 60, bend = 0.3,
                         stretch_damping = 0.01, damping_mass = 0.3 } },
  dynamics = dynamics { dt = 0.01, integrator = "euler" },
  probes   = { stretch { of = "cloth" }, body_energy {}, position { of = "cloth", axis = "y" } },
  output   = { frames = 60, every = 0.04 },
}
