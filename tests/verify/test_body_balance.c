/* Loads of the grid fluid on bodies: exact columns, momentum, repeated solves, closed regions. */
#include "body_case.h"
#include "fluid/mac/internal.h"
#include "mac_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void meet(mac_case *c, body_case *b)
{
  CHECK_OK(c->ctx, c->fluid.ops->meet(c->fluid.self, &b->face));
}

static void solve(mac_case *c, body_case *b)
{
  CHECK_OK(c->ctx, c->fluid.ops->solve(c->fluid.self, &b->face, &c->report));
}

/* ---- columns --------------------------------------------------------------------------------- */

enum { CELLS = 16 };
static const double LENGTH = 2, HEIGHT = 0.5, DENSITY = 3;

static void duct_begin(mac_case *c, int water)
{
  mac_case_begin(c, 2, mn_v3(LENGTH, HEIGHT, 0), CELLS);
  c->def.domain.side[0].kind = c->def.domain.side[1].kind = MN_SIDE_OPEN;
  c->def.fluid.density = DENSITY;
  c->def.fluid.pressure_tolerance = 1e-13;
  if (!water)
    return;
  c->def.fluid.kind = MN_FLUID_WATER;
  c->def.fluid.walls = MN_WALLS_STICKING;
  CHECK_OK(c->ctx,
           mn_shape_box(c->ctx, 2, mn_v3(-1, -1, -1), mn_v3(3, 3, 3), &c->def.fluid.initial_water));
}

/* -force / acceleration of what fills the left of the duct up to x, or stands across it there. */
static double column_mass(int thick, int water, double x, int impulse)
{
  mac_case c;
  body_case b;
  const double dt = 0.01, speed = 1e-3;
  duct_begin(&c, water);
  mac_case_start(&c);
  if (thick)
    body_box(&b, c.ctx, 2, mn_v3(2, 1, 0), 0.06);
  else
    body_plate(&b, c.ctx, 2, mn_v3(0, 0.5, 0), 16);
  b.face.impulse = impulse;
  mn_vec3 at = mn_v3(thick ? x - 1 : x, 0.5 * HEIGHT, 0);
  body_put(&b, at, 0, mn_v3(0, 0, 0), 0);
  meet(&c, &b);
  CHECK_OK(c.ctx, c.fluid.ops->begin(c.fluid.self, 0, dt));
  body_put(&b, at, 0, mn_v3(speed, 0, 0), 0);
  solve(&c, &b);
  double mass = -body_force(&b).x * dt / speed, shared = 0;
  for (size_t i = 0; i < b.face.count; i++)
    shared += b.face.mass[i];
  if (!thick) /* the dual cells of the blocked faces */
    CHECK_NEAR(shared, DENSITY * HEIGHT * LENGTH / CELLS, 1e-12);
  body_destroy(&b);
  mac_case_end(&c);
  return mass;
}

/* The fluid between a piston and the open end, and on both sides of a plate, is a rigid column. */
static void test_columns(void **state)
{
  (void)state;
  double worst[2][2] = {{0}};
  for (int water = 0; water < 2; water++)
    for (int thick = 0; thick < 2; thick++)
      for (int n = 0; n < 9; n++) {
        double x = LENGTH * (7 + 0.125 * n) / CELLS;
        double exact = DENSITY * HEIGHT * (thick ? LENGTH - x : LENGTH);
        double error = fabs(column_mass(thick, water, x, 1) / exact - 1);
        worst[water][thick] = check_worst(worst[water][thick], error);
      }
  for (int water = 0; water < 2; water++) {
    CHECK_LE(worst[water][0], 1e-10);
    CHECK_LE(worst[water][1], 1e-10);
  }
  CHECK_DONE();
  /* without the half cell beside the wall */
  CHECK_NEAR(column_mass(1, 0, LENGTH * 7.3 / CELLS, 0) /
                 (DENSITY * HEIGHT * (LENGTH - LENGTH * 7.3 / CELLS)),
             1, 1e-3);
  CHECK_MUST_HAVE_FAILED();
}

