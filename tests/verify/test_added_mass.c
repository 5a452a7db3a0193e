/* Added mass: a disk that starts in a fixed circle, a sphere in a shell.

   Inviscid fluid at rest between radius a and b, whose inner wall starts with the acceleration dU:
   the force is -C_m rho V dU with

       disk     C_m = (b^2 + a^2) / (b^2 - a^2)          sphere   C_m = (b^3 + 2 a^3) / (2 (b^3 -
   a^3))

   [Lamb 1932, articles 68, 93; two dimensions by the same potential]. */
#include "body_case.h"
#include "mac_case.h"

#include <math.h>
#include <stdio.h>

typedef struct vessel {
  mac_case c;
  body_case body;
  mn_solid_def wall;
  mn_vec3 center;
  double a, b;
} vessel;

/* A box of n cells a side with a round hole of radius b, and in it a body of radius a. */
static void vessel_begin(vessel *v, int dim, int n, double a, double b, mn_vec3 gravity)
{
  double z = dim == 3 ? 0.5 : 0;
  mac_case_begin(&v->c, dim, mn_v3(1, 1, dim == 3 ? 1 : 0), n);
  v->center = mn_v3(0.5, 0.5, z);
  v->a = a;
  v->b = b;
  mn_shape *parts[2];
  CHECK_OK(v->c.ctx, mn_shape_box(v->c.ctx, dim, mn_v3(-1, -1, -1), mn_v3(2, 2, 2), &parts[0]));
  CHECK_OK(v->c.ctx, mn_shape_sphere(v->c.ctx, dim, v->center, b, &parts[1]));
  v->wall = (mn_solid_def){.name = "wall"};
  CHECK_OK(v->c.ctx, mn_shape_difference(v->c.ctx, parts, 2, &v->wall.shape));
  v->c.def.solids = &v->wall;
  v->c.def.solid_count = 1;
  v->c.def.fluid.gravity = gravity;
  mac_case_start(&v->c);
  if (dim == 2)
    body_disk(&v->body, v->c.ctx, a, 8 * n);
  else
    body_ball(&v->body, v->c.ctx, a, n > 32 ? 5 : 4);
  body_put(&v->body, v->center, 0, mn_v3(0, 0, 0), 0);
  CHECK_OK(v->c.ctx, v->c.fluid.ops->meet(v->c.fluid.self, &v->body.face));
}

static void vessel_end(vessel *v)
{
  body_destroy(&v->body);
  mac_case_end(&v->c);
}

/* The measured C_m of a start along x. */
static double coefficient(int dim, int n, double a, double b, int impulse)
{
  vessel v;
  const double dt = 1e-3, speed = 1e-3;
  vessel_begin(&v, dim, n, a, b, mn_v3(0, 0, 0));
  const mn_fluid_ops *ops = v.c.fluid.ops;
  CHECK_OK(v.c.ctx, ops->begin(v.c.fluid.self, 0, dt));
  body_put(&v.body, v.center, 0, mn_v3(speed, 0, 0), 0);
  v.body.face.impulse = impulse;
  CHECK_OK(v.c.ctx, ops->solve(v.c.fluid.self, &v.body.face, &v.c.report));
  double force = body_force(&v.body).x;
  double volume = dim == 2 ? MN_PI * a * a : 4 * MN_PI / 3 * a * a * a;
  vessel_end(&v);
  return -force * dt / (speed * volume);
}

static void test_disk(void **state)
{
  (void)state;
  struct {
    double a;
    int n;
    double bound;
  } cases[] = {
      {0.2, 32, 0.015}, {0.2, 64, 0.005}, {0.2, 128, 0.005}, {0.1, 64, 0.015}, {0.1, 128, 0.005}};
  double h[3], error[3];
  for (int i = 0; i < 5; i++) {
    double a = cases[i].a, b = 0.4, exact = (b * b + a * a) / (b * b - a * a);
    double got = coefficient(2, cases[i].n, a, b, 1);
    printf("disk a %g n %d: C_m %.5f of %.5f, %+.3f %%\n", a, cases[i].n, got, exact,
           100 * (got / exact - 1));
    CHECK_LE(fabs(got / exact - 1), cases[i].bound);
    if (i < 3) {
      h[i] = 1.0 / cases[i].n;
      error[i] = fabs(got / exact - 1);
    }
  }
  CHECK_ORDER(h, error, 3, 2, 0.2);
  CHECK_DONE();
}

