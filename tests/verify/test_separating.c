/* Walls that water can leave, in the running simulation: release from a ceiling, the tank at rest,
   a lid lifted off a full tank, complementarity of every solve, and that nothing trespasses. */
#include "water_case.h"

#include <math.h>
#include <stdio.h>

static const double RHO = 1000, G = 9.81;

/* Worst values of all solves so far. */
typedef struct solves {
  double suction; /* -min p over max p */
  double squeeze; /* -min slack over the tolerance's scale, 1/s */
  double complementarity, divergence;
  int parted; /* solves with a cell that let go */
  int count, outer;
} solves;

static void add_solve(solves *s, const mn_solve_report *r)
{
  s->suction = check_worst(s->suction, r->greatest_p > 0 ? -r->least_p / r->greatest_p : 0);
  s->squeeze = check_worst(s->squeeze, -r->least_slack);
  s->complementarity = check_worst(s->complementarity, r->complementarity);
  s->divergence = check_worst(s->divergence, r->divergence);
  s->parted += r->held > 0;
  s->outer += r->outer;
  s->count++;
}

static void check_solves(const solves *s, double tolerance)
{
  CHECK_LE(s->suction, 1e-8);
  CHECK_LE(s->squeeze, tolerance);
  CHECK_LE(s->complementarity, 1e-8);
  CHECK_LE(s->divergence, tolerance);
}

/* ---- ceiling --------------------------------------------------------------------------------- */

typedef struct fall {
  double velocity_error, particle_error; /* of one step, over g dt */
  double later;                          /* the same of particles a quarter of a second later */
  double pressure;                       /* greatest, over rho g h */
  double hanging;                        /* highest particle after a quarter of a second, m */
  double flatness;                       /* of the fall then: greatest error of a particle, m */
} fall;

/* Every face beside a liquid cell. */
static double face_error(const mac_case *c, double expected)
{
  mn_mac_view v = mn_mac_look(&c->fluid);
  double worst = 0;
  for (int a = 0; a < v.grid->dim; a++)
    for (int k = 0; k < v.liquid->n[2]; k++)
      for (int j = 0; j < v.liquid->n[1]; j++)
        for (int i = 0; i < v.liquid->n[0]; i++) {
          if (mn_get(v.liquid, i, j, k) >= 0)
            continue;
          const mn_field *u = &v.velocity[a];
          double low = mn_get(u, i, j, k), high = u->at[mn_index(u, i, j, k) + u->stride[a]];
          double want = a == 1 ? expected : 0;
          worst = check_worst(worst, fmax(fabs(low - want), fabs(high - want)));
        }
  return worst;
}

static fall let_go(int dim, int n, mn_walls walls, mn_lcp_solver_kind solver, mn_transfer transfer)
{
  mac_case c;
  fall r = {0};
  double dt = 1e-3, top = 1, h = 0.25;
  water_case_begin(&c, dim, mn_v3(1, top, dim == 3 ? 1 : 0), n);
  c.def.fluid.walls = walls;
  c.def.fluid.lcp_solver = solver;
  c.def.fluid.transfer = transfer;
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, dim, mn_v3(0.25, top - h, 0.25), mn_v3(0.75, 2, 0.75),
                               &c.def.fluid.initial_water));
  mac_case_start(&c);
  mac_case_run(&c, dt, dt);
  r.velocity_error = face_error(&c, -G * dt) / (G * dt);
  r.pressure = c.report.greatest_p / (RHO * G * h);
  const mn_particles *p = mn_mac_look(&c.fluid).particles;
  double lowest = 2;
  for (size_t i = 0; i < p->count; i++) {
    double v = mn_mac_particle_velocity(&c.fluid, i).y;
    r.particle_error = check_worst(r.particle_error, fabs(v + G * dt) / (G * dt));
    lowest = fmin(lowest, mn_particle(p, i)[1]);
  }
  mac_case_run(&c, 0.25, 0.005);
  p = mn_mac_look(&c.fluid).particles;
  double low = 2;
  for (size_t i = 0; i < p->count; i++) {
    r.hanging = fmax(r.hanging, mn_particle(p, i)[1]);
    low = fmin(low, mn_particle(p, i)[1]);
    double v = mn_mac_particle_velocity(&c.fluid, i).y;
    r.later = check_worst(r.later, fabs(v / (G * c.time) + 1));
  }
  double sunk = 0.5 * G * 0.25 * 0.25;
  r.flatness = fmax(fabs(r.hanging - (top - sunk)), fabs(low - (top - h - sunk)));
  printf("ceiling, %dD, %d cells: velocity off by %.2e, particles %.2e, later %.2e, pressure %.2e, "
         "top at %.4f, off by %.4f m\n",
         dim, n, r.velocity_error, r.particle_error, r.later, r.pressure, r.hanging, r.flatness);
  mac_case_end(&c);
  return r;
}

