/* Elastic bodies against obstacles and rigid bodies. */
#include "solids_case.h"

#include <stdio.h>
#include <stdlib.h>

#include "geom/structured.h"

static const mn_vec3 G = {{0, -9.81, 0}};

static mn_deform *body(mn_context *ctx, mn_scheme scheme, mn_vec3 gravity, mn_simplex_mesh *mesh,
                       double young, double damping, mn_vec3 velocity)
{
  mn_deform_def def = mn_deform_def_default(mesh->dim);
  mn_elastic_def elastic = {.name = "soft",
                            .material = MN_NEO_HOOKEAN,
                            .young = young,
                            .poisson = 0.4,
                            .density = 1000,
                            .beta = damping,
                            .velocity = velocity};
  mn_deform *d;
  int number;
  def.scheme = scheme;
  def.gravity = gravity;
  def.tolerance = 1e-12; /* what Newton leaves is momentum too */
  CHECK_OK(ctx, mn_deform_create(ctx, &def, &d));
  CHECK_OK(ctx, mn_deform_add_elastic(d, mesh, &elastic, &number));
  CHECK_OK(ctx, mn_deform_ready(d));
  mn_simplex_mesh_destroy(mesh);
  return d;
}

static mn_deform *ring(mn_context *ctx, mn_scheme scheme, double damping, mn_vec3 middle)
{
  mn_simplex_mesh mesh;
  CHECK_OK(ctx, mn_mesh_ring(ctx, middle, 0.12, 0.2, 4, 48, &mesh));
  return body(ctx, scheme, G, &mesh, 4e4, damping, mn_v3(0, 0, 0));
}

static mn_deform *block(mn_context *ctx, mn_scheme scheme, mn_vec3 gravity, double young,
                        double bottom, mn_vec3 velocity)
{
  mn_simplex_mesh mesh;
  const int cells[3] = {4, 4, 4};
  CHECK_OK(ctx,
           mn_mesh_box(ctx, 3, mn_v3(-0.15, bottom, -0.15), mn_v3(0.3, 0.3, 0.3), cells, &mesh));
  return body(ctx, scheme, gravity, &mesh, young, gravity.y != 0 ? 0.004 : 0, velocity);
}

typedef struct seen {
  double least_j, grown, pressed, penetration;
  double force, speed, along, lowest; /* on average over the last part; at the end */
  mn_vec3 center;
} seen;

/* Elastic, kinetic and that of gravity. */
static double energy(solids_case *c)
{
  mn_deform_view v = mn_deform_get(mn_solids_deform(c->solids));
  double e = mn_solids_energy(c->solids, -1);
  for (size_t i = 0; i < v.nodes; i++)
    e -= v.mass[i] * mn_dot(G, v.x[i]);
  return e;
}

static int step(solids_case *c, double dt)
{
  mn_interface none = {.dim = c->def.dim};
  if (c->box.ops->begin(c->box.self, c->t, dt) != MN_OK ||
      c->box.ops->solve(c->box.self, &none, NULL) != MN_OK)
    return 0;
  c->t += dt;
  return c->box.ops->commit(c->box.self) == MN_OK;
}

/* Falls and comes to rest; the force that fixed bodies feel is averaged over the last `rest`. */
static seen drop(solids_case *c, double dt, double time, double rest)
{
  seen s = {.least_j = 1};
  int steps = 0;
  mn_deform *d = mn_solids_deform(c->solids);
  double before = energy(c), mass = mn_deform_get(d).body[0].mass, scale = mass * 9.81 * 0.3;
  while (c->t < time - 0.5 * dt) {
    if (!step(c, dt)) {
      s.least_j = 0;
      printf("at %g s: %s\n", c->t, mn_context_message(c->ctx));
      return s;
    }
    const mn_solids_report *r = mn_solids_last(c->solids);
    double e = energy(c);
    s.grown = mn_max(s.grown, (e - before) / scale);
    before = e;
    s.least_j = mn_min(s.least_j, mn_deform_min_j(d, -1));
    s.pressed = mn_max(s.pressed, r->pressed);
    s.penetration = r->penetration;
    if (c->t < time - rest)
      continue;
    for (int i = 0; i < c->def.rigid_count; i++)
      s.force -= case_state(c, i)->contact.y;
    steps++;
  }
  s.force /= steps * mass * 9.81;
  s.speed = mn_length(mn_solids_momentum(c->solids, c->def.rigid_count)) / mass;
  s.center = mn_deform_center(d, 0);
  printf("least J %.3f, grown %.2e, pressed %.2e, penetration %.2e, force %.6f, speed %.2e, "
         "at %.4f %.4f\n",
         s.least_j, s.grown, s.pressed, s.penetration, s.force, s.speed, s.center.x, s.center.y);
  return s;
}

