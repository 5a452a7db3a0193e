/* A block as heavy as the fluid that it displaces stays where it is, and does not turn; with the
   fluid it drifts on. Rigid, by itself in the test: a fixed-point iteration with the mass of the
   fluid around it. */
#include "body_case.h"
#include "mac_case.h"

#include <math.h>
#include <stdio.h>

typedef struct block {
  mac_case c;
  body_case body;
  double mass, inertia;
  mn_vec3 x, v; /* centre */
  double angle, omega;
} block;

/* One substep: m (v1 - v0) / dt = force(v1) + m g, and the same for the turn. */
static void step(block *b, double dt, mn_vec3 gravity)
{
  const mn_fluid_ops *ops = b->c.fluid.ops;
  mn_vec3 v = b->v;
  double omega = b->omega, scale = sqrt(b->inertia / b->mass);
  CHECK_OK(b->c.ctx, ops->begin(b->c.fluid.self, b->c.time, dt));
  for (int n = 0; n < 30; n++) {
    body_put(&b->body, mn_madd(b->x, dt, v), b->angle + dt * omega, v, omega);
    CHECK_OK(b->c.ctx, ops->solve(b->c.fluid.self, &b->body.face, &b->c.report));
    mn_vec3 force = mn_madd(body_force(&b->body), b->mass, gravity);
    double torque = body_torque(&b->body, mn_madd(b->x, dt, v)).z;
    force = mn_madd(force, -b->mass / dt, mn_sub(v, b->v));
    torque -= b->inertia / dt * (omega - b->omega);
    mn_vec3 dv = mn_scale(dt / (2 * b->mass), force);
    double turn = dt / (2 * b->inertia) * torque;
    v = mn_add(v, dv);
    omega += turn;
    if (mn_length(dv) + scale * fabs(turn) < 1e-13)
      break;
  }
  CHECK_OK(b->c.ctx, ops->commit(b->c.fluid.self));
  b->x = mn_madd(b->x, dt, v);
  b->angle += dt * omega;
  b->v = v;
  b->omega = omega;
  b->c.time += dt;
  CHECK_OK(b->c.ctx, ops->meet(b->c.fluid.self, &b->body.face));
}

typedef enum liquid { SMOKE, LEVELSET, PARTICLES, MARKERS } liquid;
static const char *const NAME[] = {"smoke", "level set", "particles", "markers"};

static void begin(block *b, int dim, liquid kind, double relative)
{
  double z = dim == 3 ? 0.5 : 0;
  mac_case_begin(&b->c, dim, mn_v3(1, 1, dim == 3 ? 1 : 0), dim == 3 ? 14 : 24);
  mn_fluid_def *f = &b->c.def.fluid;
  f->gravity = mn_v3(0, -9.8, 0);
  f->density = 1000;
  f->pressure_tolerance = 1e-12;
  if (kind != SMOKE) {
    f->kind = MN_FLUID_WATER;
    f->transfer = kind == LEVELSET  ? MN_TRANSFER_LEVELSET
                  : kind == MARKERS ? MN_TRANSFER_MARKER
                                    : MN_TRANSFER_APIC;
    CHECK_OK(b->c.ctx,
             mn_shape_box(b->c.ctx, dim, mn_v3(-1, -1, -1), mn_v3(2, 0.8, 2), &f->initial_water));
  }
  mac_case_start(&b->c);
  mn_vec3 size = mn_v3(0.31, 0.2, 0.25);
  body_box(&b->body, b->c.ctx, dim, size, 0.04);
  b->mass = relative * f->density * b->body.volume;
  b->inertia = b->mass * (size.x * size.x + size.y * size.y) / 12;
  b->x = mn_v3(0.47, 0.41, z);
  b->angle = 0.3;
  b->v = mn_v3(0, 0, 0);
  b->omega = 0;
  body_put(&b->body, b->x, b->angle, b->v, b->omega);
  CHECK_OK(b->c.ctx, b->c.fluid.ops->meet(b->c.fluid.self, &b->body.face));
}

static void end(block *b)
{
  body_destroy(&b->body);
  mac_case_end(&b->c);
}

/* Greatest speed of a point of the block over sqrt(g H). */
static double drift(int dim, liquid kind, double relative, int steps)
{
  block b;
  double worst = 0;
  begin(&b, dim, kind, relative);
  for (int n = 0; n < steps; n++) {
    step(&b, 0.005, b.c.def.fluid.gravity);
    worst = check_worst(worst, mn_length(b.v) + 0.2 * fabs(b.omega));
  }
  end(&b);
  return worst / sqrt(9.8 * 0.8);
}

static void test_rest(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (liquid kind = SMOKE; kind <= MARKERS; kind++) {
      double speed = drift(dim, kind, 1, dim == 3 ? 20 : 500);
      printf("%dD %s: %.1e sqrt(g H)\n", dim, NAME[kind], speed);
      CHECK_LE(speed, 1e-8);
    }
  CHECK_DONE();
  CHECK_LE(drift(2, SMOKE, 1.0001, 20), 1e-8);
  CHECK_MUST_HAVE_FAILED();
}

/* Greatest change of the velocity of a block that drifts with the stream. */
static double changed(int order, int thin, double speed)
{
  block b;
  double worst = 0;
  mac_case_begin(&b.c, 2, mn_v3(1, 1, 0), 24);
  mn_fluid_def *f = &b.c.def.fluid;
  f->order = order;
  f->pressure_tolerance = 1e-12;
  f->initial_velocity.value = mn_v3(0.3, 0, 0);
  b.c.def.domain.side[0].kind = b.c.def.domain.side[1].kind = MN_SIDE_THROUGH;
  mac_case_start(&b.c);
  if (thin)
    body_plate(&b.body, b.c.ctx, 2, mn_v3(0.07, 0.2, 0), 20);
  else
    body_box(&b.body, b.c.ctx, 2, mn_v3(0.31, 0.2, 0), 0.03);
  b.mass = thin ? 0.05 : b.body.volume;
  b.inertia = b.mass * 0.02;
  b.x = mn_v3(0.33, 0.51, 0);
  b.angle = 0.3;
  b.v = mn_v3(speed, 0, 0);
  b.omega = 0;
  body_put(&b.body, b.x, b.angle, b.v, 0);
  CHECK_OK(b.c.ctx, b.c.fluid.ops->meet(b.c.fluid.self, &b.body.face));
  for (int n = 0; n < 50; n++) {
    step(&b, 0.02, mn_v3(0, 0, 0));
    worst = check_worst(worst, mn_length(mn_sub(b.v, mn_v3(speed, 0, 0))) + 0.2 * fabs(b.omega));
  }
  CHECK_NEAR(b.x.x, 0.63, 0.02);
  end(&b);
  return worst / speed;
}

static void test_drift(void **state)
{
  (void)state;
  for (int order = 1; order <= 2; order++)
    for (int thin = 0; thin < 2; thin++) {
      double change = changed(order, thin, 0.3);
      printf("order %d, %s: %.1e\n", order, thin ? "plate" : "block", change);
      CHECK_LE(change, 1e-8);
    }
  CHECK_DONE();
  CHECK_LE(changed(1, 0, 0.299), 1e-8);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rest), cmocka_unit_test(test_drift)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
