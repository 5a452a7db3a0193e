/* Kinematic solids: a disk that drifts with the stream leaves it uniform; a disk and a turning bar
   push the fluid of a closed box without creating any; a paddle does work on it. */
#include "mac_case.h"

#include <math.h>
#include <stdio.h>

static mn_timefn steady(void) /* t -> t */
{
  return (mn_timefn){.kind = MN_TIME_RATE, .rate = 1};
}

static mn_status stream(void *user, mn_vec3 x, mn_vec3 *value)
{
  (void)user;
  (void)x;
  *value = mn_v3(0.3, 0, 0);
  return MN_OK;
}

static double drift_error(double disk_speed)
{
  mac_case c;
  mac_case_begin(&c, 2, mn_v3(1, 1, 0), 48);
  mn_solid_def disk = {.name = "disk", .moving = 1};
  disk.motion.translate = mn_v3(disk_speed, 0, 0);
  disk.motion.path = steady();
  CHECK_OK(c.ctx, mn_shape_sphere(c.ctx, 2, mn_v3(0.35, 0.51, 0), 0.2, &disk.shape));
  c.def.solids = &disk;
  c.def.solid_count = 1;
  c.def.domain.side[0].kind = c.def.domain.side[1].kind = MN_SIDE_OPEN;
  c.def.fluid.initial_velocity.eval = stream;
  mac_case_start(&c);
  mac_case_run(&c, 0.5, 0.02);
  mn_mac_view v = mn_mac_look(&c.fluid);
  double worst = 0;
  for (int a = 0; a < 2; a++)
    for (int j = 0; j < v.open[a].n[1]; j++)
      for (int i = 0; i < v.open[a].n[0]; i++)
        if (mn_get(&v.open[a], i, j, 0) > 0)
          worst = check_worst(worst, fabs(mn_get(&v.velocity[a], i, j, 0) - (a ? 0 : 0.3)));
  mac_case_end(&c);
  return worst;
}

static void test_drifting_disk_leaves_the_stream_alone(void **state)
{
  (void)state;
  CHECK_LE(drift_error(0.3), 1e-10);
  CHECK_DONE();
  CHECK_LE(drift_error(0.301), 1e-10);
  CHECK_MUST_HAVE_FAILED();
}

static void run_closed(int dim, int turning)
{
  mac_case c;
  mac_case_begin(&c, dim, mn_v3(1, 1, dim == 3 ? 1 : 0), dim == 3 ? 20 : 48);
  mn_solid_def solid = {.name = "body", .moving = 1};
  double z = dim == 3 ? 0.5 : 0;
  if (turning) {
    solid.motion.axis = mn_v3(0, 0, 1);
    solid.motion.pivot = mn_v3(0.5, 0.5, z);
    solid.motion.turn = (mn_timefn){.kind = MN_TIME_RATE, .rate = 2};
    CHECK_OK(c.ctx, mn_shape_box(c.ctx, dim, mn_v3(0.2, 0.42, z - 0.2), mn_v3(0.8, 0.55, z + 0.2),
                                 &solid.shape));
  } else {
    solid.motion.translate = mn_v3(1, 0.3, 0);
    solid.motion.path = (mn_timefn){.kind = MN_TIME_WAVE, .amplitude = 0.2, .frequency = 1};
    CHECK_OK(c.ctx, mn_shape_sphere(c.ctx, dim, mn_v3(0.5, 0.5, z), 0.2, &solid.shape));
  }
  c.def.solids = &solid;
  c.def.solid_count = 1;
  c.def.fluid.initial_smoke.value.x = 1;
  mac_case_start(&c);
  mn_mac_totals before = mn_mac_measure(&c.fluid);
  mac_case_run(&c, 0.5, 0.01);
  mn_mac_totals after = mn_mac_measure(&c.fluid);
  printf("%dD %s: volume %.6f -> %.6f, energy %.4f, div %.1e, net flow %.1e\n", dim,
         turning ? "bar" : "ball", before.volume, after.volume, after.kinetic_energy,
         c.worst_divergence, c.report.net_flow);
  CHECK_LE(c.worst_divergence, 1e-8);
  CHECK_LE(fabs(c.report.net_flow), 1e-12);
  CHECK_NEAR(after.volume, before.volume, 0.005 * before.volume);
  CHECK_GE(after.kinetic_energy, 1e-3);
  mac_case_end(&c);
}

static void test_closed_box(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int turning = 0; turning < 2; turning++)
      run_closed(dim, turning);
  CHECK_DONE();
}

/* A source in a box without any opening has no solution, and says so. */
static void test_closed_box_with_inflow_is_refused(void **state)
{
  (void)state;
  mac_case c;
  mac_case_begin(&c, 2, mn_v3(1, 1, 0), 32);
  mn_source_def source = {.name = "jet", .blows = 1, .velocity = mn_v3(0, 0.5, 0)};
  source.ramp = (mn_timefn){.kind = MN_TIME_LINEAR, .to = 1, .duration = 1};
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(0.4, 0, 0), mn_v3(0.6, 0.1, 0), &source.shape));
  c.def.sources = &source;
  c.def.source_count = 1;
  mac_case_start(&c);
  CHECK_OK(c.ctx, c.fluid.ops->begin(c.fluid.self, 0, 0.1));
  CHECK_FAILS(c.ctx, c.fluid.ops->solve(c.fluid.self, NULL, &c.report), MN_FAILED,
              "closed on all sides");
  CHECK(c.report.reason == MN_INCOMPATIBLE);
  CHECK_NEAR(c.report.net_flow, 0.2 * 0.05, 0.01); /* width times speed at t = 0.1 */
  mac_case_end(&c);
  CHECK_DONE();
}

/* A source too thin to hold a cell's centre would blow nothing: it is refused. */
static void test_source_without_cells_is_refused(void **state)
{
  (void)state;
  mac_case c;
  mac_case_begin(&c, 2, mn_v3(1, 1, 0), 32);
  mn_source_def source = {.name = "slit", .blows = 1, .velocity = mn_v3(0, 0.5, 0)};
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(0.4, 0, 0), mn_v3(0.6, 0.01, 0), &source.shape));
  c.def.sources = &source;
  c.def.source_count = 1;
  CHECK_FAILS(c.ctx, mn_mac_create(c.ctx, &c.def, &c.fluid), MN_BAD_INPUT, "slit");
  mac_case_end(&c);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_drifting_disk_leaves_the_stream_alone),
      cmocka_unit_test(test_closed_box),
      cmocka_unit_test(test_closed_box_with_inflow_is_refused),
      cmocka_unit_test(test_source_without_cells_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
