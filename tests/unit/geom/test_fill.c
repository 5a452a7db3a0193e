/* Filling a shape with simplices: volumes against exact ones with their order, conformity, angles,
   nodes on the surface; and what is refused. */
#include "geom/fill.h"

#include <stdlib.h>

#include "check.h"
#include "math/vec.h"

typedef struct face {
  uint32_t node[3];
} face;

static int by_number(const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static int by_nodes(const void *a, const void *b)
{
  const face *x = a, *y = b;
  for (int i = 0; i < 3; i++)
    if (x->node[i] != y->node[i])
      return x->node[i] < y->node[i] ? -1 : 1;
  return 0;
}

typedef struct facts {
  double volume;
  size_t surface; /* faces with one element */
  size_t shared;  /* faces with more than two: there should be none */
  double off;     /* m, greatest distance of the surface's nodes from the shape's */
} facts;

static double element_size(const mn_simplex_mesh *m, const uint32_t *p)
{
  mn_vec3 u = mn_sub(m->node[p[1]], m->node[p[0]]), v = mn_sub(m->node[p[2]], m->node[p[0]]);
  return m->corners == 3 ? 0.5 * mn_cross(u, v).z
                         : mn_dot(mn_cross(u, v), mn_sub(m->node[p[3]], m->node[p[0]])) / 6;
}

static facts look(const mn_simplex_mesh *m, const mn_shape *shape)
{
  facts f = {0};
  size_t c = (size_t)m->corners, count = 0;
  face *faces = calloc(m->elements * c, sizeof *faces);
  for (size_t e = 0; e < m->elements; e++) {
    const uint32_t *p = m->element + c * e;
    f.volume += element_size(m, p);
    for (size_t skip = 0; skip < c; skip++, count++) {
      size_t n = 0;
      for (size_t i = 0; i < c; i++)
        if (i != skip)
          faces[count].node[n++] = p[i];
      qsort(faces[count].node, n, sizeof(uint32_t), by_number);
    }
  }
  qsort(faces, count, sizeof *faces, by_nodes);
  for (size_t i = 0, j; i < count; i = j) {
    for (j = i; j < count && !by_nodes(&faces[i], &faces[j]); j++)
      ;
    f.shared += j - i > 2;
    if (j - i != 1)
      continue;
    f.surface++;
    for (size_t k = 0; k + 1 < c; k++)
      f.off = check_worst(f.off, mn_shape_distance(shape, m->node[faces[i].node[k]]));
  }
  free(faces);
  return f;
}

/* Errors of the volume at three spacings; everything else must hold at each. */
static void check_shape(mn_context *ctx, mn_shape *shape, double spacing, double exact,
                        double least_angle, double h[3], double error[3])
{
  for (int i = 0; i < 3; i++, spacing /= 2) {
    mn_simplex_mesh m;
    h[i] = spacing;
    CHECK_OK(ctx, mn_fill(ctx, shape, spacing, &m));
    facts f = look(&m, shape);
    mn_mesh_quality q = mn_mesh_measure(&m);
    CHECK_LE((double)f.shared, 0);
    CHECK_GE((double)f.surface, 4);
    CHECK_LE(f.off, 1e-9 * spacing);
    CHECK_GE(q.least_angle, least_angle);
    CHECK_LE(q.greatest_angle, 165);
    CHECK_GE(q.least_size, 1e-12);
    error[i] = fabs(f.volume / exact - 1);
    mn_simplex_mesh_destroy(&m);
  }
  mn_shape_destroy(&shape);
}

static void test_volumes(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_shape *shape;
  double h[3], error[3];
  CHECK_OK(ctx, mn_shape_sphere(ctx, 3, mn_v3(0.5, 0.4, 0.3), 0.4, &shape));
  check_shape(ctx, shape, 0.1, 4.0 / 3 * MN_PI * 0.064, 10.7, h, error);
  CHECK_ORDER(h, error, 3, 2, 0.2);
  CHECK_OK(ctx, mn_shape_sphere(ctx, 2, mn_v3(0.5, 0.4, 0), 0.4, &shape));
  check_shape(ctx, shape, 0.1, MN_PI * 0.16, 15, h, error);
  CHECK_ORDER(h, error, 3, 2, 0.2);
  CHECK_OK(ctx, mn_shape_torus(ctx, 3, mn_v3(0, 0, 0), mn_v3(0.3, 1, 0.2), 0.3, 0.1, &shape));
  check_shape(ctx, shape, 0.1, 2 * MN_PI * MN_PI * 0.3 * 0.01, 10.7, h, error);
  CHECK_ORDER(h, error, 3, 2, 0.2);
  CHECK_OK(ctx, mn_shape_box(ctx, 3, mn_v3(0, 0, 0), mn_v3(0.63, 0.61, 0.36), &shape));
  check_shape(ctx, shape, 0.1, 0.63 * 0.61 * 0.36, 10.7, h, error);
  CHECK_LE(error[2], 3e-3); /* edges are cut off */
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* The check itself must see a mesh that does not conform. */
static void test_control(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_shape *shape;
  mn_simplex_mesh m;
  CHECK_OK(ctx, mn_shape_sphere(ctx, 3, mn_v3(0, 0, 0), 0.4, &shape));
  CHECK_OK(ctx, mn_fill(ctx, shape, 0.2, &m));
  facts before = look(&m, shape);
  m.elements--; /* one is gone: its faces lie open inside */
  facts after = look(&m, shape);
  CHECK(after.surface == before.surface && after.volume >= before.volume);
  m.elements++;
  mn_simplex_mesh_destroy(&m);
  mn_shape_destroy(&shape);
  mn_context_destroy(&ctx);
  CHECK_MUST_HAVE_FAILED();
}

static void test_refused(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_shape *shape;
  mn_simplex_mesh m;
  CHECK_OK(ctx, mn_shape_half_space(ctx, 3, mn_v3(0, 0, 0), mn_v3(0, 1, 0), &shape));
  CHECK_FAILS(ctx, mn_fill(ctx, shape, 0.1, &m), MN_BAD_INPUT, "no end");
  mn_shape_destroy(&shape);
  CHECK_OK(ctx, mn_shape_box(ctx, 3, mn_v3(0, 0, 0), mn_v3(1, 1, 0.01), &shape));
  CHECK_FAILS(ctx, mn_fill(ctx, shape, 0.3, &m), MN_BAD_INPUT, "thickness");
  CHECK_FAILS(ctx, mn_fill(ctx, shape, 1e-5, &m), MN_BAD_INPUT, "at least");
  CHECK_FAILS(ctx, mn_fill(ctx, shape, 0, &m), MN_BAD_INPUT, "> 0");
  CHECK_FAILS(ctx, mn_fill(ctx, shape, NAN, &m), MN_BAD_INPUT, "> 0");
  mn_shape_destroy(&shape);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_volumes), cmocka_unit_test(test_control),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
