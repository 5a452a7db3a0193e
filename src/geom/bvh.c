/* A bounding-volume tree over the triangles of a mesh, and the distance to the nearest one.

   Built top-down: the triangles of a node are halved at the median of their centroids along the
   widest axis (quickselect), so the depth is log2(n / LEAF) and building costs O(n log n). The
   search visits the nearer child first and skips nodes farther than the best triangle so far. A
   node's distance is the greater of those to its box and to its cylinder (two planes across the
   mean normal, and the ball's radius): the box alone is as thick as a triangle is wide, and lets
   O(d/h) leaves pass at the distance d from a wall of triangles of size h; the cylinder is as thin
   as the wall's curvature allows, so that O(log n) nodes are visited. Nearest point of a triangle:
   [Ericson 2005, section 5.1.5]. Verified by tests/unit/geom/test_mesh.c against all triangles, one
   by one. */
#include "geom/mesh.h"

#include "base/memory.h"
#include "base/status.h"
#include "math/vec.h"

enum { LEAF = 4, STACK = 64 }; /* 2^32 triangles have a depth below 32 */

typedef struct builder {
  mn_mesh *mesh;
  mn_vec3 *centroid; /* of triangle order[i]; both are permuted */
  uint32_t *order;
} builder;

static void swap(builder *b, size_t i, size_t j)
{
  mn_vec3 c = b->centroid[i];
  uint32_t o = b->order[i];
  b->centroid[i] = b->centroid[j];
  b->order[i] = b->order[j];
  b->centroid[j] = c;
  b->order[j] = o;
}

/* Ties are broken by the triangle's number: a total order, the same tree on every machine. */
static int before(const builder *b, int axis, size_t i, double key, uint32_t number)
{
  double mine = b->centroid[i].v[axis];
  return mine < key || (mine == key && b->order[i] < number);
}

/* Puts the element of rank `middle` in its place, smaller ones before it. */
static void select_median(builder *b, size_t first, size_t end, size_t middle, int axis)
{
  while (end - first > 1) {
    size_t pivot = first + (end - first) / 2, store = first;
    double key = b->centroid[pivot].v[axis];
    uint32_t number = b->order[pivot];
    swap(b, pivot, end - 1);
    for (size_t i = first; i + 1 < end; i++)
      if (before(b, axis, i, key, number))
        swap(b, i, store++);
    swap(b, store, end - 1);
    if (store == middle)
      return;
    if (store < middle)
      first = store + 1;
    else
      end = store;
  }
}

static void include(mn_vec3 *lo, mn_vec3 *hi, mn_vec3 x)
{
  for (int a = 0; a < 3; a++) {
    lo->v[a] = mn_min(lo->v[a], x.v[a]);
    hi->v[a] = mn_max(hi->v[a], x.v[a]);
  }
}

/* Fills in the bounds and the dipole; returns the axis along which the centroids spread most. */
static int summarise(const builder *b, mn_mesh_node *node)
{
  const mn_mesh *m = b->mesh;
  mn_vec3 far = mn_v3(INFINITY, INFINITY, INFINITY), lo = far, hi = mn_scale(-1, far);
  mn_vec3 dipole = {0};
  double total = 0;
  node->lo = lo;
  node->hi = hi;
  for (uint32_t i = node->first; i < node->first + node->count; i++) {
    const uint32_t *v = m->triangle[b->order[i]];
    mn_vec3 x = m->vertex[v[0]], y = m->vertex[v[1]], z = m->vertex[v[2]];
    include(&node->lo, &node->hi, x);
    include(&node->lo, &node->hi, y);
    include(&node->lo, &node->hi, z);
    include(&lo, &hi, b->centroid[i]);
    mn_vec3 area = mn_scale(0.5, mn_cross(mn_sub(y, x), mn_sub(z, x)));
    dipole = mn_add(dipole, area);
    node->centre = mn_madd(node->centre, mn_length(area), b->centroid[i]);
    total += mn_length(area);
  }
  node->centre = mn_scale(1 / total, node->centre);
  node->strength = mn_length(dipole);
  if (node->strength > 0)
    node->axis = mn_scale(1 / node->strength, dipole);
  for (uint32_t i = node->first; i < node->first + node->count; i++)
    for (int c = 0; c < 3; c++) {
      mn_vec3 r = mn_sub(m->vertex[m->triangle[b->order[i]][c]], node->centre);
      double height = mn_dot(node->axis, r);
      node->radius = mn_max(node->radius, mn_length(r));
      node->below = mn_min(node->below, height);
      node->above = mn_max(node->above, height);
    }
  mn_vec3 width = mn_sub(hi, lo);
  return width.x >= width.y && width.x >= width.z ? 0 : width.y >= width.z ? 1 : 2;
}

