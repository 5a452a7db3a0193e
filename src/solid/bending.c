/* Bending: of a surface at the hinges between its triangles, of a curve at its joints.

   Hinge [Grinspun 2003]: E = k/2 (theta - theta_0)^2 with theta the angle between the two
   triangles' normals. k = D |e|^2 / (A_1 + A_2): a third of what the paper's third of the heights
   would give with D as the plate's stiffness; it makes a rolled plate of squares cut in two have
   the energy D/2 A/R^2, and agrees with the stiffness of the lattice of equal triangles [Seung
   1988]. On other patterns the stiffness is off by a factor of order 1, and depends on the
   direction, however fine they are.

   Joint [Bergou 2008]: E = B/(2 L) (kappa - kappa_0)^2, kappa = 2 tan(phi/2) with the turning angle
   phi, signed in 2D, and L half the length of both segments. In 3D a joint that is curved at rest
   has a kink in its energy where it is straight, and nothing resists twist.

   Both are written in differences of nodes (the hinge in e, a, b from its first node, the joint in
   its two segments), which spread() turns into nodes; Hessians are exact. The projection cuts the
   negative eigenvalues of the matrix in differences by Jacobi rotations.
   Verified by tests/unit/solid/test_energy.c, test_thin.c. */
#include "solid/thin.h"

#include <float.h>

#include "base/memory.h"
#include "base/status.h"

/* ---- small symmetric matrices ---------------------------------------------------------------- */

enum { SIZE_MOST = 12, SWEEPS = 30 };

static void turn(int n, double *A, double *V, int p, int q)
{
  double apq = A[p * n + q], zeta = (A[q * n + q] - A[p * n + p]) / (2 * apq);
  double t = (zeta >= 0 ? 1 : -1) / (fabs(zeta) + hypot(1, zeta)), c = 1 / hypot(1, t), s = c * t;
  for (int i = 0; i < n; i++) {
    double x = A[i * n + p], y = A[i * n + q];
    A[i * n + p] = c * x - s * y;
    A[i * n + q] = s * x + c * y;
  }
  for (int i = 0; i < n; i++) {
    double x = A[p * n + i], y = A[q * n + i];
    A[p * n + i] = c * x - s * y;
    A[q * n + i] = s * x + c * y;
    x = V[i * n + p], y = V[i * n + q];
    V[i * n + p] = c * x - s * y;
    V[i * n + q] = s * x + c * y;
  }
}

double mn_psd_project(int n, double *H)
{
  double A[SIZE_MOST * SIZE_MOST], V[SIZE_MOST * SIZE_MOST], size = 0, least = HUGE_VAL;
  for (int i = 0; i < n * n; i++) {
    A[i] = H[i];
    V[i] = i % (n + 1) == 0;
    size = mn_max(size, fabs(H[i]));
  }
  for (int sweep = 0, turned = 1; turned && sweep < SWEEPS; sweep++) {
    turned = 0;
    for (int p = 0; p < n - 1; p++)
      for (int q = p + 1; q < n; q++)
        if (fabs(A[p * n + q]) > 0.1 * DBL_EPSILON * size) {
          turn(n, A, V, p, q);
          turned = 1;
        }
  }
  for (int i = 0; i < n; i++)
    least = mn_min(least, A[i * n + i]);
  if (least >= 0)
    return least;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      H[i * n + j] = 0;
      for (int k = 0; k < n; k++)
        H[i * n + j] += mn_max(A[k * n + k], 0) * V[i * n + k] * V[j * n + k];
    }
  return least;
}

/* An energy in differences: diff_m = sum_a sign[m][a] x_a. Gradient and Hessian in differences,
   each with dim components, become those in nodes. */
static void spread(int dim, int diffs, int nodes, const int sign[][4], const double *g,
                   const double *H, double *gradient, double *hessian)
{
  int n = nodes * dim, m = diffs * dim;
  for (int a = 0; gradient && a < nodes; a++)
    for (int i = 0; i < dim; i++) {
      gradient[a * dim + i] = 0;
      for (int p = 0; p < diffs; p++)
        gradient[a * dim + i] += sign[p][a] * g[p * dim + i];
    }
  for (int r = 0; hessian && r < n; r++)
    for (int c = 0; c < n; c++) {
      double sum = 0;
      for (int p = 0; p < diffs; p++)
        for (int q = 0; q < diffs; q++)
          sum +=
              sign[p][r / dim] * sign[q][c / dim] * H[(p * dim + r % dim) * m + q * dim + c % dim];
      hessian[r * n + c] = sum;
    }
}

/* ---- hinges ---------------------------------------------------------------------------------- */

enum { ANGLE, HINGE_STIFFNESS, HINGE_STRIDE };

