/* Bending of a surface of triangles, in the angles theta between neighbours.

   The angle at the edge k of a triangle is shared out to its two sides, theta = phi + phi', each
   the turn from the triangle's normal to the surface's at the middle of the edge. The curvature of
   a triangle of area A is then constant, with edges of length l_k and normals n_k in its plane,

       kappa = sum_k phi_k l_k/A n_k (x) n_k,   E = A D/2 ((1 - nu) |kappa|^2 + nu (tr kappa)^2)

   which is Morley's element [Morley 1968] if the sharing is left to be found by least energy, at
   the price of an unknown per edge. Here it is phi = theta/2 + xi with

       xi = (m - m') . H / 2,   H the curvature that fits best the angles of the five edges of the
                                two triangles: theta_i = (m_i + m_i') . H

   where m . H is what phi is for a surface of constant curvature H through the corners: with the
   apex at (s, h) over an edge of length l, along and across it,

       phi = H_ss s (s - l)/(2 h) + H_sn (s - l/2) + H_nn h/2.

   So constant curvature is met exactly by any mesh, and each edge has one xi, whence constant
   moments are in balance at inner nodes: both patch tests hold, and nothing but a flat shape has
   no energy. At a free edge phi is that of least energy (no moment). A triangle all of whose nodes
   are fixed does not bend: at a clamp the whole angle belongs to the other side. The sum over five
   edges makes an element of 12 nodes: a triangle, its neighbours, and theirs.

   Half angles (phi = theta/2) or one stiffness per hinge [Grinspun 2003] are right for some
   patterns of triangles only: a supported square plate came out 5 to 45 % too stiff, and finer
   meshes did not mend it.

   Lengths are those at rest: strains of the surface must be small, turns need not. Rest shapes may
   be curved; neighbours are then unfolded into the plane, which is as good as triangles are small
   against the radius. The projected Hessian leaves
   out the second derivatives of theta. Verified by tests/unit/solid/test_energy.c, test_thin.c,
   tests/verify/test_plate.c. */
#include "base/memory.h"
#include "base/status.h"
#include "math/svd.h"
#include "solid/hinge.h"
#include "solid/thin.h"

enum {
  NODES = 12,
  HINGES = 9,
  ANGLE = 0,                /* [HINGES]: at rest; NAN: there is no such hinge */
  SHARE = HINGES,           /* [3][HINGES]: phi of the angles */
  STIFFNESS = SHARE + 27,   /* [3][3]: N m */
  RIGIDITY = STIFFNESS + 9, /* D and nu, for those */
  PLATE_STRIDE = RIGIDITY + 2
};

/* Nodes of the hinges: edge from, to; the corner on its left; that on its right. The triangle is
   0 1 2; node 3 + k is across its edge k; 6 + 2 k and 7 + 2 k are across the neighbour's others. */
static const int HINGE[HINGES][4] = {{0, 1, 2, 3}, {1, 2, 0, 4},  {2, 0, 1, 5},
                                     {0, 3, 1, 6}, {3, 1, 0, 7},  {1, 4, 2, 8},
                                     {4, 2, 1, 9}, {2, 5, 0, 10}, {5, 0, 2, 11}};

/* ---- evaluation ------------------------------------------------------------------------------ */

/* hessian += moment times the second derivatives of a hinge's angle. */
static void add_angle_hessian(const mn_hinge *h, const int node[4], double moment, double *hessian)
{
  double H[81];
  mn_hinge_hessian(h, H);
  for (int p = 0; p < 4; p++)
    for (int q = 0; q < 4; q++)
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
          double sum = 0; /* node 0 is in every difference, with sign -1 */
          for (int r = p ? p - 1 : 0; r < (p ? p : 3); r++)
            for (int s = q ? q - 1 : 0; s < (q ? q : 3); s++)
              sum += H[(3 * r + i) * 9 + 3 * s + j];
          double sign = (p ? 1 : -1) * (q ? 1 : -1);
          hessian[(3 * node[p] + i) * 3 * NODES + 3 * node[q] + j] += sign * moment * sum;
        }
}

