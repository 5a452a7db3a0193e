/* One system for fluid and solid.

   chentanez        [Chentanez 2006]: a jet of smoke against two rubber sheets (scene
                    rubber-sheets). Published: by one system stable at steps of 1/30 s; with time
                    splitting, which asks each side once, unstable at 1/30 s and stable at 1/60 s.
                    The paper gives neither masses nor the jet's speed; the scene's were chosen so
                    that splitting behaves so, the sheets passing through each other: contact is no
                    part of it. A run counts as failed when a substep diverged.
   monolithic-cost  a solve of the one system over a pressure solve of the same grid without bodies,
                    for sheets of up to 10,000 nodes and a ball across a jet in 3D: 1 + what the
                    substep takes more than the fluid alone, over that pressure solve (per cell
                    and iteration as in `meniscus pressure`). Fastest substeps, processor time.
                    Demanded: 2.5 at most. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- chentanez ------------------------------------------------------------------------------- */

typedef struct sheets_result {
  double time, energy; /* s, J: how far it came; greatest kinetic energy of the sheets */
  int retries;
} sheets_result;

static void note_sheets(void *user, const mn_world *world, const mn_step_info *info)
{
  sheets_result *r = user;
  r->time = mn_world_time(world);
  if (!info)
    return;
  r->energy = fmax(r->energy, info->body_kinetic_energy);
  r->retries += info->retries;
}

int app_bench_chentanez(app_bench_run *run)
{
  static const struct {
    const char *row, *coupling, *dt;
    int stable;
  } cases[] = {{"simultaneous, dt = 1/30", "simultaneous", "0.0333333333333", 1},
               {"weak, dt = 1/30", "weak", "0.0333333333333", 0},
               {"weak, dt = 1/60", "weak", "0.0166666666667", 1},
               {"monolithic, dt = 1/30", "monolithic", "0.0333333333333", -1},
               {"xpm, dt = 1/30", "xpm", "0.0333333333333", -1}};
  const char *size = app_get(run->args, "--size");
  double until = run->full ? 2 : 1;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    sheets_result r = {0};
    mn_setting s[] = {{"coupling", cases[k].coupling},
                      {"dt", cases[k].dt},
                      {"n", size ? size : "16"},
                      {"contact", "false"}};
    app_bench_job job = {.scene = "rubber-sheets",
                         .settings = s,
                         .count = 4,
                         .until = until,
                         .strict = 1,
                         .each = note_sheets,
                         .user = &r};
    int bad = app_bench_scene(run, &job);
    if (bad)
      return bad;
    app_bench_number came = {.measured = job.failed ? INFINITY : until};
    if (cases[k].stable >= 0)
      came.published = cases[k].stable ? until : INFINITY;
    if (cases[k].stable > 0)
      came.bound = APP_AT_MOST, came.reference = until;
    else if (cases[k].stable == 0)
      came.bound = APP_AT_LEAST, came.reference = INFINITY;
    app_bench_compare(run, cases[k].row, "seconds simulated", came);
    app_bench_compare(run, cases[k].row, "  came to", (app_bench_number){r.time, 0, 0, 0});
    app_bench_compare(run, cases[k].row, "  halved substeps",
                      (app_bench_number){r.retries, 0, 0, 0});
    app_bench_compare(run, cases[k].row, "  energy of sheets, J",
                      (app_bench_number){r.energy, 0, 0, 0});
  }
  return 0;
}

/* ---- cost ------------------------------------------------------------------------------------ */

static const char JET[] =
    "local n, nodes = param('n', 64, ''), param('nodes', 0, '')\n"
    "local coupling = param('coupling', 'monolithic', '')\n"
    "local bodies = {}\n"
    "if nodes > 1 then\n"
    "  bodies[1] = springs { corner = {0.2, 0.5, 0.2}, along = {0.6, 0, 0}, across = {0, 0, 0.6},\n"
    "                        spacing = 0.6 / (nodes - 1), density = 0.1, stretch = 20, bend = 0.01 "
    "}\n"
    "elseif nodes == 1 then\n"
    "  bodies[1] = rigid { shape = sphere { center = {0.5, 0.5, 0.5}, radius = 0.2 }, density = "
    "0.5 }\n"
    "end\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1, 1}, cells = {n, n, n}, top = 'open' },\n"
    "  fluid    = smoke { density = 1, gravity = {0, 0, 0}, dt = 0.25 / n, cfl = 20 },\n"
    "  sources  = { inflow { shape = box { lo = {0.4, -1, 0.4}, hi = {0.6, 0.1, 0.6} },\n"
    "                        velocity = {0, 1, 0}, ramp = cosine { duration = 0.05 } } },\n"
    "  solids   = bodies,\n"
    "  dynamics = dynamics { gravity = {0, 0, 0}, dt = 0.25 / n, contact = false },\n"
    "  coupling = nodes > 0 and couple { method = coupling, adapt = false } or nil,\n"
    "  output   = { frames = 100, every = 0.25 / n },\n"
    "}\n";

