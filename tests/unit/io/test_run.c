/* Runs from C: a directory that resumes, refusals, and every allocation failing once. */
#include "check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"
#include "base/file.h"
#include "base/memory.h"
#include "io/run_folder.h"
#include "io/run_record.h"

static char path[128];

static int make_folder(void **state)
{
  int failed = check_folder_make(state);
  snprintf(path, sizeof path, "%s/run", check_folder);
  return failed;
}

static mn_status make_model(mn_context *ctx, int vtk, mn_model **model)
{
  mn_model_def def = mn_model_def_default();
  mn_source_def source = {.name = "jet", .blows = 1, .velocity = {{0, 1, 0}}, .smoke = 1};
  mn_probe_def probe = {.name = "energy", .kind = MN_PROBE_KINETIC_ENERGY};
  strcpy(def.name, "jet");
  def.domain.size = (mn_vec3){{1, 1, 0}};
  def.domain.cells[0] = def.domain.cells[1] = 8;
  def.domain.cells[2] = 1;
  def.domain.side[3].kind = MN_SIDE_OPEN;
  def.output.frames = 3;
  def.output.every = 0.1;
  def.output.preview = 0;
  def.output.vtk = vtk;
  def.output.checkpoint_frames = 1;
  source.ramp = mn_timefn_constant(1);
  mn_status status = mn_shape_sphere(ctx, 2, (mn_vec3){{0.5, 0.3, 0}}, 0.2, &source.shape);
  if (status != MN_OK)
    return status;
  def.source_count = def.probe_count = 1;
  def.sources = &source;
  def.probes = &probe;
  return mn_model_create(ctx, &def, model);
}

static void count_step(void *user, const mn_world *world, const mn_step_info *info)
{
  (void)world;
  (void)info;
  ++*(int *)user;
}

static void read_settings(mn_context *ctx, mn_run_settings *s)
{
  CHECK_OK(ctx, mn_settings_read(ctx, path, s));
  mn_free(s->params);
}

static void test_run_and_resume(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_model *model, *again;
  int steps = 0;
  mn_run_def def = mn_run_def_default();
  mn_run_settings s;
  def.directory = path;
  def.progress = count_step;
  def.progress_user = &steps;
  CHECK_OK(ctx, make_model(ctx, 1, &model));
  def.resume = 1;
  CHECK_FAILS(ctx, mn_run(ctx, model, &def), MN_BAD_INPUT, "holds no run");
  def.resume = 0;
  CHECK_OK(ctx, mn_run(ctx, model, &def));
  CHECK_GE(steps, 3);
  read_settings(ctx, &s);
  CHECK(!strcmp(s.state, "done") && s.frames == 3 && s.time == 3 * 0.1 && s.until == 3 * 0.1);

  int first = steps;
  def.resume = 1;
  CHECK_OK(ctx, mn_run(ctx, model, &def)); /* nothing left to do */
  CHECK(steps == first);
  def.frames = 5;
  CHECK_OK(ctx, mn_run(ctx, model, &def)); /* two frames more */
  CHECK_GE(steps, first + 2);
  read_settings(ctx, &s);
  CHECK(s.frames == 5 && s.time == 5 * 0.1);
  CHECK_FAILS(ctx, mn_run_open(ctx, path, &again), MN_BAD_INPUT, "not made from a scene text");
  CHECK_FAILS(ctx, mn_run_open(ctx, check_folder, &again), MN_BAD_INPUT, "holds no run");

  def = mn_run_def_default();
  CHECK_FAILS(ctx, mn_run(ctx, model, &def), MN_BAD_INPUT, "needs a directory");
  def.directory = check_folder; /* not empty, and no run */
  CHECK_FAILS(ctx, mn_run(ctx, model, &def), MN_BAD_INPUT, "holds no run of meniscus");
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_interrupt_before_the_first_step(void **state)
{
  (void)state;
  volatile int interrupted = 1;
  mn_context_def context = mn_context_def_default();
  mn_context *ctx;
  mn_model *model;
  mn_run_def def = mn_run_def_default();
  mn_run_settings s;
  context.threads = 1;
  context.interrupted = &interrupted;
  assert_int_equal(mn_context_create(&context, &ctx), MN_OK);
  def.directory = path;
  CHECK_OK(ctx, make_model(ctx, 1, &model));
  CHECK_FAILS(ctx, mn_run(ctx, model, &def), MN_INTERRUPTED, "interrupted at 0 s, frame 0 of 3");
  read_settings(ctx, &s);
  CHECK(!strcmp(s.state, "interrupted"));
  interrupted = 0;
  def.resume = 1;
  CHECK_OK(ctx, mn_run(ctx, model, &def));
  read_settings(ctx, &s);
  CHECK(!strcmp(s.state, "done"));
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* A user's files in the folders of a run survive the next one. */
static void test_only_own_files_are_removed(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_model *model;
  mn_run_def def = mn_run_def_default();
  char mine[160], frame[160];
  def.directory = path;
  CHECK_OK(ctx, make_model(ctx, 1, &model));
  CHECK_OK(ctx, mn_run(ctx, model, &def));
  snprintf(mine, sizeof mine, "%s/frames/view.pvsm", path);
  snprintf(frame, sizeof frame, "%s/frames/grid_000003.vti", path);
  CHECK_OK(ctx, mn_write_file(ctx, mine, "mine", 4));
  CHECK(!access(frame, F_OK));
  def.frames = 1;
  CHECK_OK(ctx, mn_run(ctx, model, &def));
  CHECK(!access(mine, F_OK) && access(frame, F_OK));
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Leaks are seen by the asan preset. */
static void test_every_allocation_may_fail(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_run_def def = mn_run_def_default();
  def.directory = path;
  def.frames = 1;
  mn_status status = MN_ENVIRONMENT;
  int failed = 0;
  for (int k = 1; status != MN_OK && k < 2000; k++) {
    mn_model *model = NULL;
    ctx->fail_allocation = ctx->allocations + k;
    status = make_model(ctx, 0, &model);
    if (status == MN_OK)
      status = mn_run(ctx, model, &def);
    ctx->fail_allocation = 0;
    if (status != MN_OK && !strstr(mn_context_message(ctx), "memory"))
      printf("allocation %d: %s\n", k, mn_context_message(ctx));
    CHECK(status == MN_OK || status == MN_ENVIRONMENT);
    failed += status != MN_OK;
    mn_model_destroy(&model);
  }
  CHECK(status == MN_OK);
  CHECK_GE(failed, 50);
  printf("%d allocations failed in turn\n", failed);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_run_and_resume),
      cmocka_unit_test(test_interrupt_before_the_first_step),
      cmocka_unit_test(test_only_own_files_are_removed),
      cmocka_unit_test(test_every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, make_folder, check_folder_remove);
}
