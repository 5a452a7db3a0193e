/* The conserving midpoint rule: energy and both momenta over many long steps, of a free bar and of
   cloth, shells and rods that swing without damping; its order; the mean gradient of every energy.
   Control: the trapezoidal rule (Newmark 1/4, 1/2), which gains energy in the same cases. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "geom/structured.h"
#include "solid/deform_internal.h"

static const mn_vec3 ZERO = {{0, 0, 0}};

typedef enum kind { CLOTH, SHELL, ROD, BAR, RUBBER, KINDS } kind;
static const char *const NAME[KINDS] = {"cloth", "shell", "rod", "bar", "rubber"};

typedef struct world {
  mn_context *ctx;
  mn_deform *d;
  double t, gravity;
} world;

static void add(world *w, kind k, mn_simplex_mesh *mesh)
{
  int body, cells[3] = {6, 2, 2};
  mn_springs_def cloth = {.density = 0.3, .stretch = 60};
  mn_shell_def shell = {
      .young = 1e5, .poisson = 0.3, .thickness = 5e-3, .density = 100, .bending = -1};
  mn_rod_def rod = {.stretch = 300, .bend = 0.01, .density = 0.3};
  mn_elastic_def bar = {.material = k == BAR ? MN_NEO_HOOKEAN : MN_FIXED_COROTATED,
                        .young = 2e3,
                        .poisson = 0.3,
                        .density = 10};
  if (k == ROD)
    CHECK_OK(w->ctx, mn_mesh_line(w->ctx, 3, ZERO, mn_v3(1, 0, 0), 16, mesh));
  else if (k >= BAR)
    CHECK_OK(w->ctx, mn_mesh_box(w->ctx, 3, ZERO, mn_v3(1, 0.3, 0.3), cells, mesh));
  else
    CHECK_OK(w->ctx, mn_mesh_sheet(w->ctx, ZERO, mn_v3(1, 0, 0), mn_v3(0, 0, 1),
                                   k == CLOTH ? 14 : 8, k == CLOTH ? 14 : 8, mesh));
  if (k == CLOTH)
    CHECK_OK(w->ctx, mn_deform_add_springs(w->d, mesh, &cloth, &body));
  else if (k == SHELL)
    CHECK_OK(w->ctx, mn_deform_add_shell(w->d, mesh, &shell, &body));
  else if (k == ROD)
    CHECK_OK(w->ctx, mn_deform_add_rod(w->d, mesh, &rod, &body));
  else
    CHECK_OK(w->ctx, mn_deform_add_elastic(w->d, mesh, &bar, &body));
}

/* Held at x = 0 it swings down; free it tumbles. */
static world make(kind k, mn_scheme scheme, int held, double tolerance)
{
  world w = {check_context(1), NULL, 0, held ? -9.81 : 0};
  mn_deform_def def = mn_deform_def_default(3);
  mn_simplex_mesh mesh;
  def.scheme = scheme;
  def.gravity.y = w.gravity;
  def.tolerance = tolerance;
  CHECK_OK(w.ctx, mn_deform_create(w.ctx, &def, &w.d));
  add(&w, k, &mesh);
  mn_deform_view v = mn_deform_get(w.d);
  for (size_t i = 0; i < v.nodes; i++) {
    if (held && v.rest[i].x == 0)
      mn_deform_fix(w.d, (uint32_t)i, MN_FIX_ALL);
    if (held)
      continue;
    v.x[i].y += 0.05 * sin(5 * v.x[i].x) * cos(4 * v.x[i].z);
    v.v[i] = mn_add(mn_v3(0.4, -0.2, 0.1), mn_cross(mn_v3(1, 2, 3), v.x[i]));
  }
  CHECK_OK(w.ctx, mn_deform_ready(w.d));
  mn_simplex_mesh_destroy(&mesh);
  return w;
}

static void end(world *w)
{
  mn_deform_destroy(&w->d);
  mn_context_destroy(&w->ctx);
}

