/* The partitioned iteration of one substep.

   Wanted: x = S(F(x)). From a predicted x, iteration k solves the fluid, p^f = F(x^f), then the
   solid, x^s = S(p^s), and tests r = x^s - x^f. The next x^f is

     relaxed   x^f + omega r                                        [Akbay 2018, algorithm 3]
     aitken    the same, omega <- -omega r_base.dr / dr.dr, dr = r - r_base    [Kuttler 2008]
     reduced   what the reduced model of both says, rmi_model.c     [Akbay 2018, algorithm 1]

   The base is the pair of solves that a step starts from: the last one; in the reduced method with
   columns newest first the best one so far, so that a step that failed teaches without leading.

   When it may stop. With the loads of the fluid (p^s = p^f) r is the residual of the coupled
   equations itself, so max |r| <= tolerance is all there is to ask, after one fluid solve as well
   as after many. An error e of x^f shows as (1 + mu) e: for mu >= 0 both x^f and x^s are within
   the tolerance. With the loads of the model (p^s != p^f) a small r may be the model's doing: the
   solid's answer must also have stopped changing, or be within the tolerance of what it would
   answer to p^f. Relaxed steps are never tested: omega r is small whenever omega is.

   Divergence: a residual that grew beyond any return, or met the iteration limit above where it
   started. Limits: an iteration that hovers below its first residual counts as met limit.
   Verified by tests/unit/couple/test_rmi.c, test_rmi_linear.c, test_rmi_tube.c. */
#include "couple/rmi_internal.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/rmi_model.h"
#include "la/norms.h"

/* Growth over the first residual (or the tolerance) from which there is no return. A fixed
   relaxation that grew 1000 times never comes back; a secant method amplifies the first error by mu
   once. */
static const double RELAXED_GROWTH = 1e3, SECANT_GROWTH = 1e9;

/* Less than this part of what there is to compare with is nothing. */
static const double NOTHING = 1e-6;

/* x_start + dt times the mean velocity that the last substeps foretell; order 2 goes on with their
   acceleration, velocities being those of the substeps' middles. */
static void predict(mn_rmi *rmi, const double *guess)
{
  int order = rmi->def.predictor;
  if (order > (int)rmi->count[MN_RMI_MOVES])
    order = (int)rmi->count[MN_RMI_MOVES];
  double dt = rmi->dt, dt1 = rmi->number[MN_RMI_DT1], dt2 = rmi->number[MN_RMI_DT2];
  double further = order == 2 ? (dt + dt1) / (dt1 + dt2) : 0;
  double of1 = order >= 1 ? (1 + further) * dt / dt1 : 0, of2 = order == 2 ? further * dt / dt2 : 0;
  if (order < 0)
    mn_rmi_weigh(rmi->def.x_size, rmi->x_weight, guess, rmi->x_f);
  else
    for (size_t i = 0; i < rmi->def.x_size; i++)
      rmi->x_f[i] = rmi->x_start[i] + (of1 * rmi->move1[i] - of2 * rmi->move2[i]);
}

