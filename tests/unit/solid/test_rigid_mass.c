/* Mass properties against closed forms and integrals of the signed distance. */
#include "solid/mass.h"

#include <string.h>

#include "check.h"
#include "geom/shape.h"

static double apart(const mn_mass *a, const mn_mass *b)
{
  mn_mat3 d = mn_mat3_add(a->second, mn_mat3_scale(-1, b->second));
  double size = cbrt(b->volume);
  return fabs(a->volume / b->volume - 1) + mn_length(mn_sub(a->center, b->center)) / size +
         mn_mat3_norm(d) / mn_mat3_norm(b->second);
}

/* Primitive number k of dimension dim. */
static mn_shape *primitive(mn_context *ctx, int dim, int k)
{
  mn_shape *s = NULL;
  if (k == 0)
    CHECK_OK(ctx, mn_shape_box(ctx, dim, mn_v3(-0.3, 0.1, 0.2), mn_v3(0.5, 0.5, 0.9), &s));
  if (k == 1)
    CHECK_OK(ctx, mn_shape_sphere(ctx, dim, mn_v3(0.2, -0.1, 0.3), 0.4, &s));
  if (k == 2)
    CHECK_OK(ctx,
             mn_shape_capsule(ctx, dim, mn_v3(0.1, 0.2, -0.3), mn_v3(0.5, -0.1, 0.2), 0.2, &s));
  if (k == 3)
    CHECK_OK(ctx, mn_shape_torus(ctx, dim, mn_v3(0.1, 0, 0.2), mn_v3(1, 2, 2), 0.5, 0.2, &s));
  if (k >= 4) /* a cylinder, a tube */
    CHECK_OK(ctx, mn_shape_cylinder(ctx, 3, mn_v3(0.1, 0.2, -0.3), mn_v3(0.5, -0.1, 0.2), 0.3,
                                    k == 5 ? 0.15 : 0, &s));
  CHECK_OK(ctx, mn_shape_transform(ctx, s, mn_v3(0.3, 0.2, dim == 3 ? -0.4 : 0),
                                   dim == 3 ? mn_v3(1, -1, 0.5) : mn_v3(0, 0, 1), 0.7, 1.3, &s));
  return s;
}

