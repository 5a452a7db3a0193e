/* The step: it lands on the times asked for, is rolled back and halved when it fails, and gives up
   with the last good state intact. Failures come from the grid fluid with a replaced solve. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "world/world.h"

static mn_status swirl(void *user, mn_vec3 x, mn_vec3 *u)
{
  (void)user;
  *u = (mn_vec3){{sin(3 * x.y), 0.5 - x.x, 0}};
  return MN_OK;
}

typedef struct pair {
  mn_model *model;
  mn_world *world;
} pair;

static pair make_world(mn_context *ctx, double dt, double max_dt)
{
  pair p;
  mn_model_def def = mn_model_def_default();
  strcpy(def.name, "swirl");
  def.domain.size = (mn_vec3){{1, 1, 0}};
  def.domain.cells[0] = def.domain.cells[1] = 12;
  def.domain.cells[2] = 1;
  def.fluid.initial_velocity.eval = swirl;
  def.fluid.dt = dt;
  def.fluid.max_dt = max_dt;
  def.output.every = 0.1;
  CHECK_OK(ctx, mn_model_create(ctx, &def, &p.model));
  CHECK_OK(ctx, mn_world_create(ctx, p.model, &p.world));
  return p;
}

static void drop_world(pair *p)
{
  mn_world_destroy(&p->world);
  mn_model_destroy(&p->model);
}

static void test_steps_are_even_and_land_on_time(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  pair p = make_world(ctx, 0, 0.003);
  mn_step_info info;
  double until = 0.1;
  int steps = 0;
  while (mn_world_time(p.world) < until) {
    CHECK_OK(ctx, mn_world_step(p.world, until, &info));
    CHECK_NEAR(info.dt, 0.1 / 34, 1e-12); /* ceil(0.1 / 0.003) equal parts */
    steps++;
  }
  CHECK(steps == 34 && mn_world_steps(p.world) == 34);
  CHECK(mn_world_time(p.world) == until && info.time == until); /* exactly */
  CHECK(mn_world_frame(p.world) == 1);
  CHECK_OK(ctx, mn_world_next_frame(p.world));
  CHECK(mn_world_time(p.world) == 2 * 0.1 && mn_world_frame(p.world) == 2);
  CHECK_FAILS(ctx, mn_world_step(p.world, 0.1, &info), MN_BAD_INPUT, "cannot start");
  CHECK(info.retries == 0 && info.pressure.reason == MN_CONVERGED);
  drop_world(&p);

  p = make_world(ctx, 0.02, 0); /* a fixed step */
  CHECK_OK(ctx, mn_world_step(p.world, 0.1, &info));
  CHECK_NEAR(info.dt, 0.02, 1e-15);
  drop_world(&p);

  p = make_world(ctx, 0, 0);
  volatile double a = 0.0381, b = 0.102; /* adding the difference would miss the end by a bit */
  CHECK(a + (b - a) != b);
  p.world->clock.time = a;
  p.model->def.fluid.cfl = 1000; /* in one step */
  CHECK_OK(ctx, mn_world_step(p.world, b, &info));
  CHECK(mn_world_time(p.world) == b);
  drop_world(&p);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_time_of_a_frame_is_its_number_times_every(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  pair p = make_world(ctx, 0, 0);
  for (int f = 1; f <= 12; f++) { /* 0.1 added up twelve times would be off by some bits */
    CHECK_OK(ctx, mn_world_next_frame(p.world));
    CHECK(mn_world_frame(p.world) == f && mn_world_time(p.world) == f * 0.1);
  }
  drop_world(&p);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_hash_sees_clock_and_arrays(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  pair a = make_world(ctx, 0, 0), b = make_world(ctx, 0, 0);
  CHECK(mn_world_hash(a.world) == mn_world_hash(b.world));
  uint64_t h = mn_world_hash(a.world);
  mn_array arrays[MN_ARRAYS_MAX];
  int count = mn_world_arrays(a.world, arrays);
  CHECK_GE(count, 3);
  for (int i = 0; i < count; i++) {
    unsigned char *last = (unsigned char *)arrays[i].data + mn_array_bytes(&arrays[i]) - 1;
    *last ^= 1;
    CHECK(mn_world_hash(a.world) != h);
    *last ^= 1;
  }
  a.world->clock.step++;
  CHECK(mn_world_hash(a.world) != h);
  drop_world(&a);
  drop_world(&b);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* ---- failures -------------------------------------------------------------------------------- */

static const mn_fluid_ops *real;
static int calls, failures; /* the first `failures` solves fail */
static mn_reason failure;

static mn_status failing_solve(void *self, mn_interface *interface, mn_solve_report *report)
{
  MN_TRY(real->solve(self, interface, report));
  if (calls++ < failures)
    report->reason = failure;
  return MN_OK;
}

static mn_status poisoned_commit(void *self)
{
  MN_TRY(real->commit(self));
  mn_array arrays[MN_ARRAYS_MAX];
  real->arrays(self, arrays, MN_ARRAYS_MAX);
  double *u = arrays[0].data;
  size_t size = mn_array_bytes(&arrays[0]) / sizeof *u;
  for (size_t i = 0; calls++ < failures && i < size; i++)
    u[i] = NAN;
  return MN_OK;
}

/* The world with some operations of its fluid replaced. */
static mn_fluid_ops tampered(mn_world *world,
                             mn_status (*solve)(void *, mn_interface *, mn_solve_report *),
                             mn_status (*commit)(void *), int count, mn_reason reason)
{
  real = world->fluid.ops;
  calls = 0;
  failures = count;
  failure = reason;
  mn_fluid_ops ops = *real;
  ops.solve = solve ? solve : ops.solve;
  ops.commit = commit ? commit : ops.commit;
  return ops;
}

static void test_failed_step_is_rolled_back_and_halved(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  pair a = make_world(ctx, 0.02, 0), b = make_world(ctx, 0.005, 0);
  mn_step_info info, other;
  mn_fluid_ops ops = tampered(a.world, failing_solve, NULL, 2, MN_STALLED);
  a.world->fluid.ops = &ops;
  CHECK_OK(ctx, mn_world_step(a.world, 0.1, &info));
  CHECK(info.retries == 2 && calls == 3);
  CHECK_NEAR(info.dt, 0.005, 1e-15);
  CHECK_NEAR(mn_world_time(a.world), 0.005, 1e-15);
  /* the same state as that of a step that was this short from the start */
  CHECK_OK(ctx, mn_world_step(b.world, 0.1, &other));
  CHECK(info.dt == other.dt && mn_world_hash(a.world) == mn_world_hash(b.world));
  CHECK(!*mn_context_message(ctx));
  a.world->fluid.ops = real;
  drop_world(&a);
  drop_world(&b);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_giving_up_leaves_the_last_good_state(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  pair p = make_world(ctx, 0.02, 0);
  mn_step_info info;
  CHECK_OK(ctx, mn_world_step(p.world, 0.1, &info));
  uint64_t before = mn_world_hash(p.world);

  mn_fluid_ops ops = tampered(p.world, failing_solve, NULL, 1000, MN_ITERATION_LIMIT);
  p.world->fluid.ops = &ops;
  CHECK_FAILS(ctx, mn_world_step(p.world, 0.1, &info), MN_FAILED, "did not converge");
  CHECK(strstr(mn_context_message(ctx), "6 halvings") && strstr(mn_context_message(ctx), "try"));
  CHECK(calls == 7 && mn_world_hash(p.world) == before);

  failure = MN_INCOMPATIBLE; /* no shorter step helps: not retried */
  calls = 0;
  CHECK_FAILS(ctx, mn_world_step(p.world, 0.1, &info), MN_FAILED, "closed region");
  CHECK(calls == 1 && mn_world_hash(p.world) == before);
  p.world->fluid.ops = real;

  ops = tampered(p.world, NULL, poisoned_commit, 1000000, MN_CONVERGED);
  p.world->fluid.ops = &ops;
  CHECK_FAILS(ctx, mn_world_step(p.world, 0.1, &info), MN_FAILED, "no longer finite");
  CHECK(mn_world_hash(p.world) == before);
  p.world->fluid.ops = real;
  CHECK_OK(ctx, mn_world_step(p.world, 0.1, &info)); /* and it can go on from there */
  drop_world(&p);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_steps_are_even_and_land_on_time),
      cmocka_unit_test(test_time_of_a_frame_is_its_number_times_every),
      cmocka_unit_test(test_hash_sees_clock_and_arrays),
      cmocka_unit_test(test_failed_step_is_rolled_back_and_halved),
      cmocka_unit_test(test_giving_up_leaves_the_last_good_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
