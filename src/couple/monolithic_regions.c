/* Closed regions in the one system: the constants of p that L does not see, and volumes.

   The flow through a region's faces, d^T U with d the areas through which it loses what flows along
   their axes, is not quite the rate N V at which its surfaces sweep: W sees them by points, the
   grid by steps. If the equations of the cells alone told p0, volumes would drift, and p0, which
   bodies would feel by W^T d in place of N, would swing as surfaces pass over the grid. So every
   region that the coupling knows (closed.h) gets unknowns of its own, a border of K':

       l    BREATH   its walls move by l besides, into it: U = H v + Y l, Y = -sign d (in cells
                     that are all but solid less, fluid.wall)
       nu   NET      d^T (H v + Y l) = what its cells let in: its equation is that of l, whose own
                     one says Y^T F = 0, F the forces on faces with p free of p0
       p0   SWEPT    E^T N v = the rate that is asked for; bodies feel p0 N

       | K'       H^T (m/dt) Y     H^T d    E^T N | | v |   | right + B^T p            |
       |          Y^T (m/dt) Y     Y^T d    0     | | l |   | -Y^T (m/dt) (U - before) + (D Y)^T p
       | sym.                      0        0     | |-nu| = | sum of right_cells       |
       |                                    0     | |-p0|   | rate                     |

   The whole is symmetric: the power of p0 is that of the volume. A constant of p changes nothing
   but nu, so that it is free, and p0 is exact whatever is left of the cells' equations. Where water
   may leave walls in the region, p must be whole: then one row, TIED, takes the difference of NET
   and SWEPT, and p0 comes out of p. Where it has left them, there is room, the faces tell p, and no
   volume is asked for: the account says how large the gap is.

   Air and gaps below a cell have no cells: SWEPT alone. Where no p0 moves anything (bodies wholly
   inside, pockets below what the coupling looks at): BREATH and NET, and the forces on the walls
   sum to 0. Regions with walls only in common share what they can do: their rows depend on each
   other, and the last is left out, as is one without walls: a cell is pinned there.

   Without a coupling that knows regions the faces tell p0, where bodies give way by more than what
   faces miss of them. Verified by tests/unit/couple/test_monolithic_system.c,
   tests/verify/test_one_system_closed.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/monolithic_system.h"
#include "math/vec.h"

/* What faces tell of bodies, below this part of its terms, is what they miss; what is left of a row
   beside those before it, of its size, is rounding; and the same for squares. */
static const double MISSED = 0.05, SPANNED = 1e-9, SPANNED_SQUARE = 1e-9;
/* Regions with a border at most: more are pockets, and told by the faces. */
enum { MOST = 48 };

/* ---- sums over a region ---------------------------------------------------------------------- */

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
  double d = outflow(s, g, row), part = s->fluid.wall ? s->fluid.wall[row] : 1;
  return d > 0 ? -part : d < 0 ? part : 0;
}

double mn_mono_net(const mn_mono_system *s, int32_t g)
{
  double sum = 0;
  for (size_t i = 0; i < s->cells; i++)
    sum += s->fluid.region[i] == g ? s->right_cells[i] : 0;
  return sum;
}

double mn_mono_flow_in(const mn_mono_system *s, int32_t g, const double *U)
{
  double sum = 0;
  for (size_t r = 0; r < s->rows; r++)
    sum -= outflow(s, g, r) * U[r];
  return sum;
}

/* d^T Y of two regions: what a breath of b drives out of a. */
static double shared_area(const mn_mono_system *s, int32_t a, int32_t b)
{
  double sum = 0;
  for (size_t r = 0; r < s->rows; r++) {
    double d = outflow(s, a, r);
    sum += d != 0 ? d * mn_mono_breath(s, b, r) : 0;
  }
  return sum;
}

static int has_walls(const mn_mono_system *s, int32_t g)
{
  for (size_t r = 0; r < s->rows; r++)
    if (outflow(s, g, r) != 0)
      return 1;
  return 0;
}

static int has_bound(const mn_mono_system *s, int32_t g)
{
  for (size_t i = 0; i < s->cells && s->fluid.bound; i++)
    if (s->fluid.region[i] == g && s->fluid.bound[i])
      return 1;
  return 0;
}

