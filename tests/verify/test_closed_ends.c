/* Closed boxes with bodies wholly inside, by all rules in time: an elastic disk that flies through
   a box of smoke keeps its area, by p0 alone; a thick ring is blown up.

   One system converges to any tolerance in the substep that is asked for: how far walls turn in its
   first step has nothing to do with the tolerance. `xpm` ends at the same state, whether velocities
   at the end are those of the rule or settled by the volumes, and both keep the volumes to
   rounding. Forces are no rougher than under an open top, where there are no volumes to keep (rough
   they are: a body that crosses the grid is struck by it, and rings). Two light pistons on one
   fluid swing alike: a first-order error would damp them. So under bodies of two rules, a rigid
   frame that is pushed and a skin in the smoke that it holds: all smoke starts with them. Two disks
   that meet and part again do so in substeps of ordinary length. */
#include <math.h>
#include <stdio.h>

#include "world_case.h"

static const char DISK[] =
    "local top, n = param('top', 'slip', ''), 32\n"
    "local s, young = param('s', 2, ''), param('young', 500, '')\n"
    "local dt = param('dt', 0.01, '')\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {n, n}, top = top },\n"
    "  fluid    = smoke { density = 1, gravity = {0, 0}, max_dt = dt },\n"
    "  solids   = { elastic { name = 'b', density = s, young = young, velocity = {1, 0},\n"
    "               shape = disk { center = {0.3, 0.5}, radius = 0.15 }, spacing = 0.04 } },\n"
    "  dynamics = dynamics { dt = dt, integrator = param('integ', 'euler', ''),\n"
    "                        gravity = {0, 0} },\n"
    "  coupling = couple { method = param('coupling', 'monolithic', '', couplings),\n"
    "                      tolerance = param('tol', 1e-8, ''),\n"
    "                      adapt = param('adapt', true, '') },\n"
    "  probes   = { position { of = 'b', axis = 'x' }, body_velocity { of = 'b', axis = 'x' },\n"
    "               force { of = 'b', axis = 'x' }, kinetic_energy {}, body_energy { of = 'b' } "
    "},\n"
    "  output   = { frames = 60, every = 0.02 },\n"
    "}\n";

static const char RING[] =
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {32, 32}, top = 'open', left = 'open',\n"
    "                   right = 'open', bottom = 'open' },\n"
    "  fluid    = smoke { density = 1, gravity = {0, 0}, max_dt = 0.01 },\n"
    "  sources  = { inflow { shape = disk { center = {0.5, 0.5}, radius = 0.06 }, speed = 0.1,\n"
    "                        ramp = cosine(0.1) } },\n"
    "  solids   = { elastic { name = 'b', density = 2, young = 500, spacing = 0.04,\n"
    "               shape = disk { center = {0.5, 0.5}, radius = 0.35 },\n"
    "               cut = disk { center = {0.5, 0.5}, radius = 0.2 } } },\n"
    "  dynamics = dynamics { dt = 0.01, integrator = param('integ', 'euler', ''),\n"
    "                        gravity = {0, 0}, contact = false },\n"
    "  coupling = couple { method = param('coupling', 'monolithic', '', couplings),\n"
    "                      tolerance = 1e-8, adapt = param('adapt', true, '') },\n"
    "  probes   = { position { of = 'b', at = {0.3, 0.5}, axis = 'x' },\n"
    "               body_velocity { of = 'b', axis = 'x' }, force { of = 'b', axis = 'x' },\n"
    "               kinetic_energy {}, body_energy { of = 'b' } },\n"
    "  output   = { frames = 10, every = 0.05 },\n"
    "}\n";

static const char PISTONS[] =
    "return scene {\n"
    "  domain   = box { size = {3, 6}, cells = {24, 48}, top = 'open' },\n"
    "  fluid    = smoke { density = 10, gravity = {0, -9.8}, outside = 'empty', max_dt = 0.02 },\n"
    "  solids   = {\n"
    "    obstacle { shape = box { lo = {1, 1}, hi = {2, 6.5} } },\n"
    "    rigid { name = 'left', joint = 'slider', joint_axis = {0, 1}, density = 1,\n"
    "            shape = box { lo = {0, 3.5}, hi = {1, 4.5} } },\n"
    "    rigid { name = 'right', joint = 'slider', joint_axis = {0, 1}, density = 1,\n"
    "            shape = box { lo = {2, 2.5}, hi = {3, 3.5} } } },\n"
    "  dynamics = dynamics { gravity = {0, -9.8}, dt = 0.02, contact = false },\n"
    "  coupling = couple { tolerance = 1e-4,\n"
    "                      method = param('coupling', 'xpm', '', couplings) },\n"
    "  probes   = { position { of = 'left', axis = 'y' } },\n"
    "  output   = { frames = 60, every = 0.1 },\n"
    "}\n";

