/* Bodies added to the system: their nodes, masses, energies and facets. */
#include "solid/deform_internal.h"

#include <stdio.h>

#include "base/memory.h"
#include "base/status.h"
#include "geom/structured.h"
#include "solid/elastic.h"

/* ---- growing --------------------------------------------------------------------------------- */

/* Room for the nodes of a mesh, which become the last ones. */
static mn_status add_nodes(mn_deform *d, const mn_simplex_mesh *mesh, mn_vec3 velocity,
                           double alpha)
{
  size_t old = d->nodes, count = old + mesh->nodes;
  struct {
    void **array;
    size_t size;
  } all[] = {{(void **)&d->rest, sizeof *d->rest},  {(void **)&d->x, sizeof *d->x},
             {(void **)&d->v, sizeof *d->v},        {(void **)&d->mass, sizeof *d->mass},
             {(void **)&d->alpha, sizeof *d->mass}, {(void **)&d->fixed, sizeof *d->fixed}};
  if (count > UINT32_MAX / 3)
    return mn_fail(d->ctx, MN_BAD_INPUT, "deformable bodies: %zu nodes are too many", count);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    MN_TRY(mn_grow(d->ctx, "nodes", old, count, all[i].size, all[i].array));
  for (size_t i = 0; i < mesh->nodes; i++) {
    d->rest[old + i] = d->x[old + i] = mesh->node[i];
    d->v[old + i] = velocity;
    d->alpha[old + i] = alpha;
    d->mass[old + i] = 0;
    d->fixed[old + i] = 0;
  }
  d->nodes = count;
  return MN_OK;
}

mn_status mn_deform_add_group(mn_deform *d, int body, double beta, mn_energy_group **group)
{
  MN_TRY(mn_grow(d->ctx, "energies", (size_t)d->groups, (size_t)d->groups + 1, sizeof *d->group,
                 (void **)&d->group));
  *group = d->group + d->groups++;
  **group = (mn_energy_group){.body = body, .beta = beta};
  return MN_OK;
}

static mn_status add_body(mn_deform *d, const mn_simplex_mesh *mesh, const char *name,
                          mn_vec3 velocity, double alpha, int *body)
{
  *body = d->bodies;
  MN_TRY(mn_grow(d->ctx, "bodies", (size_t)d->bodies, (size_t)d->bodies + 1, sizeof *d->body,
                 (void **)&d->body));
  mn_deform_body *b = d->body + d->bodies;
  *b = (mn_deform_body){.first = (uint32_t)d->nodes,
                        .nodes = (uint32_t)mesh->nodes,
                        .first_facet = d->facets,
                        .group = d->groups,
                        .corners = mesh->corners,
                        .two_sided = mesh->corners <= mesh->dim,
                        .friction = -1,
                        .collides = 1,
                        .release = HUGE_VAL};
  snprintf(b->name, sizeof b->name, "%s", name ? name : "body");
  d->bodies++;
  return add_nodes(d, mesh, velocity, alpha);
}

/* Facets given by nodes of the mesh. */
static mn_status add_facets(mn_deform *d, const uint32_t *node, size_t count, int corners,
                            int nodes)
{
  mn_deform_body *b = d->body + d->bodies - 1;
  MN_TRY(mn_grow(d->ctx, "facets", d->facets, d->facets + count, sizeof *d->facet,
                 (void **)&d->facet));
  for (size_t i = 0; i < count; i++) {
    mn_facet f = {.nodes = (uint8_t)nodes,
                  .corners = (uint8_t)corners,
                  .two_sided = (uint8_t)b->two_sided,
                  .body = d->bodies - 1};
    for (int a = 0; a < nodes; a++)
      f.node[a] = b->first + node[i * (size_t)nodes + (size_t)a];
    d->facet[d->facets + i] = f;
  }
  b->facets = count;
  d->facets += count;
  return MN_OK;
}

/* What is common to all: room, numbers that make sense, elements that name their nodes. */
static mn_status check_mesh(mn_deform *d, const mn_simplex_mesh *mesh, const char *name,
                            int corners_low, int corners_high, const char *kind)
{
  size_t nodes = (size_t)mn_simplex_nodes(mesh->corners, mesh->order);
  name = name ? name : "body";
  if (d->is_ready)
    return mn_fail(d->ctx, MN_BAD_INPUT, "%s: bodies cannot be added after mn_deform_ready", name);
  if (mesh->dim != d->def.dim || mesh->corners < corners_low || mesh->corners > corners_high)
    return mn_fail(d->ctx, MN_BAD_INPUT,
                   "%s: a mesh in %d dimensions with %d corners per element cannot be %s in %d "
                   "dimensions",
                   name, mesh->dim, mesh->corners, kind, d->def.dim);
  if (!mesh->nodes || !mesh->elements)
    return mn_fail(d->ctx, MN_BAD_INPUT, "%s: the mesh is empty", name);
  for (size_t i = 0; i < mesh->elements * nodes; i++)
    if (mesh->element[i] >= mesh->nodes)
      return mn_fail(d->ctx, MN_BAD_INPUT, "%s: element %zu names node %u of %zu", name, i / nodes,
                     mesh->element[i], mesh->nodes);
  for (size_t i = 0; i < mesh->nodes; i++)
    if (!isfinite(mesh->node[i].x) || !isfinite(mesh->node[i].y) || !isfinite(mesh->node[i].z))
      return mn_fail(d->ctx, MN_BAD_INPUT, "%s: node %zu is not finite", name, i);
  return MN_OK;
}

