/* Inflows of water that walls off the grid cover in part bring what the walls leave open times the
   velocity: for the pressure, in particles and under the surface; in 2D and 3D, along and across
   the axes, where walls stand and where one slides over the inflow. Control: the area of whole
   cells. And inflows without walls whose points lie on sides of cells at the ends of substeps, so
   that rounding says where they are. Control: a time that is 2 % off. */
#include "fluid/mac/internal.h"
#include "world_case.h"

#include <math.h>
#include <stdio.h>

/* An inflow 8 cells high (and deep) of which a block covers the lower 2 + off, and goes on for 4
   cells; or the mouth of a pipe with the inner half width 3 + off (cells), turned about z, whose
   inflow reaches `over` cells into the walls. In air, or in a pool up to the height `pool`. */
static const char SCENE[] =
    "local n, dim, what = param('n', 32, ''), param('dim', 2, ''), param('what', 'block', '')\n"
    "local off, angle = param('off', 0.3, '') / n, param('angle', 0, '')\n"
    "local transfer, sideways = param('transfer', 'apic', ''), param('sideways', 0, '')\n"
    "local slide, over = param('slide', 0, ''), param('over', 1.5, '') / n\n"
    "local pool = param('pool', 0, '')\n"
    "local function v(x, y, z) if dim == 3 then return {x, y, z} else return {x, y} end end\n"
    "local dx, velocity, wall, mouth = 1 / n, v(1, sideways, 0)\n"
    "if what == 'block' then\n"
    "  mouth = box { lo = v(4 * dx, 8 * dx, 8 * dx), hi = v(8 * dx, 16 * dx, 16 * dx) }\n"
    "  wall = box { lo = v(2 * dx, 2 * dx, 2 * dx), hi = v(12 * dx, 10 * dx + off, 20 * dx) }\n"
    "else\n"
    "  local r, far, t = 3 * dx + off, 12 * dx, 3 * dx\n"
    "  local function put(shape)\n"
    "    return transform { shape = shape, angle = angle, translate = v(0.3, 0.35, 0.5) }\n"
    "  end\n"
    "  local function pipe(l, r)\n"
    "    if what == 'round' then return cylinder { a = {-l, 0, 0}, b = {l, 0, 0}, radius = r } "
    "end\n"
    "    return box { lo = v(-l, -r, -r), hi = v(l, r, r) }\n"
    "  end\n"
    "  velocity = v(math.cos(angle), math.sin(angle), 0)\n"
    "  mouth = put(box { lo = v(-4 * dx, -r - over, -r - over), hi = v(0, r + over, r + over) })\n"
    "  wall = put(difference { pipe(far, r + t), pipe(2 * far, r) })\n"
    "end\n"
    "return scene {\n"
    "  domain  = box { size = v(1, 1, 1), cells = v(n, n, n), top = 'open' },\n"
    "  fluid   = water { gravity = v(0, pool > 0 and -9.81 or 0, 0), transfer = transfer,\n"
    "                    walls = pool > 0 and 'sticking' or 'separating',\n"
    "                    initial_water = box { lo = v(-5, -5, -5), hi = v(5, pool - 1e-9, 5) } },\n"
    "  sources = { inflow { shape = mouth, velocity = velocity } },\n"
    "  solids  = { obstacle { shape = wall, motion = slide ~= 0 and\n"
    "              motion { translate = v(0, 1, 0), path = rate(slide) } or nil } },\n"
    "  output  = { frames = 100, every = 0.01 },\n"
    "}\n";

/* m^3/s, out of the inflow for the pressure. */
static double flow_seen(const mn_mac *mac)
{
  double flow = 0, area = pow(mac->grid.dx, mac->grid.dim - 1);
  for (int a = 0; a < mac->grid.dim; a++) {
    const mn_field *f = &mac->geometry.wall[a];
    for (int k = 0; k < f->n[2]; k++)
      for (int j = 0; j < f->n[1]; j++)
        for (int i = 0; i < f->n[0]; i++) {
          int high[3] = {i, j, k}, low[3] = {i, j, k}, outside;
          low[a]--;
          int below = mn_inflow_of(mac, low, &outside), above = mn_inflow_of(mac, high, &outside);
          if (!below != !above)
            flow += area * fabs(mn_get(f, i, j, k));
        }
  }
  return flow;
}

/* Each over the expected volume less 1. */
typedef struct brought {
  double pressure, particles, surface;
} brought;

