/* Joints and springs: oscillator, pendulum, piston, external forces; what each rule promises. */
#include <stdio.h>

#include "solids_case.h"

/* C9: mass on a spring along a slide; omega^2 = k/m. */
static void oscillator(solids_case *c, int dim, int order, double k)
{
  case_open(c, dim);
  c->def.gravity = mn_v3(0, 0, 0);
  c->def.order = order;
  mn_rigid_def *b = case_box(c, mn_v3(1.1, 0, 0), mn_v3(0.1, 0.1, 0.1));
  b->mass = 2;
  b->joint = MN_JOINT_PRISMATIC;
  b->axis = mn_v3(1, 0, 0);
  c->spring[0] = (mn_spring_def){
      .a = 0, .b = -1, .at_a = mn_v3(1.1, 0, 0), .at_b = mn_v3(0, 0, 0), .stiffness = k};
  c->spring[0].length = 1;
  c->def.spring_count = 1;
  case_start(c);
}

/* How far the decay of |(v, w s)| a step is from that of backward Euler. */
static double decay_error(int dim, int order, double stiffness)
{
  static solids_case c;
  oscillator(&c, dim, order, stiffness);
  double dt = 0.01, w2 = stiffness / 2, factor = 1 / sqrt(1 + w2 * dt * dt);
  /* starts at s = 0.1, v = 0; until round-off of the position is seen */
  double worst = 0, before = sqrt(w2 * 0.01), start = before;
  for (int n = 0; n < 20 && before > 1e-3 * start; n++) {
    case_step(&c, dt);
    const mn_rigid_state *s = case_state(&c, 0);
    double x = s->x.x - 1, now = sqrt(s->v.x * s->v.x + w2 * x * x);
    worst = check_worst(fabs(now / before / factor - 1), worst);
    before = now;
  }
  case_close(&c);
  return worst;
}

static void test_backward_euler(void **state)
{
  (void)state;
  static const double stiffness[3] = {8, 800, 8e6};
  for (int dim = 2; dim <= 3; dim++)
    for (int i = 0; i < 3; i++)
      CHECK_LE(decay_error(dim, 1, stiffness[i]), 1e-10);
  CHECK_DONE();
  CHECK_LE(decay_error(2, 2, 800), 1e-10); /* the other rule does not decay */
  CHECK_MUST_HAVE_FAILED();
}

/* The second-order rule: energy kept, period 2 pi sqrt(m/k) with order 2; its discrete value is
   pi dt / atan(w dt/2) exactly. */
static void test_midpoint(void **state)
{
  (void)state;
  static solids_case c;
  double h[3], error[3], w = 2 * MN_PI;
  for (int i = 0; i < 3; i++) {
    int per = 20 << i;
    double dt = 1.0 / per, last = 0.1, first = 0, crossing = 0;
    int crossings = 0;
    oscillator(&c, 3, 2, 2 * w * w);
    double e0 = mn_solids_energy(c.solids, -1), drift = 0;
    for (int n = 0; n < 10 * per + per; n++) {
      case_step(&c, dt);
      double x = case_state(&c, 0)->x.x - 1;
      if (last > 0 && x <= 0) {
        crossing = c.t - dt * x / (x - last); /* linear: the same error at every crossing */
        first = crossings++ ? first : crossing;
      }
      last = x;
      drift = check_worst(fabs(mn_solids_energy(c.solids, -1) / e0 - 1), drift);
    }
    double period = (crossing - first) / (crossings - 1), exact = MN_PI * dt / atan(0.5 * w * dt);
    CHECK_LE(drift, 1e-10);
    CHECK_NEAR(period / exact, 1, 2e-4 / (1 << i));
    h[i] = dt, error[i] = fabs(exact - 1);
    CHECK_NEAR(period, 1, 1.2 * (w * dt) * (w * dt) / 12);
    case_close(&c);
  }
  CHECK_ORDER(h, error, 3, 2, 0.1);
  CHECK_DONE();
  oscillator(&c, 3, 1, 2 * w * w); /* backward Euler does not keep the energy */
  double e0 = mn_solids_energy(c.solids, -1);
  for (int n = 0; n < 20; n++)
    case_step(&c, 0.05);
  CHECK_LE(fabs(mn_solids_energy(c.solids, -1) / e0 - 1), 1e-10);
  case_close(&c);
  CHECK_MUST_HAVE_FAILED();
}

