/* The spring piston on open columns on the grid: the scene `piston`, whose period is known,

       T = 2 pi sqrt((M + rho L A)/k) = 1 s for every M,

   since both columns together keep their length, and the water that moves with the piston its mass.
   Swept from M = 1 to 10,000 kg/m^2 at rho L = 1000; all couplings give the same motion. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

typedef struct motion {
  mn_status status;
  double period, amplitude; /* s; m, of the last swing */
  double x[128];            /* m, at frames */
  int frames, steps, solves, most, retries, diverged;
  double imbalance; /* N */
  char why[512];
} motion;

static motion swing(const char *coupling, const char *mass, const char *more, const char *value,
                    double until)
{
  mn_context *ctx = check_context(2);
  mn_model *model = NULL;
  mn_world *world = NULL;
  mn_setting settings[] = {{"coupling", coupling}, {"M", mass}, {"n", "8"}, {more, value}};
  motion m = {0};
  CHECK_OK(ctx, mn_scene_load(ctx, "piston", settings, more ? 4 : 3, &model));
  CHECK_OK(ctx, mn_world_create(ctx, model, &world));
  double start = mn_world_probe(world, 0), last = start, first = 0, crossing = 0;
  double every = mn_model_get(model)->output.every;
  int crossings = 0;
  while (mn_world_time(world) < until - 1e-9 && m.status == MN_OK) {
    mn_step_info info;
    m.status = mn_world_step(world, (mn_world_frame(world) + 1) * every, &info);
    if (m.status != MN_OK)
      break;
    double x = mn_world_probe(world, 0);
    if (last < start && x >= start) { /* upwards */
      crossing = info.time - info.dt * (x - start) / (x - last);
      if (!crossings++)
        first = crossing;
    }
    last = x;
    if (mn_world_frame(world) > m.frames)
      m.x[m.frames++] = x - start;
    if (info.time > until - 1)
      m.amplitude = fmax(m.amplitude, fabs(x - start));
    m.steps++;
    m.solves += info.coupling_iterations;
    m.most = info.coupling_iterations > m.most ? info.coupling_iterations : m.most;
    m.retries += info.retries;
    m.diverged += info.diverged;
    m.imbalance = fmax(m.imbalance, info.imbalance);
  }
  m.period = crossings > 1 ? (crossing - first) / (crossings - 1) : NAN;
  snprintf(m.why, sizeof m.why, "%s", mn_context_message(ctx));
  mn_world_destroy(&world);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  return m;
}

static void test_period_for_every_mass(void **state)
{
  (void)state;
  static const char *const masses[] = {"1", "10", "100", "1000", "10000"};
  for (int i = 0; i < 5; i++) {
    motion m = swing("xpm", masses[i], "tolerance", "1e-5", 2.1);
    printf("M %6s: period %.5f s, amplitude %.5f m, iterations %.3f, at most %d\n", masses[i],
           m.period, m.amplitude, (double)m.solves / m.steps, m.most);
    CHECK(m.status == MN_OK);
    CHECK_NEAR(m.period, 1, 0.005);
    CHECK_LE((double)m.solves / m.steps, 2.05);
    CHECK_LE(m.most, 3);
    CHECK(m.retries == 0);
    CHECK_NEAR(m.amplitude, 0.01, 1e-5); /* loses and gains nothing */
  }
  CHECK_DONE();
}

/* Converged to the same tolerance, all methods give the same motion. */
static void test_couplings_agree(void **state)
{
  (void)state;
  static const char *const methods[] = {"rmi", "aitken", "relaxed"};
  const double tolerance = 1e-5, dx = 0.25 / 8;
  motion one = swing("xpm", "100", "tolerance", "1e-5", 0.5);
  CHECK(one.status == MN_OK && one.frames == 10);
  for (int i = 0; i < 3; i++) {
    motion m = swing(methods[i], "100", "tolerance", "1e-5", 0.5);
    double worst = 0;
    CHECK(m.status == MN_OK);
    for (int f = 0; f < one.frames; f++)
      worst = check_worst(worst, fabs(m.x[f] - one.x[f]));
    printf("%-8s: %.2e m from xpm after 0.5 s, iterations %.2f\n", methods[i], worst,
           (double)m.solves / m.steps);
    /* what each substep may leave adds up over 100 of them */
    CHECK_LE(worst, 10 * tolerance * dx * 10);
    CHECK_LE(m.imbalance, 1e-6 * 250 * 0.4); /* loads of the fluid arrive in the solid */
  }
  motion same = swing("xpm", "100", "published", "true", 0.5);
  CHECK(same.status == MN_OK);
  CHECK_DONE();
}

/* Controls: what must fail does, says so, and never passes off garbage as a result. */
static void test_those_that_diverge_say_so(void **state)
{
  (void)state;
  motion weak = swing("weak", "50", NULL, NULL, 1);
  CHECK(weak.status == MN_FAILED);
  CHECK(strstr(weak.why, "the weak coupling diverged") != NULL);
  motion relaxed = swing("relaxed", "100", "omega", "0.5", 1);
  CHECK(relaxed.status == MN_FAILED);
  CHECK(strstr(relaxed.why, "\"relaxed\" diverged") != NULL);
  CHECK_LE(relaxed.steps, 5);
  printf("  %s\n  %s\n", weak.why, relaxed.why);
  motion heavy = swing("weak", "10000", NULL, NULL, 1);
  CHECK(heavy.status == MN_OK && heavy.most == 1);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_period_for_every_mass),
      cmocka_unit_test(test_couplings_agree),
      cmocka_unit_test(test_those_that_diverge_say_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
