/* Rigid bodies against cloth and elastic bodies. */
#include "solids_case.h"

#include <stdio.h>
#include <stdlib.h>

/* A square of cloth in the plane y = 0, n cells a side. */
static mn_deform *sheet(mn_context *ctx, int n, mn_scheme scheme, int pinned, double alpha,
                        mn_vec3 gravity)
{
  const double size = 1;
  mn_deform_def def = mn_deform_def_default(3);
  def.scheme = scheme;
  def.gravity = gravity;
  def.tolerance = 3e-13; /* what Newton leaves is momentum and torque too */
  mn_deform *d;
  CHECK_OK(ctx, mn_deform_create(ctx, &def, &d));
  mn_simplex_mesh mesh = {.dim = 3, .corners = 3, .order = 1};
  mesh.nodes = (size_t)(n + 1) * (size_t)(n + 1);
  mesh.elements = 2 * (size_t)n * (size_t)n;
  mesh.node = calloc(mesh.nodes, sizeof *mesh.node);
  mesh.element = calloc(mesh.elements, 3 * sizeof *mesh.element);
  for (int j = 0; j <= n; j++)
    for (int i = 0; i <= n; i++)
      mesh.node[j * (n + 1) + i] = mn_v3(size * (i - 0.5 * n) / n, 0, size * (j - 0.5 * n) / n);
  uint32_t *e = mesh.element;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      uint32_t a = (uint32_t)(j * (n + 1) + i), b = a + 1, c = a + (uint32_t)n + 1, f = c + 1;
      uint32_t two[6] = {a, c, b, b, c, f};
      memcpy(e, two, sizeof two);
      e += 6;
    }
  mn_springs_def springs = {.density = 0.5,
                            .stretch = 200,
                            .bend = 1e-2,
                            .stretch_damping = alpha > 0 ? 0.05 : 0,
                            .alpha = alpha};
  int body;
  CHECK_OK(ctx, mn_deform_add_springs(d, &mesh, &springs, &body));
  for (int j = 0; pinned && j <= n; j++)
    for (int i = 0; i <= n; i++)
      if (i == 0 || j == 0 || i == n || j == n)
        mn_deform_fix(d, (uint32_t)(j * (n + 1) + i), MN_FIX_ALL);
  CHECK_OK(ctx, mn_deform_ready(d));
  free(mesh.node);
  free(mesh.element);
  return d;
}

/* C8: a ball and a box fly into free cloth: total momentum to round-off per step, and what becomes
   of angular momentum and energy. */
static void crash(mn_scheme scheme, double *worst_l, double *grown)
{
  static solids_case c;
  case_open(&c, 3);
  c.def.gravity = mn_v3(0, 0, 0);
  c.def.deform = sheet(c.ctx, 8, scheme, 0, 0, mn_v3(0, 0, 0));
  mn_rigid_def *b = case_ball(&c, mn_v3(-0.2, 0.25, 0.05), 0.15);
  b->density = 50, b->velocity = mn_v3(0.3, -2, 0);
  b = case_box(&c, mn_v3(0.25, -0.2, 0), mn_v3(0.1, 0.05, 0.12));
  b->density = 100, b->velocity = mn_v3(0, 1.5, 0.2), b->spin = mn_v3(1, 0, 2);
  c.def.contact.thickness = 2e-3;
  case_start(&c);
  mn_vec3 p0 = mn_solids_momentum(c.solids, -1),
          l0 = mn_solids_angular(c.solids, -1, mn_v3(0, 0, 0));
  double scale =
      mn_solids_rigid(c.solids)->body[0].mass * 2 + mn_solids_rigid(c.solids)->body[1].mass * 1.5;
  *worst_l = *grown = 0;
  double worst_p = 0, before = mn_solids_energy(c.solids, -1);
  int touched = 0;
  for (int n = 0; n < 100; n++) {
    case_step(&c, 0.004);
    mn_vec3 p = mn_solids_momentum(c.solids, -1);
    mn_vec3 l = mn_solids_angular(c.solids, -1, mn_v3(0, 0, 0));
    worst_p = check_worst(mn_length(mn_sub(p, p0)) / scale, worst_p);
    double step_l = mn_length(mn_sub(l, l0)) / scale;
    *worst_l = check_worst(step_l, *worst_l);
    p0 = p, l0 = l;
    double e = mn_solids_energy(c.solids, -1);
    *grown = mn_max(*grown, e / before - 1);
    before = e;
    touched += mn_solids_last(c.solids)->drift.touches + mn_solids_last(c.solids)->press_touches;
  }
  CHECK_GE(touched, 50);
  CHECK_LE(worst_p, 1e-12);
  case_close(&c);
}

/* Backward Euler damps: the energy never grows, its own error in the angular momentum stays. The
   midpoint rule keeps angular momentum, with contact too. */
