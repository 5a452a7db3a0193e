/* Bodies on the grid have the volume that their surfaces enclose.

   The marching squares (tetrahedra) of grid/fractions.h lose a little of a body at its corners and
   curves, dx^2/(12 R) of the radius of a disk and more of a sphere: an error of the added mass of
   3 % at R = 6 cells. So the distance to each closed surface is shifted by the one small length at
   which the cells' solid parts sum to the exact volume. A body that shrinks keeps the nodes inside
   and on its surface: where another one lies against it on a line of the grid these would belong to
   neither, and a gap would open (a barrel and its piston: test_syringe.c).

   Buoyancy must be exact: a body as heavy as the fluid that it displaces stays where it is, and
   does not turn. So, for the mass of the fluid beside the body (loads.c) only, the solid parts s of
   the cells that it cuts are changed once more, to

       s + s (1 - s) (a + b.(x - c)),

   a and b such that volume and centre of volume are those of the surface mesh.

   Bodies that reach out of the domain, that lie against a wall with a part of their surface
   (pistons: grid/immersed.h knows their distance, but where they touch the wall is no surface of
   the fluid; see geometry.c), that share cut cells with a solid of the scene, or that are so small
   that the shift is more than SHIFT cells or a and b come out greater than 1 over them, keep what
   the marching gives.

   Verified by tests/verify/test_neutral.c, test_syringe.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "fluid/mac/internal.h"
#include "grid/fractions.h"

static const double SHIFT = 0.2;
/* Cells: a node so near to a surface lies on it. */
static const double ON_SURFACE = 1e-6;
/* Points so near to a wall lie against it, in cells. */
static const double AGAINST = 1e-6;

/* Sums over the cells of one body, about the middle c of its box, in cells. */
typedef struct sums {
  mn_vec3 center;
  double moment[4];    /* solid volume, its first moments */
  double system[4][4]; /* sums of g, g r, g r r */
  double reach;        /* greatest |r| of a cut cell */
  int shared;          /* some cut cell is beside another solid */
  double a[4];         /* the answer: a, b */
} sums;

/* Volume and first moments about c within the elements of a body, in cells. */
static void exact_moments(const mn_immersed *im, int body, mn_vec3 c, double moment[4])
{
  int dim = im->grid->dim;
  double dx = im->grid->dx;
  memset(moment, 0, 4 * sizeof *moment);
  for (size_t e = 0; e < im->elements; e++) {
    if (im->body_of[e] != body)
      continue;
    mn_vec3 x[3] = {{{0}}}, sum = {{0, 0, 0}};
    for (int n = 0; n < dim; n++) {
      x[n] = mn_scale(1 / dx, mn_sub(im->X[im->element[(size_t)dim * e + (size_t)n]], c));
      sum = mn_add(sum, x[n]);
    }
    /* the cone from c; segments have the fluid on their right */
    double part =
        dim == 2 ? (x[0].x * x[1].y - x[0].y * x[1].x) / 2 : mn_dot(x[0], mn_cross(x[1], x[2])) / 6;
    moment[0] += part;
    for (int a = 0; a < dim; a++)
      moment[1 + a] += part * sum.v[a] / (dim + 1);
  }
}

/* The closed body nearest to a cell by its nodes, or -1. */
static int cell_body(const mn_immersed *im, int i, int j, int k)
{
  uint32_t best = MN_NO_ELEMENT;
  double least = INFINITY;
  for (int n = 0; n < 1 << im->grid->dim; n++) {
    int64_t q = mn_index(&im->distance, i + (n & 1), j + (n >> 1 & 1), k + (n >> 2));
    double d = im->distance.at[q];
    if (im->nearest[q] != MN_NO_ELEMENT && d < least) {
      least = d;
      best = im->nearest[q];
    }
  }
  return best == MN_NO_ELEMENT ? -1 : im->body_of[best];
}

static int inside_domain(const mn_mac *mac, const mn_immersed_body *body)
{
  const mn_grid *g = &mac->grid;
  for (int a = 0; a < g->dim; a++)
    if (body->lo.v[a] < g->origin.v[a] || body->hi.v[a] > g->origin.v[a] + g->dx * g->n[a])
      return 0;
  return 1;
}

/* Bit 2 a + high of each side of the domain that x lies on, and one more for the scene's solids. */
static unsigned walls_at(const mn_mac *mac, mn_vec3 x)
{
  const mn_grid *g = &mac->grid;
  double near = AGAINST * g->dx;
  unsigned bits = 0;
  for (int a = 0; a < g->dim; a++) {
    double low = x.v[a] - g->origin.v[a];
    bits |= fabs(low) < near ? 1u << 2 * a : 0;
    bits |= fabs(low - g->dx * g->n[a]) < near ? 2u << 2 * a : 0;
  }
  if (mac->def->solid_count && fabs(mn_mac_obstacle_distance(mac, x)) < near)
    bits |= 1u << 6;
  return bits;
}

