/* What a mesh must satisfy to have an inside: every index in range, no triangle without area, every
   edge shared by exactly two triangles that run along it in opposite directions. A mesh that is
   inside out as a whole is turned. A surface that is open is tried again with vertices at equal
   places taken as one. Two edges are compared after sorting: O(n log n). */
#include "geom/mesh_file.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/vec.h"

/* Twice the area over the longest edge squared, below which a triangle has none: round-off of the
   cross product. */
static const double AREA_MIN = 1e-15;

static mn_status check_triangle(mn_mesh_draft *draft, size_t t)
{
  mn_context *ctx = draft->ctx;
  const int64_t *v = draft->triangle[t], base = draft->index_base;
  long long where = (long long)draft->where[t];
  for (int c = 0; c < 3; c++)
    if (v[c] < 0 || v[c] >= (int64_t)draft->vertices)
      return mn_fail(ctx, MN_BAD_INPUT, "%s: %s %lld: vertex index %lld, allowed are %lld to %lld",
                     draft->path, draft->place, where, (long long)(v[c] + base), (long long)base,
                     (long long)draft->vertices - 1 + base);
  const mn_vec3 *x = draft->vertex;
  for (int c = 0; c < 3; c++)
    if (v[c] == v[(c + 1) % 3] && base == MN_NO_INDEX)
      return mn_fail(ctx, MN_BAD_INPUT,
                     "%s: %s %lld: a triangle has the vertex (%g, %g, %g) twice, all three must "
                     "differ",
                     draft->path, draft->place, where, x[v[c]].x, x[v[c]].y, x[v[c]].z);
    else if (v[c] == v[(c + 1) % 3])
      return mn_fail(ctx, MN_BAD_INPUT,
                     "%s: %s %lld: a triangle has vertex %lld twice, all three must differ",
                     draft->path, draft->place, where, (long long)(v[c] + base));
  mn_vec3 e0 = mn_sub(x[v[1]], x[v[0]]), e1 = mn_sub(x[v[2]], x[v[0]]), e2 = mn_sub(e1, e0);
  double longest = fmax(mn_dot(e0, e0), fmax(mn_dot(e1, e1), mn_dot(e2, e2)));
  double area = 0.5 * mn_length(mn_cross(e0, e1));
  if (!(2 * area > AREA_MIN * longest))
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s: %s %lld: a degenerate triangle of area %g, it must be positive",
                   draft->path, draft->place, where, area);
  return MN_OK;
}

/* ---- edges ----------------------------------------------------------------------------------- */

typedef struct edge {
  uint32_t lo, hi;
  uint32_t triangle;
  uint32_t backward; /* the triangle runs from hi to lo */
} edge;

