/* A coupling's choices, life and substep; which of the methods takes it (couple_iterate.c,
   monolithic.c); the pace of steps. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "couple/couple_internal.h"
#include "couple/patches.h"
#include "couple/rmi_tune.h"
#include "couple/rmi_internal.h"
#include "math/vec.h"

/* The fitted mass: this part of the largest added mass seen, which may fade by so much a substep
   (the least inertia grow); it stays as it is until that differs by more than FIT_JUMP. */
static const double FIT_PART = 0.5, FIT_FADE = 0.998, FIT_JUMP = 1.1;
/* One fluid solve will do where the residual of the prediction is rounding, in cells: all is at
   rest, or goes on as it did. A single solve is a weak coupling, in which errors of light bodies
   grow, but only up to this: velocities of 1e-11 cells in a substep. */
static const double SURE = 1e-11;
/* The pace: slower when a substep needed more than this part of its iterations, faster when it
   needed no more than that; small numbers of them are easy whatever the limit. */
static const double PACE_HARD = 0.5, PACE_EASY = 0.25, PACE_SLOWER = 0.75, PACE_FASTER = 1.19,
                    PACE_LEAST = 1.0 / 1024;
static const int ALWAYS_EASY = 4;
/* A substep crawls when it is this part of what the boxes allow, or less. It takes so many more of
   these than others to give up. */
static const double CRAWL = 1.0 / 1024;
enum { CRAWLED_MOST = 300 };
/* Cells by which a substep may throw a point off its way: the fluid knows nothing of what lies
   there (a plate of 2 kg/m^3 went through half a metre of water to the floor in one that had
   converged). Besides twice as far as the fastest one goes: bodies bounce back. */
static const double LEAP = 5;
/* In water, of the calm gap, by which contact may hold bodies from where the one system has them: a
   raft under a lid, held there by 0.03 cells in each substep, stirred the water (2 J). */
static const double TOUCH_PART = 0.1;
/* Iterations of a substep after one that another coupling had to finish: few after four of these on
   end, but now and then it is tried again. */
enum { PATIENCE = 15, PATIENT_FOR = 4, TRIED_AGAIN = 16 };

/* ---- choices --------------------------------------------------------------------------------- */

const char *mn_coupling_method_name(mn_coupling_method method)
{
  static const char *const names[] = {"xpm",  "rmi",          "aitken",     "relaxed",
                                      "weak", "simultaneous", "monolithic", "auto"};
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
  MN_TRY(check_within(ctx, "solver", (double)d->solver, MN_SOLVER_AUTO, MN_SOLVER_MINRES));
  MN_TRY(check_within(ctx, "elastic", (double)d->elastic, MN_ELASTIC_CONVERGED,
                      MN_ELASTIC_LINEARISED));
  MN_TRY(check_within(ctx, "kernel_radius", d->kernel_radius, 1, 2));
  return check_within(ctx, "spacing", d->spacing, 0.1, 1.5);
}

/* ---- life ------------------------------------------------------------------------------------ */

static const double PATCH = 1.25; /* cells: see patches.c */

