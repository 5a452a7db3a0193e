/* Structured meshes: volumes, boundaries, quadratic nodes; meshes that do not hang together. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "check.h"
#include "geom/structured.h"
#include "math/vec.h"

static const mn_vec3 ZERO = {{0, 0, 0}};

/* Sum of areas or volumes; the least of them in `least`. */
static double volume(const mn_simplex_mesh *m, double *least)
{
  size_t nodes = (size_t)mn_simplex_nodes(m->corners, m->order);
  double sum = 0;
  *least = HUGE_VAL;
  for (size_t e = 0; e < m->elements; e++) {
    const uint32_t *n = m->element + e * nodes;
    mn_vec3 a = mn_sub(m->node[n[1]], m->node[n[0]]), b = mn_sub(m->node[n[2]], m->node[n[0]]);
    double v = m->corners == 3 ? mn_cross(a, b).z / 2
                               : mn_dot(mn_cross(a, b), mn_sub(m->node[n[3]], m->node[n[0]])) / 6;
    sum += v;
    *least = fmin(*least, v);
  }
  return sum;
}

/* Volume enclosed by the boundary: equal to the mesh's if facets are outward and complete. */
static double enclosed(mn_context *ctx, const mn_simplex_mesh *m, size_t *facets)
{
  uint32_t *facet = NULL;
  size_t per = (size_t)mn_simplex_nodes(m->corners - 1, m->order);
  double sum = 0;
  CHECK_OK(ctx, mn_simplex_mesh_boundary(ctx, m, &facet, facets));
  for (size_t f = 0; f < *facets; f++) {
    mn_vec3 a = m->node[facet[f * per]], b = m->node[facet[f * per + 1]];
    sum += m->corners == 3 ? mn_cross(a, b).z / 2
                           : mn_dot(a, mn_cross(b, m->node[facet[f * per + 2]])) / 6;
    if (m->order == 2) { /* the first middle is between the first two corners */
      mn_vec3 middle = m->node[facet[f * per + (size_t)m->corners - 1]];
      CHECK_LE(mn_length(mn_sub(middle, mn_scale(0.5, mn_add(a, b)))), 1e-15);
    }
  }
  mn_free(facet);
  return sum;
}

static void examine(mn_context *ctx, mn_simplex_mesh *m, double exact, size_t facets)
{
  mn_simplex_mesh q;
  double least;
  size_t count;
  CHECK_NEAR(volume(m, &least), exact, 1e-12);
  CHECK_GE(least, 1e-9);
  CHECK_NEAR(enclosed(ctx, m, &count), exact, 1e-12);
  CHECK(count == facets);
  CHECK_OK(ctx, mn_simplex_mesh_quadratic(ctx, m, &q));
  CHECK_NEAR(volume(&q, &least), exact, 1e-12);
  CHECK_NEAR(enclosed(ctx, &q, &count), exact, 1e-12);
  mn_simplex_mesh_destroy(&q);
  mn_simplex_mesh_destroy(m);
}

static void test_meshes(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_simplex_mesh m;
  int cells[3] = {3, 4, 2};
  CHECK_OK(ctx, mn_mesh_box(ctx, 2, mn_v3(1, 1, 0), mn_v3(2, 1, 0), cells, &m));
  CHECK(m.nodes == 20 && m.elements == 24);
  examine(ctx, &m, 2, 14);
  CHECK_OK(ctx, mn_mesh_box(ctx, 3, mn_v3(1, 1, 0), mn_v3(2, 1, 3), cells, &m));
  examine(ctx, &m, 6, 4 * (12 + 8 + 6));
  CHECK_OK(ctx, mn_mesh_disk(ctx, mn_v3(3, 0, 0), 1, 5, &m));
  examine(ctx, &m, 15 * sin(2 * MN_PI / 30), 30);
  for (int around = 15; around <= 16; around++) { /* diagonals alternate if they can */
    double polygon = around / 2.0 * sin(2 * MN_PI / around);
    CHECK_OK(ctx, mn_mesh_ring(ctx, ZERO, 1, 2, 3, around, &m));
    examine(ctx, &m, 3 * polygon, 2 * (size_t)around);
    CHECK_OK(ctx, mn_mesh_tube(ctx, ZERO, 1, 2, 1.5, 3, around, 4, &m));
    examine(ctx, &m, 4.5 * polygon, (size_t)around * (4 * 4 + 4 * 3));
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_refusals(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_simplex_mesh m;
  int cells[3] = {1, 1, 1};
  uint32_t *facet = NULL;
  size_t count;
  CHECK_OK(ctx, mn_mesh_box(ctx, 2, ZERO, mn_v3(1, 1, 0), cells, &m));
  uint32_t swap = m.element[4];
  m.element[4] = m.element[5];
  m.element[5] = swap;
  CHECK_FAILS(ctx, mn_simplex_mesh_boundary(ctx, &m, &facet, &count), MN_BAD_INPUT,
              "elements 0 and 1 lie on one side");
  mn_free(facet);
  mn_simplex_mesh_destroy(&m);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_meshes),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