/* row[3][3 NODES]: dphi of all nodes */
static void share_gradients(const double *share, const mn_hinge *h, const int *has,
                            double row[][36])
{
  for (int r = 0; r < 3; r++)
    for (int i = 0; i < 3 * NODES; i++)
      row[r][i] = 0;
  for (int k = 0; k < HINGES; k++) {
    mn_vec3 g[4];
    if (!has[k])
      continue;
    mn_hinge_gradient(&h[k], g);
    for (int r = 0; r < 3; r++)
      for (int a = 0; a < 4 && share[r * HINGES + k] != 0; a++)
        for (int i = 0; i < 3; i++)
          row[r][3 * HINGE[k][a] + i] += share[r * HINGES + k] * g[a].v[i];
  }
}

static int plate_eval(const mn_energy_group *group, size_t index, const mn_vec3 *x, int psd,
                      double *energy, double *gradient, double *hessian)
{
  const double *data = group->data + index * PLATE_STRIDE, *share = data + SHARE;
  mn_hinge h[HINGES];
  int has[HINGES];
  double phi[3] = {0}, moment[3] = {0}, row[3][36];
  *energy = 0;
  for (int k = 0; k < HINGES; k++) {
    has[k] = !isnan(data[ANGLE + k]);
    if (!has[k])
      continue;
    if (!mn_hinge_make(x, HINGE[k], &h[k]))
      return 0;
    double away = h[k].angle - data[ANGLE + k];
    away -= 2 * MN_PI * round(away / (2 * MN_PI));
    for (int r = 0; r < 3; r++)
      phi[r] += share[r * HINGES + k] * away;
  }
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++)
      moment[r] += data[STIFFNESS + 3 * r + c] * phi[c];
  for (int r = 0; r < 3; r++)
    *energy += moment[r] * phi[r] / 2;
  if (gradient || hessian)
    share_gradients(share, h, has, row);
  for (int i = 0; gradient && i < 3 * NODES; i++)
    gradient[i] = moment[0] * row[0][i] + moment[1] * row[1][i] + moment[2] * row[2][i];
  if (!hessian)
    return isfinite(*energy);
  for (int i = 0; i < 3 * NODES; i++) {
    double K[3];
    for (int c = 0; c < 3; c++)
      K[c] = row[0][i] * data[STIFFNESS + c] + row[1][i] * data[STIFFNESS + 3 + c] +
             row[2][i] * data[STIFFNESS + 6 + c];
    for (int j = 0; j < 3 * NODES; j++)
      hessian[i * 3 * NODES + j] = K[0] * row[0][j] + K[1] * row[1][j] + K[2] * row[2][j];
  }
  for (int k = 0; k < HINGES && !psd; k++) {
    double m = 0;
    for (int r = 0; r < 3; r++)
      m += moment[r] * share[r * HINGES + k];
    if (has[k] && m != 0)
      add_angle_hessian(&h[k], HINGE[k], m, hessian);
  }
  return isfinite(*energy);
}

static const mn_energy_ops plate_ops = {"bending of triangle", plate_eval, NULL};

/* ---- stiffness ------------------------------------------------------------------------------- */

typedef struct plane {
  double x, y;
} plane;

/* Where the corner o stands over the edge from i to j: s along, h across. */
static void over_edge(const mn_vec3 *X, int i, int j, int o, double *s, double *h)
{
  mn_vec3 e = mn_sub(X[j], X[i]), w = mn_sub(X[o], X[i]);
  double l = mn_length(e);
  *s = mn_dot(w, e) / l;
  *h = mn_length(mn_cross(e, w)) / l;
}

/* Rows that give phi on both sides of a hinge from (H_xx, sqrt 2 H_xy, H_yy), whose norm is that of
   H; the edge points along t. */
