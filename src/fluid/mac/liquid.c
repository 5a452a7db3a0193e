/* A liquid with a free surface, carried as a level set phi (negative inside) at cell centres.

   The surface moves by advecting phi; after that phi is made a distance again (redistance.c).
   Velocities are continued from the faces that touch liquid into the air. */
#include "fluid/mac/internal.h"

#include <math.h>
#include <string.h>

void mn_liquid_into_solids(mn_mac *mac, mn_field *phi)
{
  const mn_extension *e = &mac->geometry.cell_extension;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int64_t q = 0; q < e->start[e->layers]; q++) {
    double *value = &phi->data[e->point[q]];
    if (*value < 0.5 * mac->grid.dx)
      *value = fmin(*value, -0.5 * mac->grid.dx);
  }
}

/* Of a cell: centres so near to the surface are on it, and count as air. A surface that lies in a
   row of centres would run above some of them and below others, by rounding, and the least theta
   then tilts it by a hundredth of a cell: a tank at rest did not stay so. */
static const double ON = 1e-6;

void mn_liquid_put_on_surface(const mn_mac *mac, mn_field *phi)
{
  const double near = -ON * mac->grid.dx;
  int64_t size = (int64_t)phi->size;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int64_t q = 0; q < size; q++)
    phi->data[q] = phi->data[q] < 0 && phi->data[q] > near ? 0 : phi->data[q];
}

void mn_liquid_finish(mn_mac *mac, mn_field *phi)
{
  mn_extension_apply(&mac->geometry.cell_extension, MN_CONTINUE_CONSTANT, phi);
  mn_liquid_into_solids(mac, phi);
  mn_liquid_put_on_surface(mac, phi);
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

/* The same in 3D where all is seen. */
static inline double octant_seen(const double *p, int64_t x, int64_t y, int64_t z)
{
  const double w0 = 0.421875, w1 = 0.140625, w2 = 0.046875, w3 = 0.015625; /* 27, 9, 3, 1 of 64 */
  return w0 * p[0] + w1 * p[x] + w1 * p[y] + w2 * p[x + y] + w1 * p[z] + w2 * p[x + z] +
         w2 * p[y + z] + w3 * p[x + y + z];
}

double mn_liquid_part(const mn_field *phi, uint32_t seen, int i, int j, int k, double shift)
{
  int64_t q = mn_index(phi, i, j, k), sy = phi->stride[1], sz = phi->stride[2];
  double dx = phi->grid->dx, middle = phi->at[q] - shift, sum = 0;
  int octants = 1 << phi->grid->dim, all = octants == 8 && seen == MN_SEEN_ALL;
  if (fabs(middle) >= dx) /* more than half the diagonal */
    return middle < 0 ? 1 : 0;
  for (int c = 0; c < octants; c++) {
    double value =
        all ? octant_seen(phi->at + q, c & 1 ? 1 : -1, c & 2 ? sy : -sy, c & 4 ? sz : -sz)
            : octant(phi, q, seen, c);
    sum += mn_clamp(0.5 - 2 * (value - shift) / dx, 0, 1);
  }
  return sum / octants;
}

/* Particles this far from the surface, in cells, fly on their own; nearer ones touch faces in the
   air that no pressure holds, but belong to the liquid and go with it. */
static const double SPRAY = 0.6;

/* What is left of a face between a moving solid and another wall, or at a solid's flank, is a slit
   if it is less than this. The water there moves as fast as it must to get out of the way, by 1
   over what is left; particles, which are as heavy there as anywhere, must not go with it, or they
   have as many times its energy. They go as the water beside it does. */
static const double SLIT = 0.05;

/* Layers of the faces of one axis on row j, k before the plan; see mn_liquid_plan. */
static void mark_row(mn_mac *mac, const mn_field *phi, int a, int j, int k)
{
  const mn_mac_geometry *g = &mac->geometry;
  const mn_field *f = &g->open[a];
  const double *weight = mac->water.weight[a].data; /* NULL without particles */
  unsigned char *layer = g->face_extension[a].layer;
  double spray = SPRAY * mac->grid.dx;
  double narrow = phi && (mac->bodies.on || mac->moving) ? SLIT : 0;
  for (int i = 0; i < f->n[0]; i++) {
    int at[3] = {i, j, k};
    int64_t q = f->at - f->data + mn_index(f, i, j, k);
    int brought = weight && weight[q] > MN_WATER_WEIGHT_MIN, wet = brought;
    if (phi) {
      int64_t c = mn_index(phi, i, j, k);
      double high = at[a] < f->n[a] - 1 ? phi->at[c] : 1e30;
      double low = at[a] > 0 ? phi->at[c - phi->stride[a]] : 1e30;
      double least = low < high ? low : high;
      wet = least < 0 || (brought && least > spray);
    }
    mn_face_kind kind = (mn_face_kind)g->kind[a][q];
    if (kind <= MN_FACE_STUCK ? wet && f->data[q] >= narrow : kind == MN_FACE_SOURCE)
      layer[q] = 0;
    else if (mn_is_side(kind) || kind >= MN_FACE_NOSLIP)
      layer[q] = MN_NO_SOURCE; /* the air near a wall moves with the liquid */
  }
}

void mn_liquid_plan(mn_mac *mac, const mn_field *phi)
{
  mn_mac_geometry *g = &mac->geometry;
  for (int a = 0; a < mac->grid.dim; a++) {
    const mn_field *f = &g->open[a];
    mn_extension *e = &g->face_extension[a];
    int slabs = mn_slabs(f);
    memset(e->layer, MN_OUT_OF_REACH, e->capacity);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
    for (int s = 0; s < slabs; s++) {
      int k, j0, j1;
      mn_slab(f, s, &k, &j0, &j1);
      for (int j = j0; j < j1; j++)
        mark_row(mac, phi, a, j, k);
    }
    e->surface = g->thin;
    mn_extension_plan(f, e);
  }
}
