/* Deformable bodies against each other. Overlap is measured apart from contact: surface nodes that
   lie in elements of another body (mn_solids_overlap). */
#include "solids_case.h"

#include <stdio.h>

#include "geom/structured.h"

static const mn_vec3 G = {{0, -9.81, 0}};
static const mn_vec3 NONE = {{0, 0, 0}};

static mn_deform *bodies(solids_case *c, mn_vec3 gravity, double tolerance)
{
  mn_deform_def def = mn_deform_def_default(c->def.dim);
  mn_deform *d;
  def.scheme = MN_BACKWARD_EULER;
  def.gravity = gravity;
  def.tolerance = tolerance; /* what Newton leaves is momentum too */
  CHECK_OK(c->ctx, mn_deform_create(c->ctx, &def, &d));
  return d;
}

static void add_elastic(solids_case *c, mn_deform *d, mn_simplex_mesh *mesh, double young,
                        double damping, mn_vec3 velocity)
{
  mn_elastic_def elastic = {.name = "soft",
                            .material = MN_NEO_HOOKEAN,
                            .young = young,
                            .poisson = 0.4,
                            .density = 1000,
                            .beta = damping,
                            .velocity = velocity};
  int number;
  CHECK_OK(c->ctx, mn_deform_add_elastic(d, mesh, &elastic, &number));
  mn_simplex_mesh_destroy(mesh);
}

static void add_block(solids_case *c, mn_deform *d, mn_vec3 low, mn_vec3 size, int cells, int up,
                      double young, double damping, mn_vec3 velocity)
{
  mn_simplex_mesh mesh;
  const int n[3] = {cells, up, cells};
  CHECK_OK(c->ctx, mn_mesh_box(c->ctx, c->def.dim, low, size, n, &mesh));
  add_elastic(c, d, &mesh, young, damping, velocity);
}

static void start(solids_case *c, mn_deform *d)
{
  CHECK_OK(c->ctx, mn_deform_ready(d));
  c->def.deform = d;
  case_start(c);
}

static double overlap(solids_case *c)
{
  mn_overlap worst;
  CHECK_OK(c->ctx, mn_solids_overlap(c->solids, 0, &worst));
  return worst.a < 0 ? 0 : worst.depth / worst.size;
}

static mn_vec3 center(solids_case *c, int body)
{
  return mn_deform_center(mn_solids_deform(c->solids), body);
}

/* ---- at rest --------------------------------------------------------------------------------- */

/* Two blocks of unlike meshes fall 1 cm on each other and on a floor. */
static double stack(int dim, int collides, double *deepest, double *speed)
{
  static solids_case c;
  case_open(&c, dim);
  mn_deform *d = bodies(&c, G, 1e-8);
  double z = dim == 3 ? -0.1 : 0;
  mn_vec3 size = mn_v3(0.2, 0.2, 0.2);
  add_block(&c, d, mn_v3(-0.1, 0.002, z), size, 4, 4, 4e5, 0.02, NONE);
  add_block(&c, d, mn_v3(-0.07, 0.212, 1.2 * z), size, 3, 3, 4e5, 0.02, NONE);
  mn_deform_set_contact(d, 1, -1, collides);
  case_wall(&c, mn_v3(0, 0, 0), mn_v3(0, 1, 0));
  start(&c, d);
  *deepest = 0;
  int passes = 0, steps = dim == 2 ? 150 : 60;
  for (int n = 0; n < steps; n++) {
    case_step(&c, 0.005);
    *deepest = mn_max(*deepest, overlap(&c));
    passes += mn_solids_last(c.solids)->presses;
  }
  *speed = mn_length(mn_solids_momentum(c.solids, -1)) / (2 * mn_deform_get(d).body[0].mass);
  double height = center(&c, 1).y - center(&c, 0).y;
  printf("stack %dD: apart %.5f, deepest %.2e, speed %.1e, %d touches, %.1f passes\n", dim, height,
         *deepest, *speed, mn_solids_last(c.solids)->press_touches, (double)passes / steps);
  case_close(&c);
  return height;
}

