/* A substep by asking the two black boxes in turn: the functions that mn_rmi joins (couple.h). */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/couple_internal.h"
#include "couple/rmi_tune.h"
#include "math/vec.h"

/* A weak coupling has lost its way when the surface ends MN_COUPLE_WEAK_LIMIT cells from where the
   fluid took it to be, or when its change of velocity is opposite to the one before and greater in
   so many substeps without a break, be it by little; a few will do if the gap is no longer small
   and the change has grown by so much. That is how added mass shows, whatever the length of the
   step, also about a drift. The gap shrinks with the step: a wrong velocity must not be hidden by
   ever shorter steps, nor be accepted until it is huge. Water that leaves its walls throws a light
   rigid body up, once: one that is WEAK_ODD cells off is shown to both boxes again, and lost if it
   would then change by WEAK_MU of that change or more. (Not what bends, and may bear that: thin
   sheets of rubber in a jet do, if the step is short.) */
static const double WEAK_SEEN = 0.01, WEAK_GROWN = 8, WEAK_ODD = 0.05, WEAK_MU = 0.9;
static const int WEAK_TURNS = 8, WEAK_SURE = 3;
/* With half of the largest added mass lent, mu lies between -1 and 1. What no secant describes is
   then relaxed by this in the first step: with 1 (or 0.2) errors of motions with mu near 1 grow
   from substep to substep, up to the tolerance, if there are two solves in each. */
static const double FITTED_OMEGA = 0.5;

/* Forms that correct p0 from one iteration to the next. */
int mn_couple_iterates_p0(const mn_coupling *c)
{
  return c->def.closed == MN_CLOSED_SOLID || c->def.closed == MN_CLOSED_FLUID;
}

/* ---- the two functions of the iteration ------------------------------------------------------ */

/* `rate` is 1/dt, divided once: this is done for all points, in every loop of an iteration. */
static mn_vec3 mean_velocity(const mn_coupling *c, double rate, size_t i)
{
  return mn_scale(rate, mn_sub(c->boxes.face.X[i], c->start[i]));
}

static void set_means(mn_coupling *c, double rate)
{
  for (size_t i = 0; i < c->boxes.face.count; i++)
    c->boxes.face.V[i] = mean_velocity(c, rate, i);
}

/* The velocity at the end that the solid would answer with X: affine in X, through its last answer
   and with the slope of its rule. Exact for the rules of box.h, and where the two agree. */
static mn_vec3 end_velocity(const mn_coupling *c, double rate, size_t i)
{
  const mn_interface *f = &c->boxes.face;
  mn_vec3 more = mn_madd(c->gap[i], rate * f->lead[i], mn_sub(f->X[i], c->from[i]));
  return mn_add(mean_velocity(c, rate, i), more);
}

/* Surfaces that must keep the volume of a closed region are held by their places. What that leaves
   of their velocity at the end is settled if all of them have one (closed_settle.c), and the fluid
   sees what it will be; else it is bound to nothing, and the mean is what counts. So where bodies
   touch: what contact leaves of velocities jumps as loads change, which has no end (one system
   knows what touches, and shows the fluid what remains). */
static int sees_means(const mn_coupling *c)
{
  int keeps = 0;
  for (int r = 0; r < c->closed.count; r++)
    keeps |= !c->closed.still[r];
  return keeps && (c->touched || !mn_closed_settles(&c->closed));
}

/* Around closed regions, from the first solve with a touch on, in a substep. */
static mn_status look_for_touches(mn_coupling *c)
{
  int any = 0;
  if (!c->boxes.solid.ops->operators || c->touched || !c->closed.count)
    return MN_OK;
  MN_TRY(mn_boxes_touches(&c->boxes, &any));
  c->touched = any;
  return MN_OK;
}

/* dt dV/dX as the fluid sees it: its own mass moves that much faster than by the mean. */
static double slope(const mn_coupling *c, int means, size_t i)
{
  return means ? 1 : 1 + c->boxes.face.lead[i];
}

/* What the rule alone says before the first answer: V = (1 + lead) mean - lead V^n. */
void mn_couple_expect_velocities(mn_coupling *c)
{
  const mn_interface *f = &c->boxes.face;
  for (size_t i = 0; i < f->count; i++) {
    c->from[i] = c->start[i];
    c->gap[i] = mn_scale(-f->lead[i], f->V[i]);
  }
}

