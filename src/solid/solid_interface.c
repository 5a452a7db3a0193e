/* The interface of the solids: surface meshes of all bodies, where they are and how fast, and the
   loads on them. Verified by tests/unit/solid/test_solid_box.c. */
#include "solid/solid_internal.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "geom/surface_mesh.h"

/* The mesh of a rigid body's surface, whose volume and centroid are the body's own: a hydrostatic
   pressure then gives the buoyancy of its volume at its centre. */
static mn_status sample_mesh(mn_solids *s, int i, const mn_simplex_mesh *mesh)
{
  size_t n = (size_t)s->def.dim, first = s->points, all = n * (s->elements + mesh->elements);
  mn_vec3 *area;
  MN_TRY(mn_grow(s->ctx, "interface points", s->points, s->points + mesh->nodes, sizeof *s->point,
                 (void **)&s->point));
  MN_TRY(mn_grow(s->ctx, "interface elements", n * s->elements, all, sizeof *s->element,
                 (void **)&s->element));
  MN_TRY(MN_NEW(s->ctx, "interface areas", mesh->nodes, &area));
  mn_surface_areas(s->def.dim, mesh->node, mesh->nodes, mesh->element, mesh->elements, area);
  for (size_t k = 0; k < mesh->nodes; k++) {
    double size = mn_length(area[k]);
    mn_vec3 normal = size > 0 ? mn_scale(1 / size, area[k]) : mn_v3(0, 0, 0);
    s->point[s->points++] = (surface_point){i, mesh->node[k], normal, size};
  }
  for (size_t k = 0; k < n * mesh->elements; k++)
    s->element[n * s->elements + k] = (uint32_t)(first + mesh->element[k]);
  s->elements += mesh->elements;
  mn_free(area);
  return MN_OK;
}

static mn_status sample_body(mn_solids *s, int i, double spacing)
{
  const mn_rigid_body *b = &s->rigid->body[i];
  mn_simplex_mesh mesh;
  MN_TRY(mn_shape_surface(s->ctx, b->def.shape, spacing, &mesh));
  mn_status status = mn_surface_match(s->ctx, b->volume, b->center, &mesh);
  if (status == MN_OK)
    status = sample_mesh(s, i, &mesh);
  mn_simplex_mesh_destroy(&mesh);
  return status;
}

mn_status mn_solids_sample(void *self, double spacing, size_t *count, size_t *elements)
{
  mn_solids *s = self;
  if (!(spacing > 0) || !isfinite(spacing))
    return mn_fail(s->ctx, MN_BAD_INPUT,
                   "the spacing of interface points is %g m, it must be "
                   "positive",
                   spacing);
  mn_free(s->point);
  mn_free(s->element);
  s->point = NULL, s->points = 0;
  s->element = NULL, s->elements = 0;
  mn_surface_points_destroy(&s->surface);
  mn_solids_linear_destroy(s); /* its patterns are those of the points */
  for (int i = 0; i < s->rigid->count; i++)
    if (s->rigid->body[i].def.sampled && isfinite(s->rigid->body[i].bound))
      MN_TRY(sample_body(s, i, spacing));
  if (s->deform)
    MN_TRY(mn_surface_points_create(s->ctx, s->def.dim, s->nodes.facet, s->nodes.facets,
                                    s->nodes.rest, s->nodes.nodes, spacing, &s->surface));
  *count = s->points + s->surface.count;
  *elements = s->elements + s->surface.elements;
  return MN_OK;
}

static mn_status check_interface(mn_solids *s, const mn_interface *f)
{
  size_t points = s->points + s->surface.count, elements = s->elements + s->surface.elements;
  if (f->count != 0 && (f->count != points || f->elements != elements))
    return mn_fail(s->ctx, MN_FAILED,
                   "the interface has %zu points and %zu elements, the solids were sampled with "
                   "%zu and %zu",
                   f->count, f->elements, points, elements);
  return MN_OK;
}

/* Where the points of rigid bodies are, and how the surface lies there. */
static void show_rigid(const mn_solids *s, const mn_rigid_state *state, mn_interface *f)
{
  for (size_t k = 0; k < s->points; k++) {
    const surface_point *p = &s->point[k];
    f->X[k] = mn_rigid_point(&s->rigid->body[p->body], &state[p->body], p->x);
    f->N[k] = mn_quat_rotate(state[p->body].q, p->n);
    f->area[k] = p->area;
  }
}

/* dt dV/dX - 1 of the solids' rules: see mn_interface.lead. */
static double rigid_lead(const mn_solids *s, int body)
{
  return s->rigid->body[body].moves && s->def.order == 2 ? 1 : 0;
}

static double node_lead(const mn_solids *s)
{
  return s->deform ? mn_deform_lead(s->deform) : 0;
}