/* Some element lies against a wall with all its points. */
static int is_flush(const mn_mac *mac, const mn_immersed *im, int body)
{
  int dim = im->grid->dim;
  for (size_t e = 0; e < im->elements; e++) {
    unsigned bits = im->body_of[e] == body ? ~0u : 0;
    for (int n = 0; n < dim && bits; n++)
      bits &= walls_at(mac, im->X[im->element[(size_t)dim * e + (size_t)n]]);
    if (bits)
      return 1;
  }
  return 0;
}

/* Cells around the box of a body: [lo, hi). */
static void around(const mn_grid *g, const mn_immersed_body *box, int lo[3], int hi[3])
{
  lo[2] = 0;
  hi[2] = 1;
  for (int a = 0; a < g->dim; a++) {
    lo[a] = (int)mn_clamp(floor((box->lo.v[a] - g->origin.v[a]) / g->dx) - 1, 0, g->n[a]);
    hi[a] = (int)mn_clamp(ceil((box->hi.v[a] - g->origin.v[a]) / g->dx) + 1, 0, g->n[a]);
  }
}

/* ---- the shift ------------------------------------------------------------------------------- */

double mn_mac_shifted(const mn_mac *mac, double distance, double shift)
{
  double shifted = distance - shift;
  return distance <= ON_SURFACE * mac->grid.dx ? fmin(shifted, 0) : shifted;
}

/* Solid volume of a body shifted outwards, in cells. */
static double grid_volume(const mn_mac *mac, const mn_immersed *im, int body, double shift)
{
  int lo[3], hi[3], corners = 1 << im->grid->dim;
  double sum = 0;
  around(im->grid, &im->body[body], lo, hi);
  for (int k = lo[2]; k < hi[2]; k++)
    for (int j = lo[1]; j < hi[1]; j++) {
      int owner = -1; /* the depth of a body has that of the cell before */
      for (int i = lo[0]; i < hi[0]; i++) {
        double d[8], least = INFINITY;
        for (int n = 0; n < corners; n++) {
          d[n] = mn_get(&im->distance, i + (n & 1), j + (n >> 1 & 1), k + (n >> 2));
          d[n] = mn_mac_shifted(mac, d[n], shift);
          least = fmin(least, d[n]);
        }
        if (least >= 0)
          continue;
        int near = cell_body(im, i, j, k);
        owner = near >= 0 ? near : owner;
        sum += owner == body ? 1 - mn_cell_fraction(im->grid->dim, d) : 0;
      }
    }
  return sum;
}

/* Area of the surface over dx^(dim-1). */
static double surface(const mn_immersed *im, int body)
{
  int dim = im->grid->dim;
  double sum = 0;
  for (size_t e = 0; e < im->elements; e++) {
    const uint32_t *at = im->element + (size_t)dim * e;
    if (im->body_of[e] != body)
      continue;
    mn_vec3 u = mn_sub(im->X[at[1]], im->X[at[0]]);
    sum +=
        dim == 2 ? mn_length(u) : 0.5 * mn_length(mn_cross(u, mn_sub(im->X[at[2]], im->X[at[0]])));
  }
  return sum / pow(im->grid->dx, dim - 1);
}

mn_status mn_mac_bodies_shift(mn_mac *mac, const mn_immersed *im)
{
  mn_mac_bodies *b = &mac->bodies;
  double dx = mac->grid.dx, cell = pow(dx, mac->grid.dim);
  if (im->bodies > b->shifts) {
    MN_TRY(mn_grow(mac->ctx, "shifts of bodies", (size_t)b->shifts, (size_t)im->bodies,
                   sizeof *b->shift, (void **)&b->shift));
    MN_TRY(mn_grow(mac->ctx, "shifts of bodies", (size_t)b->shifts, (size_t)im->bodies,
                   sizeof *b->flush, (void **)&b->flush));
    b->shifts = im->bodies;
  }
  for (int n = 0; n < im->bodies; n++) {
    const mn_immersed_body *body = &im->body[n];
    double shift = 0;
    b->shift[n] = 0;
    b->flush[n] = body->elements && !body->two_sided && is_flush(mac, im, n);
    if (!body->elements || body->two_sided || b->flush[n] || !inside_domain(mac, body))
      continue;
    double area = surface(im, n);
    for (int step = 0; step < 3 && fabs(shift) <= SHIFT; step++)
      shift += (body->volume / cell - grid_volume(mac, im, n, shift * dx)) / area;
    b->shift[n] = fabs(shift) <= SHIFT ? shift * dx : 0;
  }
  return MN_OK;
}

/* ---- volume and centre ----------------------------------------------------------------------- */

/* A solid of the scene reaches into the cell. */
static int has_obstacle(const mn_mac *mac, int i, int j, int k)
{
  const mn_field *d = &mac->geometry.obstacles;
  for (int n = 0; n < 1 << mac->grid.dim && mac->def->solid_count; n++)
    if (mn_get(d, i + (n & 1), j + (n >> 1 & 1), k + (n >> 2)) < 0)
      return 1;
  return 0;
}