/* The fictitious mass, chosen once in a substep, when the fluid has said its own. */
static void choose_mass(mn_coupling *c)
{
  const mn_interface *f = &c->boxes.face;
  double fit = c->numbers[NUMBERS_FIT];
  int none = c->def.mass == MN_MASS_NONE || !c->rmi, means = sees_means(c);
  if (mn_couple_iterates_p0(c) && c->closed.count) /* these forms know the true mass only */
    none = 1;
  for (size_t i = 0; i < f->count; i++)
    c->mass[i] = none                                       ? 0
                 : c->def.mass == MN_MASS_FITTED && fit > 0 ? fit * c->area[i]
                                                            : slope(c, means, i) * f->mass[i];
  c->sum_mass = 0;
  for (size_t i = 0; i < f->count; i++)
    c->sum_mass += c->mass[i];
  if (!c->rmi)
    return;
  int fitted = !none && c->def.mass == MN_MASS_FITTED && fit > 0;
  mn_rmi_set_wary(c->rmi, c->def.mass == MN_MASS_FITTED && c->def.reuse > 0);
  mn_rmi_set_first_omega(c->rmi, fitted ? FITTED_OMEGA : 0);
  mn_couple_allow(c);
}

/* Added mass per area between this solve of the fluid and the last: the force -m_a a that answers
   an acceleration a = dX/dt^2, along that motion. */
static void measure_added(mn_coupling *c)
{
  const mn_interface *f = &c->boxes.face;
  double work = 0, square = 0;
  for (size_t i = 0; i < f->count; i++) {
    mn_vec3 move = mn_sub(f->X[i], c->place[i]);
    work -= mn_dot(mn_sub(f->load[i], c->load[i]), move);
    square += c->area[i] * mn_dot(move, move);
  }
  double least = 1e-6 * c->dx; /* below it rounding and the solver's tolerance rule */
  if (square > least * least * c->sum_area)
    c->added = fmax(c->added, work * c->dt * c->dt / square);
}

/* Before the first solve: a frozen fluid puts the surface where all couplings expect it, not where
   this one begins to iterate, so that they solve the same equations. After one system it has it
   there already: asked from elsewhere which sides face closed regions, those within a cell of
   another one would look at the wrong ones. */
static mn_status meet(mn_coupling *c)
{
  mn_interface *f = &c->boxes.face;
  size_t bytes = f->count * sizeof *f->X;
  int expected = f->frozen && c->rmi && (c->mono || !c->def.published);
  if (expected) {
    memcpy(c->place, f->X, bytes);
    memcpy(f->X, c->met, bytes);
  }
  mn_status status = mn_closed_meet(&c->closed);
  if (status == MN_OK)
    status = mn_couple_spare_light(c);
  if (expected)
    memcpy(f->X, c->place, bytes);
  return status;
}

/* Before the first solve of the fluid in a substep. */
static mn_status get_ready(mn_coupling *c, double rate)
{
  set_means(c, rate);
  MN_TRY(meet(c));
  if (c->disturbed)
    set_means(c, rate);
  if (c->rmi && mn_closed_changed(&c->closed)) /* the fluid answers otherwise from now on */
    mn_rmi_forget(c->rmi);
  return MN_OK;
}

/* p = f(X) + m V/dt */
static mn_status fluid_of(void *user, const double *x, double *p)
{
  mn_coupling *c = user;
  mn_interface *f = &c->boxes.face;
  size_t n = f->count, dim = (size_t)f->dim;
  double rate = 1 / c->dt;
  int first = c->boxes.fluid_solves == 0;
  mn_vector_map_unpack(&c->map, x, f->X);
  if (!first || c->asked) { /* the solid has answered, with its own */
    memcpy(f->N, c->normal, n * sizeof *f->N);
    memcpy(f->area, c->area, n * sizeof *f->area);
  }
  memset(f->mass, 0, n * sizeof *f->mass);
  if (first)
    MN_TRY(get_ready(c, rate));
  else if (c->boxes.fluid_solves == 1)
    c->turning = mn_closed_turns(&c->closed, c->load);
  if (!first && c->turning)
    mn_closed_fill_rows(&c->closed, f->X);
  int mean = sees_means(c);
  for (size_t i = 0; i < n && !mean; i++)
    f->V[i] = end_velocity(c, rate, i);
  for (size_t i = 0; i < n && mean && !first; i++)
    f->V[i] = mean_velocity(c, rate, i);
  MN_TRY(mn_closed_project(&c->closed, !mean && c->closed.count));
  MN_TRY(mn_closed_solve_fluid(&c->closed));
  if (c->boxes.fluid_solves == 1) {
    mn_closed_weigh(&c->closed);
    choose_mass(c);
  } else
    measure_added(c);
  for (size_t i = 0; i < n; i++) {
    mn_vec3 sum = mn_madd(f->load[i], rate * c->mass[i], mean_velocity(c, rate, i));
    for (size_t a = 0; a < dim; a++)
      p[dim * i + a] = sum.v[a];
    c->place[i] = f->X[i];
    c->load[i] = f->load[i];
  }
  c->fresh = 1;
  return MN_OK;
}