/* `flow` is the flow expected, m^3/s; 0: what the pressure sees. */
static brought run(double flow, double until, const mn_setting *set, int count)
{
  world_case w;
  double seen = 0;
  world_open(&w, SCENE, set, count, 1);
  mn_mac_totals t, start = mn_mac_measure(&w.world->fluid);
  while (w.info.time < until - 1e-9 && world_step(&w))
    seen += w.info.dt * flow_seen(w.world->fluid.self);
  CHECK_OK(w.ctx, w.status);
  t = mn_mac_measure(&w.world->fluid);
  double volume = flow > 0 ? flow * until : seen;
  brought b = {seen / volume - 1, (t.particles - start.particles) / volume - 1,
               (t.volume - start.volume) / volume - 1};
  for (int i = 0; i < count; i++)
    printf("%s %s%s", set[i].name, set[i].value, i < count - 1 ? ", " : "");
  printf(": off by %.1e (pressure), %.1e (particles), %.1e (surface)\n", b.pressure, b.particles,
         b.surface);
  world_close(&w);
  return b;
}

#define RUN(flow, until, ...)                                                                      \
  run(flow, until, (mn_setting[]){__VA_ARGS__},                                                    \
      (int)(sizeof((mn_setting[]){__VA_ARGS__}) / sizeof(mn_setting)))

static void check(brought b, double pressure, double particles, double surface)
{
  CHECK_LE(fabs(b.pressure), pressure);
  CHECK_LE(fabs(b.particles), particles);
  CHECK_LE(fabs(b.surface), surface);
}

/* Along an axis, after whole layers of the lattice: exact. */
static void test_block(void **state)
{
  (void)state;
  static const char *const transfer[] = {"apic", "flip", "marker"};
  for (int t = 0; t < 3; t++) {
    check(RUN((6 - 0.3) / 32, 0.25, {"off", "0.3"}, {"transfer", transfer[t]}), 1e-9, 1e-9, 0.02);
    check(RUN((6 - 0.9) / 32, 0.25, {"off", "0.9"}, {"transfer", transfer[t]}), 1e-9, 1e-9, 0.02);
  }
  check(RUN((6 - 4.4) / 32, 0.25, {"off", "4.4"}), 1e-9, 1e-9, 0.02);
  check(RUN((6 - 0.6 + 0.5 * 4) / 32, 0.25, {"off", "0.6"}, {"sideways", "0.5"}), 1e-9, 1e-9, 0.02);
  CHECK_DONE();
  check(RUN(6 / 32.0, 0.25, {"off", "0.3"}), 1e-9, 1e-9, 0.02);
  CHECK_MUST_HAVE_FAILED();
}

static void test_block_in_space(void **state)
{
  (void)state;
  check(RUN((6 - 0.3) * 8 / 400, 0.25, {"off", "0.3"}, {"dim", "3"}, {"n", "20"}), 1e-9, 1e-9,
        0.02);
  CHECK_DONE();
}

static void test_pipe(void **state)
{
  (void)state;
  check(RUN(2 * 3.3 / 32, 0.25, {"what", "pipe"}, {"off", "0.3"}), 1e-9, 1e-9, 0.03);
  check(RUN(2 * 1.2 / 32, 0.25, {"what", "pipe"}, {"off", "-1.8"}), 1e-9, 1e-9, 0.03);
  static const char *const angle[] = {"0.1", "0.4", "0.7", "-0.3"};
  for (int a = 0; a < 8; a++)
    check(RUN(2 * 3.3 / 32, 0.4, {"what", "pipe"}, {"angle", angle[a % 4]},
              {"over", a < 4 ? "1.5" : "0"}),
          a < 4 ? 1e-9 : 0.025, 0.03, 0.03);
  check(RUN(2 * 1.2 / 32, 0.4, {"what", "pipe"}, {"off", "-1.8"}, {"angle", "0.4"}), 1e-9, 0.03,
        0.03);
  CHECK_DONE();
}

/* As the pressure sees it: how much of a round pipe, or of corners, is open is the geometry's
   affair. */
static void test_pipe_in_space(void **state)
{
  (void)state;
  check(RUN(0, 0.25, {"what", "pipe"}, {"dim", "3"}, {"n", "24"}), 1e-9, 1e-9, 0.03);
  check(RUN(0, 0.25, {"what", "round"}, {"dim", "3"}, {"n", "24"}), 1e-9, 1e-9, 0.03);
  check(RUN(0, 0.25, {"what", "round"}, {"angle", "0.4"}, {"dim", "3"}, {"n", "24"}), 1e-9, 0.02,
        0.03);
  CHECK_DONE();
}

