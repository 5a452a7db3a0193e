/* Whether points that links and probes name are on their bodies. A point of a deformable body is
   its nearest node, a point of a rigid body moves with it wherever it is: far away both are slips
   of the pen that no result would tell. With L the longest edge, every point of a mesh of simplices
   in n dimensions is within L sqrt(n / 2(n + 1)) of a node (Jung's theorem). Verified by
   tests/unit/world/test_body_probes.c. */
#include "world/body_points.h"

#include <stdio.h>

#include "base/status.h"
#include "geom/shape.h"
#include "math/vec.h"

static const double BESIDE = 0.1; /* of a rigid body's size */

static double longest_edge(const mn_simplex_mesh *m)
{
  size_t each = (size_t)mn_simplex_nodes(m->corners, m->order);
  double most = 0;
  for (size_t e = 0; e < m->elements; e++)
    for (int i = 1; i < m->corners; i++)
      for (int j = 0; j < i; j++)
        most = mn_max(most, mn_length(mn_sub(m->node[m->element[each * e + (size_t)i]],
                                             m->node[m->element[each * e + (size_t)j]])));
  return most;
}

static void point_text(int dim, mn_vec3 x, char *text, size_t size)
{
  if (dim == 2)
    snprintf(text, size, "{%g, %g}", x.x, x.y);
  else
    snprintf(text, size, "{%g, %g, %g}", x.x, x.y, x.z);
}

void mn_body_extent(const mn_simplex_mesh *mesh, mn_vec3 *lo, mn_vec3 *hi)
{
  *lo = mn_v3(HUGE_VAL, HUGE_VAL, HUGE_VAL), *hi = mn_scale(-1, *lo);
  for (size_t i = 0; i < mesh->nodes; i++)
    for (int a = 0; a < 3; a++) {
      lo->v[a] = mn_min(lo->v[a], mesh->node[i].v[a]);
      hi->v[a] = mn_max(hi->v[a], mesh->node[i].v[a]);
    }
}

mn_status mn_body_has_point(mn_context *ctx, int dim, const mn_body_def *def,
                            const mn_simplex_mesh *mesh, mn_vec3 at, const char *key)
{
  mn_vec3 lo, hi, nearest = {0};
  double away = HUGE_VAL, allowed;
  for (size_t i = 0; i < mesh->nodes; i++) {
    double d = mn_length(mn_sub(mesh->node[i], at));
    if (d < away)
      away = d, nearest = mesh->node[i];
  }
  mn_body_extent(mesh, &lo, &hi);
  int rigid = def->kind == MN_BODY_RIGID;
  if (rigid)
    away = mn_shape_distance(def->shape, at);
  double n = mesh->corners - 1;
  allowed = rigid ? BESIDE * 0.5 * mn_length(mn_sub(hi, lo))
                  : longest_edge(mesh) * sqrt(n / (2 * (n + 1)));
  if (away <= allowed)
    return MN_OK;
  char found[96], there[96];
  point_text(dim, at, found, sizeof found);
  point_text(dim, nearest, there, sizeof there);
  return mn_fail(ctx, MN_BAD_INPUT,
                 "%s is %s, %.3g m away from body \"%s\"; allowed: %.3g m. The nearest %s of the "
                 "body is %s",
                 key, found, away, def->name, allowed, rigid ? "point" : "node", there);
}