static void build(builder *b, uint32_t first, uint32_t count)
{
  mn_mesh_node *node = &b->mesh->node[b->mesh->nodes++];
  node->first = first;
  node->count = count;
  int axis = summarise(b, node);
  if (count <= LEAF)
    return;
  uint32_t half = count / 2;
  select_median(b, first, first + count, first + half, axis);
  build(b, first, half);
  node->right = (uint32_t)b->mesh->nodes;
  build(b, first + half, count - half);
}

mn_status mn_mesh_build_tree(mn_context *ctx, mn_mesh *mesh)
{
  size_t n = mesh->triangles;
  uint32_t(*sorted)[3] = NULL;
  int64_t *where = NULL;
  builder b = {.mesh = mesh};
  mn_status status;
  MN_TRY_GOTO(status, MN_NEW(ctx, "triangle centroids", n, &b.centroid), done);
  MN_TRY_GOTO(status, MN_NEW(ctx, "triangle order", n, &b.order), done);
  MN_TRY_GOTO(status, mn_alloc(ctx, "mesh triangles", n, sizeof *sorted, (void **)&sorted), done);
  MN_TRY_GOTO(status, MN_NEW(ctx, "triangles' places", n, &where), done);
  /* A leaf that was split off has two triangles or more: at most n / 2 leaves, n - 1 nodes. */
  MN_TRY_GOTO(status, MN_NEW(ctx, "mesh tree", n, &mesh->node), done);
  for (size_t t = 0; t < n; t++) {
    const uint32_t *v = mesh->triangle[t];
    mn_vec3 sum = mn_add(mn_add(mesh->vertex[v[0]], mesh->vertex[v[1]]), mesh->vertex[v[2]]);
    b.centroid[t] = mn_scale(1.0 / 3, sum);
    b.order[t] = (uint32_t)t;
  }
  build(&b, 0, (uint32_t)n);
  for (size_t t = 0; t < n; t++) {
    where[t] = mesh->where[b.order[t]];
    for (int c = 0; c < 3; c++)
      sorted[t][c] = mesh->triangle[b.order[t]][c];
  }
  mn_free(mesh->triangle);
  mn_free(mesh->where);
  mesh->triangle = sorted;
  mesh->where = where;
  sorted = NULL;
  where = NULL;
done:
  mn_free(b.centroid);
  mn_free(b.order);
  mn_free(sorted);
  mn_free(where);
  return status;
}

/* ---- search ---------------------------------------------------------------------------------- */

static double length2(mn_vec3 a)
{
  return mn_dot(a, a);
}

/* Squared distance of x to the triangle a, b, c, by the Voronoi region it is in. */
static double triangle_distance2(mn_vec3 x, mn_vec3 a, mn_vec3 b, mn_vec3 c)
{
  mn_vec3 ab = mn_sub(b, a), ac = mn_sub(c, a), ax = mn_sub(x, a);
  double d1 = mn_dot(ab, ax), d2 = mn_dot(ac, ax);
  if (d1 <= 0 && d2 <= 0)
    return length2(ax);
  mn_vec3 bx = mn_sub(x, b);
  double d3 = mn_dot(ab, bx), d4 = mn_dot(ac, bx);
  if (d3 >= 0 && d4 <= d3)
    return length2(bx);
  double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0)
    return length2(mn_madd(ax, -d1 / (d1 - d3), ab));
  mn_vec3 cx = mn_sub(x, c);
  double d5 = mn_dot(ab, cx), d6 = mn_dot(ac, cx);
  if (d6 >= 0 && d5 <= d6)
    return length2(cx);
  double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0)
    return length2(mn_madd(ax, -d2 / (d2 - d6), ac));
  double va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
    double w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    return length2(mn_madd(bx, -w, mn_sub(c, b)));
  }
  double s = 1 / (va + vb + vc);
  return length2(mn_madd(mn_madd(ax, -vb * s, ab), -vc * s, ac));
}

