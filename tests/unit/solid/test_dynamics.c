/* The schemes: C9 (oscillator), orders, C8 (momenta and energy of free and falling bodies),
   explicit limit, damping. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "geom/structured.h"
#include "solid/deform.h"

static const mn_vec3 ZERO = {{0, 0, 0}};
static const mn_scheme SCHEME[4] = {MN_BACKWARD_EULER, MN_NEWMARK, MN_MIDPOINT, MN_EXPLICIT};

static double fade; /* of worlds to come */

typedef struct world {
  mn_context *ctx;
  mn_deform *d;
  double t;
} world;

static world make(int dim, mn_scheme scheme, double gravity, double tolerance)
{
  world w = {check_context(2), NULL, 0};
  mn_deform_def def = mn_deform_def_default(dim);
  def.scheme = scheme;
  def.fade = fade;
  def.gravity.y = gravity;
  def.tolerance = tolerance;
  CHECK_OK(w.ctx, mn_deform_create(w.ctx, &def, &w.d));
  return w;
}

static void end(world *w)
{
  mn_deform_destroy(&w->d);
  mn_context_destroy(&w->ctx);
}

static mn_deform_report step(world *w, double dt)
{
  mn_deform_report report;
  CHECK_OK(w->ctx, mn_deform_begin(w->d, w->t, dt));
  CHECK_OK(w->ctx, mn_deform_solve(w->d, NULL, &report));
  CHECK_OK(w->ctx, mn_deform_commit(w->d));
  w->t += dt;
  return report;
}

/* Energy, with what `fade` adds to it. */
static double faded_energy(const world *w, double dt)
{
  mn_deform_view v = mn_deform_get(w->d);
  double sum = mn_deform_kinetic(w->d, -1) + mn_deform_elastic(w->d, -1);
  for (size_t i = 0; i < v.nodes; i++)
    sum += fade / 2 * dt * dt * v.mass[i] * mn_dot(v.a[i], v.a[i]);
  return sum;
}

/* ---- C9 -------------------------------------------------------------------------------------- */

/* A mass m = 0.5 on a spring of k = 8 to the world: omega = 4. Its partner, on the other end of a
   segment without stiffness, is held. */
static world oscillator(mn_scheme scheme)
{
  world w = make(2, scheme, 0, 1e-14);
  mn_simplex_mesh mesh;
  mn_springs_def springs = {.density = 1};
  int body;
  CHECK_OK(w.ctx, mn_mesh_line(w.ctx, 2, ZERO, mn_v3(1, 0, 0), 1, &mesh));
  CHECK_OK(w.ctx, mn_deform_add_springs(w.d, &mesh, &springs, &body));
  CHECK_OK(w.ctx, mn_deform_add_anchor(w.d, 1, mn_v3(1, 0, 0), 0, 8, 0));
  mn_deform_fix(w.d, 0, MN_FIX_ALL);
  mn_deform_get(w.d).x[1].y = 0.3;
  CHECK_OK(w.ctx, mn_deform_ready(w.d));
  mn_simplex_mesh_destroy(&mesh);
  return w;
}

static double amplitude(world *w)
{
  mn_deform_view v = mn_deform_get(w->d);
  return hypot(v.x[1].y, v.v[1].y / 4);
}

static void test_oscillator(void **state)
{
  (void)state;
  const double dt = 0.05, omega = 4;
  world w = oscillator(MN_BACKWARD_EULER);
  double worst = 0, control = 0;
  for (int n = 0; n < 100; n++) {
    double before = amplitude(&w);
    step(&w, dt);
    double factor = amplitude(&w) / before;
    worst = check_worst(worst, fabs(factor - 1 / sqrt(1 + omega * omega * dt * dt)));
    control = check_worst(control, fabs(factor - 1 / (1 + omega * omega * dt * dt / 2)));
  }
  CHECK_LE(worst, 1e-10);
  CHECK_GE(control, 1e-4); /* a factor that differs by 1.5e-4 is told apart */
  end(&w);
  /* trapezium and midpoint turn by 2 atan(omega dt/2) a step and keep the amplitude */
  for (int s = 1; s <= 2; s++) {
    w = oscillator(SCHEME[s]);
    worst = 0;
    for (int n = 1; n <= 100; n++) {
      step(&w, dt);
      double phase = 2 * n * atan(omega * dt / 2);
      worst = check_worst(worst, fabs(mn_deform_get(w.d).x[1].y - 0.3 * cos(phase)));
      worst = check_worst(worst, fabs(amplitude(&w) - 0.3));
    }
    CHECK_LE(worst, 1e-10);
    end(&w);
  }
  /* the period, by its first return through 0 from above: 3/4 of it */
  w = oscillator(MN_MIDPOINT);
  double last = 0.3, cross[2] = {0};
  for (int n = 0, seen = 0; seen < 2; n++) {
    step(&w, 1e-3);
    double y = mn_deform_get(w.d).x[1].y;
    if ((y < 0) != (last < 0))
      cross[seen++] = w.t - 1e-3 * fabs(y) / (fabs(y) + fabs(last));
    last = y;
  }
  CHECK_NEAR(2 * (cross[1] - cross[0]), 2 * MN_PI / omega, 1e-5);
  end(&w);
  CHECK_DONE();
}

