/* Balloons blown up through a tube [Akbay thesis, 4.3.2 to 4.3.4, 4.3.6]: what flows in is what the
   area grows by, for thin shells and thick solids, one region and two; the pressure rises; mirrored
   sources give mirrored balloons; one with a radius of two cells grows, too. Longer and finer runs:
   long_closed_*.c. Control: without p0 it does not inflate, which the area tells; and the flow
   through the surfaces. */
#include "closed_run.h"
#include "world_case.h"

/* Area by the probe of the curve, or by the regions' own account. */
static void grow(const char *scene, const char *const *settings, double h, double until,
                 double flow, int probe, double leak)
{
  closed_run r;
  closed_open(&r, scene, settings);
  double start = probe >= 0 ? mn_world_probe(r.world, probe) : 0;
  CHECK(closed_until(&r, until));
  CHECK_NEAR(r.info.closed_regions, 1, 0);
  double inflow = closed_parabola(h) * flow, grown = inflow * closed_ramped(until);
  CHECK_NEAR(r.area[0] / grown, 1, leak);
  if (probe >= 0)
    CHECK_NEAR((mn_world_probe(r.world, probe) - start) / grown, 1, leak);
  CHECK_LE(r.outflow / inflow, leak);
  CHECK_GE(r.info.region[0].p0, 1);
  CHECK_LE(closed_mean(&r), 2.5);
  printf("%s: p0 %g Pa, net outflow %g of the inflow, %g iterations\n", scene, r.info.region[0].p0,
         r.outflow / inflow, closed_mean(&r));
  closed_close(&r);
}

static void test_shell(void **state)
{
  (void)state;
  grow("balloon-shell", NULL, 0.1, 1.5, 1, 0, 1e-8);
  CHECK_DONE();
}

static void test_solid(void **state)
{
  (void)state;
  grow("balloon-solid", (const char *const[]){"n=60", NULL}, 0.1, 1.5, 1, -1, 1e-8);
  CHECK_DONE();
}

/* Arcs of 900 MPa beside such of 0.9 MPa: what the solve of the former rounds is much for the
 * latter. */
static void test_arcs(void **state)
{
  (void)state;
  grow("instability", (const char *const[]){"dt=0.02", "rise=1", NULL}, 0.05, 0.3, 20.1, -1, 1e-9);
  CHECK_DONE();
}

/* With the sources exchanged: the mirror image. */
static void test_mirrored(void **state)
{
  (void)state;
  double y[2][4];
  for (int m = 0; m < 2; m++) {
    closed_run r;
    closed_open(&r, "instability",
                (const char *const[]){"dt=0.02", m ? "left=10.1" : "left=10",
                                      m ? "right=10" : "right=10.1", NULL});
    CHECK(closed_until(&r, 0.3));
    CHECK_LE(r.outflow / (closed_parabola(0.05) * 20.1), 1e-8);
    for (int i = 0; i < 4; i++) /* the second and third are left and right */
      y[m][i] = mn_world_probe(r.world, m && (i == 1 || i == 2) ? 3 - i : i);
    closed_close(&r);
  }
  for (int i = 0; i < 4; i++)
    CHECK_NEAR(y[0][i], y[1][i], 1e-8);
  CHECK_GE(fabs(y[0][1] - y[0][2]), 1e-7); /* and they do differ */
  CHECK_DONE();
}

static void test_no_p0(void **state)
{
  (void)state;
  grow("balloon-shell", (const char *const[]){"closed=none", NULL}, 0.1, 0.6, 1, 0, 1e-8);
  CHECK_MUST_HAVE_FAILED();
}

/* The same sources: mirrored pressures, and a wall that stays; half on the right: it moves there.
 */
static void test_two(void **state)
{
  (void)state;
  closed_run r;
  double p0 = 0;
  for (int half = 0; half <= 1; half++) {
    closed_open(&r, "two-balloons", (const char *const[]){half ? "right=0.5" : "right=1", NULL});
    CHECK(closed_until(&r, 1.5));
    CHECK_NEAR(r.info.closed_regions, 2, 0);
    const mn_region_info *left = closed_near(&r, -2, 0), *right = closed_near(&r, 2, 0);
    double inflow = closed_parabola(0.1);
    CHECK_NEAR(r.area[left->id - 1] / inflow / closed_ramped(1.5), 1, 1e-8);
    CHECK_NEAR(r.area[right->id - 1] / inflow / closed_ramped(1.5), half ? 0.5 : 1, 1e-8);
    CHECK_LE(r.outflow / inflow, 1e-8);
    double wall = mn_world_probe(r.world, 0);
    printf("p0 %g %g, wall at %g, %g iterations\n", left->p0, right->p0, wall, closed_mean(&r));
    if (half) {
      CHECK_GE(wall, 0.01);
      CHECK_GE(left->p0, right->p0);
      CHECK_LE(left->p0, p0);
    } else {
      CHECK_LE(fabs(left->p0 - right->p0) / left->p0, 1e-8);
      CHECK_LE(fabs(wall), 1e-6 * 0.1);
      p0 = left->p0;
    }
    closed_close(&r);
  }
  CHECK_DONE();
}

/* Around a source of 2 x 2 cells, which leaves four pieces of two cells each: what it blew into
   them vanished, with exit 0 (-4e-5 m^2 in place of 0.008). */
static const char TINY[] =
    "return scene {\n"
    "  domain   = box { size = {2, 2}, cells = {40, 40}, left = 'open' },\n"
    "  fluid    = smoke { density = 1, gravity = {0, 0}, max_dt = 0.02 },\n"
    "  sources  = { inflow { shape = box { lo = {0.95, 0.95}, hi = {1.05, 1.05} },\n"
    "                        velocity = {0, 0.2} } },\n"
    "  solids   = { rod { name = 'r', shape = disk { center = {1, 1}, radius = 0.1 },\n"
    "                     spacing = 0.04, density = 1, stretch = 10, bend = 0.001 } },\n"
    "  dynamics = dynamics { gravity = {0, 0}, contact = false, dt = 0.02 },\n"
    "  coupling = couple { method = param('coupling', 'xpm', '') },\n"
    "  probes   = { area { of = 'r' } },\n"
    "  output   = { frames = 1, every = 0.4 },\n"
    "}\n";

static void test_tiny(void **state)
{
  (void)state;
  for (int m = 0; m < 2; m++) {
    world_case c;
    world_open(&c, TINY, (mn_setting[]){{"coupling", m ? "monolithic" : "xpm"}}, 1, 1);
    double from = mn_world_probe(c.world, 0);
    while (c.info.time < 0.4 - 1e-9 && world_step(&c))
      ;
    CHECK_OK(c.ctx, c.status);
    double grown = mn_world_probe(c.world, 0) - from;
    printf("%s: grown by %.9f m^2\n", m ? "monolithic" : "xpm", grown);
    CHECK_NEAR(grown / 0.008, 1, m ? 1e-5 : 1e-9);
    world_close(&c);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shell),    cmocka_unit_test(test_solid), cmocka_unit_test(test_arcs),
      cmocka_unit_test(test_mirrored), cmocka_unit_test(test_no_p0), cmocka_unit_test(test_two),
      cmocka_unit_test(test_tiny),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
