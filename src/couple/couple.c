#include "couple/couple.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/status.h"
#include "couple/boxes.h"
#include "couple/closed.h"
#include "couple/vector.h"
#include "math/vec.h"
#include "meniscus/rmi.h"

/* A weak coupling has lost its way when the surface ends this many cells from where the fluid took
   it to be, or turns round and gains speed in so many substeps without a break, be it by little; a
   few will do if the gap is no longer small. The gap shrinks with the step: a wrong velocity must
   not be hidden by ever shorter steps, nor be accepted until it is huge. */
static const double WEAK_LIMIT = 1, WEAK_SEEN = 0.01;
static const int WEAK_TURNS = 8, WEAK_SURE = 3;
/* The fitted mass: this part of the largest added mass seen, which may fade by so much a substep;
   secants are forgotten when it grows by more than that. */
static const double FIT_PART = 0.5, FIT_FADE = 0.998, FIT_JUMP = 1.1;
/* With it the residual shows only a part of the error where the fluid resists little, so that less
   of it is allowed (tests/verify/test_monolithic.c). */
static const double FIT_STRICTER = 0.25;
/* The pace: slower when a substep needed more than this part of its iterations, faster when it
   needed no more than that; small numbers of them are easy whatever the limit. */
static const double PACE_HARD = 0.5, PACE_EASY = 0.25, PACE_SLOWER = 0.75, PACE_FASTER = 1.19,
                    PACE_LEAST = 1.0 / 1024;
static const int ALWAYS_EASY = 4;

enum { NUMBERS_PACE, NUMBERS_FIT, NUMBERS_TURNS, NUMBERS_LONGEST, NUMBERS };

struct mn_coupling {
  mn_context *ctx;
  mn_coupling_def def;
  double dx;
  mn_boxes boxes;
  mn_vector_map map;
  mn_rmi *rmi; /* NULL: weak */
  mn_closed closed;
  size_t size; /* of x: the map's, and for closed forms that iterate the gaps of regions */
  /* state, with the history inside rmi */
  double numbers[NUMBERS]; /* pace; fitted mass, kg per area; see WEAK_TURNS; longest step, s */
  /* of the substep */
  double dt;
  mn_vec3 *start;  /* m, X^n */
  mn_vec3 *normal; /* N and area there: the fluid sees them all along, so that it is a function */
  double *area;
  double *mass;               /* kg, fictitious */
  double *x, *p;              /* the vectors of the iteration */
  const double *p_now, *x_at; /* of the solid's call that runs */
  double *zero;               /* x at the start of the substep */
  mn_vec3 *place;             /* m, X of the fluid's last solve, */
  mn_vec3 *load;              /* N, and what it answered */
  mn_vec3 *from;              /* m, X of the solid's last answer, */
  mn_vec3 *gap;               /* m/s, and its velocity at the end less the mean one */
  double added;               /* kg per area, largest added mass seen */
  double turns;               /* of NUMBERS_TURNS if the substep is committed */
};

/* ---- choices --------------------------------------------------------------------------------- */

const char *mn_coupling_method_name(mn_coupling_method method)
{
  static const char *const names[] = {"xpm", "rmi", "aitken", "relaxed", "weak", "auto"};
  return (unsigned)method < sizeof names / sizeof *names ? names[method] : "unknown";
}

static mn_status check_within(mn_context *ctx, const char *key, double value, double lo, double hi)
{
  if (value >= lo && value <= hi)
    return MN_OK;
  return mn_fail(ctx, MN_BAD_INPUT, "coupling.%s is %.10g: must be from %.10g to %.10g", key, value,
                 lo, hi);
}

