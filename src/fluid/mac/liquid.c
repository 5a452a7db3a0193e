/* A liquid with a free surface, carried as a level set phi (negative inside) at cell centres.

   The surface moves by advecting phi; after that phi is made a distance again by fast sweeping
   [Zhao 2005] with the values beside the surface kept, so that the surface itself stays. Velocities
   are continued from the faces that touch liquid into the air. */
#include "fluid/mac/internal.h"

#include <math.h>
#include <string.h>

/* walls: thin surfaces beside each cell (mn_shell_walls), or NULL */
static int beside_surface(const mn_field *phi, const unsigned char *walls, int i, int j, int k)
{
  int at[3] = {i, j, k};
  int64_t q = mn_index(phi, i, j, k);
  int inside = phi->at[q] < 0, wall = walls ? walls[phi->at - phi->data + q] : 0;
  for (int a = 0; a < phi->grid->dim; a++) {
    if (at[a] > 0 && !(wall & 1 << 2 * a) && (phi->at[q - phi->stride[a]] < 0) != inside)
      return 1;
    if (at[a] < phi->n[a] - 1 && !(wall & 2 << 2 * a) &&
        (phi->at[q + phi->stride[a]] < 0) != inside)
      return 1;
  }
  return 0;
}

/* The distance d at a cell from the least distances m[] of its neighbours along each axis:
   sum over the axes of max(d - m, 0)^2 = dx^2 (Godunov) */
static double eikonal(double m[3], int dim, double dx)
{
  for (int a = 1; a < dim; a++)
    for (int b = a; b > 0 && m[b] < m[b - 1]; b--) {
      double t = m[b];
      m[b] = m[b - 1];
      m[b - 1] = t;
    }
  double d = m[0] + dx, sum = m[0], squares = m[0] * m[0];
  for (int a = 1; a < dim && d > m[a]; a++) {
    sum += m[a];
    squares += m[a] * m[a];
    double root = sum * sum - (a + 1) * (squares - dx * dx);
    d = (sum + sqrt(root > 0 ? root : 0)) / (a + 1);
  }
  return d;
}

/* Returns whether the distance at p became less. Cells beside the surface are marked by the sign
   and stay as they are; ghosts are infinitely far. */
static inline int relax(double *p, const mn_field *d, const unsigned char *walls, int dim,
                        double dx)
{
  if (signbit(*p))
    return 0;
  int wall = walls ? walls[p - d->data] : 0;
  double m[3] = {0}, least = INFINITY;
  for (int a = 0; a < dim; a++) {
    int64_t s = d->stride[a];
    double low = wall & 1 << 2 * a ? INFINITY : fabs(p[-s]);
    double high = wall & 2 << 2 * a ? INFINITY : fabs(p[s]);
    m[a] = low < high ? low : high;
    least = m[a] < least ? m[a] : least;
  }
  if (least >= *p) /* the new distance would exceed it: most visits end here */
    return 0;
  double value = eikonal(m, dim, dx);
  if (value >= *p)
    return 0;
  *p = value;
  return 1;
}

/* A row in which nothing changed will not change before a row beside it does: it is left out of
   the sweeps until then. */
static inline int sweep_dim(mn_field *d, const unsigned char *walls, unsigned char *quiet,
                            int direction, int dim)
{
  int changed = 0, n = d->n[0], ny = d->n[1], nz = d->n[2];
  double dx = d->grid->dx;
  for (int kk = 0; kk < nz; kk++)
    for (int jj = 0; jj < ny; jj++) {
      int j = direction & 2 ? ny - 1 - jj : jj, k = direction & 4 ? nz - 1 - kk : kk, any = 0;
      unsigned char *q = quiet + j + (int64_t)ny * k;
      if (*q)
        continue;
      double *row = d->at + mn_index(d, 0, j, k);
      for (int i = 0; i < n; i++)
        any |= relax(row + (direction & 1 ? n - 1 - i : i), d, walls, dim, dx);
      *q = !any;
      if (!any)
        continue;
      changed = 1;
      q[j > 0 ? -1 : 0] = q[j < ny - 1 ? 1 : 0] = 0;
      q[k > 0 ? -ny : 0] = q[k < nz - 1 ? ny : 0] = 0;
    }
  return changed;
}

static int sweep_once(mn_field *d, const unsigned char *walls, unsigned char *quiet, int direction)
{
  return d->grid->dim == 2 ? sweep_dim(d, walls, quiet, direction, 2)
                           : sweep_dim(d, walls, quiet, direction, 3);
}

/* Serial, since each cell needs those before it; a sweep that changes nothing ends it, for then no
   order of the cells would. */