static mn_status check_start(const mn_rmi *rmi, double dt, const double *x_start,
                             const mn_rmi_solvers *with, const double *x, const double *p)
{
  mn_context *ctx = rmi->ctx;
  if (!x_start || !with->fluid || !with->solid || !x || !p)
    return mn_fail(ctx, MN_BAD_INPUT, "mn_rmi_step: %s is missing",
                   !x_start       ? "x_start"
                   : !with->fluid ? "the fluid"
                   : !with->solid ? "the solid"
                   : !x           ? "x"
                                  : "p");
  if (rmi->phase == MN_RMI_STEPPED)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "mn_rmi_step: the last step was neither accepted nor rejected");
  if (!(dt > 0) || !isfinite(dt))
    return mn_fail(ctx, MN_BAD_INPUT, "mn_rmi_step: dt is %g; it must be positive and finite", dt);
  if (!(rmi->def.tolerance > 0) || !isfinite(rmi->def.tolerance)) /* of mn_rmi_set_tolerance */
    return mn_fail(ctx, MN_BAD_INPUT,
                   "mn_rmi_step: tolerance is %g; it must be positive and finite",
                   rmi->def.tolerance);
  const double *first = rmi->def.predictor == MN_RMI_GUESS ? x : x_start;
  for (size_t i = 0; i < rmi->def.x_size; i++)
    if (!isfinite(x_start[i]) || !isfinite(first[i]))
      return mn_fail(ctx, MN_BAD_INPUT, "mn_rmi_step: %s[%zu] is %g",
                     isfinite(x_start[i]) ? "x" : "x_start", i,
                     isfinite(x_start[i]) ? first[i] : x_start[i]);
  const int64_t *count = rmi->count; /* these may come from a damaged checkpoint */
  const double *number = rmi->number;
  int64_t most = rmi->def.max_columns + MN_RMI_IDLE_COLUMNS;
  if (count[MN_RMI_FLUID_COUNT] < 0 || count[MN_RMI_FLUID_COUNT] > most ||
      count[MN_RMI_SOLID_COUNT] < 0 || count[MN_RMI_SOLID_COUNT] > most ||
      count[MN_RMI_MOVES] < 0 || count[MN_RMI_MOVES] > 2 ||
      (count[MN_RMI_MOVES] > 0 && !(number[MN_RMI_DT1] > 0)) ||
      (count[MN_RMI_MOVES] > 1 && !(number[MN_RMI_DT2] > 0)))
    return mn_fail(ctx, MN_BAD_INPUT,
                   "mn_rmi_step: the restored history does not make sense (%lld and %lld columns, "
                   "%lld substeps)",
                   (long long)count[MN_RMI_FLUID_COUNT], (long long)count[MN_RMI_SOLID_COUNT],
                   (long long)count[MN_RMI_MOVES]);
  return MN_OK;
}

/* The last pair of solves becomes the one that the next step starts from. */
static void move_base(mn_rmi *rmi)
{
  double **pair[][2] = {{&rmi->x_f, &rmi->x_f_base},
                        {&rmi->p_f, &rmi->p_f_base},
                        {&rmi->x_s, &rmi->x_s_base},
                        {&rmi->p_s, &rmi->p_s_base},
                        {&rmi->r, &rmi->r_base}};
  for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
    double *last = *pair[i][0];
    *pair[i][0] = *pair[i][1];
    *pair[i][1] = last;
  }
}

/* r_base is still the residual before the last. */
static double aitken_omega(const mn_rmi *rmi, double omega)
{
  size_t n = rmi->def.x_size;
  double next = -omega * mn_norm_dot_gap(n, rmi->r_base, rmi->r, rmi->r_base) /
                mn_norm_square_gap(n, rmi->r, rmi->r_base);
  return isfinite(next) && next != 0 ? next : omega;
}

/* A step that made things worse taught the model something, but is no place to go on from. */
static int is_better(const mn_rmi *rmi)
{
  size_t n = rmi->def.x_size;
  return mn_norm_square(n, rmi->r) <= mn_norm_square(n, rmi->r_base);
}

/* x^f of the next iteration. */
static void choose_next(mn_rmi *rmi, mn_rmi_report *report)
{
  if (rmi->def.method == MN_RMI_AITKEN && rmi->iterations > 1)
    report->omega = aitken_omega(rmi, report->omega);
  if (rmi->def.method != MN_RMI_REDUCED) {
    move_base(rmi);
    for (size_t i = 0; i < rmi->def.x_size; i++)
      rmi->x_f[i] = rmi->x_f_base[i] + report->omega * rmi->r_base[i];
    return;
  }
  if (rmi->iterations > 1)
    mn_rmi_model_learn(rmi);
  if (rmi->iterations == 1 || rmi->def.columns == MN_RMI_PIVOTED || is_better(rmi))
    move_base(rmi);
  mn_rmi_model_next_x(rmi, report);
}

