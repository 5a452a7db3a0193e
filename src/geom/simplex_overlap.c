/* Elements of a mesh that share space.

   Two triangles in the plane, or two tetrahedra, with the corners A and B share none if, and only
   if, a line or plane has all of A on one side of it and all of B on the other, corners on it
   counting for both. The planes that do so, n . a <= c for all a and n . b >= c for all b, are a
   cone of pairs (n, c) that holds no line, since the corners span the space; if it is not empty it
   has an edge, on which as many conditions are equalities as there are axes: it is enough to try
   the planes through any `dim` of the 2 (dim + 1) corners. Their signs are exact (predicates.h).
   Thin elements, segments in 2D and triangles in 3D, share points where a side of one crosses the
   other.
   Each element is first drawn towards its middle by 1e-6 of itself: neighbours come apart by that
   much, and so do parts that touch, or that a file's rounded numbers make overlap by less.
   Candidates come from a grid of several levels, each element in one cell, as wide as itself or up
   to twice, whatever the sizes of the others: the cost is linear, times the number of levels.
   Limits: curved elements of order 2 are only compared for their nodes; segments in 3D too.
   Verified by tests/unit/geom/test_overlap.c. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "geom/predicates.h"
#include "geom/simplex_mesh.h"
#include "math/vec.h"

enum { AXIS_BITS = 18, LEVELS = AXIS_BITS + 1, CORNERS = 4, POINTS = 2 * CORNERS };

static const double SHRINK = 1e-6; /* of an element */
static const double STRAIGHT =
    1e-6; /* distance of an edge's node from its middle, over its length */

typedef struct simplex {
  mn_vec3 x[CORNERS]; /* drawn together */
  mn_vec3 lo, hi;
  int level;
  int curved;
} simplex;

typedef struct entry {
  uint64_t cell;
  uint32_t item;
} entry;

typedef struct search {
  const mn_simplex_mesh *mesh;
  simplex *s;
  entry *entry;
  mn_vec3 origin;
  double width[LEVELS]; /* of a level's cells */
  int used[LEVELS];
} search;

/* ---- two elements ---------------------------------------------------------------------------- */

static int sign_of(int dim, const mn_vec3 *x[3], mn_vec3 p)
{
  return dim == 2 ? mn_wedge_sign(*x[0], *x[1], *x[0], p, 0, 1)
                  : mn_volume_sign(*x[0], *x[1], *x[2], p);
}

/* The plane through the points `on` of both has one element on each side. */
static int separates(int dim, const mn_vec3 *point[POINTS], const int on[3])
{
  const mn_vec3 *x[3] = {point[on[0]], point[on[1]], dim == 3 ? point[on[2]] : NULL};
  int k = dim + 1, side = 0; /* of the first element, minus that of the second */
  for (int i = 0; i < 2 * k; i++) {
    if (i == on[0] || i == on[1] || (dim == 3 && i == on[2]))
      continue;
    int s = sign_of(dim, x, *point[i]);
    s = i < k ? s : -s;
    if (s && side && s != side)
      return 0;
    side = s ? s : side;
  }
  return side != 0; /* 0: the points are on a line */
}

static int full_overlap(int dim, const simplex *a, const simplex *b)
{
  const mn_vec3 *point[POINTS];
  int k = dim + 1;
  for (int i = 0; i < k; i++) {
    point[i] = &a->x[i];
    point[k + i] = &b->x[i];
  }
  for (int pass = 0; pass < 2; pass++) /* the faces first: mostly one of them does */
    for (int p = 0; p < 2 * k; p++)
      for (int q = p + 1; q < 2 * k; q++)
        for (int r = dim == 3 ? q + 1 : q; r < (dim == 3 ? 2 * k : q + 1); r++) {
          int on[3] = {p, q, r}, face = (p < k) == (q < k) && (p < k) == (r < k);
          if (face == !pass && separates(dim, point, on))
            return 0;
        }
  return 1;
}

