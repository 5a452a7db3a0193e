/* Edges of triangle meshes by sorting, joints of curves by counting. */
#include "solid/topology.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/status.h"

typedef struct half_edge {
  uint32_t low, high, across, triangle;
  int forward; /* the triangle runs from low to high */
} half_edge;

static int compare(const void *pa, const void *pb)
{
  const half_edge *a = pa, *b = pb;
  if (a->low != b->low)
    return a->low < b->low ? -1 : 1;
  if (a->high != b->high)
    return a->high < b->high ? -1 : 1;
  return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

static void list_half_edges(const mn_simplex_mesh *mesh, half_edge *half)
{
  for (size_t t = 0; t < mesh->elements; t++)
    for (size_t k = 0; k < 3; k++) {
      const uint32_t *node = mesh->element + 3 * t;
      uint32_t from = node[k], to = node[(k + 1) % 3];
      half[3 * t + k] = (half_edge){from < to ? from : to, from < to ? to : from, node[(k + 2) % 3],
                                    (uint32_t)t, from < to};
    }
  qsort(half, 3 * mesh->elements, sizeof *half, compare);
}

static mn_status pair_up(mn_context *ctx, const mn_simplex_mesh *mesh, const half_edge *half,
                         size_t halves, const char *name, mn_edge *edge, size_t *count)
{
  *count = 0;
  for (size_t i = 0; i < halves;) {
    const half_edge *h = half + i;
    size_t n = 1;
    while (i + n < halves && half[i + n].low == h->low && half[i + n].high == h->high)
      n++;
    mn_vec3 x = mesh->node[h->low];
    if (n > 2)
      return mn_fail(ctx, MN_BAD_INPUT,
                     "%s: %zu triangles meet at an edge near (%g, %g, %g), elements %lld, %lld and "
                     "%lld among them; two at most",
                     name, n, x.x, x.y, x.z, mn_simplex_number(mesh, h[0].triangle),
                     mn_simplex_number(mesh, h[1].triangle),
                     mn_simplex_number(mesh, h[2].triangle));
    if (n == 2 && h[0].forward == h[1].forward)
      return mn_fail(ctx, MN_BAD_INPUT,
                     "%s: the neighbouring triangles of elements %lld and %lld near (%g, %g, %g) "
                     "run opposite ways: turn one of them",
                     name, mn_simplex_number(mesh, h[0].triangle),
                     mn_simplex_number(mesh, h[1].triangle), x.x, x.y, x.z);
    edge[(*count)++] = (mn_edge){h->forward ? h->low : h->high,
                                 h->forward ? h->high : h->low,
                                 h[0].across,
                                 n == 2 ? h[1].across : MN_NO_NODE,
                                 {h[0].triangle, n == 2 ? h[1].triangle : MN_NO_NODE}};
    i += n;
  }
  return MN_OK;
}

mn_status mn_edges_find(mn_context *ctx, const mn_simplex_mesh *mesh, const char *name,
                        mn_edge **edge, size_t *count)
{
  half_edge *half = NULL;
  size_t halves = 3 * mesh->elements;
  MN_TRY(MN_NEW(ctx, "half-edges", halves, &half));
  mn_status status = MN_NEW(ctx, "edges", halves, edge);
  if (status == MN_OK) {
    list_half_edges(mesh, half);
    status = pair_up(ctx, mesh, half, halves, name, *edge, count);
  }
  mn_free(half);
  return status;
}

mn_status mn_joints_find(mn_context *ctx, const mn_simplex_mesh *mesh, const char *name,
                         int branches, mn_joint **joint, size_t *count)
{
  uint32_t *neighbour = NULL; /* [nodes][2]: before, after; then segments at each node */
  MN_TRY(MN_NEW(ctx, "neighbours along a curve", 3 * mesh->nodes, &neighbour));
  mn_status status = MN_NEW(ctx, "joints of a curve", mesh->nodes, joint);
  for (size_t i = 0; i < 2 * mesh->nodes; i++)
    neighbour[i] = MN_NO_NODE;
  uint32_t *degree = neighbour + 2 * mesh->nodes;
  for (size_t i = 0; i < 2 * mesh->elements; i++)
    degree[mesh->element[i]]++;
  for (size_t s = 0; s < mesh->elements && status == MN_OK; s++)
    for (size_t end = 0; end < 2 && status == MN_OK; end++) {
      uint32_t node = mesh->element[2 * s + end], other = mesh->element[2 * s + 1 - end];
      uint32_t *slot = neighbour + 2 * (size_t)node + (1 - end);
      if (*slot != MN_NO_NODE && branches && degree[node] > 2)
        continue;
      if (*slot != MN_NO_NODE)
        status = mn_fail(ctx, MN_BAD_INPUT,
                         "%s: two segments %s (%g, %g, %g), element %lld is one: a curve must run "
                         "one way and not branch",
                         name, end ? "end at" : "start at", mesh->node[node].x, mesh->node[node].y,
                         mesh->node[node].z, mn_simplex_number(mesh, s));
      *slot = other;
    }
  *count = 0;
  for (size_t i = 0; i < mesh->nodes && status == MN_OK; i++)
    if (neighbour[2 * i] != MN_NO_NODE && neighbour[2 * i + 1] != MN_NO_NODE)
      (*joint)[(*count)++] = (mn_joint){neighbour[2 * i], (uint32_t)i, neighbour[2 * i + 1]};
  mn_free(neighbour);
  return status;
}
