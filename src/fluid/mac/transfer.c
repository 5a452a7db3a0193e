/* Velocities from particles to the grid and back.

   Affine particle-in-cell on a staggered grid [Jiang et al. 2015]: with the multilinear weight
   w_fp of face f at particle p and the volume V_p,

       to the grid     W_f = sum_p V_p w_fp,   W_f u_f = sum_p V_p w_fp (v_p + c_p.(x_f - x_p))
       from the grid   v_p = sum_f w_fp u_f,   c_p = sum_f grad w_fp u_f

   for each component. The grid keeps momentum and angular momentum of the particles, where that of
   a particle is V (x cross v) plus that of its affine field, V sum_f w (x_f - x_p) cross
   (c.(x_f - x_p)); the way back keeps both as well. FLIP [Zhu, Bridson 2005] carries no c and adds
   the change of the grid velocity to v_p instead.

   c is 0 for spray, and for a component of which a face around the particle lies inside a solid:
   there values are continued from the faces that the particle itself reaches, and with c the way to
   the grid and back could grow; without, it only ever takes means.

   Beside thin shells only what a particle sees counts (barrier.h), and c is 0 where something
   is hidden.

   Markers carry no velocity: of a face it only matters whether they bring it enough.

   The faces of a plane (2D: a row) get what the particles of the cells beside it bring, cell by
   cell: no two threads write to one place, and the order of every sum is fixed. Faces that ask the
   cells around them, 18 each, for what reaches them come to the same bits in twice the time.

   Verified by tests/unit/fluid/test_particles.c and tests/verify/test_water.c. */
#include "fluid/mac/internal.h"

#include <math.h>

#include "fluid/mac/trace.h"

static inline double hat(double t)
{
  t = fabs(t);
  return t < 1 ? 1 - t : 0;
}

typedef struct gather {
  const mn_grid *grid;
  const uint32_t *seen; /* by each particle; NULL: no shells */
  const mn_particles *p;
  const mn_particle_cells *cells;
  int axis, affine;
  double dx, per_dx;
  mn_vec3 origin;
} gather;

/* Does particle i see the face `at`? */
static int sees(const gather *g, int64_t i, const int at[3])
{
  const double *row = mn_particle(g->p, (size_t)i);
  mn_sight s = mn_barrier_clear(g->grid, mn_v3(row[0], row[1], g->grid->dim == 3 ? row[2] : 0));
  s.seen = g->seen[i];
  return mn_sight_sees(&s, (mn_place)g->axis, at);
}

/* The first of the two points along axis b, of faces of axis a, that a particle at x, in cells, may
   reach from cell c. */
static inline int first_reached(int a, int b, int c, double x)
{
  return a == b || x - 0.5 >= c ? c : c - 1;
}

/* Adds particle n, in cell (i, j, .), to the weight and momentum of the faces that it reaches in
   slab s: of a plane in 3D, a row in 2D. */
static inline void add_particle(const gather *g, int64_t n, const int cell[2], int s, mn_field *u,
                                mn_field *weight, const int dim)
{
  const double *row = mn_particle(g->p, (size_t)n), *c = row + 2 * dim + 1 + g->axis * dim;
  double x[3], r[3];
  for (int b = 0; b < dim; b++)
    x[b] = (row[b] - g->origin.v[b]) * g->per_dx;
  r[dim - 1] = s + mn_offset(u->place, dim - 1) - x[dim - 1];
  double across = hat(r[dim - 1]);
  if (!(across > 0))
    return;
  int hidden = g->seen && g->seen[n] != MN_SEEN_ALL, k = dim == 3 ? s : 0;
  int i0 = first_reached(g->axis, 0, cell[0], x[0]);
  int j0 = dim == 3 ? first_reached(g->axis, 1, cell[1], x[1]) : s, j1 = dim == 3 ? j0 + 1 : s;
  for (int j = j0; j <= j1; j++)
    for (int i = i0; i <= i0 + 1; i++) {
      if (j < 0 || j >= u->n[1] || i < 0 || i >= u->n[0])
        continue;
      r[0] = i + mn_offset(u->place, 0) - x[0];
      double w = row[2 * dim] * hat(r[0]), v = row[dim + g->axis];
      if (dim == 3) {
        r[1] = j + mn_offset(u->place, 1) - x[1];
        w *= hat(r[1]);
      }
      w *= across;
      if (!(w > 0) || (hidden && !sees(g, n, (int[]){i, j, k})))
        continue;
      for (int b = 0; b < dim && g->affine; b++)
        v += c[b] * r[b] * g->dx;
      int64_t q = mn_index(u, i, j, k);
      weight->at[q] += w;
      u->at[q] += w * v;
    }
}