static int thin_overlap(int dim, const simplex *a, const simplex *b)
{
  if (dim == 2)
    return mn_segment_crosses(2, a->x, b->x[0], b->x[1]) != 0;
  for (int i = 0; i < 3; i++)
    if (mn_segment_crosses(3, a->x, b->x[i], b->x[(i + 1) % 3]) ||
        mn_segment_crosses(3, b->x, a->x[i], a->x[(i + 1) % 3]))
      return 1;
  return 0;
}

static int same_corners(const mn_simplex_mesh *m, size_t a, size_t b)
{
  size_t each = (size_t)mn_simplex_nodes(m->corners, m->order);
  const uint32_t *p = m->element + each * a, *q = m->element + each * b;
  for (int i = 0; i < m->corners; i++) {
    int found = 0;
    for (int j = 0; j < m->corners; j++)
      found |= p[i] == q[j];
    if (!found)
      return 0;
  }
  return 1;
}

static int overlap(const search *f, uint32_t a, uint32_t b)
{
  const mn_simplex_mesh *m = f->mesh;
  if (same_corners(m, a, b))
    return 1;
  if (f->s[a].curved || f->s[b].curved)
    return 0;
  return m->corners == m->dim + 1 ? full_overlap(m->dim, &f->s[a], &f->s[b])
         : m->corners == m->dim   ? thin_overlap(m->dim, &f->s[a], &f->s[b])
                                  : 0;
}

/* ---- candidates ------------------------------------------------------------------------------ */

