/* Advection beside thin shells alone, in a velocity that pays no heed to them: dye stays on its
   side, far points keep their bits. */
#include "shell_case.h"

#include <math.h>
#include <stdio.h>

#include "base/hash.h"

typedef struct box {
  mac_case c;
  mn_mac *mac;
  mn_immersed *start, *end;
} box;

static mn_vec3 swirl(mn_vec3 x, double t)
{
  double a = sin(7 * x.x + 3 * x.y + 2 * x.z + t), b = cos(5 * x.y - 4 * x.x + x.z - 2 * t);
  return mn_v3(a + 0.3, b - 0.2 * a, 0.5 * a * b);
}

static void stir(box *b, double t)
{
  for (int a = 0; a < b->mac->grid.dim; a++) {
    mn_field *u = &b->mac->trace[a];
    for (int k = 0; k < u->n[2]; k++)
      for (int j = 0; j < u->n[1]; j++)
        for (int i = 0; i < u->n[0]; i++)
          mn_set(u, i, j, k, swirl(mn_position(u, i, j, k), t).v[a]);
    mn_mac_fill_cells(u);
    mn_field_copy(&b->mac->state.u[a], u);
  }
}

static void open_box(box *b, int dim, int n)
{
  mac_case_begin(&b->c, dim, mn_v3(1, 1, dim == 3 ? 1 : 0), n);
  mac_case_start(&b->c);
  b->mac = b->c.fluid.self;
  CHECK_OK(b->c.ctx, mn_immersed_create(b->c.ctx, &b->mac->grid, &b->start));
  CHECK_OK(b->c.ctx, mn_immersed_create(b->c.ctx, &b->mac->grid, &b->end));
}

static void close_box(box *b)
{
  mn_immersed_destroy(&b->start);
  mn_immersed_destroy(&b->end);
  mac_case_end(&b->c);
}

/* One substep from t with the shell: expected with its old velocity, then where it really is. */
static void step(box *b, shell_case *s, double t, double dt)
{
  mn_mac *mac = b->mac;
  mn_context *ctx = b->c.ctx;
  shell_case_place(s, t, dt, 0);
  shell_case_place(s, t + dt, dt, 2);
  for (size_t i = 0; i < s->at[0].count; i++)
    s->at[1].X[i] = mn_madd(s->at[0].X[i], dt, s->at[0].V[i]);
  mac->dt = dt;
  CHECK_OK(ctx, mn_immersed_place(b->start, &s->at[0]));
  CHECK_OK(ctx, mn_immersed_place(b->end, &s->at[1]));
  CHECK_OK(ctx, mn_shell_begin(mac, b->start, b->end, s->at[0].V));
  const double outside = 0;
  mn_mac_advect(mac, dt, &mac->state.smoke, &outside, &mac->smoke_next);
  CHECK_OK(ctx, mn_immersed_place(b->end, &s->at[2]));
  CHECK_OK(ctx, mn_shell_place(mac, b->end, s->at[2].V, 0));
  CHECK_OK(ctx, mn_shell_commit(mac));
  mn_mac_fill_cells(&mac->smoke_next);
  mn_field_copy(&mac->state.smoke, &mac->smoke_next);
}

/* Dye on the wrong side, and what is missing on the right one. */
static void leak_of(const box *b, const shell_case *s, double *leaked, double *missing)
{
  const mn_field *f = &b->mac->state.smoke;
  double cell = pow(b->mac->grid.dx, s->dim);
  *leaked = *missing = 0;
  for (int k = 0; k < f->n[2]; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++) {
        double v = mn_get(f, i, j, k);
        if (shell_case_inside(s, mn_position(f, i, j, k), 2))
          *missing += cell * fabs(1 - v);
        else
          *leaked += cell * fabs(v);
      }
}