mn_status mn_coupling_check(mn_context *ctx, const mn_coupling_def *d)
{
  MN_TRY(check_within(ctx, "method", (double)d->method, MN_COUPLE_XPM, MN_COUPLE_AUTO));
  MN_TRY(check_within(ctx, "tolerance", d->tolerance, 1e-12, 1));
  MN_TRY(check_within(ctx, "max_iterations", d->max_iterations, 2, 10000));
  MN_TRY(check_within(ctx, "omega", d->omega, 1e-6, 2));
  MN_TRY(check_within(ctx, "load", (double)d->load, MN_LOAD_IMPULSE, MN_LOAD_PRESSURE));
  MN_TRY(check_within(ctx, "rigid", (double)d->rigid, MN_RIGID_POINTS, MN_RIGID_FREEDOMS));
  MN_TRY(check_within(ctx, "reuse", d->reuse, 0, 100));
  MN_TRY(check_within(ctx, "filter", d->filter, 0, 0.9));
  MN_TRY(check_within(ctx, "predictor", d->predictor, 0, 2));
  MN_TRY(check_within(ctx, "mass", (double)d->mass, MN_MASS_NONE, MN_MASS_FITTED));
  MN_TRY(check_within(ctx, "closed", (double)d->closed, MN_CLOSED_ELIMINATED, MN_CLOSED_NONE));
  MN_TRY(check_within(ctx, "kernel_radius", d->kernel_radius, 1, 2));
  return check_within(ctx, "spacing", d->spacing, 0.1, 1.5);
}

/* ---- life ------------------------------------------------------------------------------------ */

static mn_status make_rmi(mn_coupling *c)
{
  const mn_coupling_def *d = &c->def;
  mn_rmi_def def = d->published ? mn_rmi_def_published() : mn_rmi_def_default();
  if (d->method == MN_COUPLE_WEAK || !c->map.size) /* nothing to agree on */
    return MN_OK;
  def.x_size = c->size;
  def.p_size = (size_t)c->map.dim * c->map.count;
  def.method = d->method == MN_COUPLE_RELAXED  ? MN_RMI_RELAXED
               : d->method == MN_COUPLE_AITKEN ? MN_RMI_AITKEN
                                               : MN_RMI_REDUCED;
  def.tolerance = d->tolerance * c->dx;
  def.max_iterations = d->max_iterations;
  def.least_iterations = 2; /* one may pass by a lucky guess, and teaches nothing */
  def.predictor = d->predictor;
  if (def.method != MN_RMI_REDUCED)
    def.omega = d->omega;
  def.reuse = d->reuse;
  def.filter = d->filter;
  def.dt_power = 2;
  return mn_rmi_create(c->ctx, &def, &c->rmi);
}

/* Forms that correct p0 from one iteration to the next. */
static int iterates_p0(const mn_coupling *c)
{
  return c->def.closed == MN_CLOSED_SOLID || c->def.closed == MN_CLOSED_FLUID;
}

static mn_status make(mn_coupling *c, int dim, mn_fluid fluid, mn_solid solid)
{
  MN_TRY(mn_boxes_create(c->ctx, dim, c->def.spacing * c->dx, fluid, solid, &c->boxes));
  mn_interface *face = &c->boxes.face;
  size_t n = face->count;
  MN_TRY(mn_vector_map_create(c->ctx, face, c->def.rigid == MN_RIGID_FREEDOMS, &c->map));
  MN_TRY(mn_closed_create(c->ctx, &c->boxes, c->def.closed, c->dx, &c->closed));
  c->size = c->map.size + (c->map.size && iterates_p0(c) ? MN_CLOSED_MAX : 0);
  MN_TRY(MN_NEW(c->ctx, "a coupling's start", n, &c->start));
  MN_TRY(MN_NEW(c->ctx, "a coupling's normals", n, &c->normal));
  MN_TRY(MN_NEW(c->ctx, "a coupling's areas", n, &c->area));
  MN_TRY(MN_NEW(c->ctx, "a coupling's masses", n, &c->mass));
  MN_TRY(MN_NEW(c->ctx, "a coupling's places", n, &c->place));
  MN_TRY(MN_NEW(c->ctx, "a coupling's loads", n, &c->load));
  MN_TRY(MN_NEW(c->ctx, "a coupling's answers", n, &c->from));
  MN_TRY(MN_NEW(c->ctx, "a coupling's velocities", n, &c->gap));
  MN_TRY(MN_NEW(c->ctx, "a coupling's displacements", c->size, &c->x));
  MN_TRY(MN_NEW(c->ctx, "a coupling's displacements", c->size, &c->zero));
  MN_TRY(MN_NEW(c->ctx, "a coupling's load vector", (size_t)dim * n, &c->p));
  return make_rmi(c);
}