static mn_status make_method(mn_coupling *c)
{
  const mn_coupling_def *d = &c->def;
  mn_rmi_def def = d->published ? mn_rmi_def_published() : mn_rmi_def_default();
  size_t n = c->boxes.face.count;
  if (d->method == MN_COUPLE_WEAK) {
    MN_TRY(MN_NEW(c->ctx, "a coupling's velocities", n, &c->change));
    MN_TRY(MN_NEW(c->ctx, "a coupling's velocities", n, &c->turned));
    MN_TRY(MN_NEW(c->ctx, "a coupling's displacements", c->size, &c->asked_at));
    return MN_NEW(c->ctx, "a coupling's velocities", n, &c->before);
  }
  if (!c->map.size) /* nothing to agree on */
    return MN_OK;
  if (d->method == MN_COUPLE_SIMULTANEOUS || d->method == MN_COUPLE_MONOLITHIC)
    MN_TRY(mn_monolithic_create(c->ctx, d, c->dx, &c->boxes, &c->closed, &c->mono));
  def.x_size = c->size;
  def.p_size = (size_t)c->map.dim * c->map.count;
  def.method = d->method == MN_COUPLE_RELAXED  ? MN_RMI_RELAXED
               : d->method == MN_COUPLE_AITKEN ? MN_RMI_AITKEN
                                               : MN_RMI_REDUCED;
  def.tolerance = d->tolerance * c->dx;
  def.max_iterations = d->max_iterations;
  def.least_iterations = 2; /* one may pass by a lucky guess, and teaches nothing */
  def.predictor = c->mono ? MN_RMI_GUESS : d->predictor;
  if (def.method != MN_RMI_REDUCED)
    def.omega = d->omega;
  def.reuse = d->reuse;
  def.filter = d->filter;
  def.dt_power = 2;
  mn_rmi_patches patches = {0};
  if (def.method == MN_RMI_REDUCED && !d->published)
    MN_TRY(mn_patches_create(c->ctx, &c->boxes.face, &c->map, c->size, PATCH * c->dx, &patches));
  mn_status status =
      mn_rmi_create_patched(c->ctx, &def, patches.x_patch ? &patches : NULL, &c->rmi);
  mn_patches_destroy(&patches);
  MN_TRY(status);
  mn_rmi_set_sure(c->rmi, d->published ? 0 : SURE * c->dx);
  mn_rmi_set_trusted(c->rmi, 1); /* mn_boxes checks what fluid and solid answer */
  return MN_OK;
}

