/* Momentum of whole coupled scenes: over a run, what fluid and bodies gain in the coupled solves is
   what the domain's sides and gravity give them. Smoke in a closed box with an eddy, and in it a
   tilted block, light or heavy, or a cloth; every coupling.

   In a substep u* -> u the fluid's part is rho [w u + (s - w) U] of all faces
   (docs/theory/bodies.md), the bodies' their momentum as the world reports it; smoke's pressure
   is that above the one at rest, so that gravity gives (m - rho V) g. What carrying u to u* does
   to momentum is left out: semi-Lagrangian schemes do not keep it. Control: loads from pressure
   differences. */
#include "fluid/mac/internal.h"
#include "la/sparse_lu.h"
#include "world_case.h"

#include <math.h>
#include <stdio.h>

static const char SCENE[] =
    "local body      = param('body', 'block', '')\n"
    "local coupling  = param('coupling', 'xpm', '')\n"
    "local load      = param('load', 'impulse', '')\n"
    "local s         = param('s', 0.2, '')\n"
    "local tolerance = param('tolerance', 1e-11, '')\n"
    "local solver    = param('solver', 'auto', '')\n"
    "local block = rigid { name = 'body', density = s, spin = 0.5, velocity = {0.2, 0},\n"
    "  shape = transform { translate = {0.47, 0.41}, angle = 0.3,\n"
    "                      shape = box { center = {0, 0}, size = {0.31, 0.2} } } }\n"
    "local cloth = rod { name = 'body', from = {0.3, 0.4}, to = {0.75, 0.45}, spacing = 1 / 48,\n"
    "                    density = 0.1 * s, stretch = 20, bend = 1e-5 }\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {24, 24} },\n"
    "  fluid    = smoke { density = 1, gravity = {0, -2}, dt = 0.01, pressure_tolerance = 1e-13,\n"
    "    initial_velocity = function(x, y)\n"
    "      return math.sin(math.pi * x) * math.cos(math.pi * y),\n"
    "             -math.cos(math.pi * x) * math.sin(math.pi * y) end },\n"
    "  solids   = { body == 'block' and block or cloth },\n"
    "  dynamics = dynamics { gravity = {0, -2}, dt = 0.01, tolerance = 1e-13 },\n"
    "  coupling = couple { method = coupling, tolerance = tolerance, omega = 0.15, load = load,\n"
    "                      solver = solver, max_iterations = 300 },\n"
    "  output   = { frames = 1000, every = 0.01 },\n"
    "}\n";

/* Sum of rho [w u + (s - w) U] over the faces along axis a; U as of the bodies' faces. */
static double momentum(const mn_mac *mac, const mn_field u[3], const double *own, int a)
{
  const mn_field *w = &mac->geometry.open[a], *part = &mac->bodies.part;
  double sum = 0, cell = pow(mac->grid.dx, mac->grid.dim);
  for (int j = 0; j < w->n[1]; j++)
    for (int i = 0; i < w->n[0]; i++)
      sum += mn_get(w, i, j, 0) > 0 ? mn_get(w, i, j, 0) * mn_get(&u[a], i, j, 0) : 0;
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
  double sum = 0;
  for (int n = 0; n < p->n[1 - a]; n++) {
    int64_t low = a ? mn_index(p, n, 0, 0) : mn_index(p, 0, n, 0);
    sum += p->at[low + (p->n[a] - 1) * p->stride[a]] - p->at[low];
  }
  return mac->grid.dx * sum;
}

typedef struct balance {
  double missing; /* |sum over the run of what no side gave|, over what was exchanged */
  double worst;   /* of a substep */
} balance;

/* What the sides and gravity did not give in the substep that was solved; *scale: all impulses. The
   bodies' part is still missing. */
static mn_vec3 fluid_rest(const mn_mac *mac, int thick, double weight, double dt, double *scale)
{
  enum { MOST_ROWS = 4096 };
  const mn_field *before = mac->star;
  double own[MOST_ROWS];
  mn_vec3 rest = mn_v3(0, 0, 0);
  assert_true(mac->bodies.weights->rows <= MOST_ROWS);
  for (size_t r = 0; r < mac->bodies.weights->rows; r++) {
    const mn_closed_face *f = &mac->bodies.face[r];
    own[r] = thick ? mac->bodies.U_start[r] : mn_get(&before[f->axis], f->i, f->j, f->k);
  }
  for (int a = 0; a < 2; a++) {
    double fluid = momentum(mac, mac->result, mac->bodies.U, a) - momentum(mac, before, own, a);
    double given = -dt * side_force(mac, a) - (a == 1 ? 2 * dt * weight : 0);
    rest.v[a] = fluid - given;
    *scale += fabs(fluid) + fabs(given);
  }
  return rest;
}