static void curvature_rows(const mn_vec3 *X, const int node[4], plane t, double left[3],
                           double right[3])
{
  double l = mn_length(mn_sub(X[node[1]], X[node[0]]));
  double *out[2] = {left, right};
  for (int side = 0; side < 2; side++) {
    double s, h;
    over_edge(X, node[0], node[1], node[2 + side], &s, &h);
    double ss = s * (s - l) / (2 * h), sn = (side ? -1 : 1) * (s - l / 2), nn = h / 2;
    out[side][0] = ss * t.x * t.x - sn * t.x * t.y + nn * t.y * t.y;
    out[side][1] = (2 * (ss - nn) * t.x * t.y + sn * (t.x * t.x - t.y * t.y)) / sqrt(2);
    out[side][2] = ss * t.y * t.y + sn * t.x * t.y + nn * t.x * t.x;
  }
}

/* coefficient[i] of theta_i in goal . H, H the shortest of those that fit M_i . H = theta_i best,
   each row counted by its size. */
static void fit(int count, double M[][3], const double goal[3], double *coefficient)
{
  static const double SMALL = 1e-6; /* a curvature that the angles hardly show is taken as 0 */
  mn_mat3 N = mn_mat3_diagonal(0, 0, 0), V;
  double size[5], value[3];
  for (int i = 0; i < count; i++) {
    size[i] = M[i][0] * M[i][0] + M[i][1] * M[i][1] + M[i][2] * M[i][2];
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++)
        N.m[a][b] += M[i][a] * M[i][b] / size[i];
    coefficient[i] = 0;
  }
  mn_eigen_symmetric(&N, value, &V);
  for (int k = 0; k < 3; k++) {
    mn_vec3 v = mn_mat3_column(&V, k);
    double along = goal[0] * v.x + goal[1] * v.y + goal[2] * v.z;
    for (int i = 0; value[k] > SMALL * value[0] && i < count; i++)
      coefficient[i] +=
          along / value[k] * (M[i][0] * v.x + M[i][1] * v.y + M[i][2] * v.z) / size[i];
  }
}

/* Directions of the hinges' edges in the plane of the triangle, neighbours unfolded into it. */
static void unfold(const mn_vec3 *X, const int *has, plane t[HINGES])
{
  plane p[6] = {0};
  double s, h;
  over_edge(X, 0, 1, 2, &s, &h);
  p[0] = (plane){0, 0};
  p[1] = (plane){mn_length(mn_sub(X[1], X[0])), 0};
  p[2] = (plane){s, h};
  for (int k = 0; k < 3; k++) {
    plane a = p[k], b = p[(k + 1) % 3];
    double l = hypot(b.x - a.x, b.y - a.y);
    plane u = {(b.x - a.x) / l, (b.y - a.y) / l};
    if (!has[k])
      continue;
    over_edge(X, k, (k + 1) % 3, 3 + k, &s, &h);
    p[3 + k] = (plane){a.x + s * u.x + h * u.y, a.y + s * u.y - h * u.x};
  }
  for (int k = 0; k < HINGES; k++) {
    if (!has[k] && k >= 3)
      continue;
    plane a = p[HINGE[k][0]], b = p[HINGE[k][1]];
    double l = hypot(b.x - a.x, b.y - a.y);
    t[k] = (plane){(b.x - a.x) / l, (b.y - a.y) / l};
  }
}

/* What holds the triangles on both sides of a hinge. */
static int is_clamped(const uint8_t *fixed, const int node[4], int side)
{
  return fixed && (fixed[node[0]] & fixed[node[1]] & fixed[node[2 + side]] & 7) == 7;
}