/* Midpoint rules both: that of the skin damps what the substep does not resolve, that of the frame
   does not. */
static const char FRAME[] =
    "return scene {\n"
    "  domain   = box { size = {2, 1}, cells = {48, 24}, top = 'open', right = 'open',\n"
    "                   left = 'open', bottom = 'open' },\n"
    "  fluid    = smoke { density = 1, gravity = {0, 0}, outside = 'empty', max_dt = 0.01 },\n"
    "  solids   = {\n"
    "    rigid { name = 'frame', density = 2, force = {3, 0},\n"
    "            shape = difference { box { lo = {0.2, 0.15}, hi = {0.9, 0.85} },\n"
    "                                 box { lo = {0.28, 0.23}, hi = {0.82, 0.77} } } },\n"
    "    rod { name = 'skin', shape = disk { center = {0.55, 0.5}, radius = 0.13 },\n"
    "          density = 0.2, stretch = 50, bend = 0.001, spacing = 1 / 48 } },\n"
    "  dynamics = dynamics { gravity = {0, 0}, dt = 0.01, integrator = 'midpoint' },\n"
    "  coupling = couple { method = param('coupling', 'xpm', '', couplings), tolerance = 1e-6 },\n"
    "  probes   = { body_velocity { of = 'frame', axis = 'x' },\n"
    "               body_velocity { of = 'skin', axis = 'x' } },\n"
    "  output   = { frames = 8, every = 0.01 },\n"
    "}\n";

static const char MEETING[] =
    "local function ball(name, x, v)\n"
    "  return elastic { name = name, density = 2, young = 500, spacing = 0.04, velocity = {v, 0},\n"
    "                   shape = disk { center = {x, 0.5}, radius = 0.12 } }\n"
    "end\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {32, 32}, top = 'slip' },\n"
    "  fluid    = smoke { density = 1, gravity = {0, 0}, max_dt = 0.01 },\n"
    "  solids   = { ball('a', 0.3, 1), ball('b', 0.7, -1) },\n"
    "  dynamics = dynamics { dt = 0.01, integrator = param('integ', 'euler', ''),\n"
    "                        gravity = {0, 0}, contact = param('contact', true, '') },\n"
    "  coupling = couple { method = param('coupling', 'xpm', '', couplings),\n"
    "                      tolerance = param('tol', 1e-6, '') },\n"
    "  probes   = { position { of = 'a', axis = 'x' } },\n"
    "  output   = { frames = 40, every = 0.01 },\n"
    "}\n";

enum { PROBES = 5 };

/* Stiff and heavy, where it stopped at the first substep; soft and light, where 13 were halved. */
static void test_tight(void **state)
{
  (void)state;
  static const char *const TOL[] = {"1e-8", "1e-10", "1e-4", "1e-8"};
  static const double UNTIL[] = {0.2, 0.1, 0.6, 0.3};
  for (int k = 0; k < 4; k++) {
    world_case c;
    mn_setting set[] = {
        {"tol", TOL[k]}, {"s", k < 2 ? "2" : "0.1"}, {"young", k < 2 ? "500" : "10"}};
    world_open(&c, DISK, set, 3, 1);
    while (mn_world_time(c.world) < UNTIL[k] - 1e-9 && world_step(&c))
      continue;
    CHECK_OK(c.ctx, c.status);
    printf("tolerance %s: %d substeps, %d halved, %d systems at most\n", TOL[k], c.steps, c.retries,
           c.most);
    CHECK_NEAR(c.steps, 100 * UNTIL[k], 1e-6);
    CHECK_NEAR(c.retries, 0, 0);
    CHECK_LE(c.most, 5);
    world_close(&c);
  }
  CHECK_DONE();
}

/* Greatest differences, each over the greatest of its kind; of the first region's p0, too. */
typedef struct difference {
  double probe, p0;
  double outflow[2]; /* m^2/s */
} difference;

