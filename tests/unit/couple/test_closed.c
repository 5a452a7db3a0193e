/* Closed regions over boxes with known answers: a piston on an enclosed column, a ring that fills,
   regions that share a shell, and what has no solution. */
#include <stdio.h>

#include "closed_case.h"

/* ---- a piston on a column ---------------------------------------------------------------- */

static const double WIDTH = 0.6, PISTON = 900, GRAVITY = 9.8, HEIGHT = 0.8, DENSITY = 1;

/* N points down, into the column. */
static void make_piston(closed_rig *r)
{
  rig_new(r);
  add_line(r, mn_v3(0, HEIGHT, 0), mn_v3(WIDTH, HEIGHT, 0), 24, PISTON);
  face(r, 0, 24, 0, MN_FACES_NONE);
  r->solid.lift[0] = 1;
  r->solid.gravity = GRAVITY;
  r->fluid.count = 1;
  r->fluid.still = -DENSITY * GRAVITY * HEIGHT / 2; /* mean 0 over the column */
  r->fluid.added = DENSITY * HEIGHT;
}

static void test_piston_at_rest(void **state)
{
  (void)state;
  double exact = PISTON * GRAVITY / WIDTH + DENSITY * GRAVITY * HEIGHT / 2;
  static const mn_coupling_method methods[] = {MN_COUPLE_XPM, MN_COUPLE_RMI, MN_COUPLE_AITKEN,
                                               MN_COUPLE_RELAXED, MN_COUPLE_WEAK};
  for (int m = 0; m < 5; m++)
    for (int black = 0; black < 2; black++) {
      closed_rig r;
      mn_coupling_def def = mn_coupling_def_default(methods[m], 0);
      def.tolerance = 1e-6;
      make_piston(&r);
      rig_couple(&r, &def, black);
      for (int n = 0; n < 20; n++) {
        assert_int_equal(rig_step(&r, 0.01), MN_OK);
        CHECK_NEAR(region(&r, 0)->p0, exact, 1e-9 * exact); /* from the first on */
        CHECK_LE(fabs(region(&r, 0)->net_outflow), 1e-10);
        CHECK_LE(r.report.imbalance, 1e-6);
      }
      printf("%-8s%s p0 %.9f N/m, moved %.2e m, %d solves of the solid\n",
             mn_coupling_method_name(methods[m]), black ? " black" : "", region(&r, 0)->p0,
             fabs(r.solid.X[3].y - HEIGHT), r.solid.solves);
      CHECK_NEAR(r.solid.X[3].y, HEIGHT, 1e-13);
      CHECK(r.fluid.lifted == 1);
      CHECK_NEAR(r.fluid.p0[0], exact, 1e-9 * exact);
      CHECK_LE(r.most, 3);
      rig_free(&r);
    }
  CHECK_DONE();
}

/* Pumped up by an inflow that grows: it must rise as the inflow says, and p0 is what accelerates
   both. */
static void test_piston_lifted(void **state)
{
  (void)state;
  closed_rig r;
  mn_coupling_def def = mn_coupling_def_default(MN_COUPLE_XPM, 0);
  double dt = 0.01, volume = 0, rate = 0.3;
  def.tolerance = 1e-6;
  make_piston(&r);
  rig_couple(&r, &def, 0);
  for (int n = 1; n <= 50; n++) {
    r.fluid.inflow[0] = rate * n * dt;
    volume += dt * r.fluid.inflow[0];
    assert_int_equal(rig_step(&r, dt), MN_OK);
    double moving = PISTON + DENSITY * HEIGHT * WIDTH, acceleration = rate / WIDTH;
    double exact =
        moving * acceleration / WIDTH + PISTON * GRAVITY / WIDTH + DENSITY * GRAVITY * HEIGHT / 2;
    CHECK_NEAR(region(&r, 0)->p0, exact, 1e-6 * exact);
  }
  printf("lifted by %.12f m, exactly %.12f, %d fluid solves in %d steps\n", r.solid.X[0].y - HEIGHT,
         volume / WIDTH, r.solves, r.steps);
  CHECK_NEAR(r.solid.X[0].y - HEIGHT, volume / WIDTH, 1e-12);
  CHECK_LE(r.fluid.flow, 1e-12); /* what the fluid saw was compatible in every solve */
  CHECK_LE(r.most, 3);
  rig_free(&r);
  CHECK_DONE();
}

