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
   step, also about a drift, and before water that leaves its walls puts an end to it. The gap
   shrinks with the step: a wrong velocity must not be hidden by ever shorter steps, nor be accepted
   until it is huge. */
static const double WEAK_SEEN = 0.01, WEAK_GROWN = 8;
static const int WEAK_TURNS = 8, WEAK_SURE = 3;
/* With half of the largest added mass lent, mu lies between -1 and 1. What no secant describes is
   then relaxed by this in the first step: with 1 (or 0.2) errors of motions with mu near 1 grow
   from substep to substep, up to the tolerance, if there are two solves in each. */
static const double FITTED_OMEGA = 0.5;
/* An error of the solid's answer is at most m/m_s times the residual: that much of motions which
   the fluid does not resist is held by the fictitious mass m in place of the inertia m_s. Waves on
   cloth, be they short, meet some resistance, or bend it: more than 1/STRICTEST was not seen, and
   no more than SEEN of the bound where bodies are not light. Rigid ones have few motions, which the
   secants know: STRICT. MOST in any case. Of bodies that are light (m_s below
   LIGHT of m) the reduced model must not promise to change more than PROMISE of the tolerance; of
   the lightest, old columns must be newer than others to count: what is wrong with them comes back
   as motions that hardly show. */
static const double STRICTEST = 0.0125, STRICT = 0.25, SEEN = 0.8, MOST = 0.4, LIGHT = 0.25,
                    PROMISE = 0.5, FILTER_LIGHTEST = 0.4;

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

/* The velocity at the end that the solid would answer with X: affine in X, through its last answer
   and with the slope of its rule. Exact for the rules of box.h, and where the two agree. */
static mn_vec3 end_velocity(const mn_coupling *c, double rate, size_t i)
{
  const mn_interface *f = &c->boxes.face;
  mn_vec3 more = mn_madd(c->gap[i], rate * f->lead[i], mn_sub(f->X[i], c->from[i]));
  return mn_add(mean_velocity(c, rate, i), more);
}

/* Surfaces that must keep the volume of a closed region are held by their places: the velocity at
   the end of such a substep is bound to nothing, and its mean is what counts. */
static int keeps_volumes(const mn_coupling *c)
{
  for (int r = 0; r < c->closed.count; r++)
    if (!c->closed.still[r])
      return 1;
  return 0;
}

