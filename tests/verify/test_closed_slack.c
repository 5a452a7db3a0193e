/* Slack rings of springs that fall, full of fluid, and fold up: their walls become finer than the
   grid, which then sees more of their motion flow into them than is mended in silence. Asked in
   turn (xpm) both sides have no answer any more, and the one system goes on from there; with
   plug-ins the run ends and says why. In neither does energy come from nowhere (it was 1e10 J and
   more, in ever shorter substeps). Controls: without the one system both runs end. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "world_case.h"

static const char SCENE[] =
    "local wet = param('wet', true, '')\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {20, 20}, top = 'open' },\n"
    "  fluid    = wet and water { walls = 'sticking', max_dt = 0.01,\n"
    "               initial_water = box { lo = {-1, -1}, hi = {2, 0.75} } }\n"
    "             or smoke { density = 1, gravity = {0, -9.81}, max_dt = 0.01 },\n"
    "  solids   = { springs { name = 'ring', shape = disk { center = {0.5, 0.5}, radius = 0.2 },\n"
    "               spacing = 0.025, density = wet and 50 or 0.05,\n"
    "               stretch = wet and 2000 or 2, stretch_damping = wet and 4 or 0.004 } },\n"
    "  dynamics = dynamics { dt = 0.01 },\n"
    "  coupling = couple { method = 'xpm', tolerance = 1e-3 },\n"
    "  output   = { frames = 10, every = 0.05 },\n"
    "}\n";

typedef struct fallen {
  mn_status status;
  double time, energy; /* s; J, greatest kinetic energy of the ring */
  int handed_over;     /* substeps */
  int told;            /* 1: the message names what cannot be */
} fallen;

static fallen let_fall(const char *wet, double until, int alone)
{
  const mn_setting s[] = {{"wet", wet}};
  fallen b = {0};
  world_case c;
  world_open(&c, SCENE, s, 1, 1);
  if (alone)
    mn_coupling_destroy(&c.world->rescue);
  while (c.info.time < until - 1e-9 && world_step(&c)) {
    b.energy = fmax(b.energy, c.info.body_kinetic_energy);
    b.handed_over += c.info.handed_over;
    b.time = c.info.time;
  }
  b.status = c.status;
  b.told = strstr(mn_context_message(c.ctx), "walls are coarser than the flow") != NULL;
  printf("%s%s: %.4f s, at most %.3g J, %d of %d substeps by one system%s%s\n",
         wet[0] == 't' ? "water" : "smoke", alone ? ", alone" : "", b.time, b.energy, b.handed_over,
         c.steps, c.status == MN_OK ? "" : ": ",
         c.status == MN_OK ? "" : mn_context_message(c.ctx));
  world_close(&c);
  return b;
}

static void test_fall(void **state)
{
  (void)state;
  fallen wet = let_fall("true", 0.2, 0), dry = let_fall("false", 0.5, 0);
  CHECK_OK(NULL, wet.status);
  CHECK_GE(wet.handed_over, 1);
  CHECK_LE(wet.energy, 100); /* of 0.2 m of fall: 63 kg/m times 2 J/kg */
  CHECK_OK(NULL, dry.status);
  CHECK_GE(dry.handed_over, 1);
  CHECK_LE(dry.energy, 0.1);
  fallen alone = let_fall("false", 0.5, 1);
  CHECK(alone.status == MN_FAILED);
  CHECK(alone.told);
  CHECK_GE(alone.time, 0.2);
  CHECK_LE(alone.energy, 0.1);
  CHECK_DONE();
  CHECK(let_fall("true", 0.2, 1).status == MN_OK);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_fall)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
