/* The checks of a def, who owns what, and the refusal of grids beyond memory. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "fluid/mac/mac.h"

typedef struct setup {
  mn_model_def def;
  mn_source_def sources[2];
  mn_solid_def solids[2];
  mn_probe_def probes[2];
} setup;

static mn_shape *disk(mn_context *ctx)
{
  mn_shape *shape;
  CHECK_OK(ctx, mn_shape_sphere(ctx, 2, (mn_vec3){{0.5, 0.5, 0}}, 0.2, &shape));
  return shape;
}

/* A def without faults: two of everything. */
static void make(mn_context *ctx, setup *s)
{
  memset(s, 0, sizeof *s);
  s->def = mn_model_def_default();
  strcpy(s->def.name, "test");
  s->def.domain.size = (mn_vec3){{1, 1.5, 0}};
  s->def.domain.cells[0] = 16;
  s->def.domain.cells[1] = 24;
  s->def.domain.cells[2] = 1;
  for (int i = 0; i < 2; i++) {
    snprintf(s->sources[i].name, MN_NAME_MAX, "source%d", i);
    s->sources[i].shape = disk(ctx);
    s->sources[i].ramp = mn_timefn_constant(1);
    snprintf(s->solids[i].name, MN_NAME_MAX, "solid%d", i);
    s->solids[i].shape = disk(ctx);
    snprintf(s->probes[i].name, MN_NAME_MAX, "probe%d", i);
    s->probes[i].at = (mn_vec3){{0.5, 0.5, 0}};
  }
  s->probes[1].kind = MN_PROBE_VOLUME;
  strcpy(s->probes[1].of, "solid1");
  s->def.sources = s->sources;
  s->def.solids = s->solids;
  s->def.probes = s->probes;
  s->def.source_count = s->def.solid_count = s->def.probe_count = 2;
}

#define FAULTS(X)                                                                                  \
  X(def.domain.dim = 4, "domain.dim is 4")                                                         \
  X(def.domain.size.x = 0, "domain.size[1] is 0")                                                  \
  X(def.domain.size.y = -1, "domain.size[2] is -1")                                                \
  X(def.domain.size.x = NAN, "domain.size[1] is nan")                                              \
  X(def.domain.cells[0] = 0, "domain.cells[1] is 0")                                               \
  X(def.domain.cells[1] = -3, "domain.cells[2] is -3")                                             \
  X(def.domain.cells[1] = 16, "cells must be cubic")                                               \
  X(def.domain.cells[2] = 2, "must be 1 in a 2D scene")                                            \
  X(def.domain.origin.z = 1, "z must be 0")                                                        \
  X(def.domain.side[0].velocity.x = 1, "only slide along itself")                                  \
  X(def.domain.side[0].velocity.y = 1, "only a no-slip wall")                                      \
  X(def.fluid.density = 0, "fluid.density is 0")                                                   \
  X(def.fluid.viscosity = -1, "fluid.viscosity is -1")                                             \
  X(def.fluid.gravity.y = INFINITY, "fluid.gravity")                                               \
  X(def.fluid.cfl = NAN, "fluid.cfl is nan")                                                       \
  X(def.fluid.order = 3, "fluid.order is 3")                                                       \
  X(def.fluid.dt = -1, "fluid.dt is -1")                                                           \
  X(def.fluid.pressure_tolerance = 2, "fluid.pressure_tolerance is 2")                             \
  X(def.fluid.kind = MN_FLUID_WATER, "fluid.initial_water is missing")                             \
  X(sources[1].smoke = NAN, "sources[2].smoke is nan")                                             \
  X(sources[1].ramp.duration = -1, "sources[2].ramp")                                              \
  X(solids[1].name[5] = '0', "solids[2].name is \"solid0\"")                                       \
  X(probes[1].name[5] = '0', "probes[2].name is \"probe0\"")                                       \
  X(probes[1].name[0] = 0, "probes[2].name is missing")                                            \
  X(probes[1].name[0] = ',', "commas")                                                             \
  X(probes[1].of[5] = '7', "probes[2].of is \"solid7\"")                                           \
  X(probes[0].at.x = 2, "outside the domain")                                                      \
  X(probes[0].kind = MN_PROBE_TEMPERATURE, "carries none")                                         \
  X(def.output.every = 0, "output.every is 0")                                                     \
  X(def.output.frames = -1, "output.frames is -1")                                                 \
  X(def.output.show[0] = 'x', "output.show is \"x\"")