/* ---- orders ---------------------------------------------------------------------------------- */

/* A soft square swinging from one corner, stretched at the start. */
static mn_vec3 swing(mn_scheme scheme, int steps, double damping)
{
  world w = make(2, scheme, -1, 1e-11);
  int cells[3] = {2, 2, 1}, body;
  mn_simplex_mesh mesh;
  mn_elastic_def def = {
      .young = 20, .poisson = 0.3, .density = 1, .alpha = damping, .beta = damping / 20};
  CHECK_OK(w.ctx, mn_mesh_box(w.ctx, 2, ZERO, mn_v3(1, 1, 0), cells, &mesh));
  CHECK_OK(w.ctx, mn_deform_add_elastic(w.d, &mesh, &def, &body));
  mn_deform_fix(w.d, 0, MN_FIX_ALL);
  mn_deform_view v = mn_deform_get(w.d);
  for (size_t i = 1; i < v.nodes; i++)
    v.x[i] = mn_v3(1.1 * v.x[i].x, v.x[i].y, 0);
  CHECK_OK(w.ctx, mn_deform_ready(w.d));
  for (int n = 0; n < steps; n++)
    step(&w, 0.5 / steps);
  mn_vec3 at = mn_deform_get(w.d).x[mesh.nodes - 1];
  mn_simplex_mesh_destroy(&mesh);
  end(&w);
  return at;
}

static void test_orders(void **state)
{
  (void)state;
  static const double ORDER[4] = {1, 2, 2, 1};
  mn_vec3 exact = swing(MN_MIDPOINT, 2560, 0), damped = swing(MN_MIDPOINT, 2560, 0.5);
  for (int s = 0; s < 4; s++) {
    double h[3], error[3];
    for (int i = 0; i < 3; i++) {
      int steps = (s == 0 ? 320 : s == 3 ? 80 : 40) << i;
      h[i] = 1.0 / steps;
      error[i] = mn_length(mn_sub(swing(SCHEME[s], steps, 0), exact));
    }
    print_message("scheme %d\n", s);
    CHECK_ORDER(h, error, 3, ORDER[s], 0.15);
    CHECK_LE(fitted_order(h, error, 3), ORDER[s] + 0.4); /* not by chance */
  }
  /* damping is that of the start of the step: first order, and it acts */
  double h[3], error[3];
  for (int i = 0; i < 3; i++) {
    h[i] = 1.0 / (40 << i);
    error[i] = mn_length(mn_sub(swing(MN_NEWMARK, 40 << i, 0.5), damped));
  }
  CHECK_ORDER(h, error, 3, 1, 0.2);
  CHECK_GE(mn_length(mn_sub(damped, exact)), 0.01);
  CHECK_DONE();
}

/* ---- C8 -------------------------------------------------------------------------------------- */

/* A free bar in space, turning and stretched. */
static world free_bar(mn_scheme scheme, int order, mn_material_kind material)
{
  world w = make(3, scheme, 0, 1e-13);
  int cells[3] = {6, 2, 2}, body;
  mn_simplex_mesh mesh, quadratic = {0}, *used = &mesh;
  mn_elastic_def def = {.material = material, .young = 1e3, .poisson = 0.3, .density = 10};
  CHECK_OK(w.ctx, mn_mesh_box(w.ctx, 3, ZERO, mn_v3(1, 0.3, 0.3), cells, &mesh));
  if (order == 2) {
    CHECK_OK(w.ctx, mn_simplex_mesh_quadratic(w.ctx, &mesh, &quadratic));
    used = &quadratic;
  }
  CHECK_OK(w.ctx, mn_deform_add_elastic(w.d, used, &def, &body));
  mn_deform_view v = mn_deform_get(w.d);
  for (size_t i = 0; i < v.nodes; i++) {
    mn_vec3 r = mn_sub(v.x[i], mn_v3(0.5, 0.15, 0.15));
    v.v[i] = mn_add(mn_v3(0.4, -0.2, 0.1), mn_cross(mn_v3(1, 2, 3), r));
    v.x[i].x *= 1.05;
  }
  CHECK_OK(w.ctx, mn_deform_ready(w.d));
  mn_simplex_mesh_destroy(&mesh);
  mn_simplex_mesh_destroy(&quadratic);
  return w;
}

