/* Every probe of bodies against values found by hand, and every integrator's own limit of the step
   where it has one. */
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "world/world.h"

typedef struct run {
  mn_context *ctx;
  mn_model *model;
  mn_world *world;
} run;

static run start(const char *text)
{
  run r = {.ctx = check_context(1)};
  CHECK_OK(r.ctx, mn_scene_load_text(r.ctx, "t.lua", ".", text, NULL, 0, &r.model));
  CHECK_OK(r.ctx, mn_world_create(r.ctx, r.model, &r.world));
  return r;
}

static double step(run *r)
{
  mn_step_info info;
  CHECK_OK(r->ctx, mn_world_step(r->world, 10, &info));
  return info.dt;
}

static void end(run *r)
{
  mn_world_destroy(&r->world);
  mn_model_destroy(&r->model);
  mn_context_destroy(&r->ctx);
}

#define HEAD                                                                                       \
  "return scene { domain = box { size = {1, 1}, cells = {8, 8} }, output = { frames = 1, every = " \
  "10 }, "

/* A disk that flies and turns: m = 2 pi 0.01, I = m 0.01/2. */
static void test_rigid(void **state)
{
  (void)state;
  run r = start(HEAD "dynamics = dynamics { dt = 0.01, gravity = {0, 0} }, solids = { rigid { name "
                     "= 'd', shape = disk { center = {0.3, 0.5}, radius = 0.1 }, density = 2,"
                     " velocity = {0.5, -0.25}, spin = 3 } }, probes = {"
                     "position { of = 'd', axis = 'x' }, body_velocity { of = 'd', axis = 'y' },"
                     "position { of = 'd', at = {0.4, 0.5}, axis = 'y' },"
                     "body_velocity { of = 'd', at = {0.4, 0.5}, axis = 'x' },"
                     "angle { of = 'd' }, body_energy { of = 'd' }, area { of = 'd' },"
                     "force { of = 'd', axis = 'x' }, body_energy {} } }");
  double t = 0, m = 2 * MN_PI * 0.01, angle;
  double energy = m / 2 * (0.25 + 0.0625) + m * 0.01 / 4 * 9;
  for (int n = 0; n < 20; n++)
    t += step(&r);
  angle = 3 * t;
  const double exact[] = {0.3 + 0.5 * t,
                          -0.25,
                          0.5 - 0.25 * t + 0.1 * sin(angle),
                          0.5 - 3 * 0.1 * sin(angle),
                          angle,
                          energy,
                          MN_PI * 0.01,
                          0,
                          energy};
  for (int k = 0; k < 9; k++)
    CHECK_NEAR(mn_world_probe(r.world, k), exact[k], 1e-12);
  end(&r);
  CHECK_DONE();
}

/* One spring, one end held: the midpoint rule keeps its energy and turns by 2 atan(w dt/2). */
static void test_spring(void **state)
{
  (void)state;
  run r =
      start(HEAD "dynamics = dynamics { dt = 0.01, gravity = {0, 0}, contact = false,"
                 " integrator = 'midpoint', tolerance = 1e-13 }, solids = { springs { name ="
                 " 's', from = {0.2, 0.5}, to = {0.6, 0.5}, spacing = 1, density = 0.5,"
                 " stretch = 4, velocity = {0.3, 0}, fixed = disk { center = {0.2, 0.5},"
                 " radius = 0.01 } } }, probes = { stretch { of = 's' },"
                 " position { of = 's', at = {0.6, 0.5}, axis = 'x' }, body_energy { of = 's' } "
                 "} }");
  /* half of the mass 0.2 at each end */
  double w = sqrt(4 / 0.1), worst = 0;
  for (int n = 1; n <= 50; n++) {
    double dt = step(&r), x = 0.3 / w * sin(2 * n * atan(w * dt / 2));
    worst = check_worst(worst, fabs(mn_world_probe(r.world, 0) - (1 + x / 0.4)));
    worst = check_worst(worst, fabs(mn_world_probe(r.world, 1) - (0.6 + x)));
    worst = check_worst(worst, fabs(mn_world_probe(r.world, 2) - 0.1 * 0.09 / 2));
  }
  CHECK_LE(worst, 1e-10);
  end(&r);
  CHECK_DONE();
}