static void check_fall(fall f, double dx)
{
  CHECK_LE(f.velocity_error, 1e-10);
  CHECK_LE(f.particle_error, 1e-10);
  CHECK_LE(f.later, 1e-10);
  CHECK_LE(f.pressure, 1e-10);
  CHECK_LE(f.flatness, dx);
}

static void test_ceiling(void **state)
{
  (void)state;
  check_fall(let_go(2, 32, MN_WALLS_SEPARATING, MN_LCP_FAST, MN_TRANSFER_APIC), 1.0 / 32);
  check_fall(let_go(3, 16, MN_WALLS_SEPARATING, MN_LCP_FAST, MN_TRANSFER_APIC), 1.0 / 16);
  check_fall(let_go(2, 32, MN_WALLS_SEPARATING, MN_LCP_FAST, MN_TRANSFER_FLIP), 1.0 / 32);
  check_fall(let_go(3, 16, MN_WALLS_SEPARATING, MN_LCP_FAST, MN_TRANSFER_FLIP), 1.0 / 16);
  for (int s = 1; s < MN_LCP_SOLVERS; s++)
    check_fall(let_go(2, 16, MN_WALLS_SEPARATING, (mn_lcp_solver_kind)s, MN_TRANSFER_APIC),
               1.0 / 16);
  CHECK_DONE();
}

static void test_control_ceiling_sticks(void **state)
{
  (void)state;
  check_fall(let_go(2, 32, MN_WALLS_STICKING, MN_LCP_FAST, MN_TRANSFER_APIC), 1.0 / 32);
  CHECK_MUST_HAVE_FAILED();
}

/* ---- rest ------------------------------------------------------------------------------------ */

/* Two steps of a tank at rest, with or without a ball in it; the pressure at cells into p. */
static int rest_step(mn_walls walls, mn_lcp_solver_kind solver, double fill, int with_ball,
                     double *p, int *held)
{
  enum { N = 24 };
  mac_case c;
  mn_solid_def ball = {.name = "ball"};
  water_case_begin(&c, 2, mn_v3(1, 1, 0), N);
  c.def.fluid.walls = walls;
  c.def.fluid.lcp_solver = solver;
  c.def.fluid.enclosed = 1;
  c.def.fluid.pressure_max_iterations = 100000;
  CHECK_OK(c.ctx, mn_shape_sphere(c.ctx, 2, mn_v3(0.45, 0.3, 0), 0.17, &ball.shape));
  c.def.solids = &ball;
  c.def.solid_count = with_ball;
  CHECK_OK(c.ctx, mn_shape_half_space(c.ctx, 2, mn_v3(0, fill, 0), mn_v3(0, 1, 0),
                                      &c.def.fluid.initial_water));
  mac_case_start(&c);
  mac_case_run(&c, 0.01, 0.01);
  int outer = c.report.outer;
  mac_case_run(&c, 0.02, 0.01);
  CHECK_LE(c.report.outer, outer);
  mn_mac_view v = mn_mac_look(&c.fluid);
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++)
      p[i + N * j] = mn_get(v.pressure, i, j, 0);
  if (!with_ball)
    mn_shape_destroy(&ball.shape);
  *held = c.report.held;
  mac_case_end(&c);
  return outer;
}

static double difference(const double *a, const double *b, int n, double shift)
{
  double worst = 0;
  for (int i = 0; i < n; i++)
    worst = check_worst(worst, a[i] != 0 || b[i] != 0 ? fabs(a[i] - b[i] - shift) : 0);
  return worst;
}

