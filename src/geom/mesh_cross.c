/* Whether a closed surface meets itself.

   Two triangles meet where an edge pq of one reaches from one side of the other, abc, to its other
   side (or ends on it) and the line through p and q passes inside abc or along its rim:
     vol(abc, p) vol(abc, q) <= 0, and vol(pq, ab), vol(pq, bc), vol(pq, ca) of one sign or 0,
   vol the signed volume of four points; an edge within the plane decides nothing, the ends of the
   other edges do. Corners are told apart by their place, not their number: files may hold a vertex
   twice. Triangles with one corner in common meet elsewhere if, and only if, the edge opposite to
   it of one meets the other; with two, if one is folded onto the other; with three, always.
   Volumes below round-off count as 0: a surface that touches itself is refused like one that
   crosses itself. Pairs come from the mesh's tree: O(n log n) for a surface without crossings.
   Limits: no exact arithmetic, so that what is nearer than 1e-14 of the triangles' size may be
   judged either way. Verified by tests/unit/geom/test_mesh_cross.c. */
#include "geom/mesh.h"

#include "base/status.h"
#include "math/vec.h"

enum { STACK = 64 };

static const double ROUND_OFF = 1e-14;

/* The sign of the volume of a, b, c, d: 1 if d is on the side from which a, b, c are
   counter-clockwise. */
static int side(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d)
{
  mn_vec3 e = mn_sub(b, a), f = mn_sub(c, a), g = mn_sub(d, a);
  double volume = mn_dot(mn_cross(e, f), g);
  double zero = ROUND_OFF * mn_length(e) * mn_length(f) * mn_length(g);
  return volume > zero ? 1 : volume < -zero ? -1 : 0;
}

/* The edge pq meets the triangle t. */
static int edge_meets(mn_vec3 p, mn_vec3 q, const mn_vec3 t[3])
{
  int from = side(t[0], t[1], t[2], p), to = side(t[0], t[1], t[2], q);
  if (from * to > 0 || (!from && !to))
    return 0;
  int least = 1, most = -1;
  for (int c = 0; c < 3; c++) {
    int s = side(p, q, t[c], t[(c + 1) % 3]);
    least = s < least ? s : least;
    most = s > most ? s : most;
  }
  return least >= 0 || most <= 0;
}

static int equal(mn_vec3 a, mn_vec3 b)
{
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Two triangles on the common edge from a to b, with the tips c and d. */
static int folded(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d)
{
  mn_vec3 e = mn_sub(b, a);
  return !side(a, b, c, d) && mn_dot(mn_cross(e, mn_sub(c, a)), mn_cross(e, mn_sub(d, a))) > 0;
}

static int triangles_meet(const mn_vec3 s[3], const mn_vec3 t[3])
{
  int common = 0, in_s = 0, in_t = 0; /* sums of the numbers of common corners */
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      if (equal(s[i], t[j])) {
        common++;
        in_s += i;
        in_t += j;
      }
  if (common >= 3)
    return 1;
  if (common == 2) /* the numbers of a triangle's corners sum to 3 */
    return folded(s[(4 - in_s) % 3], s[(5 - in_s) % 3], s[3 - in_s], t[3 - in_t]);
  if (common == 1)
    return edge_meets(s[(in_s + 1) % 3], s[(in_s + 2) % 3], t) ||
           edge_meets(t[(in_t + 1) % 3], t[(in_t + 2) % 3], s);
  for (int i = 0; i < 3; i++)
    if (edge_meets(s[i], s[(i + 1) % 3], t) || edge_meets(t[i], t[(i + 1) % 3], s))
      return 1;
  return 0;
}

static void corners_of(const mn_mesh *mesh, uint32_t t, mn_vec3 x[3])
{
  for (int c = 0; c < 3; c++)
    x[c] = mesh->vertex[mesh->triangle[t][c]];
}

/* A triangle after number t that it meets, or 0. */
static uint32_t met_by(const mn_mesh *mesh, uint32_t t)
{
  mn_vec3 x[3], other[3], lo, hi;
  corners_of(mesh, t, x);
  for (int a = 0; a < 3; a++) {
    lo.v[a] = mn_min(x[0].v[a], mn_min(x[1].v[a], x[2].v[a]));
    hi.v[a] = mn_max(x[0].v[a], mn_max(x[1].v[a], x[2].v[a]));
  }
  uint32_t stack[STACK] = {0};
  for (int top = 1; top > 0;) {
    uint32_t at = stack[--top];
    const mn_mesh_node *node = &mesh->node[at];
    int apart = node->first + node->count <= t + 1;
    for (int a = 0; a < 3; a++)
      apart |= node->lo.v[a] > hi.v[a] || node->hi.v[a] < lo.v[a];
    if (apart)
      continue;
    if (node->right) {
      stack[top++] = node->right;
      stack[top++] = at + 1;
      continue;
    }
    for (uint32_t i = node->first; i < node->first + node->count; i++) {
      corners_of(mesh, i, other);
      if (i > t && triangles_meet(x, other))
        return i;
    }
  }
  return 0;
}

mn_status mn_mesh_check_crossings(mn_context *ctx, const mn_mesh *mesh)
{
  for (uint32_t t = 0; t < mesh->triangles; t++) {
    uint32_t other = met_by(mesh, t);
    if (!other)
      continue;
    mn_vec3 x = mesh->vertex[mesh->triangle[t][0]];
    long long a = (long long)mesh->where[t], b = (long long)mesh->where[other];
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s: %s %lld: a triangle crosses or touches that of %s %lld near (%g, %g, %g); "
                   "the surface of a body must not meet itself",
                   mesh->path, mesh->place, a < b ? a : b, mesh->place, a < b ? b : a, x.x, x.y,
                   x.z);
  }
  return MN_OK;
}
