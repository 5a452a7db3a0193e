/* Closed regions with the grid fluid: bodies that fall in a closed box and land on its floor, where
   gaps are thinner than cells; a ring that fills, and goes on with the same bits from a checkpoint;
   what has no solution. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "unit/io/folder.h"
#include "world_case.h"

static const char BOX[] =
    "local kind = param('kind', 'rigid', '')\n"
    "local ball = disk { center = {0.5, 0.3}, radius = 0.15 }\n"
    "local body = kind == 'rigid' and rigid { name = 'ball', shape = ball, density = 3 }\n"
    "          or elastic { name = 'ball', shape = ball, density = 3, young = 1000, poisson = "
    "0.3,\n"
    "                       spacing = 0.05 }\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {24, 24} },\n"
    "  fluid    = smoke { density = 1, gravity = {0, -9.8} },\n"
    "  solids   = { body }, dynamics = dynamics { gravity = {0, -9.8}, dt = 0.01 },\n"
    "  coupling = couple { tolerance = 1e-2 },\n"
    "  probes   = { position { of = 'ball', axis = 'y' }, area { of = 'ball' } },\n"
    "  output   = { frames = 10, every = 0.1 },\n"
    "}\n";

/* A rigid one moves as in any box: nothing is there to be pressed together, and p0 stays 0. An
   elastic one must keep its area, for the fluid around it can go nowhere. */
static void test_ball_lands(void **state)
{
  (void)state;
  for (int elastic = 0; elastic < 2; elastic++) {
    world_case c;
    mn_setting kind = {"kind", elastic ? "elastic" : "rigid"};
    world_open(&c, BOX, &kind, 1, 1);
    double area = mn_world_probe(c.world, 1), lowest = 1, worst = 0, p0 = 0;
    while (mn_world_time(c.world) < 0.45 && world_step(&c)) {
      lowest = fmin(lowest, mn_world_probe(c.world, 0));
      worst = check_worst(worst, fabs(mn_world_probe(c.world, 1) / area - 1));
      CHECK(c.info.closed_regions == 1);
      CHECK(c.info.region[0].id == 1);
      p0 = fmax(p0, fabs(c.info.region[0].p0));
    }
    CHECK_OK(c.ctx, c.status);
    printf("%s ball: lowest %.4f m, area changes by %.1e, |p0| up to %.3g, %d steps, %.2f "
           "iterations, %d retries\n",
           kind.value, lowest, worst, p0, c.steps, (double)c.solves / c.steps, c.retries);
    CHECK_LE(lowest, 0.155); /* it did land */
    CHECK_LE(worst, 1e-10);
    if (!elastic)
      CHECK_LE(p0, 0);
    else
      CHECK_GE(p0, 1e-3);
    world_close(&c);
  }
  CHECK_DONE();
}

static const char RING[] =
    "local held = param('held', 0, '')\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {32, 32}, top = 'open' },\n"
    "  fluid    = smoke { density = 1, gravity = {0, 0} },\n"
    "  sources  = { inflow { shape = box { lo = {0.4, 0.4}, hi = {0.5, 0.6} }, velocity = {-1, "
    "0},\n"
    "                        ramp = cosine(0.2) },\n"
    "               inflow { shape = box { lo = {0.5, 0.4}, hi = {0.6, 0.6} }, velocity = {1, 0},\n"
    "                        ramp = cosine(0.2) } },\n"
    "  solids   = { springs { name = 'ring', shape = disk { center = {0.5, 0.5}, radius = 0.25 },\n"
    "                         spacing = 0.03, density = 1, stretch = 1e3,\n"
    "                         fixed = held > 0 and box { lo = {0, 0}, hi = {1, 1} } or nil } },\n"
    "  dynamics = dynamics { gravity = {0, 0}, dt = 0.01, contact = false },\n"
    "  coupling = couple { tolerance = 1e-3 },\n"
    "  probes   = { area { of = 'ring' } },\n"
    "  output   = { frames = 10, every = 0.05 },\n"
    "}\n";

static void test_same_bits_from_a_checkpoint(void **state)
{
  (void)state;
  world_case a, b;
  folder f;
  double before, flown = 0;
  world_open(&a, RING, NULL, 0, 1);
  world_open(&b, RING, NULL, 0, 2);
  before = mn_world_probe(a.world, 0);
  folder_make(&f);
  for (int n = 0; n < 20; n++) {
    if (n == 8) {
      CHECK_OK(a.ctx, mn_world_save(a.world, folder_file(&f, "state")));
      CHECK_OK(b.ctx, mn_world_load(b.world, folder_file(&f, "state")));
    }
    assert_true(world_step(&a));
    flown += a.info.dt * a.info.region[0].inflow;
    CHECK_LE(fabs(a.info.region[0].net_outflow), 1e-8 * fabs(a.info.region[0].inflow));
    if (n >= 8) {
      assert_true(world_step(&b));
      CHECK(mn_world_hash(a.world) == mn_world_hash(b.world));
    }
  }
  double error = mn_world_probe(a.world, 0) - before - flown;
  printf("ring: area grew by %.9f, %.2e off; p0 %.6g; %.2f iterations, at most %d\n", flown, error,
         a.info.region[0].p0, (double)a.solves / a.steps, a.most);
  CHECK_NEAR(error, 0, 1e-9 * flown);
  CHECK_LE(a.most, 4);
  folder_remove(a.ctx, &f);
  world_close(&a);
  world_close(&b);
  CHECK_DONE();
}

static void test_no_solution(void **state)
{
  (void)state;
  world_case c;
  mn_setting held = {"held", "1"};
  world_open(&c, RING, &held, 1, 1);
  CHECK(!world_step(&c));
  CHECK(c.status == MN_FAILED);
  printf("%s\n", mn_context_message(c.ctx));
  CHECK(strstr(mn_context_message(c.ctx), "is enclosed by sources and fixed walls only"));
  CHECK(strstr(mn_context_message(c.ctx), "no solution"));
  world_close(&c);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ball_lands),
      cmocka_unit_test(test_same_bits_from_a_checkpoint),
      cmocka_unit_test(test_no_solution),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