static mn_status check_number(mn_deform *d, const char *name, const char *what, double value,
                              double low, int open)
{
  if (value > low || (!open && value == low))
    return MN_OK;
  return mn_fail(d->ctx, MN_BAD_INPUT, "%s: %s is %g, must be %s %g", name ? name : "body", what,
                 value, open ? "above" : "at least", low);
}

static mn_status check_poisson(mn_deform *d, const char *name, double poisson)
{
  if (poisson > -1 && poisson < 0.5)
    return MN_OK;
  return mn_fail(d->ctx, MN_BAD_INPUT, "%s: poisson is %g, must lie between -1 and 0.5",
                 name ? name : "body", poisson);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

mn_status mn_deform_add_elastic(mn_deform *d, const mn_simplex_mesh *mesh,
                                const mn_elastic_def *def, int *body)
{
  MN_TRY(check_mesh(d, mesh, def->name, d->def.dim + 1, d->def.dim + 1, "an elastic body"));
  MN_TRY(check_number(d, def->name, "young", def->young, 0, 1));
  MN_TRY(check_number(d, def->name, "density", def->density, 0, 1));
  MN_TRY(check_number(d, def->name, "alpha", def->alpha, 0, 0));
  MN_TRY(check_number(d, def->name, "beta", def->beta, 0, 0));
  MN_TRY(check_poisson(d, def->name, def->poisson));
  MN_TRY(add_body(d, mesh, def->name, def->velocity, def->alpha, body));
  mn_deform_body *b = d->body + *body;
  mn_material material = mn_material_make(def->material, def->young, def->poisson);
  mn_energy_group *group;
  MN_TRY(mn_deform_add_group(d, *body, def->beta, &group));
  b->groups = 1;
  MN_TRY(mn_elastic_make(d->ctx, mesh, b->first, &material, def->density, b->name, group, d->mass));
  uint32_t *facet = NULL;
  size_t facets = 0;
  mn_status status = mn_simplex_mesh_boundary(d->ctx, mesh, &facet, &facets);
  if (status == MN_OK)
    status = add_facets(d, facet, facets, mesh->corners - 1,
                        mn_simplex_nodes(mesh->corners - 1, mesh->order));
  mn_free(facet);
  return status;
}

/* Lumped masses of a thin body: density (kg/m or kg/m^2) times its size, in equal parts. */
static mn_status add_thin_mass(mn_deform *d, const mn_simplex_mesh *mesh, uint32_t first,
                               double density)
{
  size_t corners = (size_t)mesh->corners;
  for (size_t e = 0; e < mesh->elements; e++) {
    const uint32_t *n = mesh->element + e * corners;
    mn_vec3 p = mn_sub(mesh->node[n[1]], mesh->node[n[0]]);
    double size = mn_length(p);
    if (corners == 3)
      size = mn_length(mn_cross(p, mn_sub(mesh->node[n[2]], mesh->node[n[0]]))) / 2;
    if (!(size > 0))
      return mn_fail(d->ctx, MN_BAD_INPUT, "%s: element %lld, a %s, has no %s",
                     d->body[d->bodies - 1].name, mn_simplex_number(mesh, e),
                     corners == 3 ? "triangle" : "segment", corners == 3 ? "area" : "length");
    for (size_t a = 0; a < corners; a++)
      d->mass[first + n[a]] += density * size / (double)corners;
  }
  return MN_OK;
}

/* One group of springs between pairs of nodes of the mesh, at rest as they are. */
static mn_status add_spring_group(mn_deform *d, int body, const mn_simplex_mesh *mesh,
                                  const uint32_t (*pair)[2], size_t count, double k, double damping,
                                  int per_length, double beta)
{
  mn_energy_group *group;
  mn_spring *spring = NULL;
  MN_TRY(mn_deform_add_group(d, body, beta, &group));
  d->body[body].groups++;
  MN_TRY(MN_NEW(d->ctx, "springs", count, &spring));
  for (size_t i = 0; i < count; i++) {
    uint32_t a = pair[i][0], b = pair[i][1];
    double length = mn_length(mn_sub(mesh->node[b], mesh->node[a]));
    spring[i] = (mn_spring){d->body[body].first + a, d->body[body].first + b, length,
                            per_length ? k / length : k, damping};
  }
  mn_status status = mn_springs_make(d->ctx, d->def.dim, spring, count, group);
  mn_free(spring);
  return status;
}

/* Stretch along the elements' sides, bend across the node or edge between neighbours. */
static mn_status make_springs(mn_deform *d, int body, const mn_simplex_mesh *mesh,
                              const mn_springs_def *def, uint32_t (**pair)[2], mn_edge **edge,
                              mn_joint **joint)
{
  size_t edges = 0, joints = 0, stretch = 0, bend = 0;
  const char *name = d->body[body].name;
  if (mesh->corners == 3)
    MN_TRY(mn_edges_find(d->ctx, mesh, name, edge, &edges));
  else
    MN_TRY(mn_joints_find(d->ctx, mesh, name, 1, joint, &joints));
  MN_TRY(MN_NEW(d->ctx, "springs", edges + mesh->elements, pair));
  for (size_t i = 0; i < edges; i++, stretch++)
    (*pair)[stretch][0] = (*edge)[i].a, (*pair)[stretch][1] = (*edge)[i].b;
  for (size_t i = 0; mesh->corners == 2 && i < mesh->elements; i++, stretch++)
    (*pair)[stretch][0] = mesh->element[2 * i], (*pair)[stretch][1] = mesh->element[2 * i + 1];
  MN_TRY(add_spring_group(d, body, mesh, (const uint32_t(*)[2]) * pair, stretch, def->stretch,
                          def->stretch_damping, 0, 0));
  for (size_t i = 0; i < edges; i++)
    if ((*edge)[i].right != MN_NO_NODE)
      (*pair)[bend][0] = (*edge)[i].left, (*pair)[bend++][1] = (*edge)[i].right;
  for (size_t i = 0; i < joints; i++)
    (*pair)[bend][0] = (*joint)[i].before, (*pair)[bend++][1] = (*joint)[i].after;
  if ((def->bend == 0 && def->bend_damping == 0) || bend == 0)
    return MN_OK;
  return add_spring_group(d, body, mesh, (const uint32_t(*)[2]) * pair, bend, def->bend,
                          def->bend_damping, 0, 0);
}

mn_status mn_deform_add_springs(mn_deform *d, const mn_simplex_mesh *mesh,
                                const mn_springs_def *def, int *body)
{
  MN_TRY(check_mesh(d, mesh, def->name, 2, d->def.dim, "cloth or a curve of springs"));
  if (mesh->order != 1)
    return mn_fail(d->ctx, MN_BAD_INPUT, "springs need a mesh of order 1");
  MN_TRY(check_number(d, def->name, "density", def->density, 0, 1));
  MN_TRY(check_number(d, def->name, "stretch", def->stretch, 0, 0));
  MN_TRY(check_number(d, def->name, "bend", def->bend, 0, 0));
  MN_TRY(check_number(d, def->name, "stretch_damping", def->stretch_damping, 0, 0));
  MN_TRY(check_number(d, def->name, "bend_damping", def->bend_damping, 0, 0));
  MN_TRY(check_number(d, def->name, "alpha", def->alpha, 0, 0));
  MN_TRY(add_body(d, mesh, def->name, def->velocity, def->alpha, body));
  MN_TRY(add_thin_mass(d, mesh, d->body[*body].first, def->density));
  uint32_t(*pair)[2] = NULL;
  mn_edge *edge = NULL;
  mn_joint *joint = NULL;
  mn_status status = make_springs(d, *body, mesh, def, &pair, &edge, &joint);
  mn_free(pair);
  mn_free(edge);
  mn_free(joint);
  if (status == MN_OK)
    status = add_facets(d, mesh->element, mesh->elements, mesh->corners, mesh->corners);
  return status;
}

mn_status mn_deform_add_shell(mn_deform *d, const mn_simplex_mesh *mesh, const mn_shell_def *def,
                              int *body)
{
  MN_TRY(check_mesh(d, mesh, def->name, 3, d->def.dim == 3 ? 3 : 0, "a shell"));
  if (mesh->order != 1)
    return mn_fail(d->ctx, MN_BAD_INPUT, "a shell needs a mesh of order 1");
  MN_TRY(check_number(d, def->name, "young", def->young, 0, 1));
  MN_TRY(check_number(d, def->name, "density", def->density, 0, 1));
  MN_TRY(check_number(d, def->name, "thickness", def->thickness, 0, 1));
  MN_TRY(check_number(d, def->name, "alpha", def->alpha, 0, 0));
  MN_TRY(check_number(d, def->name, "beta", def->beta, 0, 0));
  MN_TRY(check_poisson(d, def->name, def->poisson));
  MN_TRY(add_body(d, mesh, def->name, def->velocity, def->alpha, body));
  mn_deform_body *b = d->body + *body;
  double h = def->thickness, nu = def->membrane == MN_MEMBRANE_NEO_HOOKEAN ? 0.5 : def->poisson;
  double bending = def->bending >= 0 ? def->bending : def->young * h * h * h / (12 * (1 - nu * nu));
  MN_TRY(add_thin_mass(d, mesh, b->first, def->density * h));
  mn_energy_group *group;
  mn_shell_def named = *def;
  named.name = b->name;
  MN_TRY(mn_deform_add_group(d, *body, def->beta, &group));
  b->groups++;
  MN_TRY(mn_membrane_make(d->ctx, mesh, b->first, &named, group));
  mn_edge *edge = NULL;
  size_t edges;
  mn_status status = mn_edges_find(d->ctx, mesh, b->name, &edge, &edges);
  if (status == MN_OK && bending > 0) {
    status = mn_deform_add_group(d, *body, def->beta, &group);
    b->groups++;
    if (status == MN_OK)
      status = mn_plate_make(d->ctx, mesh, b->first, edge, edges, &(mn_plate){b->name, bending, nu},
                             group);
  }
  mn_free(edge);
  if (status == MN_OK)
    status = add_facets(d, mesh->element, mesh->elements, 3, 3);
  return status;
}

mn_status mn_deform_add_rod(mn_deform *d, const mn_simplex_mesh *mesh, const mn_rod_def *def,
                            int *body)
{
  MN_TRY(check_mesh(d, mesh, def->name, 2, 2, "a rod"));
  if (mesh->order != 1)
    return mn_fail(d->ctx, MN_BAD_INPUT, "a rod needs a mesh of order 1");
  MN_TRY(check_number(d, def->name, "stretch", def->stretch, 0, 1));
  MN_TRY(check_number(d, def->name, "bend", def->bend, 0, 0));
  MN_TRY(check_number(d, def->name, "density", def->density, 0, 1));
  MN_TRY(check_number(d, def->name, "alpha", def->alpha, 0, 0));
  MN_TRY(check_number(d, def->name, "beta", def->beta, 0, 0));
  MN_TRY(add_body(d, mesh, def->name, def->velocity, def->alpha, body));
  mn_deform_body *b = d->body + *body;
  MN_TRY(add_thin_mass(d, mesh, b->first, def->density));
  MN_TRY(add_spring_group(d, *body, mesh, (const uint32_t(*)[2])mesh->element, mesh->elements,
                          def->stretch, 0, 1, def->beta));
  mn_joint *joint = NULL;
  size_t joints;
  mn_status status = mn_joints_find(d->ctx, mesh, b->name, 0, &joint, &joints);
  if (status == MN_OK && def->bend > 0 && joints > 0) {
    mn_energy_group *group;
    status = mn_deform_add_group(d, *body, def->beta, &group);
    b->groups++;
    if (status == MN_OK)
      status = mn_rod_joints_make(d->ctx, mesh, b->first, joint, joints, def->bend, group);
  }
  mn_free(joint);
  if (status == MN_OK)
    status = add_facets(d, mesh->element, mesh->elements, 2, 2);
  return status;
}

mn_status mn_deform_add_anchor(mn_deform *d, uint32_t node, mn_vec3 point, double length, double k,
                               double b)
{
  MN_TRY(check_number(d, "anchor", "length", length, 0, 0));
  MN_TRY(check_number(d, "anchor", "k", k, 0, 0));
  MN_TRY(check_number(d, "anchor", "b", b, 0, 0));
  MN_TRY(mn_grow(d->ctx, "anchors", d->anchors, d->anchors + 1, sizeof *d->anchor,
                 (void **)&d->anchor));
  d->anchor[d->anchors++] = (mn_anchor){node, point, k, b, length};
  return MN_OK;
}

mn_status mn_deform_add_spring(mn_deform *d, uint32_t a, uint32_t b, double length, double k,
                               double damping)
{
  MN_TRY(check_number(d, "spring", "length", length, 0, 0));
  MN_TRY(check_number(d, "spring", "k", k, 0, 0));
  MN_TRY(check_number(d, "spring", "damping", damping, 0, 0));
  MN_TRY(mn_grow(d->ctx, "springs", d->springs, d->springs + 1, sizeof *d->spring,
                 (void **)&d->spring));
  d->spring[d->springs++] = (mn_spring){a, b, length, k, damping};
  return MN_OK;
}
