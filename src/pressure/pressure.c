/* The pressure system: unknowns and coefficients from the geometry, closed regions, the gradient.

       sum over the open faces f of c: w_f / dx^2 (p_c - p_n) = b_c

   Source: face fractions w [Ng 2009; Batty 2007]; at the surface the
   ghost fluid value, p = 0 at theta dx from the centre, gives the excess w / theta [Gibou 2002];
   at an open side p = 0 on the face gives 2 w. All coefficients are kept divided by 1/dx^2.
   Limits: cubic cells, constant density. theta >= theta_min keeps the diagonal bounded; it moves
   the surface by at most theta_min dx.
   Tests: tests/unit/pressure/test_pressure.c, tests/verify/test_mms_disk.c. */
#include "pressure/pressure.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "pressure/mgpcg.h"
#include "pressure/mic.h"

struct mn_pressure {
  mn_context *ctx;
  const mn_grid *grid;
  mn_pressure_solver solver;
  mn_pressure_geometry geometry; /* arrays borrowed from the last assembly */
  mn_system system;
  mn_regions regions;
  mn_mgpcg mgpcg;
  mn_stencil stencil; /* PCG only, as are the next two */
  mn_mic pcg;
  int has_pcg;
};

/* ---- coefficients -------------------------------------------------------------------------- */

static double theta(const mn_pressure_geometry *g, double liquid, double air)
{
  double t = liquid / (liquid - air);
  return t > g->theta_min ? t : g->theta_min;
}

static double cell(const void *self, int i, int j, int k, double c[6])
{
  const mn_pressure *v = self;
  const mn_pressure_geometry *g = &v->geometry;
  int at[3] = {i, j, k}, dim = v->grid->dim;
  double excess = 0;
  for (int side = 0; side < 6; side++) {
    int a = side / 2, high = side & 1;
    c[side] = 0;
    if (a >= dim)
      continue;
    const mn_field *open = &g->open[a];
    double w = open->at[mn_index(open, i, j, k) + (high ? open->stride[a] : 0)];
    if (!(w > 0))
      continue;
    int beyond = high ? at[a] + 1 >= v->grid->n[a] : at[a] <= 0;
    if (beyond) {
      excess += g->open_sides >> side & 1 ? 2 * w : 0;
      continue;
    }
    const mn_field *phi = g->liquid;
    const double *here = phi ? phi->at + mn_index(phi, i, j, k) : NULL;
    double other = phi ? here[high ? phi->stride[a] : -phi->stride[a]] : -1;
    if (other >= 0)
      excess += w / theta(g, *here, other);
    else
      c[side] = w;
  }
  return g->anchor ? excess + mn_get(g->anchor, i, j, k) : excess;
}

static int is_unknown(const mn_pressure *v, int i, int j, int k)
{
  double c[6];
  if (v->geometry.liquid && !(mn_get(v->geometry.liquid, i, j, k) < 0))
    return 0;
  double sum = cell(v, i, j, k, c);
  for (int side = 0; side < 6; side++)
    sum += c[side];
  return sum > 0;
}

/* Cells in the liquid, as a range of the row. */
static void liquid_range(const mn_pressure *v, int j, int k, int *lo, int *hi)
{
  const mn_field *phi = v->geometry.liquid;
  *lo = 0;
  *hi = v->grid->n[0];
  if (!phi)
    return;
  const double *p = phi->at + mn_index(phi, 0, j, k);
  while (*hi > *lo && !(p[*hi - 1] < 0))
    --*hi;
  while (*lo < *hi && !(p[*lo] < 0))
    ++*lo;
}

enum { BLOCK = 64 }; /* cells classified at a time */
enum { AHEAD = 3 };  /* rows to fetch ahead: the hardware does not foresee the gaps between rows */

static inline double lower(double a, double b)
{
  return a < b ? a : b;
}
static inline double higher(double a, double b)
{
  return a > b ? a : b;
}

/* Fetches what the cells `AHEAD` rows further on need first. */
static void fetch_ahead(const mn_pressure *v, int i, int j, int k, int count)
{
  const mn_pressure_geometry *g = &v->geometry;
  int last = v->grid->dim - 1;
  for (int a = 0; a <= last; a++) {
    const double *w = g->open[a].at + mn_index(&g->open[a], i, j + AHEAD, k);
    for (int t = 0; t < count; t += 8)
      __builtin_prefetch(w + t + g->open[a].stride[a]);
  }
  if (g->liquid) {
    const double *p = g->liquid->at + mn_index(g->liquid, i, j + AHEAD, k);
    for (int t = 0; t < count; t += 8)
      __builtin_prefetch(p + t + g->liquid->stride[last]);
  }
}