/* SHARE: phi of the triangle's three edges from the angles. */
static void make_shares(const mn_vec3 *X, const uint8_t *fixed, const int *has, const plane *t,
                        double *share)
{
  for (int i = 0; i < 3 * HINGES; i++)
    share[i] = 0;
  if (is_clamped(fixed, HINGE[0], 0))
    return;
  for (int k = 0; k < 3; k++) {
    int used[5] = {k}, count = 1, others[4] = {(k + 1) % 3, (k + 2) % 3, 3 + 2 * k, 4 + 2 * k};
    double M[5][3], goal[3], left[3], right[3], coefficient[5];
    if (!has[k])
      continue;
    share[k * HINGES + k] = 0.5;
    if (is_clamped(fixed, HINGE[k], 1)) {
      share[k * HINGES + k] = 1;
      continue;
    }
    for (int i = 0; i < 4; i++) /* angles at clamps are not those of a smooth surface */
      if (has[others[i]] && !is_clamped(fixed, HINGE[others[i]], 0) &&
          !is_clamped(fixed, HINGE[others[i]], 1))
        used[count++] = others[i];
    for (int i = 0; i < count; i++) {
      curvature_rows(X, HINGE[used[i]], t[used[i]], left, right);
      for (int a = 0; a < 3; a++) {
        M[i][a] = left[a] + right[a];
        if (i == 0)
          goal[a] = (left[a] - right[a]) / 2;
      }
    }
    fit(count, M, goal, coefficient);
    for (int i = 0; i < count; i++)
      share[k * HINGES + used[i]] += coefficient[i];
  }
}

/* D l_i l_j/A ((1 - nu) (n_i . n_j)^2 + nu), less what free edges take. */
static void make_stiffness(const mn_vec3 *X, const int *has, const plane *t, double D, double nu,
                           double *K)
{
  double l[3], s, h;
  over_edge(X, 0, 1, 2, &s, &h);
  for (int k = 0; k < 3; k++)
    l[k] = mn_length(mn_sub(X[(k + 1) % 3], X[k]));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double c = t[i].x * t[j].x + t[i].y * t[j].y;
      K[3 * i + j] = D * l[i] * l[j] / (l[0] * h / 2) * ((1 - nu) * c * c + nu);
    }
  for (int f = 0; f < 3; f++) {
    double pivot = K[4 * f], row[3] = {K[3 * f], K[3 * f + 1], K[3 * f + 2]};
    for (int i = 0; i < 3 && !has[f]; i++)
      for (int j = 0; j < 3; j++)
        K[3 * i + j] = i == f || j == f ? 0 : K[3 * i + j] - row[i] * row[j] / pivot;
  }
}

int mn_energy_is_plate(const mn_energy_group *g)
{
  return g->ops == &plate_ops;
}

