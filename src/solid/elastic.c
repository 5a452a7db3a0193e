/* Finite elements for E(x) = integral of psi(F) over the body at rest, F = sum_a x_a (x) grad N_a.

   Triangles (plane strain) and tetrahedra; N linear, or quadratic and isoparametric. Integration:
   one point for linear elements, which is exact; 3 and 4 points of degree 2 for quadratic triangles
   and tetrahedra, which is exact for small strains of elements with straight edges and softens
   nearly incompressible ones a little. With G_a = grad N_a and weight w at a point

       E = w psi,   dE/dx_a = w P G_a,   d2E/dx_ai dx_bk = w G_aj dP_ij/dF_kl G_bl.

   Masses are lumped: in equal parts (linear); in proportion to the diagonal of the consistent
   matrix, 6 : 32 for corners and middles (quadratic) [Hinton 1976], since row sums would make
   corners massless or negative. Verified by tests/unit/solid/test_energy.c,
   tests/verify/test_patch.c, test_csm.c. */
#include "solid/elastic.h"

#include "base/memory.h"
#include "base/status.h"

enum { POINTS_MAX = 4 };

/* ---- shape functions ------------------------------------------------------------------------- */

static const int EDGE[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};

/* Barycentric coordinates of the quadrature points; each stands for 1/points of the element. */
static int quadrature(int corners, int order, double L[POINTS_MAX][4])
{
  if (order == 1) {
    for (int c = 0; c < corners; c++)
      L[0][c] = 1.0 / corners;
    return 1;
  }
  double near = corners == 3 ? 2.0 / 3 : (5 + 3 * sqrt(5)) / 20;
  for (int q = 0; q < corners; q++)
    for (int c = 0; c < corners; c++)
      L[q][c] = c == q ? near : (1 - near) / (corners - 1);
  return corners;
}

/* dN/dL_c of every node; the first barycentric coordinate depends on the others and is resolved by
   the caller. */
static void shape_derivatives(int corners, int order, const double L[4], double dN[][4])
{
  for (int a = 0; a < corners; a++)
    for (int c = 0; c < corners; c++)
      dN[a][c] = a != c ? 0 : order == 1 ? 1 : 4 * L[a] - 1;
  if (order == 1)
    return;
  for (int e = 0; e < corners * (corners - 1) / 2; e++)
    for (int c = 0; c < corners; c++)
      dN[corners + e][c] = 4 * (c == EDGE[e][0]   ? L[EDGE[e][1]]
                                : c == EDGE[e][1] ? L[EDGE[e][0]]
                                                  : 0);
}

/* Gradients G[nodes][dim] at one point; the return value is the Jacobian's determinant. */
static double gradients(int dim, int nodes, const mn_vec3 *X, double dN[][4], double *G)
{
  mn_mat3 J = mn_mat3_identity(), inverse; /* dX_i / dL_(c + 1) */
  for (int i = 0; i < dim; i++)
    for (int c = 0; c < dim; c++) {
      J.m[i][c] = 0;
      for (int a = 0; a < nodes; a++)
        J.m[i][c] += X[a].v[i] * (dN[a][c + 1] - dN[a][0]);
    }
  double det = mn_mat3_determinant(J);
  if (!(det > 0) || !mn_mat3_inverse(J, &inverse))
    return det;
  for (int a = 0; a < nodes; a++)
    for (int i = 0; i < dim; i++) {
      G[a * dim + i] = 0;
      for (int c = 0; c < dim; c++)
        G[a * dim + i] += (dN[a][c + 1] - dN[a][0]) * inverse.m[c][i];
    }
  return det;
}

/* ---- evaluation ------------------------------------------------------------------------------ */

/* Data of a point: weight, then G[nodes][dim]. */
static const double *point_data(const mn_energy_group *g, size_t e, int q)
{
  return g->data + e * (size_t)g->stride + (size_t)q * (size_t)(1 + g->nodes * g->dim);
}

static mn_mat3 deformation(int dim, int nodes, const double *G, const mn_vec3 *x)
{
  mn_mat3 F = mn_mat3_diagonal(0, 0, dim == 2 ? 1 : 0);
  for (int a = 0; a < nodes; a++)
    for (int i = 0; i < dim; i++)
      for (int j = 0; j < dim; j++)
        F.m[i][j] += x[a].v[i] * G[a * dim + j];
  return F;
}

/* gradient += w P G */
static void add_gradient(int dim, int nodes, double w, const mn_mat3 *P, const double *G,
                         double *gradient)
{
  for (int a = 0; a < nodes; a++)
    for (int i = 0; i < dim; i++) {
      double f = 0;
      for (int j = 0; j < dim; j++)
        f += P->m[i][j] * G[a * dim + j];
      gradient[a * dim + i] += w * f;
    }
}

