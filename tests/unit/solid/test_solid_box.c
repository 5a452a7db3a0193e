/* The solid black box: loads in, points out; what couplings rely on. */
#include <stdlib.h>

#include "geom/structured.h"
#include "solids_case.h"

static void board(solids_case *c, int dim, int order)
{
  case_open(c, dim);
  c->def.order = order;
  mn_shape *s;
  CHECK_OK(c->ctx, mn_shape_box(c->ctx, dim, mn_v3(-0.5, -0.1, -0.2), mn_v3(0.5, 0.1, 0.2), &s));
  CHECK_OK(c->ctx, mn_shape_transform(c->ctx, s, mn_v3(1, 2, 0), mn_v3(0, 0, 1), 0.4, 1, &s));
  mn_rigid_def *b = case_add(c, s);
  b->sampled = 1, b->density = 500;
  b = case_ball(c, mn_v3(0, 0, 0), 0.3);
  b->sampled = 1, b->density = 500;
  case_wall(c, mn_v3(0, -5, 0), mn_v3(0, 1, 0))->sampled = 1; /* unbounded: no points on it */
  case_start(c);
}

/* Hydrostatic loads p n A on the points: buoyancy of the volume, at the centre of it. A body as
   dense as the fluid stays at rest to round-off for many steps (D12). */
static void test_buoyancy(void **state)
{
  (void)state;
  static solids_case c;
  for (int dim = 2; dim <= 3; dim++) {
    board(&c, dim, 2);
    size_t count, elements;
    CHECK_OK(c.ctx, c.box.ops->sample(c.box.self, 0.05, &count, &elements));
    mn_interface f;
    CHECK_OK(c.ctx, mn_interface_create(c.ctx, dim, count, elements, &f));
    CHECK_OK(c.ctx, c.box.ops->look(c.box.self, &f));
    for (int n = 0; n < 500; n++) {
      CHECK_OK(c.ctx, c.box.ops->begin(c.box.self, c.t, 0.01));
      for (size_t k = 0; k < count; k++) {
        double p = 500 * 9.81 * (3 - f.X[k].y) + 1e5;
        f.load[k] = mn_scale(-p * f.area[k], f.N[k]);
      }
      CHECK_OK(c.ctx, c.box.ops->solve(c.box.self, &f, NULL));
      CHECK_OK(c.ctx, c.box.ops->commit(c.box.self));
      c.t += 0.01;
    }
    for (int i = 0; i < 2; i++) {
      const mn_rigid_state *s = case_state(&c, i);
      CHECK_LE(mn_length(s->v), 1e-8);
      CHECK_LE(mn_length(mn_rigid_twist(&mn_solids_rigid(c.solids)->body[i], s).w), 1e-8);
      CHECK_NEAR(s->load.y / (mn_solids_rigid(c.solids)->body[i].mass * 9.81), 1, 1e-10);
    }
    mn_interface_destroy(&f);
    case_close(&c);
  }
  CHECK_DONE();
  board(&c, 2, 2); /* without loads it falls */
  case_step(&c, 0.01);
  CHECK_LE(mn_length(case_state(&c, 0)->v), 1e-8);
  case_close(&c);
  CHECK_MUST_HAVE_FAILED();
}