static void offset(const mn_mac *mac, const sums *s, int i, int j, int k, double r[4])
{
  mn_vec3 x = mn_sub(mn_position(&mac->bodies.part, i, j, k), s->center);
  r[0] = 1;
  for (int a = 0; a < 3; a++)
    r[1 + a] = a < mac->grid.dim ? x.v[a] / mac->grid.dx : 0;
}

static void add_cell(const mn_mac *mac, int i, int j, int k, sums *s)
{
  double solid = 1 - mn_get(&mac->bodies.part, i, j, k), g = solid * (1 - solid), r[4];
  offset(mac, s, i, j, k, r);
  for (int n = 0; n < 4; n++) {
    s->moment[n] += solid * r[n];
    for (int m = 0; m < 4; m++)
      s->system[n][m] += g * r[n] * r[m];
  }
  if (g > 0) {
    s->reach = fmax(s->reach, sqrt(r[1] * r[1] + r[2] * r[2] + r[3] * r[3]));
    s->shared |= has_obstacle(mac, i, j, k);
  }
}

/* Gaussian elimination with the greatest diagonal first; what the cut cells cannot change stays. */
static void solve(double A[4][4], double b[4], double x[4])
{
  int used[4] = {0}, order[4], rank = 0;
  double scale = fmax(fmax(A[0][0], A[1][1]), fmax(A[2][2], A[3][3]));
  for (; rank < 4; rank++) {
    int p = -1;
    for (int n = 0; n < 4; n++)
      if (!used[n] && (p < 0 || A[n][n] > A[p][p]))
        p = n;
    if (!(A[p][p] > 1e-12 * scale))
      break;
    used[p] = 1;
    order[rank] = p;
    for (int n = 0; n < 4; n++) {
      if (used[n])
        continue;
      double f = A[n][p] / A[p][p];
      for (int m = 0; m < 4; m++)
        A[n][m] -= f * A[p][m];
      b[n] -= f * b[p];
    }
  }
  memset(x, 0, 4 * sizeof *x);
  for (int t = rank - 1; t >= 0; t--) {
    int p = order[t];
    double sum = b[p];
    for (int u = t + 1; u < rank; u++)
      sum -= A[p][order[u]] * x[order[u]];
    x[p] = sum / A[p][p];
  }
}

/* Calls one of two things for each cell with some of `body` in it, of the cells around its box. */
static void visit(mn_mac *mac, const mn_immersed *im, int body, sums *s, int change)
{
  int lo[3], hi[3];
  around(&mac->grid, &im->body[body], lo, hi);
  for (int k = lo[2]; k < hi[2]; k++)
    for (int j = lo[1]; j < hi[1]; j++) {
      int owner = -1; /* the depth of a body has that of the cell before */
      for (int i = lo[0]; i < hi[0]; i++) {
        double *part = &mac->bodies.part.at[mn_index(&mac->bodies.part, i, j, k)];
        if (*part >= 1)
          continue;
        int near = cell_body(im, i, j, k);
        owner = near >= 0 ? near : owner;
        if (owner != body)
          continue;
        if (!change)
          add_cell(mac, i, j, k, s);
        else {
          double r[4], solid = 1 - *part;
          offset(mac, s, i, j, k, r);
          double f = s->a[0] + s->a[1] * r[1] + s->a[2] * r[2] + s->a[3] * r[3];
          *part -= solid * (1 - solid) * f;
        }
      }
    }
}

void mn_mac_bodies_parts(mn_mac *mac, const mn_immersed *im)
{
  const mn_mac_geometry *g = &mac->geometry;
  mn_field *part = &mac->bodies.part;
  mn_field_copy(part, g->empty ? &g->whole : &g->volume);
  for (int b = 0; b < im->bodies && im->closed_elements; b++) {
    const mn_immersed_body *body = &im->body[b];
    if (!body->elements || body->two_sided || mac->bodies.flush[b] || !inside_domain(mac, body))
      continue;
    sums s = {.center = mn_scale(0.5, mn_add(body->lo, body->hi))};
    double exact[4];
    visit(mac, im, b, &s, 0);
    exact_moments(im, b, s.center, exact);
    for (int n = 0; n < 4; n++)
      exact[n] -= s.moment[n];
    solve(s.system, exact, s.a);
    double most =
        fabs(s.a[0]) + s.reach * sqrt(s.a[1] * s.a[1] + s.a[2] * s.a[2] + s.a[3] * s.a[3]);
    if (!s.shared && most <= 1)
      visit(mac, im, b, &s, 1);
  }
  for (size_t q = 0; g->empty && q < part->size; q++)
    if (!(g->volume.data[q] > 0))
      part->data[q] = 0;
}