/* A plate that is held across a duct feels the whole body force on the fluid. */
static void test_pressure_jump(void **state)
{
  (void)state;
  for (int water = 0; water < 2; water++)
    for (int impulse = 0; impulse < 2; impulse++) {
      mac_case c;
      body_case b;
      duct_begin(&c, water);
      c.def.fluid.body_force = mn_v3(0.7, 0, 0);
      mac_case_start(&c);
      body_plate(&b, c.ctx, 2, mn_v3(0, 0.5, 0), 16);
      b.face.impulse = impulse;
      body_put(&b, mn_v3(0.87, 0.5 * HEIGHT, 0), 0, mn_v3(0, 0, 0), 0);
      meet(&c, &b);
      for (int step = 0; step < 3; step++) {
        CHECK_OK(c.ctx, c.fluid.ops->begin(c.fluid.self, 0.01 * step, 0.01));
        solve(&c, &b);
        CHECK_OK(c.ctx, c.fluid.ops->commit(c.fluid.self));
        if (impulse)
          CHECK_NEAR(body_force(&b).x, 0.7 * LENGTH * HEIGHT, 1e-10);
      }
      mn_mac_view v = mn_mac_look(&c.fluid);
      int j = v.pressure->n[1] / 2, i = (int)(0.87 / LENGTH * CELLS);
      i += mn_position(v.pressure, i, j, 0).x > 0.87 ? -1 : 0;
      double jump = mn_get(v.pressure, i, j, 0) - mn_get(v.pressure, i + 1, j, 0);
      CHECK_NEAR(jump, 0.7 * (LENGTH - LENGTH / CELLS), 1e-10);
      body_destroy(&b);
      mac_case_end(&c);
    }
  CHECK_DONE();
}

/* ---- momentum -------------------------------------------------------------------------------- */

/* What moves with the fluid and with bodies: sum of rho [w u + (s - w) U], all faces along axis a
   inside the domain. U is `own` at the bodies' faces; elsewhere walls are at rest. */
static double momentum(const mn_mac *mac, const mn_field u[3], const double *own, int a)
{
  const mn_field *w = &mac->geometry.open[a], *part = &mac->bodies.part;
  double sum = 0, cell = pow(mac->grid.dx, mac->grid.dim);
  for (int k = 0; k < w->n[2]; k++)
    for (int j = 0; j < w->n[1]; j++)
      for (int i = 0; i < w->n[0]; i++)
        sum += mn_get(w, i, j, k) > 0 ? mn_get(w, i, j, k) * mn_get(&u[a], i, j, k) : 0;
  for (size_t r = 0; r < mac->bodies.weights->rows; r++) {
    const mn_closed_face *f = &mac->bodies.face[r];
    if (f->axis != a)
      continue;
    int64_t c = mn_index(part, f->i, f->j, f->k);
    double s = 0.5 * (part->at[c] + part->at[c - part->stride[a]]);
    sum += (s - mn_get(w, f->i, f->j, f->k)) * own[r];
  }
  return mac->def->fluid.density * cell * sum;
}

/* Force of the fluid on the two sides along axis a. */
static double side_force(const mn_mac *mac, int a)
{
  const mn_field *p = &mac->dp;
  double sum = 0, area = pow(mac->grid.dx, mac->grid.dim - 1);
  for (int k = 0; k < (a == 2 ? 1 : p->n[2]); k++)
    for (int j = 0; j < (a == 1 ? 1 : p->n[1]); j++)
      for (int i = 0; i < (a == 0 ? 1 : p->n[0]); i++) {
        int64_t low = mn_index(p, i, j, k), high = low + (p->n[a] - 1) * p->stride[a];
        sum += p->at[high] - p->at[low];
      }
  return area * sum;
}

