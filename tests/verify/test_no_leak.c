/* Nothing passes thin shells: dye in a fluid that is driven by shells with a prescribed motion, and
   by its own eddies. validation: dye on one side only, leaked mass <= 1e-12. */
#include "shell_case.h"

#include <math.h>
#include <stdio.h>

#include "fluid/mac/internal.h"

static mn_status eddies(void *user, mn_vec3 x, mn_vec3 *u)
{
  (void)user;
  double a = 2 * MN_PI;
  *u = mn_v3(0.6 * sin(a * x.x) * cos(a * x.y),
             -0.6 * cos(a * x.x) * sin(a * x.y) + 0.2 * sin(a * x.z), 0);
  return MN_OK;
}

typedef struct tank {
  mac_case c;
  shell_case s;
  mn_mac *mac;
  double dt;
} tank;

static void tank_open(tank *t, int dim, int n, shell_form form, shell_motion motion, double speed)
{
  mac_case_begin(&t->c, dim, mn_v3(1, 1, dim == 3 ? 1 : 0), n);
  t->c.def.fluid.initial_velocity.eval = eddies;
  t->c.def.fluid.pressure_tolerance = 1e-8;
  if (form == SHELL_WALL) /* fluid must be able to give way */
    t->c.def.domain.side[0].kind = t->c.def.domain.side[1].kind = MN_SIDE_OPEN;
  shell_case_make(t->c.ctx, dim, form, motion, speed, 0.7 / n, &t->s);
  t->dt = 0.4 / n;
}

static void tank_fill(tank *t, int see_through)
{
  mac_case_start(&t->c);
  t->mac = t->c.fluid.self;
  t->mac->shell.see_through = see_through;
  shell_case_place(&t->s, 0, t->dt, 0);
  shell_case_place(&t->s, 0, t->dt, 2);
  CHECK_OK(t->c.ctx, t->c.fluid.ops->meet(t->mac, &t->s.at[0]));
  mn_field *f = &t->mac->state.smoke;
  for (int k = 0; k < f->n[2] && f->data; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++)
        mn_set(f, i, j, k, shell_case_inside(&t->s, mn_position(f, i, j, k), 2));
  if (f->data)
    mn_mac_fill_cells(f);
}

static void tank_step(tank *t)
{
  const mn_fluid_ops *ops = t->c.fluid.ops;
  double time = t->c.steps * t->dt;
  CHECK_OK(t->c.ctx, ops->begin(t->mac, time, t->dt));
  shell_case_place(&t->s, time + t->dt, t->dt, 2);
  CHECK_OK(t->c.ctx, ops->solve(t->mac, &t->s.at[2], &t->c.report));
  CHECK_OK(t->c.ctx, ops->commit(t->mac));
  t->c.steps++;
}

static void tank_close(tank *t)
{
  shell_case_free(&t->s);
  mac_case_end(&t->c);
}

/* Dye on the side that had none, and within the ring what it has not. */
static void leak_of(const tank *t, double *leaked, double *missing, double *speed)
{
  const mn_field *f = &t->mac->state.smoke;
  double cell = pow(t->mac->grid.dx, t->s.dim);
  *leaked = *missing = *speed = 0;
  for (int k = 0; k < f->n[2]; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++) {
        double v = mn_get(f, i, j, k);
        if (shell_case_inside(&t->s, mn_position(f, i, j, k), 2))
          *missing += cell * fabs(1 - v);
        else
          *leaked += cell * fabs(v);
        *speed = fmax(*speed, fabs(mn_get(&t->mac->state.u[0], i, j, k)));
      }
}

static void run(int dim, int n, shell_form form, shell_motion motion, int see_through, int steps,
                double *leaked, double *missing)
{
  tank t;
  double speed;
  tank_open(&t, dim, n, form, motion, 0.3);
  tank_fill(&t, see_through);
  for (int i = 0; i < steps; i++)
    tank_step(&t);
  leak_of(&t, leaked, missing, &speed);
  printf("%dD %s %d: leaked %.1e, missing %.1e, speed %.2f, net flow %.1e\n", dim,
         form ? "wall" : "ring", motion, *leaked, *missing, speed, t.c.report.net_flow);
  tank_close(&t);
}

/* Cells across: where a closed surface changes its form, the grid must see that its area stays. */
static int cells(int dim, shell_form form, shell_motion motion)
{
  int changes = form == SHELL_RING && motion == SHELL_WAVES;
  return dim == 2 ? (changes ? 32 : 16) : (changes ? 16 : 8);
}

static void test_dye(void **state)
{
  (void)state;
  double leaked, missing;
  for (int dim = 2; dim <= 3; dim++)
    for (int form = SHELL_RING; form <= SHELL_WALL; form++)
      for (int motion = SHELL_FIXED; motion <= SHELL_WAVES; motion++) {
        int steps = dim == 3 ? 20 : form == (motion == SHELL_WAVES) ? 1000 : 150;
        run(dim, cells(dim, form, motion), form, motion, 0, steps, &leaked, &missing);
        CHECK_LE(leaked, 1e-12);
        CHECK_LE(missing, 1e-12);
      }
  CHECK_DONE();
  run(2, 16, SHELL_RING, SHELL_TURNS, 1, 100, &leaked, &missing);
  CHECK_LE(leaked, 1e-12);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dye),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
