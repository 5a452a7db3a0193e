/* Thin bodies against the continuum: a rod and a plate rolled into an arc, a strip of rubber drawn.
 */
#include <math.h>

#include "check.h"
#include "geom/structured.h"
#include "solid/deform.h"

static const mn_vec3 ZERO = {{0, 0, 0}};

static mn_deform *empty(mn_context *ctx, int dim)
{
  mn_deform_def def = mn_deform_def_default(dim);
  mn_deform *d;
  CHECK_OK(ctx, mn_deform_create(ctx, &def, &d));
  return d;
}

/* Energy of what lay along x, rolled onto a circle of radius R about the z axis. */
static double roll(mn_deform *d, double R)
{
  mn_deform_view v = mn_deform_get(d);
  for (size_t i = 0; i < v.nodes; i++) {
    double a = v.rest[i].x / R;
    v.x[i] = mn_v3(R * sin(a), R * (1 - cos(a)), v.rest[i].z);
  }
  return mn_deform_elastic(d, 0);
}

/* B/2 L/R^2, but for the half segments at the ends, which do not bend. */
static double rod_error(int dim, int n)
{
  const double B = 0.7, R = 0.8;
  mn_context *ctx = check_context(1);
  mn_simplex_mesh mesh;
  mn_rod_def rod = {.stretch = 1e-9, .bend = B, .density = 1};
  mn_deform *d = empty(ctx, dim);
  int body;
  CHECK_OK(ctx, mn_mesh_line(ctx, dim, ZERO, mn_v3(1, 0, 0), n, &mesh));
  CHECK_OK(ctx, mn_deform_add_rod(d, &mesh, &rod, &body));
  CHECK_OK(ctx, mn_deform_ready(d));
  double exact = B / 2 / (R * R) * (1 - 1.0 / n), E = roll(d, R);
  mn_simplex_mesh_destroy(&mesh);
  mn_deform_destroy(&d);
  mn_context_destroy(&ctx);
  return fabs(E / exact - 1);
}

static void test_rod(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++) {
    double h[3], error[3];
    for (int i = 0; i < 3; i++) {
      h[i] = 1.0 / (8 << i);
      error[i] = rod_error(dim, 8 << i);
    }
    CHECK_LE(error[2], 1e-3);
    CHECK_ORDER(h, error, 3, 2, 0.2);
  }
  CHECK_DONE();
  CHECK_LE(fabs((1 - rod_error(2, 32)) / (1 + 1.0 / 32) - 1), 1e-3); /* half a segment too long */
  CHECK_MUST_HAVE_FAILED();
}

/* Energy over D/2 A/R^2 of a plate; nu = 0, or its free edges would curl. */
static double plate_ratio(int n)
{
  const double D = 0.3, R = 0.8;
  mn_context *ctx = check_context(1);
  mn_simplex_mesh mesh;
  mn_shell_def shell = {.young = 1e-9, .poisson = 0, .thickness = 1e-3, .density = 1, .bending = D};
  mn_deform *d = empty(ctx, 3);
  int body;
  CHECK_OK(ctx, mn_mesh_sheet(ctx, ZERO, mn_v3(1, 0, 0), mn_v3(0, 0, 1), n, n, &mesh));
  CHECK_OK(ctx, mn_deform_add_shell(d, &mesh, &shell, &body));
  CHECK_OK(ctx, mn_deform_ready(d));
  double ratio = roll(d, R) / (D / 2 / (R * R));
  mn_simplex_mesh_destroy(&mesh);
  mn_deform_destroy(&d);
  mn_context_destroy(&ctx);
  return ratio;
}

static void test_plate(void **state)
{
  (void)state;
  for (int n = 8; n <= 32; n *= 2) /* the last half cells do not bend */
    CHECK_NEAR(plate_ratio(n) / (1 - 1.0 / n), 1, 0.1 / (n * n));
  CHECK_DONE();
  CHECK_NEAR(plate_ratio(16), 1, 0.1 / (16 * 16)); /* the ends told apart */
  CHECK_MUST_HAVE_FAILED();
}

/* A strip of rubber drawn to l times its length: force mu A (l - 1/l^2), and it narrows by
   1/sqrt(l). */
static void draw(void *user, uint32_t node, mn_vec3 rest, double t, mn_vec3 *x, mn_vec3 *v)
{
  (void)node, (void)t;
  *x = mn_v3(rest.x * *(double *)user, rest.y, rest.z);
  *v = ZERO;
}

