/* The levels of the multigrid cycle.

   Coarse levels by aggregation of 2^dim cells with over-correction [Braess 1995]: a coarse face is
   the sum of the fine faces it covers times 2^(1 - dim), the excess alike (but see
   mn_mg_coarse_share). In words: the Galerkin matrix of piecewise constant interpolation, divided
   by 2^(dim - 1). A parent whose children are all regular is regular again, so that inner cells
   need no coefficients on any level. Interpolating linearly instead needs Galerkin matrices with 27
   points at cut cells, or it fails there.
   Tests: tests/unit/pressure/test_multigrid.c (levels against plain Galerkin products). */
#include "pressure/multigrid.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { SLAB_ROWS_2D = 16, SERIAL_BELOW = 16384, MARGIN = 16 };
enum { B_KIND, B_RANGE, B_ROW, B_CELL, B_EXCESS, B_DEAD, B_SLAB, B_VECTOR };

void mn_multigrid_free(mn_multigrid *mg)
{
  for (int l = 0; l < MN_MG_LEVELS; l++) {
    for (int b = 0; b < 8; b++)
      mn_buffer_free(&mg->level[l].buffer[b]);
    mn_buffer_free(&mg->level[l].move_buffer);
    mn_buffer_free(&mg->level[l].slab_buffer);
    mn_free(mg->level[l].orphan);
    mg->level[l].orphan = NULL;
  }
  for (int b = 0; b < 3; b++)
    mn_buffer_free(&mg->buffer[b]);
}

size_t mn_multigrid_bytes(const mn_multigrid *mg)
{
  size_t bytes = mg->buffer[0].bytes + mg->buffer[1].bytes + mg->buffer[2].bytes;
  for (int l = 0; l < MN_MG_LEVELS; l++)
    for (int b = 0; b < 8; b++)
      bytes += mg->level[l].buffer[b].bytes;
  return bytes;
}

static int least(int a, int b)
{
  return a < b ? a : b;
}
static int greatest(int a, int b)
{
  return a > b ? a : b;
}
static int round_up(int length)
{
  return (length + MN_MG_LANES - 1) / MN_MG_LANES * MN_MG_LANES;
}
/* Greatest integer <= a / b, b > 0. */
static int64_t floor_to(int64_t a, int64_t b)
{
  return (a - (a % b + b) % b) / b;
}

/* Extent of a row and how many irregular cells of each colour it has. */
static void measure_row(const mn_mg_level *L, int j, int k)
{
  mn_mg_row *row = mn_mg_row_at(L, j, k);
  const int *range = L->range[j + L->n[1] * k];
  const uint8_t *kind = mn_mg_kinds(L, j, k);
  *row = (mn_mg_row){.parity = (j + k) & 1};
  if (range[0] >= range[1])
    return;
  row->lo = range[0] / 2;
  row->hi = (range[1] - 1) / 2 + 1;
  int alive = 0, irregular[2] = {0, 0};
  for (int i = range[0]; i < range[1]; i++) {
    alive += kind[i] != MN_DEAD;
    irregular[i & 1] += kind[i] == MN_IRREGULAR;
  }
  row->holes = range[1] - range[0] - alive;
  row->irregular[row->parity] = irregular[0];
  row->irregular[1 - row->parity] = irregular[1];
}

/* Active rows [j0, j1) of a plane and their places, without the plane's base. */
typedef struct plane_extent {
  int j0, j1;
  int64_t lo, hi;
} plane_extent;

/* Least and greatest half index of a level: sets the pitch. */
static void find_pitch(mn_mg_level *L, int bounds[2])
{
  bounds[0] = L->n[0];
  bounds[1] = 0;
  for (int r = 0; r < L->n[1] * L->n[2]; r++)
    if (L->row[r].lo < L->row[r].hi) {
      bounds[0] = least(bounds[0], L->row[r].lo);
      bounds[1] = greatest(bounds[1], L->row[r].hi);
    }
  if (bounds[0] > bounds[1])
    bounds[0] = bounds[1] = 0;
  L->pitch = bounds[1] - bounds[0];
}

