/* Life of the bodies of a model: meshes, checks of where they start, and their end. */
#include "world/bodies_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/status.h"
#include "geom/fill.h"
#include "world/body_mesh.h"
#include "world/body_points.h"

static const double START_OVERLAP = 5e-3; /* of the smaller body's size: refused beyond it */

const mn_body_part *mn_bodies_find(const mn_bodies *b, const char *name)
{
  for (int i = 0; i < b->count; i++)
    if (*name && !strcmp(b->part[i].def->name, name))
      return &b->part[i];
  return NULL;
}

int mn_bodies_mixed_index(const mn_bodies *b, const mn_body_part *p)
{
  mn_rigid *rigid = mn_solids_rigid(b->solids);
  return p->def->kind == MN_BODY_RIGID ? p->index : (rigid ? rigid->count : 0) + p->index;
}

mn_status mn_bodies_blame(mn_bodies *b, int i, mn_status status)
{
  const char *name = b->part[i].def->name;
  char *said = b->ctx->message;
  size_t length = strlen(name); /* solvers begin with the name: once is enough */
  if (!strncmp(said, name, length) && !strncmp(said + length, ": ", 2))
    memmove(said, said + length + 2, strlen(said + length + 2) + 1);
  if (*name)
    return mn_fail_prefix(b->ctx, status, "solids: body \"%s\"", name);
  return mn_fail_prefix(b->ctx, status, "solids: body %d", i + 1);
}

/* ---- meshes ---------------------------------------------------------------------------------- */

/* The surface as corners: boundary of a solid mesh, the elements themselves of a thin one. */
static mn_status make_facets(mn_bodies *b, mn_body_part *p)
{
  const mn_simplex_mesh *m = &p->mesh;
  size_t corners = (size_t)b->dim, nodes = (size_t)mn_simplex_nodes(m->corners, m->order);
  if (m->corners == b->dim + 1) {
    uint32_t *all;
    size_t per = (size_t)mn_simplex_nodes(m->corners - 1, m->order);
    MN_TRY(mn_simplex_mesh_boundary(b->ctx, m, &all, &p->facets));
    mn_status status = MN_NEW(b->ctx, "facets of a body", p->facets * corners, &p->facet);
    for (size_t f = 0; f < p->facets && status == MN_OK; f++)
      memcpy(p->facet + f * corners, all + f * per, corners * sizeof *all);
    mn_free(all);
    return status;
  }
  if (m->corners != b->dim) /* a rod in 3D */
    return MN_OK;
  p->facets = m->elements;
  MN_TRY(MN_NEW(b->ctx, "facets of a body", p->facets * corners, &p->facet));
  for (size_t f = 0; f < p->facets; f++)
    memcpy(p->facet + f * corners, m->element + f * nodes, corners * sizeof *p->facet);
  return MN_OK;
}

/* What coarse elements cut off round bodies would be missing from their mass. */
static mn_status report_mesh(const mn_bodies *b, mn_body_part *p)
{
  static const double TOLD = 0.02;
  mn_mesh_quality q = mn_mesh_measure(&p->mesh);
  mn_mass m = {.volume = q.volume};
  const char *name = p->def->name;
  if (!*p->def->file && !p->def->cut)
    MN_TRY(mn_mass_of_shape(b->ctx, p->def->shape, 0, &m));
  p->full = q.volume / m.volume;
  char missing[160] = "";
  if (fabs(p->full - 1) > TOLD)
    snprintf(missing, sizeof missing,
             ", %.1f %% %s volume than its shape (its %s; less spacing comes "
             "nearer)",
             100 * fabs(p->full - 1), p->full < 1 ? "less" : "more",
             b->model->fluid.kind == MN_FLUID_NONE ? "mass is the shape's" : "density is kept");
  mn_log(b->ctx, MN_LOG_INFO,
         "body %s%s%s: %zu %s of order %d, %zu nodes, %s from %.1f to %.1f degrees%s",
         *name ? "\"" : "", *name ? name : "without a name", *name ? "\"" : "", p->mesh.elements,
         b->dim == 3 ? "tetrahedra" : "triangles", p->mesh.order, p->mesh.nodes,
         b->dim == 3 ? "angles between faces" : "angles", q.least_angle, q.greatest_angle, missing);
  return MN_OK;
}

