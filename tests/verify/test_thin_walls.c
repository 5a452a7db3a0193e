/* Walls that are thinner than the grid can hold keep water where it is: across the axes or along
   them, straight, round, moving, in 2D and 3D. Control: a wall that ends above the floor. */
#include "fluid/mac/internal.h"
#include "world_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char SCENE[] =
    "local n, dim, gap = param('n', 32, ''), param('dim', 2, ''), param('gap', 0, '')\n"
    "local t, angle = param('t', 0.3, '') / n, param('angle', 0, '')\n"
    "local rate_, what = param('rate', 0, ''), param('what', 'wall', '')\n"
    "local function v(x, y, z) if dim == 3 then return {x, y, z} else return {x, y} end end\n"
    "local c, s = math.cos(angle), math.sin(angle)\n"
    "local at = v(0.505, 0.3, 0.5)\n"
    "local low = gap > 0 and gap - 0.3 or -4\n"
    "local wall = transform { shape = box { lo = v(-t / 2, low, -4), hi = v(t / 2, 4, 4) },\n"
    "                         angle = angle, translate = at }\n"
    "local inside = half_space { point = at, normal = v(c, s, 0) }\n"
    "if what == 'bowl' then\n"
    "  local middle = v(0.5, 0.52, 0.5)\n"
    "  inside = sphere { center = middle, radius = 0.35 }\n"
    "  wall = difference { sphere { center = middle, radius = 0.35 + t }, inside }\n"
    "end\n"
    "if what == 'glass' then\n"
    "  local function put(s)\n"
    "    return transform { shape = s, angle = angle, translate = v(0.5, 0.45, 0.5) }\n"
    "  end\n"
    "  local room = box { lo = v(-0.2, -0.1, -0.2), hi = v(0.2, 0.9, 0.2) }\n"
    "  inside = put(room)\n"
    "  wall = put(difference {\n"
    "    box { lo = v(-0.2 - t, -0.25, -0.2 - t), hi = v(0.2 + t, 0.35, 0.2 + t) }, room })\n"
    "end\n"
    "return scene {\n"
    "  domain = box { size = v(1, 1, 1), cells = v(n, n, n) },\n"
    "  fluid  = water { initial_water = intersection { inside,\n"
    "    half_space { point = v(0, 0.6, 0), normal = v(0, 1, 0) } } },\n"
    "  solids = { obstacle { shape = wall, motion = rate_ ~= 0 and\n"
    "    motion { translate = v(1, 0, 0), path = rate(rate_) } or nil } },\n"
    "  output = { frames = 1, every = 1 },\n"
    "}\n";

static double run(const mn_setting *set, int count)
{
  double most = world_most_energy(SCENE, set, count, 0.5);
  for (int i = 0; i < count; i++)
    printf("%s %s%s", set[i].name, set[i].value, i < count - 1 ? ", " : "");
  printf(": %.2e J\n", most);
  return most;
}

static void test_slanted(void **state)
{
  (void)state;
  static const char *const angle[] = {"0.785398", "0.5", "-0.3", "0.1", "0"};
  static const char *const thickness[] = {"0.01", "0.3", "1", "1.4"};
  for (int a = 0; a < 5; a++)
    for (int t = 0; t < 4; t++)
      CHECK_LE(run((mn_setting[]){{"angle", angle[a]}, {"t", thickness[t]}}, 2), 0.15);
  CHECK_DONE(); /* 10 to 5e19 J before */
  CHECK_LE(run((mn_setting[]){{"angle", "0.5"}, {"t", "1"}, {"gap", "0.1"}}, 3), 0.15);
  CHECK_MUST_HAVE_FAILED();
}

static void test_space(void **state)
{
  (void)state;
  for (int t = 0; t < 2; t++)
    CHECK_LE(
        run((mn_setting[]){{"angle", "0.5"}, {"t", t ? "1.2" : "0.3"}, {"dim", "3"}, {"n", "16"}},
            4),
        0.15);
  CHECK_DONE();
}

static void test_bowl(void **state)
{
  (void)state;
  CHECK_LE(run((mn_setting[]){{"what", "bowl"}, {"t", "0.5"}}, 2), 0.15);
  CHECK_LE(run((mn_setting[]){{"what", "bowl"}, {"t", "1.2"}}, 2), 0.15);
  CHECK_DONE();
}

/* Thin walls on a thick floor; in 3D they meet in edges. */
static void test_glass(void **state)
{
  (void)state;
  static const char *const angle[] = {"0", "0.3", "-0.1"};
  for (int k = 0; k < 6; k++)
    CHECK_LE(run((mn_setting[]){{"what", "glass"},
                                {"t", k < 3 ? "0.4" : "1.2"},
                                {"angle", angle[k % 3]}},
                 3),
             0.15);
  CHECK_LE(run(
               (mn_setting[]){
                   {"what", "glass"}, {"t", "0.4"}, {"angle", "0.3"}, {"dim", "3"}, {"n", "20"}},
               5),
           0.15); /* 8e4 J */
  CHECK_DONE();
}

/* Walls that stand on no row of nodes, and move: the water stays before them. */
static double behind(const char *angle, const char *t)
{
  mn_setting set[] = {{"angle", angle}, {"t", t}, {"rate", "-0.2"}};
  double c = cos(atof(angle)), s = sin(atof(angle)), volume = 0, off = 0;
  world_case w;
  world_open(&w, SCENE, set, 3, 1);
  while (w.info.time < 0.5 - 1e-9 && world_step(&w)) {
  }
  CHECK_OK(w.ctx, w.status);
  const mn_mac *mac = w.world->fluid.self;
  const mn_particles *p = &mac->state.particles;
  for (size_t i = 0; i < p->count; i++) {
    const double *x = mn_particle(p, i);
    volume += *mn_particle_volume(p, i);
    off += (x[0] - 0.405) * c + (x[1] - 0.3) * s > 0 ? *mn_particle_volume(p, i) : 0;
  }
  printf("wall of %s cells at %s that moves by 0.1 m: %.1e of the water behind it\n", t, angle,
         off / volume);
  world_close(&w);
  return off / volume;
}

static void test_moving(void **state)
{
  (void)state;
  CHECK_LE(behind("0", "0.3"), 0);
  CHECK_LE(behind("0.3", "0.3"), 0);
  CHECK_LE(behind("-0.3", "0.8"), 0);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_slanted), cmocka_unit_test(test_space),
                                     cmocka_unit_test(test_bowl), cmocka_unit_test(test_glass),
                                     cmocka_unit_test(test_moving)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
