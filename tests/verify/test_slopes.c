/* Water at rest stays so where its shape ends at a wall across the axes or off the grid, and beside
   blocks that touch in a corner or an edge only. Controls: a gap of a cell between water and wall,
   blocks that leave an opening. */
#include "world_case.h"

#include <stdio.h>

static const char SHORE[] =
    "local n, dim = param('n', 32, ''), param('dim', 2, '')\n"
    "local gap = param('gap', 0, '') / n\n"
    "local transfer, what = param('transfer', 'levelset', ''), param('what', 'slope', '')\n"
    "local angle = param('angle', 30, '') * math.pi / 180\n"
    "local function v(x, y, z) if dim == 3 then return {x, y, z} else return {x, y} end end\n"
    "local all = box { lo = v(-4, -4, -4), hi = v(5, 5, 5) }\n"
    "local low = half_space { point = v(0, 0.46, 0), normal = v(0, 1, 0) }\n"
    "local solid, room\n"
    "if what == 'bowl' then\n"
    "  local function ball(r) return sphere { center = v(0.5, 0.5, 0.5), radius = r } end\n"
    "  solid, room = difference { all, ball(0.43) }, ball(0.43 - gap)\n"
    "elseif what == 'island' then\n"
    "  local function ball(r) return sphere { center = v(0.5, 0.45, 0.5), radius = r } end\n"
    "  solid, room = ball(0.23), difference { all, ball(0.23 + gap) }\n"
    "elseif what == 'plate' then\n"
    "  solid = box { lo = v(0.51, -1, -1), hi = v(0.51 + 1.1 / n, 2, 2) }\n"
    "  room = box { lo = v(-1, -1, -1), hi = v(0.51 - gap, 2, 2) }\n"
    "else\n"
    "  local function put(s)\n"
    "    return transform { shape = s, angle = angle, translate = v(0.6, 0.3, 0.5) }\n"
    "  end\n"
    "  solid = put(box { lo = v(-4, -4, -4), hi = v(4, 0, 4) })\n"
    "  room = put(box { lo = v(-4, gap, -4), hi = v(4, 3, 4) })\n"
    "end\n"
    "return scene {\n"
    "  domain = box { size = v(1, 1, 1), cells = v(n, n, n) },\n"
    "  fluid  = water { transfer = transfer, initial_water = intersection { room, low },\n"
    "                   walls = transfer == 'levelset' and 'sticking' or 'separating' },\n"
    "  solids = { obstacle { shape = solid } },\n"
    "  output = { frames = 1, every = 1 },\n"
    "}\n";

/* Water above on the left and below on the right of two blocks whose corners touch, or leave
   a slit of `gap` cells. */
static const char BLOCKS[] =
    "local n, dim = param('n', 32, ''), param('dim', 2, '')\n"
    "local gap = param('gap', 0, '') / n / 2\n"
    "local x, y = param('x', 0.51, ''), param('y', 0.51, '')\n"
    "local angle, transfer = param('angle', 0, ''), param('transfer', 'apic', '')\n"
    "local function v(x, y, z) if dim == 3 then return {x, y, z} else return {x, y} end end\n"
    "local function put(s)\n"
    "  return transform { shape = s, angle = angle, translate = v(x, y, 0.5) }\n"
    "end\n"
    "local a = put(box { lo = v(-4, -4, -4), hi = v(-gap, -gap, 4) })\n"
    "local b = put(box { lo = v(gap, gap, -4), hi = v(4, 4, 4) })\n"
    "local left = put(box { lo = v(-4, 0, -4), hi = v(0, 4, 4) })\n"
    "local right = put(box { lo = v(0, -4, -4), hi = v(4, 0, 4) })\n"
    "local function below(h) return half_space { point = v(0, h, 0), normal = v(0, 1, 0) } end\n"
    "return scene {\n"
    "  domain = box { size = v(1, 1, 1), cells = v(n, n, n) },\n"
    "  fluid  = water { transfer = transfer,\n"
    "                   walls = transfer == 'levelset' and 'sticking' or 'separating',\n"
    "                   initial_water = union { intersection { left, below(0.7) },\n"
    "                                           intersection { right, below(0.3) } } },\n"
    "  solids = { obstacle { shape = a }, obstacle { shape = b } },\n"
    "  output = { frames = 1, every = 1 },\n"
    "}\n";

static double run(const char *scene, const mn_setting *set, int count, double until)
{
  double most = world_most_energy(scene, set, count, until);
  for (int i = 0; i < count; i++)
    printf("%s %s%s", set[i].name, set[i].value, i < count - 1 ? ", " : "");
  printf(": %.2e J\n", most);
  return most;
}

static void test_ends_at_slope(void **state)
{
  (void)state;
  static const char *const angle[] = {"5", "30", "45", "80", "100", "130", "-20"};
  for (int a = 0; a < 7; a++)
    CHECK_LE(run(SHORE, (mn_setting[]){{"angle", angle[a]}}, 1, 0.5), 1e-12);
  CHECK_LE(run(SHORE, (mn_setting[]){{"what", "bowl"}}, 1, 0.5), 1e-12);
  CHECK_LE(run(SHORE, (mn_setting[]){{"what", "island"}, {"n", "40"}}, 2, 0.5), 1e-12);
  CHECK_LE(run(SHORE, (mn_setting[]){{"what", "plate"}}, 1, 0.5), 1e-12);
  CHECK_LE(run(SHORE, (mn_setting[]){{"dim", "3"}, {"n", "16"}}, 2, 0.3), 1e-12);
  CHECK_LE(run(SHORE, (mn_setting[]){{"dim", "3"}, {"n", "16"}, {"what", "bowl"}}, 3, 0.3), 1e-12);
  CHECK_DONE(); /* 10 to 112 J before */
  CHECK_LE(run(SHORE, (mn_setting[]){{"gap", "1"}}, 1, 0.5), 1e-12);
  CHECK_MUST_HAVE_FAILED();
}

static void test_blocks_touch(void **state)
{
  (void)state;
  static const char *const at[] = {"0.5", "0.51", "0.515625", "0.522"};
  for (int i = 0; i < 4; i++)
    CHECK_LE(run(BLOCKS, (mn_setting[]){{"x", at[i]}, {"y", at[i]}}, 2, 1), 0.15);
  CHECK_LE(run(BLOCKS, (mn_setting[]){{"x", "0.52"}, {"y", "0.506"}}, 2, 1), 0.15);
  CHECK_LE(run(BLOCKS, (mn_setting[]){{"angle", "0.3"}}, 1, 1), 0.15);
  CHECK_LE(run(BLOCKS, (mn_setting[]){{"angle", "-0.6"}}, 1, 1), 0.15);
  CHECK_LE(
      run(BLOCKS, (mn_setting[]){{"transfer", "levelset"}, {"x", "0.52"}, {"y", "0.506"}}, 3, 1),
      0.15);
  CHECK_LE(run(BLOCKS, (mn_setting[]){{"dim", "3"}, {"n", "16"}}, 2, 0.5), 0.15);
  CHECK_DONE();                                                      /* 14 to 20 J before */
  CHECK_LE(run(BLOCKS, (mn_setting[]){{"gap", "0.6"}}, 1, 1), 0.15); /* there is a way */
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_ends_at_slope),
                                     cmocka_unit_test(test_blocks_touch)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