/* The faces of slab s, from the cells of the slabs beside it. */
static inline void slab_of_faces(const gather *g, int s, mn_field *u, mn_field *weight, double unit,
                                 const int dim)
{
  const mn_particle_cells *cells = g->cells;
  int last = dim - 1, k, j0, j1, rows = dim == 3 ? cells->n[1] : 1;
  mn_slab(u, s, &k, &j0, &j1);
  for (int j = j0; j < j1; j++)
    for (int i = 0; i < u->n[0]; i++)
      weight->at[mn_index(u, i, j, k)] = u->at[mn_index(u, i, j, k)] = 0;
  for (int beside = s - 1; beside <= (g->axis == last ? s : s + 1); beside++)
    for (int j = 0; j < rows && beside >= 0 && beside < cells->n[last]; j++) {
      const int64_t *start = cells->start + (int64_t)cells->n[0] * (j + (int64_t)rows * beside);
      for (int i = 0; i < cells->n[0]; i++)
        for (int64_t n = start[i]; n < start[i + 1]; n++)
          add_particle(g, n, (int[]){i, j}, s, u, weight, dim);
    }
  for (int j = j0; j < j1; j++)
    for (int i = 0; i < u->n[0]; i++) {
      int64_t q = mn_index(u, i, j, k);
      double W = weight->at[q];
      weight->at[q] = W / unit;
      u->at[q] = weight->at[q] > MN_WATER_WEIGHT_MIN ? u->at[q] / W : 0;
    }
}

static gather gather_of(const mn_mac *mac, const mn_particles *p, int axis)
{
  const mn_grid *grid = &mac->grid;
  return (gather){
      grid,        mac->shell.on ? mac->water.seen : NULL,       p,        &mac->water.cells,
      axis,        mac->def->fluid.transfer == MN_TRANSFER_APIC, grid->dx, 1 / grid->dx,
      grid->origin};
}

/* Have the particles [first, last) brought enough to the face `at`, at x in cells? Adds to W until
   they have. */
static inline int add_markers(const gather *g, int64_t first, int64_t last, const double *x,
                              const int at[3], double least, double *W, const int dim)
{
  for (int64_t i = first; i < last && !(*W > least); i++) {
    const double *row = mn_particle(g->p, (size_t)i);
    if (g->seen && g->seen[i] != MN_SEEN_ALL && !sees(g, i, at))
      continue;
    double w = row[dim];
    for (int b = 0; b < dim; b++)
      w *= hat(x[b] - (row[b] - g->origin.v[b]) * g->per_dx);
    *W += w;
  }
  return *W > least;
}

/* The rows of cells around the faces (., j, k) of an axis: first particles of their cells. Those
   through which faces of the row lead come first. */
typedef struct rows {
  const int64_t *start[9];
  int own, count; /* the first `own` of them hold the cells that a face parts */
} rows;

static rows rows_around(const gather *g, int j, int k, const int dim)
{
  const mn_particle_cells *c = g->cells;
  int a = g->axis, low_j = j - 1, high_j = a == 1 ? j : j + 1;
  int low_k = dim == 3 ? k - 1 : 0, high_k = dim == 3 ? (a == 2 ? k : k + 1) : 0;
  rows r = {.count = 0};
  for (int pass = 0; pass < 2; pass++) {
    for (int kk = low_k; kk <= high_k; kk++)
      for (int jj = low_j; jj <= high_j; jj++) {
        int own = (a == 1 || jj == j) && (a == 2 || dim == 2 || kk == k);
        if (own != !pass || jj < 0 || jj >= c->n[1] || kk < 0 || kk >= c->n[2])
          continue;
        const int64_t *start = c->start + c->n[0] * (jj + (int64_t)c->n[1] * kk);
        if (start[c->n[0]] > start[0]) /* no particles: nothing to find */
          r.start[r.count++] = start;
      }
    if (!pass)
      r.own = r.count;
  }
  return r;
}

/* How much the particles around the face `at` bring it, as far as it is needed to tell whether it
   is enough. The cells that it parts come first: one particle of theirs nearly always does. */
