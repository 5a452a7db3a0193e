/* Interfaces for tests: polygons and triangle surfaces, closed or two-sided. */
#ifndef MN_TESTS_GRID_SURFACES_H
#define MN_TESTS_GRID_SURFACES_H

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "geom/closest.h"
#include "grid/immersed.h"
#include "math/vec.h"

/* A body of an interface under construction: its points from `point` on, elements from `element`.
 */
typedef struct part {
  mn_interface *f;
  size_t point, element;
  int body, two_sided;
} part;

static inline void set_point(part *p, size_t i, mn_vec3 x)
{
  p->f->X[p->point + i] = x;
  p->f->body[p->point + i] = p->body;
  p->f->two_sided[p->point + i] = (uint8_t)p->two_sided;
}

static inline void set_element(part *p, size_t e, size_t a, size_t b, size_t c)
{
  uint32_t *to = p->f->element + (size_t)p->f->dim * (p->element + e);
  to[0] = (uint32_t)(p->point + a);
  to[1] = (uint32_t)(p->point + b);
  if (p->f->dim == 3)
    to[2] = (uint32_t)(p->point + c);
}

/* A closed polygon through the points p->point to p->point + n - 1. */
static inline void join_polygon(part *p, size_t n)
{
  for (size_t i = 0; i < n; i++)
    set_element(p, i, i, (i + 1) % n, 0);
}

/* n points on a circle, counter-clockwise: the body is inside. n < 0: clockwise, a hole. */
static inline void set_circle(part *p, mn_vec3 centre, double radius, int n)
{
  size_t count = (size_t)abs(n);
  for (size_t i = 0; i < count; i++) {
    double t = 2 * MN_PI * (double)i / n;
    set_point(p, i, mn_madd(centre, radius, mn_v3(cos(t), sin(t), 0)));
  }
  join_polygon(p, count);
}

/* A sphere of 4 n^2 triangles between two poles: n rings of 2 n. */
static inline size_t sphere_points(size_t n)
{
  return 2 + (n - 1) * 2 * n;
}
static inline size_t sphere_elements(size_t n)
{
  return 4 * n * (n - 1);
}
static inline void set_sphere(part *p, mn_vec3 centre, double radius, size_t n)
{
  size_t e = 0, m = 2 * n, last = 2 + (n - 2) * m;
  set_point(p, 0, mn_madd(centre, radius, mn_v3(0, 0, 1)));
  set_point(p, 1, mn_madd(centre, radius, mn_v3(0, 0, -1)));
  for (size_t i = 1; i < n; i++)
    for (size_t j = 0; j < m; j++) {
      double t = MN_PI * (double)i / (double)n, s = MN_PI * (double)j / (double)n;
      set_point(p, 2 + (i - 1) * m + j,
                mn_madd(centre, radius, mn_v3(sin(t) * cos(s), sin(t) * sin(s), cos(t))));
    }
  for (size_t j = 0; j < m; j++) {
    size_t next = (j + 1) % m;
    set_element(p, e++, 0, 2 + j, 2 + next);
    set_element(p, e++, 1, last + next, last + j);
    for (size_t i = 0; i + 2 < n; i++) {
      size_t a = 2 + i * m, b = a + m;
      set_element(p, e++, a + j, b + j, b + next);
      set_element(p, e++, a + j, b + next, a + next);
    }
  }
  assert_int_equal(e, sphere_elements(n));
}