/* Greatest |sum of impulses| over their size in a closed box, over some steps. */
static double imbalance(int dim, int order, int thick, int impulse)
{
  mac_case c;
  body_case b;
  const double dt = 0.02;
  double worst = 0, z = dim == 3 ? 0.5 : 0;
  mac_case_begin(&c, dim, mn_v3(1, 1, dim == 3 ? 1 : 0), dim == 3 ? 16 : 32);
  c.def.fluid.order = order;
  c.def.fluid.density = 2;
  c.def.fluid.pressure_tolerance = 1e-13;
  mac_case_start(&c);
  if (!thick)
    body_plate(&b, c.ctx, dim, dim == 2 ? mn_v3(0.11, 0.21, 0) : mn_v3(0, 0.21, 0.21), 16);
  else
    body_box(&b, c.ctx, dim, mn_v3(0.33, 0.23, 0.27), 0.04);
  b.face.impulse = impulse;
  mn_vec3 x = mn_v3(0.41, 0.47, z), v = mn_v3(0.3, 0.2, dim == 3 ? 0.1 : 0);
  body_put(&b, x, 0.3, mn_v3(0, 0, 0), 0);
  meet(&c, &b);
  const mn_mac *mac = c.fluid.self;
  for (int step = 0; step < 6; step++) {
    CHECK_OK(c.ctx, c.fluid.ops->begin(c.fluid.self, dt * step, dt));
    double speed = 1 + 0.3 * step;
    x = mn_madd(x, dt * speed, v);
    body_put(&b, x, 0.3 + 0.01 * step * step, mn_scale(speed, v), 0.5 * step);
    solve(&c, &b);
    const mn_field *before = mac->star;
    double own[8192];
    for (size_t r = 0; r < mac->bodies.weights->rows; r++) {
      const mn_closed_face *f = &mac->bodies.face[r];
      own[r] = thick ? mac->bodies.U_start[r] : mn_get(&before[f->axis], f->i, f->j, f->k);
    }
    double scale = 0, missing = 0;
    for (int a = 0; a < dim; a++) {
      double change = momentum(mac, mac->result, mac->bodies.U, a) - momentum(mac, before, own, a);
      double wall = dt * side_force(mac, a), body = dt * body_force(&b).v[a];
      scale += fabs(change) + fabs(wall) + fabs(body);
      missing = check_worst(missing, fabs(change + wall + body));
    }
    worst = check_worst(worst, missing / scale);
    CHECK_OK(c.ctx, c.fluid.ops->commit(c.fluid.self));
  }
  body_destroy(&b);
  mac_case_end(&c);
  return worst;
}

static void test_momentum(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int order = 1; order <= 2; order++)
      for (int thick = 0; thick < 2; thick++) {
        double error = imbalance(dim, order, thick, 1);
        printf("%dD order %d %s: %.1e\n", dim, order, thick ? "box" : "plate", error);
        CHECK_LE(error, 1e-10);
      }
  CHECK_DONE();
  CHECK_LE(imbalance(2, 1, 1, 0), 1e-2); /* differences of pressure do not conserve it */
  CHECK_MUST_HAVE_FAILED();
}

/* ---- solves of one substep ------------------------------------------------------------------- */

static void start_box(mac_case *c, body_case *b, int water, int frozen)
{
  mac_case_begin(c, 2, mn_v3(1, 1, 0), 32);
  c->def.fluid.pressure_tolerance = 1e-12;
  if (water) {
    c->def.fluid.kind = MN_FLUID_WATER;
    c->def.fluid.gravity = mn_v3(0, -9.8, 0);
    CHECK_OK(c->ctx, mn_shape_box(c->ctx, 2, mn_v3(-1, -1, -1), mn_v3(2, 0.6, 1),
                                  &c->def.fluid.initial_water));
  }
  mac_case_start(c);
  body_disk(b, c->ctx, 0.18, 64);
  b->face.frozen = frozen;
  body_put(b, mn_v3(0.5, 0.45, 0), 0, mn_v3(0, 0, 0), 0);
  meet(c, b);
}

/* Solves with other places and velocities in between change nothing but the last digits; frozen,
   loads are linear in the velocities. */
static void test_repeated_solves(void **state)
{
  (void)state;
  for (int water = 0; water < 2; water++)
    for (int frozen = 0; frozen < 2; frozen++) {
      mac_case c;
      body_case b;
      start_box(&c, &b, water, frozen);
      mn_vec3 first = {{0}}, force[3];
      for (int step = 0; step < 2; step++) {
        CHECK_OK(c.ctx, c.fluid.ops->begin(c.fluid.self, 0.01 * step, 0.01));
        for (int n = 0; n < 4; n++) { /* the last is the first again */
          double v = n == 3 ? 0.1 : 0.1 + 0.05 * n;
          body_put(&b, mn_v3(0.5 + 0.01 * v * (step + 1), 0.45, 0), 0, mn_v3(v, 0, 0), 0);
          solve(&c, &b);
          if (n == 0)
            first = body_force(&b);
          force[n % 3] = body_force(&b);
          if (n == 2 && frozen && !water) {
            double bend = force[2].x - 2 * force[1].x + force[0].x;
            CHECK_LE(fabs(bend), 1e-8 * fabs(force[2].x - force[0].x));
          }
        }
        CHECK_LE(mn_length(mn_sub(body_force(&b), first)), 1e-8 * mn_length(first));
        CHECK_OK(c.ctx, c.fluid.ops->commit(c.fluid.self));
      }
      body_destroy(&b);
      mac_case_end(&c);
    }
  CHECK_DONE();
}