static void run(int dim, shell_form form, shell_motion motion, int see_through, int steps,
                double *leaked, double *missing)
{
  box b;
  shell_case s;
  int n = dim == 2 ? 32 : 12;
  double dt = 1.4 / n;
  open_box(&b, dim, n);
  shell_case_make(b.c.ctx, dim, form, motion, 0.5, 0.8 / n, &s);
  shell_case_place(&s, 0, dt, 2);
  b.mac->shell.see_through = see_through;
  mn_field *f = &b.mac->state.smoke;
  for (int k = 0; k < f->n[2]; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++)
        mn_set(f, i, j, k, shell_case_inside(&s, mn_position(f, i, j, k), 2));
  mn_mac_fill_cells(f);
  for (int q = 0; q < steps; q++) {
    stir(&b, q * dt);
    step(&b, &s, q * dt, dt);
  }
  leak_of(&b, &s, leaked, missing);
  shell_case_free(&s);
  close_box(&b);
}

static void test_dye_stays(void **state)
{
  (void)state;
  double leaked, missing;
  for (int dim = 2; dim <= 3; dim++)
    for (int form = SHELL_RING; form <= SHELL_WALL; form++)
      for (int motion = SHELL_FIXED; motion <= SHELL_WAVES; motion++) {
        run(dim, form, motion, 0, dim == 2 ? 100 : 12, &leaked, &missing);
        printf("%dD %s %d: leaked %.1e, missing %.1e\n", dim, form ? "wall" : "ring", motion,
               leaked, missing);
        CHECK_LE(leaked, 1e-12);
        CHECK_LE(missing, 1e-12);
      }
  CHECK_DONE();
  run(2, SHELL_RING, SHELL_FIXED, 1, 100, &leaked, &missing);
  CHECK_LE(leaked, 1e-12);
  CHECK_LE(missing, 1e-12);
  CHECK_MUST_HAVE_FAILED();
}

/* Cells whose paths meet no shell have the same bits as without. */
static void test_far_points_keep_their_bits(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++) {
    mn_field *f, kept = {0};
    int64_t far = 0, same = 0, near_same = 0, near = 0;
    int n = dim == 2 ? 48 : 16;
    box b;
    shell_case s;
    open_box(&b, dim, n);
    shell_case_make(b.c.ctx, dim, SHELL_WALL, SHELL_SHIFTS, 0.5, 0.8 / n, &s);
    f = &b.mac->state.smoke;
    CHECK_OK(b.c.ctx, mn_field_create(b.c.ctx, &b.mac->grid, MN_CELL, "kept", &kept));
    stir(&b, 0);
    for (int see_through = 1; see_through >= 0; see_through--) {
      for (int k = 0; k < f->n[2]; k++)
        for (int j = 0; j < f->n[1]; j++)
          for (int i = 0; i < f->n[0]; i++)
            mn_set(f, i, j, k, sin(9.0 * i) * cos(5.0 * j + k));
      mn_mac_fill_cells(f);
      b.mac->shell.see_through = see_through;
      step(&b, &s, 0, 1.4 / n);
      if (see_through)
        mn_field_copy(&kept, f);
    }
    for (int k = 0; k < f->n[2]; k++)
      for (int j = 0; j < f->n[1]; j++)
        for (int i = 0; i < f->n[0]; i++) {
          int bits = mn_get(f, i, j, k) == mn_get(&kept, i, j, k);
          if (fabs(mn_position(f, i, j, k).x - 0.5) * n > 6.5) {
            far++;
            same += bits;
          } else {
            near++;
            near_same += bits;
          }
        }
    printf("%dD: %lld far cells, %lld of %lld near ones as without the shell\n", dim,
           (long long)far, (long long)near_same, (long long)near);
    CHECK(far > 0 && same == far);
    CHECK(near_same < near);
    mn_field_destroy(&kept);
    shell_case_free(&s);
    close_box(&b);
  }
  CHECK_DONE();
}

static uint64_t hash_of(const tank *t)
{
  mn_array arrays[32];
  int count = t->c.fluid.ops->arrays(t->mac, arrays, 32);
  uint64_t hash = MN_HASH_START;
  for (int i = 0; i < count; i++) {
    size_t size = sizeof(double);
    for (int r = 0; r < arrays[i].rank; r++)
      size *= arrays[i].shape[r];
    hash = mn_hash(hash, arrays[i].data, size);
  }
  return hash;
}

