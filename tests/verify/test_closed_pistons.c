/* Pistons on enclosed fluid: p0 is known exactly, and nothing may move.

   Supported body [Akbay thesis, 4.3.1]: p0 = M g/A + rho g H/2 = 14700 + 3.92 in the first substep.
   Hydraulic piston [4.3.5], cylinders of 6 m and 2 m joined by a tube of 2 m x 2 m: p = 9849 - 9.8
   y, its mean over the fluid 9825.836364. Multi-section piston [4.3.8]: three regions, 158 kg/m^2
   above y = 0 on both sides; means 1522.266667, 989.8, 504.7. Dimensions that the thesis has in
   figures only are own ones. Long runs: long_closed_*.c. Chambers of a few cells, and layers
   thinner than a cell, bear their pistons as large ones do, and take in what is pumped. */
#include "closed_run.h"
#include "math/vec.h"
#include "world_case.h"

static const double DX = 0.025;

/* Relaxed as printed: the force is right to 1e-4 of the weight after 0.15 s. */
static void test_supported(void **state)
{
  (void)state;
  closed_run r;
  closed_open(&r, "supported-body", NULL);
  CHECK(closed_until(&r, 0.01));
  CHECK_NEAR(r.info.closed_regions, 1, 0);
  CHECK_NEAR(r.info.region[0].p0 / 14703.92, 1, 1e-9);
  CHECK(closed_until(&r, 1));
  CHECK_NEAR(mn_world_probe(r.world, 0), 0.875, 1e-3 * DX);
  CHECK_NEAR(mn_world_probe(r.world, 2) / 8820, 1, 1e-8);
  CHECK_NEAR(r.info.region[0].p0 / 14703.92, 1, 1e-8);
  CHECK_NEAR(mn_world_probe(r.world, 3), 14707.84 - 9.8 * DX / 2, 1e-3);
  CHECK_LE(r.outflow, 1e-10);
  CHECK_LE(closed_mean(&r), 2.5);
  double fast = closed_mean(&r);
  closed_close(&r);
  closed_open(&r, "supported-body",
              (const char *const[]){"coupling=relaxed", "closed=solid", "published=true", NULL});
  CHECK(closed_until(&r, 0.3));
  CHECK_NEAR(mn_world_probe(r.world, 2) / 8820, 1, 1e-4);
  CHECK_NEAR(mn_world_probe(r.world, 0), 0.875, 1e-3 * DX);
  printf("iterations: xpm %g, relaxed %g\n", fast, closed_mean(&r));
  CHECK_LE(3 * fast, closed_mean(&r));
  closed_close(&r);
  CHECK_DONE();
}

/* Controls: without p0 the body falls; by the fluid's momentum it is not borne either. */
static void fall(const char *closed)
{
  closed_run r;
  char setting[32];
  snprintf(setting, sizeof setting, "closed=%s", closed);
  closed_open(&r, "supported-body",
              (const char *const[]){setting, "coupling=relaxed", "published=true", NULL});
  int runs = closed_until(&r, 0.1);
  printf("%s: %s, at %g m\n", closed, runs ? "runs" : "fails", mn_world_probe(r.world, 0));
  CHECK(runs);
  CHECK_NEAR(mn_world_probe(r.world, 0), 0.875, 1e-3 * DX);
  closed_close(&r);
  CHECK_MUST_HAVE_FAILED();
}

static void test_without(void **state)
{
  (void)state;
  fall("none");
}

static void test_fluid_momentum(void **state)
{
  (void)state;
  fall("fluid");
}

static void test_hydraulic(void **state)
{
  (void)state;
  closed_run r;
  closed_open(&r, "hydraulic-piston", NULL);
  CHECK(closed_until(&r, 2));
  CHECK_NEAR(r.info.closed_regions, 1, 0);
  CHECK_NEAR(r.info.region[0].p0 / (9849 - 9.8 * 104.0 / 44), 1, 1e-6);
  CHECK_NEAR(mn_world_probe(r.world, 0), 5.5, 1e-3 * 0.2);
  CHECK_NEAR(mn_world_probe(r.world, 1), 5.5, 1e-3 * 0.2);
  CHECK_LE(r.outflow, 1e-10);
  closed_close(&r);
  CHECK_DONE();
}