static int has_held(const mn_mono_system *s, int32_t g)
{
  for (size_t i = 0; i < s->cells && s->fluid.bound; i++)
    if (s->fluid.region[i] == g && s->held[i])
      return 1;
  return 0;
}

int mn_mono_has_cells(const mn_mono_system *s, int32_t g)
{
  for (size_t i = 0; i < s->cells && s->fluid.region; i++)
    if (s->fluid.region[i] == g)
      return 1;
  return 0;
}

static double dot(size_t n, const double *a, const double *b)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

/* ---- lists ----------------------------------------------------------------------------------- */

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

static mn_status add_border(mn_mono_system *s, mn_mono_kind kind, int32_t g, int volume)
{
  if (s->borders == s->border_room) {
    size_t room = more(s->borders);
    MN_TRY(mn_grow(s->ctx, "regions", s->borders, room, sizeof *s->border, (void **)&s->border));
    s->border_room = room;
  }
  s->border[s->borders++] = (mn_mono_border){kind, g, volume};
  return MN_OK;
}

/* A Cholesky factor that grows by a row as long as rows are independent. */
typedef struct growing {
  int count;
  double l[MOST][MOST];
} growing;

/* g: products with those kept, then with itself. 1: it is kept. z <- what of it they span. */
static int grow(growing *f, const double *g, double *z)
{
  int n = f->count;
  double left = g[n];
  for (int i = 0; i < n; i++) {
    z[i] = g[i];
    for (int j = 0; j < i; j++)
      z[i] -= f->l[i][j] * z[j];
    z[i] /= f->l[i][i];
    left -= z[i] * z[i];
  }
  if (n == MOST || !(left > SPANNED_SQUARE * g[n]))
    return 0;
  memcpy(f->l[n], z, (size_t)n * sizeof *z);
  f->l[n][n] = sqrt(left);
  f->count++;
  return 1;
}

/* z <- L^-T z: parts of those kept of which it is the sum. */
static void parts_of(const growing *f, double *z)
{
  for (int i = f->count - 1; i >= 0; i--) {
    for (int j = i + 1; j < f->count; j++)
      z[i] -= f->l[j][i] * z[j];
    z[i] /= f->l[i][i];
  }
}

/* ---- faces tell ------------------------------------------------------------------------------ */

/* h = d^T W E without what is missed, the sizes of its terms in `size`; the area of its walls. */
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

static mn_status breathe(mn_mono_system *s, int32_t g)
{
  MN_TRY(add_border(s, MN_MONO_BREATH, g, -1));
  if (has_bound(s, g))
    return MN_OK;
  MN_TRY(pin(s, g));
  return add_border(s, MN_MONO_NET, g, -1);
}

