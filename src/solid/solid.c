/* Any mix of bodies behind the solid black box: how it is made, the points of its interface, and
   the table of operations. The substep itself is in solid_step.c. Verified by
   tests/unit/solid/test_solid_box.c. */
#include "solid/solid_internal.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "geom/surface_mesh.h"

static const double TRAVEL = 0.5; /* of its size: a body moves no farther in a substep */

mn_solids_def mn_solids_def_default(int dim)
{
  return (mn_solids_def){.dim = dim,
                         .gravity = mn_v3(0, -9.81, 0),
                         .order = 2,
                         .contacts = 1,
                         .contact = mn_contact_def_default()};
}

/* ---- making ---------------------------------------------------------------------------------- */

static mn_status make_work(mn_solids *s)
{
  size_t n = (size_t)s->rigid->count, m = s->nodes.nodes;
  MN_TRY(MN_NEW(s->ctx, "forces", n, &s->force));
  MN_TRY(MN_NEW(s->ctx, "torques", n, &s->torque));
  MN_TRY(MN_NEW(s->ctx, "loads", n, &s->load));
  MN_TRY(MN_NEW(s->ctx, "loads", n, &s->twist));
  MN_TRY(MN_NEW(s->ctx, "loads", n, &s->mean));
  MN_TRY(MN_NEW(s->ctx, "loads", n, &s->arm));
  MN_TRY(MN_NEW(s->ctx, "loads", n, &s->point_count));
  MN_TRY(MN_NEW(s->ctx, "velocities", n, &s->free));
  MN_TRY(MN_NEW(s->ctx, "velocities", n, &s->u));
  MN_TRY(MN_NEW(s->ctx, "velocities", n, &s->push));
  MN_TRY(MN_NEW(s->ctx, "impulses", n, &s->P));
  MN_TRY(MN_NEW(s->ctx, "impulses", n, &s->T));
  MN_TRY(MN_NEW(s->ctx, "impulses", n, &s->spring_P));
  MN_TRY(MN_NEW(s->ctx, "impulses", n, &s->spring_at));
  MN_TRY(MN_NEW(s->ctx, "poses", n, &s->theta));
  MN_TRY(MN_NEW(s->ctx, "springs", 3 * (size_t)s->rigid->springs, &s->soft));
  MN_TRY(MN_NEW(s->ctx, "node places", m, &s->node_x));
  MN_TRY(MN_NEW(s->ctx, "node velocities", m, &s->node_v));
  return MN_NEW(s->ctx, "node loads", m, &s->node_load);
}

static mn_status make(mn_solids *s, const mn_solids_def *def)
{
  if (def->order != 1 && def->order != 2)
    return mn_fail(s->ctx, MN_BAD_INPUT, "solids.order is %d, it must be 1 or 2", def->order);
  MN_TRY(mn_rigid_create(s->ctx, def->dim, def->gravity, def->rigid, def->rigid_count, def->springs,
                         def->spring_count, &s->rigid));
  if (!def->contacts)
    for (int i = 0; i < s->rigid->count; i++)
      s->rigid->body[i].def.collides = 0;
  if (s->deform)
    s->nodes = mn_deform_get(s->deform);
  MN_TRY(mn_contact_create(s->ctx, &def->contact, s->rigid, s->nodes.nodes, &s->contact));
  MN_TRY(make_work(s));
  return mn_solids_press_create(s);
}

mn_status mn_solids_create(mn_context *ctx, const mn_solids_def *def, mn_solids **solids)
{
  *solids = NULL;
  mn_solids *s = NULL;
  mn_status status = MN_NEW(ctx, "solids", 1, &s);
  if (status != MN_OK) {
    mn_deform *deform = def->deform;
    mn_deform_destroy(&deform);
    return status;
  }
  s->ctx = ctx, s->def = *def, s->deform = def->deform;
  status = make(s, def);
  s->def.rigid = NULL, s->def.springs = NULL; /* the caller's */
  if (status != MN_OK)
    mn_solids_destroy(&s);
  *solids = s;
  return status;
}

void mn_solids_destroy(mn_solids **solids)
{
  mn_solids *s = *solids;
  if (s) {
    void *all[] = {s->force,    s->torque,    s->twist,  s->mean, s->arm,    s->point_count,
                   s->load,     s->free,      s->u,      s->push, s->P,      s->T,
                   s->spring_P, s->spring_at, s->theta,  s->soft, s->node_v, s->node_load,
                   s->node_x,   s->point,     s->element};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
      mn_free(all[i]);
    mn_solids_press_destroy(s);
    mn_surface_points_destroy(&s->surface);
    mn_contact_destroy(&s->contact);
    mn_rigid_destroy(&s->rigid);
    mn_deform_destroy(&s->deform);
    mn_free(s);
  }
  *solids = NULL;
}