static void test_conservation(void **state)
{
  (void)state;
  double l, grown;
  crash(MN_BACKWARD_EULER, &l, &grown);
  CHECK_LE(grown, 1e-12);
  CHECK_LE(l, 1e-3);
  crash(MN_MIDPOINT, &l, &grown);
  CHECK_LE(l, 1e-12);
  CHECK_LE(grown, 5e-3); /* contact is felt at the end of a step: it does grow a little */
  CHECK_DONE();
}

/* A fast ball against pinned cloth: held, and thrown back; without the sweep it is through. */
static double shot(int sweep)
{
  static solids_case c;
  case_open(&c, 3);
  c.def.gravity = mn_v3(0, 0, 0);
  c.def.deform = sheet(c.ctx, 10, MN_BACKWARD_EULER, 1, 0, mn_v3(0, 0, 0));
  c.def.contact.sweep = sweep;
  mn_rigid_def *b = case_ball(&c, mn_v3(0.013, 0.5, 0.021), 0.05);
  b->density = 100, b->velocity = mn_v3(0, -50, 0);
  case_start(&c);
  double least = 1;
  for (int n = 0; n < 40; n++) {
    case_step(&c, 0.005);
    mn_deform_view v = mn_deform_get(mn_solids_deform(c.solids));
    mn_vec3 x = case_state(&c, 0)->x;
    for (size_t f = 0; f < v.facets; f++) { /* no facet's middle or corner within the ball */
      mn_vec3 m = {0};
      for (int k = 0; k < 3; k++)
        m = mn_madd(m, 1.0 / 3, v.x[v.facet[f].node[k]]);
      least = mn_min(least, mn_length(mn_sub(x, m)) / 0.05);
    }
  }
  CHECK_GE(case_state(&c, 0)->v.y, 0);
  case_close(&c);
  return least;
}

static void test_no_tunnel(void **state)
{
  (void)state;
  CHECK_GE(shot(1), 0.97);
  CHECK_DONE();
  shot(0);
  CHECK_MUST_HAVE_FAILED();
}

/* A ball laid on pinned cloth comes to rest in it, as deep for any step. */
static double rest(double dt)
{
  static solids_case c;
  case_open(&c, 3);
  c.def.deform = sheet(c.ctx, 10, MN_BACKWARD_EULER, 1, 5, mn_v3(0, -9.81, 0));
  c.def.order = 1;
  case_ball(&c, mn_v3(0, 0.12, 0), 0.1)->density = 100;
  case_start(&c);
  while (c.t < 4)
    case_step(&c, dt);
  double y = case_state(&c, 0)->x.y;
  CHECK_LE(mn_length(case_state(&c, 0)->v), 0.1); /* still swings a little: 0.03, 0.08 */
  CHECK_LE(mn_solids_last(c.solids)->penetration, 0.02 * 0.1);
  case_close(&c);
  return y;
}

static void test_rest(void **state)
{
  (void)state;
  double y = rest(0.008);
  CHECK_NEAR(y, rest(0.004), 0.01);
  CHECK_GE(y, -0.3);
  CHECK_DONE();
}

/* A heavy ball, braked by a damper, on light cloth: where it comes to rest does not depend on the
   step. With kicks after the solve, which the cloth feels a step late, it does. */
static double sink(double dt, int kicks)
{
  static solids_case c;
  case_open(&c, 3);
  c.def.deform = sheet(c.ctx, 10, MN_BACKWARD_EULER, 1, 30, mn_v3(0, -9.81, 0));
  c.def.order = 1;
  c.def.contact.kicks = kicks;
  case_ball(&c, mn_v3(0, 0.105, 0), 0.1)->density = 300;
  c.spring[0] = (mn_spring_def){.a = 0,
                                .b = -1,
                                .at_a = mn_v3(0, 0.105, 0),
                                .at_b = mn_v3(0, 100, 0),
                                .damping = 20,
                                .length = -1};
  c.def.spring_count = 1;
  case_start(&c);
  while (c.t < 1.2)
    case_step(&c, dt);
  double y = case_state(&c, 0)->x.y;
  printf("dt %g, kicks %d: ball at %.5f m, %.1e m/s, %.1e m deep, pressed %.1e m\n", dt, kicks, y,
         mn_length(case_state(&c, 0)->v), mn_solids_last(c.solids)->penetration,
         mn_solids_last(c.solids)->pressed);
  CHECK_LE(mn_solids_last(c.solids)->penetration, 1e-4);
  case_close(&c);
  return y;
}

static void test_heavy(void **state)
{
  (void)state;
  double y = sink(0.01, 0);
  CHECK_NEAR(sink(0.005, 0), y, 5e-4);
  CHECK_GE(fabs(sink(0.01, 1) - y), 0.05); /* the control */
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_conservation),
                                     cmocka_unit_test(test_no_tunnel), cmocka_unit_test(test_rest),
                                     cmocka_unit_test(test_heavy)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