/* A square of two triangles, held below, that sags: all from the places of its corners. */
static void test_elastic(void **state)
{
  (void)state;
  static const double corner[4][2] = {{0.4, 0.3}, {0.6, 0.3}, {0.4, 0.5}, {0.6, 0.5}};
  char text[2048];
  int used = snprintf(text, sizeof text,
                      HEAD "dynamics = dynamics { dt = 0.01 }, solids = { elastic { name = 'e',"
                           " shape = box { lo = {0.4, 0.3}, hi = {0.6, 0.5} }, spacing = 1,"
                           " density = 1000, young = 5e3, fixed = box { lo = {0, 0}, hi = {1, 0.31}"
                           " } } }, probes = { volume_ratio { of = 'e' }, area { of = 'e' },"
                           " stretch { of = 'e' }");
  for (int c = 0; c < 4; c++)
    for (int a = 0; a < 2; a++)
      used += snprintf(text + used, sizeof text - (size_t)used,
                       ", position { of = 'e', at = {%g, %g}, axis = '%c' }", corner[c][0],
                       corner[c][1], "xy"[a]);
  snprintf(text + used, sizeof text - (size_t)used, "} }");
  run r = start(text);
  for (int n = 0; n < 20; n++)
    step(&r);
  double x[4][2];
  for (int c = 0; c < 4; c++)
    for (int a = 0; a < 2; a++)
      x[c][a] = mn_world_probe(r.world, 3 + 2 * c + a);
  CHECK_LE(x[2][1], 0.495); /* it sags */
  /* whichever diagonal the mesh has: one of the two pairs of triangles it is */
  static const int cut[2][2][3] = {{{0, 1, 3}, {0, 3, 2}}, {{0, 1, 2}, {1, 3, 2}}};
  double least[2], longest[2], area = 0;
  for (int d = 0; d < 2; d++) {
    least[d] = HUGE_VAL, longest[d] = 0, area = 0;
    for (int t = 0; t < 2; t++) {
      const int *p = cut[d][t];
      double twice = (x[p[1]][0] - x[p[0]][0]) * (x[p[2]][1] - x[p[0]][1]) -
                     (x[p[1]][1] - x[p[0]][1]) * (x[p[2]][0] - x[p[0]][0]);
      least[d] = fmin(least[d], twice / 0.04);
      area += twice / 2;
      for (int k = 0; k < 3; k++) {
        int i = p[k], j = p[(k + 1) % 3];
        double rest = hypot(corner[i][0] - corner[j][0], corner[i][1] - corner[j][1]);
        longest[d] = fmax(longest[d], hypot(x[i][0] - x[j][0], x[i][1] - x[j][1]) / rest);
      }
    }
  }
  double j = mn_world_probe(r.world, 0), s = mn_world_probe(r.world, 2);
  int d = fabs(j - least[1]) < fabs(j - least[0]);
  CHECK_NEAR(j, least[d], 1e-12);
  CHECK_NEAR(s, longest[d], 1e-12);
  CHECK_NEAR(mn_world_probe(r.world, 1), area, 1e-12);
  end(&r);
  CHECK_DONE();
}

/* 3D: volumes of what is enclosed; a ball of rubber falls freely. */
static void test_volumes(void **state)
{
  (void)state;
  run r = start("return scene { domain = box { size = {1, 1, 1}, cells = {8, 8, 8} },"
                "output = { frames = 1, every = 10 }, dynamics = dynamics { dt = 0.01 },"
                "solids = { elastic { name = 'e', shape = box { lo = {0.1, 0.5, 0.1}, hi = {0.4,"
                " 0.7, 0.2} }, density = 1, young = 1e4 }, shell { name = 's', from = {0.6, 0.5,"
                " 0.5}, to = {0.6, 0.9, 0.5}, radius = 0.2, spacing = 0.1, density = 1, young ="
                " 1e5, thickness = 0.01 }, rigid { name = 'b', density = 1, shape = box { lo ="
                " {0.1, 0.1, 0.6}, hi = {0.3, 0.2, 0.9} } } }, probes = { volume { of = 'e' },"
                " volume { of = 's' }, volume { of = 'b' }, volume_ratio { of = 'e' } } }");
  step(&r);
  double sides = round(2 * MN_PI * 0.2 / 0.1), half = MN_PI / sides;
  CHECK_NEAR(mn_world_probe(r.world, 0), 0.3 * 0.2 * 0.1, 1e-9);
  CHECK_NEAR(mn_world_probe(r.world, 1), 0.4 * sides * 0.04 * sin(half) * cos(half), 1e-9);
  CHECK_NEAR(mn_world_probe(r.world, 2), 0.2 * 0.1 * 0.3, 1e-12);
  CHECK_NEAR(mn_world_probe(r.world, 3), 1, 1e-9);
  end(&r);
  CHECK_DONE();
}

/* The explicit rule shortens its steps by itself: below 2 over the greatest frequency, that of one
   spring between two halves of its mass. */