static void test_stack(void **state)
{
  (void)state;
  double deepest, speed;
  for (int dim = 2; dim <= 3; dim++) {
    double height = stack(dim, 1, &deepest, &speed);
    CHECK_LE(deepest, 0.01);
    CHECK_LE(fabs(height - 0.2), 0.003); /* the weight shortens the lower one by 0.8 % */
    CHECK_LE(speed, 1e-2);
  }
  CHECK_DONE();
  CHECK_GE(stack(2, 0, &deepest, &speed), 0);
  CHECK_MUST_HAVE_FAILED(); /* without contact it falls through */
}

/* ---- collisions ------------------------------------------------------------------------------ */

typedef struct seen {
  double momentum, gained, deepest; /* worst of all steps */
  double before, after;             /* m/s, of the first towards the second */
  double passed;                    /* m, beyond the second, at the end */
  int touched, presses;
} seen;

static void add_ball(solids_case *c, mn_deform *d, mn_vec3 at, double r, int rings, double young,
                     double damping, mn_vec3 velocity)
{
  mn_simplex_mesh mesh;
  if (c->def.dim == 2)
    CHECK_OK(c->ctx, mn_mesh_disk(c->ctx, at, r, rings, &mesh));
  else
    CHECK_OK(c->ctx, mn_mesh_ball(c->ctx, at, r, rings, &mesh));
  add_elastic(c, d, &mesh, young, damping, velocity);
}

/* Two balls of radius 0.1 m, head on or a little beside. */
static seen collide(int dim, double speed, double dt, int steps, double beside, int contacts,
                    int sweep)
{
  static solids_case c;
  seen s = {.before = 2 * speed};
  case_open(&c, dim);
  mn_deform *d = bodies(&c, NONE, 1e-12);
  add_ball(&c, d, mn_v3(-0.13, 0, 0), 0.1, 4, 2e5, 0, mn_v3(speed, 0, 0));
  add_ball(&c, d, mn_v3(0.13, beside, 0), 0.1, 3, 2e5, 0, mn_v3(-speed, 0, 0));
  c.def.contacts = contacts;
  c.def.contact.sweep = sweep;
  start(&c, d);
  mn_vec3 p0 = mn_solids_momentum(c.solids, -1);
  double mass = mn_deform_get(d).body[0].mass, e0 = mn_solids_energy(c.solids, -1), first = e0;
  for (int n = 0; n < steps; n++) {
    case_step(&c, dt);
    mn_vec3 p = mn_solids_momentum(c.solids, -1);
    double e = mn_solids_energy(c.solids, -1);
    s.momentum = check_worst(mn_length(mn_sub(p, p0)) / (mass * speed), s.momentum);
    s.gained = mn_max(s.gained, (e - e0) / first);
    c.def.contacts = 1;
    s.deepest = mn_max(s.deepest, overlap(&c));
    s.touched += mn_solids_last(c.solids)->press_touches;
    s.presses += mn_solids_last(c.solids)->presses;
    p0 = p, e0 = e;
  }
  s.after = mn_solids_momentum(c.solids, 0).x / mass - mn_solids_momentum(c.solids, 1).x / mass;
  s.passed = center(&c, 0).x - center(&c, 1).x;
  printf(
      "%dD, %g m/s, %g cells a step: momentum %.1e, energy gained %.1e, deepest %.1e, apart with "
      "%.2f, at %.3f, %d touches, %.1f passes\n",
      dim, speed, 2 * speed * dt / 0.025, s.momentum, s.gained, s.deepest, -s.after / s.before,
      s.passed, s.touched, (double)s.presses / steps);
  case_close(&c);
  return s;
}

static void check_collision(seen s)
{
  CHECK_GE(s.touched, 10);
  CHECK_LE(s.momentum, 1e-12);
  CHECK_LE(s.gained, 1e-12);
  CHECK_LE(s.deepest, 0); /* within the thickness, 1 mm */
  CHECK_LE(s.after, 0);
  CHECK_LE(s.passed, -0.18);
}