/* Blocks (a, b) with b <= a of hessian += w G_aj D_(ij)(kl) G_bl. */
static inline void add_hessian(int dim, int nodes, double w, const double *D, const double *G,
                               double *hessian)
{
  int size = dim * dim, n = nodes * dim;
  double T[9][3]; /* of one b: D_(ij)(kl) w G_bl */
  for (int b = 0; b < nodes; b++) {
    const double *Gb = G + b * dim;
    for (int r = 0; r < size; r++)
      for (int k = 0; k < dim; k++) {
        double sum = 0;
        for (int l = 0; l < dim; l++)
          sum += D[r * size + k * dim + l] * Gb[l];
        T[r][k] = w * sum;
      }
    for (int a = b; a < nodes; a++)
      for (int i = 0; i < dim; i++)
        for (int k = 0; k < dim; k++) {
          double sum = 0;
          for (int j = 0; j < dim; j++)
            sum += G[a * dim + j] * T[i * dim + j][k];
          hessian[(a * dim + i) * n + b * dim + k] += sum;
        }
  }
}

/* The size known to the compiler: 3 times as fast for linear tetrahedra. */
static void add_hessian_any(int dim, int nodes, double w, const double *D, const double *G,
                            double *hessian)
{
  if (dim == 3 && nodes == 4)
    add_hessian(3, 4, w, D, G, hessian);
  else if (dim == 3)
    add_hessian(3, 10, w, D, G, hessian);
  else
    add_hessian(2, nodes, w, D, G, hessian);
}

/* The same of a Neo-Hookean material as it is, without its frame: with g = F^-T, h_a = g G_a and
   load = lambda ln J - mu

       w (mu G_a . G_b I + lambda h_a h_b^T - load h_b h_a^T)

   (foam of 48,000 tetrahedra: 0.04 s of 0.06 less for the matrix). */
static inline int add_neo_hookean(const mn_material *m, int dim, int nodes, double w,
                                  const mn_mat3 *F, const double *G, double *hessian)
{
  mn_mat3 inverse;
  double J = mn_mat3_determinant(*F), h[MN_ENERGY_NODES_MAX][3];
  int n = nodes * dim;
  if (!(J > 0) || !mn_mat3_inverse(*F, &inverse))
    return 0;
  double load = m->lambda * log(J) - m->mu;
  for (int a = 0; a < nodes; a++)
    for (int i = 0; i < dim; i++) {
      h[a][i] = 0;
      for (int j = 0; j < dim; j++)
        h[a][i] += inverse.m[j][i] * G[a * dim + j];
    }
  for (int b = 0; b < nodes; b++)
    for (int a = b; a < nodes; a++) {
      double product = 0;
      for (int j = 0; j < dim; j++)
        product += G[a * dim + j] * G[b * dim + j];
      for (int i = 0; i < dim; i++)
        for (int k = 0; k < dim; k++)
          hessian[(a * dim + i) * n + b * dim + k] +=
              w * ((i == k ? m->mu * product : 0) + m->lambda * h[a][i] * h[b][k] -
                   load * h[b][i] * h[a][k]);
    }
  return 1;
}

static int add_neo_hookean_any(const mn_material *m, int dim, int nodes, double w, const mn_mat3 *F,
                               const double *G, double *hessian)
{
  if (dim == 3 && nodes == 4)
    return add_neo_hookean(m, 3, 4, w, F, G, hessian);
  return add_neo_hookean(m, dim, nodes, w, F, G, hessian);
}

static void mirror(int n, double *hessian)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      hessian[j * n + i] = hessian[i * n + j];
}

static int eval(const mn_energy_group *g, size_t e, const mn_vec3 *x, int psd, double *energy,
                double *gradient, double *hessian)
{
  int n = g->nodes * g->dim;
  *energy = 0;
  for (int i = 0; gradient && i < n; i++)
    gradient[i] = 0;
  for (int i = 0; hessian && i < n * n; i++)
    hessian[i] = 0;
  for (int q = 0; q < g->points; q++) {
    const double *data = point_data(g, e, q), *G = data + 1;
    mn_mat3 F = deformation(g->dim, g->nodes, G, x), P;
    double psi, D[81];
    if (!mn_material_stress(&g->material, g->dim, &F, &psi, gradient ? &P : NULL))
      return 0;
    *energy += data[0] * psi;
    if (gradient)
      add_gradient(g->dim, g->nodes, data[0], &P, G, gradient);
    if (!hessian)
      continue;
    if (!psd && g->material.kind == MN_NEO_HOOKEAN) {
      if (!add_neo_hookean_any(&g->material, g->dim, g->nodes, data[0], &F, G, hessian))
        return 0;
      continue;
    }
    if (!mn_material_tangent(&g->material, g->dim, &F, psd, D))
      return 0;
    add_hessian_any(g->dim, g->nodes, data[0], D, G, hessian);
  }
  if (hessian)
    mirror(n, hessian);
  return 1;
}

