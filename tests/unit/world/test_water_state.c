/* The state of water carried by particles: the same bits for any number of threads, a checkpoint
   whose number of particles differs from the world's, and a retry that leaves no trace. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "fluid/mac/internal.h"
#include "math/vec.h"
#include "world/checkpoint.h"

static char path[128];

static int make_folder(void **state)
{
  int failed = check_folder_make(state);
  snprintf(path, sizeof path, "%s/one", check_folder);
  return failed;
}

typedef struct pair {
  mn_context *ctx;
  mn_model *model;
  mn_world *world;
} pair;

/* A column collapses past a ball; a jet adds particles, an open side takes some away. */
static pair make_world(int threads, int dim, mn_transfer transfer)
{
  pair p = {.ctx = check_context(threads)};
  mn_model_def def = mn_model_def_default();
  int n = dim == 2 ? 24 : 10;
  strcpy(def.name, "pool");
  def.domain.dim = dim;
  def.domain.size = (mn_vec3){{1, 1, dim == 3}};
  def.domain.cells[0] = def.domain.cells[1] = n;
  def.domain.cells[2] = dim == 3 ? n : 1;
  def.domain.side[1].kind = MN_SIDE_OPEN;
  def.fluid = mn_fluid_def_default(MN_FLUID_WATER);
  def.fluid.transfer = transfer;
  def.fluid.viscosity = dim == 2 ? 1e-3 : 0;
  def.output.every = 0.1;
  CHECK_OK(p.ctx, mn_shape_box(p.ctx, dim, mn_v3(-1, -1, -1), mn_v3(0.4, 0.6, 2),
                               &def.fluid.initial_water));
  mn_solid_def ball = mn_solid_def_default();
  CHECK_OK(p.ctx,
           mn_shape_sphere(p.ctx, dim, mn_v3(0.6, 0.1, dim == 3 ? 0.5 : 0), 0.15, &ball.shape));
  mn_source_def jet = mn_source_def_default();
  jet.velocity = mn_v3(1, 0, 0);
  CHECK_OK(p.ctx,
           mn_shape_box(p.ctx, dim, mn_v3(-1, 0.75, 0.3), mn_v3(0.11, 0.95, 0.7), &jet.shape));
  def.solids = &ball;
  def.solid_count = 1;
  def.sources = &jet;
  def.source_count = 1;
  CHECK_OK(p.ctx, mn_model_create(p.ctx, &def, &p.model));
  CHECK_OK(p.ctx, mn_world_create(p.ctx, p.model, &p.world));
  ((mn_mac *)p.world->fluid.self)->exec.threads = threads; /* though the grid is small */
  return p;
}

static void drop_world(pair *p)
{
  mn_world_destroy(&p->world);
  mn_model_destroy(&p->model);
  mn_context_destroy(&p->ctx);
}

static void advance(pair *p, int steps)
{
  mn_step_info info;
  for (int i = 0; i < steps; i++)
    CHECK_OK(p->ctx, mn_world_step(p->world, 10, &info));
}

static size_t particles(pair *p)
{
  mn_array arrays[MN_ARRAYS_MAX];
  int count = mn_world_arrays(p->world, arrays);
  for (int i = 0; i < count; i++)
    if (!strcmp(arrays[i].name, "particles"))
      return arrays[i].shape[0];
  return 0;
}

static void test_threads(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int transfer = MN_TRANSFER_APIC; transfer <= MN_TRANSFER_MARKER; transfer++) {
      pair a = make_world(1, dim, (mn_transfer)transfer);
      pair b = make_world(3, dim, (mn_transfer)transfer);
      advance(&a, dim == 2 ? 60 : 15);
      advance(&b, dim == 2 ? 60 : 15);
      CHECK(particles(&a) > 0);
      CHECK(mn_world_hash(a.world) == mn_world_hash(b.world));
      drop_world(&a);
      drop_world(&b);
    }
  CHECK_DONE();
}

static void test_control_another_transfer(void **state)
{
  (void)state;
  pair a = make_world(1, 2, MN_TRANSFER_APIC), b = make_world(1, 2, MN_TRANSFER_FLIP);
  advance(&a, 10);
  advance(&b, 10);
  CHECK(mn_world_hash(a.world) == mn_world_hash(b.world));
  drop_world(&a);
  drop_world(&b);
  CHECK_MUST_HAVE_FAILED();
}

static void check_checkpoint(mn_transfer transfer)
{
  pair a = make_world(2, 2, transfer), b = make_world(1, 2, transfer);
  advance(&a, 40);
  CHECK(particles(&a) != particles(&b));
  CHECK_OK(a.ctx, mn_world_save(a.world, path));
  CHECK_OK(b.ctx, mn_world_load(b.world, path));
  CHECK(particles(&a) == particles(&b));
  CHECK(mn_world_hash(a.world) == mn_world_hash(b.world));
  advance(&a, 25);
  advance(&b, 25);
  CHECK(mn_world_hash(a.world) == mn_world_hash(b.world));
  pair c = make_world(1, 2, transfer); /* and from more particles to fewer */
  CHECK_OK(c.ctx, mn_world_save(c.world, path));
  CHECK_OK(b.ctx, mn_world_load(b.world, path));
  CHECK(mn_world_hash(c.world) == mn_world_hash(b.world));
  drop_world(&a);
  drop_world(&b);
  drop_world(&c);
}

