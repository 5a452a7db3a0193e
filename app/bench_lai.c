/* The tables of [Lai 2021], chapter 6: solvers side by side on the pressure equations of one
   simulation (meniscus/contest.h), which `fast` drives.

   Averages are over 100 frames of 0.01 s. "mic-pcg", the thesis's "No LCP", is measured in a
   simulation of its own with sticking walls, except for times: they are compared within one
   simulation. Solvers that would take hours get a sample of the equations; their row says so.

   What must hold: fas needs at most 1.5 times the published iterations; from 32 to 256 cells the
   multigrid solvers' counts grow at most 3 times, in 2D those with PCG at most 10 times; policy
   iteration takes on average at most 2 (2D) or 3.5 (3D) linear systems; a variant of fas that the
   thesis saw diverge is not solved either; about 93 % of the equations at 128^3 are true LCPs; at
   128^2 the LCP costs at most twice the linear solve. Other numbers are printed for comparison. */
#include "bench_lai.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

enum { FRAMES = 100, MOST = LAI_SOLVERS + 1 };

static const double FAS_MARGIN = 1.5, GROWTH_MULTIGRID = 3, GROWTH_PCG = 10;
static const double OUTER[2] = {2.0, 3.5};           /* in 2D, in 3D */
static const double TRUE_LCPS = 93, TRUE_MARGIN = 7; /* percent */
static const double LCP_COST = 2;                    /* of the linear solve */

/* One size of one table. */
typedef struct job {
  app_bench_run *run;
  const lai_table *table;
  int size;    /* index */
  int columns; /* of the table; one more contestant, fast, follows */
  mn_contestant found[MOST];
} job;

static int is(const char *a, const char *b)
{
  return !strcmp(a, b);
}

static int is_pcg(const char *solver)
{
  return strstr(solver, "pcg") != NULL;
}

/* ---- which equations, how long --------------------------------------------------------------- */

/* So that a size takes minutes, not hours, on two cores. */
static int sample(const lai_table *t, int n, const char *solver)
{
  if (t->number >= LAI_AT_FRAME)
    return 1;
  if (is(solver, "newton"))
    return t->dim == 2 ? (n < 256 ? 1 : 10) : n < 64 ? 5 : n < 128 ? 25 : 100;
  if (is(solver, "fmg"))
    return t->dim == 2 || n < 64 ? 1 : n < 128 ? 5 : 25;
  return t->dim == 2 || n < 128 ? 1 : 5;
}

static int limit(const char *solver)
{
  return is(solver, "newton")         ? 400000
         : is_pcg(solver)             ? 20000
         : is(solver, "fas-constant") ? 2000
                                      : 400;
}

/* ---- one simulation -------------------------------------------------------------------------- */

static void progress(const job *j, const char *walls, int frame, int frames)
{
  int live = isatty(STDERR_FILENO);
  if (!live && frame % 10 && frame != frames)
    return;
  fprintf(stderr, "%s%s: %s, n = %d, %s walls, frame %d/%d%s", live ? "\r" : "", j->table->name,
          j->table->scene, lai_sizes[j->size], walls, frame, frames,
          live && frame < frames ? "   " : "\n");
}

/* All frames, or up to the first substep of the table's frame, in which alone the solvers meet. */
static mn_status advance(job *j, mn_contestant *who, int count, const char *walls, mn_world *world)
{
  int frame = j->table->frame, frames = frame ? frame - 1 : FRAMES, every[MOST];
  for (int i = 0; i < count; i++) {
    every[i] = who[i].every;
    who[i].every = frame ? 0 : every[i];
  }
  mn_status status = MN_OK;
  for (int f = 1; f <= frames && status == MN_OK; f++) {
    status = mn_world_next_frame(world);
    progress(j, walls, f, frames);
  }
  for (int i = 0; i < count; i++)
    who[i].every = every[i];
  mn_step_info info;
  if (frame && status == MN_OK)
    status = mn_world_step(world, 0.01 * frame, &info);
  return status;
}

