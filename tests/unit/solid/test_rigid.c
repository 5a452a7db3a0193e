/* The free asymmetric top: what is conserved, and its order. */
#include "check.h"
#include "solid/rigid.h"

static mn_rigid *top(mn_context *ctx, mn_shape **shape, mn_vec3 spin)
{
  mn_rigid *r;
  CHECK_OK(ctx, mn_shape_box(ctx, 3, mn_v3(-0.5, -0.3, -0.1), mn_v3(0.5, 0.3, 0.1), shape));
  CHECK_OK(ctx, mn_shape_transform(ctx, *shape, mn_v3(1, 2, 3), mn_v3(1, 1, 0.3), 0.6, 1, shape));
  mn_rigid_def def = mn_rigid_def_default();
  def.shape = *shape;
  def.mass = 2;
  def.spin = spin;
  def.velocity = mn_v3(0.3, -0.2, 0.7);
  CHECK_OK(ctx, mn_rigid_create(ctx, 3, mn_v3(0, 0, 0), &def, 1, NULL, 0, &r));
  return r;
}

/* Turns between two orientations. */
static double turned(mn_quat a, mn_quat b)
{
  return mn_length(mn_quat_log(mn_quat_mul(mn_quat_conjugate(a), b)));
}

/* The reference: Euler's equations and q' = q w/2 in body axes by classical Runge-Kutta, which
   shares nothing with the splitting. */
static mn_quat reference_turn(const mn_rigid_body *b, mn_vec3 spin, double time, int steps)
{
  mn_mat3 A = b->axes;
  mn_vec3 w = mn_mat3_apply(mn_mat3_transpose(A), spin);
  double y[7] = {1, 0, 0, 0, w.x, w.y, w.z}, k[4][7], z[7], dt = time / steps;
  const double *I = b->inertia.v;
  static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
  for (int n = 0; n < steps; n++) {
    for (int s = 0; s < 4; s++) {
      for (int i = 0; i < 7; i++)
        z[i] = y[i] + (s ? dt * at[s] * k[s - 1][i] : 0);
      mn_vec3 u = mn_mat3_apply(A, mn_v3(z[4], z[5], z[6]));
      mn_quat q = mn_quat_mul((mn_quat){z[0], z[1], z[2], z[3]}, (mn_quat){0, u.x, u.y, u.z});
      k[s][0] = 0.5 * q.w, k[s][1] = 0.5 * q.x, k[s][2] = 0.5 * q.y, k[s][3] = 0.5 * q.z;
      for (int a = 0; a < 3; a++) {
        int i = (a + 1) % 3, j = (a + 2) % 3;
        k[s][4 + a] = (I[i] - I[j]) * z[4 + i] * z[4 + j] / I[a];
      }
    }
    for (int i = 0; i < 7; i++)
      for (int s = 0; s < 4; s++)
        y[i] += dt / 6 * weight[s] * k[s][i];
  }
  return mn_quat_unit((mn_quat){y[0], y[1], y[2], y[3]});
}