/* Rods and curves of springs in 3D: loads act on surfaces, and they have none. Only the mesh tells,
   since a file may hold either. */
static void warn_no_surface(const mn_bodies *b, const mn_body_part *p)
{
  char name[96];
  if (b->dim != 3 || p->mesh.corners != 2 || b->model->fluid.kind == MN_FLUID_NONE)
    return;
  if (*p->def->name)
    snprintf(name, sizeof name, "body \"%s\"", p->def->name);
  else
    snprintf(name, sizeof name, "body %d", b->count);
  mn_log(b->ctx, MN_LOG_WARNING,
         "%s is a %s in 3D, which has no surface: it feels no fluid, and the fluid flows through "
         "it; a shell with from, to and radius, or an elastic body, has one",
         name, p->def->kind == MN_BODY_ROD ? "rod" : "curve");
}

static mn_status make_part(mn_bodies *b, const mn_body_def *def, mn_body_part *p)
{
  const mn_domain_def *d = &b->model->domain;
  p->def = def;
  MN_TRY(mn_body_mesh(b->ctx, b->dim, def, d->size.x / d->cells[0], &p->mesh));
  MN_TRY(make_facets(b, p));
  warn_no_surface(b, p);
  if (def->kind == MN_BODY_RIGID) {
    MN_TRY(MN_NEW(b->ctx, "a body's picture", p->mesh.nodes, &p->x));
    return MN_NEW(b->ctx, "a body's picture", p->mesh.nodes, &p->v);
  }
  MN_TRY(MN_NEW(b->ctx, "a body's stress", p->mesh.elements, &p->stress));
  if (def->kind != MN_BODY_ELASTIC)
    return MN_OK;
  MN_TRY(report_mesh(b, p));
  return MN_NEW(b->ctx, "a body's volume ratios", p->mesh.elements, &p->jacobian);
}

/* ---- life ------------------------------------------------------------------------------------ */

void mn_bodies_label(const mn_bodies *b, int index, char *text, size_t size)
{
  static const char *const sides[6] = {"left", "right", "bottom", "top", "back", "front"};
  int rigid = mn_solids_rigid(b->solids)->count, count = 0;
  for (int i = 0; i < b->count; i++) {
    const mn_body_part *p = &b->part[i];
    int is_rigid = p->def->kind == MN_BODY_RIGID;
    count += is_rigid;
    if (index != (is_rigid ? p->index : rigid + p->index))
      continue;
    if (*p->def->name)
      snprintf(text, size, "body \"%s\"", p->def->name);
    else
      snprintf(text, size, "body %d", i + 1);
    return;
  }
  for (int i = 0; i < b->model->solid_count; i++, count++)
    if (count == index && *b->model->solids[i].name)
      snprintf(text, size, "obstacle \"%s\"", b->model->solids[i].name);
    else if (count == index)
      snprintf(text, size, "obstacle %d", i + 1);
  for (int s = 0; s < 6; s++)
    if (b->side[s] && count++ == index)
      snprintf(text, size, "the domain's %s side", sides[s]);
}

/* A body beyond an open side, of which nothing is in the domain; beyond a closed one it overlaps.
   Prescribed bodies may come from there. */
static mn_status check_outside(const mn_bodies *b, int i)
{
  const mn_domain_def *d = &b->model->domain;
  const mn_body_part *p = &b->part[i];
  char name[96] = "a body";
  mn_vec3 lo, hi;
  mn_body_extent(&p->mesh, &lo, &hi);
  for (int a = 0; a < b->dim && !p->def->moving; a++) {
    double low = d->origin.v[a], high = low + d->size.v[a];
    if (hi.v[a] >= low && lo.v[a] <= high)
      continue;
    mn_bodies_label(b, mn_bodies_mixed_index(b, p), name, sizeof name);
    return mn_fail(b->ctx, MN_BAD_INPUT,
                   "solids: %s lies outside the domain: it goes from %.4g to %.4g m along axis %d, "
                   "the domain from %.4g to %.4g; move it or set dynamics.check_start = false",
                   name, lo.v[a], hi.v[a], a + 1, low, high);
  }
  return MN_OK;
}

