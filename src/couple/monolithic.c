/* A substep of fluid and solid as one system: Newton about the solid's iterate, the fluid's place
   on the grid as `frozen` says. See monolithic.h. */
#include "couple/monolithic.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/timer.h"
#include "couple/monolithic_internal.h"
#include "math/vec.h"

/* Newton has converged as well when the next step, guessed from the last two, is below this part of
   what is allowed; and has lost its way when a step is so many times the first one. */
static const double NEXT_STEP = 0.1, ASTRAY = 100;
/* Of what is allowed: how far walls of closed regions may lie off after the one step of a
   linearised substep. Less than the next substeps make good (monolithic_closed.c). */
static const double LOST_AT_ONCE = 0.1;
/* The same after Newton's first step, in cells for a substep of full length: what is pressed harder
   may be turned over by the next ones. How far walls turn has nothing to do with the tolerance, and
   the next steps mend it: a tight one would halve substeps for ever, the error of the first step
   falling little faster than what is allowed. And where the second step leaves more than this part
   of it, it mends nothing. */
static const double TURNED = 0.05, TURNS_ON = 0.5;
/* Of what is allowed: how far bodies may go in a substep by the energy by which they miss their own
   equations. A stiff one that turns is stretched by the linear step, by little, and would be thrown
   about by that. */
static const double MISSED = 0.003;
/* Rest loads that differ by less (of the largest) are the same. */
static const double SAME_REST = 1e-13;

/* ---- life ------------------------------------------------------------------------------------ */

mn_status mn_monolithic_create(mn_context *ctx, const mn_coupling_def *def, double dx,
                               mn_boxes *boxes, mn_closed *closed, mn_monolithic **out)
{
  *out = NULL;
  MN_TRY(mn_boxes_need_operators(boxes, mn_coupling_method_name(def->method)));
  if (def->solver == MN_SOLVER_DIRECT && !mn_lu_available())
    return mn_fail(ctx, MN_BAD_INPUT,
                   "coupling.solver = \"direct\" needs UMFPACK, and this is a build without GPL "
                   "parts (MENISCUS_GPL=OFF): take \"cg\", \"minres\" or \"auto\"");
  mn_monolithic *m;
  MN_TRY(MN_NEW(ctx, "a monolithic coupling", 1, &m));
  *m = (mn_monolithic){.ctx = ctx, .def = *def, .dx = dx, .boxes = boxes, .closed = closed};
  m->s.ctx = ctx;
  m->s.boxes = boxes;
  m->s.dx = dx;
  m->s.solver = def->solver;
  m->s.masses = def->load == MN_LOAD_IMPULSE;
  size_t n = boxes->face.count;
  mn_status status = MN_NEW(ctx, "velocities of points", n, &m->V);
  if (status == MN_OK)
    status = MN_NEW(ctx, "velocities of points", n, &m->V_linear);
  if (status == MN_OK)
    status = MN_NEW(ctx, "places of points", n, &m->X_linear);
  if (status == MN_OK)
    status = MN_NEW(ctx, "places of points", n, &m->X_rest);
  if (status == MN_OK)
    status = MN_NEW(ctx, "loads of points", n, &m->load);
  if (status == MN_OK)
    status = MN_NEW(ctx, "loads of points", n, &m->rest);
  if (status == MN_OK)
    status = MN_NEW(ctx, "loads of points", n, &m->load_about);
  if (status == MN_OK)
    status = MN_NEW(ctx, "velocities of points", n, &m->settled);
  if (status == MN_OK)
    status = MN_NEW(ctx, "velocities of points", n, &m->touched);
  if (status == MN_OK)
    status = MN_NEW(ctx, "steps of Newton", (size_t)def->max_iterations, &m->residual);
  if (status != MN_OK)
    mn_monolithic_destroy(&m);
  *out = m;
  return status;
}

void mn_monolithic_destroy(mn_monolithic **mono)
{
  mn_monolithic *m = *mono;
  if (!m)
    return;
  mn_mono_system_destroy(&m->s);
  void *all[] = {m->p,        m->slack,  m->v,    m->q,    m->V,          m->V_linear, m->settled,
                 m->X_linear, m->X_rest, m->load, m->rest, m->load_about, m->residual, m->touched};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  mn_free(m);
  *mono = NULL;
}

