/* Which bodies lie in each other: a set-up that contact would have to tear apart.

   Two searches. What contact itself sees at rest: contact points, balls, nodes and facets against
   signed distances. And what it does not: points of rigid bodies, and surface nodes of deformable
   ones, within the elements of an elastic body; they lie as deep as the nearest facet is far.
   Nodes that are fixed count for nothing: a bar may be clamped inside a wall.
   Limits: thin bodies that cross each other are not seen. Used once, at the start of a run.
   Verified by tests/unit/world/test_body_start.c. */
#include "solid/solid_internal.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

typedef struct search {
  mn_solids *s;
  mn_boxgrid grid; /* of the elements of one elastic body */
  mn_vec3 *lo, *hi;
  uint32_t *found;
  const uint32_t *element;
  int element_nodes;
  mn_facet *facet; /* of all bodies that collide */
  size_t facets;
  mn_touches touches;
  mn_twist *still;
  mn_vec3 *still_nodes;
  double part;
  mn_overlap *worst;
} search;

/* Half the extent; HUGE_VAL: unbounded. */
static double size_of(const mn_solids *s, int body)
{
  if (body < s->rigid->count)
    return s->rigid->body[body].bound;
  const mn_deform_body *b = &s->nodes.body[body - s->rigid->count];
  mn_vec3 lo = mn_v3(HUGE_VAL, HUGE_VAL, HUGE_VAL), hi = mn_scale(-1, lo);
  for (uint32_t i = b->first; i < b->first + b->nodes; i++)
    for (int a = 0; a < 3; a++) {
      lo.v[a] = mn_min(lo.v[a], s->nodes.x[i].v[a]);
      hi.v[a] = mn_max(hi.v[a], s->nodes.x[i].v[a]);
    }
  return 0.5 * mn_length(mn_sub(hi, lo));
}

static void note(search *q, int a, int b, double depth)
{
  if (!(depth > 0))
    return;
  double size = mn_min(size_of(q->s, a), size_of(q->s, b));
  double worst = q->worst->a < 0 ? q->part : q->worst->depth / q->worst->size;
  if (depth > worst * size)
    *q->worst = (mn_overlap){a, b, depth, size};
}

static int body_of_node(const mn_solids *s, uint32_t node)
{
  int b = 0;
  while (node >= s->nodes.body[b].first + s->nodes.body[b].nodes)
    b++;
  return s->rigid->count + b;
}

/* ---- what contact sees ----------------------------------------------------------------------- */

static mn_status among_touches(search *q)
{
  mn_solids *s = q->s;
  mn_contact_nodes nodes = {.count = s->nodes.nodes,
                            .facets = q->facets,
                            .x = s->nodes.x,
                            .v = q->still_nodes,
                            .mass = s->nodes.mass,
                            .fixed = s->nodes.fixed,
                            .facet = q->facet,
                            .friction = s->node_friction};
  s->contact->across = 1;
  mn_status status = mn_contact_find(s->contact, s->rigid->now, q->still, q->still, &nodes,
                                     q->still_nodes, 0, &q->touches);
  s->contact->across = 0;
  MN_TRY(status);
  for (size_t i = 0; i < q->touches.count; i++) {
    const mn_touch *t = &q->touches.at[i];
    int held = 0;
    for (int k = 0; k < t->nodes; k++)
      held |= s->nodes.fixed[t->node[k]] != 0;
    if (!held)
      note(q, t->a, t->b >= 0 ? t->b : body_of_node(s, t->node[0]),
           -t->gap - (t->b < 0 ? s->def.contact.thickness : 0));
  }
  return MN_OK;
}

/* ---- inside elastic bodies ------------------------------------------------------------------- */

static int in_element(const search *q, uint32_t e, mn_vec3 x)
{
  const mn_vec3 *p = q->s->nodes.x;
  const uint32_t *n = q->element + (size_t)e * (size_t)q->element_nodes;
  mn_vec3 a = p[n[0]], u = mn_sub(p[n[1]], a), v = mn_sub(p[n[2]], a), y = mn_sub(x, a);
  if (q->s->def.dim == 2) {
    double area = u.x * v.y - u.y * v.x, p1 = y.x * v.y - y.y * v.x, p2 = u.x * y.y - u.y * y.x;
    return p1 / area >= 0 && p2 / area >= 0 && (p1 + p2) / area <= 1;
  }
  mn_vec3 w = mn_sub(p[n[3]], a);
  double all = mn_dot(u, mn_cross(v, w)), p1 = mn_dot(y, mn_cross(v, w)) / all,
         p2 = mn_dot(u, mn_cross(y, w)) / all, p3 = mn_dot(u, mn_cross(v, y)) / all;
  return p1 >= 0 && p2 >= 0 && p3 >= 0 && p1 + p2 + p3 <= 1;
}

