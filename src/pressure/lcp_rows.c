/* Passes over the grid's rows for policy iteration: only what lies between the first and the last
   unknown of a row is touched, slabs are done in parallel, and cells at walls are listed. Sums
   and extremes are formed per slab, so the bits do not depend on the threads.
   Tests: tests/unit/pressure/test_lcp_half_sphere.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "pressure/lcp_internal.h"

static int *row_range(const mn_lcp_passes *w, const mn_field *f, int j, int k)
{
  return w->range + 2 * ((size_t)j + (size_t)f->n[1] * (size_t)k);
}

mn_status mn_lcp_passes_build(mn_context *ctx, mn_lcp_passes *w, const mn_lcp *lcp)
{
  const mn_field *D = &lcp->matrix.diagonal;
  size_t rows = (size_t)D->n[1] * (size_t)D->n[2], slabs = (size_t)mn_slabs(D);
  MN_TRY(mn_reserve(ctx, "row ranges", 2 * rows, sizeof *w->range, &w->buffer[0]));
  MN_TRY(mn_reserve(ctx, "slab values", slabs, sizeof *w->partial, &w->buffer[1]));
  w->range = w->buffer[0].data;
  w->partial = w->buffer[1].data;
  w->unknowns = w->walls = 0;
  int64_t origin = mn_lcp_origin(lcp);
  for (int k = 0; k < D->n[2]; k++)
    for (int j = 0; j < D->n[1]; j++) {
      const double *d = D->at + mn_index(D, 0, j, k);
      int *range = row_range(w, D, j, k), lo = 0, hi = D->n[0];
      while (hi > 0 && !(d[hi - 1] > 0))
        hi--;
      while (lo < hi && !(d[lo] > 0))
        lo++;
      range[0] = lo;
      range[1] = hi;
      const unsigned char *wall = lcp->separating + origin + mn_index(D, 0, j, k);
      for (int i = lo; i < hi; i++) {
        w->unknowns += d[i] > 0;
        w->walls += wall[i];
      }
    }
  MN_TRY(mn_reserve(ctx, "wall cells", w->walls, sizeof *w->wall, &w->buffer[2]));
  w->wall = w->buffer[2].data;
  size_t count = 0;
  for (int k = 0; k < D->n[2]; k++)
    for (int j = 0; j < D->n[1]; j++) {
      const int *range = row_range(w, D, j, k);
      int64_t first = origin + mn_index(D, 0, j, k);
      for (int i = range[0]; i < range[1]; i++)
        if (lcp->separating[first + i])
          w->wall[count++] = first + i;
    }
  return MN_OK;
}

void mn_lcp_passes_free(mn_lcp_passes *w)
{
  for (size_t i = 0; i < sizeof w->buffer / sizeof *w->buffer; i++)
    mn_buffer_free(&w->buffer[i]);
  *w = (mn_lcp_passes){0};
}

/* r = b - A p along [lo, hi) of a row; p is 0 where there is no unknown. */
static void residual_row(const mn_lcp *lcp, const mn_field *b, const mn_field *p, int64_t first,
                         int lo, int hi, double *r)
{
  const mn_stencil *s = &lcp->matrix;
  const double *x = p->at + first, *d = s->diagonal.at + first, *f = b->at + first;
  const double *c0 = s->off[0].at + first, *c1 = s->off[1].at + first;
  int64_t sy = p->stride[1], sz = p->stride[2];
  for (int i = lo; i < hi; i++)
    r[i] = f[i] - d[i] * x[i] + (c0[i] * x[i - 1] + c0[i + 1] * x[i + 1]) +
           (c1[i] * x[i - sy] + c1[i + sy] * x[i + sy]);
  if (p->grid->dim == 3) {
    const double *c2 = s->off[2].at + first;
    for (int i = lo; i < hi; i++)
      r[i] += c2[i] * x[i - sz] + c2[i + sz] * x[i + sz];
  }
  for (int i = lo; i < hi; i++)
    r[i] = d[i] > 0 ? r[i] : 0;
}

/* Greatest |r| over the cells of a row that are no walls. Bit patterns of non-negative numbers are
   ordered like the numbers, with NaN above all: that makes a vector loop. */
static double largest(const double *r, const unsigned char *wall, int lo, int hi)
{
  int64_t worst = 0;
  for (int i = lo; i < hi; i++) {
    int64_t pattern;
    memcpy(&pattern, &r[i], sizeof pattern);
    pattern &= INT64_MAX;
    pattern = wall[i] ? 0 : pattern;
    worst = pattern > worst ? pattern : worst;
  }
  double result;
  memcpy(&result, &worst, sizeof result);
  return result;
}

static double worse(double a, double b)
{
  return !(b <= a) ? b : a; /* NaN wins */
}

/* Greatest |min(weight p, A p - b)| over the walls. */
static double largest_at_walls(const mn_lcp_passes *w, const mn_lcp *lcp, const mn_field *p,
                               const mn_field *r)
{
  double worst = 0;
  for (size_t n = 0; n < w->walls; n++) {
    int64_t c = w->wall[n];
    double x = mn_lcp_weight(lcp->matrix.diagonal.data[c]) * p->data[c], slack = -r->data[c];
    double wrong = fabs(x < slack ? x : slack);
    if (isnan(wrong))
      return wrong;
    worst = worse(worst, wrong);
  }
  return worst;
}

double mn_lcp_passes_residual(const mn_lcp_passes *w, const mn_lcp *lcp, const mn_field *b,
                              const mn_field *p, mn_field *r)
{
  const mn_field *D = &lcp->matrix.diagonal;
  int64_t origin = mn_lcp_origin(lcp);
#pragma omp parallel for schedule(static) num_threads(D->grid->exec->threads)
  for (int s = 0; s < mn_slabs(D); s++) {
    int k, j0, j1;
    double worst = 0;
    mn_slab(D, s, &k, &j0, &j1);
    for (int j = j0; j < j1 && !isnan(worst); j++) {
      const int *range = row_range(w, D, j, k);
      int64_t first = mn_index(D, 0, j, k);
      residual_row(lcp, b, p, first, range[0], range[1], r->at + first);
      worst = worse(worst,
                    largest(r->at + first, lcp->separating + origin + first, range[0], range[1]));
    }
    w->partial[s] = worst;
  }
  double worst = largest_at_walls(w, lcp, p, r);
  for (int s = 0; s < mn_slabs(D); s++)
    if (isnan(w->partial[s]))
      return w->partial[s];
  return worse(mn_reduce(D->grid->exec, MN_MAX, w->partial, mn_slabs(D)), worst);
}