static mn_status make_room(mn_monolithic *m)
{
  size_t cells = m->s.cells, freedoms = m->s.freedoms;
  if (cells > m->cell_room || !m->p) {
    size_t room = cells + cells / 8 + 1;
    m->cell_room = 0;
    MN_TRY(MN_RENEW(m->ctx, "pressures", room, &m->p));
    MN_TRY(MN_RENEW(m->ctx, "slacks", room, &m->slack));
    m->cell_room = room;
    m->cells = 0; /* there is no guess any more */
  }
  if (freedoms > m->freedom_room || !m->v) {
    size_t room = freedoms + freedoms / 8 + 1;
    m->freedom_room = 0;
    MN_TRY(MN_RENEW(m->ctx, "velocities of freedoms", room, &m->v));
    MN_TRY(MN_RENEW(m->ctx, "steps of freedoms", room, &m->q));
    m->freedom_room = room;
  }
  return MN_OK;
}

/* ---- one step of Newton ---------------------------------------------------------------------- */

double mn_mono_look_ahead(mn_monolithic *m)
{
  const mn_interface *f = &m->boxes->face;
  const mn_sparse_matrix *E = &m->s.solid.E;
  double most = 0;
  for (size_t i = 0; i < f->count; i++) {
    double square = 0;
    m->V_linear[i] = m->binds ? mn_add(f->V[i], m->settled[i]) : f->V[i];
    m->X_linear[i] = f->X[i];
    for (size_t a = 0; a < 3; a++) {
      double way = 0;
      for (int64_t e = E->start[3 * i + a]; e < E->start[3 * i + a + 1]; e++)
        way += E->value[e] * m->q[E->col[e]];
      m->V_linear[i].v[a] += (1 + f->lead[i]) / m->s.dt * way;
      m->X_linear[i].v[a] += way;
      square += way * way;
    }
    most = square > most * most || square != square ? sqrt(square) : most;
  }
  return most;
}

mn_status mn_mono_assemble(mn_monolithic *m)
{
  const mn_interface *f = &m->boxes->face;
  memcpy(m->X_rest, f->X, f->count * sizeof *f->X);
  return mn_boxes_assemble(m->boxes, &m->s.fluid);
}

static mn_status ask_for_positive_masses(mn_monolithic *m)
{
  m->s.light = 0;
  m->s.fluid.positive = 1;
  MN_TRY(mn_mono_assemble(m));
  return mn_mono_build(&m->s);
}

/* K' of a body that bends shows its inertia with its stiffness, which must not count where its
   velocity at the end is its own. With the interface where the fluid meets it; its loads and V are
   lost. */
static mn_status bear_soft_bodies(mn_monolithic *m)
{
  mn_boxes *b = m->boxes;
  int any = 0, light = 0;
  if (!m->s.masses || !b->fluid.ops->lacking || !b->solid.ops->accelerate || !mn_boxes_any_soft(b))
    return MN_OK;
  MN_TRY(mn_boxes_lacking(b, m->load, &any));
  if (any)
    MN_TRY(mn_boxes_weigh(b, m->load, m->s.dt, 1, &light));
  m->s.fluid.positive = light;
  memcpy(b->face.V, m->V, b->face.count * sizeof *b->face.V);
  memset(b->face.load, 0, b->face.count * sizeof *b->face.load);
  return MN_OK;
}

/* Where water may let go of bodies that are lighter than what masses below 0 take off, the fluid is
   to have none; and where deformable ones are so light that their equations have no sense. (cg and
   minres find out about these by themselves.) */
static mn_status bear_light_bodies(mn_monolithic *m)
{
  mn_mono_system *s = &m->s;
  int light, direct = mn_mono_choose(s, m->def.solver) == MN_SOLVER_DIRECT;
  if (s->fluid.positive || !(s->fluid.bound || direct))
    return MN_OK;
  MN_TRY(mn_mono_weigh(s, &light));
  return light ? ask_for_positive_masses(m) : MN_OK;
}

mn_status mn_mono_rebuild(mn_monolithic *m)
{
  MN_TRY(mn_mono_build(&m->s));
  MN_TRY(make_room(m));
  return mn_mono_books(m);
}

/* The solid's K as it is where that is solved without a factor, which sees whether it will do; else
   the solid looks. */
