/* Nothing passes thin shells: dye in a fluid that is driven by shells with a prescribed motion, and
   by its own eddies. validation: dye on one side only, leaked mass <= 1e-12. */
#include "shell_case.h"

#include <math.h>
#include <stdio.h>

#include "fluid/mac/internal.h"

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

/* A coupling tries several places for the shell, with the faces frozen at the first or not. */
static void test_repeated_solves(void **state)
{
  (void)state;
  double leaked, missing, speed;
  for (int frozen = 0; frozen < 2; frozen++) {
    tank t;
    tank_open(&t, 2, 16, SHELL_WALL, SHELL_WAVES, 0.3);
    tank_fill(&t, 0);
    for (int n = 0; n < 60; n++)
      tank_step_to(&t, 0.7, frozen);
    leak_of(&t, &leaked, &missing, &speed);
    CHECK_LE(leaked, 1e-12);
    CHECK_LE(missing, 1e-12);
    tank_close(&t);
  }
  CHECK_DONE();
}

/* ---- what shells must not change ------------------------------------------------------------- */

/* Greatest difference of the velocity within the ring from a uniform one; `set`: makes it so. */
static double unevenness(tank *t, mn_vec3 velocity, int set)
{
  double worst = 0;
  for (int a = 0; a < 2; a++) {
    mn_field *u = &t->mac->state.u[a];
    for (int j = 0; j < u->n[1]; j++)
      for (int i = 0; i < u->n[0]; i++) {
        if (!shell_case_inside(&t->s, mn_position(u, i, j, 0), 2))
          continue;
        if (set)
          mn_set(u, i, j, 0, velocity.v[a]);
        if (mn_get(&t->mac->geometry.open[a], i, j, 0) > 0)
          worst = check_worst(worst, fabs(mn_get(u, i, j, 0) - velocity.v[a]));
      }
  }
  return worst;
}

/* Fluid that drifts within a ring does not hear of the eddies around it. */
static void test_momentum_stays(void **state)
{
  (void)state;
  const double speed = 0.2;
  for (int see_through = 0; see_through < 2; see_through++) {
    tank t;
    tank_open(&t, 2, 20, SHELL_RING, SHELL_DRIFTS, speed);
    t.c.def.fluid.pressure_tolerance = 1e-13;
    tank_fill(&t, see_through);
    unevenness(&t, mn_v3(speed, 0.5 * speed, 0), 1);
    for (int n = 0; n < 40; n++)
      tank_step(&t);
    CHECK_LE(unevenness(&t, mn_v3(speed, 0.5 * speed, 0), 0), 1e-11);
    tank_close(&t);
    if (!see_through)
      CHECK_DONE();
  }
  CHECK_MUST_HAVE_FAILED();
}

static mn_vec3 stream;
static mn_status along(void *user, mn_vec3 x, mn_vec3 *u)
{
  (void)user;
  (void)x;
  *u = stream;
  return MN_OK;
}

/* A plate along a uniform stream leaves it alone: along an axis; and at 45 degrees, where it must
   have no ends in the domain, which stairs of cells make a cell thick. */
static double disturbance(int slanted, double slope)
{
  mac_case c;
  mn_interface f;
  double worst = 0;
  const double dt = 0.03;
  mac_case_begin(&c, 2, mn_v3(1, 1, 0), 24);
  for (int side = 0; side < 4; side++)
    c.def.domain.side[side].kind = MN_SIDE_THROUGH;
  stream = mn_v3(0.5, slanted ? 0.5 : 0, 0);
  c.def.fluid.initial_velocity.eval = along;
  CHECK_OK(c.ctx, mn_interface_create(c.ctx, 2, 21, 20, &f));
  for (size_t i = 0; i < 21; i++) {
    double s = (slanted ? 0.08 : 0.02) * ((double)i - 10);
    f.X[i] = mn_v3(0.513 + s, 0.507 + slope * s, 0);
    f.two_sided[i] = 1;
    f.element[2 * (i < 20 ? i : 0)] = (uint32_t)(i < 20 ? i : 0);
    f.element[2 * (i < 20 ? i : 0) + 1] = (uint32_t)(i < 20 ? i + 1 : 1);
  }
  mac_case_start(&c);
  CHECK_OK(c.ctx, c.fluid.ops->meet(c.fluid.self, &f));
  for (int n = 0; n < 40; n++) {
    CHECK_OK(c.ctx, c.fluid.ops->begin(c.fluid.self, n * dt, dt));
    CHECK_OK(c.ctx, c.fluid.ops->solve(c.fluid.self, &f, &c.report));
    CHECK_OK(c.ctx, c.fluid.ops->commit(c.fluid.self));
  }
  mn_mac_view v = mn_mac_look(&c.fluid);
  for (int a = 0; a < 2; a++)
    for (int j = 0; j < v.open[a].n[1]; j++)
      for (int i = 0; i < v.open[a].n[0]; i++)
        if (mn_get(&v.open[a], i, j, 0) > 0)
          worst = check_worst(worst, fabs(mn_get(&v.velocity[a], i, j, 0) - stream.v[a]));
  mn_interface_destroy(&f);
  mac_case_end(&c);
  return worst;
}

static void test_stream_along_a_plate(void **state)
{
  (void)state;
  CHECK_LE(disturbance(0, 0), 1e-10);
  CHECK_LE(disturbance(1, 1), 1e-10);
  CHECK_DONE();
  CHECK_LE(disturbance(1, 0.9), 1e-10);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dye),
      cmocka_unit_test(test_repeated_solves),
      cmocka_unit_test(test_momentum_stays),
      cmocka_unit_test(test_stream_along_a_plate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