static plane_extent extent_of(const mn_mg_level *L, const int bounds[2], int k)
{
  plane_extent e = {0, 0, 0, 0};
  if (k < 0 || k >= L->n[2])
    return e;
  for (int j = 0; j < L->n[1]; j++) {
    const mn_mg_row *row = mn_mg_row_at(L, j, k);
    if (row->lo >= row->hi)
      continue;
    if (e.j0 == e.j1)
      e.j0 = j;
    e.j1 = j + 1;
  }
  if (e.j0 == e.j1)
    return e;
  if (L->slab_rows != L->n[1]) { /* 2D: whole slabs, which are multiples of the vector width */
    e.j0 = e.j0 / L->slab_rows * L->slab_rows;
    e.j1 = (e.j1 + L->slab_rows - 1) / L->slab_rows * L->slab_rows;
  }
  e.lo = (int64_t)L->pitch * e.j0 + (e.j0 + k) / 2 + bounds[0];
  e.hi = (int64_t)L->pitch * (e.j1 - 1) + (e.j1 + k) / 2 + bounds[1];
  e.hi = e.lo + round_up((int)(e.hi - e.lo));
  return e;
}

/* Gives each plane, slab and row its place. */
static void place_planes(mn_mg_level *L)
{
  int bounds[2], split = L->slab_rows != L->n[1];
  find_pitch(L, bounds);
  int64_t at = MARGIN, below = 0;
  plane_extent before = {0}, here = {0}, after = extent_of(L, bounds, 0);
  for (int k = -1; k <= L->n[2]; k++) {
    int64_t margin = L->pitch + 1, lo = INT64_MAX, hi = INT64_MIN;
    if (k >= 0) {
      before = here;
      here = after;
      after = extent_of(L, bounds, k + 1);
    }
    const plane_extent *near[3] = {&before, &here, &after};
    for (int t = 0; t < 3; t++)
      if (near[t]->j0 < near[t]->j1) {
        lo = near[t]->lo - margin < lo ? near[t]->lo - margin : lo;
        hi = near[t]->hi + margin > hi ? near[t]->hi + margin : hi;
      }
    int64_t base = lo < hi ? at - MN_MG_LANES * floor_to(lo, MN_MG_LANES) : at;
    if (here.j0 < here.j1) /* a slab begins at a whole vector */
      base += (MN_MG_LANES - (base + here.lo) % MN_MG_LANES) % MN_MG_LANES;
    if (lo < hi)
      at = MN_MG_LANES * floor_to(base + hi + 2 * MN_MG_LANES, MN_MG_LANES);
    if (k >= 0 && k < L->n[2]) {
      for (int j = 0; j < L->n[1]; j++) {
        mn_mg_row *row = mn_mg_row_at(L, j, k);
        row->base[0] = (int32_t)(base + (int64_t)L->pitch * j + (j + k + 1) / 2);
        row->base[1] = (int32_t)(base + (int64_t)L->pitch * j + (j + k) / 2);
      }
      int first = k * (L->n[1] / L->slab_rows + (L->n[1] % L->slab_rows > 0));
      int last = first + (L->n[1] + L->slab_rows - 1) / L->slab_rows;
      for (int s = first; s < last; s++) {
        mn_mg_slab *slab = &L->slab[s];
        int64_t length = (int64_t)L->pitch * L->slab_rows + L->slab_rows / 2;
        int64_t start = here.lo + (split ? length * (s - first - here.j0 / L->slab_rows) : 0);
        int64_t end = split && start + length < here.hi ? start + length : here.hi;
        int inside = here.j0 < here.j1 && start >= here.lo && start < here.hi;
        *slab = (mn_mg_slab){.lo = inside ? (int32_t)(base + start) : 0,
                             .hi = inside ? (int32_t)(base + end) : 0,
                             .z = {(int32_t)(below - base), 0}};
      }
    }
    if (k > 0 && !split)
      L->slab[k - 1].z[1] = (int32_t)(base - below);
    below = base;
  }
  if (split)
    for (int s = 0; s < L->slabs; s++)
      L->slab[s].z[0] = L->slab[s].z[1] = 0;
  L->size = (size_t)(at + 4 * MARGIN) / 16 * 16;
}