static difference compare(const char *scene, const char *const integ[2],
                          const char *const method[2], double until)
{
  world_case c[2];
  difference d = {0};
  double most[PROBES] = {0}, off[PROBES] = {0}, most_p0 = 0, off_p0 = 0;
  for (int k = 0; k < 2; k++) {
    /* the same substeps, however many solves they take */
    mn_setting set[] = {{"integ", integ[k]}, {"coupling", method[k]}, {"adapt", "false"}};
    world_open(&c[k], scene, set, 3, 1);
  }
  while (mn_world_time(c[0].world) < until - 1e-9 && world_step(&c[0]) && world_step(&c[1])) {
    CHECK(c[0].info.closed_regions == 1 && c[1].info.closed_regions == 1);
    for (int p = 0; p < PROBES; p++) {
      double a = mn_world_probe(c[0].world, p), b = mn_world_probe(c[1].world, p);
      most[p] = fmax(most[p], fabs(a));
      off[p] = check_worst(off[p], fabs(a - b));
    }
    double a = c[0].info.region[0].p0, b = c[1].info.region[0].p0;
    most_p0 = fmax(most_p0, fabs(a));
    off_p0 = check_worst(off_p0, fabs(a - b));
    for (int k = 0; k < 2; k++)
      d.outflow[k] = check_worst(d.outflow[k], fabs(c[k].info.region[0].net_outflow));
  }
  for (int p = 0; p < PROBES; p++)
    if (most[p] > 1e-6) /* the ring stands still */
      d.probe = check_worst(d.probe, off[p] / most[p]);
  d.p0 = off_p0 / most_p0;
  for (int k = 0; k < 2; k++) {
    CHECK_OK(c[k].ctx, c[k].status);
    CHECK_NEAR(c[k].retries, 0, 0);
    world_close(&c[k]);
  }
  printf("%s %s, %s %s: probes %.1e, p0 %.1e; net outflow %.1e, %.1e m^2/s\n", integ[0], method[0],
         integ[1], method[1], d.probe, d.p0, d.outflow[0], d.outflow[1]);
  return d;
}

static const char *const RULE[] = {"euler", "newmark", "midpoint"};
enum { RULES = 3 };

static void agree(const char *scene, double until)
{
  static const char *const METHOD[] = {"monolithic", "xpm"};
  for (int k = 0; k < RULES; k++) {
    difference d = compare(scene, (const char *const[]){RULE[k], RULE[k]}, METHOD, until);
    CHECK_LE(d.probe, 2e-6);
    CHECK_LE(d.p0, 1e-6);
    CHECK_LE(d.outflow[0], 1e-9);
    CHECK_LE(d.outflow[1], 1e-10);
  }
}

static void test_disk(void **state)
{
  (void)state;
  agree(DISK, 0.2);
  CHECK_DONE();
}

static void test_ring(void **state)
{
  (void)state;
  agree(RING, 0.3);
  CHECK_DONE();
}

/* What the comparison must see: another rule in time. */
static void test_other_rule(void **state)
{
  (void)state;
  difference d = compare(DISK, (const char *const[]){"newmark", "midpoint"},
                         (const char *const[]){"monolithic", "monolithic"}, 0.1);
  CHECK_LE(d.probe, 2e-6);
  CHECK_MUST_HAVE_FAILED();
}

/* Mean square of how the force alternates from substep to substep. */
static double roughness(const char *top, const char *integ)
{
  world_case c;
  double f[2] = {0}, sum = 0;
  mn_setting set[] = {{"integ", integ}, {"top", top}, {"dt", "0.0025"}};
  world_open(&c, DISK, set, 3, 1);
  while (mn_world_time(c.world) < 0.2 - 1e-9 && world_step(&c)) {
    double now = mn_world_probe(c.world, 2), alternates = (now - 2 * f[1] + f[0]) / 4;
    sum += c.steps > 20 ? alternates * alternates : 0;
    f[0] = f[1];
    f[1] = now;
  }
  CHECK_OK(c.ctx, c.status);
  double mean = sqrt(sum / (c.steps - 20));
  world_close(&c);
  return mean;
}

static void test_rough(void **state)
{
  (void)state;
  for (int k = 0; k < 2; k++) {
    double closed = roughness("slip", RULE[k]), open = roughness("open", RULE[k]);
    printf("%s: force alternates by %.4f N, under an open top by %.4f N\n", RULE[k], closed, open);
    CHECK_LE(closed, 1.5 * open);
  }
  CHECK_DONE();
}

/* m, where the left one turns first, and then. */
static void swing(const char *method, double turn[2])
{
  world_case c;
  int turns = 0;
  double y[2] = {3.5, 3.5};
  mn_setting set = {"coupling", method};
  world_open(&c, PISTONS, &set, 1, 1);
  while (turns < 2 && mn_world_time(c.world) < 6 && world_step(&c)) {
    double now = mn_world_probe(c.world, 0) - 0.5;
    if (c.steps > 2 && (now - y[1]) * (y[1] - y[0]) < 0)
      turn[turns++] = y[1];
    y[0] = y[1];
    y[1] = now;
    CHECK_LE(fabs(c.info.region[0].net_outflow), 1e-10);
  }
  CHECK_OK(c.ctx, c.status);
  CHECK(turns == 2);
  world_close(&c);
}

