/* Surface meshes of shapes: closed, on the surface, of good triangles at the spacing, with corners
   kept; volume and centroid matched; refinement that fits together. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "geom/fill.h"
#include "geom/shape.h"
#include "geom/structured.h"
#include "geom/surface_mesh.h"
#include "solid/mass.h"

static const char CUBE[] = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nv 0 0 1\nv 2 0 1\nv 2 1 1\n"
                           "v 0 1 1\nf 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\n"
                           "f 4 1 5 8\n";

enum { KINDS = 11 };

/* Every kind of shape; NULL where it does not exist in 2D. */
static mn_shape *make(mn_context *ctx, int dim, int kind)
{
  mn_shape *s = NULL, *part[2];
  char path[128];
  FILE *file;
  snprintf(path, sizeof path, "%s/cube.obj", check_folder);
  switch (kind) {
  case 0:
    CHECK_OK(ctx, mn_shape_box(ctx, dim, mn_v3(-0.3, 0.1, 0.2), mn_v3(0.5, 0.5, 0.9), &s));
    CHECK_OK(ctx, mn_shape_transform(ctx, s, mn_v3(3, -2, dim == 3),
                                     dim == 3 ? mn_v3(1, -1, 0.5) : mn_v3(0, 0, 1), 0.7, 1.3, &s));
    break;
  case 1:
    CHECK_OK(ctx, mn_shape_sphere(ctx, dim, mn_v3(0.2, -0.1, 0.3), 0.4, &s));
    break;
  case 2:
    CHECK_OK(ctx,
             mn_shape_capsule(ctx, dim, mn_v3(0.1, 0.2, -0.3), mn_v3(0.5, -0.1, 0.2), 0.2, &s));
    break;
  case 3:
    CHECK_OK(ctx, mn_shape_torus(ctx, dim, mn_v3(0.1, 0, 0.2), mn_v3(1, 2, 2), 0.5, 0.2, &s));
    break;
  case 4: /* a box with half a ball on it */
    CHECK_OK(ctx, mn_shape_box(ctx, dim, mn_v3(-1, -1, -1), mn_v3(1, 0, 1), &part[0]));
    CHECK_OK(ctx, mn_shape_sphere(ctx, dim, mn_v3(0, 0, 0), 0.6, &part[1]));
    CHECK_OK(ctx, mn_shape_union(ctx, part, 2, &s));
    break;
  case 5: /* a notch */
    CHECK_OK(ctx, mn_shape_box(ctx, dim, mn_v3(-1, -1, -1), mn_v3(1, 0.5, 1), &part[0]));
    CHECK_OK(ctx, mn_shape_box(ctx, dim, mn_v3(-0.23, -0.31, -2), mn_v3(0.2, 2, 2), &part[1]));
    CHECK_OK(ctx, mn_shape_difference(ctx, part, 2, &s));
    break;
  case 6: /* a lens */
    CHECK_OK(ctx, mn_shape_sphere(ctx, dim, mn_v3(-0.4, 0, 0), 0.7, &part[0]));
    CHECK_OK(ctx, mn_shape_sphere(ctx, dim, mn_v3(0.4, 0, 0), 0.7, &part[1]));
    CHECK_OK(ctx, mn_shape_intersection(ctx, part, 2, &s));
    break;
  case 7: /* long and thin: six points around it */
    CHECK_OK(ctx, mn_shape_capsule(ctx, dim, mn_v3(0, 0, 0), mn_v3(2, 0, 0), 0.05, &s));
    break;
  case 9: /* a cylinder, a tube */
  case 10:
    if (dim == 2)
      return NULL;
    CHECK_OK(ctx, mn_shape_cylinder(ctx, 3, mn_v3(0.1, 0.2, -0.3), mn_v3(0.5, -0.1, 0.2), 0.3,
                                    kind == 10 ? 0.15 : 0, &s));
    break;
  default:
    if (dim == 2)
      return NULL;
    file = fopen(path, "w");
    fputs(CUBE, file);
    fclose(file);
    CHECK_OK(ctx, mn_shape_mesh(ctx, path, &s));
  }
  return s;
}

