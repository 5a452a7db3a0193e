/* The water as a closed body: within the domain, out of solids, of the right volume. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "grid/fractions.h"
#include "io/liquid_surface.h"
#include "math/vec.h"

static const mn_vec3 CENTRE = {{0.56, 0.45, 0.52}};
static const double RADIUS = 0.22, LEVEL = 0.53;

/* A pool whose surface is a little tilted, so that it meets the sides and the ball at all heights
   within cells; its distance is cut off as the solver's is. */
static double pool(mn_vec3 x)
{
  return fmin(0.2, x.y - LEVEL - 0.13 * (x.x - 0.5)) / hypot(1, 0.13);
}

static double ball(int dim, mn_vec3 x)
{
  mn_vec3 d = mn_sub(x, CENTRE);
  d.z = dim == 3 ? d.z : 0;
  return mn_length(d) - RADIUS;
}

typedef struct scene {
  mn_grid grid;
  mn_field liquid, solid, volume;
  mn_mac_view view;
} scene;

static void make(mn_context *ctx, int dim, int n, scene *s)
{
  s->grid = mn_grid_make(&ctx->exec, dim, (int[]){n, n, dim == 3 ? n : 1}, 1.0 / n, mn_v3(0, 0, 0));
  CHECK_OK(ctx, mn_field_create(ctx, &s->grid, MN_CELL, "liquid", &s->liquid));
  CHECK_OK(ctx, mn_field_create(ctx, &s->grid, MN_CELL, "volume", &s->volume));
  CHECK_OK(ctx, mn_field_create(ctx, &s->grid, MN_NODE, "solid", &s->solid));
  for (int k = 0; k < s->solid.n[2]; k++)
    for (int j = 0; j < s->solid.n[1]; j++)
      for (int i = 0; i < s->solid.n[0]; i++)
        mn_set(&s->solid, i, j, k, ball(dim, mn_position(&s->solid, i, j, k)));
  mn_cell_fractions(&s->solid, &s->volume);
  for (int k = 0; k < s->liquid.n[2]; k++)
    for (int j = 0; j < s->liquid.n[1]; j++)
      for (int i = 0; i < s->liquid.n[0]; i++) {
        double phi = pool(mn_position(&s->liquid, i, j, k));
        if (!(mn_get(&s->volume, i, j, k) > 0) && phi < 0.5 / n)
          phi = fmin(phi, -0.5 / n); /* as the solver has it in solids */
        mn_set(&s->liquid, i, j, k, phi);
      }
  s->view = (mn_mac_view){
      .grid = &s->grid, .liquid = &s->liquid, .solid = &s->solid, .volume = &s->volume};
}

static void destroy(scene *s)
{
  mn_field_destroy(&s->liquid);
  mn_field_destroy(&s->solid);
  mn_field_destroy(&s->volume);
}

static double enclosed(const mn_contour *c)
{
  double sum = 0;
  for (size_t i = 0; i < c->cells; i++) {
    const int64_t *p = c->index + (size_t)c->dim * i;
    mn_vec3 a = c->x[p[0]], b = c->x[p[1]];
    sum += c->dim == 2 ? 0.5 * (a.x * b.y - a.y * b.x) : mn_dot(a, mn_cross(b, c->x[p[2]])) / 6;
  }
  return sum;
}

/* Water in the domain and out of the ball, by points. */
static double expected(int dim)
{
  enum { N = 160 };
  double inside = 0, count = 0;
  for (int k = 0; k < (dim == 3 ? N : 1); k++)
    for (int j = 0; j < N; j++)
      for (int i = 0; i < N; i++) {
        mn_vec3 x = mn_v3((i + 0.5) / N, (j + 0.5) / N, (k + 0.5) / N);
        inside += pool(x) < 0 && ball(dim, x) > 0;
        count++;
      }
  return inside / count;
}

static int by_ends(const void *a, const void *b)
{
  return memcmp(a, b, 2 * sizeof(int64_t));
}