mn_rigid *mn_solids_rigid(mn_solids *s)
{
  return s->rigid;
}

mn_deform *mn_solids_deform(mn_solids *s)
{
  return s->deform;
}

const mn_solids_report *mn_solids_last(const mn_solids *s)
{
  return &s->report;
}

/* ---- the interface --------------------------------------------------------------------------- */

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

static mn_status solids_sample(void *self, double spacing, size_t *count, size_t *elements)
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

/* What does not change until the next call of sample. */
static void show_mesh(const mn_solids *s, mn_interface *f)
{
  size_t n = (size_t)s->def.dim;
  for (size_t k = 0; k < s->points; k++) {
    f->body[k] = s->point[k].body;
    f->two_sided[k] = 0;
    f->rigid[k] = 1;
  }
  for (size_t k = 0; k < s->surface.count; k++) {
    f->body[s->points + k] = s->rigid->count + s->surface.point[k].body;
    f->two_sided[s->points + k] = (uint8_t)s->surface.point[k].two_sided;
    f->rigid[s->points + k] = 0;
  }
  for (size_t k = 0; k < n * s->elements; k++)
    f->element[k] = s->element[k];
  for (size_t k = 0; k < n * s->surface.elements; k++)
    f->element[n * s->elements + k] = (uint32_t)(s->points + s->surface.element[k]);
}

static mn_status solids_look(void *self, mn_interface *f)
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

/* The last solve: velocities are means over the substep. */
static void show_solved(mn_solids *s, mn_interface *f)
{
  if (f->count == 0)
    return;
  const mn_rigid *r = s->rigid;
  show_rigid(s, r->next, f);
  for (size_t k = 0; k < s->points; k++) {
    int i = s->point[k].body;
    mn_vec3 start = mn_rigid_point(&r->body[i], &r->now[i], s->point[k].x);
    f->V[k] = mn_scale(1 / s->dt, mn_sub(f->X[k], start));
  }
  for (size_t k = 0; k < s->nodes.nodes; k++) /* node_v is free after the step */
    s->node_v[k] = mn_scale(1 / s->dt, mn_sub(s->nodes.x1[k], s->nodes.x[k]));
  mn_surface_gather(&s->surface, s->nodes.x1, s->node_v, f, s->points);
}

/* Loads to a force and a torque, both where the loads act: the points as the caller has them. Arms
   at another pose would turn a constant pressure into a torque. The centre belongs to the points'
   mean. */
static void take_loads(mn_solids *s, const mn_interface *f)
{
  size_t n = (size_t)s->rigid->count;
  memset(s->load, 0, n * sizeof *s->load);
  memset(s->twist, 0, n * sizeof *s->twist);
  memset(s->mean, 0, n * sizeof *s->mean);
  memset(s->arm, 0, n * sizeof *s->arm);
  memset(s->point_count, 0, n * sizeof *s->point_count);
  if (s->nodes.nodes)
    memset(s->node_load, 0, s->nodes.nodes * sizeof *s->node_load);
  if (f->count == 0)
    return;
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
}

/* ---- the box --------------------------------------------------------------------------------- */

static void solids_destroy(void *self)
{
  mn_solids *s = self;
  mn_solids_destroy(&s);
}

static double solids_max_dt(void *self)
{
  mn_solids *s = self;
  double dt = s->deform ? mn_deform_max_dt(s->deform) : HUGE_VAL;
  for (int i = 0; i < s->rigid->count; i++) {
    const mn_rigid_body *b = &s->rigid->body[i];
    double speed = mn_length(s->rigid->now[i].v);
    if (b->def.collides && b->moves && speed > 0)
      dt = mn_min(dt, TRAVEL * b->bound / speed);
  }
  return dt;
}

static mn_status solids_begin(void *self, double t, double dt)
{
  mn_solids *s = self;
  mn_rigid *r = s->rigid;
  s->t = t, s->dt = dt;
  if (s->deform)
    s->nodes = mn_deform_get(s->deform);
  for (int i = 0; i < r->count; i++) {
    s->u[i] = mn_rigid_twist(&r->body[i], &r->now[i]);
    r->next[i] = r->now[i];
    if (r->body[i].def.joint == MN_JOINT_DRIVEN)
      mn_rigid_drive(&r->body[i], &r->next[i], t + dt);
  }
  mn_contact_begin(s->contact, s->u, s->nodes.v, mn_solids_part(s) * dt);
  if (s->deform)
    MN_TRY(mn_deform_begin(s->deform, t, dt));
  mn_solids_press_begin(s);
  return MN_OK;
}