static mn_status simulate(mn_context *ctx, job *j, mn_contestant *who, int count, const char *walls)
{
  char n[16];
  snprintf(n, sizeof n, "%d", lai_sizes[j->size]);
  mn_setting settings[] = {{"n", n}, {"walls", walls}};
  mn_model *model = NULL;
  mn_world *world = NULL;
  mn_contest *contest = NULL;
  mn_status status = mn_scene_load(ctx, j->table->scene, settings, 2, &model);
  if (status == MN_OK)
    status = mn_world_create(ctx, model, &world);
  if (status == MN_OK)
    status = mn_contest_create(ctx, world, who, count, &contest);
  if (status == MN_OK)
    status = advance(j, who, count, walls, world);
  mn_contest_destroy(&contest);
  mn_world_destroy(&world);
  mn_model_destroy(&model);
  return status;
}

static int measure(job *j)
{
  const lai_table *t = j->table;
  mn_context *ctx;
  int n = lai_sizes[j->size], apart = 0, bad = app_context(j->run->args, &ctx);
  if (bad)
    return bad;
  for (j->columns = 0; j->columns < LAI_SOLVERS && t->column[j->columns].solver; j->columns++)
    j->found[j->columns].solver = t->column[j->columns].solver;
  j->found[j->columns].solver = "fast";
  int count = j->columns + 1;
  for (int i = 0; i < count; i++) {
    mn_contestant *c = &j->found[i];
    *c = (mn_contestant){
        .solver = c->solver, .every = sample(t, n, c->solver), .max_iterations = limit(c->solver)};
    if (is(c->solver, "mic-pcg") && t->number != LAI_SECONDS) {
      apart = i;
      c->every = 0;
    }
  }
  mn_status status = simulate(ctx, j, j->found, count, "separating");
  if (status == MN_OK && apart) {
    j->found[apart].every = 1;
    status = simulate(ctx, j, &j->found[apart], 1, "sticking");
  }
  bad = status == MN_OK ? 0 : app_fail(ctx, status);
  mn_context_destroy(&ctx);
  return bad;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The table's number, a mean over the equations that were solved; not finite if none was. */
static double value(const job *j, int i)
{
  const mn_contestant *c = &j->found[i];
  double sum = j->table->number == LAI_OUTER     ? (double)c->outer
               : j->table->number == LAI_SECONDS ? c->seconds
                                                 : (double)c->iterations;
  return c->failed == c->equations ? INFINITY : sum / (double)(c->equations - c->failed);
}

static double published(const job *j, int i)
{
  return i < j->columns ? j->table->column[i].published[j->size] : 0;
}

/* What the number must not exceed; 0: nothing is demanded. */
static double bound(const job *j, int i)
{
  const lai_table *t = j->table;
  const char *solver = j->found[i].solver;
  if (is(solver, "fas") && t->number != LAI_OUTER && t->number != LAI_SECONDS)
    return FAS_MARGIN * published(j, i);
  if (t->number == LAI_OUTER && (is(solver, "pi-pcg") || is(solver, "pi-mg")))
    return OUTER[t->dim - 2];
  return 0;
}

static void print_size(job *j)
{
  for (int i = 0; i <= j->columns; i++) {
    const mn_contestant *c = &j->found[i];
    char row[64];
    int k = snprintf(row, sizeof row, "n = %d", lai_sizes[j->size]);
    if (c->every > 1)
      k += snprintf(row + k, sizeof row - (size_t)k, ", every %dth", c->every);
    if (c->failed)
      snprintf(row + k, sizeof row - (size_t)k, ", %lld of %lld unsolved", (long long)c->failed,
               (long long)c->equations);
    double most = bound(j, i); /* all must have been solved */
    app_bench_number n = {most > 0 && c->failed ? INFINITY : value(j, i), published(j, i),
                          APP_AT_MOST, most};
    if (n.published == LAI_DIVERGED) /* it must not be solved here either */
      n = (app_bench_number){n.measured, INFINITY, APP_AT_LEAST, INFINITY};
    app_bench_compare(j->run, row, c->solver, n);
  }
}

/* Times over that of the linear solve. */
static void print_ratios(job *j)
{
  const lai_table *t = j->table;
  int linear = j->columns - 1;
  if (t->number != LAI_SECONDS || !is(j->found[linear].solver, "mic-pcg"))
    return;
  for (int i = 0; i <= j->columns; i++) {
    char column[64], row[32];
    const char *solver = j->found[i].solver;
    if (i == linear)
      continue;
    snprintf(row, sizeof row, "n = %d", lai_sizes[j->size]);
    snprintf(column, sizeof column, "%s / mic-pcg", solver);
    int must =
        t->dim == 2 && lai_sizes[j->size] == 128 && (is(solver, "fas") || is(solver, "fast"));
    app_bench_number n = {value(j, i) / value(j, linear), published(j, i) / published(j, linear),
                          APP_AT_MOST, must ? LCP_COST : 0};
    app_bench_compare(j->run, row, column, n);
  }
}

static void print_share(job *j)
{
  const mn_contestant *c = &j->found[j->columns]; /* fast */
  char row[32];
  if (j->table->number != LAI_OUTER || j->table->dim != 3)
    return;
  snprintf(row, sizeof row, "n = %d", lai_sizes[j->size]);
  int at_128 = lai_sizes[j->size] == 128;
  app_bench_number n = {100 * (double)c->parted / (double)c->equations, at_128 ? TRUE_LCPS : 0,
                        APP_AT_LEAST, at_128 ? TRUE_LCPS - TRUE_MARGIN : 0};
  app_bench_compare(j->run, row, "true LCPs, %", n);
}

/* From the smallest size to the largest that was run. */
static void print_growth(job *first, job *last)
{
  char row[48];
  snprintf(row, sizeof row, "growth %d to %d", lai_sizes[first->size], lai_sizes[last->size]);
  for (int i = 0; i <= first->columns; i++) {
    const char *s = first->found[i].solver;
    int multigrid = is(s, "fas") || is(s, "fast") || is(s, "pi-mg") || is(s, "pe-mg");
    int pcg = first->table->dim == 2 && is_pcg(s);
    double most = multigrid ? GROWTH_MULTIGRID : pcg ? GROWTH_PCG : 0;
    double was = published(first, i), is_now = published(last, i);
    app_bench_number n = {value(last, i) / value(first, i),
                          was > 0 && is_now > 0 ? is_now / was : 0, APP_AT_MOST, most};
    app_bench_compare(first->run, row, s, n);
  }
}

/* ---- the bench ------------------------------------------------------------------------------- */

int app_bench_lai(app_bench_run *run)
{
  const lai_table *t = lai_tables;
  while (!is(t->name, run->name))
    t++;
  int wanted = 0, count = run->full ? LAI_SIZES : LAI_SIZES - 1, known = 0, first = -1, last = -1;
  int bad = app_get_int(run->args, "--size", 32, 256, &wanted);
  if (bad)
    return bad;
  for (int s = 0; s < LAI_SIZES; s++)
    known |= lai_sizes[s] == wanted;
  if (wanted && !known)
    return app_error(MN_BAD_INPUT, "--size: found %d, allowed: 32, 64, 128 or 256", wanted);
  job jobs[LAI_SIZES] = {0};
  for (int s = 0; s < LAI_SIZES; s++) {
    if (wanted ? lai_sizes[s] != wanted : s >= count)
      continue;
    jobs[s] = (job){.run = run, .table = t, .size = s};
    if ((bad = measure(&jobs[s])))
      return bad;
    print_size(&jobs[s]);
    print_ratios(&jobs[s]);
    print_share(&jobs[s]);
    first = first < 0 ? s : first;
    last = s;
  }
  if (last > first && t->number == LAI_ITERATIONS)
    print_growth(&jobs[first], &jobs[last]);
  return 0;
}