/* Edges (2D: points) that have not exactly one way there and one back. */
static size_t loose(const mn_contour *c)
{
  size_t d = (size_t)c->dim, count = 0, found = 0, each = d == 3 ? 3 : 2;
  int64_t(*edge)[2] = malloc(each * c->cells * sizeof *edge);
  for (size_t i = 0; i < c->cells; i++)
    for (size_t e = 0; e < each; e++) {
      int64_t from = c->index[d * i + e], to = c->index[d * i + (e + 1) % d];
      edge[count][0] = d == 3 ? (from < to ? from : to) : from;
      edge[count++][1] = d == 3 ? (from < to ? to : from) : 0;
    }
  qsort(edge, count, sizeof *edge, by_ends);
  for (size_t e = 0; e < count;) {
    size_t end = e;
    while (end < count && !memcmp(edge[e], edge[end], sizeof *edge))
      end++;
    found += end - e != 2;
    e = end;
  }
  free(edge);
  return found;
}

typedef struct reach {
  double beyond, into; /* the domain, the ball; cells */
  double off;          /* from all of the sides, the water's surface and the ball, cells */
  double normal;       /* least product of a triangle's normal and those at its points; 3D */
} reach;

static reach measure(const mn_contour *c, double dx)
{
  reach r = {-1, -1, 0, 1};
  for (size_t i = 0; i < c->points; i++) {
    mn_vec3 x = c->x[i];
    double side = -1;
    for (int a = 0; a < c->dim; a++)
      side = fmax(side, fmax(-x.v[a], x.v[a] - 1));
    r.beyond = fmax(r.beyond, side / dx);
    r.into = fmax(r.into, -ball(c->dim, x) / dx);
    r.off = fmax(r.off, fmin(fabs(side), fmin(fabs(pool(x)), fabs(ball(c->dim, x)))) / dx);
  }
  for (size_t i = 0; i < c->cells && c->dim == 3; i++) {
    const int64_t *p = c->index + 3 * i;
    mn_vec3 n = mn_cross(mn_sub(c->x[p[1]], c->x[p[0]]), mn_sub(c->x[p[2]], c->x[p[0]]));
    mn_vec3 mean = mn_add(c->n[p[0]], mn_add(c->n[p[1]], c->n[p[2]]));
    if (mn_length(n) > 1e-3 * dx * dx)
      r.normal = fmin(r.normal, mn_dot(n, mean) / mn_length(n));
  }
  return r;
}

static reach surface(int dim, int n, int solids, double *volume_error)
{
  mn_context *ctx = check_context(1);
  scene s;
  mn_contour c;
  make(ctx, dim, n, &s);
  if (!solids)
    s.view.solid = NULL;
  CHECK_OK(ctx, mn_liquid_surface(ctx, &s.view, &c));
  reach r = measure(&c, s.grid.dx);
  *volume_error = enclosed(&c) / expected(dim) - 1;
  printf("%dD, %d cells: beyond the domain %.1e, into the ball %.3f, off %.3f cells; volume %+.2e, "
         "normals %.2f\n",
         dim, n, r.beyond, r.into, r.off, *volume_error, r.normal);
  CHECK_GE((double)c.cells, 10);
  CHECK_LE((double)loose(&c), 0);
  mn_contour_free(&c);
  destroy(&s);
  mn_context_destroy(&ctx);
  return r;
}

static void check_reach(int dim, int n, int solids, double cells, double volume)
{
  double error;
  reach r = surface(dim, n, solids, &error);
  CHECK_LE(r.beyond, 1e-12);
  CHECK_LE(r.into, cells);
  CHECK_LE(r.off, cells);
  CHECK_LE(fabs(error), volume);
  CHECK_GE(r.normal, -0.2); /* at the edge where water, ball and air meet */
}

static void test_ends_at_sides_and_solids(void **state)
{
  (void)state;
  check_reach(2, 20, 1, 0.1, 0.01);
  check_reach(2, 40, 1, 0.06, 0.003);
  check_reach(3, 20, 1, 0.15, 0.01);
  check_reach(3, 40, 1, 0.075, 0.003);
  CHECK_DONE();
}

static void test_control_without_solids(void **state)
{
  (void)state;
  check_reach(3, 20, 0, 0.15, 0.01);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ends_at_sides_and_solids),
      cmocka_unit_test(test_control_without_solids),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