/* Kinds of cells that have all their neighbours in the box: from the least and greatest of the 2
   dim fractions and the greatest of the level set values around. In 2D the y faces stand in for the
   z faces, and without a surface a row of liquid for the level set. (2 ms less than a loop per axis
   at n = 128.) */
static void classify_inner(const mn_pressure *v, int from, int to, int j, int k, uint8_t *kind)
{
  double code[BLOCK], liquid[BLOCK + 2];
  const mn_field *phi = v->geometry.liquid;
  for (int t = 0; t < BLOCK + 2; t++)
    liquid[t] = -1;
  for (int i = from; i < to; i += BLOCK) {
    int count = to - i < BLOCK ? to - i : BLOCK;
    const double *low[3], *high[3], *p = phi ? phi->at + mn_index(phi, i, j, k) : liquid + 1;
    int64_t step[3];
    for (int a = 0; a < 3; a++) {
      int axis = a < v->grid->dim ? a : 1;
      const mn_field *open = &v->geometry.open[axis];
      low[a] = open->at + mn_index(open, i, j, k);
      high[a] = low[a] + open->stride[axis];
      step[a] = phi ? phi->stride[axis] : 0;
    }
    fetch_ahead(v, i, j, k, count);
    for (int t = 0; t < count; t++) {
      double least = lower(lower(lower(low[0][t], high[0][t]), lower(low[1][t], high[1][t])),
                           lower(low[2][t], high[2][t]));
      double most = higher(higher(higher(low[0][t], high[0][t]), higher(low[1][t], high[1][t])),
                           higher(low[2][t], high[2][t]));
      double around = higher(
          higher(higher(p[t - step[0]], p[t + step[0]]), higher(p[t - step[1]], p[t + step[1]])),
          higher(p[t - step[2]], p[t + step[2]]));
      double alive = lower(most, -p[t]) > 0 ? 1 : 0; /* 1 if some face is open and phi < 0 */
      double cut = least >= 1 ? 0 : 1, surface = around < 0 ? 0 : 1;
      code[t] = alive + alive * higher(cut, surface);
    }
    for (int t = 0; t < count; t++)
      kind[i + t] = (uint8_t)(int)code[t];
  }
}

static void classify(const void *self, int j, int k, uint8_t *kind, int *lo, int *hi)
{
  const mn_pressure *v = self;
  const mn_grid *g = v->grid;
  int n = g->n[0], from, to;
  int border = j == 0 || j + 1 == g->n[1] || (g->dim == 3 && (k == 0 || k + 1 == g->n[2]));
  liquid_range(v, j, k, &from, &to);
  memset(kind, MN_DEAD, (size_t)n);
  if (!border)
    classify_inner(v, from > 1 ? from : 1, to < n - 1 ? to : n - 1, j, k, kind);
  for (int i = from; i < to; i++) {
    if (border || i == 0 || i + 1 == n)
      kind[i] = is_unknown(v, i, j, k) ? MN_IRREGULAR : MN_DEAD;
    else
      i = n - 2; /* on to the last cell */
  }
  while (to > from && kind[to - 1] == MN_DEAD)
    to--;
  while (from < to && kind[from] == MN_DEAD)
    from++;
  *lo = from;
  *hi = to;
}

static void prefetch(const void *self, int i, int j, int k)
{
  const mn_pressure *v = self;
  const mn_pressure_geometry *g = &v->geometry;
  for (int a = 0; a < v->grid->dim; a++) {
    const double *w = g->open[a].at + mn_index(&g->open[a], i, j, k);
    __builtin_prefetch(w);
    __builtin_prefetch(w + g->open[a].stride[a]);
    if (g->liquid) {
      const double *p = g->liquid->at + mn_index(g->liquid, i, j, k);
      __builtin_prefetch(p - g->liquid->stride[a]);
      __builtin_prefetch(p + g->liquid->stride[a]);
    }
  }
}

static int coupled(const void *self, int axis, int i, int j, int k)
{
  const mn_pressure *v = self;
  return mn_get(&v->geometry.open[axis], i, j, k) > 0;
}

/* ---- life and assembly --------------------------------------------------------------------- */