static double speed_sum(const world *w, int angular)
{
  mn_deform_view v = mn_deform_get(w->d);
  double sum = 0;
  for (size_t i = 0; i < v.nodes; i++)
    sum += v.mass[i] * mn_length(v.v[i]) * (angular ? mn_length(v.x[i]) : 1);
  return sum;
}

static void free_flight(mn_scheme scheme, int order, mn_material_kind material, double *linear,
                        double *angular, double *grown)
{
  world w = free_bar(scheme, order, material);
  double dt = mn_min(0.01, 0.5 * mn_deform_max_dt(w.d));
  *linear = *angular = *grown = 0;
  for (int n = 0; n < 40; n++) {
    mn_vec3 P = mn_deform_momentum(w.d, -1), L = mn_deform_angular(w.d, -1, ZERO);
    double E = mn_deform_kinetic(w.d, -1) + mn_deform_elastic(w.d, -1);
    step(&w, dt);
    mn_vec3 P1 = mn_deform_momentum(w.d, -1), L1 = mn_deform_angular(w.d, -1, ZERO);
    double E1 = mn_deform_kinetic(w.d, -1) + mn_deform_elastic(w.d, -1);
    *linear = check_worst(*linear, mn_length(mn_sub(P1, P)) / speed_sum(&w, 0));
    *angular = check_worst(*angular, mn_length(mn_sub(L1, L)) / speed_sum(&w, 1));
    *grown = check_worst(*grown, (E1 - E) / E);
  }
  end(&w);
}

static void test_momenta(void **state)
{
  (void)state;
  double linear, angular, grown;
  for (int s = 0; s < 4; s++)
    for (int order = 1; order <= 2; order++) {
      mn_material_kind material = order == 1 ? MN_NEO_HOOKEAN : MN_ST_VENANT;
      print_message("scheme %d, order %d\n", s, order);
      free_flight(SCHEME[s], order, material, &linear, &angular, &grown);
      CHECK_LE(linear, 1e-12);
      if (SCHEME[s] == MN_MIDPOINT || SCHEME[s] == MN_EXPLICIT)
        CHECK_LE(angular, 1e-12);
      if (SCHEME[s] == MN_BACKWARD_EULER)
        CHECK_LE(grown, 0);
      else if (SCHEME[s] == MN_MIDPOINT)
        CHECK_LE(grown, 1e-11); /* see also test_conserve.c */
      else
        CHECK_LE(grown, 0.02); /* no promise, but no blow-up */
    }
  CHECK_DONE();
  free_flight(MN_BACKWARD_EULER, 1, MN_NEO_HOOKEAN, &linear, &angular, &grown);
  CHECK_LE(angular, 1e-12); /* backward Euler does lose angular momentum */
  CHECK_MUST_HAVE_FAILED();
}

