/* How much fluid is in the cells that bodies cut, as their loads count it.

   The marching squares (tetrahedra) of grid/fractions.h lose a little of a body at its corners and
   curves. Buoyancy must not: a body as heavy as the fluid that it displaces stays where it is, and
   does not turn. So the solid parts s of the cells that a closed body cuts are changed to

       s + s (1 - s) (a + b.(x - c)),

   a and b such that volume and centre of volume are those of the surface mesh. Only the mass of the
   fluid beside the body (loads.c) uses them, not the projection.

   Bodies that reach out of the domain, that share cut cells with a solid of the scene, or that are
   so small that a and b come out greater than 1 over them, keep the parts as they are.

   Verified by tests/verify/test_neutral.c. */
#include <math.h>
#include <string.h>

#include "fluid/mac/internal.h"

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

static int inside_domain(const mn_mac *mac, const mn_immersed_body *body)
{
  const mn_grid *g = &mac->grid;
  for (int a = 0; a < g->dim; a++)
    if (body->lo.v[a] < g->origin.v[a] || body->hi.v[a] > g->origin.v[a] + g->dx * g->n[a])
      return 0;
  return 1;
}

/* Calls one of two things for each cell with some of `body` in it, of the cells around its box. */
static void visit(mn_mac *mac, const mn_immersed *im, int body, sums *s, int change)
{
  const mn_immersed_body *box = &im->body[body];
  const mn_grid *g = &mac->grid;
  int lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
  for (int a = 0; a < g->dim; a++) {
    lo[a] = (int)mn_clamp(floor((box->lo.v[a] - g->origin.v[a]) / g->dx) - 1, 0, g->n[a]);
    hi[a] = (int)mn_clamp(ceil((box->hi.v[a] - g->origin.v[a]) / g->dx) + 1, 0, g->n[a]);
  }
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
  mn_field_copy(&mac->bodies.part, &mac->geometry.volume);
  for (int b = 0; b < im->bodies && im->closed_elements; b++) {
    const mn_immersed_body *body = &im->body[b];
    if (!body->elements || body->two_sided || !inside_domain(mac, body))
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
}