void mn_plate_clamp(mn_energy_group *g, const mn_vec3 *rest, const uint8_t *fixed)
{
  for (size_t e = 0; e < g->count; e++) {
    double *data = g->data + e * PLATE_STRIDE;
    mn_vec3 X[NODES];
    uint8_t held[NODES];
    int has[HINGES];
    plane t[HINGES];
    for (int a = 0; a < NODES; a++) {
      X[a] = rest[g->node[e * NODES + (size_t)a]];
      held[a] = fixed ? fixed[g->node[e * NODES + (size_t)a]] : 0;
    }
    for (int k = 0; k < HINGES; k++)
      has[k] = !isnan(data[ANGLE + k]);
    unfold(X, has, t);
    make_shares(X, held, has, t, data + SHARE);
    make_stiffness(X, has, t, data[RIGIDITY], data[RIGIDITY + 1], data + STIFFNESS);
  }
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Of each side of each triangle: the neighbour there and its corner across. */
typedef struct side {
  uint32_t triangle, across;
} side;

static size_t side_of(const mn_simplex_mesh *mesh, uint32_t triangle, uint32_t from)
{
  const uint32_t *n = mesh->element + 3 * (size_t)triangle;
  return 3 * (size_t)triangle + (n[0] == from ? 0 : n[1] == from ? 1 : 2);
}

static void find_sides(const mn_simplex_mesh *mesh, const mn_edge *edge, size_t edges, side *sides)
{
  for (size_t i = 0; i < 3 * mesh->elements; i++)
    sides[i] = (side){MN_NO_NODE, MN_NO_NODE};
  for (size_t i = 0; i < edges; i++) {
    if (edge[i].right == MN_NO_NODE)
      continue;
    sides[side_of(mesh, edge[i].triangle[0], edge[i].a)] =
        (side){edge[i].triangle[1], edge[i].right};
    sides[side_of(mesh, edge[i].triangle[1], edge[i].b)] =
        (side){edge[i].triangle[0], edge[i].left};
  }
}

/* The 12 nodes of a triangle's element; what is missing is MN_NO_NODE. */
static void gather(const mn_simplex_mesh *mesh, const side *sides, size_t t, uint32_t node[NODES])
{
  for (size_t k = 0; k < 3; k++) {
    side s = sides[3 * t + k];
    node[k] = mesh->element[3 * t + k];
    node[3 + k] = s.across;
    node[6 + 2 * k] = node[7 + 2 * k] = MN_NO_NODE;
    if (s.across == MN_NO_NODE)
      continue;
    node[6 + 2 * k] = sides[side_of(mesh, s.triangle, mesh->element[3 * t + k])].across;
    node[7 + 2 * k] = sides[side_of(mesh, s.triangle, s.across)].across;
  }
}

static mn_status make_element(mn_context *ctx, const mn_simplex_mesh *mesh, const char *name,
                              size_t t, const uint32_t node[NODES], double *angle)
{
  mn_vec3 X[NODES];
  for (int a = 0; a < NODES; a++)
    X[a] = mesh->node[node[a] == MN_NO_NODE ? node[0] : node[a]];
  for (int k = 0; k < HINGES; k++) {
    mn_hinge h;
    angle[k] = NAN;
    if (node[HINGE[k][3]] == MN_NO_NODE || node[HINGE[k][0]] == MN_NO_NODE ||
        node[HINGE[k][1]] == MN_NO_NODE)
      continue;
    if (!mn_hinge_make(X, HINGE[k], &h))
      return mn_fail(ctx, MN_BAD_INPUT,
                     "%s: element %lld, a triangle, or a neighbour has no area", name,
                     mn_simplex_number(mesh, t));
    angle[k] = h.angle;
  }
  return MN_OK;
}

static mn_status make_with(mn_context *ctx, const mn_simplex_mesh *mesh, uint32_t first,
                           const mn_edge *edge, size_t edges, const mn_plate *plate,
                           mn_energy_group *g, side **sides)
{
  MN_TRY(MN_NEW(ctx, "sides of triangles", 3 * g->count, sides));
  MN_TRY(MN_NEW(ctx, "bending of a shell", NODES * g->count, &g->node));
  MN_TRY(MN_NEW(ctx, "bending of a shell", PLATE_STRIDE * g->count, &g->data));
  find_sides(mesh, edge, edges, *sides);
  for (size_t t = 0; t < g->count; t++) {
    uint32_t node[NODES];
    double *data = g->data + t * PLATE_STRIDE;
    gather(mesh, *sides, t, node);
    MN_TRY(make_element(ctx, mesh, plate->name, t, node, data + ANGLE));
    data[RIGIDITY] = plate->bending;
    data[RIGIDITY + 1] = plate->poisson;
    for (int a = 0; a < NODES; a++) /* a missing one stands for nothing: its hinges are not there */
      g->node[t * NODES + (size_t)a] = first + (node[a] == MN_NO_NODE ? node[0] : node[a]);
  }
  return MN_OK;
}

mn_status mn_plate_make(mn_context *ctx, const mn_simplex_mesh *mesh, uint32_t first,
                        const mn_edge *edge, size_t edges, const mn_plate *plate,
                        mn_energy_group *g)
{
  side *sides = NULL;
  g->ops = &plate_ops;
  g->dim = 3;
  g->nodes = NODES;
  g->stride = PLATE_STRIDE;
  g->count = mesh->elements;
  mn_status status = make_with(ctx, mesh, first, edge, edges, plate, g, &sides);
  mn_free(sides);
  return status;
}