static const int HINGE_SIGN[3][4] = {{-1, 1, 0, 0}, {-1, 0, 1, 0}, {-1, 0, 0, 1}};

/* One wing: n = side e x w (side 1 for a, -1 for b), g = dtheta/dw = -|e| n/|n|^2. */
typedef struct wing {
  mn_vec3 n, g;
  double s; /* where w's foot is on the edge, of |e| */
} wing;

static wing make_wing(mn_vec3 e, mn_vec3 w, double side)
{
  wing r;
  r.n = mn_scale(side, mn_cross(e, w));
  r.g = mn_scale(-mn_length(e) / mn_dot(r.n, r.n), r.n);
  r.s = mn_dot(w, e) / mn_dot(e, e);
  return r;
}

/* M [w]x: columns are M applied to w x unit vectors. */
static mn_mat3 times_cross(mn_mat3 M, mn_vec3 w)
{
  mn_mat3 X = {{{0, -w.z, w.y}, {w.z, 0, -w.x}, {-w.y, w.x, 0}}};
  return mn_mat3_mul(M, X);
}

static mn_mat3 outer(mn_vec3 a, mn_vec3 b)
{
  mn_mat3 m;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      m.m[i][j] = a.v[i] * b.v[j];
  return m;
}

/* dg/dw and dg/de of a wing. */
static void wing_derivatives(const wing *w, mn_vec3 e, mn_vec3 at, double side, mn_mat3 *by_w,
                             mn_mat3 *by_e)
{
  double nn = mn_dot(w->n, w->n), length = mn_length(e);
  mn_mat3 M = mn_mat3_add(mn_mat3_identity(), mn_mat3_scale(-2 / nn, outer(w->n, w->n)));
  M = mn_mat3_scale(-length / nn, M); /* dg/dn */
  *by_w = mn_mat3_scale(side, times_cross(M, e));
  *by_e = mn_mat3_scale(-side, times_cross(M, at));
  *by_e = mn_mat3_add(*by_e, outer(mn_scale(-1 / (nn * length), w->n), e));
}

static void put(double *H, int p, int q, const mn_mat3 *B)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      H[(3 * p + i) * 9 + 3 * q + j] = B->m[i][j];
      H[(3 * q + j) * 9 + 3 * p + i] = B->m[i][j];
    }
}

/* Second derivatives of theta in (e, a, b). */
static void angle_hessian(mn_vec3 e, const mn_vec3 at[2], const wing w[2], double *H)
{
  mn_mat3 ee = mn_mat3_diagonal(0, 0, 0), zero = ee;
  double ll = mn_dot(e, e);
  for (int k = 0; k < 2; k++) {
    mn_mat3 by_w, by_e;
    wing_derivatives(&w[k], e, at[k], k ? -1 : 1, &by_w, &by_e);
    put(H, 1 + k, 1 + k, &by_w);
    put(H, 1 + k, 0, &by_e);
    /* dtheta/de = -sum s g, ds/de = (w - 2 s e)/|e|^2 */
    mn_vec3 ds = mn_scale(1 / ll, mn_madd(at[k], -2 * w[k].s, e));
    ee = mn_mat3_add(ee, mn_mat3_scale(-1, outer(w[k].g, ds)));
    ee = mn_mat3_add(ee, mn_mat3_scale(-w[k].s, by_e));
  }
  put(H, 1, 2, &zero);
  for (int i = 0; i < 3; i++) /* symmetric but for rounding */
    for (int j = 0; j < 3; j++)
      H[i * 9 + j] = (ee.m[i][j] + ee.m[j][i]) / 2;
}

static double hinge_angle(mn_vec3 e, const wing w[2])
{
  double sine = mn_dot(mn_cross(w[0].n, w[1].n), e) / mn_length(e);
  return atan2(sine, mn_dot(w[0].n, w[1].n));
}

static int hinge_eval(const mn_energy_group *group, size_t index, const mn_vec3 *x, int psd,
                      double *energy, double *gradient, double *hessian)
{
  const double *data = group->data + index * HINGE_STRIDE;
  mn_vec3 e = mn_sub(x[1], x[0]), at[2] = {mn_sub(x[2], x[0]), mn_sub(x[3], x[0])};
  wing w[2] = {make_wing(e, at[0], 1), make_wing(e, at[1], -1)};
  double k = data[HINGE_STIFFNESS], away, g[9], H[81];
  if (!(mn_dot(w[0].n, w[0].n) > 0) || !(mn_dot(w[1].n, w[1].n) > 0))
    return 0; /* a triangle without area has no normal */
  away = hinge_angle(e, w) - data[ANGLE];
  away -= 2 * MN_PI * round(away / (2 * MN_PI));
  *energy = k / 2 * away * away;
  for (int i = 0; i < 3; i++) {
    g[i] = -w[0].s * w[0].g.v[i] - w[1].s * w[1].g.v[i];
    g[3 + i] = w[0].g.v[i];
    g[6 + i] = w[1].g.v[i];
  }
  if (hessian) {
    angle_hessian(e, at, w, H);
    for (int i = 0; i < 9; i++)
      for (int j = 0; j < 9; j++)
        H[i * 9 + j] = k * (g[i] * g[j] + away * H[i * 9 + j]);
    if (psd)
      mn_psd_project(9, H);
  }
  for (int i = 0; i < 9; i++)
    g[i] *= k * away;
  spread(3, 3, 4, HINGE_SIGN, g, H, gradient, hessian);
  return isfinite(*energy);
}

