/* Contact of rigid bodies: friction, bounces, stacks, speed, conservation. */
#include "solids_case.h"

/* A block on a slope of angle a: sticks for mu > tan a, else slides with g (sin a - mu cos a). */
static double slide(int dim, double angle, double mu, double *speed)
{
  static solids_case c;
  case_open(&c, dim);
  c.def.gravity = mn_v3(9.81 * sin(angle), -9.81 * cos(angle), 0);
  case_wall(&c, mn_v3(0, 0, 0), mn_v3(0, 1, 0))->friction = mu;
  case_box(&c, mn_v3(0, 0.1, 0), mn_v3(0.2, 0.1, 0.15))->friction = mu;
  case_start(&c);
  for (int n = 0; n < 200; n++)
    case_step(&c, 0.005);
  const mn_rigid_state *s = case_state(&c, 1);
  double x = s->x.x;
  *speed = mn_length(s->v);
  CHECK_NEAR(s->x.y, 0.1, 1e-5);
  case_close(&c);
  return x;
}

static void test_slope(void **state)
{
  (void)state;
  double angle = 0.5, speed;
  for (int dim = 2; dim <= 3; dim++) {
    CHECK_NEAR(slide(dim, angle, 1.02 * tan(angle), &speed), 0, 1e-7);
    CHECK_LE(speed, 1e-9);
    double a = 9.81 * (sin(angle) - 0.98 * tan(angle) * cos(angle));
    CHECK_NEAR(slide(dim, angle, 0.98 * tan(angle), &speed) / (0.5 * a), 1, 1e-3);
    a = 9.81 * (sin(angle) - 0.3 * cos(angle));
    CHECK_NEAR(slide(dim, angle, 0.3, &speed) / (0.5 * a), 1, 1e-5);
    CHECK_NEAR(speed / a, 1, 1e-5);
    CHECK_NEAR(slide(dim, angle, 0, &speed) / (0.5 * 9.81 * sin(angle)), 1, 1e-10);
  }
  CHECK_DONE();
}

/* A ball rolls without slipping: a = 5/7 g sin (ball), 2/3 g sin (disk). */
static void test_rolling(void **state)
{
  (void)state;
  static solids_case c;
  for (int dim = 2; dim <= 3; dim++) {
    case_open(&c, dim);
    c.def.gravity = mn_v3(9.81 * sin(0.3), -9.81 * cos(0.3), 0);
    case_wall(&c, mn_v3(0, 0, 0), mn_v3(0, 1, 0))->friction = 1;
    case_ball(&c, mn_v3(0, 0.1, 0), 0.1)->friction = 1;
    case_start(&c);
    for (int n = 0; n < 100; n++)
      case_step(&c, 0.01);
    double a = 9.81 * sin(0.3) * (dim == 3 ? 5.0 / 7 : 2.0 / 3);
    CHECK_NEAR(case_state(&c, 1)->x.x / (0.5 * a), 1, 1e-6);
    mn_twist t = mn_rigid_twist(&mn_solids_rigid(c.solids)->body[1], case_state(&c, 1));
    CHECK_NEAR(t.v.x + 0.1 * t.w.z, 0, 1e-7);
    case_close(&c);
  }
  CHECK_DONE();
}

/* A ball dropped from h rises to e^2 h; with e = 1 it keeps its energy. */
static void test_bounce(void **state)
{
  (void)state;
  static solids_case c;
  static const double restitution[3] = {1, 0.8, 0.5};
  for (int order = 1; order <= 2; order++)
    for (int i = 0; i < 3; i++) {
      case_open(&c, 3);
      c.def.order = order;
      case_wall(&c, mn_v3(0, 0, 0), mn_v3(0, 1, 0))->restitution = restitution[i];
      case_ball(&c, mn_v3(0, 1.1, 0), 0.1);
      case_start(&c);
      double top = 0, before = mn_solids_energy(c.solids, -1), grown = 0;
      int bounced = 0;
      for (int n = 0; n < 2000 && (!bounced || case_state(&c, 1)->v.y > 0); n++) {
        case_step(&c, 0.0007);
        bounced |= case_state(&c, 1)->v.y > 0;
        top = bounced ? mn_max(top, case_state(&c, 1)->x.y - 0.1) : 0;
        double now = mn_solids_energy(c.solids, -1);
        grown = mn_max(grown, now / before - 1);
        before = now;
      }
      double e2 = restitution[i] * restitution[i];
      CHECK_NEAR(top / e2, 1, order == 2 ? 1e-5 : 2e-2);
      CHECK_LE(grown, 1e-12);
      case_close(&c);
    }
  CHECK_DONE();
}

