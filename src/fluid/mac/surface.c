/* The liquid's surface from its particles.

   Density: the volume that particles bring to a cell, over the space there,

       d_c = sum_p V_p B(x_p - x_c) / the same sum if fresh particles filled all space around

   with the quadratic B-spline B (width 3 cells). The space counts only what walls and solids leave,
   so that a wall neither draws the surface up nor down. Below a flat surface at the depth s (in
   cells) the density of evenly spread liquid is F(s) = 1/2 + 3/4 s - s^3/3 (|s| < 1/2), and 1 -
   (3/2 - s)^3/6 further down. The level set is -F^-1(d): the surface lies where it encloses the
   particles' volume, it shifts with them by the same amount, and it averages over some 9 (27)
   cells' worth of particles, which keeps it smooth. The second moment of B is the same in all
   directions, so oblique surfaces lie right to about 0.01 cells. Beyond the cells beside the
   surface distances come from fast sweeping (liquid.c).

   Spray and sheets thinner than about a third of a cell have no surface; they fly free of pressure.

   What keeps its volume right: volume.c.

   Verified by tests/verify/test_water.c. */
#include "fluid/mac/internal.h"

#include <math.h>

#include "base/status.h"

/* Share of B over a cell whose particles stand on the lattice of fresh ones, and over the next. */
static const double OWN = 0.6875, NEXT = 0.15625;

/* A cell with less space around it than this says nothing about the surface. */
static const double SLIVER = 0.4;

static inline double spline(double t)
{
  t = fabs(t);
  double near = 0.75 - t * t, s = t < 1.5 ? 1.5 - t : 0, far = 0.5 * s * s; /* without branches */
  return t < 0.5 ? near : far;
}

/* Which of the closed sides the cell `at` along the axis lies at: bit 0 below, bit 1 above. */
static inline int closed_beside(const mn_mac *mac, int axis, int at)
{
  unsigned open = mac->open_sides >> 2 * axis;
  return (at == 0 && !(open & 1)) | (at == mac->grid.n[axis] - 1 && !(open & 2)) << 1;
}

/* B along the axis about the cell `at`, for a particle at x (in cells) and its image behind a
   closed side: all its volume arrives somewhere. Without images a particle on the wall counts for
   half, and as water settles there, its volume fades. */
static inline double weight_beside(int beside, int at, double x)
{
  double w = spline(x - at - 0.5);
  if (beside & 1)
    w += spline(-x - 0.5);
  if (beside & 2)
    w += spline(at + 1.5 - x);
  return w;
}

static inline double weight(const mn_mac *mac, int axis, int at, double x)
{
  return weight_beside(closed_beside(mac, axis, at), at, x);
}

/* The mean of that over the lattice of fresh particles in the cell at + off. */
static inline double lattice_weight(const mn_mac *mac, int axis, int at, int off)
{
  int beside = closed_beside(mac, axis, at);
  return off ? NEXT : OWN + ((beside & 1) + (beside >> 1)) * NEXT;
}

/* F^-1: depth in cells of a density, in [-1.5, 1.5]. */
static double depth_of(double density)
{
  if (density >= 1)
    return 1.5;
  if (density <= 0)
    return -1.5;
  double high = density > 0.5 ? density : 1 - density, s;
  if (high >= 1 - 1.0 / 6)
    s = 1.5 - cbrt(6 * (1 - high));
  else { /* 3/4 s - s^3/3 = high - 1/2, by Newton from the linear part */
    double r = high - 0.5;
    s = r / 0.75;
    for (int n = 0; n < 5; n++)
      s -= (0.75 * s - s * s * s / 3 - r) / (0.75 - s * s);
  }
  return density > 0.5 ? s : -s;
}

mn_half_cell mn_water_half_cell(const mn_mac *mac, mn_vec3 x)
{
  const mn_field *solid = &mac->geometry.solid;
  double h = 0.5 * mac->grid.dx, d = mn_sample(solid, x);
  if (d >= 0.5 * h)
    return (mn_half_cell){1, x};
  double part = 0.5 + d / h;
  if (part <= 0)
    return (mn_half_cell){0, x};
  mn_vec3 normal = {{0, 0, 0}};
  for (int a = 0; a < mac->grid.dim; a++) {
    mn_vec3 y = x, z = x;
    y.v[a] += 0.5 * h;
    z.v[a] -= 0.5 * h;
    normal.v[a] = mn_sample(solid, y) - mn_sample(solid, z);
  }
  double length = mn_length(normal);
  if (!(length > 0))
    return (mn_half_cell){part, x};
  return (mn_half_cell){part, mn_madd(x, 0.5 * h * (1 - part) / length, normal)};
}