static void make_water(tank *t, double dt)
{
  t->c.def.domain.side[0].kind = t->c.def.domain.side[1].kind = MN_SIDE_SLIP;
  t->c.def.fluid.kind = MN_FLUID_WATER;
  t->c.def.fluid.initial_velocity.eval = NULL;
  t->c.def.fluid.transfer = MN_TRANSFER_APIC;
  t->c.def.fluid.gravity = mn_v3(0, -9.81, 0);
  CHECK_OK(t->c.ctx, mn_shape_box(t->c.ctx, 2, mn_v3(-1, -1, -1), mn_v3(2, 0.4, 2),
                                  &t->c.def.fluid.initial_water));
  t->dt = dt;
}

static void test_threads(void **state)
{
  (void)state;
  for (int water = 0; water < 2; water++) {
    uint64_t hash[2];
    for (int more = 0; more < 2; more++) {
      tank t;
      tank_open(&t, 2, 96, SHELL_WALL, SHELL_WAVES, 0.4);
      mn_context_destroy(&t.c.ctx);
      t.c.ctx = check_context(1 + more);
      if (water)
        make_water(&t, 0.002);
      tank_fill(&t, 0);
      CHECK(t.mac->exec.threads == 1 + more);
      for (int n = 0; n < 3; n++)
        tank_step(&t);
      hash[more] = hash_of(&t);
      tank_close(&t);
    }
    CHECK(hash[0] == hash[1]);
  }
  CHECK_DONE();
}

/* Beside the free edges of a flag that flaps, what is the same everywhere stays so. */
static void test_free_edges(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++) {
    box b;
    shell_case s;
    double worst = 0;
    int n = dim == 2 ? 32 : 12;
    open_box(&b, dim, n);
    shell_case_make(b.c.ctx, dim, SHELL_WALL, SHELL_WAVES, 1.5, 0.8 / n, &s);
    for (size_t i = 0; i < s.at[0].count; i++)
      for (int a = 1; a < dim; a++) /* from the middle half of the box */
        s.rest[i].v[a] = 0.25 + 0.5 * s.rest[i].v[a];
    mn_field *f = &b.mac->state.smoke;
    mn_field_fill(f, 1);
    for (int q = 0; q < (dim == 2 ? 100 : 15); q++) {
      stir(&b, q * 1.4 / n);
      step(&b, &s, q * 1.4 / n, 1.4 / n);
    }
    for (int k = 0; k < f->n[2]; k++)
      for (int j = 0; j < f->n[1]; j++)
        for (int i = 0; i < f->n[0]; i++)
          worst = check_worst(worst, fabs(mn_get(f, i, j, k) - 1));
    CHECK_LE(worst, 1e-13);
    shell_case_free(&s);
    close_box(&b);
  }
  CHECK_DONE();
}

/* From a saved state the same steps give the same bits. */
static void test_restored(void **state)
{
  (void)state;
  for (int water = 0; water < 2; water++) {
    tank t;
    tank_open(&t, 2, 16, SHELL_WALL, SHELL_WAVES, 0.4);
    if (water)
      make_water(&t, 0.01);
    tank_fill(&t, 0);
    for (int n = 0; n < 7; n++)
      tank_step(&t);
    uint64_t hash[2];
    const mn_fluid_ops *ops = t.c.fluid.ops;
    CHECK_OK(t.c.ctx, ops->save(t.mac));
    for (int run = 0; run < 2; run++) {
      for (int n = 0; n < 6; n++)
        tank_step(&t);
      hash[run] = hash_of(&t);
      CHECK_OK(t.c.ctx, ops->restore(t.mac));
      t.c.steps = 7;
      shell_case_place(&t.s, 6 * t.dt + t.dt, t.dt, 0); /* as tank_step has it */
      CHECK_OK(t.c.ctx, ops->meet(t.mac, &t.s.at[0]));
    }
    CHECK(hash[0] == hash[1]);
    tank_close(&t);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dye_stays),  cmocka_unit_test(test_far_points_keep_their_bits),
      cmocka_unit_test(test_free_edges), cmocka_unit_test(test_restored),
      cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