static void test_rest_is_linear(void **state)
{
  (void)state;
  enum { CELLS = 24 * 24 };
  double linear[CELLS], lcp[CELLS], scale = RHO * G * 0.8;
  int held;
  for (int ball = 0; ball < 2; ball++) {
    rest_step(MN_WALLS_STICKING, MN_LCP_FAST, 0.803, ball, linear, &held);
    for (int s = 0; s < MN_LCP_SOLVERS; s++) {
      int outer = rest_step(MN_WALLS_SEPARATING, (mn_lcp_solver_kind)s, 0.803, ball, lcp, &held);
      CHECK_LE(difference(linear, lcp, CELLS, 0), 1e-8 * scale);
      CHECK(held == 0);
      int counts =
          s == MN_LCP_FAST || (s >= MN_LCP_PI_PCG && s <= MN_LCP_PE_MG) || s == MN_LCP_NEWTON;
      CHECK(!counts || ball || outer == 1);
    }
  }
  CHECK_DONE();
  CHECK_LE(difference(linear, lcp, CELLS, 1), 1e-8 * scale); /* the control: 1 Pa is seen */
  CHECK_MUST_HAVE_FAILED();
}

/* A full tank: no air, so the pressure is that of the linear problem up to a constant, and 0 where
   it is least. */
static void test_full_tank(void **state)
{
  (void)state;
  enum { CELLS = 24 * 24 };
  double lcp[CELLS], least = INFINITY;
  int held;
  rest_step(MN_WALLS_SEPARATING, MN_LCP_FAST, 2, 1, lcp, &held);
  for (int i = 0; i < CELLS; i++) {
    double y = (i / 24 + 0.5) / 24, p = RHO * G * (1 - 0.5 / 24 - y);
    int inside = hypot((i % 24 + 0.5) / 24 - 0.45, y - 0.3) < 0.17 + 1.0 / 24;
    least = fmin(least, lcp[i]);
    if (!inside)
      CHECK_LE(fabs(lcp[i] - p), 1e-8 * RHO * G);
  }
  CHECK_LE(fabs(least), 1e-8 * RHO * G);
  CHECK(held == 0);
  CHECK_DONE();
}

/* ---- the lid --------------------------------------------------------------------------------- */

typedef struct lift {
  solves solves;
  double first_speed; /* of the water after one step, over that of the lid */
  double floor_error; /* of the pressure on the floor then, over rho g h */
  double late_speed;  /* of the water half a second later, m/s */
  double level_error; /* of the surface then, in cells */
  double trespass, lost;
} lift;

enum { WALL = 6, LID_N = 48 };

static double greatest_water_speed(const mac_case *c)
{
  const mn_particles *p = mn_mac_look(&c->fluid).particles;
  double most = 0;
  for (size_t i = 0; i < p->count; i++)
    for (int a = 0; a < p->dim; a++)
      most = fmax(most, fabs(mn_mac_particle_velocity(&c->fluid, i).v[a]));
  return most;
}

/* A full tank in a box of 0.4 m; its lid leaves with `speed`, in steps of dt. Between lid and walls
   there is air on `gap` cells. */
