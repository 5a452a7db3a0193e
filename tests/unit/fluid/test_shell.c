/* Advection beside thin shells alone, in a velocity that pays no heed to them: dye stays on its
   side, far points keep their bits. */
#include "shell_case.h"

#include <math.h>
#include <stdio.h>

#include "fluid/mac/internal.h"

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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dye_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