/* A soft ring falls 0.3 m on a floor or on the edge of a step. */
static seen drop_ring(mn_scheme scheme, double damping, double time, int on_step, int kicks)
{
  static solids_case c;
  case_open(&c, 2);
  c.def.deform = ring(c.ctx, scheme, damping, mn_v3(0.5, 0.7, 0));
  c.def.contact.kicks = kicks;
  if (on_step)
    case_box(&c, mn_v3(0.16, 0.05, 0), mn_v3(0.26, 0.15, 0))->joint = MN_JOINT_FIXED;
  case_wall(&c, mn_v3(0, on_step ? 0 : 0.2, 0), mn_v3(0, 1, 0));
  case_start(&c);
  seen s = drop(&c, 0.005, time, 0.1);
  case_close(&c);
  return s;
}

static void check_ring(const seen *s)
{
  CHECK_GE(s->least_j, 0.3);
  CHECK_LE(s->grown, 1e-4);
  CHECK_LE(s->pressed, 1e-3); /* the thickness */
  CHECK_LE(s->penetration, 1e-3);
}

static void test_ring(void **state)
{
  (void)state;
  seen s = drop_ring(MN_BACKWARD_EULER, 0.05, 2, 0, 0);
  check_ring(&s);
  CHECK_NEAR(s.force, 1, 0.01);
  CHECK_LE(s.speed, 0.01);
  s = drop_ring(MN_NEWMARK, 0.05, 2, 0, 0);
  check_ring(&s);
  CHECK_NEAR(s.force, 1, 0.01);
  s = drop_ring(MN_BACKWARD_EULER, 0.002, 0.8, 1, 0);
  check_ring(&s);
  CHECK_DONE();
  s = drop_ring(MN_BACKWARD_EULER, 0.002, 0.8, 1, 1); /* kicks on lumped nodes crush it */
  CHECK_GE(s.least_j, 0.3);
  CHECK_MUST_HAVE_FAILED();
}

/* An elastic box falls 0.2 m on the floor. */
static void test_block(void **state)
{
  (void)state;
  static solids_case c;
  case_open(&c, 3);
  c.def.deform = block(c.ctx, MN_BACKWARD_EULER, G, 4e4, 0.2, mn_v3(0, 0, 0));
  case_wall(&c, mn_v3(0, 0, 0), mn_v3(0, 1, 0));
  case_start(&c);
  seen s = drop(&c, 0.005, 1.2, 0.1);
  check_ring(&s);
  CHECK_NEAR(s.force, 1, 0.01);
  CHECK_LE(s.speed, 0.01);
  case_close(&c);
  CHECK_DONE();
}

/* Friction: on a slope of 0.2 a box with friction above it stays, without it slides with g sin. */
static double slide(double friction)
{
  static solids_case c;
  case_open(&c, 3);
  double angle = atan(0.2);
  mn_vec3 gravity = mn_v3(9.81 * sin(angle), -9.81 * cos(angle), 0);
  c.def.deform = block(c.ctx, MN_BACKWARD_EULER, gravity, 4e5, 1e-3, mn_v3(0, 0, 0));
  c.def.contact.node_friction = friction;
  case_wall(&c, mn_v3(0, 0, 0), mn_v3(0, 1, 0))->friction = friction;
  case_start(&c);
  for (int i = 0; i < 100; i++)
    case_step(&c, 0.005);
  mn_deform *d = mn_solids_deform(c.solids);
  double v = mn_deform_momentum(d, 0).x / mn_deform_get(d).body[0].mass;
  case_close(&c);
  return v;
}

