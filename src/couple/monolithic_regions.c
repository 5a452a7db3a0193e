/* Constants of the pressure that L does not see, in closed regions: who tells them.

   With d_r the area of a face through which region r loses what flows along its axis, freedom f
   changes the volume of the region by h_rf = sum over faces d_r (W E)_f. Where bodies give way (h
   is of the size of its terms) the equations tell p0. Else:

       a body wholly inside: h is what the faces miss of its volume. The walls of the region are
       given a freedom of their own, the breath l: all faces move into the region by l, which mends
       what is missed as the fluid alone does (fluid/mac/compatible.c), and asks in turn that the
       forces on the faces sum to 0, which tells the constant. Momentum is kept: the normals of a
       closed surface sum to 0.

       two regions with bodies only in common (a cloth across a closed box): their rows depend on
       each other, and one cell is pinned to p = 0; so it is where there are no bodies at all. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/monolithic_system.h"

/* h below this part of its terms is what the faces miss; what is left of a row beside those before
   it, of its size, is rounding. */
static const double MISSED = 0.05, SPANNED = 1e-9;

int32_t mn_mono_regions(const mn_mono_system *s)
{
  int32_t regions = 0;
  for (size_t i = 0; i < s->cells && s->fluid.region; i++)
    regions = s->fluid.region[i] >= regions ? s->fluid.region[i] + 1 : regions;
  return regions;
}

/* d_r of a row's face. */
static double outflow(const mn_mono_system *s, int32_t g, size_t row)
{
  const int32_t *at = &s->fluid.cell[2 * row];
  int below = at[0] >= 0 && s->fluid.region[at[0]] == g;
  int above = at[1] >= 0 && s->fluid.region[at[1]] == g;
  return (below - above) * s->fluid.area[row];
}

double mn_mono_breath(const mn_mono_system *s, int32_t g, size_t row)
{
  double d = outflow(s, g, row);
  return d > 0 ? -1 : d < 0 ? 1 : 0;
}

static size_t more(size_t n)
{
  return n + n / 8 + 16;
}

static mn_status pin(mn_mono_system *s, int32_t g)
{
  int64_t cell = 0;
  while (cell < (int64_t)s->cells && s->fluid.region[cell] != g)
    cell++;
  if (cell == (int64_t)s->cells)
    return MN_OK;
  if (s->pins == s->pin_room) {
    size_t room = more(s->pins);
    MN_TRY(mn_grow(s->ctx, "pinned cells", s->pins, room, sizeof *s->pinned, (void **)&s->pinned));
    s->pin_room = room;
  }
  s->pinned[s->pins++] = cell;
  return MN_OK;
}

static mn_status breathe(mn_mono_system *s, int32_t g)
{
  if (s->breaths == s->breath_room) {
    size_t room = more(s->breaths);
    MN_TRY(mn_grow(s->ctx, "regions", s->breaths, room, sizeof *s->breath, (void **)&s->breath));
    s->breath_room = room;
  }
  s->breath[s->breaths++] = g;
  return MN_OK;
}

static double dot(size_t n, const double *a, const double *b)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

/* h_r without what is missed, the sizes of its terms in `size`; the area of its walls. */
static double sum_region(const mn_mono_system *s, int32_t g, double *row, double *size)
{
  const mn_csr *WE = &s->WE.a;
  double area = 0;
  memset(row, 0, s->own * sizeof *row);
  memset(size, 0, s->own * sizeof *size);
  for (int64_t r = 0; r < WE->rows; r++) {
    double d = outflow(s, g, (size_t)r);
    area += fabs(d);
    for (int64_t e = WE->start[r]; e < WE->start[r + 1] && d != 0; e++) {
      row[WE->col[e]] += d * WE->value[e];
      size[WE->col[e]] += fabs(d * WE->value[e]);
    }
  }
  for (size_t i = 0; i < s->own; i++)
    row[i] = fabs(row[i]) > MISSED * size[i] ? row[i] : 0;
  return area;
}

mn_status mn_mono_find_constants(mn_mono_system *s)
{
  int32_t regions = mn_mono_regions(s);
  size_t kept = 0, n = s->own, need = ((size_t)regions + 1) * n;
  s->pins = s->breaths = 0;
  if (need > s->region_room) {
    s->region_room = 0;
    MN_TRY(MN_RENEW(s->ctx, "rows of regions", need, &s->region_rows));
    s->region_room = need;
  }
  for (int32_t g = 0; g < regions; g++) {
    double *row = s->region_rows + kept * n, *size = s->region_rows + (size_t)regions * n;
    double area = sum_region(s, g, row, size), whole = sqrt(dot(n, row, row));
    for (int pass = 0; pass < 2; pass++) /* twice is enough to be orthogonal */
      for (size_t k = 0; k < kept; k++) {
        const double *q = s->region_rows + k * n;
        double part = dot(n, q, row);
        for (size_t j = 0; j < n; j++)
          row[j] -= part * q[j];
      }
    double length = sqrt(dot(n, row, row));
    if (whole == 0 && area > 0)
      MN_TRY(breathe(s, g));
    else if (!(length > SPANNED * whole))
      MN_TRY(pin(s, g));
    else {
      for (size_t j = 0; j < n; j++)
        row[j] /= length;
      kept++;
    }
  }
  return MN_OK;
}