mn_status mn_coupling_create(mn_context *ctx, const mn_coupling_def *def, int dim, double dx,
                             mn_fluid fluid, mn_solid solid, mn_coupling **out)
{
  *out = NULL;
  MN_TRY(mn_coupling_check(ctx, def));
  if (def->method == MN_COUPLE_AUTO)
    return mn_fail(ctx, MN_BAD_INPUT, "coupling.method is \"auto\": pick one first");
  mn_coupling *c;
  MN_TRY(MN_NEW(ctx, "a coupling", 1, &c));
  c->ctx = ctx;
  c->def = *def;
  c->dx = dx;
  c->numbers[NUMBERS_PACE] = 1;
  mn_status status = make(c, dim, fluid, solid);
  if (status != MN_OK)
    mn_coupling_destroy(&c);
  *out = c;
  return status;
}

void mn_coupling_destroy(mn_coupling **coupling)
{
  mn_coupling *c = *coupling;
  if (!c)
    return;
  mn_rmi_destroy(&c->rmi);
  mn_closed_destroy(&c->closed);
  mn_vector_map_destroy(&c->map);
  mn_boxes_destroy(&c->boxes);
  void *all[] = {c->start, c->normal, c->area, c->mass, c->place, c->load,
                 c->from,  c->gap,    c->x,    c->zero, c->p};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  mn_free(c);
  *coupling = NULL;
}

/* ---- the two functions of the iteration ------------------------------------------------------ */

static mn_vec3 mean_velocity(const mn_coupling *c, size_t i)
{
  return mn_scale(1 / c->dt, mn_sub(c->boxes.face.X[i], c->start[i]));
}

/* The velocity at the end that the solid would answer with X: affine in X, through its last answer
   and with the slope of its rule. Exact for the rules of box.h, and where the two agree. */
static mn_vec3 end_velocity(const mn_coupling *c, size_t i)
{
  const mn_interface *f = &c->boxes.face;
  mn_vec3 more = mn_madd(c->gap[i], f->lead[i] / c->dt, mn_sub(f->X[i], c->from[i]));
  return mn_add(mean_velocity(c, i), more);
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
static void expect_velocities(mn_coupling *c)
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
  if (iterates_p0(c) && c->closed.count) /* these forms know the true mass only */
    none = 1;
  for (size_t i = 0; i < f->count; i++)
    c->mass[i] = none                                       ? 0
                 : c->def.mass == MN_MASS_FITTED && fit > 0 ? fit * c->area[i]
                                                            : slope(c, i) * f->mass[i];
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
  double area = 0;
  for (size_t i = 0; i < f->count; i++)
    area += c->area[i];
  if (square > least * least * area)
    c->added = fmax(c->added, work * c->dt * c->dt / square);
}

/* p = f(X) + m V/dt */
static mn_status fluid_of(void *user, const double *x, double *p)
{
  mn_coupling *c = user;
  mn_interface *f = &c->boxes.face;
  size_t n = f->count, dim = (size_t)f->dim;
  mn_vector_map_unpack(&c->map, x, f->X);
  for (size_t i = 0; i < n; i++) {
    f->V[i] = mean_velocity(c, i);
    f->N[i] = c->normal[i];
    f->area[i] = c->area[i];
    f->mass[i] = 0;
  }
  if (c->boxes.fluid_solves == 0)
    MN_TRY(mn_closed_meet(&c->closed));
  for (size_t i = 0; i < n && !keeps_volumes(c); i++)
    f->V[i] = end_velocity(c, i);
  MN_TRY(mn_closed_project(&c->closed));
  MN_TRY(mn_boxes_solve_fluid(&c->boxes));
  if (c->boxes.fluid_solves == 1) {
    mn_closed_weigh(&c->closed);
    choose_mass(c);
  } else
    measure_added(c);
  for (size_t i = 0; i < n; i++) {
    mn_vec3 sum = mn_madd(f->load[i], c->mass[i] / c->dt, mean_velocity(c, i));
    for (size_t a = 0; a < dim; a++)
      p[dim * i + a] = sum.v[a];
    c->place[i] = f->X[i];
    c->load[i] = f->load[i];
  }
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
  mn_vector_map_unpack(&c->map, c->x_at, f->X);
  for (size_t i = 0; i < f->count; i++) {
    f->V[i] = mean_velocity(c, i);
    f->mass[i] = c->mass[i];
    f->load[i] = mn_v3(0, 0, 0);
    for (size_t a = 0; a < dim; a++)
      f->load[i].v[a] = c->p_now[dim * i + a] - c->mass[i] / c->dt * f->V[i].v[a];
  }
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
  const mn_interface *f = &c->boxes.face;
  for (size_t i = 0; i < f->count; i++) {
    c->from[i] = f->X[i];
    c->gap[i] = f->lead[i] > 0 ? mn_sub(f->V[i], mean_velocity(c, i)) : mn_v3(0, 0, 0);
  }
  mn_vector_map_pack(&c->map, f->X, x);
  for (size_t k = c->map.size; k < c->size; k++)
    x[k] = x_at[k] + mn_closed_gap(&c->closed, (int)(k - c->map.size));
  return MN_OK;
}