/* The points move with the body; bodies are named; a second spacing gives other points. */
static void test_points(void **state)
{
  (void)state;
  static solids_case c;
  board(&c, 3, 2);
  size_t count, fine, elements;
  mn_interface f;
  CHECK_OK(c.ctx, c.box.ops->sample(c.box.self, 0.1, &count, &elements));
  CHECK_OK(c.ctx, mn_interface_create(c.ctx, 3, count, elements, &f));
  CHECK_OK(c.ctx, c.box.ops->look(c.box.self, &f));
  mn_rigid *r = mn_solids_rigid(c.solids);
  double worst = 0, outside = 0;
  for (size_t k = 0; k < count; k++) {
    CHECK(f.body[k] == 0 || f.body[k] == 1);
    CHECK(f.two_sided[k] == 0);
    CHECK(f.rigid[k] == 1);
    double off = fabs(mn_shape_distance(c.shape[f.body[k]], f.X[k]));
    worst = mn_max(worst, f.body[k] == 0 ? off : 0);
    outside = mn_max(outside, off); /* a polyhedron as large as its ball is outside of it */
  }
  CHECK_LE(worst, 1e-12);
  CHECK_LE(outside, 0.01);
  for (size_t e = 0; e < elements; e++)
    for (int k = 0; k < 3; k++)
      CHECK(f.element[3 * e + (size_t)k] < count &&
            f.body[f.element[3 * e + (size_t)k]] == f.body[f.element[3 * e]]);
  mn_vec3 *before = malloc(count * sizeof *before);
  memcpy(before, f.X, count * sizeof *before);
  for (size_t k = 0; k < count; k++) /* a load that turns and lifts */
    f.load[k] = mn_v3(0.1 * f.X[k].y, 30, -0.2 * f.X[k].x);
  CHECK_OK(c.ctx, c.box.ops->begin(c.box.self, 0, 0.02));
  CHECK_OK(c.ctx, c.box.ops->solve(c.box.self, &f, NULL));
  mn_vec3 first = f.X[3];
  CHECK_OK(c.ctx, c.box.ops->look(c.box.self, &f)); /* the same loads at the same place, again */
  CHECK_OK(c.ctx, c.box.ops->solve(c.box.self, &f, NULL));
  CHECK(first.x == f.X[3].x && first.y == f.X[3].y && first.z == f.X[3].z);
  CHECK_OK(c.ctx, c.box.ops->commit(c.box.self));
  double differ = 0;
  for (size_t k = 0; k < count; k++) {
    mn_vec3 v = mn_scale(1 / 0.02, mn_sub(f.X[k], before[k])); /* the mean */
    differ = mn_max(differ, mn_length(mn_sub(v, f.V[k])));
    CHECK(f.lead[k] == 1);
    mn_vec3 start = mn_rigid_start(&r->body[f.body[k]], &r->now[f.body[k]], f.X[k]);
    worst = mn_max(worst, mn_length(mn_sub(start, before[k])));
  }
  CHECK_LE(worst, 1e-12);
  memcpy(before, f.V, count * sizeof *before);
  CHECK_OK(c.ctx, c.box.ops->look(c.box.self, &f));
  for (size_t k = 0; k < count; k++) { /* the velocity at the end */
    mn_twist t = mn_rigid_twist(&r->body[f.body[k]], &r->now[f.body[k]]);
    mn_vec3 v = mn_twist_at(t, mn_sub(f.X[k], r->now[f.body[k]].x));
    worst = mn_max(worst, mn_length(mn_sub(v, f.V[k])));
    worst = mn_max(worst, mn_length(mn_sub(v, before[k])));
  }
  CHECK_LE(worst, 1e-12);
  CHECK_GE(differ, 1e-3); /* control: the mean is not that */
  free(before);
  CHECK_OK(c.ctx, c.box.ops->sample(c.box.self, 0.05, &fine, &elements));
  CHECK_GE((double)fine / (double)count, 3.5);
  CHECK_FAILS(c.ctx, c.box.ops->look(c.box.self, &f), MN_FAILED, "points");
  CHECK_FAILS(c.ctx, c.box.ops->sample(c.box.self, 0, &fine, &elements), MN_BAD_INPUT, "spacing");
  mn_interface_destroy(&f);
  case_close(&c);
  CHECK_DONE();
}

/* A load on a point of a turning body, which acts where the point is at the end of the substep once
   solves are repeated: order 1 for both rules, as the load is. */
static mn_vec3 spun(int order, int steps)
{
  static solids_case c;
  board(&c, 2, order);
  size_t count, elements;
  mn_interface f;
  CHECK_OK(c.ctx, c.box.ops->sample(c.box.self, 0.1, &count, &elements));
  CHECK_OK(c.ctx, mn_interface_create(c.ctx, 2, count, elements, &f));
  CHECK_OK(c.ctx, c.box.ops->look(c.box.self, &f));
  f.load[2] = f.load[3] = mn_v3(50, 750, 0); /* constant, on points that move */
  for (int n = 0; n < steps; n++) {
    CHECK_OK(c.ctx, c.box.ops->begin(c.box.self, c.t, 0.4 / steps));
    for (int k = 0; k < 4; k++)
      CHECK_OK(c.ctx, c.box.ops->solve(c.box.self, &f, NULL));
    CHECK_OK(c.ctx, c.box.ops->commit(c.box.self));
    c.t += 0.4 / steps;
  }
  mn_vec3 x =
      mn_rigid_point(&mn_solids_rigid(c.solids)->body[0], case_state(&c, 0), mn_v3(1.5, 2, 0));
  mn_interface_destroy(&f);
  case_close(&c);
  return x;
}

static void test_load_order(void **state)
{
  (void)state;
  mn_vec3 exact = mn_sub(mn_scale(2, spun(2, 3200)), spun(2, 1600)); /* extrapolated */
  for (int order = 1; order <= 2; order++) {
    double h[3], error[3];
    for (int i = 0; i < 3; i++) {
      h[i] = 1.0 / (40 << i);
      error[i] = mn_length(mn_sub(spun(order, 40 << i), exact));
    }
    CHECK_ORDER(h, error, 3, 1, 0.1);
    CHECK_LE(error[2], 0.02);
  }
  CHECK_DONE();
}