static double energy(world *w)
{
  return mn_deform_kinetic(w->d, -1) + mn_deform_elastic(w->d, -1) -
         mn_deform_get(w->d).body[0].mass * w->gravity * mn_deform_center(w->d, -1).y;
}

static int step(world *w, double dt)
{
  mn_deform_report report = {0};
  CHECK_OK(w->ctx, mn_deform_begin(w->d, w->t, dt));
  CHECK_OK(w->ctx, mn_deform_solve(w->d, NULL, &report));
  CHECK_OK(w->ctx, mn_deform_commit(w->d));
  w->t += dt;
  return report.iterations;
}

typedef struct flight {
  double step, all;       /* energy: worst change in a step, at the end; of the greatest kinetic */
  double linear, angular; /* worst in a step, of the sums of sizes */
  int iterations;
} flight;

static flight fly(kind k, mn_scheme scheme, int held, double tolerance, double dt, int steps)
{
  world w = make(k, scheme, held, tolerance);
  flight f = {0};
  double start = energy(&w), scale = 0, E = start;
  for (int n = 0; n < steps && !(E - start > 2); n++) {
    mn_vec3 P = mn_deform_momentum(w.d, -1), L = mn_deform_angular(w.d, -1, ZERO);
    mn_deform_view v = mn_deform_get(w.d);
    double p = 0, l = 0;
    f.iterations += step(&w, dt);
    for (size_t i = 0; i < v.nodes; i++) {
      p += v.mass[i] * mn_length(v.v[i]);
      l += v.mass[i] * mn_length(v.v[i]) * mn_length(v.x[i]);
    }
    scale = fmax(scale, mn_deform_kinetic(w.d, -1));
    f.step = check_worst(f.step, fabs(energy(&w) - E));
    E = energy(&w);
    f.linear = check_worst(f.linear, mn_length(mn_sub(mn_deform_momentum(w.d, -1), P)) / p);
    f.angular = check_worst(f.angular, mn_length(mn_sub(mn_deform_angular(w.d, -1, ZERO), L)) / l);
  }
  f.step /= scale;
  f.all = (E - start) / scale;
  print_message("%s, scheme %d, %s, dt %g: %d iterations in %d steps, energy %+.2e of %.3g J\n",
                NAME[k], (int)scheme, held ? "held" : "free", dt, f.iterations, steps, E - start,
                scale);
  end(&w);
  return f;
}

/* A step of 0.01 s is long: stretch dt^2 / (mass of a node) is 2 for the cloth, 30 for the rod. */
static void test_swing(void **state)
{
  (void)state;
  for (kind k = CLOTH; k < KINDS; k++) {
    flight f = fly(k, MN_MIDPOINT, 1, 1e-10, 0.01, k == CLOTH ? 300 : 150);
    CHECK_LE(f.step, 1e-10);
    CHECK_LE(fabs(f.all), 1e-9);
  }
  CHECK_DONE();
  /* the trapezoidal rule is stable for linear forces only */
  flight f = fly(CLOTH, MN_NEWMARK, 1, 1e-10, 0.01, 300);
  CHECK_LE(f.all, 0.1);
  CHECK_MUST_HAVE_FAILED();
}

static void test_tumble(void **state)
{
  (void)state;
  for (kind k = CLOTH; k < KINDS; k++) {
    flight f = fly(k, MN_MIDPOINT, 0, 1e-13, 0.02, 60);
    CHECK_LE(f.step, 1e-11);
    CHECK_LE(f.linear, 1e-12);
    CHECK_LE(f.angular, 1e-12);
  }
  CHECK_DONE();
  flight f = fly(ROD, MN_NEWMARK, 0, 1e-13, 0.005, 60);
  CHECK_LE(f.step, 1e-11);
  CHECK_LE(f.angular, 1e-12);
  CHECK_MUST_HAVE_FAILED();
}

/* What the mean gradient promises, element by element, for steps as long as the elements and turns
   of any size: no force, no torque about the middle, the work of the energies. Relative to the sums
   of sizes. */
