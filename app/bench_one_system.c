/* One system for fluid and solid.

   chentanez        [Chentanez 2006]: a jet of smoke against two rubber sheets (scene
                    rubber-sheets). Published: by one system stable at steps of 1/30 s; with time
                    splitting, which asks each side once, unstable at 1/30 s and stable at 1/60 s.
                    The paper gives neither masses nor the jet's speed; the scene's were chosen so
                    that splitting behaves so, the sheets passing through each other: contact is no
                    part of it. A run counts as failed when a substep diverged.
   monolithic-cost  a solve of the one system over a pressure solve of the same grid without bodies,
                    for sheets and a cube of foam of up to 10,000 nodes and a ball across a jet
                    in 3D. Both as the solver measures them (mn_solve_report.cpu_s): assembly and
                    set-up, of the solid as well, Krylov iterations, loads, the new velocities; not
                    what every coupling does, surfaces on the grid. Processor time of one thread,
                    the fastest of several substeps. Demanded: 2.5 at most. Beside it, what a
   substep takes more than that of the fluid alone, in the same unit. */
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
    "local n, body, nodes = param('n', 64, ''), param('body', 'none', ''), param('nodes', 50, '')\n"
    "local coupling = param('coupling', 'monolithic', '')\n"
    "local bodies = {}\n"
    "if body == 'sheet' then\n"
    "  bodies[1] = springs { corner = {0.2, 0.5, 0.2}, along = {0.6, 0, 0}, across = {0, 0, 0.6},\n"
    "                        spacing = 0.6 / (nodes - 1), density = 0.1, stretch = 20, bend = 0.01 "
    "}\n"
    "elseif body == 'foam' then\n"
    "  bodies[1] = elastic { shape = box { center = {0.5, 0.5, 0.5}, size = {0.4, 0.4, 0.4} },\n"
    "                        spacing = 0.4 / (nodes - 1), density = 1.5, young = 40, poisson = 0.2 "
    "}\n"
    "elseif body == 'ball' then\n"
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
    "  coupling = body ~= 'none' and couple { method = coupling, adapt = false } or nil,\n"
    "  output   = { frames = 100, every = 0.25 / n },\n"
    "}\n";

enum { WARM_UP = 2, MEASURED = 5 };

typedef struct cost {
  int steps;
  double last, substep, solve; /* of the processor, s: the fastest, least disturbed by others */
  double solves, iterations;   /* means: coupled solves a substep; iterations a solve */
} cost;

static void note_cost(void *user, const mn_world *world, const mn_step_info *info)
{
  cost *c = user;
  (void)world;
  double now = (double)clock() / CLOCKS_PER_SEC, took = now - c->last;
  c->last = now;
  if (!info || c->steps++ < WARM_UP)
    return;
  c->substep = fmin(c->substep, took);
  c->solve = fmin(c->solve, info->pressure.cpu_s / info->coupling_iterations);
  c->solves += (double)info->coupling_iterations / MEASURED;
  c->iterations += (double)info->pressure.iterations / info->coupling_iterations / MEASURED;
}

static int run_jet(const app_bench_run *run, const char *n, const char *body, const char *nodes,
                   const char *coupling, cost *c)
{
  mn_setting s[] = {{"n", n}, {"body", body}, {"nodes", nodes}, {"coupling", coupling}};
  app_bench_job job = {.scene = "jet",
                       .text = JET,
                       .settings = s,
                       .count = 4,
                       .substeps = WARM_UP + MEASURED,
                       .threads = 1,
                       .each = note_cost,
                       .user = c};
  *c = (cost){.substep = INFINITY, .solve = INFINITY};
  int bad = app_bench_scene(run, &job);
  if (job.failed)
    c->substep = c->solve = INFINITY;
  return bad;
}

/* The fluid alone as it is in a process that has run for a while. Where no body moves the grid is
   assembled once, and counts with each solve as it took then: in memory that is touched for the
   first time half as long again. */
static int warm_up(const app_bench_run *run, const char *n)
{
  enum { RUNS = 3 };
  cost unused;
  int bad = 0;
  for (int k = 0; k < RUNS && !bad; k++)
    bad = run_jet(run, n, "none", "2", "monolithic", &unused);
  return bad;
}

/* A case right after the fluid alone, with as many substeps: the machine may be busy. */
static int run_case(app_bench_run *run, const char *n, const char *row, const char *body,
                    const char *nodes, const char *coupling)
{
  cost alone, c;
  int one = strcmp(coupling, "monolithic") == 0;
  int bad = run_jet(run, n, "none", "2", "monolithic", &alone);
  if (!bad)
    bad = run_jet(run, n, body, nodes, coupling, &c);
  if (bad)
    return bad;
  app_bench_number each = {
      .measured = c.solve / alone.solve, .bound = APP_AT_MOST, .reference = 2.5};
  if (one)
    app_bench_compare(run, row, "a solve", each);
  app_bench_compare(run, row, "  fluid alone, s", (app_bench_number){alone.solve, 0, 0, 0});
  app_bench_compare(run, row, "  iterations", (app_bench_number){c.iterations, 0, 0, 0});
  app_bench_compare(run, row, "  fluid alone", (app_bench_number){alone.iterations, 0, 0, 0});
  app_bench_compare(run, row, "  solves a substep", (app_bench_number){c.solves, 0, 0, 0});
  app_bench_compare(run, row, "  substep more than alone",
                    (app_bench_number){(c.substep - alone.substep) / alone.solve, 0, 0, 0});
  return 0;
}

int app_bench_monolithic_cost(app_bench_run *run)
{
  static const struct {
    const char *row, *body, *nodes, *coupling;
  } cases[] = {{"sheet, 2500 nodes", "sheet", "50", "monolithic"},
               {"sheet, 10000 nodes", "sheet", "100", "monolithic"},
               {"foam, 9261 nodes", "foam", "21", "monolithic"},
               {"ball", "ball", "2", "monolithic"},
               {"sheet, 2500 nodes, xpm", "sheet", "50", "xpm"}};
  const char *size = app_get(run->args, "--size"), *n = size ? size : run->full ? "128" : "64";
  const char *only = app_get(run->args, "--row");
  int bad = 0, any = 0;
  for (size_t k = 0; k < sizeof cases / sizeof *cases && !bad; k++)
    if (!only || strncmp(cases[k].row, only, strlen(only)) == 0) {
      if (!any)
        bad = warm_up(run, n);
      any = 1;
      if (!bad)
        bad = run_case(run, n, cases[k].row, cases[k].body, cases[k].nodes, cases[k].coupling);
    }
  return any ? bad
             : app_error(MN_BAD_INPUT, "--row is \"%s\": rows begin with sheet, foam, ball", only);
}
