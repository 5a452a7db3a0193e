/* What a body's facets enclose: by the divergence theorem, 1/2 sum of x cross y over the segments
   (2D), 1/6 sum of x . y cross z over the triangles. Open surfaces are closed first, each rim by
   itself: a curve by the straight line between its ends, a surface by the fan of triangles from the
   rim to its middle, the mean of its edges weighted by their lengths. Without that the sum would
   depend on where the origin is. Quadratic facets are cut at their middles.
   Verified by tests/unit/solid/test_enclosed.c. */
#include "solid/deform_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

/* ---- rims, once ------------------------------------------------------------------------------ */

static int by_nodes(const void *pa, const void *pb)
{
  const mn_rim_edge *a = pa, *b = pb;
  uint32_t al = a->from < a->to ? a->from : a->to, bl = b->from < b->to ? b->from : b->to;
  uint32_t ah = a->from ^ a->to ^ al, bh = b->from ^ b->to ^ bl;
  if (al != bl)
    return al < bl ? -1 : 1;
  if (ah != bh)
    return ah < bh ? -1 : 1;
  return a->from < b->from ? -1 : a->from > b->from;
}

static int by_rim(const void *pa, const void *pb)
{
  const mn_rim_edge *a = pa, *b = pb;
  if (a->rim != b->rim)
    return a->rim < b->rim ? -1 : 1;
  return by_nodes(pa, pb);
}

static uint32_t root(uint32_t *parent, uint32_t i)
{
  while (parent[i] != i)
    i = parent[i] = parent[parent[i]];
  return i;
}

/* Edges of one triangle only, turned round; those that hang together are one rim. */
static size_t surface_rims(const mn_deform *d, mn_rim_edge *edge, uint32_t *parent)
{
  size_t count = 0, kept = 0;
  for (size_t f = 0; f < d->facets; f++)
    for (int c = 0; c < 3 && d->facet[f].corners == 3; c++)
      edge[count++] = (mn_rim_edge){.from = d->facet[f].node[(c + 1) % 3],
                                    .to = d->facet[f].node[c],
                                    .body = d->facet[f].body};
  qsort(edge, count, sizeof *edge, by_nodes);
  for (size_t i = 0, n; i < count; i += n) {
    n = 1 + (i + 1 < count && edge[i + 1].from == edge[i].to && edge[i + 1].to == edge[i].from);
    if (n == 1)
      edge[kept++] = edge[i];
  }
  for (size_t i = 0; i < kept; i++)
    parent[root(parent, edge[i].from)] = root(parent, edge[i].to);
  for (size_t i = 0; i < kept; i++)
    edge[i].rim = root(parent, edge[i].from);
  qsort(edge, kept, sizeof *edge, by_rim);
  return kept;
}

/* From the end of every open curve back to its start: nodes from which more segments go than come.
   A wall across a closed curve is one, from branch to branch. */
static size_t curve_rims(const mn_deform *d, mn_rim_edge *edge, uint32_t *next, int32_t *excess)
{
  size_t kept = 0;
  memset(excess, 0, d->nodes * sizeof *excess);
  for (size_t f = 0; f < d->facets; f++) {
    next[d->facet[f].node[0]] = d->facet[f].node[1];
    excess[d->facet[f].node[0]]++;
    excess[d->facet[f].node[1]]--;
  }
  for (size_t f = 0; f < d->facets; f++) {
    uint32_t start = d->facet[f].node[0], end = start;
    if (excess[start] <= 0)
      continue;
    excess[start]--;
    for (size_t steps = 0; excess[end] >= 0 && steps < d->facets; steps++)
      end = next[end];
    excess[end]++;
    edge[kept++] = (mn_rim_edge){.from = end, .to = start, .body = d->facet[f].body};
  }
  return kept;
}

mn_status mn_deform_find_rims(mn_deform *d)
{
  size_t n = d->nodes;
  uint32_t *work;
  mn_rim_edge *all = NULL;
  MN_TRY(MN_NEW(d->ctx, "rims of surfaces", 2 * n, &work));
  mn_status status = MN_NEW(d->ctx, "rims of surfaces", 3 * d->facets, &all);
  if (status == MN_OK) {
    for (uint32_t i = 0; i < n; i++)
      work[i] = i;
    d->rims = d->def.dim == 3 ? surface_rims(d, all, work)
                              : curve_rims(d, all, work, (int32_t *)(work + n));
    status = MN_NEW(d->ctx, "rims of surfaces", d->rims, &d->rim);
  }
  if (status == MN_OK && d->rims)
    memcpy(d->rim, all, d->rims * sizeof *all);
  mn_free(work);
  mn_free(all);
  return status;
}

/* ---- the sum --------------------------------------------------------------------------------- */

static double under_segment(mn_vec3 a, mn_vec3 b)
{
  return (a.x * b.y - a.y * b.x) / 2;
}

static double under_triangle(mn_vec3 a, mn_vec3 b, mn_vec3 c)
{
  return mn_dot(a, mn_cross(b, c)) / 6;
}

static double under_facet(const mn_deform *d, const mn_facet *f)
{
  static const int QUARTER[4][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}, {3, 4, 5}};
  const mn_vec3 *x = d->x;
  double sum = 0;
  if (f->corners == 2 && d->def.dim == 2) {
    uint32_t chain[3] = {f->node[0], f->node[f->nodes == 3 ? 2 : 1], f->node[1]};
    for (int k = 0; k < f->nodes - 1; k++)
      sum += under_segment(x[chain[k]], x[chain[k + 1]]);
  } else if (f->corners == 3) {
    for (int q = 0; q < (f->nodes == 6 ? 4 : 1); q++) {
      const int *c = f->nodes == 6 ? QUARTER[q] : (const int[3]){0, 1, 2};
      sum += under_triangle(x[f->node[c[0]]], x[f->node[c[1]]], x[f->node[c[2]]]);
    }
  }
  return sum;
}

/* Of the rim of edge i. */
static mn_vec3 rim_middle(const mn_deform *d, size_t i)
{
  mn_vec3 sum = {0};
  double length = 0;
  for (size_t k = 0; k < d->rims; k++) {
    mn_vec3 a = d->x[d->rim[k].from], b = d->x[d->rim[k].to];
    double l = mn_length(mn_sub(a, b));
    if (d->rim[k].rim != d->rim[i].rim)
      continue;
    sum = mn_madd(sum, l / 2, mn_add(a, b));
    length += l;
  }
  return length > 0 ? mn_scale(1 / length, sum) : d->x[d->rim[i].from];
}

double mn_deform_enclosed(const mn_deform *d, int body)
{
  double sum = 0;
  mn_vec3 middle = {0};
  for (size_t i = 0; i < d->facets; i++)
    if (body < 0 || d->facet[i].body == body)
      sum += under_facet(d, &d->facet[i]);
  for (size_t i = 0; i < d->rims; i++) { /* edges of a rim follow each other */
    const mn_rim_edge *r = &d->rim[i];
    if (body >= 0 && r->body != body)
      continue;
    if (d->def.dim == 3 && (i == 0 || d->rim[i - 1].rim != r->rim))
      middle = rim_middle(d, i);
    sum += d->def.dim == 2 ? under_segment(d->x[r->from], d->x[r->to])
                           : under_triangle(d->x[r->from], d->x[r->to], middle);
  }
  return sum;
}