/* One solve of the solid under p - m V/dt and the p0 of closed regions. Handed over as the load
   p - m V'/dt and the velocity V' of the last fluid solve, which is the same, so that the solid
   sees real loads. */
static mn_status solve_solid(void *user)
{
  mn_coupling *c = user;
  mn_interface *f = &c->boxes.face;
  size_t dim = (size_t)f->dim;
  double rate = 1 / c->dt;
  int as_left = c->fresh && !c->def.published; /* by the fluid: X and its loads stand there */
  c->fresh = 0;
  if (!as_left)
    mn_vector_map_unpack(&c->map, c->x_at, f->X);
  set_means(c, rate);
  for (size_t i = 0; i < f->count && !as_left; i++) {
    mn_vec3 load = mn_v3(0, 0, 0);
    for (size_t a = 0; a < dim; a++)
      load.v[a] = c->p_now[dim * i + a] - rate * c->mass[i] * f->V[i].v[a];
    f->load[i] = load;
  }
  memcpy(f->mass, c->mass, f->count * sizeof *f->mass);
  mn_closed_push(&c->closed);
  return mn_boxes_solve_solid(&c->boxes);
}

/* X under p - m V/dt, with the volumes of closed regions as they must be. Forms that get there by
   iteration hand over the gaps as well: x_at + gap, so that the residual is the gap. */
static mn_status solid_of(void *user, const double *p, const double *x_at, double *x)
{
  mn_coupling *c = user;
  c->p_now = p;
  c->x_at = x_at;
  MN_TRY(mn_closed_find(&c->closed, solve_solid, c));
  MN_TRY(look_for_touches(c));
  const mn_interface *f = &c->boxes.face;
  if (c->boxes.fluid_solves > 1) {
    mn_couple_measure_inertia(c);
    mn_couple_allow(c);
  }
  memcpy(c->push, p, (size_t)f->dim * f->count * sizeof *p);
  double rate = 1 / c->dt;
  for (size_t i = 0; i < f->count; i++) {
    c->from[i] = f->X[i];
    c->gap[i] = f->lead[i] > 0 ? mn_sub(f->V[i], mean_velocity(c, rate, i)) : mn_v3(0, 0, 0);
  }
  mn_vector_map_pack(&c->map, f->X, x);
  for (size_t k = c->map.size; k < c->size; k++)
    x[k] = x_at[k] + mn_closed_gap(&c->closed, (int)(k - c->map.size));
  return MN_OK;
}

/* ---- the substep ----------------------------------------------------------------------------- */

/* Whether the change of velocity, `before` since the start, turns round and grows; see WEAK_TURNS.
   Kept apart from the state until the commit: c->turned. */
static int turns_and_grows(mn_coupling *c, const mn_vec3 *before)
{
  const mn_interface *f = &c->boxes.face;
  double last = 0, with_last = 0, square = 0;
  for (size_t i = 0; i < f->count; i++) {
    c->turned[i] = mn_sub(f->V[i], before[i]);
    last += mn_dot(c->change[i], c->change[i]);
    with_last += mn_dot(c->turned[i], c->change[i]);
    square += mn_dot(c->turned[i], c->turned[i]);
  }
  int turns = with_last < 0 && square > last;
  c->turns = turns ? c->numbers[NUMBERS_TURNS] + 1 : 0;
  c->turned_from = c->turns > 1 ? c->numbers[NUMBERS_TURNED_FROM] : turns ? sqrt(last) : 0;
  return turns && sqrt(square) > WEAK_GROWN * c->turned_from;
}