static void test_swing(void **state)
{
  (void)state;
  double one[2] = {0}, both[2] = {0};
  swing("monolithic", one);
  swing("xpm", both);
  printf("light pistons turn at %.6f, %.6f m, under xpm %.6f, %.6f\n", one[0], one[1], both[0],
         both[1]);
  for (int k = 0; k < 2; k++)
    CHECK_NEAR(both[k], one[k], 1e-4);
  CHECK_DONE();
}

enum { PUSHES = 8 };

/* m/s, of frame and skin after each substep. */
static void push(const char *method, double v[PUSHES][2])
{
  world_case c;
  mn_setting set = {"coupling", method};
  world_open(&c, FRAME, &set, 1, 1);
  for (int k = 0; k < PUSHES && world_step(&c); k++)
    for (int p = 0; p < 2; p++)
      v[k][p] = mn_world_probe(c.world, p);
  CHECK_OK(c.ctx, c.status);
  CHECK(c.steps == PUSHES && c.retries == 0);
  world_close(&c);
}

/* What fills the frame moves with it on the whole: m_frame + rho A, besides the skin's own. The
   fluid that sees means over a substep is half of one behind, from the first one on, for ever. */
static void test_frame(void **state)
{
  (void)state;
  const double heavy = 2 * (0.7 * 0.7 - 0.54 * 0.54) + 0.54 * 0.54;
  const double skin = 0.2 * 2 * 3.14159265358979323846 * 0.13;
  double one[PUSHES][2] = {{0}}, both[PUSHES][2] = {{0}};
  push("monolithic", one);
  push("xpm", both);
  for (int k = 0; k < PUSHES; k++) {
    double momentum = heavy * both[k][0] + skin * both[k][1];
    printf("frame %.6f, skin %.6f m/s; one system %.6f, %.6f; %.4f Ns of %.4f\n", both[k][0],
           both[k][1], one[k][0], one[k][1], momentum, 0.03 * (k + 1));
    CHECK_NEAR(momentum, 0.03 * (k + 1), 0.0005);
    for (int p = 0; p < 2; p++)
      CHECK_NEAR(both[k][p], one[k][p], 1e-5);
  }
  CHECK_DONE();
}

typedef struct meeting {
  int steps;
  double x, off; /* m, where the left one is after 0.4 s; of the region's volume, the worst error */
} meeting;

static meeting meet(const char *integ, const char *tol, const char *method, const char *contact)
{
  world_case c;
  meeting m = {0};
  mn_setting set[] = {{"integ", integ}, {"tol", tol}, {"coupling", method}, {"contact", contact}};
  world_open(&c, MEETING, set, 4, 1);
  while (mn_world_time(c.world) < 0.4 - 1e-9 && world_step(&c)) {
    m.x = mn_world_probe(c.world, 0);
    m.off = check_worst(m.off, fabs(c.info.region[0].error) / c.info.region[0].volume);
  }
  CHECK_OK(c.ctx, c.status);
  m.steps = c.steps;
  world_close(&c);
  printf("%s, tolerance %s, %s: %d substeps, x = %.4f m, volume off by %.1e\n", integ, tol, method,
         m.steps, m.x, m.off);
  return m;
}

/* The one system helps at once where bodies touch: xpm alone took 220 to 3,934 substeps, or
   none did. It has what touches in its matrix, and what is left of the paths' difference is how
   hard substeps were parted: contact is of first order in them. */
static void test_meeting(void **state)
{
  (void)state;
  static const char *const TOL[] = {"1e-3", "1e-6"};
  for (int k = 0; k < 4; k++) {
    meeting both = meet(RULE[2 * (k / 2)], TOL[k % 2], "xpm", "true");
    meeting one = meet(RULE[2 * (k / 2)], TOL[k % 2], "monolithic", "true");
    CHECK_LE(both.steps, 100);
    CHECK_NEAR(both.x, one.x, 0.03);
    CHECK_LE(both.off, 1e-6);
  }
  CHECK_DONE();
}

/* Control: what passes through each other is elsewhere. */
static void test_passing_through(void **state)
{
  (void)state;
  meeting both = meet("euler", "1e-3", "xpm", "false");
  meeting one = meet("euler", "1e-3", "monolithic", "true");
  CHECK_NEAR(both.x, one.x, 0.03);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tight),
      cmocka_unit_test(test_disk),
      cmocka_unit_test(test_ring),
      cmocka_unit_test(test_other_rule),
      cmocka_unit_test(test_rough),
      cmocka_unit_test(test_swing),
      cmocka_unit_test(test_frame),
      cmocka_unit_test(test_meeting),
      cmocka_unit_test(test_passing_through),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