static mn_status linearise(mn_monolithic *m)
{
  mn_mono_system *s = &m->s;
  s->solid.curvature = s->factored || 3 * m->boxes->face.count < MN_MONO_LARGE
                           ? MN_CURVATURE_CHECKED
                           : MN_CURVATURE_EXACT;
  MN_TRY(mn_boxes_linearise(m->boxes, &s->solid));
  if (s->solid.curvature == MN_CURVATURE_EXACT && s->solid.K.rows < MN_MONO_LARGE) {
    s->solid.curvature = MN_CURVATURE_CHECKED; /* many points of rigid bodies */
    MN_TRY(mn_boxes_linearise(m->boxes, &s->solid));
  }
  mn_mono_tell_regions(m);
  s->held_known &= m->def.frozen;
  MN_TRY(mn_mono_build(s));
  if (s->large || s->solid.curvature == MN_CURVATURE_CHECKED)
    return MN_OK;
  s->solid.curvature = MN_CURVATURE_CHECKED;
  MN_TRY(mn_boxes_linearise(m->boxes, &s->solid));
  return mn_mono_build(s);
}

static mn_status attempt(mn_monolithic *m)
{
  mn_mono_system *s = &m->s;
  s->lost = 0;
  MN_TRY(linearise(m));
  MN_TRY(bear_light_bodies(m));
  MN_TRY(make_room(m));
  if (m->cells != s->cells || !m->def.frozen) {
    memcpy(m->p, s->fluid.p, s->cells * sizeof *m->p);
    m->cells = s->cells;
  }
  MN_TRY(mn_mono_books(m));
  MN_TRY(mn_mono_policy(m));
  if (s->light) {
    MN_TRY(ask_for_positive_masses(m));
    MN_TRY(mn_mono_books(m));
    MN_TRY(mn_mono_policy(m));
  }
  return MN_OK;
}

mn_status mn_mono_find_step(mn_monolithic *m)
{
  mn_mono_system *s = &m->s;
  MN_TRY(attempt(m));
  if (s->lost) { /* K' of large bodies is not positive, or its multigrid no good: it is factorised
                  */
    s->factored = 1;
    m->cells = 0;
    s->held_known = 0;
    MN_TRY(attempt(m));
  }
  for (size_t i = 0; i < s->own; i++)
    m->q[i] = m->v[i] / s->g[i];
  return mn_mono_load(s, m->p, m->v, m->load);
}

static int same_rest(const mn_monolithic *m)
{
  double most = 0, off = 0;
  for (size_t i = 0; i < m->boxes->face.count; i++) {
    most = fmax(most, mn_length(m->rest[i]));
    off = fmax(off, mn_length(mn_sub(m->rest[i], m->s.fluid.rest[i])));
  }
  return off <= SAME_REST * most;
}

/* Walls of closed regions turn so far that they lie off by more than is borne: `off`, m, and what
   it was after the step before. */
static int turns_over(const mn_monolithic *m, double off, double before, double allowed)
{
  if (mn_mono_is_linearised(m))
    return off > LOST_AT_ONCE * allowed;
  if (m->newton == 0)
    return off > fmax(allowed, TURNED / m->def.tolerance * allowed);
  return m->newton == 1 && off > fmax(allowed, TURNS_ON * before);
}

/* Newton until the interface stays. The fluid has been assembled where it is first. */
static mn_status iterate(mn_monolithic *m, mn_coupling_report *report)
{
  mn_interface *f = &m->boxes->face;
  double last = 0, first = 0, off = 0;
  int most = mn_mono_is_linearised(m) ? 1 : m->def.max_iterations, linear = 0;
  report->reason = MN_ITERATION_LIMIT;
  for (m->newton = 0; m->newton < most; m->newton++) {
    if (m->newton) {
      if (m->turning)
        mn_closed_fill_rows(m->closed, f->X);
      memcpy(m->rest, m->s.fluid.rest, f->count * sizeof *m->rest);
      MN_TRY(mn_mono_assemble(m));
      if (linear && m->def.frozen && same_rest(m)) {
        report->residual = 0; /* the next step would be 0 */
        report->reason = MN_CONVERGED;
        return MN_OK;
      }
    }
    double taken;
    MN_TRY(mn_mono_find_step(m));
    if (!m->newton)
      m->turning = mn_mono_turns(m);
    memcpy(f->load, m->load, f->count * sizeof *f->load);
    linear = m->s.solid.linear;
    double way = mn_mono_look_ahead(m);
    if (!isfinite(way) || (m->newton > 1 && way > ASTRAY * first)) {
      report->reason = MN_DIVERGED;
      return MN_OK;
    }
    MN_TRY(mn_boxes_advance(m->boxes, m->q, 1, &taken));
    m->residual[m->newton] = report->residual = way;
    double rate = last > 0 ? way / last : 1, next = rate < 0.5 ? rate * way : way;
    int whole = taken >= 1;
    double before = off;
    off = m->newton < 2 ? mn_mono_volume_off(m) : 0;
    if (turns_over(m, off, before, report->allowed)) {
      report->residual = off;
      return MN_OK; /* in a shorter substep walls turn less */
    }
    int near = way <= report->allowed || next <= NEXT_STEP * report->allowed;
    near = near && mn_boxes_missed(m->boxes, m->s.dt) <= MISSED * report->allowed;
    if (whole && (mn_mono_is_linearised(m) || near)) {
      report->reason = MN_CONVERGED;
      m->newton++;
      return MN_OK;
    }
    last = whole ? way : 0;
    first = m->newton ? first : way;
  }
  return MN_OK;
}