static mn_status check_start(mn_bodies *b)
{
  mn_overlap o;
  char one[96] = "a body", other[96] = "a body";
  for (int i = 0; i < b->count; i++)
    MN_TRY(check_outside(b, i));
  MN_TRY(mn_solids_overlap(b->solids, START_OVERLAP, &o));
  if (o.a < 0)
    return MN_OK;
  mn_bodies_label(b, o.a, one, sizeof one);
  mn_bodies_label(b, o.b, other, sizeof other);
  return mn_fail(b->ctx, MN_BAD_INPUT,
                 "solids: %s lies %.4g m deep in %s at the start; allowed: %.4g m. Move one of "
                 "them, set collides = false for it, or dynamics.check_start = false",
                 one, o.depth, other, START_OVERLAP * o.size);
}

static mn_status check_points(const mn_bodies *b)
{
  char key[160];
  for (int i = 0; i < b->model->probe_count; i++) {
    const mn_probe_def *probe = &b->model->probes[i];
    const mn_body_part *p = mn_bodies_find(b, probe->of);
    int points = probe->kind == MN_PROBE_POSITION || probe->kind == MN_PROBE_BODY_VELOCITY;
    snprintf(key, sizeof key, "probe \"%s\": at", probe->name);
    if (points && probe->at_point && p)
      MN_TRY(mn_body_has_point(b->ctx, b->dim, p->def, &p->mesh, probe->at, key));
  }
  for (int i = 0; i < b->model->link_count; i++) {
    const mn_link_def *l = &b->model->links[i];
    const mn_body_part *of = mn_bodies_find(b, l->of), *to = mn_bodies_find(b, l->to);
    snprintf(key, sizeof key, "solids: link %d.at", i + 1);
    MN_TRY(mn_body_has_point(b->ctx, b->dim, of->def, &of->mesh, l->at, key));
    snprintf(key, sizeof key, "solids: link %d.to_at", i + 1);
    if (to)
      MN_TRY(mn_body_has_point(b->ctx, b->dim, to->def, &to->mesh, l->to_at, key));
  }
  return MN_OK;
}

static mn_status build(mn_bodies *b)
{
  MN_TRY(MN_NEW(b->ctx, "bodies", (size_t)b->model->body_count, &b->part));
  MN_TRY(MN_NEW(b->ctx, "views of bodies", (size_t)b->model->body_count, &b->view));
  for (int i = 0; i < b->model->body_count; i++) {
    b->count = i + 1;
    mn_status status = make_part(b, &b->model->bodies[i], &b->part[i]);
    if (status != MN_OK)
      return mn_bodies_blame(b, i, status);
  }
  MN_TRY(check_points(b));
  MN_TRY(mn_bodies_make_solids(b));
  b->box = mn_solids_box(b->solids);
  return b->model->dynamics.check_start ? check_start(b) : MN_OK;
}

mn_status mn_bodies_create(mn_context *ctx, const mn_model_def *def, mn_bodies **out)
{
  *out = NULL;
  if (!def->body_count)
    return MN_OK;
  mn_bodies *b;
  MN_TRY(MN_NEW(ctx, "bodies", 1, &b));
  b->ctx = ctx;
  b->model = def;
  b->dim = def->domain.dim;
  mn_status status = build(b);
  if (status != MN_OK)
    mn_bodies_destroy(&b);
  *out = b;
  return status;
}

void mn_bodies_destroy(mn_bodies **bodies)
{
  mn_bodies *b = *bodies;
  if (!b)
    return;
  mn_solids_destroy(&b->solids);
  for (int i = 0; i < b->count && b->part; i++) {
    mn_body_part *p = &b->part[i];
    mn_simplex_mesh_destroy(&p->mesh);
    mn_free(p->facet);
    mn_free(p->x);
    mn_free(p->v);
    mn_free(p->stress);
    mn_free(p->jacobian);
  }
  for (int s = 0; s < 6; s++)
    mn_shape_destroy(&b->side[s]);
  mn_free(b->part);
  mn_free(b->view);
  mn_free(b);
  *bodies = NULL;
}

mn_solid mn_bodies_box(mn_bodies *b)
{
  return b->box;
}