/* ---- space beside thin shells ---------------------------------------------------------------- */

int mn_water_split_half_cell(const mn_mac *mac, mn_vec3 x, mn_piece piece[2])
{
  const mn_immersed *shells = mac->shell.end.surface;
  mn_half_cell half = mn_water_half_cell(mac, x);
  double h = 0.5 * mac->grid.dx, distance = INFINITY, weight[3] = {0};
  piece[0] = (mn_piece){half.part, half.center, mn_barrier_look(&mac->shell.end, half.center)};
  uint32_t e = mn_immersed_nearest(shells, x, MN_TWO_SIDED_BODIES, weight, &distance);
  if (!(distance < 0.5 * h) || half.part < 1)
    return half.part > 0;
  mn_vec3 near = {{0, 0, 0}}, n;
  for (int i = 0; i < mac->grid.dim; i++)
    near =
        mn_madd(near, weight[i], shells->X[shells->element[(size_t)mac->grid.dim * e + (size_t)i]]);
  n = mn_sub(x, near);
  if (!(distance > 1e-9 * h))
    return 1; /* on the shell: whole on the side that it counts to */
  n = mn_scale(1 / distance, n);
  double part = 0.5 + distance / h;
  mn_vec3 other = mn_madd(x, -0.5 * h * part, n);
  if (!mn_immersed_crosses(shells, x, other, NULL, NULL))
    return 1; /* the shell ends before it cuts the half cell in two */
  mn_vec3 own = mn_madd(x, 0.5 * h * (1 - part), n);
  piece[0] = (mn_piece){part, own, mn_barrier_look(&mac->shell.end, own)};
  piece[1] = (mn_piece){1 - part, other, mn_barrier_look(&mac->shell.end, other)};
  return 2;
}

/* Pieces of the cells beside shells, a row for each. */
typedef struct mn_water_pieces {
  int32_t *row; /* of each cell: 1 + its number, 0: none */
  int *count;   /* of each row */
  mn_piece *piece;
  size_t room; /* rows */
} mn_water_pieces;

enum { ROW = 16 }; /* pieces at most: two for each of 8 half cells */

void mn_water_destroy_pieces(mn_mac *mac)
{
  mn_water_pieces *p = mac->water.pieces;
  if (!p)
    return;
  mn_free(p->row);
  mn_free(p->count);
  mn_free(p->piece);
  mn_free(p);
  mac->water.pieces = NULL;
}

static void cut_cell(const mn_mac *mac, int64_t cell, int *count, mn_piece *piece)
{
  const int *n = mac->grid.n;
  int dim = mac->grid.dim;
  double h = 0.5 * mac->grid.dx;
  mn_vec3 middle = mn_position(&mac->geometry.volume, (int)(cell % n[0]), (int)(cell / n[0] % n[1]),
                               (int)(cell / n[0] / n[1]));
  *count = 0;
  for (int c = 0; c < 1 << dim; c++) {
    mn_vec3 x = middle;
    for (int a = 0; a < dim; a++)
      x.v[a] += h * ((c >> a & 1) - 0.5);
    *count += mn_water_split_half_cell(mac, x, piece + *count);
  }
}

static mn_status cut_cells(mn_mac *mac)
{
  mn_water_pieces *p = mac->water.pieces;
  const mn_grid *g = &mac->grid;
  size_t cells = (size_t)g->n[0] * (size_t)g->n[1] * (size_t)g->n[2];
  if (!p) {
    MN_TRY(MN_NEW(mac->ctx, "cells beside shells", 1, &mac->water.pieces));
    p = mac->water.pieces;
    MN_TRY(MN_NEW(mac->ctx, "cells beside shells", cells, &p->row));
  }
  int32_t rows = 0;
  for (size_t c = 0; c < cells; c++)
    p->row[c] = mac->shell.far[c] <= 1 ? ++rows : 0;
  if ((size_t)rows > p->room) {
    size_t room = (size_t)rows + (size_t)rows / 2;
    MN_TRY(mn_grow(mac->ctx, "cells beside shells", p->room, room, sizeof *p->count,
                   (void **)&p->count));
    MN_TRY(mn_grow(mac->ctx, "cells beside shells", p->room, room, ROW * sizeof *p->piece,
                   (void **)&p->piece));
    p->room = room;
  }
#pragma omp parallel for schedule(static) num_threads(g->exec->threads)
  for (int64_t c = 0; c < (int64_t)cells; c++)
    if (p->row[c])
      cut_cell(mac, c, &p->count[p->row[c] - 1], &p->piece[(p->row[c] - 1) * ROW]);
  return MN_OK;
}

