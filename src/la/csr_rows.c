#include "la/csr_rows.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

void mn_csr_rows_destroy(mn_csr_rows *m)
{
  mn_csr_destroy(&m->a);
  mn_free(m->sum);
  mn_free(m->owner);
  mn_free(m->list);
  *m = (mn_csr_rows){0};
}

static size_t more(size_t n)
{
  return n + n / 4 + 16;
}

static mn_status make_entries(mn_context *ctx, mn_csr_rows *m, size_t entries)
{
  if (entries <= m->entry_room)
    return MN_OK;
  size_t old = m->entry_room, room = more(entries);
  MN_TRY(
      mn_grow(ctx, "columns of a sparse matrix", old, room, sizeof *m->a.col, (void **)&m->a.col));
  MN_TRY(mn_grow(ctx, "values of a sparse matrix", old, room, sizeof *m->a.value,
                 (void **)&m->a.value));
  m->entry_room = room;
  return MN_OK;
}

mn_status mn_csr_rows_begin(mn_context *ctx, mn_csr_rows *m, int64_t rows, int64_t cols)
{
  if ((size_t)rows + 1 > m->row_room) {
    m->row_room = 0;
    MN_TRY(MN_RENEW(ctx, "rows of a sparse matrix", more((size_t)rows), &m->a.start));
    m->row_room = more((size_t)rows);
  }
  if ((size_t)cols > m->col_room) {
    m->col_room = 0;
    MN_TRY(MN_RENEW(ctx, "a row of a sparse matrix", more((size_t)cols), &m->sum));
    MN_TRY(MN_RENEW(ctx, "a row of a sparse matrix", more((size_t)cols), &m->owner));
    MN_TRY(MN_RENEW(ctx, "a row of a sparse matrix", more((size_t)cols), &m->list));
    m->col_room = more((size_t)cols);
  }
  if (cols > 0)
    memset(m->owner, 0, (size_t)cols * sizeof *m->owner);
  m->a.rows = rows;
  m->a.cols = cols;
  m->a.start[0] = 0;
  m->row = m->count = 0;
  return MN_OK;
}

mn_status mn_csr_rows_reserve(mn_context *ctx, mn_csr_rows *m, int64_t entries)
{
  return make_entries(ctx, m, (size_t)entries);
}

/* Shell's sort: rows are short, and of a few hundred at most. */
static void sort(int64_t *a, int64_t n)
{
  static const int64_t gaps[] = {701, 301, 132, 57, 23, 10, 4, 1};
  for (int g = 0; g < 8; g++)
    for (int64_t i = gaps[g]; i < n; i++) {
      int64_t x = a[i], j = i;
      for (; j >= gaps[g] && a[j - gaps[g]] > x; j -= gaps[g])
        a[j] = a[j - gaps[g]];
      a[j] = x;
    }
}

mn_status mn_csr_rows_next(mn_context *ctx, mn_csr_rows *m)
{
  int64_t at = m->a.start[m->row];
  MN_TRY(make_entries(ctx, m, (size_t)(at + m->count)));
  sort(m->list, m->count);
  for (int64_t k = 0; k < m->count; k++) {
    m->a.col[at + k] = m->list[k];
    m->a.value[at + k] = m->sum[m->list[k]];
  }
  m->a.start[++m->row] = at + m->count;
  m->count = 0;
  return MN_OK;
}

mn_status mn_csr_rows_transpose(mn_context *ctx, const mn_csr *a, mn_csr_rows *out)
{
  MN_TRY(mn_csr_rows_begin(ctx, out, a->cols, a->rows));
  MN_TRY(make_entries(ctx, out, (size_t)mn_csr_entries(a)));
  int64_t *start = out->a.start, entries = mn_csr_entries(a);
  memset(start, 0, ((size_t)a->cols + 1) * sizeof *start);
  for (int64_t e = 0; e < entries; e++)
    start[a->col[e] + 1]++;
  for (int64_t j = 0; j < a->cols; j++)
    start[j + 1] += start[j];
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t e = a->start[i]; e < a->start[i + 1]; e++) {
      int64_t to = start[a->col[e]]++;
      out->a.col[to] = i;
      out->a.value[to] = a->value[e];
    }
  for (int64_t j = a->cols; j > 0; j--)
    start[j] = start[j - 1];
  start[0] = 0;
  out->row = a->cols;
  return MN_OK;
}

mn_status mn_csr_rows_product(mn_context *ctx, const mn_csr *a, const mn_csr *b, mn_csr_rows *out)
{
  MN_TRY(mn_csr_rows_begin(ctx, out, a->rows, b->cols));
  for (int64_t i = 0; i < a->rows; i++) {
    for (int64_t e = a->start[i]; e < a->start[i + 1]; e++)
      for (int64_t f = b->start[a->col[e]]; f < b->start[a->col[e] + 1]; f++)
        mn_csr_rows_add(out, b->col[f], a->value[e] * b->value[f]);
    MN_TRY(mn_csr_rows_next(ctx, out));
  }
  return MN_OK;
}