static void test_collide(void **state)
{
  (void)state;
  check_collision(collide(2, 1, 0.002, 100, 0, 1, 1));
  check_collision(collide(2, 1, 0.002, 100, 0.04, 1, 1));
  check_collision(collide(3, 1, 0.004, 40, 0.03, 1, 1));
  CHECK_DONE();
}

/* The balls come 0.06 m nearer to each other in a step, 2.4 cells, than they are apart. */
static void test_fast(void **state)
{
  (void)state;
  check_collision(collide(2, 10, 0.004, 8, 0, 1, 1));
  CHECK_DONE();
}

static void test_pass_without_contact(void **state)
{
  (void)state;
  check_collision(collide(2, 1, 0.002, 100, 0, 0, 1));
  CHECK_MUST_HAVE_FAILED();
}

static void test_deep_without_sweep(void **state)
{
  (void)state;
  check_collision(collide(2, 10, 0.004, 8, 0, 1, 0));
  CHECK_MUST_HAVE_FAILED();
}

/* ---- cloth ----------------------------------------------------------------------------------- */

/* A square of cloth falls 3 cm on an elastic block, which it overhangs; the lowest that it lies
   above the block's top, over the top's inner part. */
static double lay(int collides, double *speed)
{
  static solids_case c;
  case_open(&c, 3);
  mn_deform *d = bodies(&c, G, 1e-8);
  add_block(&c, d, mn_v3(-0.15, 0.002, -0.15), mn_v3(0.3, 0.2, 0.3), 4, 2, 1e5, 0.01, NONE);
  mn_simplex_mesh mesh;
  CHECK_OK(c.ctx, mn_mesh_sheet(c.ctx, mn_v3(-0.2, 0.23, -0.21), mn_v3(0, 0, 0.4), mn_v3(0.4, 0, 0),
                                11, 11, &mesh));
  mn_springs_def springs = {
      .name = "cloth", .density = 0.5, .stretch = 200, .bend = 1e-2, .stretch_damping = 0.05};
  springs.alpha = 2;
  int cloth;
  CHECK_OK(c.ctx, mn_deform_add_springs(d, &mesh, &springs, &cloth));
  mn_simplex_mesh_destroy(&mesh);
  mn_deform_set_contact(d, cloth, -1, collides);
  case_wall(&c, mn_v3(0, 0, 0), mn_v3(0, 1, 0));
  start(&c, d);
  double worst = HUGE_VAL, passes = 0;
  for (int n = 0; n < 60; n++) {
    case_step(&c, 0.005);
    passes += mn_solids_last(c.solids)->presses / 60.0;
    mn_deform_view v = mn_deform_get(d);
    double top = -HUGE_VAL; /* of the block, least of its upper nodes would ask for their number */
    for (uint32_t i = v.body[0].first; i < v.body[0].first + v.body[0].nodes; i++)
      top = mn_max(top, v.x[i].y);
    for (uint32_t i = v.body[1].first; i < v.body[1].first + v.body[1].nodes; i++)
      if (fabs(v.x[i].x) < 0.13 && fabs(v.x[i].z) < 0.13)
        worst = mn_min(worst, v.x[i].y - top);
  }
  *speed = mn_length(mn_solids_momentum(c.solids, 2)) / mn_deform_get(d).body[1].mass;
  printf("cloth at %.3f, lowest %.2e above the block, speed %.1e, %d touches, %.1f passes\n",
         center(&c, 1).y, worst, *speed, mn_solids_last(c.solids)->press_touches, passes);
  case_close(&c);
  return worst;
}

static void test_cloth(void **state)
{
  (void)state;
  double speed;
  CHECK_GE(lay(1, &speed), -2e-3); /* the block's top is not quite flat */
  CHECK_LE(speed, 0.1);
  CHECK_DONE();
  CHECK_GE(lay(0, &speed), -2e-3);
  CHECK_MUST_HAVE_FAILED();
}

/* ---- friction -------------------------------------------------------------------------------- */

