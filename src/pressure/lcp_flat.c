/* The LCP as compressed rows, for the methods that need no grid, and their sweeps.

   Sweeps go over slabs of two planes, all even ones in parallel, then all odd ones: rows of two
   even slabs are at least three planes apart, and no matrix here couples further than two (P^T A P
   of trilinear and barycentric weights). Hence Gauss-Seidel in a fixed order, the same bits
   for any number of threads. Tests: tests/unit/pressure/test_lcp_half_sphere.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "pressure/lcp_internal.h"

enum { ROWS_PER_THREAD = 2000 }; /* fewer are done before a thread has started */

mn_status mn_rows_reserve(mn_context *ctx, const mn_exec *exec, int planes, const int *plane,
                          size_t entries, mn_rows *A)
{
  size_t n = (size_t)plane[planes];
  A->slabs = (planes + MN_SLAB_PLANES - 1) / MN_SLAB_PLANES;
  MN_TRY(mn_reserve(ctx, "matrix rows", n + 1, sizeof *A->start, &A->buffer[0]));
  MN_TRY(mn_reserve(ctx, "matrix columns", entries, sizeof *A->column, &A->buffer[1]));
  MN_TRY(mn_reserve(ctx, "matrix entries", entries, sizeof *A->value, &A->buffer[2]));
  MN_TRY(mn_reserve(ctx, "matrix diagonal", n, sizeof *A->diagonal, &A->buffer[3]));
  MN_TRY(mn_reserve(ctx, "matrix slabs", (size_t)A->slabs + 1, sizeof *A->slab, &A->buffer[4]));
  A->exec = exec;
  A->count = (int)n;
  A->start = A->buffer[0].data;
  A->column = A->buffer[1].data;
  A->value = A->buffer[2].data;
  A->diagonal = A->buffer[3].data;
  A->slab = A->buffer[4].data;
  for (int s = 0; s < A->slabs; s++)
    A->slab[s] = plane[MN_SLAB_PLANES * s];
  A->slab[A->slabs] = (int)n;
  return MN_OK;
}

void mn_rows_free(mn_rows *A)
{
  for (size_t i = 0; i < sizeof A->buffer / sizeof *A->buffer; i++)
    mn_buffer_free(&A->buffer[i]);
  *A = (mn_rows){0};
}

int mn_rows_threads(const mn_rows *A)
{
  int most = 1 + A->count / ROWS_PER_THREAD;
  return most < A->exec->threads ? most : A->exec->threads;
}

void mn_flat_free(mn_lcp_flat *f)
{
  mn_rows_free(&f->A);
  for (size_t i = 0; i < sizeof f->buffer / sizeof *f->buffer; i++)
    mn_buffer_free(&f->buffer[i]);
  *f = (mn_lcp_flat){0};
}

/* ---- from the grid ------------------------------------------------------------------------- */

static mn_status reserve(mn_context *ctx, mn_lcp_flat *f, size_t points, size_t n, int work)
{
  MN_TRY(mn_reserve(ctx, "LCP numbers", points, sizeof *f->number, &f->buffer[0]));
  MN_TRY(mn_reserve(ctx, "LCP points", n, sizeof *f->point, &f->buffer[1]));
  MN_TRY(mn_reserve(ctx, "LCP bounds", n, 1, &f->buffer[2]));
  f->number = f->buffer[0].data;
  f->point = f->buffer[1].data;
  f->bound = f->buffer[2].data;
  double **vectors[] = {&f->weight,  &f->x,       &f->b,       &f->r,       &f->work[0],
                        &f->work[1], &f->work[2], &f->work[3], &f->work[4], &f->work[5]};
  for (int i = 0; i < 4 + work; i++) {
    MN_TRY(mn_reserve(ctx, "LCP vector", n, sizeof(double), &f->buffer[3 + i]));
    *vectors[i] = f->buffer[3 + i].data;
  }
  return MN_OK;
}

/* First unknown and the one behind the last of row (j, k). */
static const int *range_of(const mn_lcp_solver *v, const mn_field *D, int j, int k)
{
  return v->passes.range + 2 * ((size_t)j + (size_t)D->n[1] * (size_t)k);
}

/* Unknowns of a plane; with number >= 0 also numbers them from there. */
static int number_plane(mn_lcp_solver *v, const mn_field *D, int s, int number)
{
  mn_lcp_flat *f = &v->flat;
  int64_t origin = D->at - D->data;
  int k, j0, j1, count = 0;
  mn_slab(D, s, &k, &j0, &j1);
  for (int j = j0; j < j1; j++) {
    const int *range = range_of(v, D, j, k);
    int64_t first = origin + mn_index(D, 0, j, k);
    for (int64_t c = first + range[0]; c < first + range[1]; c++) {
      if (!(D->data[c] > 0))
        continue;
      if (number >= 0) {
        f->number[c] = number + count;
        f->point[number + count] = c;
      }
      count++;
    }
  }
  return count;
}

static mn_status number_unknowns(mn_lcp_solver *v, const mn_field *D, int work)
{
  mn_lcp_flat *f = &v->flat;
  int planes = mn_slabs(D), threads = D->grid->exec->threads;
  MN_TRY(reserve(v->ctx, f, D->size, v->passes.unknowns, work));
  MN_TRY(mn_reserve(v->ctx, "LCP planes", (size_t)planes + 1, sizeof *f->plane, &f->buffer[13]));
  f->plane = f->buffer[13].data;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int s = 0; s < planes; s++)
    f->plane[s + 1] = number_plane(v, D, s, -1);
  f->plane[0] = 0;
  for (int s = 0; s < planes; s++)
    f->plane[s + 1] += f->plane[s];
  memset(f->number, 0xff, D->size * sizeof *f->number); /* -1 */
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int s = 0; s < planes; s++)
    number_plane(v, D, s, f->plane[s]);
  return MN_OK;
}