static mn_status check_finite(mn_solids *s)
{
  for (int i = 0; i < s->rigid->count; i++) {
    const mn_rigid_state *r = &s->rigid->next[i];
    double sum = mn_length(r->x) + mn_length(r->v) + mn_length(r->L) + fabs(r->q.w);
    if (!isfinite(sum))
      return mn_fail(s->ctx, MN_FAILED, "%s has a position or velocity that is not a number",
                     s->rigid->body[i].name);
  }
  return MN_OK;
}

static mn_status solids_solve(void *self, mn_interface *interface, mn_solve_report *report)
{
  mn_solids *s = self;
  MN_TRY(check_interface(s, interface));
  take_loads(s, interface);
  if (s->deform) {
    mn_deform_set_press(s->deform, NULL, 0);
    MN_TRY(mn_deform_solve(s->deform, s->node_load, &s->report.deform));
    s->nodes = mn_deform_get(s->deform);
  }
  MN_TRY(mn_solids_step(s));
  MN_TRY(check_finite(s));
  show_solved(s, interface);
  if (report) {
    *report = (mn_solve_report){.reason = MN_CONVERGED};
    report->iterations = s->report.deform.iterations + s->report.drift.iterations;
    report->residual = s->report.deform.residual;
    report->initial_residual = s->report.deform.initial_residual;
    if (s->deform && s->report.deform.reason != MN_CONVERGED)
      report->reason = s->report.deform.reason;
  }
  return MN_OK;
}

static mn_status solids_commit(void *self)
{
  mn_solids *s = self;
  s->depth = mn_max(s->depth, s->report.settle.penetration);
  s->report.penetration = s->depth;
  memcpy(s->rigid->now, s->rigid->next, (size_t)s->rigid->count * sizeof *s->rigid->now);
  MN_TRY(mn_contact_commit(s->contact));
  return s->deform ? mn_deform_commit(s->deform) : MN_OK;
}

static mn_status solids_save(void *self)
{
  mn_solids *s = self;
  s->saved_depth = s->depth;
  memcpy(s->rigid->saved, s->rigid->now, (size_t)s->rigid->count * sizeof *s->rigid->now);
  MN_TRY(mn_contact_save(s->contact));
  return s->deform ? mn_deform_save(s->deform) : MN_OK;
}

static mn_status solids_restore(void *self)
{
  mn_solids *s = self;
  s->depth = s->saved_depth;
  memcpy(s->rigid->now, s->rigid->saved, (size_t)s->rigid->count * sizeof *s->rigid->now);
  MN_TRY(mn_contact_restore(s->contact));
  return s->deform ? mn_deform_restore(s->deform) : MN_OK;
}

static int solids_arrays(void *self, mn_array *arrays, int capacity)
{
  mn_solids *s = self;
  int count = 2;
  if (capacity > 0)
    arrays[0] = (mn_array){.name = "rigid",
                           .type = MN_F64,
                           .rank = 2,
                           .shape = {(size_t)s->rigid->count, sizeof(mn_rigid_state) / 8},
                           .data = s->rigid->now};
  if (capacity > 1)
    arrays[1] = (mn_array){
        .name = "penetration", .type = MN_F64, .rank = 1, .shape = {1}, .data = &s->depth};
  count += mn_contact_arrays(s->contact, arrays + count, capacity - count);
  if (s->deform)
    count += mn_deform_arrays(s->deform, arrays + count, capacity > count ? capacity - count : 0);
  return count;
}

static mn_status solids_resize(void *self, const mn_array *arrays, int count)
{
  mn_solids *s = self;
  for (int i = 0; i < count; i++)
    if (strcmp(arrays[i].name, "contact_keys") == 0)
      MN_TRY(mn_contact_resize(s->contact, arrays[i].shape[0]));
  return MN_OK;
}

mn_solid mn_solids_box(mn_solids *solids)
{
  static const mn_solid_ops ops = {.name = "solids",
                                   .destroy = solids_destroy,
                                   .max_dt = solids_max_dt,
                                   .begin = solids_begin,
                                   .solve = solids_solve,
                                   .commit = solids_commit,
                                   .save = solids_save,
                                   .restore = solids_restore,
                                   .arrays = solids_arrays,
                                   .resize = solids_resize,
                                   .sample = solids_sample,
                                   .look = solids_look};
  return (mn_solid){&ops, solids};
}