static inline double brought(const gather *g, const rows *r, const int at[3], double least,
                             const int dim)
{
  int n = g->cells->n[0], i = at[0], along = g->axis == 0;
  double W = 0,
         x[3] = {i + mn_offset((mn_place)g->axis, 0), at[1] + mn_offset((mn_place)g->axis, 1),
                 at[2] + mn_offset((mn_place)g->axis, 2)};
  int low = i - along < 0 ? 0 : i - along, high = i < n ? i + 1 : n;
  for (int m = 0; m < r->own; m++)
    if (add_markers(g, r->start[m][low], r->start[m][high], x, at, least, &W, dim))
      return W;
  W = 0;
  low = i > 0 ? i - 1 : 0;
  high = i + 2 - along < n ? i + 2 - along : n;
  for (int m = 0; m < r->count; m++)
    if (add_markers(g, r->start[m][low], r->start[m][high], x, at, least, &W, dim))
      return W;
  return W;
}

/* open: nobody asks for closed faces; NULL: all */
static inline void mark_row(const gather *g, const mn_field *open, mn_field *weight, double unit,
                            int j, int k, const int dim)
{
  rows r = rows_around(g, j, k, dim);
  for (int i = 0; i < weight->n[0]; i++) {
    double W = 0;
    if (r.count && (!open || mn_get(open, i, j, k) > 0))
      W = brought(g, &r, (int[]){i, j, k}, MN_WATER_WEIGHT_MIN * unit, dim);
    mn_set(weight, i, j, k, W / unit);
  }
}

/* All axes together, row by row: particles are fetched from memory once. */
void mn_water_mark_faces(mn_mac *mac, const mn_particles *p)
{
  const mn_grid *grid = &mac->grid;
  int three = grid->dim == 3, slabs = (three ? grid->n[2] : grid->n[1]) + 1;
  double unit = mac->water.unit;
#pragma omp parallel for schedule(static) num_threads(grid->exec->threads)
  for (int s = 0; s < slabs; s++)
    for (int j = three ? 0 : s; j <= (three ? grid->n[1] : s); j++)
      for (int a = 0; a < grid->dim; a++) {
        gather g = gather_of(mac, p, a);
        mn_field *weight = &mac->water.weight[a];
        const mn_field *open = mac->bodies.on ? NULL : &mac->geometry.open[a]; /* they move yet */
        int k = three ? s : 0;
        if (j >= weight->n[1] || k >= weight->n[2])
          continue;
        if (three)
          mark_row(&g, open, weight, unit, j, k, 3);
        else
          mark_row(&g, open, weight, unit, j, k, 2);
      }
}

void mn_water_to_grid(mn_mac *mac, const mn_particles *p, mn_field u[3])
{
  const mn_grid *grid = &mac->grid;
  for (int a = 0; a < grid->dim; a++) {
    gather g = gather_of(mac, p, a);
    mn_field *weight = &mac->water.weight[a];
    double unit = mac->water.unit;
    int slabs = mn_slabs(&u[a]);
#pragma omp parallel for schedule(static) num_threads(grid->exec->threads)
    for (int s = 0; s < slabs; s++)
      if (grid->dim == 2)
        slab_of_faces(&g, s, &u[a], weight, unit, 2);
      else
        slab_of_faces(&g, s, &u[a], weight, unit, 3);
  }
}

/* Value and gradient (per cell) of f at x, in cells. */
static inline double sample(const mn_tracer *t, const mn_field *f, mn_vec3 x, double gradient[3],
                            const int dim)
{
  double s[3] = {0};
  const double *p = mn_tracer_stencil(t, f, x, s, dim);
  int64_t sy = f->stride[1], sz = f->stride[2];
  double low_x = mn_lerp(s[1], p[1] - p[0], p[sy + 1] - p[sy]);
  double low0 = mn_lerp(s[0], p[0], p[1]), low1 = mn_lerp(s[0], p[sy], p[sy + 1]);
  double low = mn_lerp(s[1], low0, low1);
  gradient[0] = low_x;
  gradient[1] = low1 - low0;
  if (dim == 2)
    return low;
  p += sz;
  double high_x = mn_lerp(s[1], p[1] - p[0], p[sy + 1] - p[sy]);
  double high0 = mn_lerp(s[0], p[0], p[1]), high1 = mn_lerp(s[0], p[sy], p[sy + 1]);
  double high = mn_lerp(s[1], high0, high1);
  gradient[0] = mn_lerp(s[2], low_x, high_x);
  gradient[1] = mn_lerp(s[2], low1 - low0, high1 - high0);
  gradient[2] = high - low;
  return mn_lerp(s[2], low, high);
}