/* Turns counts of irregular cells into first entries. */
static void number_irregular(mn_mg_level *L, int32_t totals[2])
{
  totals[0] = totals[1] = 0;
  for (int s = 0; s <= L->slabs; s++) {
    int end = least((s + 1) * L->slab_rows, L->n[1] * L->n[2]);
    memcpy(L->slab[s].irregular, totals, sizeof L->slab[s].irregular);
    for (int r = s * L->slab_rows; r < end; r++)
      for (int c = 0; c < 2; c++) {
        int32_t count = L->row[r].irregular[c];
        L->row[r].irregular[c] = totals[c];
        totals[c] += count;
      }
  }
  mn_mg_row *last = &L->row[L->n[1] * L->n[2]];
  *last = (mn_mg_row){.irregular = {totals[0], totals[1]}};
}

/* The places before [from, to) are a gap back to `*end`; moves `*end` behind. */
static void note_gap(mn_mg_gap *out, int *count, int32_t *end, int32_t from, int32_t to)
{
  if (from > *end) {
    if (out)
      out[*count] = (mn_mg_gap){*end, from - *end};
    ++*count;
  }
  *end = to;
}

/* Gaps between the alive cells of a slab, for one colour; only counted if `out` is NULL. */
static int find_gaps(const mn_mg_level *L, int s, int c, mn_mg_gap *out)
{
  int k, j0, j1, count = 0;
  const mn_mg_slab *slab = &L->slab[s];
  int32_t end = slab->lo;
  mn_mg_slab_rows(L, s, &k, &j0, &j1);
  for (int j = j0; j < j1 && slab->lo < slab->hi; j++) {
    const mn_mg_row *row = mn_mg_row_at(L, j, k);
    const int *range = L->range[j + L->n[1] * k];
    const uint8_t *kind = mn_mg_kinds(L, j, k);
    int odd = (row->parity + c) & 1;
    int first = range[0] + ((range[0] ^ odd) & 1), last = range[1] - 1;
    last -= (last ^ odd) & 1;
    if (first > last || row->lo >= row->hi)
      continue;
    if (!row->holes)
      note_gap(out, &count, &end, row->base[c] + first / 2, row->base[c] + last / 2 + 1);
    for (int i = first; i <= last && row->holes; i += 2)
      if (kind[i] != MN_DEAD)
        note_gap(out, &count, &end, row->base[c] + i / 2, row->base[c] + i / 2 + 1);
  }
  note_gap(out, &count, &end, slab->hi, slab->hi);
  return count;
}

static mn_status build_gaps(mn_context *ctx, mn_mg_level *L)
{
  int32_t totals[2] = {0, 0};
#pragma omp parallel for schedule(static) num_threads(L->threads)
  for (int s = 0; s < L->slabs; s++)
    for (int c = 0; c < 2; c++)
      L->slab[s].dead[c] = find_gaps(L, s, c, NULL);
  for (int s = 0; s <= L->slabs; s++)
    for (int c = 0; c < 2; c++) {
      int32_t count = s < L->slabs ? L->slab[s].dead[c] : 0;
      L->slab[s].dead[c] = totals[c];
      totals[c] += count;
    }
  MN_TRY(mn_reserve(ctx, "multigrid gaps", (size_t)totals[0] + (size_t)totals[1], sizeof(mn_mg_gap),
                    &L->buffer[B_DEAD]));
  L->dead[0] = L->buffer[B_DEAD].data;
  L->dead[1] = L->dead[0] + totals[0];
#pragma omp parallel for schedule(static) num_threads(L->threads)
  for (int s = 0; s < L->slabs; s++)
    for (int c = 0; c < 2; c++)
      find_gaps(L, s, c, L->dead[c] + L->slab[s].dead[c]);
  return MN_OK;
}

