#include "la/csr.h"

#include "base/memory.h"
#include "base/status.h"

static mn_status create(mn_context *ctx, int64_t rows, int64_t cols, size_t entries, mn_csr *out)
{
  *out = (mn_csr){.rows = rows, .cols = cols};
  mn_status status = MN_OK;
  MN_TRY_GOTO(status, MN_NEW(ctx, "row starts of a sparse matrix", (size_t)rows + 1, &out->start),
              failed);
  MN_TRY_GOTO(status, MN_NEW(ctx, "columns of a sparse matrix", entries, &out->col), failed);
  MN_TRY_GOTO(status, MN_NEW(ctx, "values of a sparse matrix", entries, &out->value), failed);
  return MN_OK;
failed:
  mn_csr_destroy(out);
  return status;
}

void mn_csr_destroy(mn_csr *a)
{
  mn_free(a->start);
  mn_free(a->col);
  mn_free(a->value);
  *a = (mn_csr){0};
}

/* Counts of keys, shifted by one, to the start of each key's run. */
static void prefix_sum(int64_t *start, int64_t keys)
{
  for (int64_t k = 0; k < keys; k++)
    start[k + 1] += start[k];
}

static mn_status check_triplets(mn_context *ctx, int64_t rows, int64_t cols,
                                const mn_triplet *triplets, size_t count)
{
  if (rows < 0 || cols < 0)
    return mn_fail(ctx, MN_BAD_INPUT, "a sparse matrix cannot have %lld x %lld entries",
                   (long long)rows, (long long)cols);
  for (size_t t = 0; t < count; t++) {
    int64_t i = triplets[t].row, j = triplets[t].col;
    if (i < 0 || i >= rows || j < 0 || j >= cols)
      return mn_fail(ctx, MN_BAD_INPUT,
                     "triplet %zu stands at (%lld, %lld), outside the %lld x %lld matrix", t,
                     (long long)i, (long long)j, (long long)rows, (long long)cols);
  }
  return MN_OK;
}

/* Sums neighbours with the same column and closes the gaps; rows become final in place. */
static void merge_duplicates(mn_csr *a)
{
  int64_t to = 0, from = 0;
  for (int64_t i = 0; i < a->rows; i++) {
    int64_t end = a->start[i + 1], first = to;
    for (; from < end; from++) {
      if (to > first && a->col[to - 1] == a->col[from]) {
        a->value[to - 1] += a->value[from];
        continue;
      }
      a->col[to] = a->col[from];
      a->value[to] = a->value[from];
      to++;
    }
    a->start[i + 1] = to;
  }
}

/* A radix sort by column, then by row. Both passes keep the order of equals, so that duplicates
   meet in the order in which they were given. */
mn_status mn_csr_from_triplets(mn_context *ctx, int64_t rows, int64_t cols,
                               const mn_triplet *triplets, size_t count, mn_csr *out)
{
  *out = (mn_csr){0};
  MN_TRY(check_triplets(ctx, rows, cols, triplets, count));
  int64_t *next = NULL, *by_col = NULL;
  mn_status status = create(ctx, rows, cols, count, out);
  size_t keys = (size_t)(rows > cols ? rows : cols) + 1;
  MN_TRY_GOTO(status, status, done);
  MN_TRY_GOTO(status, MN_NEW(ctx, "sorting of triplets", keys, &next), done);
  MN_TRY_GOTO(status, MN_NEW(ctx, "sorting of triplets", count, &by_col), done);

  for (size_t t = 0; t < count; t++)
    next[triplets[t].col + 1]++;
  prefix_sum(next, cols);
  for (size_t t = 0; t < count; t++)
    by_col[next[triplets[t].col]++] = (int64_t)t;

  for (size_t t = 0; t < count; t++)
    out->start[triplets[t].row + 1]++;
  prefix_sum(out->start, rows);
  for (int64_t i = 0; i < rows; i++)
    next[i] = out->start[i];
  for (size_t s = 0; s < count; s++) {
    const mn_triplet *t = &triplets[by_col[s]];
    int64_t at = next[t->row]++;
    out->col[at] = t->col;
    out->value[at] = t->value;
  }
  merge_duplicates(out);
done:
  mn_free(next);
  mn_free(by_col);
  if (status != MN_OK)
    mn_csr_destroy(out);
  return status;
}

mn_status mn_csr_transpose(mn_context *ctx, const mn_csr *a, mn_csr *out)
{
  int64_t entries = mn_csr_entries(a), *next;
  MN_TRY(create(ctx, a->cols, a->rows, (size_t)entries, out));
  mn_status status = MN_NEW(ctx, "transpose of a sparse matrix", (size_t)a->cols + 1, &next);
  if (status != MN_OK) {
    mn_csr_destroy(out);
    return status;
  }
  for (int64_t e = 0; e < entries; e++)
    out->start[a->col[e] + 1]++;
  prefix_sum(out->start, a->cols);
  for (int64_t j = 0; j < a->cols; j++)
    next[j] = out->start[j];
  for (int64_t i = 0; i < a->rows; i++) /* ascending rows become ascending columns */
    for (int64_t e = a->start[i]; e < a->start[i + 1]; e++) {
      int64_t at = next[a->col[e]]++;
      out->col[at] = i;
      out->value[at] = a->value[e];
    }
  mn_free(next);
  return MN_OK;
}

int64_t mn_csr_find(const mn_csr *a, int64_t row, int64_t col)
{
  int64_t lo = a->start[row], hi = a->start[row + 1];
  while (lo < hi) {
    int64_t mid = lo + (hi - lo) / 2;
    if (a->col[mid] < col)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < a->start[row + 1] && a->col[lo] == col ? lo : -1;
}

static inline double row_dot(const mn_csr *a, int64_t i, const double *x)
{
  double sum = 0;
  for (int64_t e = a->start[i], end = a->start[i + 1]; e < end; e++)
    sum += a->value[e] * x[a->col[e]];
  return sum;
}

void mn_csr_multiply(const mn_exec *exec, const mn_csr *a, const double *x, double *y)
{
#pragma omp parallel for schedule(static) num_threads(exec->threads)
  for (int64_t i = 0; i < a->rows; i++)
    y[i] = row_dot(a, i, x);
}

void mn_csr_residual(const mn_exec *exec, const mn_csr *a, const double *b, const double *x,
                     double *r)
{
#pragma omp parallel for schedule(static) num_threads(exec->threads)
  for (int64_t i = 0; i < a->rows; i++)
    r[i] = b[i] - row_dot(a, i, x);
}