/* One fluid and one solid solve from x_f, and what they say. */
static mn_status iterate(mn_rmi *rmi, const mn_rmi_solvers *with, mn_rmi_report *report)
{
  size_t nx = rmi->def.x_size, np = rmi->def.p_size;
  int k = rmi->iterations + 1, reduced = rmi->def.method == MN_RMI_REDUCED;
  int of_model = reduced && rmi->def.loads == MN_RMI_LOADS_OF_MODEL && k > 1;
  MN_TRY(mn_rmi_call_fluid(rmi, with, k));
  report->fluid_solves = report->iterations = k;
  int one_p = rmi->p_s == rmi->p_f; /* then both columns are added at once */
  if (reduced && k > 1 && !one_p)
    mn_rmi_columns_add(rmi, &rmi->fluid, rmi->x_f, rmi->x_f_base, rmi->p_f, rmi->p_f_base);
  if (!one_p)
    memcpy(rmi->p_s, rmi->p_f, np * sizeof(double));
  rmi->load_shift = 0;
  if (of_model)
    mn_rmi_model_loads(rmi, report);
  MN_TRY(mn_rmi_call_solid(rmi, with, k));
  report->solid_solves = k;
  if (reduced && k > 1 && one_p)
    mn_rmi_columns_add_both(rmi);
  else if (reduced && k > 1)
    mn_rmi_columns_add(rmi, &rmi->solid, rmi->p_s, rmi->p_s_base, rmi->x_s, rmi->x_s_base);

  for (size_t i = 0; i < nx; i++)
    rmi->r[i] = rmi->x_s[i] - rmi->x_f[i];
  report->residual = mn_norm_max(nx, rmi->x_s, rmi->x_f);
  report->change = k > 1 ? mn_norm_max(nx, rmi->x_s, rmi->x_s_base)
                         : report->residual; /* since the predicted x */
  report->load_gap = 0;
  if (of_model)
    report->load_gap = mn_norm_max(np, rmi->p_s, rmi->p_f);
  if (k == 1)
    report->first_residual = report->residual;
  rmi->residual[rmi->iterations++] = report->residual;
  return MN_OK;
}

/* |d S(F(x))| / |d x| over the last two iterations; 0 where loads of the model came between. */
static double amplification(const mn_rmi *rmi, const mn_rmi_report *report, double last_gap)
{
  if (rmi->iterations < 2 || report->load_gap > 0 || last_gap > 0)
    return 0;
  size_t n = rmi->def.x_size;
  double of_x = mn_norm_square_gap(n, rmi->x_f, rmi->x_f_base);
  double of_s = mn_norm_square_gap(n, rmi->x_s, rmi->x_s_base);
  double rounding = 1e-20 * mn_norm_square(n, rmi->x_f);
  return of_x > rounding ? sqrt(of_s / of_x) : 0;
}

/* A step that no column led is a guess, and its answer, however little it moves, no solution. With
   memory that is so once in a run, or after a failure. Where nothing moves there is nothing to
   learn. */
static int was_blind(const mn_rmi *rmi, const mn_rmi_report *report)
{
  return rmi->wary && rmi->def.method == MN_RMI_REDUCED && !report->fluid_columns &&
         rmi->iterations < rmi->patience && report->first_residual > NOTHING * rmi->def.tolerance;
}

/* The model knows of errors that the residual does not show; but what it says of changes that are
   small beside the motion is rounding. */
static int promises_more(mn_rmi *rmi)
{
  const mn_rmi_def *def = &rmi->def;
  if (!(rmi->promise > 0) || def->method != MN_RMI_REDUCED || def->columns == MN_RMI_PIVOTED)
    return 0;
  double motion = mn_norm_max(def->x_size, rmi->x_s, rmi->x_start);
  double change = mn_rmi_model_promises(rmi);
  return change > rmi->promise * def->tolerance && change > NOTHING * motion;
}