/* A world's substeps, opened up: what is to be measured is gone after the commit. */
static balance run(const mn_setting *settings, int count, int thick, double weight)
{
  enum { STEPS = 40 };
  const double dt = 0.01;
  world_case c;
  world_open(&c, SCENE, settings, count, 1);
  mn_world *w = c.world;
  mn_vec3 sum = mn_v3(0, 0, 0);
  double worst = 0, exchanged = 0;
  for (; c.steps < STEPS; c.steps++) {
    mn_coupling_report r;
    mn_vec3 before = w->body_totals.momentum;
    double scale = 0;
    CHECK_OK(c.ctx, mn_coupling_try(w->coupling, c.steps * dt, dt, 1, &r));
    CHECK(r.reason == MN_CONVERGED);
    mn_vec3 rest = fluid_rest(w->fluid.self, thick, weight, dt, &scale);
    CHECK_OK(c.ctx, mn_coupling_commit(w->coupling, &r));
    mn_world_measure(w);
    mn_vec3 bodies = mn_sub(w->body_totals.momentum, before);
    rest = mn_add(rest, bodies);
    scale += mn_length(bodies);
    sum = mn_add(sum, rest);
    exchanged += scale;
    worst = check_worst(worst, mn_length(rest) / scale);
    c.solves += r.iterations;
  }
  for (int i = 0; i < count; i++)
    printf("%s %s, ", settings[i].name, settings[i].value);
  printf("%d substeps, %.1f iterations: missing %.1e, worst substep %.1e\n", c.steps,
         (double)c.solves / c.steps, mn_length(sum) / exchanged, worst);
  world_close(&c);
  return (balance){mn_length(sum) / exchanged, worst};
}

static void holds(balance b)
{
  CHECK_LE(b.missing, 1e-10);
  CHECK_LE(b.worst, 1e-8); /* what the tolerance of the coupling leaves */
}

static void test_block(void **state)
{
  (void)state;
  const double volume = 0.31 * 0.2;
  const char *methods[] = {"xpm", "rmi", "aitken", "relaxed"};
  for (int m = 0; m < 4; m++) {
    mn_setting s[] = {{"coupling", methods[m]}};
    holds(run(s, 1, 1, (0.2 - 1) * volume));
  }
  mn_setting heavy[] = {{"s", "5"}};
  holds(run(heavy, 1, 1, (5 - 1) * volume));
  CHECK_DONE();
}

static void test_cloth(void **state)
{
  (void)state;
  mn_setting s[] = {{"body", "cloth"}};
  double mass = 0.1 * 0.2 * hypot(0.45, 0.05);
  holds(run(s, 1, 0, mass));
  CHECK_DONE();
}

/* Whatever the tolerances are: each solve hands over what it takes. */
static void test_one_system(void **state)
{
  (void)state;
  const char *methods[] = {"monolithic", "simultaneous"}, *solvers[] = {"direct", "cg", "minres"};
  double mass = 0.1 * 0.2 * hypot(0.45, 0.05);
  for (int m = 0; m < 6; m++) {
    mn_setting s[] = {{"coupling", methods[m % 2]},
                      {"solver", solvers[m / 2]},
                      {"tolerance", "0.05"},
                      {"body", "cloth"}};
    if (m < 2 && !mn_lu_available())
      continue;
    CHECK_LE(run(s, 3, 1, (0.2 - 1) * 0.31 * 0.2).worst, 1e-10);
    CHECK_LE(run(s, 4, 0, mass).worst, 1e-10);
  }
  CHECK_DONE();
  mn_setting s[] = {{"coupling", "monolithic"}, {"load", "pressure"}}; /* without the dual masses */
  CHECK_LE(run(s, 2, 1, (0.2 - 1) * 0.31 * 0.2).missing, 1e-3);
  CHECK_MUST_HAVE_FAILED();
}

static void test_pressure_loads_do_not(void **state)
{
  (void)state;
  mn_setting s[] = {{"load", "pressure"}}, loose[] = {{"tolerance", "0.05"}};
  CHECK_LE(run(s, 1, 1, (0.2 - 1) * 0.31 * 0.2).missing, 1e-3);
  CHECK_MUST_HAVE_FAILED();
  CHECK_LE(run(loose, 1, 1, (0.2 - 1) * 0.31 * 0.2).worst, 1e-9);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_block),
      cmocka_unit_test(test_cloth),
      cmocka_unit_test(test_one_system),
      cmocka_unit_test(test_pressure_loads_do_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
