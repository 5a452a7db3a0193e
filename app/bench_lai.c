/* The tables of [Lai 2021], chapter 6: solvers side by side on the pressure equations of one
   simulation (meniscus/contest.h), which `fast` drives.

   Averages are over 100 frames of 0.01 s, or as many as --frames says; rows tell it. "mic-pcg", the
   thesis's "No LCP", is measured in a simulation of its own with sticking walls, except for times:
   they are compared within one simulation. Solvers that would take hours get a sample of the
   equations; their row says so, and how many iterations a solver was given if those were too few.
   Counts at a frame are printed as they are found, means so far every few frames (on stderr), so
   that a run that is stopped has told what it knew.

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

enum { FRAMES = 100, MOST = 16, MOST_TABLES = 3 };
enum { TELL_EVERY = 5, TELL_FROM = 128 }; /* frames, for sizes that take long */

static const double FAS_MARGIN = 1.5, GROWTH_MULTIGRID = 3, GROWTH_PCG = 10;
static const double OUTER[2] = {2.0, 3.5};           /* in 2D, in 3D */
static const double TRUE_LCPS = 93, TRUE_MARGIN = 7; /* percent */
static const double LCP_COST = 2;                    /* of the linear solve */

/* One size of the tables of one simulation. */
typedef struct job {
  app_bench_run *run;
  const lai_table *tables[MOST_TABLES];
  int table_count;
  int size; /* index */
  int frames;
  const char *only; /* this solver, NULL: all */
  int count;
  mn_contestant found[MOST]; /* in the simulation with separating walls */
  mn_contestant sticking;    /* mic-pcg in that with sticking ones; no name: not needed */
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
  if (t->dim == 3 && n >= 256)
    return is_pcg(solver) || is(solver, "fmg") ? 25 : 5;
  if (is(solver, "newton"))
    return t->dim == 2 ? (n < 256 ? 1 : 10) : n < 64 ? 5 : n < 128 ? 25 : 100;
  if (is(solver, "fmg"))
    return t->dim == 2 ? (n < 128 ? 1 : 5) : n < 64 ? 1 : n < 128 ? 5 : 25;
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
  if (!live && frame % 10 && frame != frames && lai_sizes[j->size] < TELL_FROM)
    return;
  fprintf(stderr, "%s%s: %s, n = %d, %s walls, frame %d/%d%s", live ? "\r" : "", j->run->name,
          j->tables[0]->scene, lai_sizes[j->size], walls, frame, frames,
          live && frame < frames ? "   " : "\n");
}

static double value(const job *j, const lai_table *t, const char *solver);
static const char *solver_of(const lai_table *t, int i);
static const mn_contestant *result(const job *j, const lai_table *t, const char *solver);

/* Means so far. */
static void tell(const job *j, int frame)
{
  const char *solver;
  if (lai_sizes[j->size] < TELL_FROM || frame % TELL_EVERY)
    return;
  for (int k = 0; k < j->table_count; k++)
    for (int i = 0; (solver = solver_of(j->tables[k], i)); i++) {
      const mn_contestant *c = result(j, j->tables[k], solver);
      if (c && c->equations)
        fprintf(stderr, "%-9s n = %d, %d frames  %-10s %12.5g  %lld of %lld equations solved\n",
                j->tables[k]->name, lai_sizes[j->size], frame, solver,
                value(j, j->tables[k], solver), (long long)(c->equations - c->failed),
                (long long)c->equations);
    }
}

