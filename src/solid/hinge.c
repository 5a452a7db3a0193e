/* The angle theta between two triangles and its derivatives [Tamstorf 2013]. With the edge e and
   the wings w from its first node to the corners on the left (a) and right (b), and the normals n =
   e x a, b x e:

       dtheta/dw = -|e| n/|n|^2,   dtheta/de = -s_a dtheta/da - s_b dtheta/db,   s = w.e/|e|^2.

   Verified by tests/unit/solid/test_energy.c. */
#include "solid/hinge.h"

static mn_wing make_wing(mn_vec3 e, mn_vec3 w, double side)
{
  mn_wing r;
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
static void wing_derivatives(const mn_wing *w, mn_vec3 e, mn_vec3 at, double side, mn_mat3 *by_w,
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

int mn_hinge_make(const mn_vec3 *x, const int node[4], mn_hinge *h)
{
  h->e = mn_sub(x[node[1]], x[node[0]]);
  for (int k = 0; k < 2; k++) {
    h->at[k] = mn_sub(x[node[2 + k]], x[node[0]]);
    h->w[k] = make_wing(h->e, h->at[k], k ? -1 : 1);
    if (!(mn_dot(h->w[k].n, h->w[k].n) > 0))
      return 0;
  }
  double sine = mn_dot(mn_cross(h->w[0].n, h->w[1].n), h->e) / mn_length(h->e);
  h->angle = atan2(sine, mn_dot(h->w[0].n, h->w[1].n));
  return 1;
}

void mn_hinge_hessian(const mn_hinge *h, double *H)
{
  mn_mat3 ee = mn_mat3_diagonal(0, 0, 0), zero = ee;
  double ll = mn_dot(h->e, h->e);
  for (int k = 0; k < 2; k++) {
    mn_mat3 by_w, by_e;
    wing_derivatives(&h->w[k], h->e, h->at[k], k ? -1 : 1, &by_w, &by_e);
    put(H, 1 + k, 1 + k, &by_w);
    put(H, 1 + k, 0, &by_e);
    /* dtheta/de = -sum s g, ds/de = (w - 2 s e)/|e|^2 */
    mn_vec3 ds = mn_scale(1 / ll, mn_madd(h->at[k], -2 * h->w[k].s, h->e));
    ee = mn_mat3_add(ee, mn_mat3_scale(-1, outer(h->w[k].g, ds)));
    ee = mn_mat3_add(ee, mn_mat3_scale(-h->w[k].s, by_e));
  }
  put(H, 1, 2, &zero);
  for (int i = 0; i < 3; i++) /* symmetric but for rounding */
    for (int j = 0; j < 3; j++)
      H[i * 9 + j] = (ee.m[i][j] + ee.m[j][i]) / 2;
}

void mn_hinge_gradient(const mn_hinge *h, mn_vec3 g[4])
{
  g[2] = h->w[0].g;
  g[3] = h->w[1].g;
  g[1] = mn_add(mn_scale(-h->w[0].s, g[2]), mn_scale(-h->w[1].s, g[3]));
  g[0] = mn_scale(-1, mn_add(g[1], mn_add(g[2], g[3])));
}