/* Held by the force f = A_R g rho_f (y_L - y_R) = 39.2 N until 1 s. */
static void test_held(void **state)
{
  (void)state;
  closed_run r;
  closed_open(&r, "hydraulic-piston", (const char *const[]){"force=true", "tolerance=1e-8", NULL});
  CHECK(closed_until(&r, 0.9));
  CHECK_NEAR(r.info.region[0].p0 / (98 + 9.8 * (5.5 - 107.0 / 44)), 1, 1e-6);
  CHECK_NEAR(mn_world_probe(r.world, 0), 6, 1e-3 * 0.2);
  CHECK_NEAR(mn_world_probe(r.world, 1), 4, 1e-3 * 0.2);
  /* let go, what the one sinks lifts the other three times as far: A_L dy_L = -A_R dy_R */
  CHECK(closed_until(&r, 5));
  double left = mn_world_probe(r.world, 0) - 6, right = mn_world_probe(r.world, 1) - 4;
  CHECK_LE(left, -0.01);
  CHECK_NEAR(right / left, -3, 1e-9);
  CHECK_LE(r.outflow, 1e-9);
  closed_close(&r);
  CHECK_DONE();
}

/* Pumped up through the floor: it rises as the integral of the flow; p0 is that of its weight and
   acceleration in the middle of the substep, without the to and fro of one multiplier alone. */
static const char PUMP[] =
    "local dt = 1 / 30\n"
    "return scene {\n"
    "  domain   = box { size = {0.6, 1.2}, cells = {24, 48}, top = 'open' },\n"
    "  fluid    = smoke { density = 1, gravity = {0, -9.8}, outside = 'empty', max_dt = dt },\n"
    "  sources  = { inflow { shape = box { lo = {0.2, -1}, hi = {0.4, 0.025} }, ramp = cosine(1),\n"
    "                        velocity = {0, 0.1} } },\n"
    "  solids   = { rigid { name = 'body', joint = 'slider', joint_axis = {0, 1}, density = 1e4,\n"
    "                       shape = box { lo = {0, 0.8}, hi = {0.6, 0.95} } } },\n"
    "  dynamics = dynamics { gravity = {0, -9.8}, dt = dt, contact = false },\n"
    "  coupling = couple { tolerance = 1e-5 },\n"
    "  probes   = { position { of = 'body', axis = 'y' }, body_velocity { of = 'body', axis = 'y' "
    "} },\n"
    "  output   = { frames = 15, every = 0.1 },\n"
    "}\n";

static void test_pumped(void **state)
{
  (void)state;
  world_case c;
  double worst = 0, swing = 0, last[2] = {0};
  world_open(&c, PUMP, NULL, 0, 1);
  for (int n = 0; mn_world_time(c.world) < 1.5 - 1e-9 && world_step(&c); n++) {
    double t = mn_world_time(c.world), middle = t - c.info.dt / 2, flow = 0.02, A = 0.6;
    double rate = middle < 1 ? flow * MN_PI / 2 * sin(MN_PI * middle) : 0;
    double y = 0.8 + flow / A * closed_ramped(t), p0 = c.info.region[0].p0;
    double fluid = (y * A * y / 2 - 0.005 * 0.0125) / (y * A - 0.005); /* its middle */
    double exact = 14700 + 1500 * rate / A + (9.8 + rate / A) * (y - fluid);
    CHECK_NEAR(mn_world_probe(c.world, 0), y + 0.075, 1e-10);
    CHECK_NEAR(mn_world_probe(c.world, 1), flow / A * (t < 1 ? (1 - cos(MN_PI * t)) / 2 : 1), 1e-4);
    int kink = t < 0.15 || fabs(t - 1) < 0.15; /* there the acceleration has one */
    worst = check_worst(worst, kink ? 0 : fabs(p0 - exact));
    swing = check_worst(swing, kink ? 0 : fabs(p0 - 2 * last[0] + last[1]));
    last[1] = last[0], last[0] = p0;
  }
  CHECK_OK(c.ctx, c.status);
  printf("pumped: p0 off by up to %.3g Pa, second differences up to %.3g Pa\n", worst, swing);
  CHECK_LE(worst, 0.3); /* the acceleration alone takes 79 Pa */
  CHECK_LE(swing, 0.9); /* its own: 1500 pi^3/2 0.02/0.6 dt^2 = 0.86 Pa */
  world_close(&c);
  CHECK_DONE();
}

static void test_sections(void **state)
{
  (void)state;
  closed_run r;
  closed_open(&r, "multi-piston", (const char *const[]){"n=40", "tolerance=1e-9", NULL});
  CHECK(closed_until(&r, 2));
  CHECK_NEAR(r.info.closed_regions, 3, 0);
  CHECK_NEAR(closed_p0(&r, 4, 2.7) / 1522.2666667, 1, 1e-6);
  CHECK_NEAR(closed_p0(&r, 3, 8) / 989.8, 1, 1e-6);
  CHECK_NEAR(closed_p0(&r, 9, 7.5) / 504.7, 1, 1e-6);
  static const double at[4] = {9.5, 6.5, 9.25, 5};
  for (int i = 0; i < 4; i++)
    CHECK_NEAR(mn_world_probe(r.world, i), at[i], 1e-3 * 0.25);
  CHECK_LE(r.outflow, 1e-10);
  closed_close(&r);
  CHECK_DONE();
}