static mn_status shape_level(mn_context *ctx, const mn_multigrid *mg, mn_mg_level *L,
                             const mn_exec *exec)
{
  L->dim = mg->dim;
  L->slab_rows = mg->dim == 3 ? L->n[1] : least(SLAB_ROWS_2D, L->n[1]);
  L->slabs = (L->n[1] * L->n[2] + L->slab_rows - 1) / L->slab_rows;
  int64_t cells = (int64_t)L->n[0] * L->n[1] * L->n[2];
  L->threads = cells < SERIAL_BELOW ? 1 : exec->threads;
  L->diagonal = (float)(2 * mg->dim) + L->excess;
  L->inverse = 1 / L->diagonal;
  size_t rows = (size_t)L->n[1] * (size_t)L->n[2];
  MN_TRY(mn_reserve(ctx, "multigrid rows", rows + 1, sizeof *L->row, &L->buffer[B_ROW]));
  MN_TRY(mn_reserve(ctx, "multigrid slabs", (size_t)L->slabs + 1, sizeof *L->slab,
                    &L->buffer[B_SLAB]));
  L->row = L->buffer[B_ROW].data;
  L->slab = L->buffer[B_SLAB].data;
  memset(L->slab, 0, ((size_t)L->slabs + 1) * sizeof *L->slab);
#pragma omp parallel for schedule(static) num_threads(L->threads)
  for (int s = 0; s < L->slabs; s++) {
    int k, j0, j1;
    mn_mg_slab_rows(L, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      measure_row(L, j, k);
  }
  int32_t totals[2];
  place_planes(L);
  number_irregular(L, totals);
  MN_TRY(build_gaps(ctx, L));

  size_t irregular = (size_t)totals[0] + (size_t)totals[1];
  MN_TRY(mn_reserve(ctx, "multigrid cells", irregular, sizeof(mn_mg_cell), &L->buffer[B_CELL]));
  MN_TRY(mn_reserve(ctx, "multigrid cells", irregular, sizeof(float), &L->buffer[B_EXCESS]));
  MN_TRY(mn_reserve(ctx, "multigrid vectors", 5 * L->size, sizeof(float), &L->buffer[B_VECTOR]));
  L->irregular[0] = L->buffer[B_CELL].data;
  L->irregular[1] = L->irregular[0] + totals[0];
  L->cell_excess[0] = L->buffer[B_EXCESS].data;
  L->cell_excess[1] = L->cell_excess[0] + totals[0];
  float *vectors = L->buffer[B_VECTOR].data;
  for (int c = 0; c < 2; c++) {
    L->u[c] = vectors + (size_t)c * L->size;
    L->f[c] = vectors + (size_t)(2 + c) * L->size;
  }
  L->t = vectors + 4 * L->size;
  memset(vectors, 0, 4 * L->size * sizeof *vectors); /* t is written before it is read */
  return MN_OK;
}

/* ---- the finest level ---------------------------------------------------------------------- */

static void put_cell(mn_mg_level *L, int colour, int32_t entry, int32_t at, const double c[6],
                     double excess)
{
  mn_mg_cell *cell = &L->irregular[colour][entry];
  double sum = excess;
  cell->at = at;
  for (int side = 0; side < 6; side++) {
    cell->c[side] = (float)c[side];
    sum += c[side];
  }
  cell->inverse = sum > 0 ? (float)(1 / sum) : 0;
  L->cell_excess[colour][entry] = (float)excess;
}

static void fill_finest_row(mn_multigrid *mg, const mn_system *s, int j, int k)
{
  mn_mg_level *L = &mg->level[0];
  const mn_mg_row *row = mn_mg_row_at(L, j, k);
  const uint8_t *kind = mn_mg_kinds(L, j, k);
  const int *range = L->range[j + L->n[1] * k];
  int32_t entry[2] = {row->irregular[0], row->irregular[1]};
  mn_mg_fine *fine = mg->fine + entry[0] + entry[1];
  if (j + 1 < L->n[1] && s->prefetch) {
    const int *next = L->range[j + 1 + L->n[1] * k];
    for (int i = next[0]; i < next[1]; i++)
      if (kind[L->n[0] + i] == MN_IRREGULAR)
        s->prefetch(s->self, i, j + 1, k);
  }
  for (int i = range[0]; i < range[1]; i++) {
    if (kind[i] != MN_IRREGULAR)
      continue;
    int colour = (i + row->parity) & 1;
    double excess = s->cell(s->self, i, j, k, fine->c);
    put_cell(L, colour, entry[colour]++, row->base[colour] + i / 2, fine->c, excess);
    fine->i = i;
    fine->bound = fine->held = 0;
    fine->diagonal = excess;
    for (int side = 0; side < 6; side++)
      fine->diagonal += fine->c[side];
    fine++;
  }
}

static mn_status build_finest(mn_context *ctx, mn_multigrid *mg, const mn_system *s,
                              const mn_regions *g)
{
  mn_mg_level *L = &mg->level[0];
  memcpy(L->n, s->n, sizeof L->n);
  L->kind = g->kind;
  L->range = (const int(*)[2])g->range;
  L->excess = (float)s->excess;
  MN_TRY(shape_level(ctx, mg, L, s->exec));
  const mn_mg_row *last = &L->row[L->n[1] * L->n[2]];
  MN_TRY(mn_reserve(ctx, "cut cells", (size_t)(last->irregular[0] + last->irregular[1]),
                    sizeof *mg->fine, &mg->buffer[0]));
  mg->fine = mg->buffer[0].data;
#pragma omp parallel for schedule(static) num_threads(L->threads)
  for (int slab = 0; slab < L->slabs; slab++) {
    int k, j0, j1;
    mn_mg_slab_rows(L, slab, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      fill_finest_row(mg, s, j, k);
  }
  return MN_OK;
}

/* ---- coarse levels ------------------------------------------------------------------------- */

/* Kinds of a coarse row: regular if all children are, dead if all are. */
static void coarsen_kinds(const mn_mg_level *F, const mn_mg_level *C, int J, int K, uint8_t *kind,
                          int range[2])
{
  int lo = F->n[0], hi = 0;
  const uint8_t *child[4];
  int rows = 0, wanted = F->n[2] == 1 && C->n[2] == 1 ? 2 : 4;
  for (int t = 0; t < 4; t++) {
    int j = 2 * J + (t & 1), k = 2 * K + (t >> 1);
    if (j >= F->n[1] || k >= F->n[2])
      continue;
    const int *r = F->range[j + F->n[1] * k];
    child[rows++] = mn_mg_kinds(F, j, k);
    if (r[0] < r[1]) {
      lo = least(lo, r[0]);
      hi = greatest(hi, r[1]);
    }
  }
  memset(kind, MN_DEAD, (size_t)C->n[0]);
  range[0] = range[1] = 0;
  if (lo >= hi)
    return;
  range[0] = lo / 2;
  range[1] = (hi + 1) / 2;
  for (int I = range[0]; I < range[1]; I++) {
    int any = 0, all = rows == wanted && 2 * I + 1 < F->n[0];
    for (int t = 0; t < rows; t++) {
      int a = child[t][2 * I], b = 2 * I + 1 < F->n[0] ? child[t][2 * I + 1] : MN_DEAD;
      any |=
          (a & MN_MG_HELD ? MN_DEAD : a & MN_MG_KIND) | (b & MN_MG_HELD ? MN_DEAD : b & MN_MG_KIND);
      all &= (a == MN_REGULAR) & (b == MN_REGULAR);
    }
    kind[I] = all ? MN_REGULAR : any ? MN_IRREGULAR : MN_DEAD;
  }
}

/* Adds what one child contributes to its parent: the faces that lie on the parent's sides. */
static void add_child(double c[6], const float child[6], int odd_x, int odd_y, int odd_z)
{
  c[odd_x] += (double)child[odd_x];
  c[2 + odd_y] += (double)child[2 + odd_y];
  c[4 + odd_z] += (double)child[4 + odd_z];
}

/* The couplings of a cell to neighbours that are not held; returns the sum of the others, which are
   links to a fixed value. */
static double without_held(const mn_mg_level *F, const uint8_t *kind, const float coupling[6],
                           float free[6])
{
  int64_t step[3] = {1, F->n[0], (int64_t)F->n[0] * F->n[1]};
  double links = 0;
  for (int side = 0; side < 6; side++) {
    free[side] = coupling[side];
    if (coupling[side] > 0 && kind[side & 1 ? step[side / 2] : -step[side / 2]] & MN_MG_HELD) {
      links += (double)coupling[side];
      free[side] = 0;
    }
  }
  return links;
}

static void fill_coarse_row(const mn_multigrid *mg, const mn_mg_level *F, mn_mg_level *C, int J,
                            int K)
{
  static const float ones[2][6] = {{1, 1, 1, 1, 0, 0}, {1, 1, 1, 1, 1, 1}};
  const float *regular = ones[mg->dim == 3];
  double factor = mg->dim == 3 ? 0.25 : 0.5;
  const mn_mg_row *row = mn_mg_row_at(C, J, K), *child[4] = {0};
  const uint8_t *child_kind[4], *kind = mn_mg_kinds(C, J, K);
  int32_t entry[2] = {row->irregular[0], row->irregular[1]}, cursor[4][2];
  for (int t = 0; t < 4; t++) {
    int j = 2 * J + (t & 1), k = 2 * K + (t >> 1);
    if (j >= F->n[1] || k >= F->n[2])
      continue;
    child[t] = mn_mg_row_at(F, j, k);
    child_kind[t] = mn_mg_kinds(F, j, k);
    for (int c = 0; c < 2; c++)
      cursor[t][c] = child[t]->irregular[c];
  }
  const int *range = C->range[J + C->n[1] * K];
  for (int I = range[0]; I < range[1]; I++) {
    if (kind[I] != MN_IRREGULAR)
      continue;
    double c[6] = {0}, excess = 0;
    for (int t = 0; t < 4; t++)
      for (int odd = 0; odd < 2 && child[t]; odd++) {
        int i = 2 * I + odd, colour = (odd + child[t]->parity) & 1;
        if (i >= F->n[0] || child_kind[t][i] == MN_DEAD || child_kind[t][i] & MN_MG_HELD)
          continue;
        const float *coupling = regular;
        float free[6];
        if ((child_kind[t][i] & MN_MG_KIND) == MN_REGULAR) {
          excess += 2 * (double)F->excess;
        } else {
          while (F->irregular[colour][cursor[t][colour]].at < child[t]->base[colour] + I)
            cursor[t][colour]++;
          coupling = F->irregular[colour][cursor[t][colour]].c;
          excess += mn_mg_coarse_share(F, mg->soft, F->cell_excess[colour][cursor[t][colour]]);
        }
        if (child_kind[t][i] & MN_MG_BESIDE) {
          excess += without_held(F, child_kind[t] + i, coupling, free);
          coupling = free;
        }
        add_child(c, coupling, odd, t & 1, t >> 1);
      }
    for (int side = 0; side < 6; side++)
      c[side] *= factor;
    int colour = (I + row->parity) & 1;
    put_cell(C, colour, entry[colour]++, row->base[colour] + I / 2, c, factor * excess);
  }
}

static mn_status build_coarse(mn_context *ctx, mn_multigrid *mg, int l, const mn_exec *exec)
{
  mn_mg_level *F = &mg->level[l - 1], *C = &mg->level[l];
  for (int a = 0; a < 3; a++)
    C->n[a] = (F->n[a] + 1) / 2;
  size_t rows = (size_t)C->n[1] * (size_t)C->n[2];
  MN_TRY(mn_reserve(ctx, "multigrid kinds", rows * (size_t)C->n[0], 1, &C->buffer[B_KIND]));
  MN_TRY(mn_reserve(ctx, "multigrid rows", rows, 2 * sizeof(int), &C->buffer[B_RANGE]));
  uint8_t *kind = C->buffer[B_KIND].data;
  int(*range)[2] = C->buffer[B_RANGE].data;
  int row_count = (int)rows, ny = C->n[1];
  F->orphans = 0;
  if (mg->split)
    MN_TRY(mn_multigrid_find_orphans(ctx, F));
#pragma omp parallel for schedule(static) num_threads(F->threads)
  for (int row = 0; row < row_count; row++)
    coarsen_kinds(F, C, row % ny, row / ny, kind + (size_t)row * (size_t)C->n[0], range[row]);
  if (F->orphans)
    mn_multigrid_mark_split(F, C, kind);
  C->kind = kind;
  C->range = (const int(*)[2])range;
  C->excess = 4 * F->excess;
  MN_TRY(shape_level(ctx, mg, C, exec));
#pragma omp parallel for schedule(static) num_threads(C->threads)
  for (int s = 0; s < C->slabs; s++) {
    int k, j0, j1;
    mn_mg_slab_rows(C, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      fill_coarse_row(mg, F, C, j, k);
  }
  return F->orphans ? mn_multigrid_resettle(ctx, mg, F, C) : MN_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

mn_status mn_multigrid_setup(mn_context *ctx, mn_multigrid *mg, const mn_system *s,
                             const mn_regions *g)
{
  MN_TRY(mn_multigrid_setup_finest(ctx, mg, s, g));
  return mn_multigrid_coarsen(ctx, mg, s->exec, MN_MG_LEVELS);
}

mn_status mn_multigrid_setup_finest(mn_context *ctx, mn_multigrid *mg, const mn_system *s,
                                    const mn_regions *g)
{
  mg->dim = s->dim;
  mg->levels = 1;
  mg->bounds = mg->held = 0;
  mg->kind = g->kind;
  mg->level[0].holds = s->bound != NULL;
  MN_TRY(build_finest(ctx, mg, s, g));
  return s->bound ? mn_multigrid_list_bounds(ctx, mg, s) : MN_OK;
}

mn_status mn_multigrid_coarsen(mn_context *ctx, mn_multigrid *mg, const mn_exec *exec, int most)
{
  mg->levels = 1;
  if (mg->bounds)
    mn_multigrid_mark_held(mg);
  for (const mn_mg_level *L = &mg->level[0];; L = &mg->level[mg->levels - 1]) {
    if (greatest(L->n[0], greatest(L->n[1], L->n[2])) <= MN_MG_COARSEST)
      break;
    if (mg->levels == most)
      return MN_OK; /* not for a cycle */
    MN_TRY(build_coarse(ctx, mg, mg->levels, exec));
    mg->levels++;
  }
  size_t row = ((size_t)mg->level[0].n[0] + 4 * MARGIN) / 16 * 16;
  MN_TRY(mn_reserve(ctx, "multigrid scratch", row * (size_t)mg->level[0].slabs, sizeof(float),
                    &mg->buffer[1]));
  for (int l = 0; l < mg->levels; l++) {
    mg->level[l].scratch = mg->buffer[1].data;
    mg->level[l].scratch_row = row;
  }
  return mn_multigrid_build_dense(ctx, mg);
}