/* From the same state the same substep gives the same bits, after others were tried and undone. */
static void test_same_bits(void **state)
{
  (void)state;
  for (int water = 0; water < 2; water++) {
    mac_case c;
    body_case b;
    mn_vec3 forces[2];
    start_box(&c, &b, water, 1);
    const mn_fluid_ops *ops = c.fluid.ops;
    for (int trial = 0; trial < 2; trial++) {
      CHECK_OK(c.ctx, trial ? ops->restore(c.fluid.self) : ops->save(c.fluid.self));
      body_put(&b, mn_v3(0.5, 0.45, 0), 0, mn_v3(0, 0, 0), 0);
      meet(&c, &b);
      for (int step = 0; step < 3; step++) {
        CHECK_OK(c.ctx, ops->begin(c.fluid.self, 0.01 * step, 0.01));
        body_put(&b, mn_v3(0.5 + 0.002 * (step + 1), 0.45, 0), 0, mn_v3(0.2, 0, 0), 0);
        solve(&c, &b);
        CHECK_OK(c.ctx, ops->commit(c.fluid.self));
        meet(&c, &b);
      }
      forces[trial] = body_force(&b);
    }
    CHECK(!memcmp(&forces[0], &forces[1], sizeof forces[0]));
    body_destroy(&b);
    mac_case_end(&c);
  }
  CHECK_DONE();
}

/* Forces and state after some steps of a tilted box, by so many threads. */
static void run_threads(int threads, int water, mn_vec3 force[2], double *sum)
{
  mac_case c;
  body_case b;
  mac_case_begin(&c, 2, mn_v3(1, 1, 0), 144);
  mn_context_destroy(&c.ctx);
  c.ctx = check_context(threads);
  if (water) {
    c.def.fluid.kind = MN_FLUID_WATER;
    c.def.fluid.gravity = mn_v3(0, -9.8, 0);
    CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(-1, -1, -1), mn_v3(2, 0.6, 1),
                                 &c.def.fluid.initial_water));
  }
  mac_case_start(&c);
  body_box(&b, c.ctx, 2, mn_v3(0.3, 0.2, 0), 0.005);
  for (int step = 0; step < 4; step++) {
    mn_vec3 x = mn_v3(0.5 + 0.002 * step, 0.4, 0), v = mn_v3(0.4, 0, 0);
    b.face.impulse = step % 2;
    body_put(&b, x, 0.3, v, 0);
    memset(b.face.rigid, step < 2, b.face.count);
    meet(&c, &b);
    CHECK_OK(c.ctx, c.fluid.ops->begin(c.fluid.self, 0.005 * step, 0.005));
    body_put(&b, mn_madd(x, 0.005, v), 0.3, v, 0);
    solve(&c, &b);
    force[step % 2] = body_force(&b);
    CHECK_OK(c.ctx, c.fluid.ops->commit(c.fluid.self));
  }
  mn_array arrays[32];
  int count = c.fluid.ops->arrays(c.fluid.self, arrays, 32);
  *sum = 0;
  for (int n = 0; n < count; n++) {
    size_t size = 1;
    for (int r = 0; r < arrays[n].rank; r++)
      size *= arrays[n].shape[r];
    for (size_t i = 0; i < size; i++)
      *sum += ((const double *)arrays[n].data)[i] * (double)(1 + i % 7);
  }
  body_destroy(&b);
  mac_case_end(&c);
}

static void test_threads(void **state)
{
  (void)state;
  for (int water = 0; water < 2; water++) {
    mn_vec3 force[2][2];
    double sum[2];
    run_threads(1, water, force[0], &sum[0]);
    run_threads(3, water, force[1], &sum[1]);
    CHECK(!memcmp(force[0], force[1], sizeof force[0]));
    CHECK(sum[0] == sum[1]);
  }
  CHECK_DONE();
}