/* A block slides on one whose bottom is held: how far, where Coulomb's law says v^2/(2 mu g). */
static double slide(double mu, double time)
{
  static solids_case c;
  case_open(&c, 2);
  mn_deform *d = bodies(&c, G, 1e-8);
  add_block(&c, d, mn_v3(-0.3, -0.1, 0), mn_v3(1.2, 0.1, 0), 24, 2, 1e7, 0.001, NONE);
  add_block(&c, d, mn_v3(-0.2, 1e-3, 0), mn_v3(0.2, 0.05, 0), 8, 2, 1e7, 0.001, mn_v3(1, 0, 0));
  mn_deform_view v = mn_deform_get(d);
  for (uint32_t i = 0; i < v.body[0].nodes; i++)
    if (v.rest[i].y < -0.09)
      mn_deform_fix(d, i, MN_FIX_ALL);
  for (int b = 0; b < 2; b++)
    mn_deform_set_contact(d, b, mu, 1);
  start(&c, d);
  double x = center(&c, 1).x;
  while (c.t < time - 1e-9)
    case_step(&c, 0.005);
  x = center(&c, 1).x - x;
  printf("slid %.4f m with friction %g\n", x, mu);
  case_close(&c);
  return x;
}

static void test_friction(void **state)
{
  (void)state;
  CHECK_NEAR(slide(0.3, 0.6), 1 / (2 * 0.3 * 9.81), 0.02 * 0.17);
  CHECK_NEAR(slide(0, 0.3), 0.3, 0.005 * 0.3);
  CHECK_DONE();
}

/* ---- a pool ---------------------------------------------------------------------------------- */

static double pool(int contacts, double *speed, double *lowest)
{
  static solids_case c;
  case_open(&c, 2);
  mn_deform *d = bodies(&c, G, 1e-8);
  for (int i = 0; i < 8; i++) {
    double x = 0.09 + 0.15 * (i % 2) + 0.01 * (i * 3 % 4);
    add_ball(&c, d, mn_v3(x, 0.08 + 0.13 * (i / 2), 0), 0.06, 3, 2e5, 0.01, NONE);
    mn_deform_set_contact(d, i, 0.2, contacts || i == 0);
  }
  case_wall(&c, mn_v3(0, 0, 0), mn_v3(0, 1, 0));
  case_wall(&c, mn_v3(0, 0, 0), mn_v3(1, 0, 0));
  case_wall(&c, mn_v3(0.36, 0, 0), mn_v3(-1, 0, 0));
  start(&c, d);
  double deepest = 0, passes = 0, iterations = 0;
  for (int n = 0; n < 200; n++) {
    case_step(&c, 0.005);
    deepest = mn_max(deepest, overlap(&c));
    passes += mn_solids_last(c.solids)->presses / 200.0;
    iterations += mn_solids_last(c.solids)->deform.iterations / 200.0;
  }
  *speed = 0, *lowest = HUGE_VAL;
  for (int i = 0; i < 8; i++) {
    double v = mn_length(mn_solids_momentum(c.solids, 3 + i)) / mn_deform_get(d).body[i].mass;
    *speed = mn_max(*speed, v);
    *lowest = mn_min(*lowest, center(&c, i).y);
  }
  printf("pool: deepest %.2e, speed %.1e, lowest %.3f, penetration %.1e, %d touches, %.1f passes, "
         "%.1f iterations in the last\n",
         deepest, *speed, *lowest, mn_solids_last(c.solids)->penetration,
         mn_solids_last(c.solids)->press_touches, passes, iterations);
  case_close(&c);
  return deepest;
}

static void test_pool(void **state)
{
  (void)state;
  double speed, lowest;
  CHECK_LE(pool(1, &speed, &lowest), 1e-3);
  CHECK_LE(speed, 0.02);
  CHECK_GE(lowest, 0.05);
  CHECK_DONE();
  pool(0, &speed, &lowest);
  CHECK_GE(lowest, 0.05);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stack),
      cmocka_unit_test(test_collide),
      cmocka_unit_test(test_fast),
      cmocka_unit_test(test_pass_without_contact),
      cmocka_unit_test(test_deep_without_sweep),
      cmocka_unit_test(test_cloth),
      cmocka_unit_test(test_friction),
      cmocka_unit_test(test_pool),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
