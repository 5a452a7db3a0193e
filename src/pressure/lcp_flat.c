/* The LCP as compressed rows, for the methods that need no grid, and their sweeps. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "pressure/lcp_internal.h"

mn_status mn_rows_reserve(mn_context *ctx, int count, size_t entries, mn_rows *A)
{
  size_t n = (size_t)count;
  MN_TRY(mn_reserve(ctx, "matrix rows", n + 1, sizeof *A->start, &A->buffer[0]));
  MN_TRY(mn_reserve(ctx, "matrix columns", entries, sizeof *A->column, &A->buffer[1]));
  MN_TRY(mn_reserve(ctx, "matrix entries", entries, sizeof *A->value, &A->buffer[2]));
  MN_TRY(mn_reserve(ctx, "matrix diagonal", n, sizeof *A->diagonal, &A->buffer[3]));
  A->count = count;
  A->start = A->buffer[0].data;
  A->column = A->buffer[1].data;
  A->value = A->buffer[2].data;
  A->diagonal = A->buffer[3].data;
  return MN_OK;
}

void mn_rows_free(mn_rows *A)
{
  for (size_t i = 0; i < sizeof A->buffer / sizeof *A->buffer; i++)
    mn_buffer_free(&A->buffer[i]);
  *A = (mn_rows){0};
}

void mn_flat_free(mn_lcp_flat *f)
{
  mn_rows_free(&f->A);
  for (size_t i = 0; i < sizeof f->buffer / sizeof *f->buffer; i++)
    mn_buffer_free(&f->buffer[i]);
  *f = (mn_lcp_flat){0};
}

static mn_status reserve(mn_context *ctx, mn_lcp_flat *f, size_t points, size_t n)
{
  MN_TRY(mn_reserve(ctx, "LCP numbers", points, sizeof *f->number, &f->buffer[0]));
  MN_TRY(mn_reserve(ctx, "LCP points", n, sizeof *f->point, &f->buffer[1]));
  MN_TRY(mn_reserve(ctx, "LCP bounds", n, 1, &f->buffer[2]));
  f->number = f->buffer[0].data;
  f->point = f->buffer[1].data;
  f->bound = f->buffer[2].data;
  double **vectors[] = {&f->weight,  &f->x,       &f->b,       &f->r,       &f->work[0],
                        &f->work[1], &f->work[2], &f->work[3], &f->work[4], &f->work[5]};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
    MN_TRY(mn_reserve(ctx, "LCP vector", n, sizeof(double), &f->buffer[3 + i]));
    *vectors[i] = f->buffer[3 + i].data;
  }
  return MN_OK;
}

static void add(mn_rows *A, int *entry, int column, double coupling)
{
  if (column < 0 || coupling == 0)
    return;
  A->column[*entry] = column;
  A->value[(*entry)++] = -coupling;
}

mn_status mn_lcp_flatten(mn_lcp_solver *v, const mn_lcp_task *t)
{
  mn_lcp_flat *f = &v->flat;
  const mn_lcp *lcp = t->lcp;
  const mn_field *D = &lcp->matrix.diagonal;
  int dim = D->grid->dim;
  size_t n = mn_lcp_unknowns(lcp);
  MN_TRY(reserve(v->ctx, f, D->size, n));
  MN_TRY(mn_rows_reserve(v->ctx, (int)n, n * (size_t)(2 * dim), &f->A));
  int count = 0, entry = 0;
  for (size_t i = 0; i < D->size; i++) {
    f->number[i] = D->data[i] > 0 ? count : -1;
    if (D->data[i] > 0)
      f->point[count++] = (int64_t)i;
  }
  for (int u = 0; u < count; u++) {
    int64_t c = f->point[u];
    f->A.start[u] = entry;
    f->A.diagonal[u] = D->data[c];
    for (int a = dim - 1; a >= 0; a--)
      add(&f->A, &entry, f->number[c - D->stride[a]], lcp->matrix.off[a].data[c]);
    for (int a = 0; a < dim; a++)
      add(&f->A, &entry, f->number[c + D->stride[a]], lcp->matrix.off[a].data[c + D->stride[a]]);
    f->bound[u] = lcp->separating[c];
    f->weight[u] = mn_lcp_weight(D->data[c]);
    f->b[u] = t->b->data[c];
    f->x[u] = t->p->data[c];
  }
  f->A.start[count] = entry;
  return MN_OK;
}

void mn_lcp_unflatten(const mn_lcp_flat *f, mn_field *p)
{
  for (int u = 0; u < f->A.count; u++)
    p->data[f->point[u]] = f->x[u];
}

double mn_flat_residual(const mn_lcp_flat *f)
{
  double worst = 0;
  mn_rows_multiply(&f->A, f->x, f->r);
  for (int u = 0; u < f->A.count; u++) {
    double slack = f->r[u] - f->b[u], wrong = slack;
    f->r[u] = -slack;
    if (f->bound[u])
      wrong = fmin(f->weight[u] * f->x[u], slack);
    worst = fabs(wrong) > worst || isnan(wrong) ? fabs(wrong) : worst;
  }
  return worst;
}

void mn_rows_multiply(const mn_rows *A, const double *x, double *y)
{
  for (int r = 0; r < A->count; r++) {
    double sum = A->diagonal[r] * x[r];
    for (int e = A->start[r]; e < A->start[r + 1]; e++)
      sum += A->value[e] * x[A->column[e]];
    y[r] = A->diagonal[r] > 0 ? sum : 0;
  }
}

void mn_rows_sweep(const mn_rows *A, const unsigned char *bound, const double *b, double omega,
                   int backwards, double *x)
{
  for (int t = 0; t < A->count; t++) {
    int r = backwards ? A->count - 1 - t : t;
    if (!(A->diagonal[r] > 0))
      continue;
    double sum = b[r];
    for (int e = A->start[r]; e < A->start[r + 1]; e++)
      sum -= A->value[e] * x[A->column[e]];
    double next = x[r] + omega * (sum / A->diagonal[r] - x[r]);
    x[r] = bound && bound[r] && next < 0 ? 0 : next;
  }
}