/* All frames, or up to the first substep of the table's frame, in which alone the solvers meet. */
static mn_status advance(job *j, mn_contestant *who, int count, const char *walls, mn_world *world)
{
  int frame = j->tables[0]->frame, frames = frame ? frame - 1 : j->frames, every[MOST];
  for (int i = 0; i < count; i++) {
    every[i] = who[i].every;
    who[i].every = frame ? 0 : every[i];
  }
  mn_status status = MN_OK;
  for (int f = 1; f <= frames && status == MN_OK; f++) {
    status = mn_world_next_frame(world);
    progress(j, walls, f, frames);
    if (!frame)
      tell(j, f);
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
  mn_status status = mn_scene_load(ctx, j->tables[0]->scene, settings, 2, &model);
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

static void print_number(job *j, const lai_table *t, const char *solver);

/* A count at a frame stands as soon as the equation is solved. */
static void solved(void *user, const mn_contestant *c)
{
  job *j = user;
  const char *name = j->run->name, *solver;
  for (int k = 0; k < j->table_count; k++)
    for (int i = 0; (solver = solver_of(j->tables[k], i)); i++)
      if (is(solver, c->solver) && j->tables[k]->number >= LAI_AT_FRAME && c->equations == 1) {
        j->run->name = j->tables[k]->name;
        print_number(j, j->tables[k], solver);
      }
  j->run->name = name;
}

static mn_contestant contestant(job *j, const char *solver)
{
  const lai_table *t = j->tables[0];
  return (mn_contestant){.solver = solver,
                         .every = sample(t, lai_sizes[j->size], solver),
                         .max_iterations = limit(solver),
                         .solved = solved,
                         .user = j};
}

static void add(job *j, const char *solver)
{
  for (int i = 0; i < j->count; i++)
    if (is(j->found[i].solver, solver))
      return;
  j->found[j->count++] = contestant(j, solver);
}

/* Turns of a solver: those that may take an hour at 256^3 come last. */
static int turn(const char *solver)
{
  return is(solver, "newton")                                     ? 3
         : is(solver, "fas-constant") || is(solver, "fas-direct") ? 2
         : is_pcg(solver) || is(solver, "fmg")                    ? 1
                                                                  : 0;
}

static void add_sticking(job *j)
{
  j->sticking = contestant(j, "mic-pcg");
  if (lai_sizes[j->size] < 256) /* no others are in this simulation */
    j->sticking.every = 1;
}

static void add_tables(job *j, int now)
{
  for (int k = 0; k < j->table_count; k++) {
    const lai_table *t = j->tables[k];
    for (int i = 0; i < LAI_SOLVERS && t->column[i].solver; i++) {
      const char *solver = t->column[i].solver;
      int left_out = t->dim == 3 && lai_sizes[j->size] >= 256 && is(solver, "newton") &&
                     t->number < LAI_AT_FRAME; /* hours; the thesis left it out as well */
      if (turn(solver) != now || left_out || (j->only && !is(solver, j->only)))
        continue;
      if (!is(solver, "mic-pcg") || t->number == LAI_SECONDS)
        add(j, solver);
      else
        add_sticking(j);
    }
  }
}

static int needs_sticking_alone(const job *j)
{
  int alone = j->only && is(j->only, "mic-pcg");
  for (int k = 0; k < j->table_count; k++)
    alone = alone && j->tables[k]->number != LAI_SECONDS;
  return alone;
}

static int measure(job *j)
{
  mn_context *ctx;
  int bad = app_context(j->run->args, &ctx);
  if (bad)
    return bad;
  if (!needs_sticking_alone(j))
    add(j, "fast");
  for (int now = 0; now < 4; now++)
    add_tables(j, now);
  mn_status status = MN_OK;
  if (j->count)
    status = simulate(ctx, j, j->found, j->count, "separating");
  if (status == MN_OK && j->sticking.solver)
    status = simulate(ctx, j, &j->sticking, 1, "sticking");
  bad = status == MN_OK ? 0 : app_fail(ctx, status);
  mn_context_destroy(&ctx);
  return bad;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Solver number i of a table; behind its own follows fast. NULL behind that. */
static const char *solver_of(const lai_table *t, int i)
{
  for (int k = 0; k <= i && k < LAI_SOLVERS; k++)
    if (!t->column[k].solver)
      return k == i ? "fast" : NULL;
  return i < LAI_SOLVERS ? t->column[i].solver : i == LAI_SOLVERS ? "fast" : NULL;
}

/* NULL if it was left out. */
static const mn_contestant *result(const job *j, const lai_table *t, const char *solver)
{
  if (is(solver, "mic-pcg") && t->number != LAI_SECONDS)
    return j->sticking.solver ? &j->sticking : NULL;
  for (int i = 0; i < j->count; i++)
    if (is(j->found[i].solver, solver))
      return &j->found[i];
  return NULL;
}

/* The table's number, a mean over the equations that were solved; not finite if none was. */
static double value(const job *j, const lai_table *t, const char *solver)
{
  const mn_contestant *c = result(j, t, solver);
  double sum = t->number == LAI_OUTER     ? (double)c->outer
               : t->number == LAI_SECONDS ? c->seconds
                                          : (double)c->iterations;
  return c->failed == c->equations ? INFINITY : sum / (double)(c->equations - c->failed);
}

static double published(const lai_table *t, int size, const char *solver)
{
  for (int i = 0; i < LAI_SOLVERS && t->column[i].solver; i++)
    if (is(t->column[i].solver, solver))
      return t->column[i].published[size];
  return 0;
}

/* What the number must not exceed; 0: nothing is demanded. */
static double bound(const lai_table *t, int size, const char *solver)
{
  if (is(solver, "fas") && t->number != LAI_OUTER && t->number != LAI_SECONDS)
    return FAS_MARGIN * published(t, size, solver);
  if (t->number == LAI_OUTER && (is(solver, "pi-pcg") || is(solver, "pi-mg")))
    return OUTER[t->dim - 2];
  return 0;
}

static void print_number(job *j, const lai_table *t, const char *solver)
{
  const mn_contestant *c = result(j, t, solver);
  char row[96];
  if (!c)
    return;
  int k = snprintf(row, sizeof row, "n = %d", lai_sizes[j->size]);
  if (!t->frame && j->frames != FRAMES)
    k += snprintf(row + k, sizeof row - (size_t)k, ", %d frames", j->frames);
  if (c->every > 1)
    k += snprintf(row + k, sizeof row - (size_t)k, ", every %dth", c->every);
  if (c->failed && c->equations == 1 && c->reason == MN_ITERATION_LIMIT)
    snprintf(row + k, sizeof row - (size_t)k, ", unsolved in %d", c->max_iterations);
  else if (c->failed)
    snprintf(row + k, sizeof row - (size_t)k, ", %lld of %lld unsolved", (long long)c->failed,
             (long long)c->equations);
  double most = bound(t, j->size, solver); /* all must have been solved */
  app_bench_number n = {most > 0 && c->failed ? INFINITY : value(j, t, solver),
                        published(t, j->size, solver), APP_AT_MOST, most};
  if (n.published == LAI_DIVERGED) /* it must not be solved here either */
    n = (app_bench_number){n.measured, INFINITY, APP_AT_LEAST, INFINITY};
  app_bench_compare(j->run, row, solver, n);
}

static void print_size(job *j, const lai_table *t)
{
  const char *solver;
  for (int i = 0; t->number < LAI_AT_FRAME && (solver = solver_of(t, i)); i++)
    print_number(j, t, solver);
}

/* Times over that of the linear solve. */
static void print_ratios(job *j, const lai_table *t)
{
  double linear = published(t, j->size, "mic-pcg");
  const char *solver;
  if (t->number != LAI_SECONDS || !linear || !result(j, t, "mic-pcg"))
    return;
  for (int i = 0; (solver = solver_of(t, i)); i++) {
    char column[64], row[32];
    if (is(solver, "mic-pcg") || !result(j, t, solver))
      continue;
    snprintf(row, sizeof row, "n = %d", lai_sizes[j->size]);
    snprintf(column, sizeof column, "%s / mic-pcg", solver);
    int must =
        t->dim == 2 && lai_sizes[j->size] == 128 && (is(solver, "fas") || is(solver, "fast"));
    app_bench_number n = {value(j, t, solver) / value(j, t, "mic-pcg"),
                          published(t, j->size, solver) / linear, APP_AT_MOST, must ? LCP_COST : 0};
    app_bench_compare(j->run, row, column, n);
  }
}

static void print_share(job *j, const lai_table *t)
{
  const mn_contestant *c = result(j, t, "fast");
  char row[32];
  if (t->number != LAI_OUTER || t->dim != 3 || !c)
    return;
  snprintf(row, sizeof row, "n = %d", lai_sizes[j->size]);
  int at_128 = lai_sizes[j->size] == 128;
  app_bench_number n = {100 * (double)c->parted / (double)c->equations, at_128 ? TRUE_LCPS : 0,
                        APP_AT_LEAST, at_128 ? TRUE_LCPS - TRUE_MARGIN : 0};
  app_bench_compare(j->run, row, "true LCPs, %", n);
}

/* From the smallest size to the largest that was run. */
static void print_growth(job *first, job *last, const lai_table *t)
{
  char row[48];
  const char *s;
  if (last == first || t->number != LAI_ITERATIONS)
    return;
  snprintf(row, sizeof row, "growth %d to %d", lai_sizes[first->size], lai_sizes[last->size]);
  for (int i = 0; (s = solver_of(t, i)); i++) {
    if (!result(first, t, s) || !result(last, t, s))
      continue;
    int multigrid = is(s, "fas") || is(s, "fast") || is(s, "pi-mg") || is(s, "pe-mg");
    double most = multigrid ? GROWTH_MULTIGRID : t->dim == 2 && is_pcg(s) ? GROWTH_PCG : 0;
    double was = published(t, first->size, s), later = published(t, last->size, s);
    app_bench_number n = {value(last, t, s) / value(first, t, s),
                          was > 0 && later > 0 ? later / was : 0, APP_AT_MOST, most};
    app_bench_compare(first->run, row, s, n);
  }
}

/* ---- the bench ------------------------------------------------------------------------------- */

/* The sizes asked for: a bit for each. */
static int choose_sizes(const app_bench_run *run, unsigned *sizes)
{
  int wanted = 0, bad = app_get_int(run->args, "--size", 32, 256, &wanted);
  *sizes = wanted ? 0 : run->full ? 15 : 7;
  if (bad)
    return bad;
  for (int s = 0; s < LAI_SIZES; s++)
    if (lai_sizes[s] == wanted)
      *sizes = 1u << s;
  return *sizes ? 0
                : app_error(MN_BAD_INPUT, "--size: found %d, allowed: 32, 64, 128 or 256", wanted);
}

/* The solver asked for, which a table must have. */
static int choose_solver(const app_bench_run *run, const char **only)
{
  *only = app_get(run->args, "--solver");
  if (!*only)
    return 0;
  for (const lai_table *t = lai_tables; t->name; t++)
    for (int i = 0; (is(t->name, run->name) || is(t->group, run->name)) && i < LAI_SOLVERS; i++)
      if (t->column[i].solver && is(t->column[i].solver, *only))
        return 0;
  return app_error(MN_BAD_INPUT, "--solver: found '%s', allowed: a column of %s", *only, run->name);
}

int app_bench_lai(app_bench_run *run)
{
  job jobs[LAI_SIZES] = {0}, *first = NULL, *last = NULL;
  const char *name = run->name, *only = NULL;
  unsigned sizes;
  int frames = FRAMES, bad = choose_sizes(run, &sizes);
  if (!bad)
    bad = choose_solver(run, &only);
  if (!bad)
    bad = app_get_int(run->args, "--frames", 1, FRAMES, &frames);
  for (int s = 0; s < LAI_SIZES && !bad; s++) {
    job *j = &jobs[s];
    if (!(sizes & 1u << s))
      continue;
    *j = (job){.run = run, .size = s, .frames = frames, .only = only};
    for (const lai_table *t = lai_tables; t->name; t++)
      if (is(t->name, name) || is(t->group, name))
        j->tables[j->table_count++] = t;
    bad = measure(j);
    first = first ? first : j;
    last = j;
    for (int k = 0; k < j->table_count && !bad; k++) {
      run->name = j->tables[k]->name; /* each number belongs to its table */
      print_size(j, j->tables[k]);
      print_ratios(j, j->tables[k]);
      print_share(j, j->tables[k]);
    }
  }
  for (int k = 0; first && k < first->table_count && !bad; k++) {
    run->name = first->tables[k]->name;
    print_growth(first, last, first->tables[k]);
  }
  run->name = name;
  return bad;
}