enum { WARM_UP = 2, MEASURED = 5 };

typedef struct cost {
  int steps;
  double last, seconds;    /* of the processor, in the fastest substep: least disturbed by others */
  double solves, pressure; /* means: coupled solves; iterations */
} cost;

static void note_cost(void *user, const mn_world *world, const mn_step_info *info)
{
  cost *c = user;
  (void)world;
  double now = (double)clock() / CLOCKS_PER_SEC, took = now - c->last;
  c->last = now;
  if (!info || c->steps++ < WARM_UP)
    return;
  c->seconds = fmin(c->seconds, took);
  c->solves += info->coupling_iterations;
  c->pressure += info->pressure.iterations;
}

static int run_jet(const app_bench_run *run, const char *n, const char *nodes, const char *coupling,
                   cost *c)
{
  mn_setting s[] = {{"n", n}, {"nodes", nodes}, {"coupling", coupling}};
  app_bench_job job = {.scene = "jet",
                       .text = JET,
                       .settings = s,
                       .count = 3,
                       .substeps = WARM_UP + MEASURED,
                       .each = note_cost,
                       .user = c};
  *c = (cost){.seconds = INFINITY};
  int bad = app_bench_scene(run, &job);
  if (job.failed)
    c->seconds = INFINITY;
  c->solves /= MEASURED;
  c->pressure /= MEASURED;
  return bad;
}

/* Seconds of so many iterations on n^3 cells, set-up included. */
static int pressure_solve(const app_bench_run *run, int n, double iterations, double *seconds)
{
  mn_context *ctx;
  mn_pressure_result r;
  int bad = app_context(run->args, &ctx);
  if (bad)
    return bad;
  mn_status status =
      mn_pressure_problem(ctx, MN_PROBLEM_HALF_SPHERE_G, n, MN_PRESSURE_MGPCG, 1e-6, 10, &r);
  if (status != MN_OK)
    app_fail(ctx, status);
  else
    *seconds = (r.setup_s + r.solve_s * iterations / r.iterations) * pow(n, 3) / (double)r.unknowns;
  mn_context_destroy(&ctx);
  return (int)status;
}

int app_bench_monolithic_cost(app_bench_run *run)
{
  static const struct {
    const char *row, *nodes;
  } cases[] = {{"sheet, 2500 nodes", "50"}, {"sheet, 10000 nodes", "100"}, {"ball", "1"}};
  static const char *const methods[] = {"monolithic", "simultaneous", "xpm"};
  const char *size = app_get(run->args, "--size"), *n = size ? size : run->full ? "128" : "64";
  cost alone, c;
  double unit;
  int bad = run_jet(run, n, "0", "monolithic", &alone);
  if (!bad)
    bad = pressure_solve(run, atoi(n), alone.pressure, &unit);
  if (bad)
    return bad;
  app_bench_compare(run, "fluid alone", "pressure solve, s", (app_bench_number){unit, 0, 0, 0});
  app_bench_compare(run, "fluid alone", "iterations", (app_bench_number){alone.pressure, 0, 0, 0});
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    for (int m = 0; m < 3; m++) {
      char column[48];
      bad = run_jet(run, n, cases[k].nodes, methods[m], &c);
      if (bad)
        return bad;
      double substep = 1 + (c.seconds - alone.seconds) / unit;
      app_bench_number each = {.measured = substep / c.solves};
      if (m == 0)
        each.bound = APP_AT_MOST, each.reference = 2.5;
      snprintf(column, sizeof column, "%s, a solve", methods[m]);
      app_bench_compare(run, cases[k].row, column, each);
      snprintf(column, sizeof column, "%s, a substep", methods[m]);
      app_bench_compare(run, cases[k].row, column, (app_bench_number){substep, 0, 0, 0});
      app_bench_compare(run, cases[k].row, "  iterations",
                        (app_bench_number){c.pressure / c.solves, 0, 0, 0});
    }
  return 0;
}
