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
  c.def.domain.side[0].kind = c.def.domain.side[1].kind = MN_SIDE_THROUGH;
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

/* A plate that stops at once: the fluid swirls on, but no energy appears from nothing afterwards.
 */
static void test_sudden_stop(void **state)
{
  (void)state;
  mac_case c;
  mac_case_begin(&c, 2, mn_v3(1, 1, 0), 48);
  mn_solid_def disk = {.name = "disk", .moving = 1};
  disk.motion.translate = mn_v3(0.3, 0, 0);
  disk.motion.path = (mn_timefn){.kind = MN_TIME_LINEAR, .to = 1, .duration = 0.2};
  CHECK_OK(c.ctx, mn_shape_sphere(c.ctx, 2, mn_v3(0.3, 0.5, 0), 0.1, &disk.shape));
  c.def.solids = &disk;
  c.def.solid_count = 1;
  mac_case_start(&c);
  mac_case_run(&c, 0.22, 0.01);
  double last = mn_mac_measure(&c.fluid).kinetic_energy, growth = 0;
  for (int i = 0; i < 20; i++) {
    mac_case_run(&c, c.time + 0.01 + 0.001 * i, 1);
    double now = mn_mac_measure(&c.fluid).kinetic_energy;
    growth = check_worst(growth, now / last - 1);
    last = now;
  }
  CHECK_LE(growth, 0.01); /* 24 % when the pressure of the stop was carried on */
  mac_case_end(&c);
  CHECK_DONE();
}

static mn_status eddies(void *user, mn_vec3 x, mn_vec3 *value)
{
  (void)user;
  *value = mn_v3(sin(7 * x.y + 1) + 0.5 * sin(13 * x.x), cos(6 * x.x) + 0.5 * sin(11 * x.y + 2), 0);
  return MN_OK;
}

/* Eddies between open sides die away; with fluid that enters at the speed of the side they would
   feed a draught that never ends. */
static double draught(mn_side_kind kind)
{
  mac_case c;
  mac_case_begin(&c, 2, mn_v3(1, 1, 0), 32);
  for (int s = 0; s < 4; s++)
    c.def.domain.side[s].kind = kind;
  c.def.fluid.initial_velocity.eval = eddies;
  c.def.fluid.pressure_tolerance = 1e-8;
  mac_case_start(&c);
  double start = mn_mac_measure(&c.fluid).kinetic_energy, most = 0;
  for (int i = 1; i <= 20; i++) {
    mac_case_run_cfl(&c, 0.5 * i);
    most = check_worst(most, mn_mac_measure(&c.fluid).kinetic_energy);
  }
  printf("side kind %d: energy %g at first, at most %g, %g at the end\n", (int)kind, start, most,
         mn_mac_measure(&c.fluid).kinetic_energy);
  mac_case_end(&c);
  return most / start;
}

static void test_open_sides_feed_nothing(void **state)
{
  (void)state;
  CHECK_LE(draught(MN_SIDE_OPEN), 1);
  CHECK_DONE();
  CHECK_LE(draught(MN_SIDE_THROUGH), 1);
  CHECK_MUST_HAVE_FAILED();
}

/* A pulse between two frames is seen by the step's limit. */
static void test_pulse_limits_the_step(void **state)
{
  (void)state;
  mac_case c;
  mac_case_begin(&c, 2, mn_v3(1, 1, 0), 32);
  mn_source_def source = {.name = "puff", .blows = 1, .velocity = mn_v3(0, 2, 0)};
  source.ramp = (mn_timefn){
      .kind = MN_TIME_KEYS, .key_count = 3, .key_time = {0, 0.02, 0.04}, .key_value = {0, 1, 0}};
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(0.4, 0, 0), mn_v3(0.6, 0.1, 0), &source.shape));
  c.def.sources = &source;
  c.def.source_count = 1;
  c.def.domain.side[3].kind = MN_SIDE_OPEN;
  c.def.output.every = 0.04;
  mac_case_start(&c);
  CHECK_LE(c.fluid.ops->max_dt(c.fluid.self), 1.0 / 32 / 2);
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
      cmocka_unit_test(test_sudden_stop),
      cmocka_unit_test(test_open_sides_feed_nothing),
      cmocka_unit_test(test_pulse_limits_the_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