/* As space_of, of what the cell `at` sees; -1 if the other is not beside a shell. */
static double space_seen(const mn_mac *mac, const int at[3], int i, int j, int k)
{
  const mn_water_pieces *p = mac->water.pieces;
  const mn_grid *g = &mac->grid;
  int32_t row = p->row[i + (int64_t)g->n[0] * (j + (int64_t)g->n[1] * k)];
  double sum = 0;
  if (!row)
    return -1;
  for (int n = 0; n < p->count[row - 1]; n++) {
    const mn_piece *q = &p->piece[(row - 1) * ROW + n];
    if (!mn_sight_sees(&q->sight, MN_CELL, at))
      continue;
    double w = q->part;
    for (int a = 0; a < g->dim; a++)
      w *= weight(mac, a, at[a], (q->center.v[a] - g->origin.v[a]) / g->dx);
    sum += w;
  }
  return sum / (1 << g->dim);
}

/* ---- density --------------------------------------------------------------------------------- */

/* Sum over the half cells of cell (i, j, k) of their space, weighted by B about the cell `at`. */
static double space_of(const mn_mac *mac, const int at[3], int i, int j, int k)
{
  double h = 0.5 * mac->grid.dx, sum = 0;
  mn_vec3 middle = mn_position(&mac->geometry.volume, i, j, k);
  int dim = mac->grid.dim;
  for (int c = 0; c < 1 << dim; c++) {
    mn_vec3 x = middle;
    for (int a = 0; a < dim; a++)
      x.v[a] += h * ((c >> a & 1) - 0.5);
    mn_half_cell half = mn_water_half_cell(mac, x);
    for (int a = 0; a < dim && half.part > 0; a++)
      half.part *= weight(mac, a, at[a], (half.center.v[a] - mac->grid.origin.v[a]) / mac->grid.dx);
    sum += half.part;
  }
  return sum / (1 << dim);
}

/* The density's denominator: what fresh particles in all open space around would bring. */
static double space(const mn_mac *mac, int i, int j, int k)
{
  const mn_field *volume = &mac->geometry.volume;
  const int *n = volume->n;
  int dim = volume->grid->dim;
  int at[3] = {i, j, k};
  double sum = 0;
  for (int kk = dim == 3 ? -1 : 0; kk <= (dim == 3 ? 1 : 0); kk++)
    for (int jj = -1; jj <= 1; jj++)
      for (int ii = -1; ii <= 1; ii++) {
        int a = i + ii, b = j + jj, c = k + kk;
        if (a < 0 || a >= n[0] || b < 0 || b >= n[1] || c < 0 || c >= n[2])
          continue;
        double w = lattice_weight(mac, 0, i, ii) * lattice_weight(mac, 1, j, jj) *
                   (dim == 3 ? lattice_weight(mac, 2, k, kk) : 1);
        double part = mn_get(volume, a, b, c);
        double seen = mac->shell.on ? space_seen(mac, at, a, b, c) : -1;
        if (seen >= 0) {
          sum += part > 0 ? seen : 0;
          continue;
        }
        sum += part >= 1 ? w : part > 0 ? space_of(mac, at, a, b, c) : 0;
      }
  return sum;
}

static void update_space(mn_mac *mac)
{
  mn_field *f = &mac->water.space;
  int slabs = mn_slabs(f);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(f, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < f->n[0]; i++)
        mn_set(f, i, j, k, space(mac, i, j, k));
  }
}

/* Does the particle see the cell? */
static int sees(const mn_mac *mac, int64_t particle, const int at[3])
{
  const double *row = mn_particle(&mac->water.next, (size_t)particle);
  mn_sight s = mn_barrier_clear(&mac->grid, mn_v3(row[0], row[1], mac->grid.dim == 3 ? row[2] : 0));
  s.seen = mac->water.seen[particle];
  return mn_sight_sees(&s, MN_CELL, at);
}

/* sum[i] += V B about the cells (i, j, k), of the particles in the row (jj, kk) beside theirs. What
   the cells of a row share is found once for each particle; the sum of a cell runs in their order.
 */
