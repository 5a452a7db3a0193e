/* H of la/aggregates.h, products with it and what it adds to the diagonal.

   Rows are short, a few to some tens of entries: a processor that does not know where a row ends
   loses as much time as the row takes. So they are filled up to multiples of 4 with entries that
   are 0, and stand in order of their length, those with a mass first. The freedoms that faces move
   are few, and far from each other in a body's vectors: products go by vectors of these alone,
   which stay in the nearest cache. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "la/aggregates_level.h"

enum { WIDE = 4, LENGTHS = 64 };

/* ---- values ---------------------------------------------------------------------------------- */

void mn_faces_free(mn_aggregates *a)
{
  void *all[] = {a->h_start, a->h_row, a->h_col, a->h, a->w};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
}

static mn_status make_room(mn_aggregates *a, size_t rows, size_t entries)
{
  size_t most = entries + (WIDE - 1) * rows;
  if (rows + 1 > a->row_room) {
    size_t room = rows + rows / 4 + 1;
    a->row_room = 0;
    MN_TRY(MN_RENEW(a->ctx, "faces of a mesh", room, &a->h_start));
    MN_TRY(MN_RENEW(a->ctx, "faces of a mesh", room, &a->h_row));
    MN_TRY(MN_RENEW(a->ctx, "faces of a mesh", room, &a->w));
    a->row_room = room;
  }
  if (most > a->h_room) {
    a->h_room = 0;
    MN_TRY(MN_RENEW(a->ctx, "faces of a mesh", most + most / 4, &a->h_col));
    MN_TRY(MN_RENEW(a->ctx, "faces of a mesh", most + most / 4, &a->h));
    a->h_room = most + most / 4;
  }
  return MN_OK;
}

/* Where a row belongs: by its length in fours, after those with a mass if it has none. */
static int kind_of(const mn_csr *H, const double *w, int64_t r)
{
  int64_t fours = (H->start[r + 1] - H->start[r] + WIDE - 1) / WIDE;
  int length = fours < LENGTHS ? (int)fours : LENGTHS - 1;
  return (float)w[r] != 0 ? length : LENGTHS + length;
}

static void order_rows(mn_aggregates *a, const mn_csr *H, const double *w)
{
  int32_t first[2 * LENGTHS + 1] = {0};
  for (int64_t r = 0; r < H->rows; r++)
    first[kind_of(H, w, r) + 1]++;
  for (int k = 0; k < 2 * LENGTHS; k++)
    first[k + 1] += first[k];
  a->heavy = first[LENGTHS];
  for (int64_t r = 0; r < H->rows; r++)
    a->h_row[first[kind_of(H, w, r)]++] = (int32_t)r;
}

/* The freedoms that faces move, in the order in which they meet them; number[4 n]. */
static void list_columns(mn_aggregates *a, const mn_csr *H, int32_t *number)
{
  memset(number, -1, 4 * (size_t)a->level[0].n * sizeof *number);
  a->columns = 0;
  for (int64_t e = 0; e < H->start[H->rows]; e++) {
    int32_t place = a->place[H->col[e]];
    if (number[place] >= 0)
      continue;
    number[place] = a->columns;
    a->h_place[a->columns++] = place;
  }
  for (int i = 0; i < WIDE; i++)
    a->h_place[a->columns + i] = 3; /* that is no freedom */
  memset(a->h_x, 0, ((size_t)a->columns + WIDE) * sizeof *a->h_x);
}

mn_status mn_faces_set(mn_aggregates *a, const mn_csr *H, const double *w)
{
  int32_t *number = a->h_number;
  MN_TRY(make_room(a, (size_t)H->rows, (size_t)mn_csr_entries(H)));
  order_rows(a, H, w);
  list_columns(a, H, number);
  a->rows = H->rows;
  int64_t to = 0;
  for (int64_t k = 0; k < a->rows; k++) {
    int32_t r = a->h_row[k];
    a->h_start[k] = to;
    a->w[k] = (float)w[r];
    for (int64_t e = H->start[r]; e < H->start[r + 1]; e++, to++) {
      a->h_col[to] = number[a->place[H->col[e]]];
      a->h[to] = (float)H->value[e];
    }
    for (; to % WIDE; to++) {
      a->h_col[to] = a->columns + (int32_t)(to % WIDE); /* that is no freedom */
      a->h[to] = 0;
    }
  }
  a->h_start[a->rows] = to;
  return MN_OK;
}