/* ---- the substep ----------------------------------------------------------------------------- */

mn_status mn_mono_tell_fluid(mn_monolithic *m, mn_coupling_report *report)
{
  mn_interface *f = &m->boxes->face;
  size_t n = f->count;
  memcpy(m->V, f->V, n * sizeof *m->V);
  memcpy(f->V, m->V_linear, n * sizeof *m->V);
  memcpy(m->X_linear, f->X, n * sizeof *f->X);
  memcpy(f->X, m->X_rest, n * sizeof *f->X); /* where the loads at rest were found */
  mn_status status = mn_boxes_adopt(m->boxes, m->p);
  memcpy(f->V, m->V, n * sizeof *m->V);
  memcpy(f->X, m->X_linear, n * sizeof *f->X);
  MN_TRY(status);
  m->boxes->fluid_report.iterations = m->s.krylov;
  m->boxes->fluid_report.cpu_s = mn_cpu_seconds() - m->began_s;
  mn_vec3 sum = mn_scale(-1, m->s.bridge);
  for (size_t i = 0; i < n; i++)
    sum = mn_add(sum, mn_sub(m->load[i], f->load[i]));
  report->imbalance = mn_length(sum);
  memcpy(f->load, m->load, n * sizeof *m->load);
  return MN_OK;
}

mn_status mn_monolithic_step(mn_monolithic *m, double dt, mn_vec3 *place,
                             mn_coupling_report *report)
{
  mn_interface *f = &m->boxes->face;
  m->solves = m->newton = m->s.krylov = m->binds = 0;
  m->s.dt = dt;
  m->cells = 0;
  m->s.held_known = 0;
  m->s.clipped = m->s.light = m->s.fluid.positive = 0;
  m->s.factored = m->s.mesh_iterations = 0;
  memset(f->load, 0, f->count * sizeof *f->load); /* none is known */
  memset(m->touched, 0, f->count * sizeof *m->touched);
  MN_TRY(mn_boxes_expect(m->boxes, dt, place));
  memcpy(m->V, f->V, f->count * sizeof *f->V);
  memcpy(m->V_linear, f->X, f->count * sizeof *f->X); /* kept: what follows sees another place */
  memcpy(f->X, place, f->count * sizeof *f->X);
  mn_status status = mn_closed_meet(m->closed);
  m->began_s = mn_cpu_seconds();
  if (status == MN_OK)
    mn_mono_meet_regions(m);
  if (status == MN_OK)
    status = bear_soft_bodies(m);
  if (status == MN_OK)
    status = mn_mono_assemble(m);
  m->began_s += m->s.fluid.surfaces_s;
  memcpy(f->X, m->V_linear, f->count * sizeof *f->X);
  memcpy(f->V, m->V, f->count * sizeof *f->V);
  memset(f->load, 0, f->count * sizeof *f->load);
  MN_TRY(status);
  MN_TRY(iterate(m, report));
  m->boxes->solid_report =
      (mn_solve_report){.reason = MN_CONVERGED, .iterations = m->boxes->solid_solves};
  return report->reason == MN_CONVERGED ? mn_mono_tell_fluid(m, report) : MN_OK;
}

int mn_monolithic_solves(const mn_monolithic *m)
{
  return m->solves;
}

const double *mn_monolithic_residuals(const mn_monolithic *m, int *count)
{
  *count = m->newton;
  return m->residual;
}