/* ---- a ring that fills ------------------------------------------------------------------- */

enum { RING = 48 };

static void make_ring(closed_rig *r, double mass, double pull, double anchor)
{
  rig_new(r);
  add_ring(r, 0.5, RING, mass);
  face(r, 0, RING, 0, MN_FACES_NONE);
  r->solid.pull = pull;
  r->solid.anchor = anchor;
  r->fluid.count = 1;
  r->fluid.added = 0.06;
}

typedef struct filled {
  double error; /* of the area, as part of the inflow */
  double flow;  /* net outflow, the same */
  double iterations, solves;
  double p0;
  mn_status status;
} filled;

static filled fill(const mn_coupling_def *def, double mass, double anchor, int black)
{
  closed_rig r;
  filled out = {0};
  double dt = 0.005, volume = 0;
  make_ring(&r, mass, 20 * mass, anchor);
  r.solid.X[3].x += 0.01; /* not quite round, so that p0 is not all */
  rig_couple(&r, def, black);
  double before = area_inside(&r, 0, RING);
  for (int n = 1; n <= 60 && out.status == MN_OK; n++) {
    r.fluid.inflow[0] = 0.5 * (1 - cos(MN_PI * n * dt));
    out.status = rig_step(&r, dt);
    if (out.status == MN_OK) {
      volume += dt * r.fluid.inflow[0];
      out.flow = check_worst(out.flow, fabs(region(&r, 0)->net_outflow) / r.fluid.inflow[0]);
    }
  }
  out.error = fabs(area_inside(&r, 0, RING) - before - volume) / volume;
  out.iterations = (double)r.solves / r.steps;
  out.solves = (double)r.solid.solves / r.steps;
  out.p0 = r.steps ? region(&r, 0)->p0 : 0;
  rig_free(&r);
  return out;
}

static void test_ring_fills(void **state)
{
  (void)state;
  static const double masses[] = {0.01, 1, 100};
  for (int m = 0; m < 3; m++)
    for (int stiff = 0; stiff < 2; stiff++)
      for (int black = 0; black < 2; black++) {
        mn_coupling_def def = mn_coupling_def_default(MN_COUPLE_XPM, 0);
        def.tolerance = 1e-4;
        filled f = fill(&def, masses[m], stiff ? 1e5 * masses[m] : 0, black);
        printf("ring of %5g kg/m%s%s: area off by %.1e of the inflow, net outflow %.1e, "
               "%.2f iterations, %.2f solid solves, p0 %.6g\n",
               masses[m], stiff ? " stiff" : "", black ? " black" : "", f.error, f.flow,
               f.iterations, f.solves, f.p0);
        CHECK(f.status == MN_OK);
        CHECK_LE(f.error, 1e-9);
        CHECK_LE(f.flow, 1e-8);
        CHECK_LE(f.iterations, 3.5);
      }
  CHECK_DONE();
}

/* Without p0 nothing gives way: the control of what fills the ring. */
static void test_none_does_not_fill(void **state)
{
  (void)state;
  mn_coupling_def def = mn_coupling_def_default(MN_COUPLE_XPM, 0);
  def.closed = MN_CLOSED_NONE;
  filled f = fill(&def, 1, 0, 0);
  printf("none: area off by %.3f of the inflow\n", f.error);
  CHECK(f.status == MN_OK);
  CHECK_GE(f.error, 0.5);
  CHECK_DONE();
}

/* ---- several regions --------------------------------------------------------------------- */