/* ---- closed regions -------------------------------------------------------------------------- */

/* A box that deforms in a closed space: solved if it keeps its volume nearly, else refused. */
static void test_closed_region(void **state)
{
  (void)state;
  mac_case c;
  body_case b;
  start_box(&c, &b, 0, 1);
  memset(b.face.rigid, 0, b.face.count);
  meet(&c, &b);
  CHECK_OK(c.ctx, c.fluid.ops->begin(c.fluid.self, 0, 0.01));
  for (size_t i = 0; i < b.face.count; i++) /* stretched along x, thinner along y */
    b.face.V[i] = mn_v3(b.rest[i].x, -1.002 * b.rest[i].y, 0);
  solve(&c, &b);
  printf("net flow mended: %.2e m^2/s, divergence %.1e\n", c.report.net_flow, c.report.divergence);
  CHECK(c.report.reason == MN_CONVERGED);
  CHECK_LE(fabs(c.report.net_flow), 2e-3);
  CHECK_GE(fabs(c.report.net_flow), 1e-6);
  CHECK_LE(c.report.divergence, 1e-8);
  for (size_t i = 0; i < b.face.count; i++)
    b.face.V[i] = mn_v3(b.rest[i].x, b.rest[i].y, 0);
  CHECK_FAILS(c.ctx, c.fluid.ops->solve(c.fluid.self, &b.face, &c.report), MN_FAILED,
              "makes bodies give way");
  CHECK(c.report.reason == MN_INCOMPATIBLE);
  body_destroy(&b);
  mac_case_end(&c);
  CHECK_DONE();
}

/* A pocket of a few cells, cut off in a corner, leaks; of more cells it is refused. */
static void test_pocket(void **state)
{
  (void)state;
  for (int large = 0; large < 2; large++) {
    mac_case c;
    body_case b;
    mac_case_begin(&c, 2, mn_v3(1, 1, 0), large ? 32 : 16);
    c.def.domain.side[3].kind = MN_SIDE_OPEN;
    mac_case_start(&c);
    body_plate(&b, c.ctx, 2, mn_v3(0.15, -0.15, 0), 16);
    body_put(&b, mn_v3(0.11, 0.11, 0), 0, mn_v3(0, 0, 0), 0);
    meet(&c, &b);
    CHECK_OK(c.ctx, c.fluid.ops->begin(c.fluid.self, 0, 0.01));
    body_put(&b, mn_v3(0.11, 0.11, 0), 0, mn_v3(0.1, 0.1, 0), 0);
    if (large)
      CHECK_FAILS(c.ctx, c.fluid.ops->solve(c.fluid.self, &b.face, &c.report), MN_FAILED,
                  "is closed on all sides");
    else {
      solve(&c, &b);
      CHECK(c.report.closed_regions == 1);
      CHECK_LE(c.report.divergence, 1e-8);
    }
    body_destroy(&b);
    mac_case_end(&c);
  }
  CHECK_DONE();
}

static void test_refusals(void **state)
{
  (void)state;
  mac_case c;
  body_case b, other;
  start_box(&c, &b, 0, 1);
  CHECK_OK(c.ctx, c.fluid.ops->begin(c.fluid.self, 0, 0.01));
  body_disk(&other, c.ctx, 0.1, 32);
  CHECK_FAILS(c.ctx, c.fluid.ops->solve(c.fluid.self, &other.face, &c.report), MN_BAD_INPUT,
              "call `meet`");
  b.face.X[3].x = NAN;
  CHECK_FAILS(c.ctx, c.fluid.ops->solve(c.fluid.self, &b.face, &c.report), MN_FAILED, "nan");
  body_destroy(&b);
  body_destroy(&other);
  mac_case_end(&c);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_columns),   cmocka_unit_test(test_pressure_jump),
      cmocka_unit_test(test_momentum),  cmocka_unit_test(test_repeated_solves),
      cmocka_unit_test(test_same_bits), cmocka_unit_test(test_closed_region),
      cmocka_unit_test(test_refusals),  cmocka_unit_test(test_pocket),
      cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