static void test_explicit(void **state)
{
  (void)state;
  run r = start(HEAD "dynamics = dynamics { dt = 0.5, gravity = {0, 0}, contact = false,"
                     " integrator = 'explicit' }, solids = { springs { name = 's', from = {0.3,"
                     " 0.5}, to = {0.7, 0.5}, spacing = 1, density = 0.5, stretch = 400, velocity ="
                     " {0.1, 0} } } }");
  double limit = 2 / sqrt(400 * 2 / 0.1), dt = step(&r);
  CHECK_LE(dt, limit);
  CHECK_GE(dt, limit / 4);
  end(&r);
  r = start(HEAD "dynamics = dynamics { dt = 0.5, gravity = {0, 0}, contact = false },"
                 "solids = { springs { name = 's', from = {0.3, 0.5}, to = {0.7, 0.5}, spacing = 1,"
                 " density = 0.5, stretch = 400, velocity = {0.1, 0} } } }");
  CHECK_NEAR(step(&r), 0.5, 1e-12); /* the implicit one does not */
  end(&r);
  CHECK_DONE();
}

/* An explicit body that is struck as fast as sound crosses it keeps its energy; one that is struck
   ten times as fast ends the run by its name, before it has collapsed. */
static void test_struck(void **state)
{
  (void)state;
  for (int fast = 0; fast < 2; fast++) {
    char text[1024];
    snprintf(text, sizeof text,
             HEAD "dynamics = dynamics { dt = 5e-3, gravity = {0, 0}, integrator = 'explicit' },"
                  "solids = { elastic { name = 'e', shape = disk { center = {0.5, 0.2},"
                  "radius = 0.1 }, spacing = 0.04, young = 1e5, density = 1000,"
                  "velocity = {0, %d} } }, probes = { body_energy { of = 'e' } } }",
             fast ? -100 : -10);
    run r = start(text);
    mn_step_info info;
    mn_status status = MN_OK;
    double first = mn_world_probe(r.world, 0), most = 0;
    for (double t = 0; t < 0.04 && status == MN_OK; t += info.dt) {
      status = mn_world_step(r.world, 10, &info);
      most = fmax(most, mn_world_probe(r.world, 0) / first);
    }
    printf("struck at %d m/s: energy at most %.4f of the first\n", fast ? 100 : 10, most);
    CHECK_LE(most, 1.02);
    if (fast)
      CHECK_FAILS(r.ctx, status, MN_FAILED, "of its volume by an explicit step");
    else
      CHECK_OK(r.ctx, status);
    end(&r);
  }
  CHECK_DONE();
}

#undef HEAD
#define HEAD3 "return scene { domain = box { size = {1, 1, 1}, cells = {8, 8, 8} }, "

/* A coarse ball, radius two cells, falls: its momentum is that of the ball, not of its elements. In
   a fluid its density is kept. */
static void test_mass(void **state)
{
  (void)state;
  static const char *const FLUID[] = {"", "fluid = smoke { density = 1 },"};
  double m = 500 * 4 / 3.0 * MN_PI * 0.008, p[2];
  for (int fluid = 0; fluid < 2; fluid++) {
    char text[1024];
    snprintf(text, sizeof text,
             HEAD3 "%s dynamics = dynamics { dt = 0.01, gravity = {0, -2, 0}, contact = false },"
                   "output = { frames = 1, every = 0.01 }, solids = { elastic { name = 'b',"
                   "shape = sphere { center = {0.5, 0.5, 0.5}, radius = 0.2 }, spacing = 0.1,"
                   "density = 500, young = 1e6 } } }",
             FLUID[fluid]);
    run r = start(text);
    mn_step_info info;
    CHECK_OK(r.ctx, mn_world_step(r.world, 0.01, &info));
    p[fluid] = -info.body_momentum.y / (2 * info.dt * m);
    end(&r);
  }
  printf("mass of a coarse ball over the ball's: %.12f alone, %.4f in a fluid\n", p[0], p[1]);
  CHECK_NEAR(p[0], 1, 1e-9);
  CHECK_LE(p[1], 0.9); /* the control: what its elements have */
  CHECK_DONE();
}