static mn_status make(mn_coupling *c, int dim, mn_fluid fluid, mn_solid solid)
{
  MN_TRY(mn_boxes_create(c->ctx, dim, c->def.spacing * c->dx, fluid, solid, &c->boxes));
  mn_interface *face = &c->boxes.face;
  size_t n = face->count;
  MN_TRY(mn_vector_map_create(c->ctx, face, c->def.rigid == MN_RIGID_FREEDOMS, &c->map));
  MN_TRY(mn_closed_create(c->ctx, &c->boxes, c->def.closed, c->dx, &c->closed));
  c->size = c->map.size + (c->map.size && mn_couple_iterates_p0(c) ? MN_CLOSED_MAX : 0);
  MN_TRY(MN_NEW(c->ctx, "a coupling's start", n, &c->start));
  MN_TRY(MN_NEW(c->ctx, "a coupling's normals", n, &c->normal));
  MN_TRY(MN_NEW(c->ctx, "a coupling's areas", n, &c->area));
  MN_TRY(MN_NEW(c->ctx, "a coupling's masses", n, &c->mass));
  MN_TRY(MN_NEW(c->ctx, "a coupling's places", n, &c->place));
  MN_TRY(MN_NEW(c->ctx, "a coupling's places", n, &c->met));
  MN_TRY(MN_NEW(c->ctx, "a coupling's velocities", n, &c->V_start));
  MN_TRY(MN_NEW(c->ctx, "a coupling's loads", n, &c->load));
  MN_TRY(MN_NEW(c->ctx, "a coupling's velocities", n, &c->kept_V));
  MN_TRY(MN_NEW(c->ctx, "a coupling's answers", n, &c->from));
  MN_TRY(MN_NEW(c->ctx, "a coupling's velocities", n, &c->gap));
  MN_TRY(MN_NEW(c->ctx, "a coupling's displacements", c->size, &c->x));
  MN_TRY(MN_NEW(c->ctx, "a coupling's displacements", c->size, &c->zero));
  MN_TRY(MN_NEW(c->ctx, "a coupling's load vector", (size_t)dim * n, &c->p));
  MN_TRY(MN_NEW(c->ctx, "a coupling's load vector", (size_t)dim * n, &c->push));
  for (size_t i = 0; i < n; i++)
    if ((size_t)face->body[i] >= c->bodies && c->bodies < n)
      c->bodies = (size_t)face->body[i] < n ? (size_t)face->body[i] + 1 : n;
  MN_TRY(MN_NEW(c->ctx, "sums of bodies", SUMS * c->bodies, &c->of_body));
  MN_TRY(MN_NEW(c->ctx, "masses of bodies", c->bodies, &c->inverse_mass));
  return make_method(c);
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

void mn_coupling_set_fall(mn_coupling *c, double fall)
{
  mn_coupling_method method = c->def.method;
  int relaxes = method == MN_COUPLE_RELAXED || method == MN_COUPLE_AITKEN;
  c->fall = c->rmi && !relaxes && !c->def.published ? fall : 0;
}

void mn_coupling_destroy(mn_coupling **coupling)
{
  mn_coupling *c = *coupling;
  if (!c)
    return;
  mn_rmi_destroy(&c->rmi);
  mn_monolithic_destroy(&c->mono);
  mn_closed_destroy(&c->closed);
  mn_vector_map_destroy(&c->map);
  mn_boxes_destroy(&c->boxes);
  void *all[] = {
      c->inverse_mass, c->kept_V,  c->start, c->normal,  c->area,    c->mass, c->place, c->load,
      c->met,          c->V_start, c->from,  c->gap,     c->x,       c->zero, c->p,     c->change,
      c->turned,       c->before,  c->push,  c->of_body, c->asked_at};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  mn_free(c);
  *coupling = NULL;
}

mn_status mn_coupling_meet(mn_context *ctx, int dim, double spacing, mn_fluid fluid, mn_solid solid)
{
  mn_boxes boxes;
  mn_status status = mn_boxes_create(ctx, dim, spacing, fluid, solid, &boxes);
  if (status == MN_OK)
    status = mn_boxes_look(&boxes);
  if (status == MN_OK && fluid.ops->meet)
    status = fluid.ops->meet(fluid.self, &boxes.face);
  mn_boxes_destroy(&boxes);
  return status;
}

/* ---- the substep ----------------------------------------------------------------------------- */

/* One system; where bodies touch, with the solid's solve and, if that does not agree with it, by
   asking both boxes from there. */
static mn_status step_as_one(mn_coupling *c, mn_coupling_report *report)
{
  int touch = 0, agreed = 0;
  MN_TRY(mn_monolithic_step(c->mono, c->dt, c->met, report));
  if (report->reason == MN_CONVERGED)
    MN_TRY(mn_boxes_touches(&c->boxes, &touch));
  double allowed = report->allowed;
  if (c->calm < 1) /* what contact holds the fluid must not see move */
    report->allowed *= TOUCH_PART * c->calm;
  if (touch)
    MN_TRY(mn_monolithic_touch(c->mono, report, &agreed));
  report->allowed = allowed;
  if (!touch || agreed)
    return MN_OK;
  c->asked = report->handed_over = 1;
  c->boxes.fluid_solves = c->boxes.solid_solves = 0;
  mn_closed_begin(&c->closed, c->dt, c->start);
  return mn_couple_step_strongly(c, report);
}

/* The place that the one system takes as well; the interface stays as it is. */
static mn_status expect_places(mn_coupling *c)
{
  mn_interface *f = &c->boxes.face;
  MN_TRY(mn_boxes_expect(&c->boxes, c->dt, c->met));
  memcpy(f->X, c->start, f->count * sizeof *f->X);
  memcpy(f->V, c->V_start, f->count * sizeof *f->V);
  memcpy(f->N, c->normal, f->count * sizeof *f->N);
  memcpy(f->area, c->area, f->count * sizeof *f->area);
  return MN_OK;
}

static int patience(const mn_coupling *c)
{
  int adopted = (int)c->numbers[NUMBERS_ADOPTED];
  if (!adopted)
    return c->def.max_iterations;
  return adopted % TRIED_AGAIN < PATIENT_FOR ? PATIENCE : 2;
}

/* m, by which some point is off the way that it was on, if that is too far; else 0. */
static double leap(const mn_coupling *c)
{
  const mn_interface *f = &c->boxes.face;
  double most = 0, fastest = 0;
  for (size_t i = 0; i < f->count; i++) {
    most = fmax(most, mn_length(mn_sub(f->X[i], mn_madd(c->start[i], c->dt, c->V_start[i]))));
    fastest = fmax(fastest, mn_length(c->V_start[i]));
  }
  return most > LEAP * c->dx + 2 * c->dt * fastest ? most : 0;
}

mn_status mn_coupling_try(mn_coupling *c, double t, double dt, double share,
                          mn_coupling_report *report)
{
  mn_interface *f = &c->boxes.face;
  *report = (mn_coupling_report){.reason = MN_DIVERGED};
  f->impulse = c->def.load == MN_LOAD_IMPULSE || c->mono; /* one system leaves out masses itself */
  f->frozen = c->def.frozen;
  f->positive = 0;
  f->seeking = mn_couple_iterates_p0(c);
  c->boxes.agreed = *f;
  c->dt = dt;
  double longest = c->numbers[NUMBERS_LONGEST];
  if (longest > 0) /* else short steps, of whatever cause, would allow any velocity */
    share = fmin(share, dt / longest);
  c->share = share;
  c->calm = c->fall > 0 && share > 0 ? fmin(1, dt / (c->fall * share)) : 1;
  report->allowed = share * (c->rmi ? c->def.tolerance : MN_COUPLE_WEAK_LIMIT) * c->dx;
  c->added = c->turns = c->turned_from = 0;
  c->inertia[0] = c->inertia[1] = INFINITY;
  mn_couple_allow(c);
  if (c->rmi)
    mn_rmi_set_patience(c->rmi, patience(c));
  c->asked = c->touched = 0;
  mn_status status = mn_boxes_begin(&c->boxes, t, dt);
  if (status == MN_OK) {
    memcpy(c->start, f->X, f->count * sizeof *f->X);
    memcpy(c->V_start, f->V, f->count * sizeof *f->V);
    memcpy(c->normal, f->N, f->count * sizeof *f->N);
    memcpy(c->area, f->area, f->count * sizeof *f->area);
    c->sum_area = 0;
    for (size_t i = 0; i < f->count; i++)
      c->sum_area += c->area[i];
    mn_vector_map_start(&c->map, c->start);
    mn_closed_begin(&c->closed, dt, c->start);
    mn_couple_expect_velocities(c);
    if (c->rmi && !c->mono && f->frozen)
      status = expect_places(c);
  }
  if (status == MN_OK)
    status = c->mono  ? step_as_one(c, report)
             : c->rmi ? mn_couple_step_strongly(c, report)
                      : mn_couple_step_weakly(c, report);
  if (status == MN_OK && c->rmi && !c->mono && report->reason == MN_CONVERGED && leap(c) > 0) {
    report->reason = MN_DIVERGED;
    report->residual = leap(c);
  }
  if (c->rmi && !c->mono)
    report->allowed = report->reason == MN_CONVERGED ? c->allowed : mn_couple_allowed(c);
  report->iterations = c->boxes.fluid_solves;
  if (c->mono)
    report->iterations = mn_monolithic_solves(c->mono) + (c->asked ? c->boxes.fluid_solves : 0);
  report->solid_solves = c->boxes.solid_solves;
  report->fluid = c->boxes.fluid_report;
  report->solid = c->boxes.solid_report;
  report->fluid_s = c->boxes.fluid_s;
  report->solid_s = c->boxes.solid_s;
  memcpy(report->refused, c->boxes.refused, sizeof report->refused);
  report->hopeless = status != MN_OK && c->closed.hopeless;
  if (status == MN_OK && (!c->mono || c->asked))
    report->imbalance = mn_couple_imbalance(c);
  return status;
}

/* Secants hold for one mass, but follow a change of it. */
static void change_mass(mn_coupling *c)
{
  size_t n = c->boxes.face.count, dim = (size_t)c->boxes.face.dim;
  if (c->size != dim * n || c->map.bodies) { /* freedoms of rigid bodies, gaps of regions */
    mn_rmi_reject(c->rmi);
    return;
  }
  for (size_t i = 0; i < n; i++)
    for (size_t a = 0; a < dim; a++)
      c->x[dim * i + a] = (c->numbers[NUMBERS_FIT] * c->area[i] - c->mass[i]) / (c->dt * c->dt);
  mn_rmi_shift_loads(c->rmi, c->x);
}

/* Half of the largest added mass lately seen, if that is no longer what is in use. */
static void learn_mass(mn_coupling *c)
{
  double *fit = &c->numbers[NUMBERS_FIT], found = FIT_PART * c->added;
  if (c->def.mass != MN_MASS_FITTED || !c->rmi || c->boxes.fluid_solves < 2)
    return; /* one solve says nothing of it */
  double *lately = &c->numbers[NUMBERS_FIT_LATELY];
  *lately = fmax(found, FIT_FADE * *lately);
  if (*lately <= FIT_JUMP * *fit && FIT_JUMP * *lately >= *fit)
    return;
  *fit = *lately;
  change_mass(c);
}

static void learn_inertia(mn_coupling *c)
{
  for (int rigid = 0; rigid < 2; rigid++) {
    double least = mn_couple_inertia(c, rigid);
    if (isfinite(least))
      c->numbers[NUMBERS_INERTIA + rigid] = c->inertia[rigid] <= least ? least : least / FIT_FADE;
  }
}

mn_status mn_coupling_commit(mn_coupling *c, mn_coupling_report *report)
{
  int asked = !c->mono || c->asked;
  mn_status status = asked ? mn_closed_settle(&c->closed) : mn_monolithic_finish(c->mono);
  if (status == MN_OK && asked)
    status = mn_closed_finish(&c->closed);
  if (status == MN_OK)
    status = mn_boxes_commit(&c->boxes);
  report->fluid_s = c->boxes.fluid_s;
  report->solid_s = c->boxes.solid_s;
  memcpy(report->refused, c->boxes.refused, sizeof report->refused);
  MN_TRY(status);
  if (c->rmi && asked)
    MN_TRY(mn_rmi_accept(c->rmi));
  mn_closed_commit(&c->closed);
  c->numbers[NUMBERS_ADOPTED] = 0;
  c->numbers[NUMBERS_TURNS] = c->turns;
  c->numbers[NUMBERS_TURNED_FROM] = c->turned_from;
  if (c->change)
    memcpy(c->change, c->turned, c->boxes.face.count * sizeof *c->change);
  c->numbers[NUMBERS_LONGEST] = fmax(c->numbers[NUMBERS_LONGEST], c->dt);
  if (asked) {
    learn_inertia(c);
    learn_mass(c);
  }
  return MN_OK;
}

void mn_coupling_reject(mn_coupling *c)
{
  if (c->rmi)
    mn_rmi_reject(c->rmi);
}

void mn_coupling_adopt(mn_coupling *c, const mn_coupling *other)
{
  mn_interface *f = &c->boxes.face;
  const mn_interface *g = &other->boxes.face;
  size_t n = f->count;
  memcpy(f->X, g->X, n * sizeof *f->X);
  memcpy(f->V, g->V, n * sizeof *f->V);
  memcpy(f->N, g->N, n * sizeof *f->N);
  memcpy(f->area, g->area, n * sizeof *f->area);
  memcpy(f->load, g->load, n * sizeof *f->load);
  mn_closed_hand_over(&c->closed, &other->closed);
  c->numbers[NUMBERS_LONGEST] = fmax(c->numbers[NUMBERS_LONGEST], other->dt);
  c->numbers[NUMBERS_ADOPTED]++;
}

void mn_coupling_help(mn_coupling *c, const mn_coupling *other)
{
  c->closed.keeps = !other->mono; /* what it promises holds for all of its substeps */
  mn_closed_hand_over(&c->closed, &other->closed);
}

int mn_coupling_touched(const mn_coupling *c)
{
  return c->touched;
}

int mn_coupling_was_helped(const mn_coupling *c)
{
  return c->numbers[NUMBERS_ADOPTED] > 0;
}

/* ---- pace ------------------------------------------------------------------------------------ */

double mn_coupling_pace(const mn_coupling *c)
{
  return c->def.adapt ? c->numbers[NUMBERS_PACE] : 1;
}

void mn_coupling_learn_pace(mn_coupling *c, int retries, int iterations)
{
  double *pace = &c->numbers[NUMBERS_PACE], most = c->def.max_iterations;
  double *crawled = &c->numbers[NUMBERS_CRAWLED];
  int crawls = c->def.adapt && ldexp(*pace, -retries) <= CRAWL;
  *crawled = fmax(0, *crawled + (crawls ? 1 : -1));
  if (c->mono && !c->asked) /* Newton's steps: which cells let go is no matter of the step */
    mn_monolithic_residuals(c->mono, &iterations);
  if (retries != 0)
    *pace = fmin(1, fmax(PACE_LEAST, ldexp(*pace, -retries)));
  else if (iterations > fmax(ALWAYS_EASY, PACE_HARD * most))
    *pace = fmax(PACE_LEAST, PACE_SLOWER * *pace);
  else if (iterations <= fmax(ALWAYS_EASY, PACE_EASY * most))
    *pace = fmin(1, PACE_FASTER * *pace);
}

int mn_coupling_crawls(const mn_coupling *c)
{
  return c->numbers[NUMBERS_CRAWLED] >= CRAWLED_MOST;
}

/* ---- state ----------------------------------------------------------------------------------- */

int mn_coupling_arrays(mn_coupling *c, mn_array *arrays, int capacity)
{
  mn_array own = {"coupling_numbers", MN_F64, 1, {NUMBERS}, c->numbers, 0};
  if (capacity > 0)
    arrays[0] = own;
  int count = 1;
  mn_array change = {"coupling_change", MN_F64, 2, {c->boxes.face.count, 3}, c->change, 0};
  if (c->change && count < capacity)
    arrays[count] = change;
  count += c->change != NULL;
  mn_array masses = {"coupling_masses", MN_F64, 1, {c->bodies}, c->inverse_mass, 0};
  if (c->bodies && count < capacity)
    arrays[count] = masses;
  count += c->bodies > 0;
  count += mn_closed_arrays(&c->closed, arrays + count, capacity - count);
  return count + (c->rmi ? mn_rmi_arrays(c->rmi, arrays + count, capacity - count) : 0);
}

const mn_region_info *mn_coupling_regions(const mn_coupling *c, int *count)
{
  *count = c->closed.told;
  return c->closed.info;
}

int mn_coupling_pressed(const mn_coupling *c, double *p0)
{
  const mn_closed_state *kept = &c->closed.kept;
  int id = 0;
  *p0 = 0;
  for (int s = 0; s < MN_CLOSED_MAX; s++)
    if (kept->id[s] > 0 && fabs(kept->p0[s]) >= fabs(*p0)) {
      *p0 = kept->p0[s];
      id = (int)kept->id[s];
    }
  return id;
}

mn_status mn_coupling_return(mn_coupling *c)
{
  return mn_boxes_return(&c->boxes);
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
  return c->mono && !c->asked ? mn_monolithic_residuals(c->mono, count)
         : c->rmi             ? mn_rmi_residuals(c->rmi, count)
                              : NULL;
}