/* A shell across a closed box: what enters on one side leaves on the other. N points right. */
static void make_parted(closed_rig *r)
{
  rig_new(r);
  add_line(r, mn_v3(0.5, 0, 0), mn_v3(0.5, 1, 0), 20, 3);
  face(r, 0, 20, 1, 0);
  r->fluid.count = 2;
  r->fluid.added = 0.2;
}

static void test_parted_box(void **state)
{
  (void)state;
  for (int black = 0; black < 2; black++) {
    closed_rig r;
    mn_coupling_def def = mn_coupling_def_default(MN_COUPLE_XPM, 0);
    double dt = 0.01, moved = 0;
    def.tolerance = 1e-6;
    make_parted(&r);
    rig_couple(&r, &def, black);
    for (int n = 1; n <= 20; n++) {
      r.fluid.inflow[0] = 0.2 * n * dt;
      r.fluid.inflow[1] = -0.2 * n * dt;
      moved += dt * r.fluid.inflow[0];
      assert_int_equal(rig_step(&r, dt), MN_OK);
    }
    double left = region(&r, 0)->p0, right = region(&r, 1)->p0;
    printf("parted box%s: p0 %.9f and %.9f, moved by %.12f\n", black ? " black" : "", left, right,
           r.solid.X[7].x - 0.5);
    for (int i = 0; i <= 20; i++)
      CHECK_NEAR(r.solid.X[i].x, 0.5 + moved, 1e-12);
    CHECK_NEAR(left - right, (3 + 0.2) * 0.2, 1e-6); /* accelerates both */
    CHECK_NEAR(left + right, 0, 1e-9 * fabs(left));  /* only the difference counts */
    CHECK_LE(r.most, 3);
    rig_free(&r);
  }
  CHECK_DONE();
}

static void test_parted_box_without_solution(void **state)
{
  (void)state;
  for (int black = 0; black < 2; black++) {
    closed_rig r;
    mn_coupling_def def = mn_coupling_def_default(MN_COUPLE_XPM, 0);
    make_parted(&r);
    rig_couple(&r, &def, black);
    r.fluid.inflow[0] = 0.2;
    CHECK(rig_step(&r, 0.01) == MN_FAILED);
    CHECK(r.report.hopeless);
    CHECK(strstr(mn_context_message(r.ctx), "can only grow as others shrink"));
    printf("%s\n", mn_context_message(r.ctx));
    rig_free(&r);
  }
  CHECK_DONE();
}

/* Nothing moves: held bodies, or none at all. */
static void test_no_solution(void **state)
{
  (void)state;
  for (int held = 0; held < 2; held++)
    for (int black = 0; black < 2; black++) {
      closed_rig r;
      mn_coupling_def def = mn_coupling_def_default(MN_COUPLE_XPM, 0);
      make_ring(&r, 1, 20, 0);
      r.solid.held[0] = held;
      if (!held)
        face(&r, 0, RING, MN_FACES_NONE, MN_FACES_NONE);
      r.fluid.inflow[0] = 0.25;
      rig_couple(&r, &def, black);
      CHECK(rig_step(&r, 0.01) == MN_FAILED);
      CHECK(r.report.hopeless);
      CHECK(strstr(mn_context_message(r.ctx), "region 1 of 1000 cells"));
      CHECK(strstr(mn_context_message(r.ctx), "0.25 m^2/s flow in: no solution"));
      printf("%s\n", mn_context_message(r.ctx));
      rig_free(&r);
    }
  CHECK_DONE();
}

