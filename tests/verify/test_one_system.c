/* The couplings by one system, `monolithic` and `simultaneous`, against exact answers.

   D1  spring piston on open columns: period 1 s for mass ratios from 0.001 to 10
   D4  added mass of a disk of radius a that a force starts in a fixed circle of radius b:
       C_m = (b^2 + a^2)/(b^2 - a^2)
   D5  a disk released there: a/g = (1 - s)/(s + C_m), s its density over the fluid's
   Where these numbers come from: test_piston.c, test_added_mass.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "closed_run.h"
#include "world_case.h"

static const char *const METHOD[] = {"coupling=monolithic", "coupling=simultaneous"};
enum { METHODS = 2 };

/* ---- D1 -------------------------------------------------------------------------------------- */

static void piston(const char *method, const char *mass)
{
  closed_run r;
  char M[32];
  snprintf(M, sizeof M, "M=%s", mass);
  closed_open(&r, "piston", (const char *const[]){method, M, "n=8", "tolerance=1e-5", NULL});
  double start = mn_world_probe(r.world, 0), last = start, first = 0, crossing = 0, most = 0;
  int crossings = 0;
  while (mn_world_time(r.world) < 2.1 - 1e-9 && r.status == MN_OK) {
    r.status = mn_world_step(r.world, mn_world_time(r.world) + 0.05, &r.info);
    double x = mn_world_probe(r.world, 0), t = mn_world_time(r.world);
    if (last < start && x >= start) {
      crossing = t - r.info.dt * (x - start) / (x - last);
      first = crossings++ ? first : crossing;
    }
    last = x;
    most = fmax(most, t > 1.1 ? fabs(x - start) : 0);
    r.retries += r.info.retries;
  }
  CHECK_OK(r.ctx, r.status);
  printf("%s, M %s: period %.5f s, amplitude %.6f m\n", method, mass,
         (crossing - first) / (crossings - 1), most);
  CHECK_NEAR((crossing - first) / (crossings - 1), 1, 0.005);
  CHECK_NEAR(most, 0.01, 1e-5);
  CHECK(r.retries == 0);
  closed_close(&r);
}

static void test_piston(void **state)
{
  (void)state;
  static const char *const masses[] = {"1", "10", "100", "1000", "10000"};
  for (int k = 0; k < METHODS; k++)
    for (int i = 0; i < 5; i++)
      piston(METHOD[k], masses[i]);
  CHECK_DONE();
}

/* ---- D4, D5 ---------------------------------------------------------------------------------- */

static const char ANNULUS[] =
    "local n, s = param('n', 64, ''), param('s', 0.1, '')\n"
    "local g, push = param('g', 9.8, ''), param('push', 0, '')\n"
    "local coupling = param('coupling', 'monolithic', '')\n"
    "local tolerance = coupling ~= 'simultaneous' and coupling ~= 'weak' and 1e-9 or nil\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {n, n} },\n"
    "  fluid    = smoke { density = 1, gravity = {0, -g}, dt = 1e-3, pressure_tolerance = 1e-12 "
    "},\n"
    "  solids   = { obstacle { shape = difference { box { lo = {-1, -1}, hi = {2, 2} },\n"
    "                                               disk { center = {0.5, 0.5}, radius = 0.4 } } "
    "},\n"
    "               rigid { name = 'disk', density = s, force = {push, 0},\n"
    "                       shape = disk { center = {0.5, 0.5}, radius = 0.2 } } },\n"
    "  dynamics = dynamics { gravity = {0, -g}, dt = 1e-3, contact = false },\n"
    "  coupling = couple { method = coupling, tolerance = tolerance, adapt = false },\n"
    "  probes   = { body_velocity { of = 'disk', axis = 'x' }, body_velocity { of = 'disk', axis = "
    "'y' } },\n"
    "  output   = { frames = 100, every = 1e-3 },\n"
    "}\n";

/* Velocity along the axis after so many steps of 1 ms. */
static double started(const char *method, const char *n, const char *s, const char *g,
                      const char *push, int axis, int steps)
{
  world_case c;
  mn_setting settings[] = {
      {"coupling", strchr(method, '=') + 1}, {"n", n}, {"s", s}, {"g", g}, {"push", push}};
  world_open(&c, ANNULUS, settings, 5, 1);
  while (c.steps < steps && world_step(&c))
    continue;
  CHECK(c.status == MN_OK);
  double v = c.status == MN_OK ? mn_world_probe(c.world, axis) : NAN;
  world_close(&c);
  return v;
}

static void test_added_mass(void **state)
{
  (void)state;
  static const char *const N[] = {"32", "64"}, *const S[] = {"0.01", "1", "100"};
  const double exact = 5.0 / 3, volume = 3.14159265358979323846 * 0.04, bound[] = {0.015, 0.005};
  for (int k = 0; k < METHODS; k++)
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 3; j++) {
        /* a midpoint body under a constant force: v = dt a */
        double v = started(METHOD[k], N[i], S[j], "0", "1e-3", 0, 1);
        double added = (1e-3 * 1e-3 / v) / volume - (j == 0 ? 0.01 : j == 1 ? 1 : 100);
        printf("%s, n %s, s %s: C_m %.5f of %.5f, %+.3f %%\n", METHOD[k], N[i], S[j], added, exact,
               100 * (added / exact - 1));
        CHECK_LE(fabs(added / exact - 1), bound[i]);
      }
  CHECK_DONE();
}

static void test_release(void **state)
{
  (void)state;
  static const char *const S[] = {"0.05", "0.1", "0.5", "2", "10"};
  const double s[] = {0.05, 0.1, 0.5, 2, 10};
  for (int k = 0; k < METHODS; k++)
    for (int i = 0; i < 5; i++) {
      double got = started(METHOD[k], "64", S[i], "9.8", "0", 1, 3) / (3e-3 * 9.8);
      double exact = (1 - s[i]) / (s[i] + 5.0 / 3);
      printf("%s, s %s: %.5f of %.5f, %+.2f %%\n", METHOD[k], S[i], got, exact,
             100 * (got / exact - 1));
      CHECK_LE(fabs(got / exact - 1), 0.02);
    }
  CHECK_DONE();
  CHECK_LE(fabs(started("coupling=weak", "32", "0.05", "9.8", "0", 1, 3) / (3e-3 * 9.8)), 0.6);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_piston),
                                     cmocka_unit_test(test_added_mass),
                                     cmocka_unit_test(test_release)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