static int by_ends(const void *pa, const void *pb)
{
  const edge *a = pa, *b = pb;
  if (a->lo != b->lo)
    return a->lo < b->lo ? -1 : 1;
  if (a->hi != b->hi)
    return a->hi < b->hi ? -1 : 1;
  return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

/* "vertices 3 and 7, from (...) to (...)"; without numbers where the file has none */
static void edge_text(const mn_mesh_draft *draft, const edge *e, char *text, size_t size)
{
  mn_vec3 a = draft->vertex[e->lo], b = draft->vertex[e->hi];
  long long base = draft->index_base;
  int used = 0;
  if (base != MN_NO_INDEX)
    used = snprintf(text, size, "of vertices %lld and %lld, ", e->lo + base, e->hi + base);
  snprintf(text + used, size - (size_t)used, "from (%g, %g, %g) to (%g, %g, %g)", a.x, a.y, a.z,
           b.x, b.y, b.z);
}

static mn_status bad_edge(const mn_mesh_draft *draft, const edge *e, size_t shared)
{
  long long where = (long long)draft->where[e->triangle];
  long long other = shared > 1 ? (long long)draft->where[e[1].triangle] : 0;
  char text[256];
  edge_text(draft, e, text, sizeof text);
  if (shared == 2)
    return mn_fail(draft->ctx, MN_BAD_INPUT,
                   "%s: %s %lld: runs along the edge %s, in the same direction as %s %lld; "
                   "neighbours must be oriented alike",
                   draft->path, draft->place, where, text, draft->place, other);
  if (shared == 1)
    return mn_fail(draft->ctx, MN_BAD_INPUT,
                   "%s: %s %lld: the edge %s, belongs to 1 triangle; a closed surface has 2 at "
                   "every edge (vertices at exactly the same place count as one)",
                   draft->path, draft->place, where, text);
  return mn_fail(draft->ctx, MN_BAD_INPUT,
                 "%s: %s %lld: the edge %s, belongs to %zu triangles, another one is that of %s "
                 "%lld; a closed surface has 2 at every edge",
                 draft->path, draft->place, where, text, shared, draft->place, other);
}

/* All sides of triangles, those of one edge together. To be freed. */
static mn_status list_edges(mn_mesh_draft *draft, edge **edges)
{
  size_t n = 3 * draft->triangles;
  MN_TRY(MN_NEW(draft->ctx, "mesh edges", n, edges));
  for (size_t i = 0; i < n; i++) {
    uint32_t from = (uint32_t)draft->triangle[i / 3][i % 3];
    uint32_t to = (uint32_t)draft->triangle[i / 3][(i + 1) % 3];
    (*edges)[i] =
        from < to ? (edge){from, to, (uint32_t)(i / 3), 0} : (edge){to, from, (uint32_t)(i / 3), 1};
  }
  qsort(*edges, n, sizeof **edges, by_ends);
  return MN_OK;
}

/* One past those that are the same edge as i. */
static size_t run_end(const edge *edges, size_t n, size_t i)
{
  size_t j = i + 1;
  while (j < n && edges[j].lo == edges[i].lo && edges[j].hi == edges[i].hi)
    j++;
  return j;
}

static mn_status check_edges(mn_mesh_draft *draft)
{
  size_t n = 3 * draft->triangles;
  edge *edges;
  MN_TRY(list_edges(draft, &edges));
  mn_status status = MN_OK;
  for (size_t i = 0, j; i < n && status == MN_OK; i = j) {
    j = run_end(edges, n, i);
    if (j - i != 2 || edges[i].backward == edges[i + 1].backward)
      status = bad_edge(draft, &edges[i], j - i);
  }
  mn_free(edges);
  return status;
}

/* Many programs write a vertex once for every normal or texture that it has: such a surface is
   closed by its places alone. */
static mn_status join_if_open(mn_mesh_draft *draft)
{
  size_t n = 3 * draft->triangles;
  int open = 0;
  edge *edges;
  MN_TRY(list_edges(draft, &edges));
  for (size_t i = 0, j; i < n && !open; i = j) {
    j = run_end(edges, n, i);
    open = j - i == 1;
  }
  mn_free(edges);
  return open ? mn_draft_join(draft) : MN_OK;
}

/* Six times the enclosed volume, relative to a vertex so that a far-off mesh does not cancel. */
static double signed_volume(const mn_mesh_draft *draft)
{
  const mn_vec3 *x = draft->vertex, o = x[draft->triangle[0][0]];
  double volume = 0;
  for (size_t t = 0; t < draft->triangles; t++) {
    const int64_t *v = draft->triangle[t];
    volume += mn_dot(mn_sub(x[v[0]], o), mn_cross(mn_sub(x[v[1]], o), mn_sub(x[v[2]], o)));
  }
  return volume;
}

mn_status mn_draft_check(mn_mesh_draft *draft)
{
  if (draft->triangles == 0)
    return mn_fail(draft->ctx, MN_BAD_INPUT, "%s: no triangles, a mesh must have some",
                   draft->path);
  for (size_t t = 0; t < draft->triangles; t++)
    MN_TRY(check_triangle(draft, t));
  if (draft->index_base != MN_NO_INDEX)
    MN_TRY(join_if_open(draft));
  MN_TRY(check_edges(draft));
  if (signed_volume(draft) < 0) {
    mn_log(draft->ctx, MN_LOG_WARNING, "%s: the mesh is inside out and is turned", draft->path);
    for (size_t t = 0; t < draft->triangles; t++) {
      int64_t *v = draft->triangle[t], swap = v[1];
      v[1] = v[2];
      v[2] = swap;
    }
  }
  return MN_OK;
}