static void test_sphere(void **state)
{
  (void)state;
  double a = 0.2, b = 0.4, exact = 0.5 * (b * b * b + 2 * a * a * a) / (b * b * b - a * a * a);
  for (int n = 32; n <= 64; n += 32) {
    double got = coefficient(3, n, a, b, 1);
    printf("sphere n %d: C_m %.5f of %.5f, %+.3f %%\n", n, got, exact, 100 * (got / exact - 1));
    CHECK_LE(fabs(got / exact - 1), n * a >= 12 ? 0.005 : 0.015);
  }
  CHECK_DONE();
}

/* Pressure differences as published weigh the faces around a point by their distance alone, and
   each gives only n_f.n_i of its pressure. A surface of normal (c, s) closes faces of both axes as
   |c| to |s|, so that a point there feels (c^2 + s^2) / (|c| + |s|) of the pressure: of a disk's
   added mass the mean of that is left, sqrt(2)/pi ln((sqrt(2) + 1)/(sqrt(2) - 1)) = 0.793. */
static void test_pressure_differences(void **state)
{
  (void)state;
  double a = 0.2, b = 0.4, exact = (b * b + a * a) / (b * b - a * a), off[3];
  double felt = sqrt(2) / MN_PI * log((sqrt(2) + 1) / (sqrt(2) - 1));
  for (int i = 0; i < 3; i++) {
    int n = 32 << i;
    double part = coefficient(2, n, a, b, 0) / exact;
    off[i] = fabs(part / felt - 1);
    printf("disk n %d, pressure differences: %.4f of the added mass, expected %.4f\n", n, part,
           felt);
  }
  CHECK_LE(off[2], 0.05);
  CHECK_DONE();
  CHECK_LE(fabs(coefficient(2, 128, a, b, 0) / exact - 1), 0.05);
  CHECK_MUST_HAVE_FAILED();
}

/* ---- release --------------------------------------------------------------------------------- */

static double lift(vessel *v, double dt, double y, double speed)
{
  body_put(&v->body, mn_madd(v->center, y + dt * speed, mn_v3(0, 1, 0)), 0, mn_v3(0, speed, 0), 0);
  CHECK_OK(v->c.ctx, v->c.fluid.ops->solve(v->c.fluid.self, &v->body.face, &v->c.report));
  return body_force(&v->body).y;
}

/* Acceleration over g, upwards, in the first three steps of a body s times as heavy as the fluid.
   The force is linear in the velocity at the end of a step: two solves tell which one fits. Weakly
   coupled: the force of the velocity before. */
static double release(int dim, int n, double s, int weak)
{
  vessel v;
  const double dt = 1e-3, g = 9.8;
  double speed = 0, y = 0;
  vessel_begin(&v, dim, n, 0.2, 0.4, mn_v3(0, -g, 0));
  double mass = s * v.body.volume;
  for (int step = 0; step < 3; step++) {
    CHECK_OK(v.c.ctx, v.c.fluid.ops->begin(v.c.fluid.self, dt * step, dt));
    double f0 = lift(&v, dt, y, speed), next = speed + dt * (f0 / mass - g);
    if (!weak) {
      const double probe = 1e-3;
      double slope = (lift(&v, dt, y, speed + probe) - f0) / probe;
      next = speed + (f0 - mass * g) / (mass / dt - slope);
      lift(&v, dt, y, next);
    }
    CHECK_OK(v.c.ctx, v.c.fluid.ops->commit(v.c.fluid.self));
    y += dt * next;
    speed = next;
  }
  vessel_end(&v);
  return speed / (3 * dt * g);
}

static void test_release(void **state)
{
  (void)state;
  const double ratio[] = {0.05, 0.1, 0.5, 2, 10};
  for (int dim = 2; dim <= 3; dim++)
    for (int i = 0; i < 5; i++) {
      double added = dim == 2 ? 5.0 / 3 : 5.0 / 7;
      double exact = (1 - ratio[i]) / (ratio[i] + added);
      double got = release(dim, dim == 2 ? 64 : 32, ratio[i], 0);
      printf("%s s %g: %.5f of %.5f, %+.2f %%\n", dim == 2 ? "disk" : "ball", ratio[i], got, exact,
             100 * (got / exact - 1));
      CHECK_LE(fabs(got / exact - 1), 0.02);
    }
  CHECK_DONE();
  CHECK_LE(fabs(release(2, 32, 0.05, 1)), 10);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_disk), cmocka_unit_test(test_sphere),
                                     cmocka_unit_test(test_pressure_differences),
                                     cmocka_unit_test(test_release)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
