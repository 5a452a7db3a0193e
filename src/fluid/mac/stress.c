/* Viscous stress of a liquid with a free surface: what the matrix is made of.

       du/dt = div(2 nu D) + a,   D = (grad u + grad u^T)/2,   2 nu D n = 0 on the surface

   A backward step of length tau from u* is the minimum of [Batty, Bridson 2008]

       1/2 sum over faces of M (u - u*)^2 + tau sum of nu V D:D

   with M and V the liquid part of the box of one cell about each face, and about each point of a
   strain rate: D_aa at cell centres, D_ab at edges (nodes in 2D). That the stress vanishes at the
   surface is the natural condition of the minimum: nothing has to be said about air. A rigid
   motion has D = 0 in every term, whatever the weights, so it is kept to rounding.

       D_aa = (u_a(+) - u_a(-)) / dx,   2 D_ab = (d_b u_a) / dx + (d_a u_b) / dx

   A term is left out when one of its faces is in the air (M = 0) or inside a solid along which the
   liquid slides. Given velocities enter a difference where they are:

       closed side along a face's axis   at the face
       no-slip side across               at dx/2
       source                            at the face
       no-slip solid                     at theta dx from the liquid's face
       through side across               at dx, the velocity of the face inside before the step

   D_aa is left out, too, at a wall that the liquid can leave, and is about to (leaves_wall).

   The boxes' parts come from their 2^dim octants, each shared by one cell, one face per axis and
   one edge per pair of axes: all of them hold the same liquid.

   nu at an edge is the harmonic mean over the cells around it: exact for layers whose border lies
   on cell faces.

   symbol   variable                     unit
   M        mass                         1
   tau      time_scale                   s
   w        square of normal, shear      1 (nu tau V / dx^2, twice that for normal)

   Limits: second order with a flat surface, cut or not; with a curved one not more than first is
   claimed. No stress at solids along which the liquid slides.
   Verified by tests/verify/test_viscous_water.c. */
#include "fluid/mac/internal.h"

#include <math.h>

static const double THETA_MIN = 0.05;
/* A face with less of its box in the liquid is air, unless a cell beside it is liquid. */
static const double MASS_MIN = 0.01;

/* ---- how much of a box is liquid ------------------------------------------------------------- */

/* Multilinear interpolation a quarter of a cell from point `at` towards the neighbours `step`. */
static double quarter(const mn_field *f, const int at[3], const int step[3])
{
  int dim = f->grid->dim;
  double sum = 0;
  for (int c = 0; c < 1 << dim; c++) {
    int64_t q = mn_index(f, at[0], at[1], at[2]);
    double w = 1;
    for (int a = 0; a < dim; a++) {
      w *= c >> a & 1 ? 0.25 : 0.75;
      q += c >> a & 1 ? step[a] * f->stride[a] : 0;
    }
    sum += w * f->at[q];
  }
  return sum;
}

/* Liquid part of octant I (in half cells); outside the domain there is none, but beyond a through
   side it is as inside. */
static double octant(const mn_mac *mac, const int I[3])
{
  const mn_field *phi = &mac->liquid_next, *solid = &mac->geometry.solid;
  int at[3] = {0, 0, 0}, node[3] = {0, 0, 0}, step[3] = {0, 0, 0}, back[3] = {0, 0, 0};
  for (int a = 0; a < mac->grid.dim; a++) {
    int i = I[a], last = 2 * phi->n[a] - 1;
    if (i < 0 || i > last) {
      if (mac->def->domain.side[2 * a + (i > last)].kind != MN_SIDE_THROUGH)
        return 0;
      i = i < 0 ? 0 : last;
    }
    at[a] = i / 2;
    step[a] = i & 1 ? 1 : -1;
    node[a] = at[a] + (i & 1);
    back[a] = -step[a];
  }
  double dx = mac->grid.dx, here = mn_get(phi, at[0], at[1], at[2]);
  double liquid = here < -2 * dx ? 1 : here > 2 * dx ? 0 : -1;
  if (liquid < 0)
    liquid = mn_clamp(0.5 - 2 * quarter(phi, at, step) / dx, 0, 1);
  if (!mn_mac_has_solids(mac) || !(liquid > 0))
    return liquid;
  return liquid * mn_clamp(0.5 + 2 * quarter(solid, node, back) / dx, 0, 1);
}

/* Of the box of one cell whose low octant is `low`. */
static double box_part(const mn_mac *mac, const int low[3])
{
  int dim = mac->grid.dim;
  double sum = 0;
  for (int c = 0; c < 1 << dim; c++)
    sum += octant(mac, (int[3]){low[0] + (c & 1), low[1] + (c >> 1 & 1),
                                dim == 3 ? low[2] + (c >> 2 & 1) : 0});
  return sum / (1 << dim);
}