static void test_checkpoint(void **state)
{
  (void)state;
  check_checkpoint(MN_TRANSFER_FLIP);
  check_checkpoint(MN_TRANSFER_MARKER);
  CHECK_DONE();
}

/* Saved, taken `steps` substeps on and restored twice: the same bits, and so is what follows. */
static void check_restore(mn_transfer transfer, int steps)
{
  pair a = make_world(1, 2, transfer), b = make_world(1, 2, transfer);
  mn_fluid *fluid = &a.world->fluid;
  mn_solve_report report;
  advance(&a, 10);
  advance(&b, 10);
  uint64_t saved = mn_world_hash(a.world);
  CHECK_OK(a.ctx, fluid->ops->save(fluid->self));
  for (int again = 0; again < 2; again++) {
    for (int i = 0; i < steps; i++) {
      CHECK_OK(a.ctx, fluid->ops->begin(fluid->self, 0.1 * i, 0.003));
      CHECK_OK(a.ctx, fluid->ops->solve(fluid->self, NULL, &report));
      if (again || i + 1 < steps) /* one that failed before its end, too */
        CHECK_OK(a.ctx, fluid->ops->commit(fluid->self));
    }
    CHECK((mn_world_hash(a.world) == saved) == (steps < 2 && !again));
    CHECK_OK(a.ctx, fluid->ops->restore(fluid->self));
    CHECK(mn_world_hash(a.world) == saved);
  }
  advance(&a, 5);
  advance(&b, 5);
  CHECK(mn_world_hash(a.world) == mn_world_hash(b.world));
  drop_world(&a);
  drop_world(&b);
}

static void test_restore_after_substeps(void **state)
{
  (void)state;
  for (int steps = 1; steps <= 3; steps++) {
    check_restore(MN_TRANSFER_APIC, steps);
    check_restore(MN_TRANSFER_MARKER, steps);
  }
  CHECK_DONE();
}

/* A length in the manifest that the file does not have is told, and nothing changes. */
static void test_damaged_length(void **state)
{
  (void)state;
  pair a = make_world(1, 2, MN_TRANSFER_APIC);
  advance(&a, 3);
  CHECK_OK(a.ctx, mn_world_save(a.world, path));
  uint64_t before = mn_world_hash(a.world);
  char name[256], *text, find[64], *at;
  size_t bytes;
  snprintf(name, sizeof name, "%s/manifest.json", path);
  CHECK_OK(a.ctx, mn_read_file(a.ctx, name, 1 << 24, &text, &bytes));
  snprintf(find, sizeof find, "%zu", particles(&a));
  at = strstr(text, "\"particles\"");
  at = at ? strstr(at, find) : NULL;
  assert_non_null(at);
  *at = *at == '1' ? '2' : '1';
  CHECK_OK(a.ctx, mn_write_file(a.ctx, name, text, bytes));
  mn_free(text);
  CHECK_FAILS(a.ctx, mn_world_load(a.world, path), MN_BAD_INPUT, "particles.npy");
  CHECK(mn_world_hash(a.world) == before);
  drop_world(&a);
  CHECK_DONE();
}

static void test_restore(void **state)
{
  (void)state;
  pair a = make_world(1, 2, MN_TRANSFER_APIC), b = make_world(1, 2, MN_TRANSFER_APIC);
  advance(&a, 5);
  advance(&b, 5);
  const mn_fluid_ops *ops = b.world->fluid.ops;
  void *self = b.world->fluid.self;
  mn_solve_report report;
  CHECK_OK(b.ctx, ops->save(self));
  CHECK_OK(b.ctx, ops->begin(self, b.world->clock.time, 0.003));
  CHECK_OK(b.ctx, ops->solve(self, NULL, &report));
  CHECK_OK(b.ctx, ops->commit(self));
  CHECK(mn_world_hash(a.world) != mn_world_hash(b.world));
  CHECK_OK(b.ctx, ops->restore(self));
  CHECK(mn_world_hash(a.world) == mn_world_hash(b.world));
  advance(&a, 5);
  advance(&b, 5);
  CHECK(mn_world_hash(a.world) == mn_world_hash(b.world));
  drop_world(&a);
  drop_world(&b);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_threads),        cmocka_unit_test(test_control_another_transfer),
      cmocka_unit_test(test_checkpoint),     cmocka_unit_test(test_restore_after_substeps),
      cmocka_unit_test(test_damaged_length), cmocka_unit_test(test_restore),
  };
  return cmocka_run_group_tests(tests, make_folder, check_folder_remove);
}