/* What does not change until the next call of sample. */
static void show_mesh(const mn_solids *s, mn_interface *f)
{
  size_t n = (size_t)s->def.dim;
  for (size_t k = 0; k < s->points; k++) {
    f->body[k] = s->point[k].body;
    f->two_sided[k] = 0;
    f->rigid[k] = 1;
    f->lead[k] = rigid_lead(s, s->point[k].body);
  }
  for (size_t k = 0; k < s->surface.count; k++) {
    f->body[s->points + k] = s->rigid->count + s->surface.point[k].body;
    f->two_sided[s->points + k] = (uint8_t)s->surface.point[k].two_sided;
    f->rigid[s->points + k] = 0;
    f->lead[s->points + k] = node_lead(s);
  }
  for (size_t k = 0; k < n * s->elements; k++)
    f->element[k] = s->element[k];
  for (size_t k = 0; k < n * s->surface.elements; k++)
    f->element[n * s->elements + k] = (uint32_t)(s->points + s->surface.element[k]);
}

mn_status mn_solids_look(void *self, mn_interface *f)
{
  mn_solids *s = self;
  const mn_rigid_state *now = s->rigid->now;
  MN_TRY(check_interface(s, f));
  if (s->deform)
    s->nodes = mn_deform_get(s->deform);
  if (f->count == 0)
    return MN_OK;
  show_rigid(s, now, f);
  for (size_t k = 0; k < s->points; k++) {
    int i = s->point[k].body;
    mn_vec3 arm = mn_sub(f->X[k], now[i].x);
    f->V[k] = mn_twist_at(mn_rigid_twist(&s->rigid->body[i], &now[i]), arm);
  }
  mn_surface_gather(&s->surface, s->nodes.x, s->nodes.v, f, s->points);
  show_mesh(s, f);
  return MN_OK;
}

/* The last solve. Velocities at the end, of what steps by a rule of second order; the others, and
   what is driven, show means over the substep: so much room they take. */
void mn_solids_show(mn_solids *s, mn_interface *f)
{
  if (f->count == 0)
    return;
  const mn_rigid *r = s->rigid;
  show_rigid(s, r->next, f);
  for (size_t k = 0; k < s->points; k++) {
    int i = s->point[k].body;
    const mn_rigid_state *next = &r->next[i];
    mn_vec3 start = mn_rigid_point(&r->body[i], &r->now[i], s->point[k].x);
    f->V[k] = rigid_lead(s, i) > 0
                  ? mn_twist_at(mn_rigid_twist(&r->body[i], next), mn_sub(f->X[k], next->x))
                  : mn_scale(1 / s->dt, mn_sub(f->X[k], start));
  }
  int ends = node_lead(s) > 0;
  for (size_t k = 0; k < s->nodes.nodes; k++) { /* node_v is free after the step */
    s->node_v[k] = mn_scale(1 / s->dt, mn_sub(s->nodes.x1[k], s->nodes.x[k]));
    for (int a = 0; a < 3 && ends; a++)
      if (!(s->nodes.fixed[k] & MN_FIX_X << a))
        s->node_v[k].v[a] = s->nodes.v1[k].v[a];
  }
  mn_surface_gather(&s->surface, s->nodes.x1, s->node_v, f, s->points);
}

/* Loads to a force and a torque, both where the loads act: the points as the caller has them. Arms
   at another pose would turn a constant pressure into a torque. The centre belongs to the points'
   mean. */
mn_status mn_solids_take(mn_solids *s, const mn_interface *f)
{
  MN_TRY(check_interface(s, f));
  size_t n = (size_t)s->rigid->count;
  memset(s->load, 0, n * sizeof *s->load);
  memset(s->twist, 0, n * sizeof *s->twist);
  memset(s->mean, 0, n * sizeof *s->mean);
  memset(s->arm, 0, n * sizeof *s->arm);
  memset(s->point_count, 0, n * sizeof *s->point_count);
  if (s->nodes.nodes)
    memset(s->node_load, 0, s->nodes.nodes * sizeof *s->node_load);
  if (f->count == 0)
    return MN_OK;
  for (size_t k = 0; k < s->points; k++) {
    int i = s->point[k].body;
    s->mean[i] = mn_add(s->mean[i], f->X[k]);
    s->arm[i] = mn_add(s->arm[i], mn_sub(s->point[k].x, s->rigid->body[i].center));
    s->load[i] = mn_add(s->load[i], f->load[k]);
    s->point_count[i]++;
  }
  for (size_t i = 0; i < n; i++)
    if (s->point_count[i]) {
      s->mean[i] = mn_scale(1.0 / (double)s->point_count[i], s->mean[i]);
      s->arm[i] = mn_scale(1.0 / (double)s->point_count[i], s->arm[i]);
    }
  for (size_t k = 0; k < s->points; k++) {
    int i = s->point[k].body;
    s->twist[i] = mn_add(s->twist[i], mn_cross(mn_sub(f->X[k], s->mean[i]), f->load[k]));
  }
  if (s->surface.count)
    mn_surface_scatter(&s->surface, f, s->points, s->node_load);
  return MN_OK;
}