/* Five boxes on each other, ten balls in a tube: at rest for 5 s. */
static void test_stacks(void **state)
{
  (void)state;
  static solids_case c;
  for (int dim = 2; dim <= 3; dim++) {
    case_open(&c, dim);
    case_wall(&c, mn_v3(0, 0, 0), mn_v3(0, 1, 0));
    for (int i = 0; i < 5; i++)
      case_box(&c, mn_v3(0, 0.1 + 0.2 * i, 0), mn_v3(0.15, 0.1, 0.12));
    case_start(&c);
    double speed = 0, moved = 0;
    for (int n = 0; n < 500; n++) {
      case_step(&c, 0.01);
      for (int i = 1; i <= 5; i++)
        speed = check_worst(mn_length(case_state(&c, i)->v), speed);
    }
    for (int i = 1; i <= 5; i++)
      moved =
          check_worst(mn_length(mn_sub(case_state(&c, i)->x, mn_v3(0, 0.2 * i - 0.1, 0))), moved);
    CHECK_LE(speed, 1e-3);
    CHECK_LE(moved, 1e-3 * 0.2);
    CHECK_LE(mn_solids_last(c.solids)->penetration, 1e-3 * 0.1);
    case_close(&c);

    case_open(&c, dim);
    case_wall(&c, mn_v3(0, 0, 0), mn_v3(0, 1, 0));
    for (int a = 0; a < dim; a += 2)
      for (int side = -1; side <= 1; side += 2) {
        mn_vec3 n = {0}, x = {0};
        n.v[a] = -side, x.v[a] = 0.1 * side;
        case_wall(&c, x, n);
      }
    int walls = c.def.rigid_count;
    for (int i = 0; i < 10; i++)
      case_ball(&c, mn_v3(0, 0.1 + 0.2 * i, 0), 0.1);
    case_start(&c);
    speed = moved = 0;
    for (int n = 0; n < 500; n++) {
      case_step(&c, 0.01);
      for (int i = 0; i < 10; i++)
        speed = check_worst(mn_length(case_state(&c, walls + i)->v), speed);
    }
    for (int i = 0; i < 10; i++)
      moved = check_worst(fabs(case_state(&c, walls + i)->x.y - 0.1 - 0.2 * i), moved);
    CHECK_LE(speed, 1e-2);
    CHECK_LE(moved, 5e-3 * 0.1);
    case_close(&c);
  }
  CHECK_DONE();
}

/* A ball at 100 m/s against a plate of 1 mm: stopped; without the sweep it is through. */
static double shot(int dim, int sweep)
{
  static solids_case c;
  case_open(&c, dim);
  c.def.gravity = mn_v3(0, 0, 0);
  c.def.contact.sweep = sweep;
  case_box(&c, mn_v3(0, 0, 0), mn_v3(0.0005, 0.5, 0.5))->joint = MN_JOINT_FIXED;
  mn_rigid_def *b = case_ball(&c, mn_v3(-0.75, 0.05, 0), 0.02);
  b->velocity = mn_v3(100, 3, 0);
  case_start(&c);
  for (int n = 0; n < 5; n++)
    case_step(&c, 0.01);
  double x = case_state(&c, 1)->x.x;
  case_close(&c);
  return x;
}

