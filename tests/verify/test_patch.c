/* C1: the patch test. A body of irregular elements whose boundary is displaced linearly must take
   the linear displacement inside, exactly, with uniform stress; turned by 37 degrees it bears none.
 */
#include <math.h>

#include "check.h"
#include "geom/structured.h"
#include "solid/deform.h"

static const mn_material_kind KIND[3] = {MN_NEO_HOOKEAN, MN_FIXED_COROTATED, MN_ST_VENANT};
static const double YOUNG = 1e5;

typedef struct linear {
  mn_mat3 B;
  double kink; /* of the negative control: displacement that is not linear */
} linear;

static void move(void *user, uint32_t node, mn_vec3 rest, double t, mn_vec3 *x, mn_vec3 *v)
{
  const linear *l = user;
  (void)node, (void)t;
  *x = mn_mat3_apply(l->B, rest);
  x->x += l->kink * rest.y * rest.y;
  *v = mn_v3(0, 0, 0);
}

static mn_simplex_mesh irregular(mn_context *ctx, int dim, int order)
{
  int cells[3] = {4, 4, 3};
  uint64_t seed = 11;
  mn_simplex_mesh mesh, quadratic;
  mn_vec3 zero = {{0, 0, 0}}, size = mn_v3(1, 1, dim == 3 ? 0.75 : 0);
  CHECK_OK(ctx, mn_mesh_box(ctx, dim, zero, size, cells, &mesh));
  for (size_t i = 0; i < mesh.nodes; i++)
    for (int k = 0; k < dim; k++) {
      double at = mesh.node[i].v[k] / size.v[k];
      double shift = 0.1 * (check_random(&seed) - 0.5);
      if (at > 1e-9 && at < 1 - 1e-9) /* nodes of a side stay in it */
        mesh.node[i].v[k] += shift;
    }
  if (order == 1)
    return mesh;
  CHECK_OK(ctx, mn_simplex_mesh_quadratic(ctx, &mesh, &quadratic));
  mn_simplex_mesh_destroy(&mesh);
  return quadratic;
}

/* Greatest error of a node (over the size 1), greatest deviation of stress from its mean over E. */
static void patch(int dim, int order, mn_material_kind kind, linear *l, double *off, double *uneven,
                  double *stress)
{
  mn_context *ctx = check_context(2);
  mn_simplex_mesh mesh = irregular(ctx, dim, order);
  mn_deform_def def = mn_deform_def_default(dim);
  mn_elastic_def body = {.material = kind, .young = YOUNG, .poisson = 0.3, .density = 1};
  mn_deform *d;
  mn_deform_report report;
  mn_mat3 cauchy[512], mean = mn_mat3_diagonal(0, 0, 0);
  int number;
  def.tolerance = 1e-14;
  CHECK_OK(ctx, mn_deform_create(ctx, &def, &d));
  CHECK_OK(ctx, mn_deform_add_elastic(d, &mesh, &body, &number));
  mn_deform_view view = mn_deform_get(d);
  for (size_t f = 0; f < view.facets; f++)
    for (int a = 0; a < view.facet[f].nodes; a++)
      mn_deform_fix(d, view.facet[f].node[a], MN_FIX_ALL);
  mn_deform_set_motion(d, move, l);
  CHECK_OK(ctx, mn_deform_ready(d));
  CHECK_OK(ctx, mn_deform_static(d, NULL, 1, &report));
  size_t elements = mn_deform_elements(d, 0), inner = 0;
  assert_true(elements <= 512);
  mn_deform_stress(d, 0, cauchy, NULL);
  *off = *uneven = 0;
  view = mn_deform_get(d);
  for (size_t i = 0; i < view.nodes; i++) {
    inner += !view.fixed[i];
    mn_vec3 exact = mn_mat3_apply(l->B, view.rest[i]);
    *off = check_worst(*off, mn_length(mn_sub(view.x[i], exact)));
  }
  assert_true(inner > 0);
  for (size_t e = 0; e < elements; e++)
    mean = mn_mat3_add(mean, mn_mat3_scale(1 / (double)elements, cauchy[e]));
  for (size_t e = 0; e < elements; e++)
    *uneven =
        check_worst(*uneven, mn_mat3_norm(mn_mat3_add(cauchy[e], mn_mat3_scale(-1, mean))) / YOUNG);
  *stress = mn_mat3_norm(mean) / YOUNG;
  mn_deform_destroy(&d);
  mn_simplex_mesh_destroy(&mesh);
  mn_context_destroy(&ctx);
}

static void test_linear(void **state)
{
  (void)state;
  linear l = {{{{1.12, 0.1, 0.05}, {-0.03, 0.93, 0.08}, {0.04, -0.02, 1.06}}}, 0};
  linear plane = {{{{1.12, 0.1, 0}, {-0.03, 0.93, 0}, {0, 0, 1}}}, 0};
  double off, uneven, stress;
  for (int dim = 2; dim <= 3; dim++)
    for (int order = 1; order <= 2; order++)
      for (int k = 0; k < 3; k++) {
        print_message("%dD, order %d, material %d\n", dim, order, k);
        patch(dim, order, KIND[k], dim == 2 ? &plane : &l, &off, &uneven, &stress);
        CHECK_LE(off, 1e-12);
        CHECK_LE(uneven, 1e-10);
        CHECK_GE(stress, 0.01);
      }
  CHECK_DONE();
  plane.kink = 1e-6;
  patch(2, 2, MN_NEO_HOOKEAN, &plane, &off, &uneven, &stress);
  CHECK_LE(off, 1e-12);
  CHECK_LE(uneven, 1e-10);
  CHECK_MUST_HAVE_FAILED();
}

static void test_rotation(void **state)
{
  (void)state;
  double a = 37 * MN_PI / 180, off, uneven, stress;
  linear l = {{{{cos(a), -sin(a), 0}, {sin(a), cos(a), 0}, {0, 0, 1}}}, 0};
  for (int dim = 2; dim <= 3; dim++)
    for (int order = 1; order <= 2; order++)
      for (int k = 0; k < 3; k++) {
        patch(dim, order, KIND[k], &l, &off, &uneven, &stress);
        CHECK_LE(off, 1e-12);
        CHECK_LE(uneven, 1e-12);
        CHECK_LE(stress, 1e-12);
      }
  CHECK_DONE();
  /* the control: turned to first order only, by 1e-4, it is stretched by 5e-9 */
  linear turned = {{{{1, -1e-4, 0}, {1e-4, 1, 0}, {0, 0, 1}}}, 0};
  patch(3, 1, KIND[0], &turned, &off, &uneven, &stress);
  CHECK_LE(stress, 1e-12);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_linear),
      cmocka_unit_test(test_rotation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