/* A link's energy is elastic, of rigid and of deformable bodies. */
static void test_link_energy(void **state)
{
  (void)state;
  static const char *const BODY[] = {"rigid { name = 'b', shape = sphere { center = {0.5, 0.5, "
                                     "0.5}, radius = 0.1 }, density = 1 }",
                                     "elastic { name = 'b', shape = sphere { center = {0.5, 0.5, "
                                     "0.5}, radius = 0.1 }, density = 1,"
                                     " young = 1e9 }"};
  for (int soft = 0; soft < 2; soft++) {
    char text[1024];
    snprintf(text, sizeof text,
             HEAD3
             "dynamics = dynamics { dt = 1e-6, gravity = {0, 0, 0}, contact = false },"
             "output = { frames = 1, every = 1e-6 }, solids = { %s, link { of = 'b',"
             "at = {0.5, 0.5, 0.5}, to_at = {0.9, 0.5, 0.5}, stiffness = 30, length = 0.1 } },"
             "probes = { body_energy {} } }",
             BODY[soft]);
    run r = start(text);
    mn_step_info info;
    CHECK_OK(r.ctx, mn_world_step(r.world, 1e-6, &info));
    CHECK_NEAR(info.body_elastic_energy, 15 * 0.09, 1e-5);
    CHECK_NEAR(info.body_potential_energy, 0, 1e-12);
    CHECK_NEAR(mn_world_probe(r.world, 0), 15 * 0.09, 1e-5);
    end(&r);
  }
  CHECK_DONE();
}

/* Slips of the pen that would run, to no use. */
static void test_slips(void **state)
{
  (void)state;
#define E                                                                                          \
  "elastic { name = 'e', density = 9, shape = box { lo = {0.2, 0.2, 0.2}, hi = {0.4, 0.4, 0.4} "   \
  "}, young = 1e4 "                                                                                \
  "}"
#define R                                                                                          \
  "rigid { name = 'r', density = 9, shape = sphere { center = {0.7, 0.5, 0.5}, radius = 0.1 } }"
  static const char *const BAD[][2] = {
      {E "}, probes = { position { of = 'e', at = {0.9, 0.4, 0.4}, axis = 'x' } }",
       "{0.9, 0.4, 0.4}, 0.5 m away from body \"e\"; allowed: 0.106 m. The nearest node of the body"
       " is {0.4, 0.4, 0.4}"},
      {R "}, probes = { body_velocity { of = 'r', at = {0.7, 0.65, 0.5}, axis = 'x' } }",
       "0.05 m away from body \"r\"; allowed: 0.0173 m. The nearest point of the body is {0.7, "
       "0.6"},
      {R ", link { of = 'r', at = {0, 0, 0}, to_at = {1, 1, 1}, stiffness = 1 } }",
       "solids: link 1.at is {0, 0, 0}"},
      {R
       ", rigid { name = 's', density = 9, shape = box { lo = {0, 0, 0}, hi = {0.1, 0.1, 0.1} } },"
       "link { of = 'r', at = {0.7, 0.5, 0.5}, to = 's', to_at = {1, 1, 1}, stiffness = 1 } }",
       "solids: link 1.to_at is {1, 1, 1}"},
      {"rigid { name = 'n', density = 9, shape = difference { sphere { center = {0.5, 0.5, 0.5}, "
       "radius = 0.1 },"
       "sphere { center = {0.5, 0.5, 0.5}, radius = 0.2 } } } }",
       "body \"n\": a body's shape is empty; it must have a volume"},
      {"rigid { name = 'n', density = 9, shape = difference { box { lo = {0.3, 0.3, 0.3}, hi = "
       "{0.6, 0.6, 0.6} "
       "},"
       "box { lo = {0.2, 0.2, 0.2}, hi = {0.7, 0.5999, 0.7} } } } }",
       "body \"n\": its shape is too thin to be meshed"},
      {R "}, dynamics = dynamics { dt = 1e-12 }",
       "dynamics.dt is 1e-12 s: the run to 2 s would take 2.0e+12 substeps"}};
  for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
    char text[1024];
    run r = {.ctx = check_context(1)};
    snprintf(text, sizeof text, HEAD3 "output = { frames = 2, every = 1 }, solids = { %s }",
             BAD[i][0]);
    mn_status status = mn_scene_load_text(r.ctx, "t.lua", ".", text, NULL, 0, &r.model);
    if (status == MN_OK)
      status = mn_world_create(r.ctx, r.model, &r.world);
    CHECK_FAILS(r.ctx, status, MN_BAD_INPUT, BAD[i][1]);
    end(&r);
  }
  run r = start(HEAD3 "output = { frames = 2, every = 1 }, solids = { " E ", " R
                      ", link { of = 'r', at = {0.7, 0.61, 0.5}, to_at = {1, 1, 1}, stiffness = 1 }"
                      "}, probes = { position { of = 'e', at = {0.3, 0.35, 0.3}, axis = 'x' } } }");
  end(&r); /* near enough */
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rigid),       cmocka_unit_test(test_spring),
      cmocka_unit_test(test_elastic),     cmocka_unit_test(test_volumes),
      cmocka_unit_test(test_explicit),    cmocka_unit_test(test_mass),
      cmocka_unit_test(test_link_energy), cmocka_unit_test(test_slips),
      cmocka_unit_test(test_struck)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