/* At most the squared distance of x to any triangle of the node. */
static double node_distance2(const mn_mesh_node *node, mn_vec3 x)
{
  double box = 0;
  for (int a = 0; a < 3; a++) {
    double q = mn_max(mn_max(node->lo.v[a] - x.v[a], x.v[a] - node->hi.v[a]), 0);
    box += q * q;
  }
  mn_vec3 r = mn_sub(x, node->centre);
  double height = mn_dot(node->axis, r);
  double gap = mn_max(mn_max(node->below - height, height - node->above), 0);
  double aside = mn_max(mn_length(mn_madd(r, -height, node->axis)) - node->radius, 0);
  /* the cylinder's planes and radius carry the round-off of the projection */
  return mn_max(box, (1 - 1e-12) * (gap * gap + aside * aside));
}

double mn_mesh_unsigned_distance(const mn_mesh *mesh, mn_vec3 x)
{
  struct {
    uint32_t node;
    double distance2;
  } stack[STACK];
  int top = 0;
  double best = INFINITY;
  stack[top].node = 0;
  stack[top++].distance2 = node_distance2(&mesh->node[0], x);
  while (top > 0) {
    top--;
    if (stack[top].distance2 >= best)
      continue;
    const mn_mesh_node *node = &mesh->node[stack[top].node];
    if (!node->right) {
      for (uint32_t i = node->first; i < node->first + node->count; i++) {
        const uint32_t *v = mesh->triangle[i];
        best = mn_min(best, triangle_distance2(x, mesh->vertex[v[0]], mesh->vertex[v[1]],
                                               mesh->vertex[v[2]]));
      }
      continue;
    }
    uint32_t child[2] = {(uint32_t)(node - mesh->node) + 1, node->right};
    double d[2] = {node_distance2(&mesh->node[child[0]], x),
                   node_distance2(&mesh->node[child[1]], x)};
    int nearer = d[1] < d[0]; /* goes on top of the stack */
    for (int s = 1; s >= 0; s--) {
      int c = s ? !nearer : nearer;
      if (d[c] < best) {
        stack[top].node = child[c];
        stack[top++].distance2 = d[c];
      }
    }
  }
  return sqrt(best);
}

/* One pass of mn_mesh_face: the face most opposed to the hint, or, with `chosen`, any other one
   that is opposed by about as much. */
static int find_face(const mn_mesh *mesh, mn_vec3 x, double reach, double most, mn_vec3 hint,
                     const mn_vec3 *chosen, mn_vec3 *n, double *d)
{
  static const double CLEAR = 0.1, SAME = 0.99; /* cosines */
  uint32_t stack[STACK];
  int top = 0, found = 0;
  double best = chosen ? mn_dot(*chosen, hint) + CLEAR : INFINITY;
  stack[top++] = 0;
  while (top > 0) {
    uint32_t at = stack[--top];
    const mn_mesh_node *node = &mesh->node[at];
    if (node_distance2(node, x) > reach * reach)
      continue;
    if (node->right) {
      stack[top++] = node->right;
      stack[top++] = at + 1;
      continue;
    }
    for (uint32_t i = node->first; i < node->first + node->count; i++) {
      const uint32_t *v = mesh->triangle[i];
      mn_vec3 a = mesh->vertex[v[0]], b = mesh->vertex[v[1]], c = mesh->vertex[v[2]];
      mn_vec3 out = mn_cross(mn_sub(b, a), mn_sub(c, a));
      double length = mn_length(out);
      if (!(length > 0) || triangle_distance2(x, a, b, c) > reach * reach)
        continue;
      out = mn_scale(1 / length, out);
      double along = mn_dot(out, hint), height = mn_dot(out, mn_sub(x, a));
      if (along >= best || height > most || (chosen && mn_dot(out, *chosen) > SAME))
        continue;
      if (chosen)
        return 1;
      best = along, found = 1;
      *n = out, *d = height;
    }
  }
  return found;
}

int mn_mesh_face(const mn_mesh *mesh, mn_vec3 x, double reach, double most, mn_vec3 hint,
                 mn_vec3 *n, double *d)
{
  mn_vec3 face;
  double height;
  if (!find_face(mesh, x, reach, most, hint, NULL, &face, &height) ||
      find_face(mesh, x, reach, most, hint, &face, NULL, NULL))
    return 0;
  *n = face, *d = height;
  return 1;
}