/* 1 when the iteration has ended, with the reason. */
static int ended(mn_rmi *rmi, mn_rmi_report *report)
{
  const mn_rmi_def *def = &rmi->def;
  double tolerance = def->tolerance;
  double start = report->first_residual > tolerance ? report->first_residual : tolerance;
  double growth = def->method == MN_RMI_RELAXED ? RELAXED_GROWTH : SECANT_GROWTH;
  int settled = report->change <= tolerance || report->residual + rmi->load_shift <= tolerance;
  int least = def->least_iterations + was_blind(rmi, report);
  int enough = rmi->iterations >= least || (rmi->sure > 0 && report->residual <= rmi->sure);
  if (enough && report->residual <= tolerance && settled && !promises_more(rmi) &&
      (!rmi->judge || rmi->judge(rmi->judge_user))) {
    report->reason = MN_CONVERGED;
    return 1;
  }
  if (!(report->residual <= growth * start)) {
    report->reason = MN_DIVERGED;
    return 1;
  }
  if (rmi->iterations < rmi->patience)
    return 0;
  report->reason = report->residual > start ? MN_DIVERGED : MN_ITERATION_LIMIT;
  return 1;
}

static mn_status run(mn_rmi *rmi, const mn_rmi_solvers *with, mn_rmi_report *report)
{
  double last_gap = 0;
  for (;;) {
    MN_TRY(iterate(rmi, with, report));
    double mu = amplification(rmi, report, last_gap);
    if (mu > report->mu)
      report->mu = mu;
    last_gap = report->load_gap;
    if (ended(rmi, report))
      return MN_OK;
    choose_next(rmi, report);
  }
}

mn_status mn_rmi_step(mn_rmi *rmi, double dt, const double *x_start, mn_rmi_fluid_fn *fluid,
                      void *fluid_user, mn_rmi_solid_fn *solid, void *solid_user, double *x,
                      double *p, mn_rmi_report *report)
{
  mn_rmi_report own;
  mn_rmi_solvers with = {fluid, solid, fluid_user, solid_user};
  if (!report)
    report = &own;
  /* what a report says when a solver fails */
  *report = (mn_rmi_report){.reason = MN_DIVERGED, .omega = rmi->def.omega};
  MN_TRY(check_start(rmi, dt, x_start, &with, x, p));
  rmi->dt = dt;
  rmi->iterations = 0;
  rmi->longest = 0;
  rmi->count_before[0] = rmi->count[MN_RMI_FLUID_COUNT];
  rmi->count_before[1] = rmi->count[MN_RMI_SOLID_COUNT];
  rmi->remainder[0] = rmi->number[MN_RMI_REMAINDER];
  rmi->remainder[1] = rmi->number[MN_RMI_REMAINDER_LATER];
  rmi->last_omega = rmi->number[MN_RMI_LAST_OMEGA];
  if (rmi->def.method == MN_RMI_AITKEN && rmi->last_omega != 0)
    report->omega = fmin(fabs(rmi->last_omega), rmi->def.omega);
  mn_rmi_weigh(rmi->def.x_size, rmi->x_weight, x_start, rmi->x_start);
  predict(rmi, x);
  mn_status status = run(rmi, &with, report);
  if (status != MN_OK) {
    if (rmi->def.method == MN_RMI_REDUCED) {
      mn_rmi_columns_truncate(rmi, &rmi->fluid, rmi->count_before[0]);
      mn_rmi_columns_truncate(rmi, &rmi->solid, rmi->count_before[1]);
    }
    return status;
  }
  rmi->phase = MN_RMI_STEPPED;
  rmi->reason = report->reason;
  rmi->last_omega = report->omega;
  if (report->reason == MN_CONVERGED || report->reason == MN_ITERATION_LIMIT) {
    mn_rmi_unweigh(rmi->def.x_size, rmi->x_weight, rmi->x_s, x);
    mn_rmi_unweigh(rmi->def.p_size, rmi->p_weight, rmi->p_s, p);
  }
  return MN_OK;
}