/* Falling things: momentum grows by m g t, the total energy never. */
static void fall(int kind, mn_scheme scheme)
{
  world w = make(3, scheme, -9.81, 1e-12);
  mn_simplex_mesh mesh;
  int body;
  mn_springs_def cloth = {.density = 0.2, .stretch = 200, .bend = 5};
  mn_shell_def shell = {
      .young = 1e5, .poisson = 0.3, .thickness = 1e-2, .density = 100, .bending = -1};
  mn_rod_def rod = {.stretch = 100, .bend = 0.1, .density = 0.3};
  if (kind == 2)
    CHECK_OK(w.ctx, mn_mesh_circle(w.ctx, 3, ZERO, 0.5, 24, &mesh));
  else
    CHECK_OK(w.ctx, mn_mesh_sheet(w.ctx, ZERO, mn_v3(1, 0, 0), mn_v3(0, 0, 1), 8, 8, &mesh));
  if (kind == 0)
    CHECK_OK(w.ctx, mn_deform_add_springs(w.d, &mesh, &cloth, &body));
  else if (kind == 1)
    CHECK_OK(w.ctx, mn_deform_add_shell(w.d, &mesh, &shell, &body));
  else
    CHECK_OK(w.ctx, mn_deform_add_rod(w.d, &mesh, &rod, &body));
  mn_deform_view v = mn_deform_get(w.d);
  for (size_t i = 0; i < v.nodes; i++) { /* bent and turning */
    v.x[i].y += 0.1 * sin(5 * v.x[i].x) * cos(4 * v.x[i].z);
    v.v[i] = mn_cross(mn_v3(0.5, 1, 0), v.x[i]);
  }
  CHECK_OK(w.ctx, mn_deform_ready(w.d));
  double mass = mn_deform_get(w.d).body[0].mass, P0 = mn_deform_momentum(w.d, 0).y, worst = 0;
  double E = HUGE_VAL, grown = -HUGE_VAL, turned = 0, start = 0;
  for (int n = 0; n < 40; n++) {
    mn_vec3 c = mn_deform_center(w.d, 0), L = mn_deform_angular(w.d, 0, c);
    step(&w, 0.01);
    double total = mn_deform_kinetic(w.d, 0) + mn_deform_elastic(w.d, 0) +
                   mass * 9.81 * mn_deform_center(w.d, 0).y;
    grown = n ? fmax(grown, total - E) : grown;
    start = n ? start : fabs(total);
    E = total;
    worst = check_worst(worst, fabs(mn_deform_momentum(w.d, 0).y - P0 + mass * 9.81 * w.t));
    mn_vec3 L1 = mn_deform_angular(w.d, 0, mn_deform_center(w.d, 0));
    turned = check_worst(turned, mn_length(mn_sub(L1, L)) / speed_sum(&w, 1));
  }
  print_message("kind %d, scheme %d\n", kind, (int)scheme);
  CHECK_LE(worst / (mass * 9.81 * w.t), 1e-12);
  if (scheme == MN_BACKWARD_EULER) {
    CHECK_LE(grown / start, 0);
  } else {
    CHECK_LE(turned, 1e-12); /* midpoint: about the centre, which falls exactly */
    CHECK_LE(grown / start, 1e-11);
  }
  mn_simplex_mesh_destroy(&mesh);
  end(&w);
}

static void test_falling(void **state)
{
  (void)state;
  for (int kind = 0; kind < 3; kind++) {
    fall(kind, MN_BACKWARD_EULER);
    fall(kind, MN_MIDPOINT);
  }
  CHECK_DONE();
}

/* ---- explicit, damping, motion --------------------------------------------------------------- */

static double explicit_growth(double of_limit)
{
  world w = free_bar(MN_EXPLICIT, 1, MN_ST_VENANT);
  double most = 0, start = mn_deform_kinetic(w.d, -1) + mn_deform_elastic(w.d, -1);
  double dt = of_limit * mn_deform_max_dt(w.d);
  for (int n = 0; n < 300 && most < 100 * start; n++) {
    step(&w, dt);
    most = fmax(most, mn_deform_kinetic(w.d, -1) + mn_deform_elastic(w.d, -1));
  }
  end(&w);
  return most / start;
}

static void test_explicit_limit(void **state)
{
  (void)state;
  CHECK_LE(explicit_growth(0.9), 1.3);
  CHECK_DONE();
  CHECK_LE(explicit_growth(3), 1.3); /* the bound is not idle: Gershgorin's is within this */
  CHECK_MUST_HAVE_FAILED();
}

/* A viscous spring between two masses takes their relative speed as exp(-b t/m_reduced), to first
   order in dt, and no momentum. */
static void test_spring_damping(void **state)
{
  (void)state;
  world w = make(2, MN_BACKWARD_EULER, 0, 1e-13);
  mn_simplex_mesh mesh;
  mn_springs_def springs = {.density = 2, .stretch_damping = 3};
  int body;
  CHECK_OK(w.ctx, mn_mesh_line(w.ctx, 2, ZERO, mn_v3(1, 0, 0), 1, &mesh));
  CHECK_OK(w.ctx, mn_deform_add_springs(w.d, &mesh, &springs, &body));
  mn_deform_get(w.d).v[1] = mn_v3(0.1, 0, 0);
  CHECK_OK(w.ctx, mn_deform_ready(w.d));
  double dt = 0.01;
  for (int n = 1; n <= 20; n++) {
    step(&w, dt);
    mn_deform_view v = mn_deform_get(w.d);
    double relative = v.v[1].x - v.v[0].x; /* masses 1 and 1: reduced 1/2 */
    if (n == 20)
      CHECK_NEAR(relative, 0.1 * pow(1 + 3 * dt / 0.5, -n), 1e-12);
  }
  CHECK_NEAR(mn_deform_momentum(w.d, -1).x, 0.1, 1e-13);
  mn_simplex_mesh_destroy(&mesh);
  end(&w);
  CHECK_DONE();
}

