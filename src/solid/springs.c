/* Springs between two nodes and between a node and the world.

       E = k/2 (l - L)^2,  dE/dx_b = k (l - L) d,  d2E = k [d d^T + (1 - L/l)(I - d d^T)]

   with the unit vector d from a to b. The second part is negative in compression and is dropped
   there by the projection. Damping: force b d d^T (v_b - v_a) against the motion along the spring,
   with d of the start of the step. A spring to the world, an anchor, is the same with one end held;
   of no length it draws and damps alike in all directions. Verified by
   tests/unit/solid/test_energy.c. */
#include "solid/thin.h"

#include "base/memory.h"
#include "base/status.h"

/* Writes B into a 2 x 2 block matrix as [B -B; -B B]. */
static void spread(int dim, double B[3][3], double *H)
{
  int n = 2 * dim;
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) {
      H[i * n + j] = H[(dim + i) * n + dim + j] = B[i][j];
      H[i * n + dim + j] = H[(dim + i) * n + j] = -B[i][j];
    }
}

/* along d d^T + across (I - d d^T) */
static void block(int dim, mn_vec3 d, double along, double across, double B[3][3])
{
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++)
      B[i][j] = (along - across) * d.v[i] * d.v[j] + (i == j ? across : 0);
}

static int spring_eval(const mn_energy_group *g, size_t e, const mn_vec3 *x, int psd,
                       double *energy, double *gradient, double *hessian)
{
  const double *data = g->data + e * MN_SPRING_STRIDE;
  double L = data[MN_SPRING_LENGTH], k = data[MN_SPRING_STIFFNESS];
  mn_vec3 d = mn_sub(x[1], x[0]);
  double l = mn_length(d);
  if (!isfinite(l))
    return 0;
  d = l > 0 ? mn_scale(1 / l, d) : mn_v3(0, 0, 0);
  *energy = k / 2 * (l - L) * (l - L);
  for (int i = 0; gradient && i < g->dim; i++) {
    gradient[g->dim + i] = k * (l - L) * d.v[i];
    gradient[i] = -gradient[g->dim + i];
  }
  if (hessian) {
    double B[3][3], across = L == 0 ? k : l > 0 ? k * (1 - L / l) : 0;
    block(g->dim, d, k, psd ? mn_max(across, 0) : across, B);
    spread(g->dim, B, hessian);
  }
  return 1;
}

static void spring_damping(const mn_energy_group *g, size_t e, const mn_vec3 *x, double *C)
{
  mn_vec3 d = mn_sub(x[1], x[0]);
  double l = mn_length(d), B[3][3];
  d = l > 0 ? mn_scale(1 / l, d) : mn_v3(0, 0, 0);
  block(g->dim, d, g->data[e * MN_SPRING_STRIDE + MN_SPRING_VISCOSITY], 0, B);
  spread(g->dim, B, C);
}

static const mn_energy_ops spring_ops = {"spring", spring_eval, NULL};
static const mn_energy_ops viscous_spring_ops = {"spring", spring_eval, spring_damping};

mn_status mn_springs_make(mn_context *ctx, int dim, const mn_spring *spring, size_t count,
                          mn_energy_group *g)
{
  g->ops = &spring_ops;
  g->eval_eight = dim == 3 ? mn_springs_eight : NULL;
  g->dim = dim;
  g->nodes = 2;
  g->count = count;
  g->stride = MN_SPRING_STRIDE;
  MN_TRY(MN_NEW(ctx, "springs", 2 * count, &g->node));
  MN_TRY(MN_NEW(ctx, "springs", MN_SPRING_STRIDE * count, &g->data));
  for (size_t e = 0; e < count; e++) {
    g->node[2 * e] = spring[e].a;
    g->node[2 * e + 1] = spring[e].b;
    g->data[e * MN_SPRING_STRIDE + MN_SPRING_LENGTH] = spring[e].length;
    g->data[e * MN_SPRING_STRIDE + MN_SPRING_STIFFNESS] = spring[e].k;
    g->data[e * MN_SPRING_STRIDE + MN_SPRING_VISCOSITY] = spring[e].damping;
    if (spring[e].damping > 0)
      g->ops = &viscous_spring_ops;
  }
  return MN_OK;
}

