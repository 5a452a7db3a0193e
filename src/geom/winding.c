/* Inside or outside of a closed mesh by its winding number

       w(x) = 1/(4 pi) sum over the triangles of their signed solid angle seen from x,

   which is 1 inside, 0 outside (2 where two closed parts overlap), whatever the mesh looks like
   [Jacobson 2013]. A solid angle is that of [van Oosterom 1983]. A tree node farther than beta
   times its radius is replaced by its dipole, N . r / |r|^3 with N the sum of area times normal
   [Barill 2018, first order], so that a query costs O(log n).

   The true w of a closed mesh is an integer: how far the result is from one measures the error of
   the dipoles. Where that is more than DOUBT, the sum is repeated with twice the beta, in the end
   over all triangles. Verified by tests/unit/geom/test_mesh.c. */
#include "geom/mesh.h"

#include "math/vec.h"

static const double BETA = 2;
static const double BETA_MAX = 64;
static const double DOUBT = 0.25;

/* Solid angle over 4 pi. */
static double triangle_winding(mn_vec3 x, mn_vec3 p, mn_vec3 q, mn_vec3 r)
{
  mn_vec3 a = mn_sub(p, x), b = mn_sub(q, x), c = mn_sub(r, x);
  double la = mn_length(a), lb = mn_length(b), lc = mn_length(c);
  double volume = mn_dot(a, mn_cross(b, c));
  double below = la * lb * lc + mn_dot(a, b) * lc + mn_dot(b, c) * la + mn_dot(c, a) * lb;
  return atan2(volume, below) / (2 * MN_PI);
}

static double triangles_winding(const mn_mesh *mesh, uint32_t first, uint32_t count, mn_vec3 x)
{
  double w = 0;
  for (uint32_t i = first; i < first + count; i++) {
    const uint32_t *v = mesh->triangle[i];
    w += triangle_winding(x, mesh->vertex[v[0]], mesh->vertex[v[1]], mesh->vertex[v[2]]);
  }
  return w;
}

static double tree_winding(const mn_mesh *mesh, mn_vec3 x, double beta)
{
  uint32_t stack[64];
  int top = 0;
  double w = 0;
  stack[top++] = 0;
  while (top > 0) {
    uint32_t index = stack[--top];
    const mn_mesh_node *node = &mesh->node[index];
    mn_vec3 r = mn_sub(node->centre, x);
    double distance = mn_length(r);
    if (distance > beta * node->radius)
      w += node->strength * mn_dot(node->axis, r) / (4 * MN_PI * distance * distance * distance);
    else if (!node->right)
      w += triangles_winding(mesh, node->first, node->count, x);
    else {
      stack[top++] = node->right;
      stack[top++] = index + 1;
    }
  }
  return w;
}

double mn_mesh_winding_exact(const mn_mesh *mesh, mn_vec3 x)
{
  return triangles_winding(mesh, 0, (uint32_t)mesh->triangles, x);
}

double mn_mesh_winding(const mn_mesh *mesh, mn_vec3 x)
{
  for (double beta = BETA; beta <= BETA_MAX; beta *= 2) {
    double w = tree_winding(mesh, x, beta);
    if (fabs(w - round(w)) <= DOUBT)
      return w;
  }
  return mn_mesh_winding_exact(mesh, x);
}

int mn_mesh_inside(const mn_mesh *mesh, mn_vec3 x)
{
  const mn_mesh_node *root = &mesh->node[0];
  for (int a = 0; a < 3; a++)
    if (!(x.v[a] >= root->lo.v[a] && x.v[a] <= root->hi.v[a]))
      return 0;
  return mn_mesh_winding(mesh, x) > 0.5;
}