static lift lift_lid(double speed, double dt, mn_walls walls, mn_lcp_solver_kind solver, int gap)
{
  mac_case c;
  lift r = {0};
  double dx = 0.4 / LID_N, wall = WALL * dx, full = 0.2;
  mn_shape *part[3];
  mn_solid_def solids[2] = {{.name = "tank"}, {.name = "lid", .moving = 1}};
  water_case_begin(&c, 2, mn_v3(0.4, 0.4, 0), LID_N);
  c.def.fluid.walls = walls;
  c.def.fluid.lcp_solver = solver;
  c.def.domain.side[3].kind = MN_SIDE_OPEN;
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(-1, -1, 0), mn_v3(wall, full, 0), &part[0]));
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(0.4 - wall, -1, 0), mn_v3(1, full, 0), &part[1]));
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(-1, -1, 0), mn_v3(1, wall, 0), &part[2]));
  CHECK_OK(c.ctx, mn_shape_union(c.ctx, part, 3, &solids[0].shape));
  double side = wall + gap * dx;
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(side, full, 0), mn_v3(0.4 - side, full + 0.05, 0),
                               &solids[1].shape));
  solids[1].motion.translate = mn_v3(0, 1, 0);
  solids[1].motion.path = (mn_timefn){.kind = MN_TIME_RATE, .rate = speed};
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(wall, wall, 0), mn_v3(0.4 - wall, full, 0),
                               &c.def.fluid.initial_water));
  c.def.solids = solids;
  c.def.solid_count = 2;
  mac_case_start(&c);
  double before = water_case_sums(&c).volume;
  for (int step = 0; step * dt < 0.1; step++) {
    mac_case_run(&c, (step + 1) * dt, dt);
    add_solve(&r.solves, &c.report);
    r.trespass = check_worst(r.trespass, water_case_trespass(&c, solids[0].shape, mn_v3(0, 0, 0)));
    r.trespass = check_worst(r.trespass,
                             water_case_trespass(&c, solids[1].shape, mn_v3(0, speed * c.time, 0)));
    if (step == 0) {
      double h = full - wall - 0.5 * dx;
      r.first_speed = greatest_water_speed(&c) / speed;
      mn_mac_view v = mn_mac_look(&c.fluid);
      r.floor_error =
          fabs(mn_get(v.pressure, LID_N / 2, WALL, 0) - RHO * G * h) / (RHO * G * (full - wall));
    }
  }
  mac_case_run(&c, 0.5, dt);
  r.late_speed = greatest_water_speed(&c);
  r.lost = fabs(water_case_sums(&c).volume / before - 1);
  const mn_field *phi = mn_mac_look(&c.fluid).liquid;
  for (int i = WALL; i < LID_N - WALL; i++) {
    int j = WALL;
    while (mn_get(phi, i, j, 0) < 0)
      j++;
    double a = mn_get(phi, i, j - 1, 0), b = mn_get(phi, i, j, 0);
    r.level_error = check_worst(r.level_error, fabs(j - 0.5 + a / (a - b) - full / dx));
  }
  printf("lid at %g m/s: water at %.2e of it after a step, floor pressure off by %.2e; later %.2e "
         "m/s, level off by %.3f cells; outer %.2f\n",
         speed, r.first_speed, r.floor_error, r.late_speed, r.level_error,
         (double)r.solves.outer / r.solves.count);
  mac_case_end(&c);
  return r;
}

/* Nothing pulls: only at the edge of the lid is there some motion. */
static void check_lets_go(const lift *r)
{
  CHECK_LE(r->first_speed, 0.01);
  CHECK_LE(r->floor_error,
           0.51 * 0.4 / LID_N / (0.2 - 0.05)); /* p = 0 within half a cell of the lid */
}

static void test_lid(void **state)
{
  (void)state;
  for (int s = 0; s < 3; s++) {
    lift r = lift_lid(0.5, 1e-3, MN_WALLS_SEPARATING, s == 1 ? MN_LCP_PI_PCG : MN_LCP_FAST,
                      s == 2 ? 4 : 0);
    check_solves(&r.solves, 1e-6);
    CHECK(r.solves.parted >= 1);
    check_lets_go(&r);
    CHECK_LE(r.late_speed, 0.02);
    CHECK_LE(r.level_error, 0.25);
    CHECK_LE(r.trespass, 0);
    CHECK_LE(r.lost, 1e-12);
  }
  CHECK_DONE();
}

/* Walls that stick draw the water up; with no air beside the lid they are refused
   (tests/regress/test_bad_input.sh). */
static void test_control_lid_sticks(void **state)
{
  (void)state;
  lift r = lift_lid(0.5, 1e-3, MN_WALLS_STICKING, MN_LCP_FAST, 4);
  CHECK_GE(r.first_speed, 0.3);
  CHECK_DONE();
  check_lets_go(&r);
  CHECK_MUST_HAVE_FAILED();
}

/* ---- every solve of a dam break -------------------------------------------------------------- */

static solves break_dam(double tolerance, double until, double *trespass)
{
  mac_case c;
  solves s = {0};
  mn_solid_def bar = {.name = "bar"};
  water_case_begin(&c, 2, mn_v3(1, 0.75, 0), 40);
  c.def.fluid.walls = MN_WALLS_SEPARATING;
  c.def.fluid.pressure_tolerance = tolerance;
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(-1, -1, 0), mn_v3(0.3, 0.6, 0),
                               &c.def.fluid.initial_water));
  CHECK_OK(c.ctx, mn_shape_sphere(c.ctx, 2, mn_v3(0.6, 0.1, 0), 0.12, &bar.shape));
  c.def.solids = &bar;
  c.def.solid_count = 1;
  mac_case_start(&c);
  *trespass = -1;
  while (c.time < until) {
    mac_case_run(&c, c.time + 0.004, 0.004);
    add_solve(&s, &c.report);
    *trespass = check_worst(*trespass, water_case_trespass(&c, bar.shape, mn_v3(0, 0, 0)));
  }
  printf(
      "dam break: %d solves, %d with cells that part, outer %.2f, suction %.2e, squeeze %.2e 1/s, "
      "complementarity %.2e\n",
      s.count, s.parted, (double)s.outer / s.count, s.suction, s.squeeze, s.complementarity);
  mac_case_end(&c);
  return s;
}