int mn_energy_is_spring(const mn_energy_group *g)
{
  return g->ops == &spring_ops || g->ops == &viscous_spring_ops;
}

double mn_spring_rest(const mn_energy_group *g, size_t e)
{
  return g->data[e * MN_SPRING_STRIDE + MN_SPRING_LENGTH];
}

double mn_spring_stiffness(const mn_energy_group *g, size_t e)
{
  return g->data[e * MN_SPRING_STRIDE + MN_SPRING_STIFFNESS];
}

/* ---- anchors --------------------------------------------------------------------------------- */

enum { POINT, ANCHOR_STIFFNESS = 3, ANCHOR_VISCOSITY, ANCHOR_LENGTH, ANCHOR_STRIDE };

/* From the point of the world to the node: unit vector and length. */
static mn_vec3 anchor_way(const double *data, int dim, const mn_vec3 *x, double *l)
{
  mn_vec3 d = {0};
  for (int i = 0; i < dim; i++)
    d.v[i] = x[0].v[i] - data[POINT + i];
  *l = mn_length(d);
  return *l > 0 ? mn_scale(1 / *l, d) : mn_v3(0, 0, 0);
}

static int anchor_eval(const mn_energy_group *g, size_t e, const mn_vec3 *x, int psd,
                       double *energy, double *gradient, double *hessian)
{
  const double *data = g->data + e * ANCHOR_STRIDE;
  double k = data[ANCHOR_STIFFNESS], L = data[ANCHOR_LENGTH], l, B[3][3];
  mn_vec3 d = anchor_way(data, g->dim, x, &l);
  *energy = k / 2 * (l - L) * (l - L);
  for (int i = 0; gradient && i < g->dim; i++)
    gradient[i] = k * (l - L) * d.v[i];
  if (hessian) {
    double across = L == 0 ? k : l > 0 ? k * (1 - L / l) : 0;
    block(g->dim, d, k, psd ? mn_max(across, 0) : across, B);
    for (int i = 0; i < g->dim; i++)
      for (int j = 0; j < g->dim; j++)
        hessian[i * g->dim + j] = B[i][j];
  }
  return isfinite(*energy);
}

static void anchor_damping(const mn_energy_group *g, size_t e, const mn_vec3 *x, double *C)
{
  const double *data = g->data + e * ANCHOR_STRIDE;
  double b = data[ANCHOR_VISCOSITY], B[3][3], l;
  mn_vec3 d = anchor_way(data, g->dim, x, &l);
  block(g->dim, d, b, data[ANCHOR_LENGTH] > 0 ? 0 : b, B); /* of no length: in all directions */
  for (int i = 0; i < g->dim; i++)
    for (int j = 0; j < g->dim; j++)
      C[i * g->dim + j] = B[i][j];
}

static const mn_energy_ops anchor_ops = {"anchor", anchor_eval, NULL};
static const mn_energy_ops viscous_anchor_ops = {"anchor", anchor_eval, anchor_damping};

mn_status mn_anchors_make(mn_context *ctx, int dim, const mn_anchor *anchor, size_t count,
                          mn_energy_group *g)
{
  g->ops = &anchor_ops;
  g->dim = dim;
  g->nodes = 1;
  g->count = count;
  g->stride = ANCHOR_STRIDE;
  MN_TRY(MN_NEW(ctx, "anchors", count, &g->node));
  MN_TRY(MN_NEW(ctx, "anchors", ANCHOR_STRIDE * count, &g->data));
  for (size_t e = 0; e < count; e++) {
    double *data = g->data + e * ANCHOR_STRIDE;
    g->node[e] = anchor[e].node;
    for (int i = 0; i < 3; i++)
      data[POINT + i] = anchor[e].point.v[i];
    data[ANCHOR_STIFFNESS] = anchor[e].k;
    data[ANCHOR_VISCOSITY] = anchor[e].damping;
    data[ANCHOR_LENGTH] = anchor[e].length;
    if (anchor[e].damping > 0)
      g->ops = &viscous_anchor_ops;
  }
  return MN_OK;
}