/* ---- differences of a component between two faces -------------------------------------------- */

typedef enum mn_end { FREE, GIVEN, MISSING } mn_end;

/* What is known of component a at face `at`, which may lie one beyond a side across. */
static mn_end end_of(const mn_mac *mac, int a, const int at[3], double time, double *value,
                     double *scale)
{
  const mn_mac_geometry *g = &mac->geometry;
  const mn_field *f = &g->open[a];
  int inside[3] = {at[0], at[1], at[2]}, side = -1;
  for (int b = 0; b < mac->grid.dim; b++)
    if (at[b] < 0 || at[b] >= f->n[b]) {
      side = 2 * b + (at[b] > 0);
      inside[b] += at[b] < 0 ? 1 : -1;
    }
  int64_t q = mn_index(f, inside[0], inside[1], inside[2]);
  mn_face_kind kind = (mn_face_kind)g->kind[a][f->at - f->data + q];
  *scale = 1;
  if (side >= 0) {
    mn_side_kind beyond = mac->def->domain.side[side].kind;
    if (beyond == MN_SIDE_THROUGH && kind == MN_FACE_FLUID) {
      *value = mac->star[a].at[q];
      return mac->stress.mass[a].at[q] > 0 ? GIVEN : MISSING;
    }
    if (beyond == MN_SIDE_NOSLIP) {
      *value = mn_mac_side_velocity(mac, side, time, a);
      *scale = 2;
      return GIVEN;
    }
    if (beyond != MN_SIDE_THROUGH)
      return MISSING;
  }
  *value = kind == MN_FACE_EDGE ? 0 : g->wall[a].at[q];
  if (kind == MN_FACE_FLUID)
    return mac->stress.mass[a].at[q] > 0 ? FREE : MISSING;
  return kind == MN_FACE_SLIP ? MISSING : GIVEN;
}

static double face_distance(const mn_field *solid, int axis, const int at[3])
{
  double sum = 0;
  int dim = solid->grid->dim;
  for (int c = 0; c < 1 << dim; c++) {
    int64_t q = mn_index(solid, at[0], at[1], at[2]);
    for (int a = 0; a < dim; a++)
      q += (c >> a & 1) && a != axis ? solid->stride[a] : 0;
    sum += solid->at[q];
  }
  return sum / (1 << dim);
}

/* difference = scale (u(high) - u(low)) + known, where only free faces count in u */
typedef struct difference {
  int there, free; /* it exists; some of its faces are unknowns */
  double scale, known;
} difference;

/* The given end lies inside a no-slip solid: its velocity where the wall is. */
static difference to_solid(const mn_mac *mac, int a, int b, const int from[3], const int to[3],
                           int up)
{
  double here = face_distance(&mac->geometry.solid, a, from);
  double there = face_distance(&mac->geometry.solid, a, to);
  double theta = mn_clamp(here > 0 && here > there ? here / (here - there) : 0, THETA_MIN, 1);
  mn_vec3 x = mn_position(&mac->geometry.open[a], from[0], from[1], from[2]);
  x.v[b] += (up ? theta : -theta) * mac->grid.dx;
  double value = mn_mac_solid_velocity(mac, x).v[a] / theta;
  return (difference){1, 1, 1 / theta, up ? value : -value};
}

/* Of component a along b, up to face `high`. */
static difference differ(const mn_mac *mac, int a, int b, const int high[3], double time)
{
  int low[3] = {high[0], high[1], high[2]};
  low[b]--;
  double value[2], scale[2];
  mn_end up = end_of(mac, a, high, time, &value[1], &scale[1]);
  mn_end down = end_of(mac, a, low, time, &value[0], &scale[0]);
  if (up == MISSING || down == MISSING)
    return (difference){0, 0, 0, 0};
  if (up == FREE && down == FREE)
    return (difference){1, 1, 1, 0};
  if (up == GIVEN && down == GIVEN)
    return (difference){1, 0, 1, value[1] - value[0]};
  const mn_field *f = &mac->geometry.open[a];
  const int *given = up == GIVEN ? high : low;
  int inside = given[b] >= 0 && given[b] < f->n[b];
  if (inside) {
    int64_t q = f->at - f->data + mn_index(f, given[0], given[1], given[2]);
    unsigned char kind = mac->geometry.kind[a][q];
    if (kind == MN_FACE_NOSLIP || kind == MN_FACE_STUCK)
      return to_solid(mac, a, b, up == GIVEN ? low : high, given, up == GIVEN);
  }
  double s = up == GIVEN ? scale[1] : scale[0];
  return (difference){1, 1, s, up == GIVEN ? s * value[1] : -s * value[0]};
}

/* ---- weights --------------------------------------------------------------------------------- */