typedef struct edge {
  uint32_t low, high;
  int up;
} edge;

static int compare(const void *pa, const void *pb)
{
  const edge *a = pa, *b = pb;
  if (a->low != b->low)
    return a->low < b->low ? -1 : 1;
  return a->high < b->high ? -1 : a->high > b->high;
}

/* Every edge (node in 2D) joins two elements, once in each direction. */
static size_t gaps(const mn_simplex_mesh *m)
{
  size_t n = (size_t)m->dim * m->elements, bad = 0;
  edge *list = malloc(n * sizeof *list);
  for (size_t i = 0; i < n; i++) {
    size_t e = i / (size_t)m->dim, k = i % (size_t)m->dim;
    const uint32_t *c = m->element + (size_t)m->dim * e;
    uint32_t from = c[k], to = m->dim == 2 ? c[k] : c[(k + 1) % 3];
    list[i] = m->dim == 2 ? (edge){from, from, k == 0} : (edge){from, to, 1};
    if (from > to)
      list[i] = (edge){to, from, 0};
  }
  qsort(list, n, sizeof *list, compare);
  for (size_t i = 0; i < n; i += 2)
    bad += i + 1 == n || compare(list + i, list + i + 1) || list[i].up == list[i + 1].up;
  free(list);
  return bad;
}

typedef struct measured {
  double longest, shortest; /* edges */
  double off;               /* of nodes, from the surface */
  double angle;             /* least, degrees */
  double identity, torque;  /* of the areas of nodes */
  double volume;
  mn_vec3 center;
} measured;

static measured measure(const mn_shape *shape, const mn_simplex_mesh *m)
{
  measured r = {.shortest = HUGE_VAL, .angle = 180};
  mn_vec3 *area = malloc(m->nodes * sizeof *area), torque = {{0, 0, 0}};
  mn_mat3 moment = {{{0}}};
  r.volume = mn_surface_volume(m, &r.center);
  for (size_t e = 0; e < m->elements; e++)
    for (int k = 0; k < m->dim; k++) {
      const uint32_t *c = m->element + (size_t)m->dim * e;
      mn_vec3 x = m->node[c[k]], y = m->node[c[(k + 1) % m->dim]];
      double length = mn_length(mn_sub(x, y));
      r.longest = mn_max(r.longest, length), r.shortest = mn_min(r.shortest, length);
    }
  if (m->dim == 3)
    r.angle = mn_mesh_measure(m).least_angle;
  mn_surface_areas(m->dim, m->node, m->nodes, m->element, m->elements, area);
  for (size_t i = 0; i < m->nodes; i++) {
    r.off = mn_max(r.off, fabs(mn_shape_distance(shape, m->node[i])));
    torque = mn_add(torque, mn_cross(m->node[i], area[i]));
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++)
        moment.m[a][b] += area[i].v[a] * m->node[i].v[b];
  }
  for (int a = 0; a < m->dim; a++)
    for (int b = 0; b < m->dim; b++)
      r.identity = mn_max(r.identity, fabs(moment.m[a][b] - (a == b ? r.volume : 0)));
  r.torque = mn_length(torque);
  free(area);
  return r;
}

