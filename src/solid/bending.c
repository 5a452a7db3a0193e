/* Bending of a curve, at its joints [Bergou 2008]:

       E = B/(2 L) (kappa - kappa_0)^2,   kappa = 2 tan(phi/2)

   with the turning angle phi, signed in 2D, and L half the length of both segments; at a clamp, a
   joint whose one segment is fixed, half the length of the other: the fixed one does not bend. In
   3D a joint that is curved at rest has a kink in its energy where it is straight, and nothing
   resists twist.

   It is written in differences of nodes, the two segments, which spread() turns into nodes;
   Hessians are exact. The projection cuts the negative eigenvalues of the matrix in differences by
   Jacobi rotations. Verified by tests/unit/solid/test_energy.c, test_thin.c. */
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

/* ---- joints ---------------------------------------------------------------------------------- */

enum { CURVATURE, JOINT_STIFFNESS, RIGIDITY, JOINT_STRIDE };

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
    data[RIGIDITY] = bend;
    data[JOINT_STIFFNESS] = 2 * bend / (mn_length(e) + mn_length(f));
    g->node[3 * i] = first + joint[i].before;
    g->node[3 * i + 1] = first + joint[i].node;
    g->node[3 * i + 2] = first + joint[i].after;
  }
  return MN_OK;
}

int mn_energy_is_joint(const mn_energy_group *g)
{
  return g->ops == &joint_ops;
}

void mn_rod_clamp(mn_energy_group *g, const mn_vec3 *rest, const uint8_t *fixed)
{
  int all = (1 << g->dim) - 1;
  for (size_t i = 0; i < g->count; i++) {
    const uint32_t *n = g->node + 3 * i;
    double length = 0;
    for (int k = 0; k < 2; k++) /* of the segments that can bend */
      if ((fixed[n[k]] & fixed[n[k + 1]] & all) != all)
        length += mn_length(mn_sub(rest[n[k + 1]], rest[n[k]]));
    if (length > 0)
      g->data[i * JOINT_STRIDE + JOINT_STIFFNESS] =
          2 * g->data[i * JOINT_STRIDE + RIGIDITY] / length;
  }
}