/* A driven body has points too, which follow its motion whatever the loads and masses on them. */
static void test_driven(void **state)
{
  (void)state;
  static solids_case c;
  case_open(&c, 2);
  mn_rigid_def *b = case_box(&c, mn_v3(1, 0, 0), mn_v3(0.3, 0.1, 0));
  b->joint = MN_JOINT_DRIVEN, b->sampled = 1;
  b->motion.translate = mn_v3(0, 2, 0);
  b->motion.path = (mn_timefn){.kind = MN_TIME_RATE, .rate = 0.5};
  b->motion.turn = (mn_timefn){.kind = MN_TIME_RATE, .rate = 3};
  b->motion.axis = mn_v3(0, 0, 1);
  case_start(&c);
  size_t count, elements;
  mn_interface f;
  CHECK_OK(c.ctx, c.box.ops->sample(c.box.self, 0.1, &count, &elements));
  CHECK_GE((double)count, 16);
  CHECK_OK(c.ctx, mn_interface_create(c.ctx, 2, count, elements, &f));
  CHECK_OK(c.ctx, c.box.ops->look(c.box.self, &f));
  mn_vec3 at[64], off = {{0, 0, 0}};
  memcpy(at, f.X, count * sizeof *at);
  for (size_t k = 0; k < count; k++) { /* w x r + v, about the origin */
    off.x = mn_max(off.x, fabs(f.V[k].x + 3 * at[k].y) + fabs(f.V[k].y - 3 * at[k].x - 1));
    f.load[k] = mn_v3(1e3, -7, 0), f.mass[k] = 2;
  }
  CHECK_OK(c.ctx, c.box.ops->begin(c.box.self, 0, 0.1));
  CHECK_OK(c.ctx, c.box.ops->solve(c.box.self, &f, NULL));
  for (size_t k = 0; k < count; k++) {
    mn_vec3 to = mn_v3(cos(0.3) * at[k].x - sin(0.3) * at[k].y,
                       sin(0.3) * at[k].x + cos(0.3) * at[k].y + 0.1, 0);
    off.y = mn_max(off.y, mn_length(mn_sub(to, f.X[k])));
    off.z = mn_max(off.z, mn_length(mn_sub(mn_scale(10, mn_sub(to, at[k])), f.V[k])));
  }
  CHECK_LE(off.x, 1e-13);
  CHECK_LE(off.y, 1e-14);
  CHECK_LE(off.z, 1e-12);
  mn_interface_destroy(&f);
  case_close(&c);
  CHECK_DONE();
}

/* Loads are constant over a substep and do the work sum load.V dt, V the mean velocities that solve
   gives: exactly, for deformable bodies by the midpoint rule, for sliding rigid ones and for
   turning ones but for the turn of the arms, which has order 2 in dt here. Backward Euler loses
   (the control). */
static double work_error(mn_scheme scheme, int order, int turning, double dt)
{
  static solids_case c;
  case_open(&c, 3);
  c.def.order = order;
  c.def.contacts = 0;
  c.def.gravity = mn_v3(0, 0, 0);
  mn_rigid_def *b = case_box(&c, mn_v3(0, 0, 0), mn_v3(0.5, 0.2, 0.3));
  b->density = 3, b->sampled = 1, b->velocity = mn_v3(0.2, 0.1, 0);
  if (turning)
    b->spin = mn_v3(0, 0, 2);
  else
    b->joint = MN_JOINT_PRISMATIC, b->axis = mn_v3(1, 1, 0);
  mn_deform_def def = mn_deform_def_default(3);
  def.scheme = scheme;
  def.tolerance = 1e-13;
  mn_elastic_def elastic = {.young = 1e3, .poisson = 0.3, .density = 10};
  mn_simplex_mesh mesh;
  int cells[3] = {3, 1, 1}, body;
  CHECK_OK(c.ctx, mn_deform_create(c.ctx, &def, &c.def.deform));
  CHECK_OK(c.ctx, mn_mesh_box(c.ctx, 3, mn_v3(2, 0, 0), mn_v3(1, 0.3, 0.3), cells, &mesh));
  CHECK_OK(c.ctx, mn_deform_add_elastic(c.def.deform, &mesh, &elastic, &body));
  CHECK_OK(c.ctx, mn_deform_ready(c.def.deform));
  mn_simplex_mesh_destroy(&mesh);
  case_start(&c);
  size_t count, elements;
  mn_interface f;
  CHECK_OK(c.ctx, c.box.ops->sample(c.box.self, 0.2, &count, &elements));
  CHECK_OK(c.ctx, mn_interface_create(c.ctx, 3, count, elements, &f));
  CHECK_OK(c.ctx, c.box.ops->look(c.box.self, &f));
  uint64_t seed = 5;
  for (size_t k = 0; k < count; k++)
    f.load[k] = mn_v3(check_random(&seed) - 0.4, check_random(&seed) - 0.5, 0);
  double before = mn_solids_energy(c.solids, -1), work = 0;
  for (size_t k = 0; k < count; k++)
    work -= mn_dot(f.load[k], f.X[k]);
  CHECK_OK(c.ctx, c.box.ops->begin(c.box.self, 0, dt));
  for (int n = 0; n < 20; n++) /* until the loads act where the points end up */
    CHECK_OK(c.ctx, c.box.ops->solve(c.box.self, &f, NULL));
  CHECK_OK(c.ctx, c.box.ops->commit(c.box.self));
  for (size_t k = 0; k < count; k++)
    work += mn_dot(f.load[k], f.X[k]);
  double error = fabs(mn_solids_energy(c.solids, -1) - before - work);
  mn_interface_destroy(&f);
  case_close(&c);
  return error;
}

