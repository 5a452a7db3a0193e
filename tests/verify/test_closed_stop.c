/* Two pistons on one fluid, of which one runs into a stop: the fluid stops the other. The impulse
   of the region's pressure is what takes the free one's momentum, wherever in a substep the stop is
   met. Two substeps later nothing is left of it, under one system, too. */
#include <math.h>
#include <stdio.h>

#include "world_case.h"

/* The right one is half as wide, and goes twice as fast. Nothing but the pistons' tops is above. */
static const char SCENE[] =
    "local stop = param('stop', 3, 'm: its lower face')\n"
    "return scene {\n"
    "  domain   = box { size = {3, 6}, cells = {24, 48}, top = 'open' },\n"
    "  fluid    = smoke { density = 1, gravity = {0, 0}, outside = 'empty', max_dt = 0.02 },\n"
    "  solids   = {\n"
    "    obstacle { name = 'wall', shape = box { lo = {1, 1}, hi = {2.5, 6.5} } },\n"
    "    rigid { name = 'stop', joint = 'fixed', density = 1000,\n"
    "            shape = box { lo = {2.6, stop}, hi = {2.9, stop + 0.5} } },\n"
    "    rigid { name = 'left', joint = 'slider', joint_axis = {0, 1}, density = 100,\n"
    "            velocity = {0, -0.5}, shape = box { lo = {0, 4}, hi = {1, 5} } },\n"
    "    rigid { name = 'right', joint = 'slider', joint_axis = {0, 1}, density = 50,\n"
    "            velocity = {0, 1}, shape = box { lo = {2.5, 1.5}, hi = {3, 2.5} } } },\n"
    "  dynamics = dynamics { gravity = {0, 0}, dt = 0.02, contact = true },\n"
    "  coupling = couple { tolerance = 1e-5, method = param('coupling', 'xpm', '', couplings) },\n"
    "  probes   = { body_velocity { of = 'left', axis = 'y' },\n"
    "               body_velocity { of = 'right', axis = 'y' },\n"
    "               force { of = 'left', axis = 'y' }, position { of = 'right', axis = 'y' } },\n"
    "  output   = { frames = 10, every = 0.1 },\n"
    "}\n";

static void run_into_stop(double stop, const char *method)
{
  world_case c;
  char at[32];
  snprintf(at, sizeof at, "%.6f", stop);
  mn_setting set[] = {{"stop", at}, {"coupling", method}};
  world_open(&c, SCENE, set, 2, 1);
  double later = 0, impulse = 0, before = 0, after = 0, tied = 0, error = 0;
  int struck = 0;
  while (mn_world_time(c.world) < 0.8 && world_step(&c)) {
    double left = mn_world_probe(c.world, 0), right = mn_world_probe(c.world, 1);
    double push = mn_world_probe(c.world, 2) * c.info.dt;
    struck += !struck ? push > 1 : 1;
    if (!struck)
      before = left;
    else if (struck <= 2)
      impulse += push;
    if (struck > 2)
      later = check_worst(later, fabs(c.info.region[0].p0));
    if (struck)
      after = check_worst(after, fabs(left));
    tied = check_worst(tied, fabs(left + right / 2));
    error = check_worst(error, fabs(c.info.region[0].error));
  }
  CHECK_OK(c.ctx, c.status);
  printf("%s, stop at %s m: left came with %.4f m/s, pushed by %.4f N s; then %.1e m/s, %.1e Pa, "
         "volume %.1e m^2 off, right at %.7f m\n",
         method, at, before, impulse, after, later, error, mn_world_probe(c.world, 3));
  CHECK(struck > 5);
  CHECK_LE(before, -0.45);
  CHECK_NEAR(impulse / (-100 * before), 1, 1e-6);
  CHECK_LE(after, 1e-5);
  CHECK_LE(later, 1);
  CHECK_NEAR(c.retries, 0, 0);
  CHECK_LE(tied, 1e-10);
  CHECK_LE(error, 1e-7);
  CHECK_NEAR(mn_world_probe(c.world, 3), stop - 0.5, 1e-6);
  world_close(&c);
}

static void test_stop(void **state)
{
  (void)state;
  for (int k = 0; k < 5; k++) { /* met at the begin of a substep, within it, at its end */
    run_into_stop(2.9 + 0.005 * k, "xpm");
    run_into_stop(2.9 + 0.005 * k, "monolithic");
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_stop)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