void mn_faces_lump(const mn_aggregates *a)
{
  size_t n = 4 * (size_t)a->level[0].n;
  memset(a->lumped, 0, n * sizeof *a->lumped);
  memset(a->v[0], 0, n * sizeof *a->v[0]);
  for (int64_t k = 0; k < a->heavy; k++) {
    float sum = 0, w = a->w[k];
    for (int64_t e = a->h_start[k]; e < a->h_start[k + 1]; e++)
      sum += fabsf(a->h[e]);
    for (int64_t e = a->h_start[k]; e < a->h_start[k + 1]; e++) {
      int32_t place = a->h_place[a->h_col[e]];
      a->v[0][place] += w * a->h[e] * a->h[e];
      a->lumped[place] += w > 0 ? w * fabsf(a->h[e]) * sum : 0;
    }
  }
}

/* ---- products -------------------------------------------------------------------------------- */

static void take_columns(const mn_aggregates *a, const float *x)
{
  for (int32_t c = 0; c < a->columns; c++)
    a->h_x[c] = x[a->h_place[c]];
}

static void add_columns(const mn_aggregates *a, float *y)
{
  for (int32_t c = 0; c < a->columns; c++)
    y[a->h_place[c]] += a->h_y[c];
}

static void clear_columns(const mn_aggregates *a)
{
  memset(a->h_y, 0, ((size_t)a->columns + WIDE) * sizeof *a->h_y);
}

/* H_k x, in four sums that do not wait for each other */
static inline float face_of(const mn_aggregates *a, int64_t k)
{
  const int32_t *col = a->h_col;
  const float *h = a->h, *x = a->h_x;
  float u[WIDE] = {0};
  for (int64_t e = a->h_start[k]; e < a->h_start[k + 1]; e += WIDE)
    for (int i = 0; i < WIDE; i++)
      u[i] += h[e + i] * x[col[e + i]];
  return (u[0] + u[1]) + (u[2] + u[3]);
}

/* y += H_k^T f */
static inline void add_face(const mn_aggregates *a, int64_t k, float f)
{
  const int32_t *col = a->h_col;
  const float *h = a->h;
  float *y = a->h_y;
  for (int64_t e = a->h_start[k]; e < a->h_start[k + 1]; e += WIDE)
    for (int i = 0; i < WIDE; i++)
      y[col[e + i]] += h[e + i] * f;
}

void mn_levels_add_faces(const mn_aggregates *a, const float *x, float *y)
{
  take_columns(a, x);
  clear_columns(a);
  for (int64_t k = 0; k < a->heavy; k++)
    add_face(a, k, a->w[k] * face_of(a, k));
  add_columns(a, y);
}

void mn_faces_press(const mn_aggregates *a, double factor, const double *F, float *y)
{
  memset(y, 0, 4 * (size_t)a->level[0].n * sizeof *y);
  clear_columns(a);
  for (int64_t k = 0; k < a->rows; k++)
    add_face(a, k, (float)(factor * F[a->h_row[k]]));
  add_columns(a, y);
}

void mn_faces_move(const mn_aggregates *a, double factor, const float *x, double *U)
{
  take_columns(a, x);
  for (int64_t k = 0; k < a->rows; k++)
    U[a->h_row[k]] = factor * (double)face_of(a, k);
}

void mn_aggregates_follow_rows(const mn_aggregates *a, double *U)
{
  take_columns(a, a->v[3]);
  for (int64_t k = 0; k < a->rows; k++)
    U[a->h_row[k]] += a->unit * (double)face_of(a, k);
}

/* ---- mobility -------------------------------------------------------------------------------- */

/* Of a row, its entries are those of one node after another's. */
void mn_aggregates_mobility(const mn_aggregates *a, double *open)
{
  for (int64_t k = 0; k < a->rows; k++) {
    double sum = 0;
    for (int64_t e = a->h_start[k], end; e < a->h_start[k + 1] && a->h_col[e] < a->columns;
         e = end) {
      int32_t g = a->h_place[a->h_col[e]] / 4;
      const float *inverse = a->own + 12 * (size_t)g;
      float h[4] = {0}, x[4];
      for (end = e; end < a->h_start[k + 1] && a->h_col[end] < a->columns &&
                    a->h_place[a->h_col[end]] / 4 == g;
           end++)
        h[a->h_place[a->h_col[end]] % 4] = a->h[end];
      for (int i = 0; i < 4; i++)
        x[i] = inverse[i] * h[0] + inverse[4 + i] * h[1] + inverse[8 + i] * h[2];
      sum += (double)(h[0] * x[0] + h[1] * x[1] + h[2] * x[2]);
    }
    open[a->h_row[k]] = sum;
  }
}