/* ---- the substep ----------------------------------------------------------------------------- */

/* One solve of each, the fluid's where the surface would be with its present velocity. */
static mn_status step_weakly(mn_coupling *c, mn_coupling_report *report)
{
  mn_interface *f = &c->boxes.face;
  for (size_t i = 0; i < f->count; i++)
    c->place[i] = c->def.predictor > 0 ? mn_madd(f->X[i], c->dt, f->V[i]) : f->X[i];
  mn_vector_map_pack(&c->map, c->place, c->x);
  memcpy(c->zero, c->x, c->map.size * sizeof *c->x);
  MN_TRY(fluid_of(c, c->zero, c->p));
  MN_TRY(solid_of(c, c->p, c->zero, c->x));
  double most = 0, error = 0, found = 0, guess = 0;
  for (size_t k = 0; k < c->map.size; k++) {
    double gap = c->x[k] - c->zero[k];
    most = fmax(most, fabs(gap));
    error += gap * gap;
    found += c->x[k] * c->x[k];
    guess += c->zero[k] * c->zero[k];
  }
  c->turns = error > found && found > guess && guess > 0 ? c->numbers[NUMBERS_TURNS] + 1 : 0;
  int lost = most > report->allowed || c->turns > WEAK_TURNS ||
             (c->turns >= WEAK_SURE && most > WEAK_SEEN * report->allowed);
  report->residual = most;
  report->reason = lost ? MN_DIVERGED : MN_CONVERGED;
  return MN_OK;
}

static mn_status step_strongly(mn_coupling *c, mn_coupling_report *report)
{
  mn_rmi_report r = {0};
  mn_interface *f = &c->boxes.face;
  for (size_t i = 0; i < f->count; i++) /* as the solid looks at the start */
    c->place[i] = mn_madd(f->X[i], c->dt, f->V[i]);
  memset(c->x, 0, c->size * sizeof *c->x);
  mn_vector_map_pack(&c->map, c->place, c->x);
  mn_rmi_set_first_move(c->rmi, c->dt, c->x);
  memset(c->zero, 0, c->size * sizeof *c->zero);
  memset(c->x, 0, c->size * sizeof *c->x);
  MN_TRY(mn_rmi_step(c->rmi, c->dt, c->zero, fluid_of, c, solid_of, c, c->x, c->p, &r));
  report->reason = r.reason;
  report->modes = r.modes;
  report->residual = r.residual;
  report->mu = r.mu;
  return MN_OK;
}

/* Sum over the points of what the solid felt in its last solve less what the fluid gave in its. */
static double imbalance(const mn_coupling *c)
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

