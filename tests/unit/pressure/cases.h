/* Random pressure systems, and the dense matrix written from the definition in pressure.h. */
#ifndef MN_TESTS_PRESSURE_CASES_H
#define MN_TESTS_PRESSURE_CASES_H

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "check.h"
#include "pressure/pressure.h"
#include "pressure/stencil.h"

typedef struct test_case {
  mn_context *ctx;
  mn_grid grid;
  mn_field open[3], liquid, anchor, b, p;
  mn_pressure_geometry geometry;
} test_case;

typedef enum case_kind {
  CASE_OPEN,    /* an open side */
  CASE_CLOSED,  /* no opening at all */
  CASE_SURFACE, /* a level set */
  CASE_WALLS,   /* closed, cut into several regions by walls of closed faces */
  CASE_ANCHORED /* closed, but for links of some cells at walls to p = 0 */
} case_kind;

static inline double uniform(uint64_t *seed, double lo, double hi)
{
  return lo + (hi - lo) * check_random(seed);
}

/* Links to p = 0 of a third of the cells with both an open and a closed face; seed 0: none. */
static inline void case_anchor(test_case *t, uint64_t seed)
{
  const int *n = t->grid.n;
  for (int c = 0; c < n[0] * n[1] * n[2] && seed; c++) {
    int i = c % n[0], j = c / n[0] % n[1], k = c / n[0] / n[1];
    double least = 1, most = 0;
    for (int side = 0; side < 2 * t->grid.dim; side++) {
      int at[3] = {i, j, k};
      at[side / 2] += side & 1;
      double w = mn_get(&t->open[side / 2], at[0], at[1], at[2]);
      least = fmin(least, w);
      most = fmax(most, w);
    }
    if (least < 1 && most > 0 && check_random(&seed) < 0.3)
      mn_set(&t->anchor, i, j, k, uniform(&seed, 0.5, 20));
  }
}

/* Fractions: mostly 1, some 0, some between; smooth blobs of liquid. */
static inline void case_create(test_case *t, int threads, int dim, const int n[3], case_kind kind,
                               uint64_t seed)
{
  *t = (test_case){.ctx = check_context(threads)};
  t->grid = mn_grid_make(&t->ctx->exec, dim, n, 1.0 / n[0], mn_v3(0, 0, 0));
  const mn_grid *g = &t->grid;
  for (int a = 0; a < dim; a++)
    CHECK_OK(t->ctx, mn_field_create(t->ctx, g, (mn_place)a, "open", &t->open[a]));
  CHECK_OK(t->ctx, mn_field_create(t->ctx, g, MN_CELL, "liquid", &t->liquid));
  CHECK_OK(t->ctx, mn_field_create(t->ctx, g, MN_CELL, "anchor", &t->anchor));
  CHECK_OK(t->ctx, mn_field_create(t->ctx, g, MN_CELL, "b", &t->b));
  CHECK_OK(t->ctx, mn_field_create(t->ctx, g, MN_CELL, "p", &t->p));
  int wall = 1 + (int)(check_random(&seed) * (n[0] - 1));
  for (int a = 0; a < dim; a++)
    for (int k = 0; k < t->open[a].n[2]; k++)
      for (int j = 0; j < t->open[a].n[1]; j++)
        for (int i = 0; i < t->open[a].n[0]; i++) {
          int at[3] = {i, j, k};
          double r = check_random(&seed), w = r < 0.75 ? 1 : r < 0.85 ? 0 : check_random(&seed);
          int low = at[a] == 0, high = at[a] == n[a];
          if (low || (high && !(kind == CASE_OPEN && a == 0)))
            w = 0;
          if (kind == CASE_WALLS && a == 0 && i == wall)
            w = 0;
          mn_set(&t->open[a], i, j, k, w);
        }
  double phase = uniform(&seed, 0, 6);
  for (int k = 0; k < n[2]; k++)
    for (int j = 0; j < n[1]; j++)
      for (int i = 0; i < n[0]; i++) {
        mn_vec3 x = mn_position(&t->liquid, i, j, k);
        mn_set(&t->liquid, i, j, k, 0.2 * sin(7 * x.x + phase) + 0.2 * cos(9 * x.y - x.z) - 0.1);
      }
  t->geometry = (mn_pressure_geometry){.open = t->open,
                                       .liquid = kind == CASE_SURFACE ? &t->liquid : NULL,
                                       .open_sides = kind == CASE_OPEN ? 2u : 0u,
                                       .theta_min = 0.01,
                                       .anchor = kind == CASE_ANCHORED ? &t->anchor : NULL};
  case_anchor(t, kind == CASE_ANCHORED ? seed : 0);
  /* b = div of a random flux through the open faces: compatible in every region */
  mn_field flux[3];
  for (int a = 0; a < dim; a++) {
    CHECK_OK(t->ctx, mn_field_create(t->ctx, g, (mn_place)a, "flux", &flux[a]));
    for (size_t i = 0; i < flux[a].size; i++)
      flux[a].data[i] = t->open[a].data[i] * uniform(&seed, -1, 1);
  }
  for (int k = 0; k < n[2]; k++)
    for (int j = 0; j < n[1]; j++)
      for (int i = 0; i < n[0]; i++) {
        double sum = 0;
        for (int a = 0; a < dim; a++) {
          const double *f = flux[a].at + mn_index(&flux[a], i, j, k);
          sum += f[flux[a].stride[a]] - f[0];
        }
        mn_set(&t->b, i, j, k, sum / g->dx);
      }
  for (int a = 0; a < dim; a++)
    mn_field_destroy(&flux[a]);
}