/* Distance from x to the surface of the elastic body. */
static double to_surface(const search *q, int body, mn_vec3 x)
{
  const mn_solids *s = q->s;
  double least = HUGE_VAL;
  for (size_t f = 0; f < q->facets; f++) {
    mn_vec3 p[3], y = {0};
    double w[3];
    int corners = q->facet[f].corners;
    if (q->facet[f].body != body)
      continue;
    for (int k = 0; k < corners; k++)
      p[k] = s->nodes.x[q->facet[f].node[k]];
    mn_nearest_weights(corners, p, x, w);
    for (int k = 0; k < corners; k++)
      y = mn_madd(y, w[k], p[k]);
    least = mn_min(least, mn_length(mn_sub(x, y)));
  }
  return least;
}

/* A point of `other`, around which it has the radius r. */
static void try_point(search *q, int body, int other, mn_vec3 x, double r)
{
  uint32_t found = mn_boxgrid_query(&q->grid, x, x, q->found);
  for (uint32_t k = 0; k < found; k++)
    if (in_element(q, q->found[k], x)) {
      note(q, other, q->s->rigid->count + body, to_surface(q, body, x) + r);
      return;
    }
}

static mn_status set_elements(search *q, int body)
{
  const mn_solids *s = q->s;
  size_t count = mn_deform_elements(s->deform, body);
  q->element = mn_deform_element_nodes(s->deform, body, &q->element_nodes);
  MN_TRY(MN_NEW(s->ctx, "boxes of elements", count, &q->lo));
  MN_TRY(MN_NEW(s->ctx, "boxes of elements", count, &q->hi));
  MN_TRY(MN_NEW(s->ctx, "boxes of elements", count, &q->found));
  for (size_t e = 0; e < count; e++) {
    q->lo[e] = mn_v3(HUGE_VAL, HUGE_VAL, HUGE_VAL), q->hi[e] = mn_scale(-1, q->lo[e]);
    for (int k = 0; k <= s->def.dim; k++) {
      mn_vec3 x = s->nodes.x[q->element[e * (size_t)q->element_nodes + (size_t)k]];
      for (int a = 0; a < 3; a++) {
        q->lo[e].v[a] = mn_min(q->lo[e].v[a], x.v[a]);
        q->hi[e].v[a] = mn_max(q->hi[e].v[a], x.v[a]);
      }
    }
  }
  return mn_boxgrid_build(&q->grid, s->ctx, q->lo, q->hi, (uint32_t)count);
}

static mn_status within_elastic(search *q, int body)
{
  const mn_solids *s = q->s;
  MN_TRY(set_elements(q, body));
  for (int i = 0; i < s->rigid->count; i++) {
    const mn_rigid_body *b = &s->rigid->body[i];
    if (!b->def.collides)
      continue;
    if (b->radius > 0)
      try_point(q, body, i, mn_rigid_point(b, &s->rigid->now[i], b->ball), b->radius);
    for (size_t k = 0; k < b->points; k++)
      try_point(q, body, i, mn_rigid_point(b, &s->rigid->now[i], b->point[k]), 0);
  }
  for (size_t f = 0; f < q->facets; f++)
    for (int k = 0; k < q->facet[f].corners && q->facet[f].body != body; k++) {
      uint32_t n = q->facet[f].node[k];
      if (!s->nodes.fixed[n])
        try_point(q, body, s->rigid->count + q->facet[f].body, s->nodes.x[n], 0);
    }
  return MN_OK;
}

static void free_elements(search *q)
{
  mn_free(q->lo);
  mn_free(q->hi);
  mn_free(q->found);
  q->lo = q->hi = NULL, q->found = NULL;
}

/* ---- both ------------------------------------------------------------------------------------ */

static mn_status look_for_all(search *q)
{
  mn_solids *s = q->s;
  MN_TRY(MN_NEW(s->ctx, "bodies at rest", (size_t)s->rigid->count, &q->still));
  MN_TRY(MN_NEW(s->ctx, "nodes at rest", s->nodes.nodes, &q->still_nodes));
  MN_TRY(MN_NEW(s->ctx, "facets", s->flats, &q->facet));
  for (size_t f = 0; f < s->flats; f++)
    if (s->nodes.body[s->flat[f].body].collides)
      q->facet[q->facets++] = s->flat[f];
  MN_TRY(among_touches(q));
  for (int b = 0; b < s->nodes.bodies; b++)
    if (s->nodes.body[b].collides && s->nodes.body[b].corners == s->def.dim + 1) {
      mn_status status = within_elastic(q, b);
      free_elements(q);
      MN_TRY(status);
    }
  return MN_OK;
}

mn_status mn_solids_overlap(mn_solids *s, double part, mn_overlap *worst)
{
  *worst = (mn_overlap){-1, -1, 0, 0};
  if (!s->def.contacts)
    return MN_OK;
  if (s->deform)
    s->nodes = mn_deform_get(s->deform);
  search q = {.s = s, .part = part, .worst = worst};
  mn_status status = look_for_all(&q);
  mn_free(q.still);
  mn_free(q.still_nodes);
  mn_free(q.facet);
  mn_free(q.touches.at);
  mn_boxgrid_destroy(&q.grid);
  return status;
}