static void test_rubber(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_simplex_mesh mesh;
  mn_shell_def shell = {.membrane = MN_MEMBRANE_NEO_HOOKEAN,
                        .young = 3,
                        .thickness = 0.1,
                        .density = 1,
                        .bending = 0};
  mn_deform *d = empty(ctx, 3);
  mn_deform_report report;
  mn_vec3 force[64];
  double stretch = 2, pull = 0;
  int body;
  CHECK_OK(ctx, mn_mesh_sheet(ctx, ZERO, mn_v3(2, 0, 0), mn_v3(0, 0.5, 0), 6, 4, &mesh));
  CHECK_OK(ctx, mn_deform_add_shell(d, &mesh, &shell, &body));
  for (size_t i = 0; i < mesh.nodes; i++) { /* ends slide along y; y = 0 is a plane of symmetry */
    int end = mesh.node[i].x == 0 || mesh.node[i].x == 2;
    mn_deform_fix(d, (uint32_t)i,
                  MN_FIX_Z | (end ? MN_FIX_X : 0) | (mesh.node[i].y == 0 ? MN_FIX_Y : 0));
  }
  mn_deform_set_motion(d, draw, &stretch);
  CHECK_OK(ctx, mn_deform_ready(d));
  CHECK_OK(ctx, mn_deform_static(d, NULL, 1, &report));
  mn_deform_view v = mn_deform_get(d);
  assert_true(v.nodes <= 64);
  CHECK_OK(ctx, mn_deform_gradient(d, v.x, force));
  for (size_t i = 0; i < v.nodes; i++)
    pull += v.rest[i].x == 2 ? force[i].x : 0;
  CHECK_NEAR(pull, 1 * 0.1 * 0.5 * (2 - 0.25), 1e-6);
  CHECK_NEAR(v.x[v.nodes - 1].y, 0.5 / sqrt(2), 1e-6);
  double most, mean, von_mises[48];
  mn_deform_stretch(d, 0, &most, &mean);
  CHECK_NEAR(most, 2, 1e-6);
  mn_deform_stress(d, 0, NULL, von_mises);
  CHECK_NEAR(von_mises[20], 4 - 0.5, 1e-6); /* mu (l^2 - 1/l) */
  mn_simplex_mesh_destroy(&mesh);
  mn_deform_destroy(&d);
  mn_context_destroy(&ctx);
  CHECK_DONE();
  CHECK_NEAR(pull, 1 * 0.1 * 0.5 * (2 - 0.5), 1e-6); /* mu A (l - 1/l): another law */
  CHECK_NEAR(von_mises[20], 4 - 0.25, 1e-6);         /* the force's law */
  CHECK_MUST_HAVE_FAILED();
}

/* Drawn by a tenth along x: a curve of springs, a rod, cloth. */
static void test_tension(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_deform *d = empty(ctx, 3);
  mn_simplex_mesh line, sheet;
  mn_springs_def springs = {.density = 1, .stretch = 7, .bend = 3};
  mn_rod_def rod = {.stretch = 5, .bend = 0.1, .density = 1};
  int body;
  CHECK_OK(ctx, mn_mesh_line(ctx, 3, ZERO, mn_v3(2, 0, 0), 4, &line));
  CHECK_OK(ctx, mn_mesh_sheet(ctx, ZERO, mn_v3(2, 0, 0), mn_v3(0, 1.5, 0), 4, 3, &sheet));
  CHECK_OK(ctx, mn_deform_add_springs(d, &line, &springs, &body));
  CHECK_OK(ctx, mn_deform_add_rod(d, &line, &rod, &body));
  CHECK_OK(ctx, mn_deform_add_springs(d, &sheet, &springs, &body));
  CHECK_OK(ctx, mn_deform_ready(d));
  mn_deform_view v = mn_deform_get(d);
  for (size_t i = 0; i < v.nodes; i++)
    v.x[i].x *= 1.1;
  double tension[24];
  mn_deform_tension(d, 0, tension);
  for (int i = 0; i < 4; i++)
    CHECK_NEAR(tension[i], 7 * 0.05, 1e-12);
  mn_deform_tension(d, 1, tension);
  for (int i = 0; i < 4; i++)
    CHECK_NEAR(tension[i], 5 * 0.1, 1e-12);
  mn_deform_tension(d, 2, tension);
  double mean = 7 * (0.05 + 0.5 * (sqrt(1.21 + 1) - sqrt(2))) / 3;
  for (int i = 0; i < 24; i++)
    CHECK_NEAR(tension[i], mean, 1e-12);
  mn_simplex_mesh_destroy(&line);
  mn_simplex_mesh_destroy(&sheet);
  mn_deform_destroy(&d);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Control: the ends do not bend, and both checks see that. */
static void test_ends(void **state)
{
  (void)state;
  CHECK_NEAR(plate_ratio(8), 1, 0.1 / 64);
  double h[3], error[3];
  for (int i = 0; i < 3; i++) {
    h[i] = 1.0 / (8 << i);
    error[i] = rod_error(2, 8 << i) + h[i]; /* as if all of the length bent */
  }
  CHECK_ORDER(h, error, 3, 2, 0.2);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rod),     cmocka_unit_test(test_plate), cmocka_unit_test(test_rubber),
      cmocka_unit_test(test_tension), cmocka_unit_test(test_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