static void test_friction(void **state)
{
  (void)state;
  double g = 9.81 * sin(atan(0.2)), hold = 9.81 * cos(atan(0.2));
  CHECK_NEAR(slide(0), g * 0.5, 1e-3 * g);
  CHECK_NEAR(slide(0.1), (g - 0.1 * hold) * 0.5, 0.05 * g * 0.5);
  CHECK_LE(fabs(slide(0.5)), 2e-2);
  CHECK_DONE();
}

/* A rigid ball or box hits a free elastic box: momentum to round-off, whatever the mass ratio. */
static void hit(mn_scheme scheme, double density, int ball)
{
  static solids_case c;
  case_open(&c, 3);
  c.def.gravity = mn_v3(0, 0, 0);
  c.def.deform = block(c.ctx, scheme, mn_v3(0, 0, 0), 4e4, 0, mn_v3(0, 0.2, 0));
  mn_rigid_def *b = ball ? case_ball(&c, mn_v3(0.03, 0.42, 0.02), 0.1)
                         : case_box(&c, mn_v3(0.03, 0.37, 0.02), mn_v3(0.1, 0.05, 0.1));
  b->density = density, b->velocity = mn_v3(0.2, -1, 0), b->spin = mn_v3(1, 0, 2);
  case_start(&c);
  mn_vec3 p0 = mn_solids_momentum(c.solids, -1);
  double scale = mn_solids_rigid(c.solids)->body[0].mass + 0.2 * 27, worst = 0, grown = 0;
  double before = mn_solids_energy(c.solids, -1), first = before, pressed = 0, least = 1;
  int touched = 0, passes = 0;
  for (int i = 0; i < 50; i++) {
    case_step(&c, 0.005);
    const mn_solids_report *r = mn_solids_last(c.solids);
    worst = mn_max(worst, mn_length(mn_sub(mn_solids_momentum(c.solids, -1), p0)) / scale);
    double e = mn_solids_energy(c.solids, -1);
    grown = mn_max(grown, (e - before) / first);
    before = e;
    pressed = mn_max(pressed, r->pressed);
    touched += r->pressed > 0;
    passes = r->presses > passes ? r->presses : passes;
    least = mn_min(least, mn_deform_min_j(mn_solids_deform(c.solids), -1));
  }
  printf("hit by %g kg/m^3: momentum %.2e, grown %.2e, pressed %.2e in %d steps, passes %d, J "
         "%.3f, energy %.3f\n",
         density, worst, grown, pressed, touched, passes, least, before / first);
  CHECK_GE(touched, 2);
  CHECK_LE(worst, 1e-12);
  /* nothing else is damped in the others: what the penalty stored comes back */
  CHECK_LE(grown, scheme == MN_BACKWARD_EULER ? 1e-4 : 1e-2);
  CHECK_LE(before, first);
  CHECK_GE(case_state(&c, 0)->v.y, 0);
  CHECK_GE(least, 0.3);
  CHECK_LE(pressed, 2e-3);
  case_close(&c);
}

static void test_hit(void **state)
{
  (void)state;
  hit(MN_BACKWARD_EULER, 1000, 1);
  hit(MN_BACKWARD_EULER, 10, 1);
  hit(MN_BACKWARD_EULER, 1000, 0);
  hit(MN_BACKWARD_EULER, 5, 0);
  hit(MN_MIDPOINT, 1000, 1);
  hit(MN_NEWMARK, 1000, 1);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_ring), cmocka_unit_test(test_block),
                                     cmocka_unit_test(test_friction), cmocka_unit_test(test_hit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