static void test_shapes(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int dim = 2; dim <= 3; dim++)
    for (int kind = 0; kind < KINDS; kind++) {
      double h = kind == 7 ? 0.07 : dim == 3 ? 0.08 : 0.05;
      mn_shape *shape = make(ctx, dim, kind);
      mn_simplex_mesh m;
      mn_mass mass;
      if (!shape)
        continue;
      CHECK_OK(ctx, mn_shape_surface(ctx, shape, h, &m));
      print_message("dim %d, kind %d: %zu nodes\n", dim, kind, m.nodes);
      int composed = kind >= 4 && kind <= 6;
      CHECK(gaps(&m) == 0);
      measured r = measure(shape, &m);
      CHECK_LE(r.off, composed ? 0.05 * h : 1e-12);
      CHECK_LE(r.longest, (dim == 2 && !composed ? 1.0001 : MN_LONGEST_EDGE) * h);
      CHECK_GE(r.angle, composed ? 5 : 20);
      if (!composed)
        CHECK_GE(r.shortest, 0.3 * h);
      CHECK_OK(ctx, mn_mass_of_shape(ctx, shape, 0, &mass));
      CHECK_NEAR(r.volume / mass.volume, 1, kind == 7 ? 0.25 : 0.04);
      CHECK_OK(ctx, mn_surface_match(ctx, mass.volume, mass.center, &m));
      measured s = measure(shape, &m);
      CHECK_NEAR(s.volume / mass.volume, 1, 1e-13);
      CHECK_LE(mn_length(mn_sub(s.center, mass.center)), 1e-13);
      CHECK_LE(s.identity / s.volume, 1e-13);
      CHECK_LE(s.torque / s.volume, 1e-13);
      CHECK_LE(s.off, 0.15 * h);
      if (kind == 0 || kind == 8)
        CHECK_LE(s.off, 1e-14 + r.off); /* boxes and files are exact: nothing moves */
      mn_simplex_mesh_destroy(&m);
      mn_shape_destroy(&shape);
    }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* The control: before it is matched, a ball's surface bounds too little. */
static void test_unmatched(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_shape *shape = make(ctx, 3, 1);
  mn_simplex_mesh m;
  CHECK_OK(ctx, mn_shape_surface(ctx, shape, 0.08, &m));
  CHECK_NEAR(mn_surface_volume(&m, NULL) / (4 * MN_PI / 3 * 0.064), 1, 1e-9);
  mn_simplex_mesh_destroy(&m);
  mn_shape_destroy(&shape);
  mn_context_destroy(&ctx);
  CHECK_MUST_HAVE_FAILED();
}

/* Corners of boxes are nodes, those of a composition too; the volume of the lens, which has
   curved sides, is of second order. */
static double nearest(const mn_simplex_mesh *m, mn_vec3 x)
{
  double d = HUGE_VAL;
  for (size_t i = 0; i < m->nodes; i++)
    d = mn_min(d, mn_length(mn_sub(m->node[i], x)));
  return d;
}