static void test_dam_break(void **state)
{
  (void)state;
  double trespass;
  solves s = break_dam(1e-10, 2, &trespass);
  check_solves(&s, 1e-6);
  CHECK_GE(s.parted, 10);
  CHECK_LE(trespass, 0);
  CHECK_DONE();
}

/* ---- nothing trespasses ---------------------------------------------------------------------- */

/* A disk swept to and fro through a pool, faster than the water can follow. */
static double stir(double until)
{
  mac_case c;
  mn_solid_def disk = {.name = "disk", .moving = 1};
  water_case_begin(&c, 2, mn_v3(1, 0.75, 0), 40);
  CHECK_OK(c.ctx,
           mn_shape_box(c.ctx, 2, mn_v3(-1, -1, 0), mn_v3(2, 0.3, 0), &c.def.fluid.initial_water));
  CHECK_OK(c.ctx, mn_shape_sphere(c.ctx, 2, mn_v3(0.5, 0.2, 0), 0.1, &disk.shape));
  disk.motion.translate = mn_v3(0.3, 0, 0);
  disk.motion.path = (mn_timefn){.kind = MN_TIME_WAVE, .amplitude = 1, .frequency = 1};
  c.def.solids = &disk;
  c.def.solid_count = 1;
  mac_case_start(&c);
  double worst = -1, before = water_case_sums(&c).volume;
  int parted = 0;
  while (c.time < until) {
    mac_case_run_cfl(&c, c.time + 0.01);
    mn_vec3 shift = mn_scale(mn_timefn_eval(&disk.motion.path, c.time), disk.motion.translate);
    worst = check_worst(worst, water_case_trespass(&c, disk.shape, shift));
    parted += c.report.held > 0;
  }
  CHECK_GE(parted, 10);
  CHECK_LE(fabs(water_case_sums(&c).volume / before - 1), 1e-12);
  mac_case_end(&c);
  return worst;
}

static double break_dam_3d(double until)
{
  mac_case c;
  double worst = -1;
  mn_solid_def ball = {.name = "ball"};
  water_case_begin(&c, 3, mn_v3(1, 0.75, 0.5), 16);
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 3, mn_v3(-1, -1, -1), mn_v3(0.3, 0.6, 2),
                               &c.def.fluid.initial_water));
  CHECK_OK(c.ctx, mn_shape_sphere(c.ctx, 3, mn_v3(0.65, 0.1, 0.2), 0.15, &ball.shape));
  c.def.solids = &ball;
  c.def.solid_count = 1;
  mac_case_start(&c);
  while (c.time < until) {
    mac_case_run_cfl(&c, c.time + 0.01);
    worst = check_worst(worst, water_case_trespass(&c, ball.shape, mn_v3(0, 0, 0)));
  }
  mac_case_end(&c);
  return worst;
}

/* The independent measures must see solves that stop too early. */
static void test_control_dam_break(void **state)
{
  (void)state;
  double trespass;
  solves s = break_dam(0.02, 0.6, &trespass);
  check_solves(&s, 1e-6);
  CHECK_MUST_HAVE_FAILED();
}

static void test_nothing_trespasses(void **state)
{
  (void)state;
  CHECK_LE(stir(3), 0);
  CHECK_LE(break_dam_3d(1.5), 0);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ceiling),
      cmocka_unit_test(test_control_ceiling_sticks),
      cmocka_unit_test(test_rest_is_linear),
      cmocka_unit_test(test_full_tank),
      cmocka_unit_test(test_lid),
      cmocka_unit_test(test_control_lid_sticks),
      cmocka_unit_test(test_dam_break),
      cmocka_unit_test(test_control_dam_break),
      cmocka_unit_test(test_nothing_trespasses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