/* c->x <- the solid's answer to the fluid with the surface at x. */
static mn_status ask_both(mn_coupling *c, const double *x)
{
  MN_TRY(fluid_of(c, x, c->p));
  return solid_of(c, c->p, x, c->x);
}

/* How much of the change of rigid bodies since the prediction comes back when both are asked with
   its result: added mass over mass, or 1 if that is more and the fluid lets go. Then all is as it
   was. */
static mn_status find_mu(mn_coupling *c, double *mu)
{
  mn_interface *f = &c->boxes.face;
  double change = mn_couple_rigid_gap(c);
  memcpy(c->asked_at, c->x, c->map.size * sizeof *c->x);
  MN_TRY(ask_both(c, c->asked_at));
  *mu = mn_couple_rigid_gap(c) / change;
  memcpy(f->V, c->before, f->count * sizeof *f->V);
  mn_couple_expect_velocities(c);
  return ask_both(c, c->zero);
}

/* One solve of each, the fluid's where the surface would be with its present velocity. */
mn_status mn_couple_step_weakly(mn_coupling *c, mn_coupling_report *report)
{
  mn_interface *f = &c->boxes.face;
  for (size_t i = 0; i < f->count; i++)
    c->place[i] = c->def.predictor > 0 ? mn_madd(f->X[i], c->dt, f->V[i]) : f->X[i];
  mn_vector_map_pack(&c->map, c->place, c->x);
  memcpy(c->zero, c->x, c->map.size * sizeof *c->x);
  memcpy(c->before, f->V, f->count * sizeof *f->V);
  MN_TRY(ask_both(c, c->zero));
  double most = 0;
  for (size_t k = 0; k < c->map.size; k++)
    most = fmax(most, fabs(c->x[k] - c->zero[k]));
  if (mn_couple_rigid_gap(c) > WEAK_ODD * report->allowed)
    MN_TRY(find_mu(c, &report->mu));
  int grown = turns_and_grows(c, c->before);
  int lost = most > report->allowed || report->mu > WEAK_MU || c->turns > WEAK_TURNS ||
             (c->turns >= WEAK_SURE && grown && most > WEAK_SEEN * report->allowed);
  report->residual = most;
  report->reason = lost ? MN_DIVERGED : MN_CONVERGED;
  return MN_OK;
}

mn_status mn_couple_step_strongly(mn_coupling *c, mn_coupling_report *report)
{
  mn_rmi_report r = {0};
  mn_interface *f = &c->boxes.face;
  memset(c->zero, 0, c->size * sizeof *c->zero);
  memset(c->x, 0, c->size * sizeof *c->x);
  if (c->mono) /* from what it found */
    mn_vector_map_pack(&c->map, f->X, c->x);
  else if (!mn_rmi_has_moved(c->rmi)) {
    for (size_t i = 0; i < f->count; i++) /* as the solid looks at the start */
      c->place[i] = mn_madd(f->X[i], c->dt, f->V[i]);
    mn_vector_map_pack(&c->map, c->place, c->x);
    mn_rmi_set_first_move(c->rmi, c->dt, c->x);
    memset(c->x, 0, c->size * sizeof *c->x);
  }
  mn_rmi_set_judge(c->rmi, c->calm < 1 ? mn_couple_is_calm : NULL, c);
  MN_TRY(mn_rmi_step(c->rmi, c->dt, c->zero, fluid_of, c, solid_of, c, c->x, c->p, &r));
  report->reason = r.reason;
  report->modes = r.modes;
  report->residual = r.residual;
  report->mu = r.mu;
  return MN_OK;
}

/* Sum over the points of what the solid felt in its last solve less what the fluid gave in its. */
double mn_couple_imbalance(const mn_coupling *c)
{
  const mn_interface *f = &c->boxes.face;
  mn_vec3 sum = mn_v3(0, 0, 0);
  for (size_t i = 0; i < f->count; i++) {
    double rate = c->mass[i] / (c->dt * c->dt);
    mn_vec3 felt = mn_madd(f->load[i], -rate, mn_sub(f->X[i], c->place[i]));
    sum = mn_add(sum, mn_sub(felt, c->load[i]));
  }
  return mn_length(mn_sub(sum, c->closed.force));
}
