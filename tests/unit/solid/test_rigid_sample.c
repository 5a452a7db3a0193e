/* Points on surfaces for contact: areas, spacing. */
#include "check.h"
#include "geom/mesh.h"
#include "geom/shape.h"
#include "solid/sample.h"

static mn_shape *make(mn_context *ctx, int dim, int k, double *area)
{
  mn_shape *s = NULL, *part[2];
  double L = sqrt(0.16 + 0.09 + (dim == 3 ? 0.25 : 0));
  switch (k) {
  case 0:
    CHECK_OK(ctx, mn_shape_box(ctx, dim, mn_v3(-0.3, 0.1, 0.2), mn_v3(0.5, 0.5, 0.9), &s));
    *area = dim == 3 ? 2 * (0.32 + 0.56 + 0.28) : 2.4;
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
  case 3:
    CHECK_OK(ctx, mn_shape_torus(ctx, dim, mn_v3(0.1, 0, 0.2), mn_v3(1, 2, 2), 0.5, 0.2, &s));
    *area = dim == 3 ? 4 * MN_PI * MN_PI * 0.1 : 2 * MN_PI;
    break;
  default: /* a box with half a ball on it */
    CHECK_OK(ctx, mn_shape_box(ctx, dim, mn_v3(-1, -1, -1), mn_v3(1, 0, 1), &part[0]));
    CHECK_OK(ctx, mn_shape_sphere(ctx, dim, mn_v3(0, 0, 0), 0.6, &part[1]));
    CHECK_OK(ctx, mn_shape_union(ctx, part, 2, &s));
    *area = dim == 3 ? 16 + MN_PI * 0.36 : 6 - 1.2 + 0.6 * MN_PI;
  }
  if (k == 0 || k == 3) {
    CHECK_OK(ctx, mn_shape_transform(ctx, s, mn_v3(3, -2, dim == 3),
                                     dim == 3 ? mn_v3(1, -1, 0.5) : mn_v3(0, 0, 1), 0.7, 1.3, &s));
    *area *= dim == 3 ? 1.69 : 1.3;
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
    for (int k = 0; k < 5; k++) {
      double area, spacing = dim == 3 ? 0.08 : 0.03;
      mn_shape *shape = make(ctx, dim, k, &area);
      mn_sample s;
      CHECK_OK(ctx, mn_sample_surface(ctx, shape, spacing, &s));
      moments m = measure(shape, &s, spacing);
      CHECK_NEAR(m.area / area, 1, k < 4 ? 1e-12 : 5e-3); /* seams of compositions */
      CHECK_LE(m.closure, k < 4 ? 1e-13 : 5e-3);
      CHECK_LE(m.off, 1e-12);
      CHECK_GE(m.nearest, k < 4 ? 0.5 : 0.25);
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

static void test_refused(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_shape *shape;
  mn_sample s;
  CHECK_OK(ctx, mn_shape_half_space(ctx, 3, mn_v3(0, 0, 0), mn_v3(0, 1, 0), &shape));
  CHECK_FAILS(ctx, mn_sample_surface(ctx, shape, 0.1, &s), MN_BAD_INPUT, "half-space");
  mn_shape_destroy(&shape);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_moments),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