mn_status mn_pressure_create(mn_context *ctx, const mn_grid *grid, mn_pressure_solver solver,
                             mn_pressure **pressure)
{
  mn_pressure *v;
  *pressure = NULL;
  MN_TRY(MN_NEW(ctx, "pressure solver", 1, &v));
  v->ctx = ctx;
  v->grid = grid;
  v->solver = solver;
  mn_status status = MN_OK;
  if (solver == MN_PRESSURE_PCG) {
    status = mn_stencil_create(ctx, grid, MN_CELL, &v->stencil);
    if (status == MN_OK)
      status = mn_mic_create(ctx, grid, MN_CELL, &v->pcg);
  }
  if (status != MN_OK)
    mn_pressure_destroy(&v);
  *pressure = v;
  return status;
}

void mn_pressure_destroy(mn_pressure **pressure)
{
  mn_pressure *v = *pressure;
  if (!v)
    return;
  mn_regions_free(&v->regions);
  mn_mgpcg_free(&v->mgpcg);
  mn_stencil_destroy(&v->stencil);
  mn_mic_destroy(&v->pcg);
  mn_free(v);
  *pressure = NULL;
}

/* The system with true coefficients, for the reference solver. */
static void fill_stencil(mn_pressure *v)
{
  mn_stencil *s = &v->stencil;
  for (int k = 0; k < v->grid->n[2]; k++)
    for (int j = 0; j < v->grid->n[1]; j++)
      for (int i = 0; i < v->grid->n[0]; i++) {
        double c[6] = {0}, diagonal = 0;
        if (mn_kind_row(&v->regions, j, k)[i] != MN_DEAD) {
          diagonal = cell(v, i, j, k, c);
          for (int side = 0; side < 6; side++)
            diagonal += c[side];
        }
        mn_set(&s->diagonal, i, j, k, diagonal * v->system.scale);
        for (int a = 0; a < v->grid->dim; a++)
          mn_set(&s->off[a], i, j, k, c[2 * a] * v->system.scale);
      }
}

mn_status mn_pressure_analyse(mn_pressure *v, const mn_pressure_geometry *geometry)
{
  const mn_grid *grid = v->grid;
  v->geometry = *geometry;
  v->system = (mn_system){.dim = grid->dim,
                          .n = {grid->n[0], grid->n[1], grid->n[2]},
                          .scale = 1 / (grid->dx * grid->dx),
                          .exec = grid->exec,
                          .self = v,
                          .classify = classify,
                          .cell = cell,
                          .prefetch = prefetch,
                          .coupled = coupled};
  return mn_regions_build(v->ctx, &v->regions, &v->system);
}

mn_status mn_pressure_assemble(mn_pressure *v, const mn_pressure_geometry *geometry)
{
  MN_TRY(mn_pressure_analyse(v, geometry));
  return mn_pressure_coarsen(v);
}

mn_status mn_pressure_coarsen(mn_pressure *v)
{
  v->mgpcg.mg.split = v->geometry.thin;
  if (v->solver == MN_PRESSURE_MGPCG)
    return mn_mgpcg_setup(v->ctx, &v->mgpcg, &v->system, &v->regions);
  fill_stencil(v);
  mn_mic_setup(&v->pcg, &v->stencil);
  return MN_OK;
}

const mn_system *mn_pressure_system(const mn_pressure *v)
{
  return &v->system;
}

mn_regions *mn_pressure_regions(mn_pressure *v)
{
  return &v->regions;
}

/* ---- solution ------------------------------------------------------------------------------ */

void mn_pressure_sum_regions(mn_pressure *v, const mn_field *b)
{
  mn_regions *g = &v->regions;
  if (!g->closed)
    return;
  mn_region_sums(g, b);
  for (int r = 0; r < g->count; r++)
    g->region[r].rhs_sum = g->region[r].closed ? g->mean[r] : 0;
}

/* Whether b can be met in all closed regions. */
static int check_compatible(mn_pressure *v, const mn_field *b, double sum_tolerance)
{
  int good = 1;
  mn_pressure_sum_regions(v, b);
  for (int r = 0; r < v->regions.count && v->regions.closed; r++)
    good &= fabs(v->regions.region[r].rhs_sum) <= sum_tolerance;
  return good;
}

mn_status mn_pressure_solve(mn_pressure *v, const mn_field *b, double tolerance,
                            double sum_tolerance, int max_iterations, mn_field *p,
                            mn_solve_report *report)
{
  *report = (mn_solve_report){.closed_regions = v->regions.closed};
  mn_region_clear_outside(&v->regions, p);
  if (!check_compatible(v, b, sum_tolerance)) {
    report->reason = MN_INCOMPATIBLE;
    return MN_OK;
  }
  if (v->solver == MN_PRESSURE_PCG)
    mn_mic_solve(&v->pcg, &v->stencil, &v->regions, b, tolerance, max_iterations, p, report);
  else
    mn_mgpcg_solve(&v->mgpcg, &v->system, &v->regions, b, tolerance, max_iterations, p, report);
  mn_region_subtract_mean(&v->regions, p);
  return MN_OK;
}

