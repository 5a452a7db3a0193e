#include "world_case.h"

#include <math.h>

const char WORLD_CLOTH[] =
    "local n         = param('n', 16, '')\n"
    "local M         = param('M', 2, '')\n"
    "local coupling  = param('coupling', 'xpm', '')\n"
    "local tolerance = param('tolerance', 1e-9, '')\n"
    "local load      = param('load', 'impulse', '')\n"
    "local omega     = param('omega', 0.3, '')\n"
    "local flow      = param('flow', 1, '')\n"
    "local askew     = param('askew', 0.01, '')\n"
    "local frozen    = param('frozen', true, '')\n"
    "local solver    = param('solver', 'auto', '')\n"
    "local dx = 1 / n\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1.5}, cells = {n, 3 * n / 2}, top = 'open' },\n"
    "  fluid    = smoke { density = 1, gravity = {0, 0}, dt = dx / 2, pressure_tolerance = 1e-13,\n"
    "                     initial_smoke = box { lo = {-1, -1}, hi = {2, 0.4} } },\n"
    "  sources  = { inflow { shape = box { lo = {0.35, -1}, hi = {0.65, 2 * dx} },\n"
    "                        velocity = {0, flow}, ramp = cosine { duration = 0.1 } } },\n"
    "  solids   = { rod { name = 'cloth', from = {0.2 + askew, 0.4},\n"
    "                     to = {0.8 - askew, 0.4 + askew}, spacing = dx / 2,\n"
    "                     density = 0.099 * M, stretch = 20, bend = 1e-5 } },\n"
    "  dynamics = dynamics { gravity = {0, 0}, dt = dx / 2, contact = false, tolerance = 1e-12 },\n"
    "  coupling = couple { method = coupling, tolerance = tolerance, omega = omega, load = load,\n"
    "                      frozen = frozen, solver = solver, adapt = false,\n"
    "                      max_iterations = 2000 },\n"
    "  probes   = { position { of = 'cloth', axis = 'y' }, kinetic_energy {} },\n"
    "  output   = { frames = 1000, every = dx / 2 },\n"
    "}\n";

void world_open(world_case *c, const char *scene, const mn_setting *settings, int count,
                int threads)
{
  *c = (world_case){.ctx = check_context(threads)};
  CHECK_OK(c->ctx, mn_scene_load_text(c->ctx, "test", "", scene, settings, count, &c->model));
  CHECK_OK(c->ctx, mn_world_create(c->ctx, c->model, &c->world));
}

void world_close(world_case *c)
{
  mn_world_destroy(&c->world);
  mn_model_destroy(&c->model);
  mn_context_destroy(&c->ctx);
}

int world_step(world_case *c)
{
  double until = (mn_world_frame(c->world) + 1) * mn_model_get(c->model)->output.every;
  c->status = mn_world_step(c->world, until, &c->info);
  if (c->status != MN_OK)
    return 0;
  c->steps++;
  c->solves += c->info.coupling_iterations;
  c->most = c->info.coupling_iterations > c->most ? c->info.coupling_iterations : c->most;
  c->retries += c->info.retries;
  c->imbalance = fmax(c->imbalance, c->info.imbalance);
  return 1;
}

double world_most_energy(const char *scene, const mn_setting *settings, int count, double until)
{
  world_case c;
  double most = 0;
  world_open(&c, scene, settings, count, 1);
  while (mn_world_time(c.world) < until - 1e-9 && world_step(&c))
    most = check_worst(most, c.info.kinetic_energy);
  CHECK_OK(c.ctx, c.status);
  world_close(&c);
  return most;
}
