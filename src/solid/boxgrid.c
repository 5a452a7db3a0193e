/* Sorted grid over boxes. Cells are as wide as the widest ordinary box, so that each lies in at
   most 2^dim of them; boxes four times wider than the mean, or unbounded, are kept apart. */
#include "solid/boxgrid.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { AXIS_BITS = 21 };
static const double LARGE = 4; /* times the mean width */

static double width(const mn_boxgrid *g, uint32_t i)
{
  mn_vec3 d = mn_sub(g->hi[i], g->lo[i]);
  return mn_max(d.x, mn_max(d.y, d.z));
}

static int64_t place(const mn_boxgrid *g, double x, int a)
{
  double s = floor((x - g->origin.v[a]) / g->cell);
  return s > 0 ? (int64_t)mn_min(s, (1 << AXIS_BITS) - 1) : 0; /* NaN: 0 */
}

static uint64_t cell_key(int64_t i, int64_t j, int64_t k)
{
  return ((uint64_t)k << 2 * AXIS_BITS) | ((uint64_t)j << AXIS_BITS) | (uint64_t)i;
}

static int by_cell(const void *a, const void *b)
{
  const mn_boxgrid_entry *p = a, *q = b;
  if (p->cell != q->cell)
    return p->cell < q->cell ? -1 : 1;
  return p->item < q->item ? -1 : p->item > q->item;
}

static int by_number(const void *a, const void *b)
{
  uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
  return p < q ? -1 : p > q;
}

/* Splits off the large ones and chooses the cells. */
static void choose_cells(mn_boxgrid *g)
{
  double sum = 0;
  size_t bounded = 0;
  for (uint32_t i = 0; i < g->count; i++)
    if (isfinite(width(g, i)))
      sum += width(g, i), bounded++;
  double limit = bounded ? LARGE * sum / (double)bounded : 0;
  g->cell = 0, g->large_count = 0;
  g->origin = mn_v3(HUGE_VAL, HUGE_VAL, HUGE_VAL);
  for (uint32_t i = 0; i < g->count; i++) {
    double w = width(g, i);
    if (w < 0)
      continue;
    if (!(w <= limit)) {
      g->large[g->large_count++] = i;
      continue;
    }
    g->cell = mn_max(g->cell, w);
    for (int a = 0; a < 3; a++)
      g->origin.v[a] = mn_min(g->origin.v[a], g->lo[i].v[a]);
  }
  if (!(g->cell > 0))
    g->cell = 1;
}

static mn_status enter(mn_boxgrid *g, uint32_t i)
{
  int64_t a[3], b[3];
  if (!(width(g, i) >= 0)) /* empty: of a body that touches nothing */
    return MN_OK;
  for (int k = 0; k < 3; k++)
    a[k] = place(g, g->lo[i].v[k], k), b[k] = place(g, g->hi[i].v[k], k);
  if (g->entries + 27 > g->capacity) {
    size_t more = 2 * g->capacity + 64;
    MN_TRY(
        mn_grow(g->ctx, "contact cells", g->capacity, more, sizeof *g->entry, (void **)&g->entry));
    g->capacity = more;
  }
  for (int64_t z = a[2]; z <= b[2]; z++)
    for (int64_t y = a[1]; y <= b[1]; y++)
      for (int64_t x = a[0]; x <= b[0]; x++)
        g->entry[g->entries++] = (mn_boxgrid_entry){cell_key(x, y, z), i};
  return MN_OK;
}

mn_status mn_boxgrid_build(mn_boxgrid *g, mn_context *ctx, const mn_vec3 *lo, const mn_vec3 *hi,
                           uint32_t count)
{
  g->ctx = ctx, g->lo = lo, g->hi = hi, g->count = count, g->entries = 0, g->tests = 0;
  if (count > g->items) {
    MN_TRY(mn_grow(ctx, "contact boxes", g->items, count, sizeof *g->large, (void **)&g->large));
    MN_TRY(mn_grow(ctx, "contact boxes", g->items, count, sizeof *g->stamp, (void **)&g->stamp));
    g->items = count;
  }
  choose_cells(g);
  for (uint32_t i = 0, l = 0; i < count; i++) {
    if (l < g->large_count && g->large[l] == i)
      l++;
    else
      MN_TRY(enter(g, i));
  }
  if (g->entries)
    qsort(g->entry, g->entries, sizeof *g->entry, by_cell);
  return MN_OK;
}

static void try_item(mn_boxgrid *g, uint32_t i, mn_vec3 lo, mn_vec3 hi, uint32_t *found,
                     uint32_t *n)
{
  if (g->stamp[i] == g->now)
    return;
  g->stamp[i] = g->now;
  g->tests++;
  for (int a = 0; a < 3; a++)
    if (!(g->lo[i].v[a] <= hi.v[a] && lo.v[a] <= g->hi[i].v[a]))
      return;
  found[(*n)++] = i;
}

uint32_t mn_boxgrid_query(mn_boxgrid *g, mn_vec3 lo, mn_vec3 hi, uint32_t *found)
{
  uint32_t n = 0;
  if (++g->now == 0) {
    memset(g->stamp, 0, g->items * sizeof *g->stamp);
    g->now = 1;
  }
  for (uint32_t l = 0; l < g->large_count; l++)
    try_item(g, g->large[l], lo, hi, found, &n);
  int64_t a[3], b[3];
  double cells = 1;
  for (int k = 0; k < 3; k++) {
    a[k] = place(g, lo.v[k], k), b[k] = place(g, hi.v[k], k);
    cells *= (double)(b[k] - a[k] + 1);
  }
  if (cells > (double)g->count) { /* a wide question: rather try all */
    for (uint32_t i = 0; i < g->count; i++)
      try_item(g, i, lo, hi, found, &n);
  } else
    for (int64_t z = a[2]; z <= b[2]; z++)
      for (int64_t y = a[1]; y <= b[1]; y++)
        for (int64_t x = a[0]; x <= b[0]; x++) {
          uint64_t key = cell_key(x, y, z);
          size_t first = 0, last = g->entries;
          while (first < last) {
            size_t mid = (first + last) / 2;
            if (g->entry[mid].cell < key)
              first = mid + 1;
            else
              last = mid;
          }
          for (; first < g->entries && g->entry[first].cell == key; first++)
            try_item(g, g->entry[first].item, lo, hi, found, &n);
        }
  if (n > 1)
    qsort(found, n, sizeof *found, by_number);
  return n;
}

void mn_boxgrid_destroy(mn_boxgrid *g)
{
  mn_free(g->entry);
  mn_free(g->large);
  mn_free(g->stamp);
  memset(g, 0, sizeof *g);
}