static const mn_energy_ops hinge_ops = {"hinge", hinge_eval, NULL};

mn_status mn_hinges_make(mn_context *ctx, const mn_simplex_mesh *mesh, uint32_t first,
                         const mn_edge *edge, size_t edges, double bending, mn_energy_group *g)
{
  size_t count = 0;
  g->ops = &hinge_ops;
  g->dim = 3;
  g->nodes = 4;
  g->stride = HINGE_STRIDE;
  for (size_t i = 0; i < edges; i++)
    count += edge[i].right != MN_NO_NODE;
  MN_TRY(MN_NEW(ctx, "hinges", 4 * count, &g->node));
  MN_TRY(MN_NEW(ctx, "hinges", HINGE_STRIDE * count, &g->data));
  for (size_t i = 0; i < edges; i++) {
    if (edge[i].right == MN_NO_NODE)
      continue;
    uint32_t node[4] = {edge[i].a, edge[i].b, edge[i].left, edge[i].right};
    mn_vec3 x[4];
    for (int a = 0; a < 4; a++) {
      x[a] = mesh->node[node[a]];
      g->node[4 * g->count + (size_t)a] = first + node[a];
    }
    mn_vec3 e = mn_sub(x[1], x[0]);
    wing w[2] = {make_wing(e, mn_sub(x[2], x[0]), 1), make_wing(e, mn_sub(x[3], x[0]), -1)};
    double areas = (mn_length(w[0].n) + mn_length(w[1].n)) / 2;
    double *data = g->data + g->count * HINGE_STRIDE;
    data[ANGLE] = hinge_angle(e, w);
    data[HINGE_STIFFNESS] = bending * mn_dot(e, e) / areas;
    g->count++;
  }
  return MN_OK;
}

/* ---- joints ---------------------------------------------------------------------------------- */

enum { CURVATURE, JOINT_STIFFNESS, JOINT_STRIDE };

static const int JOINT_SIGN[2][4] = {{-1, 1, 0, 0}, {0, -1, 1, 0}};

/* In 2D: phi = angle(f) - angle(e); E(phi) with its derivatives. */
static double joint_plane(double k, double kappa0, mn_vec3 e, mn_vec3 f, double *g, double *H)
{
  double phi = atan2(e.x * f.y - e.y * f.x, mn_dot(e, f)), kappa = 2 * tan(phi / 2);
  double rise = 1 + kappa * kappa / 4, away = kappa - kappa0;
  double E1 = k * away * rise, E2 = k * (rise * rise + away * kappa / 2 * rise);
  const mn_vec3 *w[2] = {&e, &f};
  double d[4];
  for (int p = 0; p < 2; p++) {
    double ll = mn_dot(*w[p], *w[p]), side = p ? 1 : -1;
    d[2 * p] = side * -w[p]->y / ll;
    d[2 * p + 1] = side * w[p]->x / ll;
  }
  for (int i = 0; i < 4; i++) {
    g[i] = E1 * d[i];
    for (int j = 0; j < 4; j++)
      H[i * 4 + j] = E2 * d[i] * d[j];
  }
  for (int p = 0; p < 2; p++) { /* the angle of a vector has second derivatives of its own */
    double ll = mn_dot(*w[p], *w[p]), side = (p ? 1 : -1) * E1 / (ll * ll);
    double xy = 2 * w[p]->x * w[p]->y, difference = w[p]->y * w[p]->y - w[p]->x * w[p]->x;
    H[(2 * p) * 4 + 2 * p] += side * xy;
    H[(2 * p + 1) * 4 + 2 * p + 1] -= side * xy;
    H[(2 * p) * 4 + 2 * p + 1] += side * difference;
    H[(2 * p + 1) * 4 + 2 * p] += side * difference;
  }
  return k / 2 * away * away;
}

/* E as a function of c = cos phi, kappa^2 = 4 (1 - c)/(1 + c); 1 - c is given apart, since it is
   small. */