/* A rod on a hinge, released from 2 rad: T = 4 sqrt(I/(m g l)) K(sin 1). */
static double quarter(double k) /* complete elliptic integral by the arithmetic-geometric mean */
{
  double a = 1, b = sqrt(1 - k * k);
  for (int i = 0; i < 30; i++) {
    double m = 0.5 * (a + b);
    b = sqrt(a * b), a = m;
  }
  return MN_PI / (2 * a);
}

static void pendulum(solids_case *c, int dim)
{
  case_open(c, dim);
  mn_shape *s;
  CHECK_OK(c->ctx, mn_shape_box(c->ctx, dim, mn_v3(-0.05, -1, -0.05), mn_v3(0.05, 0, 0.05), &s));
  CHECK_OK(c->ctx, mn_shape_transform(c->ctx, s, mn_v3(0.3, 0.4, 0), mn_v3(0, 0, 1), 2, 1, &s));
  mn_rigid_def *b = case_add(c, s);
  b->joint = MN_JOINT_HINGE;
  b->point = mn_v3(0.3, 0.4, 0);
  case_start(c);
}

static void test_pendulum(void **state)
{
  (void)state;
  static solids_case c;
  for (int dim = 2; dim <= 3; dim++) {
    double h[3], error[3];
    for (int i = 0; i < 3; i++) {
      pendulum(&c, dim);
      const mn_rigid_body *b = &mn_solids_rigid(c.solids)->body[0];
      double I = b->hinge, T = 4 * sqrt(I / (b->mass * 9.81 * 0.5)) * quarter(sin(1));
      CHECK_NEAR(I / b->mass, 1.0 / 3 + 0.01 / 12, 1e-12);
      int steps = 200 << i;
      double e0 = mn_solids_energy(c.solids, -1), drift = 0, off = 0;
      for (int n = 0; n < steps; n++) {
        case_step(&c, T / steps);
        drift = check_worst(fabs(mn_solids_energy(c.solids, -1) - e0), drift);
        mn_vec3 pin = mn_rigid_point(b, case_state(&c, 0), b->def.point);
        off = check_worst(mn_length(mn_sub(pin, b->def.point)), off);
      }
      h[i] = 1.0 / steps, error[i] = fabs(case_state(&c, 0)->rate); /* 0 after one period */
      CHECK_LE(off, 1e-14);
      CHECK_LE(drift / (b->mass * 9.81), 20 * h[i] * h[i]);
      case_close(&c);
    }
    CHECK_ORDER(h, error, 3, 2, 0.15);
  }
  CHECK_DONE();
  /* the period of small swings is told apart */
  pendulum(&c, 2);
  const mn_rigid_body *b = &mn_solids_rigid(c.solids)->body[0];
  double T = 4 * sqrt(b->hinge / (b->mass * 9.81 * 0.5)) * quarter(0);
  for (int n = 0; n < 800; n++)
    case_step(&c, T / 800);
  CHECK_LE(fabs(case_state(&c, 0)->rate), 0.1);
  case_close(&c);
  CHECK_MUST_HAVE_FAILED();
}

/* A piston under gravity on a damped spring comes to rest at m g/k, with the decay of its damping;
   a force that holds it lets it go. */
static void test_piston(void **state)
{
  (void)state;
  static solids_case c;
  case_open(&c, 2);
  mn_rigid_def *b = case_box(&c, mn_v3(0, 1, 0), mn_v3(0.3, 0.05, 0));
  b->mass = 10, b->joint = MN_JOINT_PRISMATIC, b->axis = mn_v3(0, 2, 0);
  b->force = mn_v3(5, 98.1, 0); /* holds its weight, and pushes across the slide */
  b->force_ramp =
      (mn_timefn){.kind = MN_TIME_LINEAR, .from = 1, .to = 0, .start = 1, .duration = 1e-9};
  c.spring[0] = (mn_spring_def){.a = 0,
                                .b = -1,
                                .at_a = mn_v3(0, 1, 0),
                                .at_b = mn_v3(0, 0, 0),
                                .stiffness = 1000,
                                .damping = 40,
                                .length = -1};
  c.def.spring_count = 1;
  case_start(&c);
  for (int n = 0; n < 100; n++)
    case_step(&c, 0.01);
  CHECK_NEAR(case_state(&c, 0)->x.y, 1, 1e-12);
  double w = sqrt(100 - 4), a = 0.0981, worst = 0, control = 0; /* k/m - (c/2m)^2 */
  for (int n = 1; n <= 400; n++) {
    case_step(&c, 0.005);
    double t = 0.005 * n, x = exp(-2 * t) * a * (cos(w * t) + 2 / w * sin(w * t)) - a;
    worst = check_worst(fabs(case_state(&c, 0)->x.y - 1 - x), worst);
    x = exp(-2 * t) * a * (cos(10 * t) + 0.2 * sin(10 * t)) - a; /* undamped frequency */
    control = check_worst(fabs(case_state(&c, 0)->x.y - 1 - x), control);
  }
  CHECK_LE(worst, 1e-3 * a);
  for (int n = 0; n < 2000; n++)
    case_step(&c, 0.01);
  CHECK_NEAR(case_state(&c, 0)->x.y, 1 - a, 1e-10);
  CHECK(case_state(&c, 0)->x.x == 0);
  case_close(&c);
  CHECK_DONE();
  CHECK_LE(control, 1e-3 * a);
  CHECK_MUST_HAVE_FAILED();
}