void mn_liquid_redistance(mn_mac *mac, mn_field *phi)
{
  mn_field *d = &mac->cell_scratch;
  const unsigned char *walls = mn_shell_walls(mac);
  int slabs = mn_slabs(phi);
  mn_field_fill(d, INFINITY);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(phi, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < phi->n[0]; i++)
        mn_set(d, i, j, k,
               beside_surface(phi, walls, i, j, k) ? -fabs(mn_get(phi, i, j, k)) : 1e30);
  }
  memset(mac->quiet_rows, 0, (size_t)phi->n[1] * (size_t)phi->n[2]);
  for (int sweep = 0; sweep < 2 << phi->grid->dim && sweep_once(d, walls, mac->quiet_rows, sweep);
       sweep++)
    continue;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(phi, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < phi->n[0]; i++)
        mn_set(phi, i, j, k, copysign(mn_get(d, i, j, k), mn_get(phi, i, j, k)));
  }
  mn_mac_fill_cells(phi);
}

void mn_liquid_into_solids(mn_mac *mac, mn_field *phi)
{
  const mn_extension *e = &mac->geometry.cell_extension;
  for (int64_t q = 0; q < e->start[e->layers]; q++) {
    double *value = &phi->data[e->point[q]];
    if (*value < 0.5 * mac->grid.dx)
      *value = fmin(*value, -0.5 * mac->grid.dx);
  }
}

void mn_liquid_finish(mn_mac *mac, mn_field *phi)
{
  mn_extension_apply(&mac->geometry.cell_extension, MN_CONTINUE_CONSTANT, phi);
  mn_liquid_into_solids(mac, phi);
  mn_liquid_redistance(mac, phi);
}

/* phi in the middle of an octant (quadrant) of a cell: up along the axes in `corner`. What is not
   seen is taken to be as here. */
static double octant(const mn_field *phi, int64_t q, uint32_t seen, int corner)
{
  int dim = phi->grid->dim;
  double sum = 0;
  for (int n = 0; n < 1 << dim; n++) {
    int64_t at = q;
    int off[3] = {0};
    double w = 1;
    for (int a = 0; a < dim; a++) {
      int next = n >> a & 1;
      w *= next ? 0.25 : 0.75;
      off[a] = next ? (corner >> a & 1 ? 1 : -1) : 0;
      at += off[a] * phi->stride[a];
    }
    sum += w * phi->at[seen & mn_sight_bit(off[0], off[1], off[2]) ? at : q];
  }
  return sum;
}

double mn_liquid_part(const mn_field *phi, uint32_t seen, int i, int j, int k, double shift)
{
  int64_t q = mn_index(phi, i, j, k);
  double dx = phi->grid->dx, middle = phi->at[q] - shift, sum = 0;
  int octants = 1 << phi->grid->dim;
  if (fabs(middle) >= dx) /* more than half the diagonal */
    return middle < 0 ? 1 : 0;
  for (int corner = 0; corner < octants; corner++)
    sum += mn_clamp(0.5 - 2 * (octant(phi, q, seen, corner) - shift) / dx, 0, 1);
  return sum / octants;
}

/* Particles this far from the surface, in cells, fly on their own; nearer ones touch faces in the
   air that no pressure holds, but belong to the liquid and go with it. */
static const double SPRAY = 0.6;

void mn_liquid_plan(mn_mac *mac, const mn_field *phi)
{
  mn_mac_geometry *g = &mac->geometry;
  for (int a = 0; a < mac->grid.dim; a++) {
    const mn_field *f = &g->open[a];
    mn_extension *e = &g->face_extension[a];
    const double *weight = mac->water.weight[a].data; /* NULL without particles */
    int64_t base = f->at - f->data;
    for (size_t q = 0; q < e->capacity; q++)
      e->layer[q] = MN_OUT_OF_REACH;
    for (int k = 0; k < f->n[2]; k++)
      for (int j = 0; j < f->n[1]; j++)
        for (int i = 0; i < f->n[0]; i++) {
          int at[3] = {i, j, k};
          int64_t q = base + mn_index(f, i, j, k);
          int brought = weight && weight[q] > MN_WATER_WEIGHT_MIN, wet = brought;
          if (phi) {
            int64_t c = mn_index(phi, i, j, k);
            double high = at[a] < f->n[a] - 1 ? phi->at[c] : 1e30;
            double low = at[a] > 0 ? phi->at[c - phi->stride[a]] : 1e30;
            wet = fmin(low, high) < 0 || (brought && fmin(low, high) > SPRAY * mac->grid.dx);
          }
          mn_face_kind kind = (mn_face_kind)g->kind[a][q];
          if (kind <= MN_FACE_STUCK ? wet : kind == MN_FACE_SOURCE)
            e->layer[q] = 0;
          else if (kind == MN_FACE_SIDE || kind >= MN_FACE_NOSLIP)
            e->layer[q] = MN_NO_SOURCE; /* the air near a wall moves with the liquid */
        }
    e->surface = g->thin;
    mn_extension_plan(f, e);
  }
}
