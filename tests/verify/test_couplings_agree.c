/* All couplings solve the same equations: converged to 1e-9 cells, they reach the same state after
   50 substeps; of cloth in smoke, of a light disk in a jet seen by its points and by its freedoms,
   of a soft one, and of a disk in water. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "la/sparse_lu.h"
#include "world_case.h"

static const char SMOKE_DISK[] =
    "local coupling  = param('coupling', 'xpm', '')\n"
    "local tolerance = param('tolerance', 1e-9, '')\n"
    "local seen      = param('rigid', 'points', '')\n"
    "local load      = param('load', 'impulse', '')\n"
    "local frozen    = param('frozen', true, '')\n"
    "local solver    = param('solver', 'auto', '')\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {16, 16}, top = 'open' },\n"
    "  fluid    = smoke { density = 1, gravity = {0, 0}, dt = 0.01, pressure_tolerance = 1e-12 },\n"
    "  sources  = { inflow { shape = box { lo = {0.4, -0.1}, hi = {0.6, 0.09} }, velocity = {0, "
    "1},\n"
    "                        ramp = cosine(0.1) } },\n"
    "  solids   = { rigid { density = 0.3, shape = disk { center = {0.45, 0.4}, radius = 0.13 },\n"
    "                       spin = 1 } },\n"
    "  dynamics = dynamics { gravity = {0, 0}, dt = 0.01 },\n"
    "  coupling = couple { method = coupling, tolerance = tolerance, omega = 0.3, load = load,\n"
    "                      rigid = seen, frozen = frozen, solver = solver, adapt = false, "
    "max_iterations = 2000 },\n"
    "  output   = { frames = 1000, every = 0.01 },\n"
    "}\n";

/* Second order in time: it ends with another velocity than the mean one. */
static const char SOFT_DISK[] =
    "local coupling   = param('coupling', 'xpm', '')\n"
    "local frozen     = param('frozen', true, '')\n"
    "local solver     = param('solver', 'auto', '')\n"
    "local integrator = param('integrator', 'newmark', '')\n"
    "local young      = param('young', 50, '')\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {16, 16}, top = 'open' },\n"
    "  fluid    = smoke { density = 1, gravity = {0, 0}, dt = 0.01, pressure_tolerance = 1e-12 },\n"
    "  sources  = { inflow { shape = box { lo = {0.4, -0.1}, hi = {0.6, 0.09} }, velocity = {0, "
    "1},\n"
    "                        ramp = cosine(0.1) } },\n"
    "  solids   = { elastic { density = 1, young = young, poisson = 0.3, spacing = 0.1,\n"
    "                         shape = disk { center = {0.45, 0.4}, radius = 0.15 } } },\n"
    "  dynamics = dynamics { gravity = {0, 0}, dt = 0.01, integrator = integrator },\n"
    "  coupling = couple { method = coupling, tolerance = 1e-9, frozen = frozen, solver = solver,\n"
    "                      adapt = false, max_iterations = 2000 },\n"
    "  output   = { frames = 1000, every = 0.01 },\n"
    "}\n";

static const char WATER_DISK[] =
    "local coupling  = param('coupling', 'xpm', '')\n"
    "local tolerance = param('tolerance', 1e-9, '')\n"
    "local seen      = param('rigid', 'points', '')\n"
    "local load      = param('load', 'impulse', '')\n"
    "local frozen    = param('frozen', true, '')\n"
    "local solver    = param('solver', 'auto', '')\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {16, 16}, top = 'open' },\n"
    "  fluid    = water { gravity = {0, -9.8}, dt = 0.005, pressure_tolerance = 1e-12,\n"
    "                     walls = 'sticking', initial_water = box { lo = {-1, -1}, hi = {2, 0.6} } "
    "},\n"
    "  solids   = { rigid { density = 300, shape = disk { center = {0.45, 0.3}, radius = 0.13 } } "
    "},\n"
    "  dynamics = dynamics { gravity = {0, -9.8}, dt = 0.005 },\n"
    "  coupling = couple { method = coupling, tolerance = tolerance, omega = 0.3, load = load,\n"
    "                      rigid = seen, frozen = frozen, solver = solver, adapt = false, "
    "max_iterations = 2000 },\n"
    "  output   = { frames = 1000, every = 0.005 },\n"
    "}\n";

enum { STEPS = 50 };

/* The state but for the coupling's own history: all numbers, and the greatest of each array. */
typedef struct snapshot {
  int count;
  char name[MN_ARRAYS_MAX][48];
  size_t size[MN_ARRAYS_MAX];
  double *data[MN_ARRAYS_MAX];
} snapshot;

static void take(world_case *c, snapshot *s)
{
  mn_array arrays[MN_ARRAYS_MAX];
  int count = mn_world_arrays(c->world, arrays);
  *s = (snapshot){0};
  mn_array own[MN_ARRAYS_MAX];
  int of_coupling = mn_coupling_arrays(c->world->coupling, own, MN_ARRAYS_MAX);
  if (c->world->rescue)
    of_coupling += mn_coupling_arrays(c->world->rescue, own, MN_ARRAYS_MAX);
  for (int i = 0; i < count - of_coupling; i++) {
    size_t bytes = mn_array_bytes(&arrays[i]);
    if (arrays[i].type != MN_F64)
      continue;
    snprintf(s->name[s->count], sizeof s->name[0], "%s", arrays[i].name);
    s->size[s->count] = bytes / sizeof(double);
    s->data[s->count] = malloc(bytes + 1);
    if (bytes)
      memcpy(s->data[s->count], arrays[i].data, bytes);
    s->count++;
  }
}