static void weigh_faces(mn_mac *mac, int a)
{
  mn_field *mass = &mac->stress.mass[a];
  const mn_field *phi = &mac->liquid_next;
  const unsigned char *kind = mac->geometry.kind[a] + (mass->at - mass->data);
  int slabs = mn_slabs(mass);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(mass, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < mass->n[0]; i++) {
        int64_t q = mn_index(mass, i, j, k), c = mn_index(phi, i, j, k);
        int low[3] = {2 * i, 2 * j, 2 * k}, at[3] = {i, j, k};
        low[a]--;
        double part = kind[q] == MN_FACE_FLUID ? box_part(mac, low) : 0;
        int wet =
            (at[a] < phi->n[a] && phi->at[c] < 0) || (at[a] > 0 && phi->at[c - phi->stride[a]] < 0);
        int own = kind[q] == MN_FACE_FLUID && (wet || part > MASS_MIN);
        mass->at[q] = own ? fmax(part, MASS_MIN) : 0;
      }
  }
}

/* Whether cell `at` is about to leave a wall along axis a: nothing presses it there, and it moves
   away. Such a wall does not hold it back by viscous stress either. */
static int leaves_wall(const mn_mac *mac, int a, const int at[3])
{
  const mn_mac_geometry *g = &mac->geometry;
  const mn_field *u = &mac->star[a];
  int64_t low = mn_index(u, at[0], at[1], at[2]), high = low + u->stride[a];
  const unsigned char *kind = g->kind[a] + (u->at - u->data);
  if (mac->def->fluid.walls != MN_WALLS_SEPARATING ||
      mn_get(&mac->state.p, at[0], at[1], at[2]) > 0)
    return 0;
  int below = mn_is_side(kind[low]) || kind[low] == MN_FACE_NOSLIP;
  int above = mn_is_side(kind[high]) || kind[high] == MN_FACE_NOSLIP;
  if (below == above)
    return 0;
  int64_t wall = below ? low : high, away = below ? high : low;
  double speed = u->at[away] + mac->dt * mac->gradient[a].at[away] - g->wall[a].at[wall];
  return kind[away] == MN_FACE_FLUID && (below ? speed > 0 : speed < 0);
}

static void weigh_cells(mn_mac *mac, double weight)
{
  mn_stress *t = &mac->stress;
  const mn_field *cells = &t->normal[0];
  int slabs = mn_slabs(cells);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(cells, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < cells->n[0]; i++) {
        double part = box_part(mac, (int[3]){2 * i, 2 * j, 2 * k});
        double root = sqrt(2 * weight * part * mn_get(&t->factor, i, j, k));
        for (int a = 0; a < mac->grid.dim; a++) {
          int high[3] = {i, j, k};
          high[a]++;
          int there = part > 0 && !leaves_wall(mac, a, (int[3]){i, j, k});
          difference d = there ? differ(mac, a, a, high, 0) : (difference){0, 0, 0, 0};
          mn_set(&t->normal[a], i, j, k, d.there && d.free ? root * d.scale : 0);
        }
      }
  }
}

/* Harmonic mean over the cells around an edge; those outside the domain do not count. */
static double edge_factor(const mn_field *factor, const int at[3], int a, int b)
{
  double sum = 0;
  int count = 0;
  for (int c = 0; c < 4; c++) {
    int cell[3] = {at[0], at[1], at[2]};
    cell[a] -= c & 1;
    cell[b] -= c >> 1;
    if (cell[a] < 0 || cell[a] >= factor->n[a] || cell[b] < 0 || cell[b] >= factor->n[b])
      continue;
    double f = mn_get(factor, cell[0], cell[1], cell[2]);
    if (!(f > 0))
      return 0;
    sum += 1 / f;
    count++;
  }
  return count / sum;
}

static void weigh_edge(mn_mac *mac, int c, const int at[3], double weight)
{
  mn_stress *t = &mac->stress;
  int a, b, low[3] = {2 * at[0] - 1, 2 * at[1] - 1, mac->grid.dim == 3 ? 2 * at[2] - 1 : 0};
  mn_stress_axes(c, &a, &b);
  low[c] = 2 * at[c];
  double part = at[c] < mac->grid.n[c] ? box_part(mac, low) : 0, root = 0;
  difference ab = {0}, ba = {0};
  if (part > 0) {
    ab = differ(mac, a, b, at, 0);
    ba = differ(mac, b, a, at, 0);
  }
  if (ab.there && ba.there && (ab.free || ba.free))
    root = sqrt(weight * part * edge_factor(&t->factor, at, a, b));
  mn_set(&t->shear[c][0], at[0], at[1], at[2], root * ab.scale);
  mn_set(&t->shear[c][1], at[0], at[1], at[2], root * ba.scale);
}