static void test_work(void **state)
{
  (void)state;
  CHECK_LE(work_error(MN_MIDPOINT, 2, 0, 0.02), 1e-12);
  CHECK_GE(work_error(MN_BACKWARD_EULER, 2, 0, 0.02), 1e-6);
  CHECK_GE(work_error(MN_MIDPOINT, 1, 0, 0.02), 1e-6);
  double h[3], error[3];
  for (int i = 0; i < 3; i++) {
    h[i] = 0.02 / (1 << i);
    error[i] = work_error(MN_MIDPOINT, 2, 1, h[i]);
  }
  CHECK_ORDER(h, error, 3, 2, 0.2);
  CHECK_DONE();
}

/* The control of test_buoyancy: a body 1 % lighter rises. */
static void test_lighter(void **state)
{
  (void)state;
  static solids_case c;
  board(&c, 2, 2);
  size_t count, elements;
  mn_interface f;
  CHECK_OK(c.ctx, c.box.ops->sample(c.box.self, 0.05, &count, &elements));
  CHECK_OK(c.ctx, mn_interface_create(c.ctx, 2, count, elements, &f));
  CHECK_OK(c.ctx, c.box.ops->look(c.box.self, &f));
  CHECK_OK(c.ctx, c.box.ops->begin(c.box.self, 0, 0.01));
  for (size_t k = 0; k < count; k++)
    f.load[k] = mn_scale(-1.01 * 500 * 9.81 * (3 - f.X[k].y) * f.area[k], f.N[k]);
  CHECK_OK(c.ctx, c.box.ops->solve(c.box.self, &f, NULL));
  CHECK_OK(c.ctx, c.box.ops->commit(c.box.self));
  CHECK_NEAR(case_state(&c, 0)->v.y, 0.01 * 9.81 * 0.01, 1e-10); /* a hundredth of g */
  CHECK_LE(mn_length(case_state(&c, 0)->v), 1e-8);               /* this one must fail */
  mn_interface_destroy(&f);
  case_close(&c);
  CHECK_MUST_HAVE_FAILED();
}

/* Every allocation of creation and sampling may fail once, cleanly. */
static void test_bad_input(void **state)
{
  (void)state;
  static solids_case c;
  case_open(&c, 3);
  c.def.order = 3;
  c.def.rigid = c.body;
  CHECK_FAILS(c.ctx, mn_solids_create(c.ctx, &c.def, &c.solids), MN_BAD_INPUT, "order");
  c.def.order = 2, c.def.contact.max_iterations = 0;
  CHECK_FAILS(c.ctx, mn_solids_create(c.ctx, &c.def, &c.solids), MN_BAD_INPUT, "iteration");
  c.def.contact.max_iterations = 10, c.def.spring_count = 1, c.def.springs = c.spring;
  CHECK_FAILS(c.ctx, mn_solids_create(c.ctx, &c.def, &c.solids), MN_BAD_INPUT, "springs[1]");
  case_close(&c);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_buoyancy),   cmocka_unit_test(test_points),
      cmocka_unit_test(test_load_order), cmocka_unit_test(test_driven),
      cmocka_unit_test(test_work),       cmocka_unit_test(test_lighter),
      cmocka_unit_test(test_bad_input)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