static void test_no_tunnel(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    CHECK_NEAR(shot(dim, 1), -0.0205, 1e-4);
  CHECK_DONE();
  CHECK_LE(shot(3, 0), 0);
  CHECK_MUST_HAVE_FAILED();
}

/* Struck within a substep, a ball moves at once: it must not pass the plate behind it either. */
static void test_struck(void **state)
{
  (void)state;
  static solids_case c;
  case_open(&c, 3);
  c.def.gravity = mn_v3(0, 0, 0);
  case_box(&c, mn_v3(0.06, 0, 0), mn_v3(0.0005, 0.5, 0.5))->joint = MN_JOINT_FIXED;
  case_ball(&c, mn_v3(0, 0, 0), 0.02);
  case_ball(&c, mn_v3(-0.75, 0, 0), 0.02)->velocity = mn_v3(200, 0, 0);
  case_start(&c);
  for (int n = 0; n < 5; n++)
    case_step(&c, 0.01);
  CHECK_LE(case_state(&c, 1)->x.x, 0.0396);
  CHECK_LE(case_state(&c, 2)->x.x, case_state(&c, 1)->x.x - 0.03999);
  case_close(&c);
  CHECK_DONE();
}

/* Two that only pass each other do not feel it. */
static void test_passing(void **state)
{
  (void)state;
  static solids_case c;
  case_open(&c, 3);
  c.def.gravity = mn_v3(0, 0, 0);
  case_ball(&c, mn_v3(0, 0, 0), 0.1);
  case_ball(&c, mn_v3(-0.5, 0.21, 0), 0.1)->velocity = mn_v3(100, 0, 0);
  case_start(&c);
  case_step(&c, 0.01);
  CHECK_NEAR(case_state(&c, 1)->x.x, 0.5, 1e-12);
  CHECK(case_state(&c, 0)->v.x == 0 && case_state(&c, 0)->v.y == 0);
  case_close(&c);
  CHECK_DONE();
}

/* C8: a crowd flying into each other: balls, or also boxes, a capsule and a torus. Momentum and
   angular momentum to round-off per step. The greatest growth of the energy in a step. */
static double crowd(int order, int mixed, double dt)
{
  static solids_case c;
  case_open(&c, 3);
  c.def.gravity = mn_v3(0, 0, 0);
  c.def.order = order;
  uint64_t seed = 7;
  for (int i = 0; i < 12; i++) {
    mn_vec3 x = mn_v3(0.5 * (i % 3), 0.5 * (i / 3 % 2), 0.5 * (i / 6));
    mn_rigid_def *b;
    mn_shape *s;
    if (mixed && i % 4 == 0)
      b = case_box(&c, x, mn_v3(0.15, 0.1, 0.12));
    else if (mixed && i % 4 == 3) {
      if (i == 3)
        CHECK_OK(c.ctx, mn_shape_torus(c.ctx, 3, x, mn_v3(1, 1, 1), 0.12, 0.05, &s));
      else
        CHECK_OK(c.ctx, mn_shape_capsule(c.ctx, 3, x, mn_madd(x, 0.1, mn_v3(1, 1, 0)), 0.08, &s));
      b = case_add(&c, s);
    } else
      b = case_ball(&c, x, 0.15);
    mn_vec3 inward = mn_sub(mn_v3(0.5, 0.25, 0.25), x);
    b->velocity = mn_madd(mn_scale(2, inward), 0.3 * check_random(&seed), mn_v3(1, -1, 1));
    b->spin = mn_v3(check_random(&seed), check_random(&seed), check_random(&seed));
    b->restitution = 0.3 * (i % 3);
  }
  case_start(&c);
  double scale = 0, worst_p = 0, worst_l = 0, grown = 0, before = mn_solids_energy(c.solids, -1);
  for (int i = 0; i < 12; i++)
    scale += mn_solids_rigid(c.solids)->body[i].mass * mn_length(c.body[i].velocity);
  mn_vec3 o = mn_v3(0.5, 0.25, 0.25), p0 = mn_solids_momentum(c.solids, -1);
  mn_vec3 l0 = mn_solids_angular(c.solids, -1, o);
  int touched = 0;
  while (c.t < 1.2) {
    case_step(&c, dt);
    mn_vec3 p = mn_solids_momentum(c.solids, -1), l = mn_solids_angular(c.solids, -1, o);
    worst_p = check_worst(mn_length(mn_sub(p, p0)) / scale, worst_p);
    worst_l = check_worst(mn_length(mn_sub(l, l0)) / scale, worst_l);
    p0 = p, l0 = l;
    double e = mn_solids_energy(c.solids, -1);
    grown = mn_max(grown, e / before - 1);
    before = e;
    touched += mn_solids_last(c.solids)->drift.touches;
  }
  CHECK_GE(touched, 50);
  CHECK_LE(worst_p, 1e-12);
  CHECK_LE(worst_l, 1e-12);
  CHECK_LE(mn_solids_last(c.solids)->penetration, 0.02 * 0.1);
  case_close(&c);
  return grown;
}