static void mean_gradients(kind k, double shake, double worst[3])
{
  world w = make(k, MN_MIDPOINT, 0, 1e-10);
  uint64_t seed = 5;
  for (int g = 0; g < w.d->groups; g++)
    for (size_t e = 0; e < w.d->group[g].count; e++) {
      const mn_energy_group *group = &w.d->group[g];
      mn_vec3 x[2][MN_ENERGY_NODES_MAX], force = ZERO, torque = ZERO;
      mn_vec3 axis = mn_v3(check_random(&seed) - 0.5, check_random(&seed) - 0.5, 0.4);
      double E[2], gradient[MN_ENERGY_DOF_MAX], size = 0, work = 0, done = 0;
      double turn = 2 * check_random(&seed);
      for (int a = 0; a < group->nodes; a++) {
        mn_vec3 X = w.d->rest[group->node[e * (size_t)group->nodes + (size_t)a]];
        for (int s = 0; s < 2; s++) {
          x[s][a] = mn_rotate(X, mn_scale(1 / mn_length(axis), axis), s * turn);
          for (int i = 0; i < 3; i++)
            x[s][a].v[i] += shake * (check_random(&seed) - 0.5);
        }
      }
      if (!group->ops->eval(group, e, x[0], 0, &E[0], NULL, NULL) ||
          !group->ops->eval(group, e, x[1], 0, &E[1], NULL, NULL) ||
          !mn_energy_mean_gradient(group, e, x[0], x[1], gradient))
        continue; /* shaken inside out */
      for (int a = 0; a < group->nodes; a++) {
        mn_vec3 f = mn_v3(gradient[3 * a], gradient[3 * a + 1], gradient[3 * a + 2]);
        mn_vec3 way = mn_sub(x[1][a], x[0][a]), xm = mn_scale(0.5, mn_add(x[0][a], x[1][a]));
        force = mn_add(force, f);
        torque = mn_add(torque, mn_cross(xm, f));
        size += mn_length(f);
        work += mn_dot(f, way);
        done += mn_length(f) * mn_length(way);
      }
      if (!(size > 0))
        continue;
      worst[0] = check_worst(worst[0], mn_length(force) / size);
      worst[1] = check_worst(worst[1], mn_length(torque) / size);
      worst[2] = check_worst(worst[2], fabs(work - (E[1] - E[0])) / (done + E[0] + E[1]));
    }
  end(&w);
}

static void test_mean_gradient(void **state)
{
  (void)state;
  for (kind k = CLOTH; k < KINDS; k++)
    for (int size = 0; size < 3;
         size++) { /* of elements of 0.1 m; straighter joints have fewer digits */
      double worst[3] = {0}, shake[3] = {1e-3, 1e-2, 6e-2};
      mean_gradients(k, shake[size], worst);
      print_message("%s, shaken by %g m\n", NAME[k], shake[size]);
      CHECK_LE(worst[0], 1e-12);
      CHECK_LE(worst[1], 1e-12);
      CHECK_LE(worst[2], 1e-12);
    }
  CHECK_DONE();
}

/* The bits do not depend on the number of threads. */
static void test_threads(void **state)
{
  (void)state;
  world w[2];
  for (int i = 0; i < 2; i++) {
    w[i] = make(SHELL, MN_MIDPOINT, 0, 1e-10);
    w[i].ctx->exec.threads = i ? 3 : 1;
    for (int n = 0; n < 5; n++)
      step(&w[i], 0.02);
  }
  size_t bytes = w[0].d->nodes * sizeof *w[0].d->x;
  CHECK(!memcmp(w[0].d->x, w[1].d->x, bytes) && !memcmp(w[0].d->v, w[1].d->v, bytes));
  CHECK_DONE();
  step(&w[1], 0.02);
  CHECK(!memcmp(w[0].d->x, w[1].d->x, bytes));
  CHECK_MUST_HAVE_FAILED();
  end(&w[0]);
  end(&w[1]);
}