/* Two bodies tumbling on a spring between points off their centres: momentum and angular momentum
   to round-off, energy nearly, however stiff the spring: the midpoint rule proper gains energy
   without end at 1e9 N/m. What a substep does not resolve of the stretching dies out at first. */
static void pair_on_a_spring(double stiffness, int to_world)
{
  static solids_case c;
  case_open(&c, 3);
  c.def.gravity = mn_v3(0, 0, 0);
  mn_rigid_def *b = case_box(&c, mn_v3(0, 0, 0), mn_v3(0.3, 0.2, 0.1));
  b->spin = mn_v3(1, 2, -1);
  b = case_ball(&c, mn_v3(1, 0.2, 0), 0.2);
  b->velocity = mn_v3(0, 1, 0.5);
  b->collides = 0;
  c.spring[0] = (mn_spring_def){.a = 0,
                                .b = to_world ? -1 : 1,
                                .at_a = mn_v3(0.3, 0.2, 0.1),
                                .at_b = mn_v3(0.9, 0.2, 0),
                                .stiffness = stiffness,
                                .length = -1};
  c.def.spring_count = 1;
  case_start(&c);
  mn_vec3 p0 = mn_solids_momentum(c.solids, -1), l0 = mn_solids_angular(c.solids, -1, p0);
  double e0 = mn_solids_energy(c.solids, -1), off = 0, worst_p = 0, worst_l = 0;
  for (int n = 0; n < 400; n++) {
    case_step(&c, 0.005);
    mn_vec3 p = mn_solids_momentum(c.solids, -1), l = mn_solids_angular(c.solids, -1, p0);
    worst_p = check_worst(mn_length(mn_sub(p, p0)), worst_p);
    worst_l = check_worst(mn_length(mn_sub(l, l0)), worst_l);
    double e = mn_solids_energy(c.solids, -1);
    CHECK_LE(e, 1.0002 * e0);
    e0 = n == 40 ? e : e0;
    off = n > 40 ? check_worst(fabs(e / e0 - 1), off) : 0;
  }
  CHECK_LE(worst_p / mn_length(p0), 1e-12);
  CHECK_LE(worst_l / mn_length(l0), 1e-11);
  CHECK_LE(off, 5e-4);
  CHECK_LE(mn_solids_last(c.solids)->outer, 10);
  printf("%g N/m: energy off by %.2g, %d passes\n", stiffness, off,
         mn_solids_last(c.solids)->outer);
  case_close(&c);
}

static void test_pair_on_a_spring(void **state)
{
  (void)state;
  static const double stiffness[] = {500, 1e7, 1e9, 1e12};
  for (int i = 0; i < 4; i++)
    pair_on_a_spring(stiffness[i], 0);
  CHECK_DONE();
  pair_on_a_spring(500, 1); /* the world takes momentum */
  CHECK_MUST_HAVE_FAILED();
}

/* Boxes in a row, every other one lighter, on links (length < 0) or pins between their ends. */
static void open_chain(solids_case *c, int dim, int order, double light, double k, double length)
{
  enum { bodies = 4 };
  case_open(c, dim);
  c->def.order = order;
  c->def.gravity = mn_v3(0, 0, 0);
  c->def.contacts = 0;
  double gap = length < 0 ? 0.15 : 0;
  for (int i = 0; i < bodies; i++) {
    double x = (0.2 + gap) * i;
    mn_rigid_def *b = case_box(c, mn_v3(x, 0, 0), mn_v3(0.1, 0.06, 0.04));
    b->density = i % 2 ? 1000 : 1000 * light;
    b->velocity = mn_v3(0, i == 0 ? 1 : i + 1 == bodies ? -1 : 0, i == 0 && dim == 3 ? 0.3 : 0);
    b->spin = mn_v3(0, 0, i);
    if (i)
      c->spring[i - 1] = (mn_spring_def){.a = i - 1,
                                         .b = i,
                                         .at_a = mn_v3(x - 0.1 - gap, 0.03, 0),
                                         .at_b = mn_v3(x - 0.1, 0.03, 0),
                                         .stiffness = k,
                                         .length = length};
  }
  c->def.spring_count = bodies - 1;
  case_start(c);
}