/* Balls do not gain energy at all. Other tops wobble: the energy of their free turn, bounded but
   not constant, goes to and fro with (spin dt)^2. */
static void test_conservation(void **state)
{
  (void)state;
  for (int order = 1; order <= 2; order++) {
    CHECK_LE(crowd(order, 0, 0.004), 1e-12);
    CHECK_LE(crowd(order, 1, 0.004), 1e-4);
    CHECK_LE(crowd(order, 1, 0.001), 1e-5);
  }
  CHECK_DONE();
}

/* A moving floor carries what lies on it; a ball in the corner of a hollow body rests on both. */
static void test_driven_and_hollow(void **state)
{
  (void)state;
  static solids_case c;
  case_open(&c, 2);
  mn_rigid_def *belt = case_box(&c, mn_v3(0, -0.5, 0), mn_v3(5, 0.5, 0));
  belt->joint = MN_JOINT_DRIVEN, belt->friction = 1;
  belt->motion.translate = mn_v3(1, 0, 0);
  belt->motion.path = (mn_timefn){.kind = MN_TIME_RATE, .rate = 0.5};
  case_box(&c, mn_v3(0, 0.1, 0), mn_v3(0.1, 0.1, 0))->friction = 1;
  case_start(&c);
  for (int n = 0; n < 200; n++)
    case_step(&c, 0.01);
  CHECK_NEAR(case_state(&c, 1)->v.x, 0.5, 1e-6);
  CHECK_NEAR(case_state(&c, 1)->x.y, 0.1, 1e-4);
  case_close(&c);

  case_open(&c, 2);
  mn_shape *part[2], *s;
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(-1, -1, 0), mn_v3(1, 1, 0), &part[0]));
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(-0.9, -0.9, 0), mn_v3(0.9, 1.1, 0), &part[1]));
  CHECK_OK(c.ctx, mn_shape_difference(c.ctx, part, 2, &s));
  case_add(&c, s)->joint = MN_JOINT_FIXED;
  c.def.gravity = mn_v3(-4, -9, 0);
  case_ball(&c, mn_v3(-0.5, -0.6, 0), 0.1);
  case_start(&c);
  for (int n = 0; n < 300; n++)
    case_step(&c, 0.01);
  CHECK_NEAR(case_state(&c, 1)->x.x, -0.8, 1e-4);
  CHECK_NEAR(case_state(&c, 1)->x.y, -0.8, 1e-4);
  CHECK_LE(mn_length(case_state(&c, 1)->v), 1e-3);
  case_close(&c);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_slope),
                                     cmocka_unit_test(test_rolling),
                                     cmocka_unit_test(test_bounce),
                                     cmocka_unit_test(test_stacks),
                                     cmocka_unit_test(test_no_tunnel),
                                     cmocka_unit_test(test_struck),
                                     cmocka_unit_test(test_passing),
                                     cmocka_unit_test(test_conservation),
                                     cmocka_unit_test(test_driven_and_hollow)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