/* Second order, on a rod that swings. */
static void test_order(void **state)
{
  (void)state;
  double h[3], error[3];
  mn_vec3 at[4];
  for (int i = 0; i < 4; i++) {
    int steps = i == 3 ? 800 : 50 << i;
    world w = make(ROD, MN_MIDPOINT, 1, 1e-12);
    for (int n = 0; n < steps; n++)
      step(&w, 0.1 / steps);
    at[i] = mn_deform_get(w.d).x[mn_deform_get(w.d).nodes - 1];
    end(&w);
  }
  for (int i = 0; i < 3; i++) {
    h[i] = 1.0 / (50 << i);
    error[i] = mn_length(mn_sub(at[i], at[3]));
  }
  CHECK_ORDER(h, error, 3, 2, 0.2);
  CHECK_LE(fitted_order(h, error, 3), 2.4);
  CHECK_DONE();
}

/* Damping takes energy, never gives any; forces of both kinds of load do their work. */
static void test_damped(void **state)
{
  (void)state;
  world w = {check_context(1), NULL, 0, 0};
  mn_deform_def def = mn_deform_def_default(3);
  mn_shell_def shell = {
      .young = 1e5, .poisson = 0.3, .thickness = 5e-3, .density = 100, .bending = -1};
  mn_simplex_mesh mesh;
  mn_deform_report report;
  int body;
  def.scheme = MN_MIDPOINT;
  def.tolerance = 1e-11;
  for (int damped = 0; damped < 2; damped++) {
    double worst = 0, grown = -HUGE_VAL, lost = 0, E, work = 0;
    shell.alpha = 0.2 * damped;
    shell.beta = 0.01 * damped;
    CHECK_OK(w.ctx, mn_deform_create(w.ctx, &def, &w.d));
    CHECK_OK(w.ctx, mn_mesh_sheet(w.ctx, ZERO, mn_v3(1, 0, 0), mn_v3(0, 0, 1), 6, 6, &mesh));
    CHECK_OK(w.ctx, mn_deform_add_shell(w.d, &mesh, &shell, &body));
    CHECK_OK(w.ctx, mn_deform_ready(w.d));
    mn_deform_view v = mn_deform_get(w.d);
    mn_vec3 load[64] = {0}, before[64];
    assert_true(v.nodes <= 64);
    for (size_t i = 0; i < v.nodes; i++)
      load[i] = mn_v3(0.02 * v.x[i].z, 0.1 * sin(6 * v.x[i].x), -0.03 * v.x[i].x);
    E = energy(&w);
    for (int n = 0; n < 60; n++) {
      memcpy(before, v.x, v.nodes * sizeof *before);
      CHECK_OK(w.ctx, mn_deform_begin(w.d, w.t, 0.02));
      CHECK_OK(w.ctx, mn_deform_solve(w.d, load, &report));
      CHECK_OK(w.ctx, mn_deform_commit(w.d));
      work = 0;
      for (size_t i = 0; i < v.nodes; i++)
        work += mn_dot(load[i], mn_sub(v.x[i], before[i]));
      double gain = energy(&w) - E - work;
      E += gain + work;
      worst = check_worst(worst, fabs(gain));
      grown = fmax(grown, gain);
      lost -= gain;
    }
    print_message("damped %d: energy %g J, lost %g J\n", damped, E, lost);
    if (damped) {
      CHECK_LE(grown, 0);
      CHECK_GE(lost, 0.1 * E);
    } else {
      CHECK_LE(worst / E, 1e-10);
    }
    mn_simplex_mesh_destroy(&mesh);
    mn_deform_destroy(&w.d);
  }
  mn_context_destroy(&w.ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mean_gradient), cmocka_unit_test(test_threads),
      cmocka_unit_test(test_swing),         cmocka_unit_test(test_tumble),
      cmocka_unit_test(test_order),         cmocka_unit_test(test_damped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