/* grad p at the face between cell (i, j, k) and its lower neighbour along `a`. */
static double face_gradient(const mn_pressure *v, const mn_field *p, int a, int i, int j, int k)
{
  const mn_pressure_geometry *g = &v->geometry;
  const mn_grid *grid = v->grid;
  int high[3] = {i, j, k}, low[3] = {i, j, k};
  low[a]--;
  if (!(mn_get(&g->open[a], i, j, k) > 0))
    return 0;
  int has_low = low[a] >= 0, has_high = high[a] < grid->n[a];
  int low_unknown = has_low && mn_kind_row(&v->regions, low[1], low[2])[low[0]] != MN_DEAD;
  int high_unknown = has_high && mn_kind_row(&v->regions, high[1], high[2])[high[0]] != MN_DEAD;
  double p_low = low_unknown ? mn_get(p, low[0], low[1], low[2]) : 0;
  double p_high = high_unknown ? mn_get(p, high[0], high[1], high[2]) : 0;
  double distance = 1;
  if (!low_unknown && !high_unknown)
    return 0;
  if (!has_low || !has_high) {
    if (!(g->open_sides >> (2 * a + !has_high) & 1))
      return 0;
    distance = 0.5;
  } else if (!low_unknown || !high_unknown) {
    double phi_low = mn_get(g->liquid, low[0], low[1], low[2]);
    double phi_high = mn_get(g->liquid, high[0], high[1], high[2]);
    distance = low_unknown ? theta(g, phi_low, phi_high) : theta(g, phi_high, phi_low);
  }
  return (p_high - p_low) / (distance * grid->dx);
}

/* A row of faces: between regular cells as a stream of numbers. */
static void row_gradient(const mn_pressure *v, const mn_field *p, int a, int j, int k, mn_field *f)
{
  const mn_grid *grid = v->grid;
  int at[3] = {0, j, k}, n = f->n[0], from = a == 0, to = grid->n[0];
  double dx = grid->dx, *restrict g = f->at + mn_index(f, 0, j, k);
  if (a > 0 && (at[a] == 0 || at[a] == grid->n[a]))
    to = 0; /* a side of the domain */
  const double *restrict high = p->at + mn_index(p, 0, j, k), *restrict low = high - p->stride[a];
  for (int i = from; i < to; i++)
    g[i] = (high[i] - low[i]) / dx;
  const uint8_t *above = to ? mn_kind_row(&v->regions, j, k) : NULL;
  const uint8_t *below = !to      ? NULL
                         : a == 0 ? above - 1
                                  : mn_kind_row(&v->regions, j - (a == 1), k - (a == 2));
  for (int i = 0; i < n; i++)
    if (i < from || i >= to || above[i] != MN_REGULAR || below[i] != MN_REGULAR)
      g[i] = face_gradient(v, p, a, i, j, k);
}

void mn_pressure_gradient(const mn_pressure *v, const mn_field *p, mn_field gradient[3])
{
  for (int a = 0; a < v->grid->dim; a++) {
    mn_field *f = &gradient[a];
#pragma omp parallel for schedule(static) num_threads(v->grid->exec->threads)
    for (int s = 0; s < mn_slabs(f); s++) {
      int k, j0, j1;
      mn_slab(f, s, &k, &j0, &j1);
      for (int j = j0; j < j1; j++)
        row_gradient(v, p, a, j, k, f);
    }
  }
}

/* ---- questions ----------------------------------------------------------------------------- */

size_t mn_pressure_unknowns(const mn_pressure *v)
{
  return v->regions.unknowns;
}

size_t mn_pressure_bytes(const mn_pressure *v)
{
  size_t bytes = sizeof *v + mn_mgpcg_bytes(&v->mgpcg);
  for (size_t b = 0; b < sizeof v->regions.buffer / sizeof *v->regions.buffer; b++)
    bytes += v->regions.buffer[b].bytes;
  if (v->solver == MN_PRESSURE_PCG)
    bytes += (size_t)(6 + v->grid->dim) * v->pcg.r.size * sizeof(double);
  return bytes;
}

int mn_pressure_region_count(const mn_pressure *v)
{
  return v->regions.count;
}

mn_pressure_region mn_pressure_get_region(const mn_pressure *v, int region)
{
  return v->regions.region[region];
}

int mn_pressure_region_of(const mn_pressure *v, int i, int j, int k)
{
  return mn_region_at(&v->regions, i, j, k);
}