static void drop(snapshot *s)
{
  for (int i = 0; i < s->count; i++)
    free(s->data[i]);
}

/* Largest difference of an array over its largest number. */
static double distance(const snapshot *a, const snapshot *b, const char **where)
{
  double worst = 0;
  *where = "nothing";
  CHECK(a->count == b->count && a->count > 0);
  for (int i = 0; i < a->count; i++) {
    double most = 0, off = 0;
    CHECK(a->size[i] == b->size[i]);
    for (size_t k = 0; k < a->size[i] && k < b->size[i]; k++) {
      most = fmax(most, fabs(a->data[i][k]));
      off = check_worst(off, fabs(a->data[i][k] - b->data[i][k]));
    }
    if (most > 0 && !(off / most <= worst)) {
      worst = off / most;
      *where = a->name[i];
    }
  }
  return worst;
}

static void run(const char *scene, const mn_setting *settings, int count, snapshot *s,
                double *average)
{
  world_case c;
  world_open(&c, scene, settings, count, 1);
  while (c.steps < STEPS && world_step(&c))
    continue;
  CHECK_OK(c.ctx, c.status);
  CHECK(c.retries == 0);
  *average = (double)c.solves / c.steps;
  take(&c, s);
  world_close(&c);
}

static double agree(const char *what, const char *scene, const mn_setting *settings, int count,
                    const snapshot *one)
{
  snapshot other;
  double average;
  const char *where;
  run(scene, settings, count, &other, &average);
  double off = distance(one, &other, &where);
  printf("%s", what);
  for (int i = 0; i < count; i++)
    printf(", %s %s", settings[i].name, settings[i].value);
  printf(": %.1e off (%s), iterations %.1f\n", off, where, average);
  drop(&other);
  return off;
}

static void check_all(const char *what, const char *scene)
{
  const mn_setting methods[] = {
      {"coupling", "rmi"}, {"coupling", "aitken"}, {"coupling", "relaxed"}};
  const mn_setting pressure = {"load", "pressure"}, loose = {"tolerance", "0.05"};
  snapshot one;
  double average;
  run(scene, NULL, 0, &one, &average);
  printf("%s, xpm: iterations %.1f\n", what, average);
  for (int m = 0; m < 3; m++)
    CHECK_LE(agree(what, scene, &methods[m], 1, &one), 1e-6);
  CHECK_DONE();
  CHECK_LE(agree(what, scene, &pressure, 1, &one), 1e-6);
  CHECK_MUST_HAVE_FAILED();
  CHECK_LE(agree(what, scene, &loose, 1, &one), 1e-6);
  CHECK_MUST_HAVE_FAILED();
  drop(&one);
}

/* By points or by freedoms, which predict a turning body a little elsewhere. */
static void check_freedoms(const char *what, const char *scene, const char *frozen)
{
  const mn_setting settings[] = {{"frozen", frozen}, {"rigid", "freedoms"}};
  snapshot one;
  double average;
  run(scene, settings, 1, &one, &average);
  CHECK_LE(agree(what, scene, settings, 2, &one), 1e-6);
  drop(&one);
  CHECK_DONE();
}

/* Against the one system, by each of its solvers; frozen, all couplings meet the bodies where
   mn_boxes_expect says, wherever they begin to iterate. */
static void check_monolithic(const char *what, const char *scene, const char *frozen)
{
  static const char *const solvers[] = {"direct", "cg", "minres"};
  mn_setting settings[] = {{"frozen", frozen}, {"coupling", "monolithic"}, {"solver", "direct"}};
  snapshot one;
  double average;
  run(scene, settings, 1, &one, &average);
  for (int k = 0; k < 3; k++) {
    settings[2].value = solvers[k];
    if (k || mn_lu_available())
      CHECK_LE(agree(what, scene, settings, 3, &one), 1e-6);
  }
  CHECK_DONE();
  drop(&one);
}

static void test_smoke_disk(void **state)
{
  (void)state;
  check_all("disk in smoke", SMOKE_DISK);
  for (int frozen = 0; frozen < 2; frozen++) {
    check_freedoms("disk in smoke", SMOKE_DISK, frozen ? "true" : "false");
    check_monolithic("disk in smoke", SMOKE_DISK, frozen ? "true" : "false");
  }
}

static void test_water_disk(void **state)
{
  (void)state;
  check_all("disk in water", WATER_DISK);
  check_monolithic("disk in water", WATER_DISK, "false");
  check_monolithic("disk in water", WATER_DISK, "true");
}

static void test_soft_disk(void **state)
{
  (void)state;
  static const char *const RULE[][2] = {{"newmark", "50"}, {"midpoint", "200"}};
  for (int k = 0; k < 2; k++) {
    mn_setting settings[] = {
        {"integrator", RULE[k][0]}, {"young", RULE[k][1]}, {"coupling", "monolithic"}};
    snapshot one;
    double average;
    run(SOFT_DISK, settings, 2, &one, &average);
    CHECK_LE(agree("soft disk in smoke", SOFT_DISK, settings, 3, &one), 1e-6);
    drop(&one);
  }
  CHECK_DONE();
}

static void test_cloth(void **state)
{
  (void)state;
  check_all("cloth in smoke", WORLD_CLOTH);
  check_monolithic("cloth in smoke", WORLD_CLOTH, "true");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_smoke_disk), cmocka_unit_test(test_water_disk),
      cmocka_unit_test(test_soft_disk), cmocka_unit_test(test_cloth)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
