/* The measurement of what an LCP solver returned: residual, least p and slack, complementarity.

   Nothing here comes from a solver but, for fast, which part of a row holds unknowns (the
   classification that the linear solve uses too, regions.c). The slack A p - b is formed anew, from
   the matrix if the problem has one, else from fractions and level set, face by face,

       (A p)_c = 1/dx^2 sum over the faces of w (p_c - p_n),   w p_c / theta towards air,

   in vector loops over the cells of a row; cells at the surface or a side of the domain are done
   one by one. Sums are formed per slab and added in order: the bits do not depend on the threads.
   Tests: tests/unit/pressure/test_lcp_fast.c (both ways agree), test_lcp.c. */
#include <math.h>

#include "base/status.h"
#include "pressure/lcp_fast.h"

enum { BLOCK = 64 }; /* cells at a time */

/* Of one slab. */
typedef struct found {
  double residual, least_p, least_slack, product, pp, bb;
  int active;
} found;

/* A block of cells of a row. */
typedef struct block {
  double slack[BLOCK];
  double unknown[BLOCK]; /* > 0: it is one */
  double wall[BLOCK];    /* > 0: p >= 0 is its condition */
} block;

static void by_matrix(const mn_lcp *lcp, const mn_lcp_task *t, int i, int j, int k, int count,
                      block *out)
{
  const mn_stencil *s = &lcp->matrix;
  int64_t first = mn_index(&s->diagonal, i, j, k);
  const double *d = s->diagonal.at + first, *p = t->p->at + first, *b = t->b->at + first;
  const unsigned char *wall = lcp->separating + mn_lcp_origin(lcp) + first;
  for (int n = 0; n < count; n++) {
    out->slack[n] = d[n] * p[n] - b[n];
    out->unknown[n] = d[n];
    out->wall[n] = wall[n];
  }
  for (int a = 0; a < s->diagonal.grid->dim; a++) {
    int64_t up = s->diagonal.stride[a];
    const double *c = s->off[a].at + first;
    for (int n = 0; n < count; n++)
      out->slack[n] -= c[n] * p[n - up] + c[n + up] * p[n + up];
  }
}

/* One cell at the surface or at a side of the domain. */
static void one_cell(const mn_lcp *lcp, const mn_lcp_task *t, int i, int j, int k, int n,
                     block *out)
{
  const mn_pressure_geometry *g = &lcp->geometry;
  const mn_grid *grid = t->p->grid;
  int wall = 0;
  double p = mn_get(t->p, i, j, k), sum = 0, diagonal = 0;
  double here = g->liquid ? mn_get(g->liquid, i, j, k) : -1;
  for (int side = 0; side < 2 * grid->dim; side++) {
    int a = side / 2, high = side & 1, next[3] = {i, j, k}, face[3] = {i, j, k};
    next[a] += high ? 1 : -1;
    face[a] += high;
    int beyond = next[a] < 0 || next[a] >= grid->n[a];
    double w = mn_get(&g->open[a], face[0], face[1], face[2]);
    w = beyond && !(g->open_sides >> side & 1) ? 0 : fmax(w, 0);
    wall |= w < 1;
    double there = g->liquid && !beyond ? mn_get(g->liquid, next[0], next[1], next[2]) : -1;
    double theta = there >= 0 ? fmax(here / (here - there), g->theta_min) : 1;
    double c = beyond ? 2 * w : w / theta;
    diagonal += c;
    sum += c * (p - (beyond || there >= 0 ? 0 : mn_get(t->p, next[0], next[1], next[2])));
  }
  sum += g->anchor ? mn_get(g->anchor, i, j, k) * p : 0;
  int unknown = here < 0 && diagonal > 0;
  out->unknown[n] = unknown;
  out->wall[n] = wall;
  out->slack[n] = sum / (grid->dx * grid->dx) - mn_get(t->b, i, j, k);
}