static void test_corners(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_simplex_mesh m;
  mn_shape *shape;
  CHECK_OK(ctx, mn_shape_box(ctx, 3, mn_v3(0, 0, 0), mn_v3(1, 2, 3), &shape));
  CHECK_OK(ctx, mn_shape_surface(ctx, shape, 0.3, &m));
  for (int c = 0; c < 8; c++)
    CHECK_LE(nearest(&m, mn_v3(c & 1, 2 * (c >> 1 & 1), 3 * (c >> 2))), 0);
  mn_simplex_mesh_destroy(&m);
  mn_shape_destroy(&shape);
  shape = make(ctx, 2, 5);
  static const mn_vec3 NOTCH[8] = {{{-1, -1, 0}},     {{1, -1, 0}},      {{1, 0.5, 0}},
                                   {{0.2, 0.5, 0}},   {{0.2, -0.31, 0}}, {{-0.23, -0.31, 0}},
                                   {{-0.23, 0.5, 0}}, {{-1, 0.5, 0}}};
  CHECK_OK(ctx, mn_shape_surface(ctx, shape, 0.07, &m));
  for (int c = 0; c < 8; c++)
    CHECK_LE(nearest(&m, NOTCH[c]), 1e-8);
  CHECK_NEAR(mn_surface_volume(&m, NULL), 3 - 0.43 * 0.81, 1e-8);
  mn_simplex_mesh_destroy(&m);
  mn_shape_destroy(&shape);
  shape = make(ctx, 3, 5);
  CHECK_OK(ctx, mn_shape_surface(ctx, shape, 0.07, &m));
  for (int c = 0; c < 16; c++)
    CHECK_LE(nearest(&m, mn_v3(NOTCH[c % 8].x, NOTCH[c % 8].y, c < 8 ? -1 : 1)), 1e-8);
  double sharp = fabs(mn_surface_volume(&m, NULL) / (2 * (3 - 0.43 * 0.81)) - 1), blunt;
  mn_simplex_mesh_destroy(&m);
  mn_simplex_mesh full;
  CHECK_OK(ctx, mn_fill(ctx, shape, 0.07, &full));
  CHECK_OK(ctx, mn_surface_of_mesh(ctx, &full, &m));
  blunt = fabs(mn_surface_volume(&m, NULL) / (2 * (3 - 0.43 * 0.81)) - 1);
  CHECK_LE(sharp, 1e-5);
  CHECK_GE(blunt, 1e-4); /* control: the filling alone cuts edges off */
  mn_simplex_mesh_destroy(&full);
  mn_simplex_mesh_destroy(&m);
  mn_shape_destroy(&shape);
  double h[3], error[3], area = 2 * (0.49 * acos(0.4 / 0.7) - 0.4 * sqrt(0.49 - 0.16));
  for (int i = 0; i < 3; i++) {
    shape = make(ctx, 2, 6);
    h[i] = 0.1 / (1 << i);
    CHECK_OK(ctx, mn_shape_surface(ctx, shape, h[i], &m));
    error[i] = fabs(mn_surface_volume(&m, NULL) / area - 1);
    mn_simplex_mesh_destroy(&m);
    mn_shape_destroy(&shape);
  }
  CHECK_ORDER(h, error, 3, 2, 0.5);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* A box and a file, turned twice: the same surface, turned; corners stay, volumes are exact. */
static void test_turned(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int dim = 2; dim <= 3; dim++)
    for (int file = 0; file < dim - 1; file++) {
      mn_shape *s;
      mn_simplex_mesh m;
      mn_vec3 axis = dim == 3 ? mn_v3(0, 1, 0) : mn_v3(0, 0, 1);
      if (file)
        s = make(ctx, 3, 8);
      else
        CHECK_OK(ctx, mn_shape_box(ctx, dim, mn_v3(0, 0, 0), mn_v3(2, 1, 1), &s));
      CHECK_OK(ctx, mn_shape_transform(ctx, s, mn_v3(0, 0, 0), axis, 0.4, 0.5, &s));
      CHECK_OK(ctx, mn_shape_transform(ctx, s, mn_v3(1, 3, 0), axis, 0.3, 1, &s));
      CHECK_OK(ctx, mn_shape_surface(ctx, s, 0.13, &m));
      CHECK_NEAR(mn_surface_volume(&m, NULL) / (2 * pow(0.5, dim)), 1, 1e-13);
      for (int c = 0; c < 1 << dim; c++) {
        double x = c & 1, y = 0.5 * (c >> 1 & 1), z = 0.5 * (c >> 2), co = cos(0.7), si = sin(0.7);
        mn_vec3 at = dim == 3 ? mn_v3(1 + co * x + si * z, 3 + y, co * z - si * x)
                              : mn_v3(1 + co * x - si * y, 3 + si * x + co * y, 0);
        CHECK_LE(nearest(&m, at), 1e-14);
      }
      mn_simplex_mesh_destroy(&m);
      mn_shape_destroy(&s);
    }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* A sheet of uneven triangles cut finer: areas add up, edges are short, neighbours share points. */
static void test_refine(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const mn_vec3 X[6] = {{{0, 0, 0}},   {{1, 0, 0}},   {{1, 1, 0.2}},
                               {{0, 1, 0.4}}, {{5, 0.5, 1}}, {{9, 9, 9}}};
  static const uint32_t E[9] = {0, 1, 2, 0, 2, 3, 1, 4, 2}; /* node 5 is not used */
  for (double h = 0.7; h > 0.05; h /= 3) {
    mn_refined r;
    CHECK_OK(ctx, mn_surface_refine(ctx, 3, X, 6, E, 3, h, &r));
    mn_vec3 *x = calloc(r.points, sizeof *x), sum = {{0, 0, 0}},
            *at = malloc(r.points * sizeof *at);
    double longest = 0, off = 0;
    size_t open = 0;
    for (size_t i = 0; i < r.points; i++)
      for (int c = 0; c < 3; c++)
        x[i] = mn_madd(x[i], r.weight[i][c], X[E[3 * r.parent[i] + (uint32_t)c]]);
    for (size_t e = 0; e < r.elements; e++)
      for (int c = 0; c < 3; c++)
        longest = mn_max(longest, mn_length(mn_sub(x[r.element[3 * e + (size_t)c]],
                                                   x[r.element[3 * e + (size_t)(c + 1) % 3]])));
    mn_surface_areas(3, x, r.points, r.element, r.elements, at);
    for (size_t i = 0; i < r.points; i++)
      sum = mn_add(sum, at[i]);
    for (int t = 0; t < 3; t++) {
      mn_vec3 a =
          mn_cross(mn_sub(X[E[3 * t + 1]], X[E[3 * t]]), mn_sub(X[E[3 * t + 2]], X[E[3 * t]]));
      sum = mn_madd(sum, -0.5, a);
    }
    for (size_t i = 0; i < r.points; i++) /* no two points in one place */
      for (size_t j = 0; j < i; j++)
        open += mn_length(mn_sub(x[i], x[j])) < 1e-9;
    off = mn_length(sum);
    CHECK_LE(longest, h);
    CHECK_LE(off, 1e-13);
    CHECK(open == 0);
    mn_simplex_mesh m = {.dim = 3,
                         .corners = 3,
                         .order = 1,
                         .nodes = r.points,
                         .elements = r.elements,
                         .node = x,
                         .element = r.element};
    CHECK_GE(mn_mesh_measure(&m).least_angle, 5);
    free(x);
    free(at);
    mn_refined_destroy(&r);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_refused(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_shape *shape;
  mn_simplex_mesh m;
  CHECK_OK(ctx, mn_shape_half_space(ctx, 3, mn_v3(0, 0, 0), mn_v3(0, 1, 0), &shape));
  CHECK_FAILS(ctx, mn_shape_surface(ctx, shape, 0.1, &m), MN_BAD_INPUT, "half-space");
  mn_shape_destroy(&shape);
  shape = make(ctx, 3, 1);
  CHECK_FAILS(ctx, mn_shape_surface(ctx, shape, 0, &m), MN_BAD_INPUT, "spacing");
  CHECK_OK(ctx, mn_shape_surface(ctx, shape, 0.2, &m));
  CHECK_FAILS(ctx, mn_surface_match(ctx, 5, mn_v3(0, 0, 0), &m), MN_BAD_INPUT, "too coarse");
  mn_simplex_mesh_destroy(&m);
  mn_shape_destroy(&shape);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Rounding of a sum over many elements is no spacing that is too coarse. */
static void test_fine(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_shape *shape;
  mn_simplex_mesh m;
  CHECK_OK(ctx, mn_shape_box(ctx, 3, mn_v3(0.31, 0.41, 0.42), mn_v3(0.81, 0.49, 0.58), &shape));
  for (double h = 0.005; h > 0.0025; h /= 1.4) {
    CHECK_OK(ctx, mn_shape_surface(ctx, shape, h, &m));
    CHECK_GE((double)m.nodes, 10000);
    CHECK_OK(ctx, mn_surface_match(ctx, 0.0064, mn_v3(0.56, 0.45, 0.5), &m));
    CHECK_NEAR(mn_surface_volume(&m, NULL) / 0.0064, 1, 1e-11);
    mn_simplex_mesh_destroy(&m);
  }
  mn_shape_destroy(&shape);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shapes),  cmocka_unit_test(test_unmatched),
      cmocka_unit_test(test_corners), cmocka_unit_test(test_turned),
      cmocka_unit_test(test_refine),  cmocka_unit_test(test_refused),
      cmocka_unit_test(test_fine)};
  return cmocka_run_group_tests(tests, check_folder_make, check_folder_remove);
}
