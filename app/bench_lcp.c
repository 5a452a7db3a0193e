/* The default LCP solver against the linear solve of the same equations, with sticking walls.

   Cold: the half-filled sphere from p = 0 to 1e-6, both straight from the geometry. Policy
   iteration with hypre's PCG+PFMG takes 1.66 s where PCG+PFMG alone takes 0.40 s; being 10 times
   faster means at most 0.415 of PCG+PFMG (bench/peers/compare.sh measures it), which is 2.6 times
   our linear solve where that is 6.3 times faster than PCG+PFMG. In a simulation: every pressure
   equation of its frames, both from the last pressure. */
#include "bench.h"
#include "meniscus/contest.h"
#include "meniscus/scene.h"

static const double TOLERANCE = 1e-6;
enum { ROUNDS = 3, MOST_ITERATIONS = 1000 };

static double total(const mn_pressure_result *r)
{
  return r->setup_s + r->solve_s;
}

static int create(int threads, mn_context **ctx)
{
  mn_context_def def = mn_context_def_default();
  def.threads = threads;
  return mn_context_create(&def, ctx) == MN_OK ? 0 : app_error(MN_ENVIRONMENT, "out of memory");
}

/* Both in turns; keeps the best of each. */
static int one_round(int n, int threads, int first, mn_pressure_result *linear,
                     mn_pressure_result *lcp)
{
  mn_context *ctx;
  mn_pressure_result r[2];
  int bad = create(threads, &ctx);
  if (bad)
    return bad;
  mn_status status =
      mn_pressure_problem(ctx, MN_PROBLEM_HALF_SPHERE_G, n, MN_PRESSURE_MGPCG, TOLERANCE, 3, &r[0]);
  if (status == MN_OK)
    status = mn_lcp_problem(ctx, MN_PROBLEM_HALF_SPHERE_G, n, "fast", TOLERANCE, 3, MOST_ITERATIONS,
                            &r[1]);
  if (status != MN_OK)
    bad = app_fail(ctx, status);
  else if (r[0].reason != MN_CONVERGED || r[1].reason != MN_CONVERGED)
    bad = app_error(MN_FAILED, "bench: n = %d did not converge", n);
  mn_context_destroy(&ctx);
  if (bad)
    return bad;
  *linear = first || total(&r[0]) < total(linear) ? r[0] : *linear;
  *lcp = first || total(&r[1]) < total(lcp) ? r[1] : *lcp;
  return 0;
}

static int cold(app_bench_run *run, int n)
{
  mn_pressure_result linear[2], lcp[2]; /* one thread, two */
  char row[48];
  for (int round = 0; round < ROUNDS; round++)
    for (int t = 0; t < 2; t++) {
      int bad = one_round(n, t + 1, round == 0, &linear[t], &lcp[t]);
      if (bad)
        return bad;
    }
  snprintf(row, sizeof row, "n = %d, cold", n);
  app_bench_row(run, row, "times the linear solve", total(&lcp[0]) / total(&linear[0]), "target",
                APP_AT_MOST, 2.6);
  app_bench_row(run, row, "iterations", lcp[0].iterations, "target", APP_AT_MOST, 12);
  app_bench_row(run, row, "sets of held cells", lcp[0].outer, "target", APP_AT_MOST, 10);
  app_bench_row(run, row, "bytes per unknown", lcp[0].peak_mb * 1e6 / (double)lcp[0].unknowns,
                "target", APP_AT_MOST, 150);
  if (n < 128)
    return 0;
  app_bench_row(run, row, "work units (goal)", total(&lcp[0]) / lcp[0].wu_s, "target", APP_AT_MOST,
                150);
  app_bench_row(run, row, "speed-up on 2 threads", total(&lcp[0]) / total(&lcp[1]), "target",
                APP_AT_LEAST, 1.6);
  return 0;
}

static mn_status advance(mn_context *ctx, const char *scene, int n, int frames,
                         mn_contestant who[2])
{
  char cells[16];
  mn_setting settings[] = {{"n", cells}, {"walls", "separating"}};
  mn_model *model = NULL;
  mn_world *world = NULL;
  mn_contest *contest = NULL;
  snprintf(cells, sizeof cells, "%d", n);
  mn_status status = mn_scene_load(ctx, scene, settings, 2, &model);
  if (status == MN_OK)
    status = mn_world_create(ctx, model, &world);
  if (status == MN_OK)
    status = mn_contest_create(ctx, world, who, 2, &contest);
  for (int f = 0; f < frames && status == MN_OK; f++)
    status = mn_world_next_frame(world);
  mn_contest_destroy(&contest);
  mn_world_destroy(&world);
  mn_model_destroy(&model);
  return status;
}

/* Some frames of a scene, its equations solved by both. */
static int simulated(app_bench_run *run, const char *scene, int n, int frames, double most)
{
  mn_contestant who[2] = {{.solver = "mgpcg", .every = 1, .max_iterations = MOST_ITERATIONS},
                          {.solver = "fast", .every = 1, .max_iterations = MOST_ITERATIONS}};
  char row[64];
  mn_context *ctx;
  int bad = create(1, &ctx);
  if (bad)
    return bad;
  mn_status status = advance(ctx, scene, n, frames, who);
  if (status != MN_OK)
    bad = app_fail(ctx, status);
  mn_context_destroy(&ctx);
  if (bad)
    return bad;
  snprintf(row, sizeof row, "%s, n = %d, %d frames", scene, n, frames);
  app_bench_row(run, row, "times the linear solve", who[1].seconds / who[0].seconds, "target",
                APP_AT_MOST, most);
  app_bench_row(run, row, "iterations over linear ones",
                (double)who[1].iterations / (double)who[0].iterations, "target", APP_AT_MOST, 1.5);
  app_bench_row(run, row, "sets of held cells", (double)who[1].outer / (double)who[1].equations,
                "target", APP_AT_MOST, 10);
  app_bench_row(run, row, "unsolved", (double)(who[0].failed + who[1].failed), "target",
                APP_AT_MOST, 0);
  return 0;
}

int app_bench_lcp(app_bench_run *run)
{
  static const int sizes[] = {64, 128, 256};
  int bad = 0;
  for (int i = 0; i < (run->full ? 3 : 2) && !bad; i++)
    bad = cold(run, sizes[i]);
  if (!bad)
    bad = simulated(run, "half-circle", 128, 20, 2);
  if (!bad)
    bad = simulated(run, "half-sphere", 64, 10, 1.5);
  if (!bad && run->full)
    bad = simulated(run, "half-sphere", 128, 10, 1.5);
  return bad;
}