static void by_geometry(const mn_lcp *lcp, const mn_lcp_task *t, int i, int j, int k, int count,
                        block *out)
{
  const mn_pressure_geometry *g = &lcp->geometry;
  const mn_grid *grid = t->p->grid;
  const double *p = t->p->at + mn_index(t->p, i, j, k), *b = t->b->at + mn_index(t->b, i, j, k);
  const double *phi = g->liquid ? g->liquid->at + mn_index(g->liquid, i, j, k) : NULL;
  double scale = 1 / (grid->dx * grid->dx), around[BLOCK], least[BLOCK];
  int border = j == 0 || j + 1 == grid->n[1] || (grid->dim == 3 && (k == 0 || k + 1 == grid->n[2]));
  for (int n = 0; n < count; n++) {
    out->slack[n] = out->unknown[n] = 0;
    least[n] = 1;
    around[n] = phi ? phi[n] : -1;
  }
  for (int a = 0; a < grid->dim; a++) {
    const double *low = g->open[a].at + mn_index(&g->open[a], i, j, k);
    const double *high = low + g->open[a].stride[a];
    int64_t up = t->p->stride[a];
    for (int n = 0; n < count; n++) {
      double w0 = low[n], w1 = high[n], l = w0 < w1 ? w0 : w1;
      out->slack[n] += w0 * (p[n] - p[n - up]) + w1 * (p[n] - p[n + up]);
      out->unknown[n] += w0 + w1;
      least[n] = l < least[n] ? l : least[n];
    }
    for (int n = 0; n < count && phi; n++) {
      double x = phi[n - up] > phi[n + up] ? phi[n - up] : phi[n + up];
      around[n] = x > around[n] ? x : around[n];
    }
  }
  if (g->anchor) {
    const double *anchor = g->anchor->at + mn_index(g->anchor, i, j, k);
    for (int n = 0; n < count; n++)
      out->slack[n] += anchor[n] * p[n];
  }
  for (int n = 0; n < count; n++) {
    out->slack[n] = out->slack[n] * scale - b[n];
    out->unknown[n] = phi && !(phi[n] < 0) ? 0 : out->unknown[n];
    out->wall[n] = 1 - least[n];
  }
  for (int n = 0; n < count; n++)
    if (out->unknown[n] > 0 &&
        (border || !(around[n] < 0) || i + n == 0 || i + n + 1 == grid->n[0]))
      one_cell(lcp, t, i + n, j, k, n, out);
  const unsigned char *mark = lcp->separating + (t->p->at - t->p->data) + mn_index(t->p, i, j, k);
  for (int n = 0; n < count && lcp->marked; n++)
    out->wall[n] = mark[n];
}

static void measure_block(const block *x, const double *p, const double *b, int count, found *out)
{
  for (int n = 0; n < count; n++) {
    if (!(x->unknown[n] > 0))
      continue;
    double slack = x->slack[n], wrong = slack;
    if (x->wall[n] > 0) {
      wrong = p[n] < slack || isnan(p[n]) ? p[n] : slack;
      out->active += p[n] <= 0 && slack > 0;
      out->least_p = p[n] < out->least_p ? p[n] : out->least_p;
      out->least_slack = slack < out->least_slack ? slack : out->least_slack;
      out->product += p[n] * slack;
    }
    out->pp += p[n] * p[n];
    out->bb += b[n] * b[n];
    out->residual = !(fabs(wrong) <= out->residual) ? fabs(wrong) : out->residual;
    if (isnan(out->residual))
      return;
  }
}

static found measure_slab(const mn_lcp_solver *v, const mn_lcp_task *t, int slab)
{
  found out = {.least_p = INFINITY, .least_slack = INFINITY};
  int k, j0, j1;
  mn_slab(t->p, slab, &k, &j0, &j1);
  for (int j = j0; j < j1; j++) {
    int lo = 0, hi = t->p->n[0];
    if (v->fast) {
      const int *range = v->fast->regions->range[j + t->p->n[1] * k];
      lo = range[0];
      hi = range[1];
    }
    for (int i = lo; i < hi && !isnan(out.residual); i += BLOCK) {
      block x;
      int count = hi - i < BLOCK ? hi - i : BLOCK;
      (t->lcp->geometry_only ? by_geometry : by_matrix)(t->lcp, t, i, j, k, count, &x);
      measure_block(&x, t->p->at + mn_index(t->p, i, j, k), t->b->at + mn_index(t->b, i, j, k),
                    count, &out);
    }
  }
  return out;
}

mn_status mn_lcp_measure(mn_lcp_solver *v, const mn_lcp_task *t)
{
  mn_lcp_report *out = t->report;
  int slabs = mn_slabs(t->p);
  MN_TRY(mn_reserve(v->ctx, "LCP measurement", (size_t)slabs, sizeof(found), &v->measured));
  found *part = v->measured.data;
#pragma omp parallel for schedule(static) num_threads(v->grid->exec->threads)
  for (int s = 0; s < slabs; s++)
    part[s] = measure_slab(v, t, s);
  double product = 0, pp = 0, bb = 0;
  out->residual = out->active = 0;
  out->least_p = out->least_slack = INFINITY;
  for (int s = 0; s < slabs; s++) {
    out->residual = !(part[s].residual <= out->residual) ? part[s].residual : out->residual;
    out->least_p = fmin(out->least_p, part[s].least_p);
    out->least_slack = fmin(out->least_slack, part[s].least_slack);
    out->active += part[s].active;
    product += part[s].product;
    pp += part[s].pp;
    bb += part[s].bb;
    if (isnan(out->residual))
      break;
  }
  if (!isfinite(out->least_p))
    out->least_p = out->least_slack = 0;
  out->complementarity = pp > 0 && bb > 0 ? fabs(product) / sqrt(pp * bb) : fabs(product);
  return MN_OK;
}