static inline void gather_row(const mn_mac *mac, int j, int k, int jj, int kk, double *sum,
                              const int dim)
{
  const mn_particles *p = &mac->water.next;
  const mn_grid *g = &mac->grid;
  double per_dx = 1 / g->dx, ox = g->origin.x, oy = g->origin.y, oz = g->origin.z;
  int n = g->n[0], at_y = closed_beside(mac, 1, j), at_z = dim == 3 ? closed_beside(mac, 2, k) : 0;
  int at_first = closed_beside(mac, 0, 0), at_last = closed_beside(mac, 0, n - 1);
  const uint32_t *seen = mac->shell.on ? mac->water.seen : NULL;
  if (jj < 0 || jj >= g->n[1] || kk < 0 || kk >= g->n[2])
    return;
  const int64_t *start = mac->water.cells.start + (int64_t)n * (jj + (int64_t)g->n[1] * kk);
  for (int own = 0; own < n; own++)
    for (int64_t q = start[own]; q < start[own + 1]; q++) {
      const double *row = mn_particle(p, (size_t)q);
      double x = (row[0] - ox) * per_dx, volume = row[p->volume];
      double y = weight_beside(at_y, j, (row[1] - oy) * per_dx);
      double z = dim == 3 ? weight_beside(at_z, k, (row[2] - oz) * per_dx) : 1;
      int hidden = seen && seen[q] != MN_SEEN_ALL;
      for (int i = own > 0 ? own - 1 : 0; i <= own + 1 && i < n; i++)
        if (!hidden || sees(mac, q, (int[]){i, j, k})) {
          int beside = i == 0 ? at_first : i == n - 1 ? at_last : 0;
          sum[i] += volume * weight_beside(beside, i, x) * y * z;
        }
    }
}

/* sum <- the volume that particles bring to the cells of a row */
static void gather(const mn_mac *mac, int j, int k, double *sum)
{
  for (int i = 0; i < mac->grid.n[0]; i++)
    sum[i] = 0;
  if (mac->grid.dim == 2)
    for (int jj = j - 1; jj <= j + 1; jj++)
      gather_row(mac, j, k, jj, k, sum, 2);
  else
    for (int kk = k - 1; kk <= k + 1; kk++)
      for (int jj = j - 1; jj <= j + 1; jj++)
        gather_row(mac, j, k, jj, kk, sum, 3);
}

mn_status mn_water_density(mn_mac *mac)
{
  mn_field *d = &mac->water.density;
  double per_volume = 1 / pow(mac->grid.dx, mac->grid.dim);
  if (mac->shell.on)
    MN_TRY(cut_cells(mac));
  if (mac->moving || mac->shell.on || !mac->water.space_known)
    update_space(mac);
  mac->water.space_known = 1;
  int slabs = mn_slabs(d);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(d, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++) {
      double *row = d->at + mn_index(d, 0, j, k);
      gather(mac, j, k, row);
      for (int i = 0; i < d->n[0]; i++) {
        double room = mn_get(&mac->water.space, i, j, k);
        row[i] = room > 1e-3 ? row[i] * per_volume / room : 0;
      }
    }
  }
  return MN_OK;
}

/* Slivers beside solids hold too few particles to tell: they take the mean of their neighbours. */
static void mend_slivers(const mn_mac *mac, mn_field *phi)
{
  const mn_field *space = &mac->water.space;
  const mn_immersed *surface = mac->shell.on ? mac->shell.end.surface : NULL;
  for (int k = 0; k < phi->n[2]; k++)
    for (int j = 0; j < phi->n[1]; j++)
      for (int i = 0; i < phi->n[0]; i++) {
        double own = mn_get(space, i, j, k), sum = 0, weight = 0;
        int at[3] = {i, j, k};
        for (int a = 0; a < phi->grid->dim && own < SLIVER; a++)
          for (int up = -1; up <= 1; up += 2) {
            if (at[a] + up < 0 || at[a] + up >= phi->n[a] ||
                (surface && !mn_barrier_linked(surface, MN_CELL, at, a, up > 0)))
              continue;
            double w = space->at[mn_index(space, i, j, k) + up * space->stride[a]];
            if (w < SLIVER)
              continue;
            sum += w * phi->at[mn_index(phi, i, j, k) + up * phi->stride[a]];
            weight += w;
          }
        if (weight > 0)
          mn_set(phi, i, j, k, sum / weight);
      }
}

void mn_water_level_set(mn_mac *mac, mn_field *phi)
{
  const mn_field *d = &mac->water.density;
  const mn_mac_geometry *g = &mac->geometry;
  int64_t base = phi->at - phi->data;
  for (int k = 0; k < d->n[2]; k++)
    for (int j = 0; j < d->n[1]; j++)
      for (int i = 0; i < d->n[0]; i++) {
        double s = depth_of(mn_get(d, i, j, k));
        int source = g->inflow[base + mn_index(phi, i, j, k)];
        if (source) /* full while it blows */
          s = mn_timefn_eval(&mac->def->sources[source - 1].ramp, g->time) != 0 ? 0.5 : -0.5;
        mn_set(phi, i, j, k, -s * mac->grid.dx);
      }
  mend_slivers(mac, phi);
  mn_liquid_finish(mac, phi);
  mn_water_enclose(mac, phi);
}