static void weigh_edges(mn_mac *mac, int c, double weight)
{
  const mn_field *f = &mac->stress.shear[c][0];
  int slabs = mn_slabs(f);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(f, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < f->n[0]; i++)
        weigh_edge(mac, c, (int[3]){i, j, k}, weight);
  }
}

/* The matrix within component a: a seven-point stencil, for the preconditioner. */
static void make_block(mn_mac *mac, int a)
{
  mn_stress *t = &mac->stress;
  mn_stencil *block = &t->block[a];
  const mn_field *mass = &t->mass[a];
  int slabs = mn_slabs(mass);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(mass, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < mass->n[0]; i++) {
        int64_t q = mn_index(mass, i, j, k);
        double diagonal = mass->at[q];
        for (int b = 0; b < mac->grid.dim; b++) {
          const mn_field *w = &t->normal[a];
          int64_t low = mn_index(w, i, j, k) - w->stride[a], high = low + w->stride[a];
          if (b != a) {
            int c = mac->grid.dim == 2 ? 2 : 3 - a - b;
            w = &t->shear[c][a > b];
            low = mn_index(w, i, j, k);
            high = low + w->stride[b];
          }
          diagonal += w->at[low] * w->at[low] + w->at[high] * w->at[high];
          int pair = mass->at[q - mass->stride[b]] > 0;
          block->off[b].at[q] = pair ? w->at[low] * w->at[low] : 0;
        }
        block->diagonal.at[q] = mass->at[q] > 0 ? diagonal : 0;
      }
  }
}

void mn_stress_assemble(mn_mac *mac, double time_scale)
{
  double dx = mac->grid.dx;
  double weight = time_scale * mac->def->fluid.viscosity / (dx * dx);
  for (int a = 0; a < mac->grid.dim; a++)
    weigh_faces(mac, a);
  weigh_cells(mac, weight);
  for (int c = mac->grid.dim == 2 ? 2 : 0; c < 3; c++)
    weigh_edges(mac, c, weight);
  for (int a = 0; a < mac->grid.dim; a++)
    make_block(mac, a);
}

/* ---- given velocities ------------------------------------------------------------------------ */

/* The part of a difference that is given, weighted; `root` belongs to it and holds its scale. */
static double given_part(const mn_mac *mac, int a, int b, const int high[3], double root,
                         double time)
{
  difference d = differ(mac, a, b, high, time);
  return d.known * (root / d.scale);
}

static void given_at_cell(mn_mac *mac, const int at[3], double time)
{
  mn_stress *t = &mac->stress;
  for (int a = 0; a < mac->grid.dim; a++) {
    int high[3] = {at[0], at[1], at[2]};
    high[a]++;
    double root = mn_get(&t->normal[a], at[0], at[1], at[2]);
    const mn_field *m = &t->mass[a];
    int64_t q = mn_index(m, at[0], at[1], at[2]);
    int bare = root > 0 && !(m->at[q] > 0 && m->at[q + m->stride[a]] > 0);
    mn_set(&t->normal_now[a], at[0], at[1], at[2],
           bare ? given_part(mac, a, a, high, root, time) : 0);
  }
}

static void given_at_edge(mn_mac *mac, int c, const int at[3], double time)
{
  mn_stress *t = &mac->stress;
  int axes[2];
  double sum = 0;
  mn_stress_axes(c, &axes[0], &axes[1]);
  for (int n = 0; n < 2; n++) {
    int a = axes[n], b = axes[1 - n];
    double root = mn_get(&t->shear[c][n], at[0], at[1], at[2]);
    const mn_field *m = &t->mass[a];
    int64_t q = mn_index(m, at[0], at[1], at[2]);
    if (root > 0 && !(m->at[q] > 0 && m->at[q - m->stride[b]] > 0))
      sum += given_part(mac, a, b, at, root, time);
  }
  mn_set(&t->shear_now[c], at[0], at[1], at[2], sum);
}

void mn_stress_given(mn_mac *mac, double time)
{
  mn_stress *t = &mac->stress;
  for (int c = -1; c < 3; c++) { /* -1: cells */
    if (c >= 0 && c < 2 && mac->grid.dim == 2)
      continue;
    const mn_field *f = c < 0 ? &t->normal_now[0] : &t->shear_now[c];
    int slabs = mn_slabs(f);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
    for (int s = 0; s < slabs; s++) {
      int k, j0, j1;
      mn_slab(f, s, &k, &j0, &j1);
      for (int j = j0; j < j1; j++)
        for (int i = 0; i < f->n[0]; i++)
          if (c < 0)
            given_at_cell(mac, (int[3]){i, j, k}, time);
          else
            given_at_edge(mac, c, (int[3]){i, j, k}, time);
    }
  }
}