/* Of 10 cells or fewer in 2D, of 27 in 3D, and below 1.4 cells high, chambers had no p0 at the
   start: pistons fell freely, with exit 0, or the run ended. */
static const char CHAMBER[] =
    "local h, half = param('h', 0.1, 'm'), param('half', 0.1, 'm')\n"
    "local u, deep = param('u', 0, ''), param('deep', false, '')\n"
    "local function block(x0, y0, x1, y1)\n"
    "  return deep and box { lo = {x0, y0, -1}, hi = {x1, y1, 2} }\n"
    "    or box { lo = {x0, y0}, hi = {x1, y1} }\n"
    "end\n"
    "local l, r = 0.5 - half, 0.5 + half\n"
    "return scene {\n"
    "  domain   = deep and box { size = {1, 1, 0.25}, cells = {20, 20, 5}, top = 'open' }\n"
    "             or box { size = {1, 1}, cells = {20, 20}, top = 'open' },\n"
    "  fluid    = smoke { density = 1, gravity = deep and {0, -9.81, 0} or {0, -9.81},\n"
    "                     max_dt = 0.02, outside = 'empty' },\n"
    "  sources  = u > 0 and { inflow { shape = block(l, -1, r, 0.05),\n"
    "                                  velocity = deep and {0, u, 0} or {0, u} } } or {},\n"
    "  solids   = {\n"
    "    obstacle { shape = block(-1, -1, l, 2) }, obstacle { shape = block(r, -1, 2, 2) },\n"
    "    rigid { name = 'p', density = 100, joint = 'slider',\n"
    "            joint_axis = deep and {0, 1, 0} or {0, 1},\n"
    "            shape = deep and box { lo = {l, h, 0}, hi = {r, h + 0.2, 0.25} }\n"
    "                    or box { lo = {l, h}, hi = {r, h + 0.2} } } },\n"
    "  dynamics = dynamics { dt = 0.02, contact = false },\n"
    "  coupling = couple { method = param('coupling', 'xpm', ''), tolerance = 1e-3 },\n"
    "  probes   = { position { of = 'p', axis = 'y' }, force { of = 'p', axis = 'y' } },\n"
    "  output   = { frames = 1, every = 0.4 },\n"
    "}\n";

static void bears(const mn_setting *settings, int count, double weight, double speed)
{
  world_case c;
  world_open(&c, CHAMBER, settings, count, 1);
  double from = mn_world_probe(c.world, 0);
  while (c.info.time < 0.4 - 1e-9 && world_step(&c))
    ;
  CHECK_OK(c.ctx, c.status);
  double rise = mn_world_probe(c.world, 0) - from, force = mn_world_probe(c.world, 1);
  for (int k = 0; k < count; k++)
    printf("%s %s, ", settings[k].name, settings[k].value);
  printf("rises by %.9f m, force %.6f N\n", rise, force);
  CHECK_NEAR(rise, 0.4 * speed, 1e-6);
  CHECK_NEAR(force / weight, 1, 1e-4);
  world_close(&c);
}

static void test_small_chambers(void **state)
{
  (void)state;
  static const char *const method[] = {"xpm", "rmi", "monolithic"}, *const layer[] = {
                                                                        "0.03", "0.05", "0.07"};
  for (int m = 0; m < 3; m++) {
    bears((mn_setting[]){{"coupling", method[m]}}, 1, 39.24, 0);
    bears((mn_setting[]){{"coupling", method[m]}, {"h", "0.15"}, {"u", "0.1"}}, 3, 39.24, 0.1);
    for (int k = 0; k < 3; k++)
      bears((mn_setting[]){{"coupling", method[m]}, {"h", layer[k]}, {"half", "0.5"}}, 3, 196.2, 0);
    bears((mn_setting[]){{"coupling", method[m]}, {"deep", "true"}, {"h", "0.05"}}, 3, 9.81, 0);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_supported),      cmocka_unit_test(test_without),
      cmocka_unit_test(test_fluid_momentum), cmocka_unit_test(test_hydraulic),
      cmocka_unit_test(test_held),           cmocka_unit_test(test_sections),
      cmocka_unit_test(test_pumped),         cmocka_unit_test(test_small_chambers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
