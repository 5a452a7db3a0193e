/* A flap that swings against a stop in smoke. A cell that both cover from two sides may be open by
   a hair at a corner, though the gap between them is wider; what they squeeze out of it must not
   leave through that hair, at a hundred times their speed. */
#include <math.h>
#include <stdio.h>

#include "world_case.h"

static const char SCENE[] =
    "local method = param('coupling', 'monolithic', '', couplings)\n"
    "local stop   = param('stop', 0.38, 'm: the side that is met')\n"
    "local flap   = param('flap', 1000, 'kg/m^3')\n"
    "local air    = param('air', 1, 'kg/m^3')\n"
    "local e      = param('e', 0, 'restitution')\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {20, 20} },\n"
    "  fluid    = smoke { density = air, gravity = {0, 0}, max_dt = 0.005 },\n"
    "  solids   = {\n"
    "    rigid { name = 'flap', density = flap, joint = 'hinge', joint_point = {0.5, 0.2},\n"
    "            restitution = e, spin = 3, shape = box { lo = {0.47, 0.2}, hi = {0.53, 0.6} } },\n"
    "    obstacle { shape = box { lo = {stop - 0.1, 0.3}, hi = {stop, 0.4} } } },\n"
    "  dynamics = dynamics { gravity = {0, 0}, dt = 0.005, contact = true },\n"
    "  coupling = couple { method = method, tolerance = 1e-3 },\n"
    "  probes   = { kinetic_energy {}, body_energy { of = 'flap' }, angle { of = 'flap' } },\n"
    "  output   = { frames = 40, every = 0.005 },\n"
    "}\n";

/* The flap starts the air in the first substep; after that energy only falls, but for `gain` of it,
   what the grid does as the flap passes its lines. */
static void swing(const char *method, const char *stop, const char *flap, const char *air,
                  const char *e, double gain)
{
  world_case c;
  mn_setting set[] = {{"coupling", method}, {"stop", stop}, {"flap", flap}, {"air", air}, {"e", e}};
  world_open(&c, SCENE, set, 5, 1);
  double first = 0, before = 0, most = 0, grown = 0, angle = 0;
  while (mn_world_time(c.world) < 0.2 - 1e-9 && world_step(&c)) {
    double energy = mn_world_probe(c.world, 0) + mn_world_probe(c.world, 1);
    first = c.steps == 1 ? energy : first;
    grown = check_worst(grown, c.steps == 1 ? 0 : fmax(0, energy - before));
    most = check_worst(most, energy);
    angle = check_worst(angle, mn_world_probe(c.world, 2));
    before = energy;
  }
  CHECK_OK(c.ctx, c.status);
  printf("%s, stop at %s m, flap of %s in %s kg/m^3, e = %s: %.4f J at first, %.4f at most, %.4f "
         "more in a substep at most, %.4f at last, turned by %.4f, %d substeps\n",
         method, stop, flap, air, e, first, most, grown, before, angle, c.steps);
  CHECK_LE(most, 1.001 * first);
  CHECK_LE(grown, gain * first);
  CHECK_NEAR(c.steps, 40, 0);
  world_close(&c);
}

static void test_stop(void **state)
{
  (void)state;
  swing("monolithic", "0.37", "1000", "1", "0.8", 0.005);
  swing("monolithic", "0.38", "1000", "1", "0", 0.005);
  swing("monolithic", "0.38", "1000", "1", "0.8", 0.005);
  swing("xpm", "0.38", "1000", "1", "0.8", 0.005);
  swing("monolithic", "0.38", "10", "1000", "0", 0.03);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_stop)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