static void test_every_fault_is_named(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_model *model;
  setup s;
#define TRY_FAULT(fault, words)                                                                    \
  make(ctx, &s);                                                                                   \
  s.fault;                                                                                         \
  CHECK_FAILS(ctx, mn_model_create(ctx, &s.def, &model), MN_BAD_INPUT, words);                     \
  CHECK(model == NULL);
  FAULTS(TRY_FAULT)
  make(ctx, &s); /* the control: without a fault it is a model */
  CHECK_OK(ctx, mn_model_create(ctx, &s.def, &model));
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static int released;
static void note_release(void *owner)
{
  (void)owner;
  released++;
}

/* Leaks and double frees are seen by the asan preset; the owner is counted here. */
static void test_model_owns_shapes_and_owner(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_model *model;
  setup s;
  int owner;
  make(ctx, &s);
  s.def.owner = &owner;
  s.def.release = note_release;
  CHECK_OK(ctx, mn_model_create(ctx, &s.def, &model));
  CHECK(released == 0 && s.sources[0].shape == NULL && s.def.owner == NULL);
  strcpy(s.probes[0].name, "changed"); /* the model has its own copy */
  CHECK(!strcmp(mn_model_get(model)->probes[0].name, "probe0"));
  mn_model_destroy(&model);
  CHECK(released == 1 && model == NULL);
  mn_model_destroy(&model);

  make(ctx, &s);
  s.def.owner = &owner;
  s.def.release = note_release;
  s.def.fluid.cfl = 0;
  CHECK_FAILS(ctx, mn_model_create(ctx, &s.def, &model), MN_BAD_INPUT, "fluid.cfl");
  CHECK(released == 2);
  mn_model_def_release(&s.def); /* nothing left to release */
  CHECK(released == 2);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_every_allocation_may_fail(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_status status = MN_ENVIRONMENT;
  int failed = 0;
  for (int k = 1; status != MN_OK && k < 100; k++) {
    mn_model *model;
    setup s;
    make(ctx, &s);
    ctx->fail_allocation = ctx->allocations + k;
    status = mn_model_create(ctx, &s.def, &model);
    ctx->fail_allocation = 0;
    failed += status == MN_ENVIRONMENT;
    CHECK(status == MN_OK || model == NULL);
    mn_model_destroy(&model);
  }
  CHECK(status == MN_OK);
  CHECK_GE(failed, 4); /* the model and its three arrays */
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_grid_beyond_memory_is_refused_before_allocating(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_model *model;
  setup s;
  make(ctx, &s);
  s.def.domain.cells[0] = 1000000;
  s.def.domain.cells[1] = 1500000;
  int64_t before = ctx->allocations;
  CHECK_FAILS(ctx, mn_model_create(ctx, &s.def, &model), MN_BAD_INPUT, "GB of memory");
  CHECK(strstr(mn_context_message(ctx), "available") != NULL);
  CHECK(strstr(mn_context_message(ctx), "smaller n") != NULL);
  CHECK_LE((double)(ctx->allocations - before), 8); /* the copy of the def only */

  make(ctx, &s); /* the limit is the context's */
  double need = mn_mac_bytes(&s.def);
  ctx->memory_limit = (size_t)need - 1;
  CHECK_FAILS(ctx, mn_model_create(ctx, &s.def, &model), MN_BAD_INPUT, "domain.cells");
  make(ctx, &s);
  ctx->memory_limit = (size_t)need + 1;
  CHECK_OK(ctx, mn_model_create(ctx, &s.def, &model));
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_fault_is_named),
      cmocka_unit_test(test_model_owns_shapes_and_owner),
      cmocka_unit_test(test_every_allocation_may_fail),
      cmocka_unit_test(test_grid_beyond_memory_is_refused_before_allocating),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
