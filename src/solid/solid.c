/* Any mix of bodies behind the solid black box: how it is made, and the table of operations. The
   interface is in solid_interface.c, the substep itself in solid_step.c. Verified by
   tests/unit/solid/test_solid_box.c. */
#include "solid/solid_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

static const double TRAVEL = 0.5; /* of its size: a body moves no farther in a substep */
static const double TURN = 0.5;   /* rad that a body that is no ball turns in a substep at most */

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
  MN_TRY(MN_NEW(s->ctx, "poses", n, &s->bare));
  MN_TRY(MN_NEW(s->ctx, "springs", 3 * (size_t)s->rigid->springs, &s->soft));
  MN_TRY(MN_NEW(s->ctx, "springs", (size_t)s->rigid->springs, &s->pull));
  MN_TRY(MN_NEW(s->ctx, "springs", 3 * (size_t)s->rigid->springs, &s->ring));
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
  MN_TRY(mn_solids_added_create(s));
  MN_TRY(mn_solids_force_create(s));
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
    void *all[] = {s->force,     s->torque,    s->twist, s->mean,    s->arm,  s->point_count,
                   s->load,      s->free,      s->u,     s->push,    s->P,    s->T,
                   s->spring_P,  s->spring_at, s->theta, s->bare,    s->soft, s->node_v,
                   s->node_load, s->node_x,    s->point, s->element, s->pull, s->ring};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
      mn_free(all[i]);
    mn_solids_press_destroy(s);
    mn_solids_added_destroy(s);
    mn_solids_force_destroy(s);
    mn_solids_linear_destroy(s);
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
    double spin = mn_length(mn_rigid_twist(b, &s->rigid->now[i]).w);
    if (b->def.collides && b->moves && b->radius == 0 && spin > 0)
      dt = mn_min(dt, TURN / spin);
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
    if (!r->body[i].moves)
      mn_rigid_drive(&r->body[i], &r->next[i], t + dt);
  }
  mn_contact_begin(s->contact, s->u, s->nodes.v, mn_solids_part(s) * dt);
  if (s->deform)
    MN_TRY(mn_deform_begin(s->deform, t, dt));
  s->pressing = 0;
  mn_solids_linear_solved(s, 0);
  return MN_OK;
}

mn_status mn_solids_check_finite(mn_solids *s)
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
  int fresh = 0;
  MN_TRY(mn_solids_take(s, interface));
  MN_TRY(mn_solids_add_masses(s, interface));
  if (s->deform) {
    mn_deform_set_press(s->deform, NULL, 0);
    MN_TRY(mn_deform_prepare(s->deform, &fresh));
  }
  if (fresh || !s->pressing)
    mn_solids_press_begin(s);
  s->pressing = 1;
  if (s->deform) {
    MN_TRY(mn_deform_solve(s->deform, s->node_load, &s->report.deform));
    s->nodes = mn_deform_get(s->deform);
  }
  MN_TRY(mn_solids_step(s));
  mn_solids_linear_solved(s, 1);
  MN_TRY(mn_solids_check_finite(s));
  mn_solids_show(s, interface);
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

/* Refused before anything changes: the caller may try again with less. */
static mn_status check_squeeze(mn_solids *s)
{
  const mn_squeeze *q = &s->report.settle.squeeze;
  char by[96] = "";
  if (!(q->depth > 0))
    return MN_OK;
  const mn_rigid_body *b = s->rigid->body;
  if (q->by >= 0)
    snprintf(by, sizeof by, " by %s", b[q->by].name);
  return mn_fail(
      s->ctx, MN_FAILED,
      "%s is pressed %.3g m deep into %s%s, %.2g of the smaller one's size: there is no way "
      "out; leave it room, let what presses be elastic, or set collides = false",
      b[q->body].name, q->depth, b[q->into].name, by, q->depth / q->size);
}

static mn_status solids_commit(void *self)
{
  mn_solids *s = self;
  MN_TRY(check_squeeze(s));
  s->depth = mn_max(s->depth, mn_max(s->report.settle.penetration, s->report.press_depth));
  s->report.penetration = s->depth;
  mn_solids_sum_forces(s);
  memcpy(s->rigid->now, s->rigid->next, (size_t)s->rigid->count * sizeof *s->rigid->now);
  MN_TRY(mn_contact_commit(s->contact, &s->touch));
  return s->deform ? mn_deform_commit(s->deform) : MN_OK;
}

static mn_status solids_save(void *self)
{
  mn_solids *s = self;
  s->saved_depth = s->depth;
  for (int b = 0; b < s->nodes.bodies; b++)
    s->saved_force[b] = s->soft_force[b];
  memcpy(s->rigid->saved, s->rigid->now, (size_t)s->rigid->count * sizeof *s->rigid->now);
  MN_TRY(mn_contact_save(s->contact));
  return s->deform ? mn_deform_save(s->deform) : MN_OK;
}

static mn_status solids_restore(void *self)
{
  mn_solids *s = self;
  s->depth = s->saved_depth;
  for (int b = 0; b < s->nodes.bodies; b++)
    s->soft_force[b] = s->saved_force[b];
  memcpy(s->rigid->now, s->rigid->saved, (size_t)s->rigid->count * sizeof *s->rigid->now);
  MN_TRY(mn_contact_restore(s->contact));
  return s->deform ? mn_deform_restore(s->deform) : MN_OK;
}

static int solids_arrays(void *self, mn_array *arrays, int capacity)
{
  mn_solids *s = self;
  int count = 3;
  if (capacity > 0)
    arrays[0] = (mn_array){.name = "rigid",
                           .type = MN_F64,
                           .rank = 2,
                           .shape = {(size_t)s->rigid->count, sizeof(mn_rigid_state) / 8},
                           .data = s->rigid->now};
  if (capacity > 1)
    arrays[1] = (mn_array){
        .name = "penetration", .type = MN_F64, .rank = 1, .shape = {1}, .data = &s->depth};
  if (capacity > 2)
    arrays[2] = (mn_array){.name = "soft_force",
                           .type = MN_F64,
                           .rank = 2,
                           .shape = {(size_t)s->nodes.bodies, 3},
                           .data = s->soft_force};
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
                                   .sample = mn_solids_sample,
                                   .look = mn_solids_look,
                                   .accelerate = mn_solids_accelerate,
                                   .operators = &mn_solids_operators,
                                   .settle = mn_solids_settle};
  return (mn_solid){&ops, solids};
}