static double joint_profile(double k, double kappa0, double c, double down, double *E1, double *E2)
{
  double up = 1 + c, square = 4 * down / up;
  if (kappa0 == 0) {
    *E1 = -4 * k / (up * up);
    *E2 = 8 * k / (up * up * up);
    return k / 2 * square;
  }
  static const double STRAIGHT = 1e-8; /* the kink: see above */
  double kappa = mn_max(sqrt(square), STRAIGHT), slope = -4 / (kappa * up * up);
  double slope2 = (8 / (up * up * up) - slope * slope) / kappa, away = kappa - kappa0;
  *E1 = k * away * slope;
  *E2 = k * (slope * slope + away * slope2);
  return k / 2 * away * away;
}

static double joint_space(double k, double kappa0, mn_vec3 e, mn_vec3 f, double *g, double *H)
{
  double le = mn_length(e), lf = mn_length(f), E1, E2;
  mn_vec3 t[2] = {mn_scale(1 / le, e), mn_scale(1 / lf, f)};
  double c = mn_dot(t[0], t[1]), length[2] = {le, lf}, dc[6];
  mn_vec3 apart = mn_sub(t[1], t[0]);
  double energy = joint_profile(k, kappa0, c, mn_dot(apart, apart) / 2, &E1, &E2);
  for (int p = 0; p < 2; p++)
    for (int i = 0; i < 3; i++)
      dc[3 * p + i] = (t[1 - p].v[i] - c * t[p].v[i]) / length[p];
  for (int p = 0; p < 2; p++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) { /* d2c of one segment, then mixed */
        double same = -(t[p].v[i] * dc[3 * p + j] + dc[3 * p + i] * t[p].v[j]) / length[p] -
                      c * ((i == j) - t[p].v[i] * t[p].v[j]) / (length[p] * length[p]);
        H[(3 * p + i) * 6 + 3 * p + j] = E1 * same;
        double mixed =
            (i == j) - t[0].v[i] * t[0].v[j] - t[1].v[i] * t[1].v[j] + c * t[0].v[i] * t[1].v[j];
        if (p == 0)
          H[i * 6 + 3 + j] = H[(3 + j) * 6 + i] = E1 * mixed / (le * lf);
      }
  for (int i = 0; i < 6; i++) {
    g[i] = E1 * dc[i];
    for (int j = 0; j < 6; j++)
      H[i * 6 + j] += E2 * dc[i] * dc[j];
  }
  return energy;
}

static int joint_eval(const mn_energy_group *group, size_t index, const mn_vec3 *x, int psd,
                      double *energy, double *gradient, double *hessian)
{
  const double *data = group->data + index * JOINT_STRIDE;
  mn_vec3 e = mn_sub(x[1], x[0]), f = mn_sub(x[2], x[1]);
  double g[6], H[36];
  double (*joint)(double, double, mn_vec3, mn_vec3, double *, double *) =
      group->dim == 2 ? joint_plane : joint_space;
  *energy = joint(data[JOINT_STIFFNESS], data[CURVATURE], e, f, g, H);
  if (hessian && psd)
    mn_psd_project(2 * group->dim, H);
  spread(group->dim, 2, 3, JOINT_SIGN, g, H, gradient, hessian);
  return isfinite(*energy);
}

static const mn_energy_ops joint_ops = {"joint", joint_eval, NULL};

mn_status mn_rod_joints_make(mn_context *ctx, const mn_simplex_mesh *mesh, uint32_t first,
                             const mn_joint *joint, size_t joints, double bend, mn_energy_group *g)
{
  g->ops = &joint_ops;
  g->dim = mesh->dim;
  g->nodes = 3;
  g->count = joints;
  g->stride = JOINT_STRIDE;
  MN_TRY(MN_NEW(ctx, "joints of a rod", 3 * joints, &g->node));
  MN_TRY(MN_NEW(ctx, "joints of a rod", JOINT_STRIDE * joints, &g->data));
  for (size_t i = 0; i < joints; i++) {
    const mn_vec3 *X = mesh->node;
    mn_vec3 e = mn_sub(X[joint[i].node], X[joint[i].before]);
    mn_vec3 f = mn_sub(X[joint[i].after], X[joint[i].node]);
    double turned = g->dim == 2 ? e.x * f.y - e.y * f.x : mn_length(mn_cross(e, f));
    double *data = g->data + i * JOINT_STRIDE;
    data[CURVATURE] = 2 * tan(atan2(turned, mn_dot(e, f)) / 2);
    if (fabs(data[CURVATURE]) < 1e-6)
      data[CURVATURE] = 0; /* straight but for rounding: without the kink */
    data[JOINT_STIFFNESS] = 2 * bend / (mn_length(e) + mn_length(f));
    g->node[3 * i] = first + joint[i].before;
    g->node[3 * i + 1] = first + joint[i].node;
    g->node[3 * i + 2] = first + joint[i].after;
  }
  return MN_OK;
}