/* A box of 8 points and 12 triangles. */
static inline void set_box(part *p, mn_vec3 lo, mn_vec3 hi)
{
  static const int quad[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                 {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  for (size_t c = 0; c < 8; c++)
    set_point(p, c, mn_v3(c & 1 ? hi.x : lo.x, c & 2 ? hi.y : lo.y, c & 4 ? hi.z : lo.z));
  for (size_t q = 0; q < 6; q++) {
    const int *v = quad[q];
    set_element(p, 2 * q, (size_t)v[0], (size_t)v[1], (size_t)v[2]);
    set_element(p, 2 * q + 1, (size_t)v[0], (size_t)v[2], (size_t)v[3]);
  }
}

/* How often the interface's elements of one kind wind around x: 1 within a closed surface. By the
   sum of angles, in doubles. */
static inline double winding_number(const mn_interface *f, int two_sided, mn_vec3 x)
{
  double sum = 0;
  for (size_t e = 0; e < f->elements; e++) {
    const uint32_t *p = f->element + (size_t)f->dim * e;
    if (f->two_sided[p[0]] != two_sided)
      continue;
    mn_vec3 a = mn_sub(f->X[p[0]], x), b = mn_sub(f->X[p[1]], x);
    if (f->dim == 2) {
      sum += atan2(a.x * b.y - a.y * b.x, mn_dot(a, b)) / (2 * MN_PI);
    } else { /* van Oosterom and Strackee 1983 */
      mn_vec3 c = mn_sub(f->X[p[2]], x);
      double la = mn_length(a), lb = mn_length(b), lc = mn_length(c);
      sum += atan2(mn_dot(a, mn_cross(b, c)),
                   la * lb * lc + mn_dot(a, b) * lc + mn_dot(b, c) * la + mn_dot(c, a) * lb) /
             (2 * MN_PI);
    }
  }
  return sum;
}

/* ---- an interface on a grid -------------------------------------------------------------------
 */

typedef struct setup {
  mn_context *ctx;
  mn_grid grid;
  mn_interface f;
  mn_immersed *im;
} setup;

static inline void make(setup *s, int threads, int dim, const int cells[3], double dx,
                        mn_vec3 origin, size_t points, size_t elements)
{
  s->ctx = check_context(threads);
  s->grid = mn_grid_make(&s->ctx->exec, dim, cells, dx, origin);
  CHECK_OK(s->ctx, mn_interface_create(s->ctx, dim, points, elements, &s->f));
  CHECK_OK(s->ctx, mn_immersed_create(s->ctx, &s->grid, &s->im));
}

static inline void drop(setup *s)
{
  mn_immersed_destroy(&s->im);
  mn_interface_destroy(&s->f);
  mn_context_destroy(&s->ctx);
}

static inline double brute_distance(const mn_interface *f, int two_sided, mn_vec3 x)
{
  double least = INFINITY;
  for (size_t e = 0; e < f->elements; e++) {
    const uint32_t *p = f->element + (size_t)f->dim * e;
    mn_vec3 c[3];
    double weight[3];
    if (f->two_sided[p[0]] != two_sided)
      continue;
    for (int a = 0; a < f->dim; a++)
      c[a] = f->X[p[a]];
    least = mn_min(least, mn_closest(f->dim, c, x, weight));
  }
  return sqrt(least);
}

/* Random, self-crossing; with half of the coordinates on centres, nodes and faces. */
static inline void random_shell(setup *s, size_t count, uint64_t *seed, int snapped)
{
  for (size_t i = 0; i < count; i++)
    for (int a = 0; a < s->grid.dim; a++) {
      double x = 0.02 + 0.96 * check_random(seed), dx = s->grid.dx;
      if (snapped && check_random(seed) < 0.75)
        x = s->grid.origin.v[a] + dx * (floor(x / dx) + (check_random(seed) < 0.75 ? 0.5 : 0));
      s->f.X[i].v[a] = x;
    }
}

static inline mn_vec3 random_in_box(uint64_t *seed, int dim, double margin)
{
  mn_vec3 x = {{0}};
  for (int a = 0; a < dim; a++)
    x.v[a] = -margin + (1 + 2 * margin) * check_random(seed);
  return x;
}

/* A shell, partly out of the domain, and a closed body that must not count. */
static inline void shell_and_body(setup *s, uint64_t *seed, int snapped)
{
  int dim = s->grid.dim;
  size_t points = dim == 2 ? 12 : sphere_points(3), elements = dim == 2 ? 12 : sphere_elements(3);
  part shell = {.f = &s->f, .two_sided = 1},
       body = {.f = &s->f, .point = points, .element = elements, .body = 1};
  if (dim == 2) {
    set_circle(&shell, mn_v3(0, 0, 0), 1, 12);
    set_circle(&body, mn_v3(0.5, 0.6, 0), 0.3, 12);
  } else {
    set_sphere(&shell, mn_v3(0, 0, 0), 1, 3);
    set_sphere(&body, mn_v3(0.5, 0.6, 0.5), 0.3, 3);
  }
  random_shell(s, points, seed, snapped);
  for (size_t i = 0; i < points; i++)
    if (check_random(seed) < 0.2)
      s->f.X[i] = random_in_box(seed, dim, 0.6);
}

#endif