static const mn_energy_ops triangle_ops = {"triangle", eval, NULL};
static const mn_energy_ops tetrahedron_ops = {"tetrahedron", eval, NULL};

/* ---- making ---------------------------------------------------------------------------------- */

static mn_status make_element(mn_context *ctx, const mn_simplex_mesh *mesh, size_t e,
                              const char *name, mn_energy_group *g, double *volume)
{
  int nodes = g->nodes;
  mn_vec3 X[MN_ENERGY_NODES_MAX];
  double L[POINTS_MAX][4], dN[MN_ENERGY_NODES_MAX][4];
  int points = quadrature(mesh->corners, mesh->order, L);
  for (int a = 0; a < nodes; a++)
    X[a] = mesh->node[mesh->element[e * (size_t)nodes + (size_t)a]];
  *volume = 0;
  for (int q = 0; q < points; q++) {
    double *data = g->data + e * (size_t)g->stride + (size_t)q * (size_t)(1 + nodes * g->dim);
    shape_derivatives(mesh->corners, mesh->order, L[q], dN);
    double det = gradients(g->dim, nodes, X, dN, data + 1);
    if (!(det > 0))
      return mn_fail(ctx, MN_BAD_INPUT,
                     "%s: element %lld, a %s, is %s at rest (%s %g): its corners must run the "
                     "positive way",
                     name, mn_simplex_number(mesh, e), g->ops->name, det < 0 ? "inverted" : "flat",
                     g->dim == 2 ? "twice its area is" : "six times its volume is", det);
    data[0] = det / (g->dim == 2 ? 2 : 6) / points;
    *volume += data[0];
  }
  return MN_OK;
}

/* Part of an element's mass that node a gets. */
static double mass_share(int corners, int order, int a)
{
  if (order == 1)
    return 1.0 / corners;
  double all = 6 * corners + 32 * (corners * (corners - 1) / 2);
  return (a < corners ? 6 : 32) / all;
}

mn_status mn_elastic_make(mn_context *ctx, const mn_simplex_mesh *mesh, uint32_t first,
                          const mn_material *material, double density, const char *name,
                          mn_energy_group *g, double *mass)
{
  int nodes = mn_simplex_nodes(mesh->corners, mesh->order), dim = mesh->dim;
  double L[POINTS_MAX][4];
  g->ops = dim == 2 ? &triangle_ops : &tetrahedron_ops;
  g->dim = dim;
  g->nodes = nodes;
  g->count = mesh->elements;
  g->points = quadrature(mesh->corners, mesh->order, L);
  g->stride = g->points * (1 + nodes * dim);
  g->material = *material;
  if (material->kind == MN_NEO_HOOKEAN && dim == 3 && nodes == 4 && g->points == 1)
    g->eval_eight = mn_elastic_eight;
  MN_TRY(MN_NEW(ctx, "nodes of elements", g->count * (size_t)nodes, &g->node));
  MN_TRY(MN_NEW(ctx, "gradients of elements", g->count * (size_t)g->stride, &g->data));
  for (size_t e = 0; e < g->count; e++) {
    double volume;
    MN_TRY(make_element(ctx, mesh, e, name, g, &volume));
    for (int a = 0; a < nodes; a++) {
      uint32_t node = first + mesh->element[e * (size_t)nodes + (size_t)a];
      g->node[e * (size_t)nodes + (size_t)a] = node;
      mass[node] += density * volume * mass_share(mesh->corners, mesh->order, a);
    }
  }
  return MN_OK;
}

mn_mat3 mn_elastic_gradient(const mn_energy_group *g, size_t e, int q, const mn_vec3 *x)
{
  return deformation(g->dim, g->nodes, point_data(g, e, q) + 1, x);
}

double mn_elastic_weight(const mn_energy_group *g, size_t e, int q)
{
  return point_data(g, e, q)[0];
}

int mn_energy_is_elastic(const mn_energy_group *g)
{
  return g->ops == &triangle_ops || g->ops == &tetrahedron_ops;
}
