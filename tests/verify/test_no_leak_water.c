/* Water on both sides of a moving diaphragm: no particle crosses, none is lost, and water at rest
   stays at rest. */
#include "shell_case.h"

#include <math.h>
#include <stdio.h>

#include "fluid/mac/internal.h"

/* Volume of the particles on the low side, and on both. */
static double volume_below(const tank *t, double *all)
{
  const mn_particles *p = &t->mac->state.particles;
  double below = 0;
  *all = 0;
  for (size_t i = 0; i < p->count; i++) {
    const double *row = mn_particle(p, i);
    mn_vec3 x = mn_v3(row[0], row[1], p->dim == 3 ? row[2] : 0);
    *all += *mn_particle_volume(p, i);
    below += shell_case_inside(&t->s, x, 2) ? *mn_particle_volume(p, i) : 0;
  }
  return below;
}

typedef struct slosh {
  double crossed; /* volume, over that of a fresh particle: the most at any time */
  double lost;    /* particles that found no place */
  double drift;   /* of the volume under the surface, relative */
  double rise;    /* of the water in the middle of the low side, m, the most */
} slosh;

/* Water of depth 0.4 on both sides of a diaphragm from wall to wall. */
static slosh run_slosh(int dim, int n, mn_transfer transfer, shell_motion motion, int see_through,
                       double until)
{
  tank t;
  slosh r = {0};
  tank_open(&t, dim, n, SHELL_WALL, motion, 0.4);
  t.c.def.domain.side[0].kind = t.c.def.domain.side[1].kind = MN_SIDE_SLIP;
  t.c.def.fluid.kind = MN_FLUID_WATER;
  t.c.def.fluid.initial_velocity.eval = NULL;
  t.c.def.fluid.transfer = transfer;
  t.c.def.fluid.gravity = mn_v3(0, -9.81, 0);
  CHECK_OK(t.c.ctx, mn_shape_box(t.c.ctx, dim, mn_v3(-1, -1, -1), mn_v3(2, 0.4, 2),
                                 &t.c.def.fluid.initial_water));
  t.dt = 0.15 / n;
  tank_fill(&t, see_through);
  double all, now, before = volume_below(&t, &all), start = mn_mac_measure(&t.c.fluid).volume;
  while (t.c.steps * t.dt < until) {
    if (t.c.steps % 3) /* every third with a guess that was wrong */
      tank_step(&t);
    else
      tank_step_to(&t, 0.4, t.c.steps % 2);
    r.crossed = fmax(r.crossed, fabs(volume_below(&t, &now) - before) / t.mac->water.unit);
    r.drift = fmax(r.drift, fabs(mn_mac_measure(&t.c.fluid).volume / start - 1));
    const mn_field *phi = &t.mac->state.liquid;
    r.rise = fmax(r.rise, fabs(mn_sample(phi, mn_v3(0.2, 0.4, dim == 3 ? 0.5 : 0))));
  }
  r.lost = (double)t.mac->shell.lost;
  printf("%dD transfer %d motion %d: crossed %.1e, lost %g, drift %.1e, rise %.3f, %zu particles\n",
         dim, (int)transfer, motion, r.crossed, r.lost, r.drift, r.rise,
         t.mac->state.particles.count);
  tank_close(&t);
  return r;
}

static void test_water_in_a_tank_with_a_diaphragm(void **state)
{
  (void)state;
  mn_transfer transfers[] = {MN_TRANSFER_APIC, MN_TRANSFER_FLIP, MN_TRANSFER_MARKER};
  for (int n = 0; n < 3; n++)
    for (int motion = SHELL_FIXED; motion <= SHELL_WAVES; motion++) {
      slosh r = run_slosh(2, 20, transfers[n], motion, 0, n == 0 ? 1 : 0.4);
      CHECK_LE(r.crossed, 1e-9);
      CHECK_LE(r.lost, 0);
      /* whole cells beside the shell: half a cell times the difference of the levels, of 0.4 */
      CHECK_LE(r.drift, 0.03);
      CHECK_GE(r.rise, motion == SHELL_FIXED ? 0 : 0.02);
    }
  slosh r = run_slosh(3, 10, MN_TRANSFER_APIC, SHELL_WAVES, 0, 0.3);
  CHECK_LE(r.crossed, 1e-9);
  CHECK_LE(r.lost, 0);
  CHECK_DONE();
  r = run_slosh(2, 20, MN_TRANSFER_APIC, SHELL_SHIFTS, 1, 1);
  CHECK_LE(r.crossed, 1e-9);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_water_in_a_tank_with_a_diaphragm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