/* dt dV/dX as the fluid sees it: its own mass moves that much faster than by the mean. */
static double slope(const mn_coupling *c, size_t i)
{
  return keeps_volumes(c) ? 1 : 1 + c->boxes.face.lead[i];
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
  int none = c->def.mass == MN_MASS_NONE || !c->rmi;
  if (mn_couple_iterates_p0(c) && c->closed.count) /* these forms know the true mass only */
    none = 1;
  for (size_t i = 0; i < f->count; i++)
    c->mass[i] = none                                       ? 0
                 : c->def.mass == MN_MASS_FITTED && fit > 0 ? fit * c->area[i]
                                                            : slope(c, i) * f->mass[i];
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
   this one begins to iterate, so that they solve the same equations. */
static mn_status meet(mn_coupling *c)
{
  mn_interface *f = &c->boxes.face;
  size_t bytes = f->count * sizeof *f->X;
  if (!f->frozen || c->mono || !c->rmi || c->def.published)
    return mn_closed_meet(&c->closed);
  memcpy(c->place, f->X, bytes);
  memcpy(f->X, c->met, bytes);
  mn_status status = mn_closed_meet(&c->closed);
  memcpy(f->X, c->place, bytes);
  return status;
}

double mn_couple_inertia(const mn_coupling *c, int rigid)
{
  double lately = c->numbers[NUMBERS_INERTIA + rigid];
  return fmin(c->inertia[rigid], lately > 0 ? lately : INFINITY);
}

void mn_couple_allow(mn_coupling *c)
{
  double strict = 1, filter = c->def.filter, part[2] = {INFINITY, INFINITY};
  if (!c->rmi)
    return;
  if (c->def.mass == MN_MASS_FITTED) {
    for (int rigid = 0; rigid < 2 && c->sum_mass > 0; rigid++) /* m_s/m */
      part[rigid] = mn_couple_inertia(c, rigid) * c->sum_area / c->sum_mass;
    strict = isfinite(part[0]) ? fmin(MOST, fmax(STRICTEST, part[0])) : STRICT;
    if (isfinite(part[0]) && part[0] >= LIGHT)
      strict = fmin(MOST, part[0] / SEEN);
    if (isfinite(part[1]))
      strict = fmin(strict, STRICT);
    if (strict <= STRICTEST)
      filter = fmax(filter, FILTER_LIGHTEST);
  }
  c->allowed = strict * c->share * c->def.tolerance * c->dx;
  mn_rmi_set_tolerance(c->rmi, c->allowed);
  mn_rmi_set_promise(c->rmi, fmin(part[0], part[1]) < LIGHT ? PROMISE / strict : 0);
  mn_rmi_set_filter(c->rmi, filter);
}

/* Before the first solve of the fluid in a substep. */
static mn_status get_ready(mn_coupling *c, double rate)
{
  mn_interface *f = &c->boxes.face;
  for (size_t i = 0; i < f->count; i++)
    f->V[i] = mean_velocity(c, rate, i);
  MN_TRY(meet(c));
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
  int mean = keeps_volumes(c);
  for (size_t i = 0; i < n && !mean; i++)
    f->V[i] = end_velocity(c, rate, i);
  for (size_t i = 0; i < n && mean && !first; i++)
    f->V[i] = mean_velocity(c, rate, i);
  MN_TRY(mn_closed_project(&c->closed));
  MN_TRY(mn_boxes_solve_fluid(&c->boxes));
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
  for (size_t i = 0; i < f->count; i++)
    f->V[i] = mean_velocity(c, rate, i);
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

/* Inertia per area of each body between this solve of the solid and the last: the force that an
   acceleration dX/dt^2 took. */
static void measure_inertia(mn_coupling *c)
{
  const mn_interface *f = &c->boxes.face;
  size_t dim = (size_t)f->dim;
  memset(c->of_body, 0, 4 * c->bodies * sizeof *c->of_body);
  for (size_t i = 0; i < f->count; i++) {
    mn_vec3 move = mn_sub(f->X[i], c->from[i]);
    size_t body = (size_t)f->body[i];
    double *sum = c->of_body + 4 * (body < c->bodies ? body : body % c->bodies);
    double square = mn_dot(move, move);
    for (size_t a = 0; a < dim; a++)
      sum[0] += (c->p_now[dim * i + a] - c->push[dim * i + a]) * move.v[a] * c->dt * c->dt;
    sum[0] -= c->mass[i] * square;
    sum[1] += c->area[i] * square;
    sum[2] += c->area[i];
    sum[3] += f->rigid[i];
  }
  double least = 1e-6 * c->dx; /* as of the added mass */
  for (size_t b = 0; b < c->bodies; b++) {
    const double *sum = c->of_body + 4 * b;
    double *of = &c->inertia[sum[3] > 0];
    if (sum[1] > least * least * sum[2] && sum[0] > 0) /* not where bodies push each other */
      *of = fmin(*of, sum[0] / sum[1]);
  }
}

/* X under p - m V/dt, with the volumes of closed regions as they must be. Forms that get there by
   iteration hand over the gaps as well: x_at + gap, so that the residual is the gap. */
static mn_status solid_of(void *user, const double *p, const double *x_at, double *x)
{
  mn_coupling *c = user;
  c->p_now = p;
  c->x_at = x_at;
  MN_TRY(mn_closed_find(&c->closed, solve_solid, c));
  const mn_interface *f = &c->boxes.face;
  if (c->boxes.fluid_solves > 1) {
    measure_inertia(c);
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

/* One solve of each, the fluid's where the surface would be with its present velocity. */
mn_status mn_couple_step_weakly(mn_coupling *c, mn_coupling_report *report)
{
  mn_interface *f = &c->boxes.face;
  for (size_t i = 0; i < f->count; i++)
    c->place[i] = c->def.predictor > 0 ? mn_madd(f->X[i], c->dt, f->V[i]) : f->X[i];
  mn_vector_map_pack(&c->map, c->place, c->x);
  memcpy(c->zero, c->x, c->map.size * sizeof *c->x);
  memcpy(c->before, f->V, f->count * sizeof *f->V);
  MN_TRY(fluid_of(c, c->zero, c->p));
  MN_TRY(solid_of(c, c->p, c->zero, c->x));
  double most = 0;
  for (size_t k = 0; k < c->map.size; k++)
    most = fmax(most, fabs(c->x[k] - c->zero[k]));
  int grown = turns_and_grows(c, c->before);
  int lost = most > report->allowed || c->turns > WEAK_TURNS ||
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