static mn_status of_faces(mn_mono_system *s, int32_t regions)
{
  size_t kept = 0, n = s->own, need = ((size_t)regions + 1) * n;
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

/* ---- surfaces tell --------------------------------------------------------------------------- */

/* E^T N of a volume. */
static void sweep(const mn_mono_system *s, int volume, double *row)
{
  const mn_sparse_matrix *E = &s->solid.E;
  memset(row, 0, s->own * sizeof *row);
  for (size_t i = 0; i < s->boxes->face.count; i++)
    for (size_t a = 0; a < 3; a++)
      for (int64_t e = E->start[3 * i + a]; e < E->start[3 * i + a + 1]; e++)
        row[E->col[e]] += E->value[e] * s->volume[volume].row[i].v[a];
}

/* Which volumes can be asked for: with a row of their own; shared[] of the others. */
static mn_status of_surfaces(mn_mono_system *s, uint8_t *asked)
{
  growing f = {0};
  int kept[MOST];
  double g[MOST + 1], z[MOST], *rows;
  size_t n = s->own;
  mn_arena_mark mark = mn_arena_save(&s->arena);
  MN_TRY(MN_PUSH(s->ctx, &s->arena, ((size_t)s->volumes + 1) * n, &rows));
  memset(s->shared, 0, sizeof s->shared);
  for (int v = 0; v < s->volumes; v++) {
    double *row = rows + (size_t)f.count * n;
    int count = f.count;
    asked[v] = 0;
    if (!s->volume[v].row)
      continue;
    sweep(s, v, row);
    for (int k = 0; k <= count; k++)
      g[k] = dot(n, rows + (size_t)k * n, row);
    if (grow(&f, g, z)) {
      kept[count] = v;
      asked[v] = 1;
      continue;
    }
    parts_of(&f, z);
    for (int k = 0; k < count; k++)
      s->shared[v][kept[k]] = z[k];
  }
  mn_arena_reset(&s->arena, mark);
  return MN_OK;
}

static int volume_of(const mn_mono_system *s, int32_t g)
{
  for (int v = 0; v < s->volumes; v++)
    if (s->volume[v].grid == g)
      return v;
  return -1;
}

/* Breaths of regions, as far as they are independent. */
static mn_status of_walls(mn_mono_system *s, int32_t regions, uint8_t *asked)
{
  growing f = {0};
  int32_t kept[MOST];
  double g[MOST + 1], z[MOST];
  for (int32_t r = 0; r < regions; r++) {
    int count = f.count, v = volume_of(s, r);
    if (!mn_mono_has_cells(s, r))
      continue;
    if (has_held(s, r)) { /* it has room to give */
      if (v >= 0)
        asked[v] = 0;
      continue;
    }
    for (int k = 0; k < count; k++)
      g[k] = -shared_area(s, kept[k], r);
    g[count] = -shared_area(s, r, r);
    if (count == MOST && g[count] > 0)
      continue; /* told by the faces */
    if (!grow(&f, g, z)) {
      MN_TRY(pin(s, r));
      continue;
    }
    kept[count] = r;
    MN_TRY(add_border(s, MN_MONO_BREATH, r, -1));
    if (has_bound(s, r)) {
      if (v >= 0 && asked[v])
        MN_TRY(add_border(s, MN_MONO_TIED, r, v));
      continue;
    }
    MN_TRY(pin(s, r));
    MN_TRY(add_border(s, MN_MONO_NET, r, v));
  }
  return MN_OK;
}

static mn_status of_coupling(mn_mono_system *s, int32_t regions)
{
  uint8_t asked[MN_MONO_VOLUMES];
  MN_TRY(of_surfaces(s, asked));
  MN_TRY(of_walls(s, regions, asked));
  for (size_t k = 0; k < s->borders; k++)
    if (s->border[k].kind == MN_MONO_TIED)
      asked[s->border[k].volume] = 0;
  for (int v = 0; v < s->volumes; v++)
    if (asked[v])
      MN_TRY(add_border(s, MN_MONO_SWEPT, s->volume[v].grid, v));
  return MN_OK;
}

int mn_mono_parted(const mn_mono_system *s, int rejoined)
{
  int32_t regions = s->told && s->fluid.bound ? mn_mono_regions(s) : 0;
  for (int32_t g = 0; g < regions; g++) {
    int breathes = 0;
    for (size_t k = 0; k < s->borders; k++)
      breathes |= s->border[k].kind == MN_MONO_BREATH && s->border[k].grid == g;
    int held = has_held(s, g);
    if ((held && breathes) ||
        (rejoined && !held && !breathes && has_bound(s, g) && has_walls(s, g)))
      return 1;
  }
  return 0;
}

/* Rows of the border on the freedoms, but for those of breaths, which are H^T (m/dt) Y. */
static mn_status fill_rows(mn_mono_system *s)
{
  const mn_csr *WE = &s->WE.a;
  size_t need = s->borders * s->own;
  if (need > s->border_rows_room) {
    s->border_rows_room = 0;
    MN_TRY(MN_RENEW(s->ctx, "rows of regions", need, &s->border_row));
    s->border_rows_room = need;
  }
  for (size_t k = 0; k < s->borders; k++) {
    const mn_mono_border *b = &s->border[k];
    double *row = s->border_row + k * s->own;
    double part = b->kind == MN_MONO_NET ? 1 : b->kind == MN_MONO_TIED ? -1 : 0;
    if (b->kind == MN_MONO_SWEPT || b->kind == MN_MONO_TIED)
      sweep(s, b->volume, row);
    else
      memset(row, 0, s->own * sizeof *row);
    for (int64_t r = 0; r < WE->rows && part != 0; r++) {
      double d = part * outflow(s, b->grid, (size_t)r);
      for (int64_t e = WE->start[r]; e < WE->start[r + 1] && d != 0; e++)
        row[WE->col[e]] += d * WE->value[e];
    }
  }
  return MN_OK;
}

mn_status mn_mono_find_constants(mn_mono_system *s)
{
  int32_t regions = mn_mono_regions(s);
  s->pins = s->borders = 0;
  if (s->told)
    MN_TRY(of_coupling(s, regions));
  else
    MN_TRY(of_faces(s, regions));
  return fill_rows(s);
}

/* ---- the border ------------------------------------------------------------------------------ */

void mn_mono_border_entries(mn_mono_system *s, size_t at)
{
  size_t own = s->own;
  for (size_t k = 0; k < s->borders && at < own; k++)
    if (s->border_row[k * own + at] != 0)
      mn_csr_rows_add(&s->K, (int64_t)(own + k), s->border_row[k * own + at]);
  if (at < own)
    return;
  const mn_mono_border *b = &s->border[at - own];
  for (size_t i = 0; i < own; i++)
    if (s->border_row[(at - own) * own + i] != 0)
      mn_csr_rows_add(&s->K, (int64_t)i, s->border_row[(at - own) * own + i]);
  for (size_t k = 0; k < s->borders; k++) {
    const mn_mono_border *c = &s->border[k];
    const mn_mono_border *row = b->kind == MN_MONO_BREATH ? c : b; /* the one with a flow */
    if ((b->kind == MN_MONO_BREATH) == (c->kind == MN_MONO_BREATH))
      continue;
    double sign = row->kind == MN_MONO_NET ? 1 : row->kind == MN_MONO_TIED ? -1 : 0;
    double area = sign != 0 ? sign * shared_area(s, row->grid, (row == c ? b : c)->grid) : 0;
    if (area != 0)
      mn_csr_rows_add(&s->K, (int64_t)(own + k), area);
  }
}

static void add_to_region(const mn_mono_system *s, int32_t g, double constant, double *p)
{
  for (size_t i = 0; i < s->cells && s->fluid.region && constant != 0; i++)
    if (s->fluid.region[i] == g)
      p[i] += constant;
}

void mn_mono_free_parts(mn_mono_system *s, const double *v, double *p)
{
  for (int r = 0; r < s->volumes; r++)
    s->volume[r].p0 = 0;
  for (size_t k = 0; k < s->borders; k++) {
    const mn_mono_border *b = &s->border[k];
    double y = -v[s->own + k];
    if (b->kind == MN_MONO_SWEPT || b->kind == MN_MONO_TIED)
      s->volume[b->volume].p0 = y;
    if (b->kind == MN_MONO_NET)
      add_to_region(s, b->grid, y, p);
  }
  for (size_t k = 0; k < s->borders; k++) /* of those with walls only in common, too: no NET */
    if (s->border[k].kind == MN_MONO_SWEPT)
      add_to_region(s, s->border[k].grid, s->volume[s->border[k].volume].p0, p);
}

void mn_mono_drop_constants(const mn_mono_system *s, double *p)
{
  for (size_t k = 0; k < s->borders; k++) {
    double sum = 0, cells = 0;
    int32_t g = s->border[k].grid;
    if (s->border[k].kind != MN_MONO_NET)
      continue;
    for (size_t i = 0; i < s->cells; i++)
      if (s->fluid.region[i] == g) {
        sum += p[i];
        cells++;
      }
    add_to_region(s, g, -sum / cells, p);
  }
}

void mn_mono_pressed(const mn_mono_system *s, double *F)
{
  memset(F, 0, s->rows * sizeof *F);
  for (int v = 0; v < s->volumes; v++)
    if (s->fluid.region && s->volume[v].grid >= 0 && s->volume[v].p0 != 0)
      for (size_t r = 0; r < s->rows; r++)
        F[r] += s->volume[v].p0 * outflow(s, s->volume[v].grid, r);
}