/* A box that says what cannot be is named. */
static void test_boxes_that_misbehave(void **state)
{
  (void)state;
  static const char *const words[] = {
      "the solid \"cloud\" answered with an acceleration that is not finite, at point 1",
      "the fluid \"vessel\" tells a closed region 0 whose inflow",
      "the fluid \"vessel\" says that element 2 faces closed region 1: there are 1",
      "the fluid \"vessel\" tells 1 closed regions without their data",
      "the fluid \"vessel\" failed with status",
      "the fluid \"vessel\" failed with status",
      "the fluid \"vessel\" says that 1.5 of a side of element 2 is in no wall",
      "the fluid \"vessel\" says that from a side of element 2 to a wall it is not a number"};
  for (int fault = 0; fault < 8; fault++) {
    closed_rig r;
    mn_coupling_def def = mn_coupling_def_default(MN_COUPLE_XPM, 0);
    make_ring(&r, 1, 20, 0);
    r.solid.fault = fault == 0;
    r.fluid.fault = fault;
    rig_couple(&r, &def, 0);
    mn_status status = mn_coupling_try(r.coupling, 0, 0.01, 1, &r.report);
    if (status == MN_OK)
      status = mn_coupling_commit(r.coupling, &r.report);
    CHECK(status == MN_FAILED);
    CHECK(strstr(mn_context_message(r.ctx), words[fault]));
    printf("%s\n", mn_context_message(r.ctx));
    rig_free(&r);
  }
  CHECK_DONE();
}

/* Three rings, the innermost one filled: two regions between them that keep their areas. N points
   inwards. */
static void test_nested_rings(void **state)
{
  (void)state;
  closed_rig r;
  mn_coupling_def def = mn_coupling_def_default(MN_COUPLE_XPM, 0);
  double dt = 0.005, volume = 0, mass[3] = {1, 2, 4};
  def.tolerance = 1e-6;
  rig_new(&r);
  for (int k = 0; k < 3; k++) {
    add_ring(&r, 0.3 + 0.1 * k, RING, mass[k]);
    face(&r, k * RING, (k + 1) * RING, k, k < 2 ? k + 1 : MN_FACES_NONE);
  }
  r.fluid.count = 3;
  r.fluid.added = 0;
  r.solid.pull = 10;
  double before[3];
  for (int k = 0; k < 3; k++)
    before[k] = area_inside(&r, k * RING, (k + 1) * RING);
  rig_couple(&r, &def, 0);
  for (int n = 1; n <= 40; n++) {
    r.fluid.inflow[0] = 0.5 * n * dt;
    volume += dt * r.fluid.inflow[0];
    double speed[3], tension[3], radius[3];
    for (int k = 0; k < 3; k++) {
      radius[k] = mn_length(r.solid.X[k * RING]);
      speed[k] = mn_length(r.solid.V[k * RING]);
      tension[k] = r.solid.pull * (radius[k] / (0.3 + 0.1 * k) - 1);
    }
    assert_int_equal(rig_step(&r, dt), MN_OK);
    /* ring k feels p0_k - p0_{k+1} over its length, in the middle of the substep: exactly */
    for (int k = 0; k < 3; k++) {
      double pull = tension[k] * 2 * sin(MN_PI / RING) * RING; /* inwards, sum over points */
      double change = (mn_length(r.solid.V[k * RING]) - speed[k]) / dt;
      double jump = region(&r, k)->p0 - (k < 2 ? region(&r, k + 1)->p0 : 0);
      double around = 2 * RING * sin(MN_PI / RING) * cos(MN_PI / RING);
      /* the rows are those of the first guess */
      double middle = (mass[k] * change + pull) / jump / around;
      double after = mn_length(r.solid.X[k * RING]);
      CHECK_NEAR(middle, (radius[k] + after) / 2, 2e-3 * radius[k]);
    }
  }
  for (int k = 0; k < 3; k++) {
    double now = area_inside(&r, k * RING, (k + 1) * RING);
    printf("ring %d: p0 %.9g, area off by %.2e\n", k, region(&r, k)->p0, now - before[k] - volume);
    CHECK_NEAR(now, before[k] + volume, 1e-12);
  }
  CHECK_LE(r.most, 3);
  rig_free(&r);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_piston_at_rest),
      cmocka_unit_test(test_piston_lifted),
      cmocka_unit_test(test_ring_fills),
      cmocka_unit_test(test_none_does_not_fill),
      cmocka_unit_test(test_parted_box),
      cmocka_unit_test(test_parted_box_without_solution),
      cmocka_unit_test(test_no_solution),
      cmocka_unit_test(test_nested_rings),
      cmocka_unit_test(test_boxes_that_misbehave),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