/* Some face around x, in cells, lies inside a solid: its value is a continuation. */
static inline int touches_solid(const mn_mac *mac, const mn_tracer *t, const mn_field *f, mn_vec3 x,
                                const int dim)
{
  double part[3];
  const double *p = mn_tracer_stencil(t, f, x, part, dim);
  const unsigned char *kind = mac->geometry.kind[f->place] + (p - f->data);
  for (int c = 0; c < 1 << dim; c++)
    if (kind[(c & 1) + (c >> 1 & 1) * f->stride[1] + (dim == 3 ? (c >> 2) * f->stride[2] : 0)] ==
        MN_FACE_SLIP)
      return 1;
  return 0;
}

/* The same beside shells, from what the particle sees; 0 if that is everything. Where something is
   hidden the velocity has no gradient. */
static int particle_from_side(const mn_mac *mac, const mn_field u[3], const mn_field *before,
                              double flip, uint32_t seen, double *row)
{
  const mn_shell *s = &mac->shell;
  int dim = mac->grid.dim, all = 1;
  mn_sight sight = mn_barrier_clear(&mac->grid, mn_v3(row[0], row[1], dim == 3 ? row[2] : 0));
  double value[3], old[3] = {0};
  sight.seen = seen;
  for (int a = 0; a < dim && seen; a++) {
    int whole;
    value[a] = mn_barrier_faces(&s->end, &sight, &u[a], s->along, &whole);
    all &= whole;
    if (before)
      old[a] = mn_barrier_faces(&s->end, &sight, &before[a], s->carried, &whole);
  }
  for (int a = 0; a < dim && !all; a++) {
    row[dim + a] =
        before ? flip * (row[dim + a] + value[a] - old[a]) + (1 - flip) * value[a] : value[a];
    for (int b = 0; b < dim; b++)
      row[2 * dim + 1 + a * dim + b] = 0;
  }
  return !all || !seen; /* who sees nothing keeps what it has */
}

static inline void particle_from_grid(const mn_mac *mac, const mn_tracer *t, const mn_field u[3],
                                      const mn_field *before, double flip, double *row,
                                      const int dim)
{
  const mn_grid *g = &mac->grid;
  double gradient[3];
  mn_vec3 x = {{0, 0, 0}};
  for (int a = 0; a < dim; a++)
    x.v[a] = (row[a] - g->origin.v[a]) / g->dx;
  int spray = mn_tracer_sample(t, &mac->state.liquid, x, dim) > 0;
  for (int a = 0; a < dim; a++) {
    double value = sample(t, &u[a], x, gradient, dim), *c = row + 2 * dim + 1 + a * dim;
    int affine = !spray && !(mn_mac_has_solids(mac) && touches_solid(mac, t, &u[a], x, dim));
    for (int b = 0; b < dim; b++)
      c[b] = affine ? gradient[b] / g->dx : 0;
    double old = before ? sample(t, &before[a], x, gradient, dim) : 0;
    row[dim + a] = before ? flip * (row[dim + a] + value - old) + (1 - flip) * value : value;
  }
}

void mn_water_from_grid(mn_mac *mac, const mn_field u[3], const mn_field *before, double flip,
                        mn_particles *p)
{
  mn_tracer t = mn_tracer_make(u, 0);
  int64_t count = (int64_t)p->count;
  const uint32_t *seen = mac->shell.on ? mac->water.seen : NULL;
  if (seen)
    mn_barrier_sides(&mac->shell.end, u, mac->shell.along);
  if (seen && before)
    mn_barrier_sides(&mac->shell.end, before, mac->shell.carried);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int64_t i = 0; i < count; i++)
    if (seen && seen[i] != MN_SEEN_ALL &&
        particle_from_side(mac, u, before, flip, seen[i], mn_particle(p, (size_t)i)))
      continue;
    else if (p->dim == 2)
      particle_from_grid(mac, &t, u, before, flip, mn_particle(p, (size_t)i), 2);
    else
      particle_from_grid(mac, &t, u, before, flip, mn_particle(p, (size_t)i), 3);
}