/* Under the surface of a pool. */
static void test_pool(void **state)
{
  (void)state;
  static const char *const transfer[] = {"apic", "flip", "marker"};
  for (int t = 0; t < 3; t++)
    check(RUN((6 - 0.3) / 32, 0.25, {"pool", "0.7"}, {"transfer", transfer[t]}), 1e-9, 1e-9, 0.02);
  brought b = RUN((6 - 0.3) / 32, 0.25, {"pool", "0.7"}, {"transfer", "levelset"});
  CHECK_LE(fabs(b.pressure), 1e-9);
  CHECK_LE(fabs(b.surface), 0.02);
  b = RUN((6 - 0.9) / 32, 0.25, {"pool", "0.7"}, {"off", "0.9"}, {"transfer", "levelset"});
  CHECK_LE(fabs(b.surface), 0.02);
  CHECK_DONE();
}

/* A block that slides over the inflow, by 3.2 cells. */
static void test_slide(void **state)
{
  (void)state;
  check(RUN((6 - 1.6) / 32, 0.25, {"off", "0"}, {"slide", "0.4"}), 0.02, 0.02, 0.02);
  CHECK_DONE();
}

/* ---- points on sides ------------------------------------------------------------------------- */

/* Along -y or x, in round numbers: v dt and dx have a common measure. */
static const char ROUND[] =
    "local n, dim, v0 = param('n', 25, ''), param('dim', 2, ''), param('v', 1, '')\n"
    "local down = param('down', true, '')\n"
    "local function v(x, y, z) if dim == 3 then return {x, y, z} else return {x, y} end end\n"
    "local lo = down and v(0.4, 0.88, 0.4) or v(-1, 0.6, 0.4)\n"
    "local hi = down and v(0.6, 2, 0.6) or v(0.12, 0.8, 0.6)\n"
    "return scene {\n"
    "  domain  = box { size = v(1, 1, 1), cells = v(n, n, n) },\n"
    "  fluid   = water { transfer = param('transfer', 'apic', ''), max_dt = param('dt', 0.005, "
    "''),\n"
    "                    initial_water = box { lo = v(0, 0, 0), hi = v(1, 0.12, 1) } },\n"
    "  sources = { inflow { shape = box { lo = lo, hi = hi },\n"
    "                       velocity = down and v(0, -v0, 0) or v(v0, 0, 0) } },\n"
    "  output  = { frames = 20, every = 0.05 },\n"
    "}\n";

/* What particles were brought until then, over `flow` times that; by layers of half a cell. */
static double brought_round(double flow, double until, const mn_setting *set, int count)
{
  world_case w;
  world_open(&w, ROUND, set, count, 1);
  double start = mn_mac_measure(&w.world->fluid).particles;
  while (mn_world_time(w.world) < until - 1e-9 && world_step(&w))
    ;
  CHECK_OK(w.ctx, w.status);
  double all = mn_mac_measure(&w.world->fluid).particles - start;
  printf("round numbers: %.9f of %.9f\n", all, flow * until);
  world_close(&w);
  return all / (flow * until);
}

#define ROUND_RUN(flow, until, ...)                                                                \
  brought_round(flow, until, (mn_setting[]){__VA_ARGS__},                                          \
                (int)(sizeof(mn_setting[]){__VA_ARGS__} / sizeof(mn_setting)))

static void test_round_numbers(void **state)
{
  (void)state;
  CHECK_NEAR(ROUND_RUN(0.2, 0.4, {"v", "1"}), 1, 1e-9);
  CHECK_NEAR(ROUND_RUN(0.2, 0.4, {"down", "false"}), 1, 1e-9);
  CHECK_NEAR(ROUND_RUN(0.1, 0.4, {"v", "0.5"}, {"transfer", "flip"}), 1, 1e-9);
  CHECK_NEAR(ROUND_RUN(0.02, 0.4, {"v", "0.1"}, {"dt", "0.05"}), 1, 1e-9);
  CHECK_NEAR(ROUND_RUN(0.2, 0.4, {"n", "50"}, {"dt", "0.05"}, {"down", "false"}), 1, 1e-9);
  CHECK_NEAR(ROUND_RUN(0.04, 0.1, {"dim", "3"}, {"transfer", "marker"}), 1, 1e-9);
  CHECK_DONE();
  CHECK_NEAR(ROUND_RUN(0.2, 0.39, {"v", "1"}), 1, 1e-9);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_block),         cmocka_unit_test(test_block_in_space),
      cmocka_unit_test(test_pipe),          cmocka_unit_test(test_pipe_in_space),
      cmocka_unit_test(test_pool),          cmocka_unit_test(test_slide),
      cmocka_unit_test(test_round_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