static void measure(const mn_simplex_mesh *m, size_t e, simplex *s)
{
  static const int ends[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
  int nodes = mn_simplex_nodes(m->corners, m->order);
  const uint32_t *n = m->element + (size_t)nodes * e;
  mn_vec3 middle = mn_v3(0, 0, 0);
  for (int c = 0; c < m->corners; c++)
    middle = mn_madd(middle, 1.0 / m->corners, m->node[n[c]]);
  for (int c = 0; c < m->corners; c++) {
    mn_vec3 x = mn_madd(m->node[n[c]], SHRINK, mn_sub(middle, m->node[n[c]]));
    s->x[c] = x;
    for (int a = 0; a < 3; a++) {
      s->lo.v[a] = c ? mn_min(s->lo.v[a], x.v[a]) : x.v[a];
      s->hi.v[a] = c ? mn_max(s->hi.v[a], x.v[a]) : x.v[a];
    }
  }
  for (int k = m->corners; k < nodes; k++) {
    mn_vec3 p = m->node[n[ends[k - m->corners][0]]], q = m->node[n[ends[k - m->corners][1]]];
    mn_vec3 off = mn_sub(m->node[n[k]], mn_scale(0.5, mn_add(p, q)));
    s->curved |= mn_length(off) > STRAIGHT * mn_length(mn_sub(q, p));
  }
}

static uint64_t cell_key(int level, const int64_t at[3])
{
  uint64_t key = (uint64_t)level;
  for (int a = 2; a >= 0; a--)
    key = key << AXIS_BITS | (uint64_t)at[a];
  return key;
}

static int64_t place(const search *f, int level, double x, int a)
{
  double at = floor((x - f->origin.v[a]) / f->width[level]);
  return (int64_t)mn_clamp(at, 0, (1 << AXIS_BITS) - 1);
}

static int by_cell(const void *a, const void *b)
{
  const entry *p = a, *q = b;
  if (p->cell != q->cell)
    return p->cell < q->cell ? -1 : 1;
  return p->item < q->item ? -1 : p->item > q->item;
}

static double widest(mn_vec3 lo, mn_vec3 hi)
{
  mn_vec3 d = mn_sub(hi, lo);
  return mn_max(d.x, mn_max(d.y, d.z));
}

/* Level 0 is as wide as all, every further one half of that before it. */
static void enter_all(search *f)
{
  size_t n = f->mesh->elements;
  mn_vec3 lo = f->s[0].lo, hi = f->s[0].hi;
  for (size_t e = 1; e < n; e++)
    for (int a = 0; a < 3; a++) {
      lo.v[a] = mn_min(lo.v[a], f->s[e].lo.v[a]);
      hi.v[a] = mn_max(hi.v[a], f->s[e].hi.v[a]);
    }
  f->origin = lo;
  f->width[0] = widest(lo, hi);
  for (int l = 1; l < LEVELS; l++)
    f->width[l] = f->width[l - 1] / 2;
  for (size_t e = 0; e < n; e++) {
    simplex *s = &f->s[e];
    int64_t at[3];
    while (s->level + 1 < LEVELS && f->width[s->level + 1] >= widest(s->lo, s->hi))
      s->level++;
    for (int a = 0; a < 3; a++)
      at[a] = place(f, s->level, s->lo.v[a], a);
    f->used[s->level] = 1;
    f->entry[e] = (entry){cell_key(s->level, at), (uint32_t)e};
  }
  qsort(f->entry, n, sizeof *f->entry, by_cell);
}

static size_t first_entry(const search *f, uint64_t key)
{
  size_t first = 0, last = f->mesh->elements;
  while (first < last) {
    size_t middle = (first + last) / 2;
    if (f->entry[middle].cell < key)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

static int boxes_apart(const simplex *a, const simplex *b)
{
  for (int k = 0; k < 3; k++)
    if (a->lo.v[k] > b->hi.v[k] || b->lo.v[k] > a->hi.v[k])
      return 1;
  return 0;
}

/* An element of the level that shares space with e and was not asked before; e itself if none.
   Of the same level the later one is found, of coarser ones all. */
static uint32_t met_on(const search *f, uint32_t e, int level)
{
  const simplex *s = &f->s[e];
  int64_t lo[3], hi[3], at[3];
  for (int a = 0; a < 3; a++) { /* an element reaches from its cell into the next */
    lo[a] = place(f, level, s->lo.v[a], a);
    lo[a] -= lo[a] > 0;
    hi[a] = place(f, level, s->hi.v[a], a);
  }
  for (at[2] = lo[2]; at[2] <= hi[2]; at[2]++)
    for (at[1] = lo[1]; at[1] <= hi[1]; at[1]++) { /* cells along x follow each other */
      at[0] = hi[0];
      uint64_t last = cell_key(level, at);
      at[0] = lo[0];
      for (size_t i = first_entry(f, cell_key(level, at));
           i < f->mesh->elements && f->entry[i].cell <= last; i++) {
        uint32_t o = f->entry[i].item;
        if ((level == s->level && o <= e) || boxes_apart(s, &f->s[o]))
          continue;
        if (overlap(f, e, o))
          return o;
      }
    }
  return e;
}

static void find(search *f, size_t pair[2])
{
  for (uint32_t e = 0; e < f->mesh->elements; e++)
    for (int level = 0; level <= f->s[e].level; level++) {
      uint32_t other = f->used[level] ? met_on(f, e, level) : e;
      if (other == e)
        continue;
      pair[0] = e < other ? e : other;
      pair[1] = e < other ? other : e;
      return;
    }
}

mn_status mn_simplex_mesh_overlap(mn_context *ctx, const mn_simplex_mesh *mesh, size_t pair[2])
{
  search f = {.mesh = mesh};
  pair[0] = pair[1] = 0;
  if (mesh->elements < 2)
    return MN_OK;
  mn_status status = MN_NEW(ctx, "elements to compare", mesh->elements, &f.s);
  if (status == MN_OK)
    status = MN_NEW(ctx, "cells of elements", mesh->elements, &f.entry);
  for (size_t e = 0; e < mesh->elements && status == MN_OK; e++)
    measure(mesh, e, &f.s[e]);
  if (status == MN_OK) {
    enter_all(&f);
    find(&f, pair);
  }
  mn_free(f.s);
  mn_free(f.entry);
  return status;
}