/* Chains: energy does not grow and, once it is that of rigid rods, is nearly kept; angular momentum
   to round-off. */
static void test_chains(void **state)
{
  (void)state;
  static const double stiffness[] = {1e2, 1e6, 1e9, 1e12}, light[] = {1, 0.01};
  static solids_case c;
  for (int n = 0; n < 32; n++) {
    int dim = 2 + n % 2, pin = n / 2 % 2;
    double k = stiffness[n / 4 % 4], other = light[n / 16];
    open_chain(&c, dim, 2, other, k, pin ? 0 : -1);
    mn_vec3 zero = mn_v3(0, 0, 0), l0 = mn_solids_angular(c.solids, -1, zero);
    double e0 = mn_solids_energy(c.solids, -1), most = 0, off = 0;
    for (int i = 0; i < 200; i++) {
      case_step(&c, 0.005);
      most = check_worst(most, mn_solids_energy(c.solids, -1) / e0);
      mn_vec3 l = mn_solids_angular(c.solids, -1, zero);
      off = check_worst(off, mn_length(mn_sub(l, l0)) / mn_length(l0));
    }
    double end = mn_solids_energy(c.solids, -1) / e0;
    printf("%dD, %s of %g N/m, %g times as light: energy at most %.5f, in the end %.4f, L %.1e\n",
           dim, pin ? "pins" : "links", k, other, most, end, off);
    CHECK_LE(most, 1.0002);
    CHECK_LE(off, 1e-12);
    CHECK_GE(end, pin ? 0.7 : 0.99); /* velocities at the start open pins */
    case_close(&c);
  }
  CHECK_DONE();
  open_chain(&c, 2, 1, 1, 1e9, -1); /* backward Euler loses energy */
  double e0 = mn_solids_energy(c.solids, -1);
  for (int i = 0; i < 200; i++)
    case_step(&c, 0.005);
  CHECK_GE(mn_solids_energy(c.solids, -1) / e0, 0.99);
  case_close(&c);
  CHECK_MUST_HAVE_FAILED();
}

/* The energy that a damper leaves of two bodies that part, free or on slides, after 0.2 s. */
static double damped(double damping, mn_joint_kind joint)
{
  static solids_case c;
  case_open(&c, 2);
  c.def.gravity = mn_v3(0, 0, 0);
  c.def.contacts = 0;
  for (int i = 0; i < 2; i++) {
    mn_rigid_def *b = case_box(&c, mn_v3(0.4 * i, 0, 0), mn_v3(0.1, 0.1, 0.1));
    b->mass = 6;
    b->velocity = mn_v3(i ? 1 : -1, 0, 0);
    b->joint = joint;
    b->axis = mn_v3(1, 0, 0);
  }
  c.spring[0] =
      (mn_spring_def){.a = 0, .b = 1, .at_b = mn_v3(0.4, 0, 0), .damping = damping, .length = -1};
  c.def.spring_count = 1;
  case_start(&c);
  double e0 = mn_solids_energy(c.solids, -1);
  for (int i = 0; i < 20; i++)
    case_step(&c, 0.01);
  double left = mn_solids_energy(c.solids, -1) / e0;
  case_close(&c);
  return left;
}

/* The stronger, the sooner: the midpoint rule proper turns v over. */
static void test_strong_dampers(void **state)
{
  (void)state;
  static const double damping[] = {1e3, 1e6, 1e9};
  for (int i = 0; i < 3; i++) {
    CHECK_LE(damped(damping[i], MN_JOINT_NONE), 1e-6);
    CHECK_LE(damped(damping[i], MN_JOINT_PRISMATIC), 1e-6);
  }
  CHECK_DONE();
  CHECK_LE(damped(1, MN_JOINT_NONE), 1e-6);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_backward_euler),   cmocka_unit_test(test_midpoint),
      cmocka_unit_test(test_pendulum),         cmocka_unit_test(test_piston),
      cmocka_unit_test(test_pair_on_a_spring), cmocka_unit_test(test_chains),
      cmocka_unit_test(test_strong_dampers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