/* Entry `e` of row u: a coupling of 0 stands for none, in a row's own column. */
static void set_entry(mn_rows *A, int u, int e, int column, double coupling)
{
  int none = column < 0 || coupling == 0;
  A->column[A->start[u] + e] = none ? u : column;
  A->value[A->start[u] + e] = none ? 0 : -coupling;
}

mn_status mn_lcp_flatten(mn_lcp_solver *v, const mn_lcp_task *t, int work)
{
  mn_lcp_flat *f = &v->flat;
  const mn_lcp *lcp = t->lcp;
  const mn_field *D = &lcp->matrix.diagonal, *off = lcp->matrix.off;
  int dim = D->grid->dim, planes = mn_slabs(D);
  MN_TRY(number_unknowns(v, D, work));
  MN_TRY(mn_rows_reserve(v->ctx, D->grid->exec, planes, f->plane,
                         v->passes.unknowns * (size_t)(2 * dim), &f->A));
  MN_TRY(mn_reserve(v->ctx, "slab values", (size_t)f->A.slabs, sizeof *f->partial, &f->buffer[14]));
  f->partial = f->buffer[14].data;
#pragma omp parallel for schedule(static) num_threads(D->grid->exec->threads)
  for (int u = 0; u < f->A.count; u++) {
    int64_t c = f->point[u];
    f->A.start[u] = 2 * dim * u;
    f->A.diagonal[u] = D->data[c];
    for (int a = 0; a < dim; a++) {
      int64_t up = D->stride[a];
      set_entry(&f->A, u, dim - 1 - a, f->number[c - up], off[a].data[c]);
      set_entry(&f->A, u, dim + a, f->number[c + up], off[a].data[c + up]);
    }
    f->bound[u] = lcp->separating[c];
    f->weight[u] = mn_lcp_weight(D->data[c]);
    f->b[u] = t->b->data[c];
    f->x[u] = t->p->data[c];
  }
  f->A.start[f->A.count] = 2 * dim * f->A.count;
  return MN_OK;
}

void mn_lcp_unflatten(const mn_lcp_flat *f, mn_field *p)
{
  for (int u = 0; u < f->A.count; u++)
    p->data[f->point[u]] = f->x[u];
}

/* ---- products and sweeps ------------------------------------------------------------------- */

/* (A x)_r */
static double row_times(const mn_rows *A, const double *x, int r)
{
  double sum = A->diagonal[r] * x[r];
  for (int e = A->start[r]; e < A->start[r + 1]; e++)
    sum += A->value[e] * x[A->column[e]];
  return sum;
}

double mn_flat_residual(const mn_lcp_flat *f)
{
  const mn_rows *A = &f->A;
#pragma omp parallel for schedule(static) num_threads(mn_rows_threads(A))
  for (int s = 0; s < A->slabs; s++) {
    double worst = 0;
    for (int u = A->slab[s]; u < A->slab[s + 1]; u++) {
      double slack = row_times(A, f->x, u) - f->b[u], wrong = slack;
      f->r[u] = -slack;
      if (f->bound[u])
        wrong = fmin(f->weight[u] * f->x[u], slack);
      worst = mn_worse(worst, wrong);
    }
    f->partial[s] = worst;
  }
  return mn_reduce(A->exec, MN_MAX, f->partial, A->slabs);
}

void mn_rows_multiply(const mn_rows *A, const double *x, double *y)
{
#pragma omp parallel for schedule(static) num_threads(mn_rows_threads(A))
  for (int r = 0; r < A->count; r++)
    y[r] = A->diagonal[r] > 0 ? row_times(A, x, r) : 0;
}

static void relax(const mn_rows *A, const unsigned char *bound, const double *least,
                  const double *b, double omega, int r, double *x)
{
  if (!(A->diagonal[r] > 0))
    return;
  double sum = b[r];
  for (int e = A->start[r]; e < A->start[r + 1]; e++)
    sum -= A->value[e] * x[A->column[e]];
  double next = x[r] + omega * (sum / A->diagonal[r] - x[r]);
  if (bound && bound[r]) {
    double floor = least ? least[r] : 0;
    next = next < floor ? floor : next;
  }
  x[r] = next;
}

void mn_rows_sweep(const mn_rows *A, const unsigned char *bound, const double *least,
                   const double *b, double omega, int backwards, double *x)
{
  for (int colour = 0; colour < 2; colour++) {
    int parity = backwards ? 1 - colour : colour;
#pragma omp parallel for schedule(static) num_threads(mn_rows_threads(A))
    for (int s = parity; s < A->slabs; s += 2) {
      int lo = A->slab[s], hi = A->slab[s + 1];
      for (int t = 0; t < hi - lo; t++)
        relax(A, bound, least, b, omega, backwards ? hi - 1 - t : lo + t, x);
    }
  }
}

/* ---- when to give up ----------------------------------------------------------------------- */

static const double BEYOND = 1e6; /* growth of the residual */

mn_lcp_watch mn_lcp_watch_start(double residual, int patience)
{
  return (mn_lcp_watch){.first = residual, .mark = residual, .patience = patience};
}

int mn_lcp_watch_hopeless(mn_lcp_watch *w, double residual)
{
  if (!isfinite(residual) || residual > BEYOND * (w->first + 1))
    return 1;
  w->since++;
  if (residual <= 0.5 * w->mark) {
    w->mark = residual;
    w->since = 0;
  }
  return w->since >= w->patience;
}
