/* Points on surfaces for contact: areas, spacing. */
#include "check.h"
#include "geom/shape.h"
#include "solid/sample.h"

static mn_shape *make(mn_context *ctx, int dim, int k, double *area)
{
  mn_shape *s = NULL;
  double L = sqrt(0.16 + 0.09 + (dim == 3 ? 0.25 : 0));
  switch (k) {
  case 0: /* a tube */
    CHECK_OK(ctx, mn_shape_cylinder(ctx, dim, mn_v3(-0.3, 0.1, 0.2), mn_v3(0.5, 0.5, 0.9), 0.5, 0.3,
                                    &s));
    L = sqrt(0.64 + 0.16 + 0.49);
    *area = 2 * MN_PI * (0.8 * L + 0.25 - 0.09);
    break;
  case 1:
    CHECK_OK(ctx, mn_shape_sphere(ctx, dim, mn_v3(0.2, -0.1, 0.3), 0.4, &s));
    *area = dim == 3 ? 4 * MN_PI * 0.16 : 0.8 * MN_PI;
    break;
  case 2:
    CHECK_OK(ctx,
             mn_shape_capsule(ctx, dim, mn_v3(0.1, 0.2, -0.3), mn_v3(0.5, -0.1, 0.2), 0.2, &s));
    *area = dim == 3 ? 2 * MN_PI * 0.2 * (L + 0.4) : 2 * L + 0.4 * MN_PI;
    break;
  default:
    CHECK_OK(ctx, mn_shape_torus(ctx, dim, mn_v3(0.1, 0, 0.2), mn_v3(1, 2, 2), 0.5, 0.2, &s));
    *area = dim == 3 ? 4 * MN_PI * MN_PI * 0.1 : 2 * MN_PI;
  }
  return s;
}

typedef struct moments {
  double area, closure, nearest, farthest, off;
} moments;

/* Nearest neighbour of each point: the least and the greatest, in spacings. */
static moments measure(const mn_shape *shape, const mn_sample *s, double spacing)
{
  moments m = {.nearest = HUGE_VAL};
  mn_vec3 sum = {0};
  for (size_t i = 0; i < s->count; i++) {
    m.area += s->area[i];
    sum = mn_madd(sum, s->area[i], s->n[i]);
    double d = HUGE_VAL;
    for (size_t j = 0; j < s->count; j++)
      if (j != i)
        d = mn_min(d, mn_length(mn_sub(s->x[i], s->x[j])));
    m.nearest = mn_min(m.nearest, d / spacing);
    m.farthest = mn_max(m.farthest, d / spacing);
    m.off = mn_max(m.off, fabs(mn_shape_distance(shape, s->x[i])));
    CHECK_NEAR(mn_length(s->n[i]), 1, 1e-12);
    CHECK_GE(s->area[i], 0);
  }
  m.closure = mn_length(sum) / m.area;
  return m;
}

static void test_moments(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int dim = 2; dim <= 3; dim++)
    for (int k = 3 - dim; k < 4; k++) { /* cylinders in 3D only */
      double area, spacing = dim == 3 ? 0.08 : 0.03;
      mn_shape *shape = make(ctx, dim, k, &area);
      mn_sample s;
      CHECK_OK(ctx, mn_sample_surface(ctx, shape, spacing, &s));
      moments m = measure(shape, &s, spacing);
      CHECK_NEAR(m.area / area, 1, 1e-12);
      CHECK_LE(m.closure, 1e-13);
      CHECK_LE(m.off, 1e-12);
      CHECK_GE(m.nearest, 0.5);
      CHECK_LE(m.farthest, 1.5);
      mn_sample_destroy(&s);
      mn_shape_destroy(&shape);
    }
  CHECK_DONE();
  double area; /* a point is missing, and another lies off the surface */
  mn_shape *shape = make(ctx, 3, 1, &area);
  mn_sample s;
  CHECK_OK(ctx, mn_sample_surface(ctx, shape, 0.08, &s));
  s.count--;
  s.x[0].x += 1e-6;
  moments m = measure(shape, &s, 0.08);
  s.count++;
  CHECK_NEAR(m.area / area, 1, 1e-12);
  CHECK_LE(m.closure, 1e-13);
  CHECK_LE(m.off, 1e-12);
  CHECK_MUST_HAVE_FAILED();
  mn_sample_destroy(&s);
  mn_shape_destroy(&shape);
  mn_context_destroy(&ctx);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_moments)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