static inline void case_destroy(test_case *t)
{
  for (int a = 0; a < 3; a++)
    mn_field_destroy(&t->open[a]);
  mn_field_destroy(&t->liquid);
  mn_field_destroy(&t->anchor);
  mn_field_destroy(&t->b);
  mn_field_destroy(&t->p);
  mn_context_destroy(&t->ctx);
}

static inline int case_cells(const test_case *t)
{
  return t->grid.n[0] * t->grid.n[1] * t->grid.n[2];
}

/* Dense matrix over all cells; rows of cells that are no unknowns are 0. */
static inline double *case_dense(const test_case *t)
{
  const int *n = t->grid.n;
  int m = case_cells(t), step[3] = {1, n[0], n[0] * n[1]};
  double *A = calloc((size_t)m * (size_t)m, sizeof *A), h2 = t->grid.dx * t->grid.dx;
  for (int c = 0; c < m; c++) {
    int at[3] = {c % n[0], c / n[0] % n[1], c / n[0] / n[1]};
    const mn_field *phi = t->geometry.liquid;
    double here = phi ? mn_get(phi, at[0], at[1], at[2]) : -1;
    if (t->geometry.anchor)
      A[c * m + c] += mn_get(t->geometry.anchor, at[0], at[1], at[2]) / h2;
    for (int side = 0; side < 2 * t->grid.dim && here < 0; side++) {
      int a = side / 2, face[3] = {at[0], at[1], at[2]}, other[3] = {at[0], at[1], at[2]};
      face[a] += side & 1;
      other[a] += side & 1 ? 1 : -1;
      double w = mn_get(&t->open[a], face[0], face[1], face[2]) / h2;
      if (other[a] < 0 || other[a] >= n[a]) {
        A[c * m + c] += t->geometry.open_sides >> side & 1 ? 2 * w : 0;
        continue;
      }
      double there = phi ? mn_get(phi, other[0], other[1], other[2]) : -1;
      if (there < 0) {
        A[c * m + c] += w;
        A[c * m + c + (side & 1 ? step[a] : -step[a])] -= w;
      } else {
        A[c * m + c] += w / fmax(t->geometry.theta_min, here / (here - there));
      }
    }
  }
  return A;
}

#endif