static void drive(void *user, uint32_t node, mn_vec3 rest, double t, mn_vec3 *x, mn_vec3 *v)
{
  (void)user, (void)node;
  *x = mn_add(rest, mn_v3(0.3 * sin(2 * t), 0, 0));
  *v = mn_v3(0.6 * cos(2 * t), 0, 0);
}

/* The midpoint rule with fade: of second order; momentum is kept; energy with what fade adds falls,
   also of vibrations that steps do not resolve, which then end. With 0 they go on for ever. */
static void test_fade(void **state)
{
  (void)state;
  mn_vec3 exact = swing(MN_MIDPOINT, 2560, 0);
  double h[3], error[3], left[2];
  fade = 0.1;
  for (int i = 0; i < 3; i++) {
    h[i] = 1.0 / (40 << i);
    error[i] = mn_length(mn_sub(swing(MN_MIDPOINT, 40 << i, 0), exact));
  }
  CHECK_ORDER(h, error, 3, 2, 0.15);
  for (int conserving = 0; conserving < 2; conserving++) {
    fade = conserving ? 0 : 0.1;
    world w = free_bar(MN_MIDPOINT, 2, MN_ST_VENANT);
    double first = faded_energy(&w, 0.05), most = -HUGE_VAL, worst = 0;
    for (int n = 0; n < 40; n++) {
      mn_vec3 P = mn_deform_momentum(w.d, -1);
      double E = faded_energy(&w, 0.05);
      step(&w, 0.05);
      mn_vec3 P1 = mn_deform_momentum(w.d, -1);
      worst = check_worst(worst, mn_length(mn_sub(P1, P)) / speed_sum(&w, 0));
      most = fmax(most, (faded_energy(&w, 0.05) - E) / first);
    }
    CHECK_LE(worst, 1e-12);
    CHECK_LE(most, 1e-9);
    left[conserving] = mn_deform_elastic(w.d, -1);
    print_message("fade %g: %g J elastic left, %g J in all of %g\n", fade, left[conserving],
                  faded_energy(&w, 0.05), first);
    end(&w);
  }
  fade = 0;
  CHECK_LE(left[0], 0.3 * left[1]);
  CHECK_DONE();
}

/* Prescribed nodes are where the motion says, with every scheme, and drag the others along. */
static void test_motion(void **state)
{
  (void)state;
  for (int s = 0; s < 4; s++) {
    world w = make(2, SCHEME[s], 0, 1e-8);
    int cells[3] = {4, 1, 1}, body;
    mn_simplex_mesh mesh;
    mn_elastic_def def = {.young = 1e3, .poisson = 0.3, .density = 1};
    CHECK_OK(w.ctx, mn_mesh_box(w.ctx, 2, ZERO, mn_v3(1, 0.25, 0), cells, &mesh));
    CHECK_OK(w.ctx, mn_deform_add_elastic(w.d, &mesh, &def, &body));
    mn_deform_fix(w.d, 0, MN_FIX_ALL);
    mn_deform_fix(w.d, 5, MN_FIX_ALL);
    mn_deform_set_motion(w.d, drive, NULL);
    CHECK_OK(w.ctx, mn_deform_ready(w.d));
    for (int n = 0; n < 300; n++)
      step(&w, 0.002);
    mn_deform_view v = mn_deform_get(w.d);
    CHECK_NEAR(v.x[0].x, 0.3 * sin(1.2), 1e-12);
    CHECK_NEAR(v.x[4].x, 1 + 0.3 * sin(1.2), 0.05);
    mn_simplex_mesh_destroy(&mesh);
    end(&w);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_oscillator),     cmocka_unit_test(test_orders),
      cmocka_unit_test(test_fade),           cmocka_unit_test(test_momenta),
      cmocka_unit_test(test_falling),        cmocka_unit_test(test_explicit_limit),
      cmocka_unit_test(test_spring_damping), cmocka_unit_test(test_motion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
