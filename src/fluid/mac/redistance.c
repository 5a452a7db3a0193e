/* A level set made a distance again, by fast sweeping [Zhao 2005]:

       |grad phi| = 1,   phi kept in the cells beside the surface, so that it stays where it is

   with Godunov's first-order differences, in sweeps of alternating direction until nothing changes.
   Nobody asks how far a cell is beyond a few cells: REACH stands there, with the sign of its side.
   Cells nearer than that have the values they would have without this limit, for none of them
   follows from one further away. Beside thin shells there is no limit: across one, water meets air
   that may be far from any surface, and loads.c takes the ratio of the two distances.

   Verified by tests/unit/fluid/test_redistance.c. */
#include "fluid/mac/internal.h"

#include <math.h>
#include <string.h>

/* In cells. Who reads most is is_deep (volume.c): 1.6. */
static const double REACH = 4, BESIDE_SHELLS = 1e30; /* the latter in m */

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

enum { CHUNK = 8 };

static inline double least_of(double a, double b)
{
  return a < b ? a : b; /* unlike fmin an instruction, not a call */
}

/* Whether any of the cells p[0] to p[CHUNK - 1] could become less; not if none has a neighbour that
   is less, also of cells that follow each other in a sweep. Walls are not looked at. */
static inline int may_change(const double *p, int64_t sy, int64_t sz, const int dim)
{
  int any = 0;
  for (int l = 0; l < CHUNK; l++) {
    double x = least_of(fabs(p[l - 1]), fabs(p[l + 1]));
    double y = least_of(fabs(p[l - sy]), fabs(p[l + sy]));
    double z = dim == 3 ? least_of(fabs(p[l - sz]), fabs(p[l + sz])) : y;
    any |= least_of(x, least_of(y, z)) < p[l];
  }
  return any;
}

/* Whether anything in the row changed. */
static inline int sweep_row(const mn_field *d, const unsigned char *walls, double *row, int back,
                            const int dim)
{
  int n = d->n[0], any = 0;
  double dx = d->grid->dx;
  for (int c = 0; c < n; c += CHUNK) {
    int size = n - c < CHUNK ? n - c : CHUNK;
    double *p = row + (back ? n - c - size : c);
    if (size == CHUNK && !may_change(p, d->stride[1], d->stride[2], dim))
      continue;
    for (int i = 0; i < size; i++)
      any |= relax(p + (back ? size - 1 - i : i), d, walls, dim, dx);
  }
  return any;
}

/* In which sweep each row of cells changed last; 0: never. */
typedef unsigned char stamp;
enum { SEEDED = 1, FIRST = 2 };

/* A row need not be visited that has not changed, nor those beside it, since it was last passed. */
static inline int is_quiet(const stamp *row, int j, int ny, int k, int nz, stamp since)
{
  return row[0] < since && (j == 0 || row[-1] < since) && (j == ny - 1 || row[1] < since) &&
         (k == 0 || row[-ny] < since) && (k == nz - 1 || row[ny] < since);
}

/* Rows of cells in the order of a sweep: [jj0, jj1) of the planes [kk0, kk1), which are counted
   from the end where the sweep goes down. */
typedef struct block {
  int jj0, jj1, kk0, kk1;
} block;

static inline void sweep_block(mn_field *d, const unsigned char *walls, stamp *changed, int number,
                               const block *b, const int dim)
{
  int ny = d->n[1], nz = d->n[2], direction = number - FIRST;
  for (int kk = b->kk0; kk < b->kk1; kk++)
    for (int jj = b->jj0; jj < b->jj1; jj++) {
      int j = direction & 2 ? ny - 1 - jj : jj, k = direction & 4 ? nz - 1 - kk : kk;
      stamp *row = changed + j + (int64_t)ny * k;
      if (is_quiet(row, j, ny, k, nz, (stamp)(number - 1)))
        continue;
      if (sweep_row(d, walls, d->at + mn_index(d, 0, j, k), direction & 1, dim))
        *row = (stamp)number;
    }
}

enum { BLOCK = 16 }; /* rows, along y and z */

/* Each row needs those before it along y and z, and blocks of rows those before them: blocks on a
   diagonal do not know each other and are swept at the same time. The bits are those of one row
   after the other. Returns whether anything changed. */
static int sweep(mn_mac *mac, mn_field *d, const unsigned char *walls, int number)
{
  int ny = d->n[1], nz = d->n[2], threads = mac->grid.exec->threads;
  int size = mac->grid.dim == 3 ? BLOCK : ny;
  int blocks_y = (ny + size - 1) / size, blocks_z = (nz + size - 1) / size;
  for (int diagonal = 0; diagonal < blocks_y + blocks_z - 1; diagonal++) {
    int first = diagonal < blocks_z ? 0 : diagonal - blocks_z + 1;
    int last = diagonal < blocks_y ? diagonal : blocks_y - 1;
#pragma omp parallel for schedule(static) num_threads(last > first ? threads : 1)
    for (int n = first; n <= last; n++) {
      block b = {n * size, (n + 1) * size, (diagonal - n) * size, (diagonal - n + 1) * size};
      b.jj1 = b.jj1 < ny ? b.jj1 : ny;
      b.kk1 = b.kk1 < nz ? b.kk1 : nz;
      if (mac->grid.dim == 2)
        sweep_block(d, walls, mac->quiet_rows, number, &b, 2);
      else
        sweep_block(d, walls, mac->quiet_rows, number, &b, 3);
    }
  }
  return memchr(mac->quiet_rows, number, (size_t)ny * (size_t)nz) != NULL;
}

/* d <- the distances beside the surface, marked, and the limit elsewhere */
static void start(mn_mac *mac, const mn_field *phi, const unsigned char *walls, mn_field *d)
{
  int slabs = mn_slabs(phi);
  double reach = walls ? BESIDE_SHELLS : REACH * phi->grid->dx;
  mn_field_fill(d, INFINITY);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(phi, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++) {
      int seeds = 0;
      for (int i = 0; i < phi->n[0]; i++) {
        int beside = beside_surface(phi, walls, i, j, k);
        mn_set(d, i, j, k, beside ? -fabs(mn_get(phi, i, j, k)) : reach);
        seeds |= beside;
      }
      mac->quiet_rows[j + (int64_t)phi->n[1] * k] = seeds ? SEEDED : 0;
    }
  }
}

/* A sweep that changes nothing ends it, for then no order of the cells would. */
void mn_liquid_redistance(mn_mac *mac, mn_field *phi)
{
  mn_field *d = &mac->cell_scratch;
  const unsigned char *walls = mn_shell_walls(mac);
  int slabs = mn_slabs(phi), any = 1;
  start(mac, phi, walls, d);
  for (int n = FIRST; n < FIRST + (2 << mac->grid.dim) && any; n++)
    any = sweep(mac, d, walls, n);
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