static void test_order(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_shape *shape;
  mn_vec3 spin = mn_v3(0.4, 3, -2);
  mn_rigid *r = top(ctx, &shape, spin);
  mn_quat exact = reference_turn(&r->body[0], spin, 2, 8000);
  CHECK_LE(turned(exact, reference_turn(&r->body[0], spin, 2, 4000)), 1e-9);
  double h[4], error[4];
  for (int i = 0; i < 4; i++) {
    int steps = 50 << i;
    mn_rigid_state s = r->now[0];
    for (int n = 0; n < steps; n++)
      mn_rigid_drift(&r->body[0], &s, 2.0 / steps);
    h[i] = 2.0 / steps;
    error[i] = turned(s.q, exact);
    CHECK_NEAR(mn_length(mn_sub(s.x, mn_madd(r->body[0].center, 2, s.v))), 0, 1e-13);
  }
  CHECK_ORDER(h, error, 4, 2, 0.05);
  CHECK_LE(fitted_order(h, error, 4), 2.1);
  mn_rigid_destroy(&r);
  mn_shape_destroy(&shape);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* 1000 rad/s in substeps in which the body turns often: a top with an axis of symmetry goes as the
   exact solution, q = exp(t L/I1) q0 exp(t (1/I3 - 1/I1) L3 e3); any other stays with the reference
   and keeps its energy. */
static void test_fast(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_shape *shape;
  mn_rigid *r;
  mn_vec3 spin = mn_v3(400, 300, 866);
  CHECK_OK(ctx, mn_shape_cylinder(ctx, 3, mn_v3(0, -0.1, 0.3), mn_v3(0, 0.1, 0.3), 0.3, 0, &shape));
  mn_rigid_def def = mn_rigid_def_default();
  def.shape = shape, def.spin = spin;
  CHECK_OK(ctx, mn_rigid_create(ctx, 3, mn_v3(0, 0, 0), &def, 1, NULL, 0, &r));
  const mn_rigid_body *b = &r->body[0];
  mn_rigid_state s = r->now[0];
  double t = 0.1, I1 = b->mass * (3 * 0.09 + 0.04) / 12, I3 = 0.5 * b->mass * 0.09;
  mn_vec3 L = mn_v3(I1 * spin.x, I3 * spin.y, I1 * spin.z);
  mn_vec3 body = mn_v3(0, t * (1 / I3 - 1 / I1) * L.y, 0);
  mn_quat exact = mn_quat_mul(mn_quat_exp(mn_scale(t / I1, L)), mn_quat_exp(body));
  for (int n = 0; n < 10; n++)
    mn_rigid_drift(b, &s, t / 10);
  CHECK_LE(turned(s.q, exact), 1e-9);
  mn_rigid_destroy(&r);
  mn_shape_destroy(&shape);
  r = top(ctx, &shape, spin);
  exact = reference_turn(&r->body[0], spin, t, 100000);
  CHECK_LE(turned(exact, reference_turn(&r->body[0], spin, t, 50000)), 1e-7);
  double e0 = mn_rigid_kinetic(r, 0), e = 0;
  for (int n = 0; n < 10; n++) { /* 10 rad each */
    mn_rigid_drift(&r->body[0], &r->now[0], t / 10);
    e = check_worst(fabs(mn_rigid_kinetic(r, 0) / e0 - 1), e);
  }
  CHECK_LE(turned(r->now[0].q, exact), 0.05); /* of 100 rad */
  CHECK_LE(e, 1e-3);
  mn_rigid_destroy(&r);
  mn_shape_destroy(&shape);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* The unstable axis: turns over and over; momentum to the bit, energy within bounds that shrink
   with dt^2 and do not grow with time. */
static void test_conserved(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_shape *shape;
  mn_rigid *r = top(ctx, &shape, mn_v3(0, 0, 0));
  double h[3], worst[3];
  for (int i = 0; i < 3; i++) {
    mn_rigid_state s = r->now[0];
    s.L = mn_add(mn_scale(0.5, mn_mat3_column(&r->body[0].axes, 1)), mn_v3(1e-3, 0, 2e-3));
    r->now[0] = s;
    double e0 = mn_rigid_kinetic(r, 0), early = 0, late = 0;
    mn_vec3 l0 = mn_rigid_angular(r, 0, mn_v3(0, 0, 0)), p0 = mn_rigid_momentum(r, 0);
    int steps = 4000 << i;
    double change = 0;
    for (int n = 0; n < steps; n++) {
      mn_rigid_drift(&r->body[0], &r->now[0], 200.0 / steps);
      double drift = fabs(mn_rigid_kinetic(r, 0) / e0 - 1);
      if (n < steps / 4)
        early = check_worst(drift, early);
      late = check_worst(drift, late);
      mn_vec3 l = mn_rigid_angular(r, 0, mn_v3(0, 0, 0)), p = mn_rigid_momentum(r, 0);
      change = check_worst(mn_length(mn_sub(l, l0)) / mn_length(l0), change);
      CHECK(p.x == p0.x && p.y == p0.y && p.z == p0.z);
    }
    h[i] = 200.0 / steps, worst[i] = late;
    CHECK_LE(change, 1e-12 * 200);
    CHECK_LE(late, 1.2 * early);
    CHECK_LE(fabs(r->now[0].q.w * r->now[0].q.w + r->now[0].q.x * r->now[0].q.x +
                  r->now[0].q.y * r->now[0].q.y + r->now[0].q.z * r->now[0].q.z - 1),
             1e-14);
    r->now[0] = r->saved[0];
  }
  CHECK_ORDER(h, worst, 3, 2, 0.2);
  CHECK_LE(worst[2], 1e-2);
  mn_rigid_destroy(&r);
  mn_shape_destroy(&shape);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* The control: a first-order update q <- q exp(dt w) does not keep the energy. */
static void test_plain_update_drifts(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_shape *shape;
  mn_rigid *r = top(ctx, &shape, mn_v3(0.4, 3, -2));
  double e0 = mn_rigid_kinetic(r, 0);
  for (int n = 0; n < 4000; n++) {
    mn_vec3 w = mn_rigid_twist(&r->body[0], &r->now[0]).w;
    r->now[0].q = mn_quat_unit(mn_quat_mul(mn_quat_exp(mn_scale(0.01, w)), r->now[0].q));
  }
  CHECK_LE(fabs(mn_rigid_kinetic(r, 0) / e0 - 1), 1e-2);
  mn_rigid_destroy(&r);
  mn_shape_destroy(&shape);
  mn_context_destroy(&ctx);
  CHECK_MUST_HAVE_FAILED();
}

/* In two dimensions the turn is exact; prescribed motion is followed; bad numbers are refused. */
static void test_flat_and_driven(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_shape *shape;
  mn_rigid *r;
  CHECK_OK(ctx, mn_shape_box(ctx, 2, mn_v3(0, 0, 0), mn_v3(2, 1, 0), &shape));
  mn_rigid_def def[2] = {mn_rigid_def_default(), mn_rigid_def_default()};
  def[0].shape = def[1].shape = shape;
  def[0].spin = mn_v3(0, 0, 0.7);
  def[1].joint = MN_JOINT_DRIVEN;
  def[1].motion.translate = mn_v3(0, 2, 0);
  def[1].motion.path = (mn_timefn){.kind = MN_TIME_RATE, .rate = 0.5};
  def[1].motion.turn = (mn_timefn){.kind = MN_TIME_RATE, .rate = 3};
  def[1].motion.pivot = mn_v3(1, 0, 0);
  CHECK_OK(ctx, mn_rigid_create(ctx, 2, mn_v3(0, 0, 0), def, 2, NULL, 0, &r));
  CHECK_NEAR(r->body[0].mass, 2000, 1e-10);
  CHECK_NEAR(r->body[0].inertia.z, 2000 * 5.0 / 12, 1e-10);
  for (int n = 0; n < 3; n++)
    mn_rigid_drift(&r->body[0], &r->now[0], 0.4);
  CHECK_NEAR(mn_rigid_angle(r, 0), 0.84, 1e-14);
  mn_rigid_drive(&r->body[1], &r->now[1], 0.2);
  mn_vec3 x = mn_rigid_point(&r->body[1], &r->now[1], mn_v3(2, 0, 0));
  CHECK_NEAR(x.x, 1 + cos(0.6), 1e-14);
  CHECK_NEAR(x.y, 0.2 + sin(0.6), 1e-14);
  mn_vec3 v = mn_twist_at(mn_rigid_twist(&r->body[1], &r->now[1]), mn_sub(x, r->now[1].x));
  CHECK_NEAR(v.x, -3 * sin(0.6), 1e-13);
  CHECK_NEAR(v.y, 1 + 3 * cos(0.6), 1e-13);
  mn_rigid_destroy(&r);
  def[0].mass = -1;
  CHECK_FAILS(ctx, mn_rigid_create(ctx, 2, mn_v3(0, 0, 0), def, 1, NULL, 0, &r), MN_BAD_INPUT,
              "mass");
  def[0].mass = 1, def[0].restitution = 2;
  CHECK_FAILS(ctx, mn_rigid_create(ctx, 2, mn_v3(0, 0, 0), def, 1, NULL, 0, &r), MN_BAD_INPUT,
              "restitution");
  def[0].restitution = 0, def[0].joint = MN_JOINT_PRISMATIC, def[0].axis = mn_v3(0, 0, 0);
  CHECK_FAILS(ctx, mn_rigid_create(ctx, 2, mn_v3(0, 0, 0), def, 1, NULL, 0, &r), MN_BAD_INPUT,
              "axis");
  mn_shape_destroy(&shape);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order), cmocka_unit_test(test_fast), cmocka_unit_test(test_conserved),
      cmocka_unit_test(test_plain_update_drifts), cmocka_unit_test(test_flat_and_driven)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