/* The closed forms are the limits of the quadrature, which has order 2. */
static void test_primitives(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int dim = 2; dim <= 3; dim++)
    for (int k = 0; k < (dim == 3 ? 6 : 4); k++) {
      mn_shape *s = primitive(ctx, dim, k);
      mn_mass exact, by;
      CHECK_OK(ctx, mn_mass_of_shape(ctx, s, 0, &exact));
      double h[3], error[3];
      for (int i = 0; i < 3; i++) {
        int cells = (dim == 2 ? 64 : 20) << i;
        h[i] = 1.0 / cells;
        CHECK_OK(ctx, mn_mass_by_quadrature(ctx, s, cells, &by));
        error[i] = apart(&by, &exact);
      }
      CHECK_LE(error[2], dim == 2 ? 2e-4 : 3e-3);
      CHECK_ORDER(h, error, 3, 2, 0.5);
      exact.second = mn_mat3_scale(1.01, exact.second); /* the control: 1 % is seen */
      CHECK_GE(apart(&by, &exact), 5e-3);
      mn_shape_destroy(&s);
    }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_known_numbers(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_shape *s;
  mn_mass m;
  CHECK_OK(ctx, mn_shape_sphere(ctx, 3, mn_v3(1, 2, 3), 0.5, &s));
  CHECK_OK(ctx, mn_mass_of_shape(ctx, s, 0, &m));
  mn_mat3 inertia = mn_mass_inertia(&m);
  CHECK_NEAR(m.volume, 4 * MN_PI / 3 / 8, 1e-15);
  CHECK_NEAR(inertia.m[1][1], 0.4 * m.volume * 0.25, 1e-15);
  mn_shape_destroy(&s);
  CHECK_OK(ctx, mn_shape_box(ctx, 3, mn_v3(0, 0, 0), mn_v3(1, 2, 3), &s));
  CHECK_OK(ctx, mn_mass_of_shape(ctx, s, 0, &m));
  inertia = mn_mass_inertia(&m);
  CHECK_NEAR(inertia.m[0][0], 6.0 * (4 + 9) / 12, 1e-14);
  CHECK_NEAR(inertia.m[2][2], 6.0 * (1 + 4) / 12, 1e-14);
  mn_shape_destroy(&s);
  CHECK_OK(ctx, mn_shape_torus(ctx, 3, mn_v3(0, 0, 0), mn_v3(0, 0, 1), 1, 0.25, &s));
  CHECK_OK(ctx, mn_mass_of_shape(ctx, s, 0, &m));
  inertia = mn_mass_inertia(&m);
  CHECK_NEAR(inertia.m[2][2] / m.volume, 1 + 0.75 * 0.0625, 1e-14);
  mn_shape_destroy(&s);
  CHECK_OK(ctx, mn_shape_half_space(ctx, 3, mn_v3(0, 0, 0), mn_v3(0, 1, 0), &s));
  CHECK_FAILS(ctx, mn_mass_of_shape(ctx, s, 0, &m), MN_BAD_INPUT, "unbounded");
  mn_shape_destroy(&s);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Signed tetrahedra: a box of triangles is exact anywhere in space; a polygon likewise. */
static void test_meshes(void **state)
{
  (void)state;
  mn_vec3 v[8];
  uint32_t turned[12][3];
  for (int i = 0; i < 8; i++)
    v[i] = mn_v3(5 + (i & 1), -7 + 2 * (i >> 1 & 1), 3 * (i >> 2));
  static const uint32_t t[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6},
                                    {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
                                    {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  mn_mass m = mn_mass_of_triangles(v, t, 12);
  CHECK_NEAR(m.volume, 6, 1e-14);
  CHECK_NEAR(mn_length(mn_sub(m.center, mn_v3(5.5, -6, 1.5))), 0, 1e-14);
  mn_mat3 inertia = mn_mass_inertia(&m);
  CHECK_NEAR(inertia.m[0][0], 6.5, 1e-13);
  CHECK_NEAR(inertia.m[1][1], 5.0, 1e-13);
  CHECK_NEAR(fabs(inertia.m[0][1]) + fabs(inertia.m[0][2]) + fabs(inertia.m[1][2]), 0, 1e-13);
  mn_vec3 p[6]; /* a regular hexagon: I = (5 sqrt(3)/8) a^4 about its centre */
  for (int i = 0; i < 6; i++)
    p[i] = mn_v3(3 + cos(MN_PI * i / 3), 1 + sin(MN_PI * i / 3), 0);
  m = mn_mass_of_polygon(p, 6);
  CHECK_NEAR(m.volume, 1.5 * sqrt(3), 1e-14);
  CHECK_NEAR(mn_mass_inertia(&m).m[2][2], 5 * sqrt(3) / 8, 1e-13);
  CHECK_NEAR(mn_length(mn_sub(m.center, mn_v3(3, 1, 0))), 0, 1e-14);
  CHECK_DONE();
  memcpy(turned, t, sizeof turned); /* one triangle the wrong way round */
  turned[7][0] = t[7][1], turned[7][1] = t[7][0];
  m = mn_mass_of_triangles(v, (const uint32_t(*)[3])turned, 12);
  CHECK_NEAR(m.volume, 6, 1e-14);
  CHECK_MUST_HAVE_FAILED();
}

/* A box with a hole: the difference of two exact ones, with order 2. */
static void test_composition(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int dim = 2; dim <= 3; dim++) {
    mn_shape *part[2], *s;
    mn_mass box, hole, by, exact;
    CHECK_OK(ctx, mn_shape_box(ctx, dim, mn_v3(-1, -0.8, -0.7), mn_v3(1, 0.8, 0.7), &part[0]));
    CHECK_OK(ctx, mn_shape_sphere(ctx, dim, mn_v3(0.2, 0.1, 0), 0.45, &part[1]));
    CHECK_OK(ctx, mn_mass_of_shape(ctx, part[0], 0, &box));
    CHECK_OK(ctx, mn_mass_of_shape(ctx, part[1], 0, &hole));
    CHECK_OK(ctx, mn_shape_difference(ctx, part, 2, &s));
    exact.volume = box.volume - hole.volume;
    exact.center = mn_scale(-hole.volume / exact.volume, hole.center);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        exact.second.m[i][j] = box.second.m[i][j] - hole.second.m[i][j] -
                               hole.volume * hole.center.v[i] * hole.center.v[j] -
                               exact.volume * exact.center.v[i] * exact.center.v[j];
    double h[3], error[3];
    for (int i = 0; i < 3; i++) {
      int cells = (dim == 2 ? 37 : 20) << i;
      h[i] = 1.0 / cells;
      CHECK_OK(ctx, mn_mass_by_quadrature(ctx, s, cells, &by));
      error[i] = apart(&by, &exact);
    }
    CHECK_ORDER(h, error, 3, 2, 0.5);
    CHECK_OK(ctx, mn_mass_of_shape(ctx, s, 0, &by));
    CHECK_LE(apart(&by, &exact), 1e-3);
    mn_shape_destroy(&s);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_primitives), cmocka_unit_test(test_known_numbers),
      cmocka_unit_test(test_meshes), cmocka_unit_test(test_composition)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