mn_status mn_coupling_try(mn_coupling *c, double t, double dt, double share,
                          mn_coupling_report *report)
{
  mn_interface *f = &c->boxes.face;
  *report = (mn_coupling_report){.reason = MN_DIVERGED};
  f->impulse = c->def.load == MN_LOAD_IMPULSE;
  f->frozen = c->def.frozen;
  c->boxes.agreed = *f;
  c->dt = dt;
  double longest = c->numbers[NUMBERS_LONGEST];
  if (longest > 0) /* else short steps, of whatever cause, would allow any velocity */
    share = fmin(share, dt / longest);
  if (c->def.mass == MN_MASS_FITTED && c->rmi)
    share *= FIT_STRICTER;
  if (c->rmi)
    mn_rmi_set_tolerance(c->rmi, share * c->def.tolerance * c->dx);
  report->allowed = share * (c->rmi ? c->def.tolerance : WEAK_LIMIT) * c->dx;
  c->added = c->turns = 0;
  mn_status status = mn_boxes_begin(&c->boxes, t, dt);
  if (status == MN_OK) {
    memcpy(c->start, f->X, f->count * sizeof *f->X);
    memcpy(c->normal, f->N, f->count * sizeof *f->N);
    memcpy(c->area, f->area, f->count * sizeof *f->area);
    mn_vector_map_start(&c->map, c->start);
    mn_closed_begin(&c->closed, dt, c->start);
    expect_velocities(c);
    status = c->rmi ? step_strongly(c, report) : step_weakly(c, report);
  }
  report->iterations = c->boxes.fluid_solves;
  report->solid_solves = c->boxes.solid_solves;
  report->fluid = c->boxes.fluid_report;
  report->solid = c->boxes.solid_report;
  report->fluid_s = c->boxes.fluid_s;
  report->solid_s = c->boxes.solid_s;
  report->hopeless = status != MN_OK && c->closed.hopeless;
  if (status == MN_OK)
    report->imbalance = imbalance(c);
  return status;
}

/* Half of the largest added mass, or a little less than before. Secants hold for one mass. */
static void learn_mass(mn_coupling *c)
{
  double *fit = &c->numbers[NUMBERS_FIT], found = FIT_PART * c->added;
  if (c->def.mass != MN_MASS_FITTED || !c->rmi)
    return;
  if (found > FIT_JUMP * *fit)
    mn_rmi_reject(c->rmi);
  *fit = fmax(found, FIT_FADE * *fit);
}

mn_status mn_coupling_commit(mn_coupling *c, mn_coupling_report *report)
{
  mn_status status = mn_closed_finish(&c->closed);
  if (status == MN_OK)
    status = mn_boxes_commit(&c->boxes);
  report->fluid_s = c->boxes.fluid_s;
  report->solid_s = c->boxes.solid_s;
  MN_TRY(status);
  if (c->rmi)
    MN_TRY(mn_rmi_accept(c->rmi));
  mn_closed_commit(&c->closed);
  c->numbers[NUMBERS_TURNS] = c->turns;
  c->numbers[NUMBERS_LONGEST] = fmax(c->numbers[NUMBERS_LONGEST], c->dt);
  learn_mass(c);
  return MN_OK;
}

void mn_coupling_reject(mn_coupling *c)
{
  if (c->rmi)
    mn_rmi_reject(c->rmi);
}

/* ---- pace ------------------------------------------------------------------------------------ */

double mn_coupling_pace(const mn_coupling *c)
{
  return c->def.adapt ? c->numbers[NUMBERS_PACE] : 1;
}

void mn_coupling_learn_pace(mn_coupling *c, int retries, int iterations)
{
  double *pace = &c->numbers[NUMBERS_PACE], most = c->def.max_iterations;
  if (retries > 0)
    *pace = fmax(PACE_LEAST, ldexp(*pace, -retries));
  else if (iterations > fmax(ALWAYS_EASY, PACE_HARD * most))
    *pace = fmax(PACE_LEAST, PACE_SLOWER * *pace);
  else if (iterations <= fmax(ALWAYS_EASY, PACE_EASY * most))
    *pace = fmin(1, PACE_FASTER * *pace);
}

/* ---- state ----------------------------------------------------------------------------------- */

int mn_coupling_arrays(mn_coupling *c, mn_array *arrays, int capacity)
{
  mn_array own = {"coupling_numbers", MN_F64, 1, {NUMBERS}, c->numbers, 0};
  if (capacity > 0)
    arrays[0] = own;
  int count = 1 + mn_closed_arrays(&c->closed, arrays + 1, capacity - 1);
  return count + (c->rmi ? mn_rmi_arrays(c->rmi, arrays + count, capacity - count) : 0);
}

const mn_region_info *mn_coupling_regions(const mn_coupling *c, int *count)
{
  *count = c->closed.told;
  return c->closed.info;
}

mn_status mn_coupling_look(mn_coupling *c)
{
  return mn_boxes_look(&c->boxes);
}

const mn_interface *mn_coupling_interface(const mn_coupling *c)
{
  return &c->boxes.face;
}

const double *mn_coupling_residuals(const mn_coupling *c, int *count)
{
  *count = 0;
  return c->rmi ? mn_rmi_residuals(c->rmi, count) : NULL;
}
