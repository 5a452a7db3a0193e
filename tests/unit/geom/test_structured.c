/* Structured meshes: volumes, boundaries, quadratic nodes; meshes that do not hang together. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "check.h"
#include "geom/fill.h"
#include "geom/structured.h"
#include "math/vec.h"
#include "meniscus/shape.h"

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
  CHECK_OK(ctx, mn_mesh_cylinder(ctx, mn_v3(1, 2, 3), 0.5, 1.5, 3, 4, &m));
  examine(ctx, &m, 1.5 * 0.25 * 9 * sin(2 * MN_PI / 18), 2 * 54 + 2 * 18 * 4);
  CHECK_OK(ctx, mn_mesh_pipe(ctx, mn_v3(1, 2, 3), mn_v3(2, 4, 5), 0.5, 16, 4, &m));
  double area = 0, outward = 0;
  for (size_t t = 0; t < m.elements; t++) {
    const uint32_t *p = m.element + 3 * t;
    mn_vec3 n = mn_scale(
        0.5, mn_cross(mn_sub(m.node[p[1]], m.node[p[0]]), mn_sub(m.node[p[2]], m.node[p[0]])));
    area += mn_length(n);
    outward += mn_dot(n, mn_sub(m.node[p[0]], mn_v3(1.5, 3, 4)));
  }
  CHECK_NEAR(area, 3 * 16 * sin(MN_PI / 16), 1e-12);
  CHECK_NEAR(outward, 3 * 2 * 0.25 * 8 * sin(2 * MN_PI / 16), 1e-12); /* twice the volume */
  mn_simplex_mesh_destroy(&m);
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

/* Closed, of positive elements, the surface where it should be; returns the volume. */
static double examine_round(mn_context *ctx, mn_simplex_mesh *m, const mn_shape *shape,
                            size_t facets, double angles[2])
{
  double least, sum = volume(m, &least), off = 0;
  size_t count, per = 3;
  uint32_t *facet = NULL;
  CHECK_GE(least, 1e-9);
  CHECK_NEAR(enclosed(ctx, m, &count), sum, 1e-12);
  CHECK(count == facets);
  CHECK_OK(ctx, mn_simplex_mesh_boundary(ctx, m, &facet, &count));
  for (size_t i = 0; i < count * per; i++)
    off = fmax(off, fabs(mn_shape_distance(shape, m->node[facet[i]])));
  CHECK_LE(off, 1e-14);
  mn_mesh_quality q = mn_mesh_measure(m);
  printf("%zu nodes, %zu elements, angles %.2f to %.2f\n", m->nodes, m->elements, q.least_angle,
         q.greatest_angle);
  angles[0] = fmin(angles[0], q.least_angle);
  angles[1] = fmax(angles[1], q.greatest_angle);
  mn_free(facet);
  mn_simplex_mesh_destroy(m);
  return sum;
}

/* Balls and tori: volumes of second order, angles far better than those of a filled lattice. */
static void test_round(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_simplex_mesh m;
  mn_shape *shape;
  double h[4], error[4], ball[2] = {180, 0}, torus[2] = {180, 0};
  CHECK_OK(ctx, mn_shape_sphere(ctx, 3, mn_v3(0.1, 0.2, 0.3), 0.5, &shape));
  for (int k = 0; k < 4; k++) {
    int n = 2 << k;
    CHECK_OK(ctx, mn_mesh_ball(ctx, mn_v3(0.1, 0.2, 0.3), 0.5, n, &m));
    h[k] = 1.0 / n;
    error[k] = 4 * MN_PI / 3 * 0.125 - examine_round(ctx, &m, shape, 20 * (size_t)(n * n), ball);
  }
  CHECK_ORDER(h, error, 4, 2, 0.1);
  mn_shape_destroy(&shape);
  mn_vec3 axis = mn_scale(1 / sqrt(14), mn_v3(1, 2, -3));
  CHECK_OK(ctx, mn_shape_torus(ctx, 3, mn_v3(1, 0, 0), axis, 0.5, 0.2, &shape));
  for (int k = 0; k < 3; k++) {
    int n = 2 << k, around = 16 * n;
    CHECK_OK(ctx, mn_mesh_torus(ctx, mn_v3(1, 0, 0), axis, 0.5, 0.2, n, around, &m));
    h[k] = 1.0 / n;
    error[k] = 2 * MN_PI * MN_PI * 0.5 * 0.04 -
               examine_round(ctx, &m, shape, 12 * (size_t)(n * around), torus);
  }
  CHECK_ORDER(h, error, 3, 2, 0.1);
  mn_shape_destroy(&shape);
  CHECK_OK(ctx, mn_shape_torus(ctx, 3, mn_v3(0, 0, 0), mn_v3(0, 1, 0), 0.4, 0.2, &shape));
  CHECK_OK(ctx, mn_mesh_torus(ctx, mn_v3(0, 0, 0), mn_v3(0, 1, 0), 0.4, 0.2, 4, 50, &m));
  (void)examine_round(ctx, &m, shape, 12 * 4 * 50, torus); /* the fattest that bodies use it for */
  CHECK_GE(ball[0], 35);
  CHECK_LE(ball[1], 132);
  CHECK_GE(torus[0], 23);
  CHECK_LE(torus[1], 132);
  CHECK_FAILS(ctx, mn_mesh_ball(ctx, mn_v3(0, 0, 0), 1, 1000000, &m), MN_BAD_INPUT, "nodes");
  mn_shape_destroy(&shape);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* The control: a torus of steps that are too long has bad angles, a shrunk ball the wrong volume.
 */
static void test_round_control(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_simplex_mesh m;
  mn_shape *shape;
  double angles[2] = {180, 0};
  CHECK_OK(ctx, mn_shape_sphere(ctx, 3, mn_v3(0, 0, 0), 0.5, &shape));
  CHECK_OK(ctx, mn_mesh_torus(ctx, mn_v3(0, 0, 0), mn_v3(0, 0, 1), 0.5, 0.2, 8, 12, &m));
  CHECK_GE(mn_mesh_measure(&m).least_angle, 23);
  CHECK_MUST_HAVE_FAILED();
  mn_simplex_mesh_destroy(&m);
  CHECK_OK(ctx, mn_mesh_ball(ctx, mn_v3(0, 0, 0), 0.499, 2, &m));
  (void)examine_round(ctx, &m, shape, 80, angles);
  CHECK_MUST_HAVE_FAILED();
  mn_shape_destroy(&shape);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_meshes),
      cmocka_unit_test(test_round),
      cmocka_unit_test(test_round_control),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
