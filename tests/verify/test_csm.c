/* C5: CSM1 and CSM2 of [Turek 2006], values of featflow.de: St. Venant-Kirchhoff. For Neo-Hookean
   (log) the values were computed apart, with quadratic quadrilaterals, extrapolated. C6: a thick
   ring under pressure, incompressible Neo-Hookean, plane strain, exact. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "csm_case.h"
#include "geom/structured.h"

static mn_vec3 bend(const csm_def *c)
{
  mn_context *ctx = check_context(2);
  uint32_t tip = 0;
  mn_deform_report report;
  mn_deform *d = csm_make(ctx, c, &tip);
  CHECK_OK(ctx, mn_deform_static(d, NULL, 2, &report));
  mn_deform_view view = mn_deform_get(d);
  mn_vec3 u = mn_sub(view.x[tip], view.rest[tip]);
  print_message("%d x %d order %d: u = %.4f, %.4f e-3 (%d iterations, %d factorisations)\n", c->nx,
                c->ny, c->order, 1e3 * u.x, 1e3 * u.y, report.iterations, report.factorisations);
  mn_deform_destroy(&d);
  mn_context_destroy(&ctx);
  return u;
}

static void check_tip(mn_vec3 u, double x, double y, double part)
{
  CHECK_NEAR(u.x / x, 1, part);
  CHECK_NEAR(u.y / y, 1, part);
}

static void test_csm(void **state)
{
  (void)state;
  csm_def c = {.nx = 35, .ny = 2, .order = 2, .material = MN_ST_VENANT, .mu = 0.5e6};
  check_tip(bend(&c), -7.187e-3, -66.10e-3, 0.015);
  c.material = MN_NEO_HOOKEAN;
  check_tip(bend(&c), -7.161e-3, -66.11e-3, 0.015);
  c.mu = 2e6;
  c.material = MN_ST_VENANT;
  check_tip(bend(&c), -0.4690e-3, -16.97e-3, 0.015);
  CHECK_DONE();
  c.order = 1; /* linear elements lock in bending */
  check_tip(bend(&c), -0.4690e-3, -16.97e-3, 0.015);
  CHECK_MUST_HAVE_FAILED();
}

/* Finer: within the digits that are printed; and the curved root matters. */
static void test_csm_converged(void **state)
{
  (void)state;
  csm_def c = {.nx = 140, .ny = 8, .order = 2, .material = MN_ST_VENANT, .mu = 0.5e6};
  mn_vec3 fine = bend(&c);
  check_tip(fine, -7.187e-3, -66.10e-3, 0.001);
  c.material = MN_NEO_HOOKEAN;
  check_tip(bend(&c), -7.161e-3, -66.11e-3, 0.001);
  CHECK_DONE();
  c.material = MN_ST_VENANT;
  c.straight = 1;
  check_tip(bend(&c), -7.187e-3, -66.10e-3, 0.001);
  CHECK_MUST_HAVE_FAILED();
}

/* Linear elements: second order. */
static void test_csm_linear(void **state)
{
  (void)state;
  double h[3], error[3];
  for (int i = 0; i < 3; i++) {
    csm_def c = {.nx = 70 << i, .ny = 4 << i, .order = 1, .material = MN_ST_VENANT, .mu = 2e6};
    h[i] = 1.0 / (1 << i);
    error[i] = fabs(bend(&c).y / -16.97e-3 - 1);
  }
  CHECK_ORDER(h, error, 3, 2, 0.4);
  CHECK_DONE();
}

/* ---- C6 -------------------------------------------------------------------------------------- */

static void inflate(void *user, uint32_t node, mn_vec3 rest, double t, mn_vec3 *x, mn_vec3 *v)
{
  const double *a = user;
  (void)node, (void)t;
  double r = hypot(rest.x, rest.y);
  *x = r < 1.001 ? mn_scale(*a / r, rest) : rest; /* others are held on a symmetry axis, at 0 */
  *v = mn_v3(0, 0, 0);
}

/* p/mu of a quarter ring whose inner radius is pushed from 1 to a. */
static double ring_pressure(double a, double poisson, int through, int around)
{
  mn_context *ctx = check_context(2);
  int cells[3] = {through, around, 1}, body;
  mn_vec3 low = {{1, 0, 0}}, size = {{0.2, MN_PI / 2, 0}};
  mn_simplex_mesh mesh, quadratic;
  mn_deform_def def = mn_deform_def_default(2);
  mn_elastic_def ring = {.young = 2 * (1 + poisson), .poisson = poisson, .density = 1};
  mn_deform *d;
  mn_deform_report report;
  mn_vec3 *force;
  CHECK_OK(ctx, mn_mesh_box(ctx, 2, low, size, cells, &mesh));
  CHECK_OK(ctx, mn_simplex_mesh_quadratic(ctx, &mesh, &quadratic));
  CHECK_OK(ctx, mn_deform_create(ctx, &def, &d));
  for (size_t i = 0; i < quadratic.nodes; i++) {
    mn_vec3 p = quadratic.node[i];
    quadratic.node[i] = mn_v3(p.x * cos(p.y), p.x * sin(p.y), 0);
  }
  CHECK_OK(ctx, mn_deform_add_elastic(d, &quadratic, &ring, &body));
  for (size_t i = 0; i < quadratic.nodes; i++) {
    mn_vec3 p = quadratic.node[i];
    if (hypot(p.x, p.y) < 1 + 1e-9)
      mn_deform_fix(d, (uint32_t)i, MN_FIX_ALL);
    if (p.x < 1e-9)
      mn_deform_fix(d, (uint32_t)i, MN_FIX_X);
    if (p.y < 1e-9)
      mn_deform_fix(d, (uint32_t)i, MN_FIX_Y);
  }
  double now = 1;
  mn_deform_set_motion(d, inflate, &now);
  CHECK_OK(ctx, mn_deform_ready(d));
  for (int step = 1; step <= 8; step++) {
    now = 1 + (a - 1) * step / 8;
    CHECK_OK(ctx, mn_deform_static(d, NULL, 1, &report));
  }
  mn_deform_view view = mn_deform_get(d);
  force = calloc(view.nodes, sizeof *force);
  CHECK_OK(ctx, mn_deform_gradient(d, view.x, force));
  double p = 0;
  for (size_t i = 0; i < view.nodes; i++)
    if (hypot(view.rest[i].x, view.rest[i].y) < 1 + 1e-9)
      p += mn_dot(force[i], view.rest[i]) / (a * MN_PI / 2);
  print_message("a = %g, %d x %d: p/mu = %.8f, least J %.4f\n", a, through, around, p,
                mn_deform_min_j(d, 0));
  free(force);
  mn_deform_destroy(&d);
  mn_simplex_mesh_destroy(&mesh);
  mn_simplex_mesh_destroy(&quadratic);
  mn_context_destroy(&ctx);
  return p;
}

static void test_ring(void **state)
{
  (void)state;
  static const double A[5] = {1.05, 1.1, 1.2, 1.5, 2};
  static const double P[5] = {0.02766946, 0.05038459, 0.08476373, 0.13845184, 0.16730371};
  for (int i = 0; i < 5; i++)
    CHECK_NEAR(ring_pressure(A[i], 0.499, 3, 24) / P[i], 1, 0.01);
  CHECK_DONE();
  CHECK_NEAR(ring_pressure(2, 0.45, 3, 24) / P[4], 1, 0.01); /* far from incompressible */
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_csm),
      cmocka_unit_test(test_csm_converged),
      cmocka_unit_test(test_csm_linear),
      cmocka_unit_test(test_ring),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
