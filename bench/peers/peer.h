/* What the drivers share: the half-sphere system as rows of seven coefficients, and the output. */
#ifndef MN_BENCH_PEER_H
#define MN_BENCH_PEER_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pressure/problem.h"

/* Seconds of processor time: the peers run on one rank, and the machine may be shared. */
static inline double peer_seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct peer_system {
  mn_context *ctx;
  mn_problem_setup setup;
  int n;
  size_t unknowns;
  int64_t *number;     /* per cell: its unknown, or -1 */
  double *row;         /* 7 per cell, in units of dt/dx^2 = 1: diagonal, then the six sides */
  double *b;           /* per cell, divided by 1/dx^2 */
  unsigned char *wall; /* per cell: an unknown with a face open by less than 1 */
} peer_system;

/* Row of a cell by the definition in pressure/pressure.h; returns the diagonal. */
static inline double peer_row(const mn_problem_setup *s, int i, int j, int k, double row[7])
{
  int at[3] = {i, j, k}, n = s->grid.n[0];
  double here = mn_get(&s->liquid, i, j, k);
  memset(row, 0, 7 * sizeof *row);
  for (int side = 0; side < 6 && here < 0; side++) {
    int a = side / 2, face[3] = {i, j, k}, other[3] = {i, j, k};
    face[a] += side & 1;
    other[a] += side & 1 ? 1 : -1;
    double w = mn_get(&s->open[a], face[0], face[1], face[2]);
    if (at[a] == 0 || at[a] == n - 1 || !(w > 0))
      continue;
    double there = mn_get(&s->liquid, other[0], other[1], other[2]);
    row[1 + side] = there < 0 ? -w : 0;
    row[0] += there < 0 ? w : w / fmax(s->geometry.theta_min, here / (here - there));
  }
  return row[0];
}

static inline int peer_is_wall(const mn_problem_setup *s, int i, int j, int k)
{
  int wall = 0;
  for (int side = 0; side < 6; side++) {
    int face[3] = {i, j, k};
    face[side / 2] += side & 1;
    wall |= mn_get(&s->open[side / 2], face[0], face[1], face[2]) < 1;
  }
  return wall;
}

static inline int peer_create(int n, peer_system *s)
{
  mn_context_def def = mn_context_def_default();
  def.threads = 1;
  *s = (peer_system){.n = n};
  if (mn_context_create(&def, &s->ctx) != MN_OK ||
      mn_problem_create(s->ctx, MN_PROBLEM_HALF_SPHERE_G, n, &s->setup) != MN_OK)
    return 0;
  size_t cells = (size_t)n * (size_t)n * (size_t)n;
  s->number = malloc(cells * sizeof *s->number);
  s->row = malloc(7 * cells * sizeof *s->row);
  s->b = malloc(cells * sizeof *s->b);
  s->wall = malloc(cells);
  if (!s->number || !s->row || !s->b || !s->wall)
    return 0;
  for (int k = 0; k < n; k++)
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) {
        size_t c = (size_t)i + (size_t)n * ((size_t)j + (size_t)n * (size_t)k);
        int unknown = peer_row(&s->setup, i, j, k, s->row + 7 * c) > 0;
        s->number[c] = unknown ? (int64_t)s->unknowns++ : -1;
        s->b[c] = unknown ? mn_get(&s->setup.b, i, j, k) / n / n : 0;
        s->wall[c] = unknown && peer_is_wall(&s->setup, i, j, k);
      }
  return 1;
}

static inline void peer_destroy(peer_system *s)
{
  free(s->number);
  free(s->row);
  free(s->b);
  free(s->wall);
  mn_problem_destroy(&s->setup);
  mn_context_destroy(&s->ctx);
}

/* Greatest |b - A x| in the units of the problem; x per cell. */
static inline double peer_residual(const peer_system *s, const double *x)
{
  int64_t n = s->n, step[6] = {-1, 1, -n, n, -n * n, n * n};
  double worst = 0;
  for (int64_t c = 0; c < n * n * n; c++) {
    const double *row = s->row + 7 * c;
    if (s->number[c] < 0)
      continue;
    double r = s->b[c] - row[0] * x[c];
    for (int side = 0; side < 6; side++)
      r -= row[1 + side] != 0 ? row[1 + side] * x[c + step[side]] : 0;
    worst = fmax(worst, fabs(r));
  }
  return worst * (double)n * (double)n;
}

/* The same of the LCP, |min(p, A p - b)| at walls. With `slack` not NULL: A x - b in its unit. */
static inline double peer_lcp_residual(const peer_system *s, const double *x, double *slack)
{
  int64_t n = s->n, step[6] = {-1, 1, -n, n, -n * n, n * n};
  double worst = 0, scale = (double)n * (double)n;
  for (int64_t c = 0; c < n * n * n; c++) {
    const double *row = s->row + 7 * c;
    if (s->number[c] < 0)
      continue;
    double r = row[0] * x[c] - s->b[c];
    for (int side = 0; side < 6; side++)
      r += row[1 + side] != 0 ? row[1 + side] * x[c + step[side]] : 0;
    slack[c] = r;
    worst = fmax(worst, fabs(s->wall[c] ? fmin(x[c], r * scale) : r * scale));
  }
  return worst;
}

static inline void peer_print(const peer_system *s, const char *solver, int iterations,
                              double setup_s, double solve_s, double residual)
{
  printf(
      "{\"solver\": \"%s\", \"n\": %d, \"unknowns\": %zu, \"iterations\": %d, \"setup_s\": %.6f, "
      "\"solve_s\": %.6f, \"total_s\": %.6f, \"residual\": %.3g}\n",
      solver, s->n, s->unknowns, iterations, setup_s, solve_s, setup_s + solve_s, residual);
}

#endif
