/* Bodies lighter than water across its surface, from which it can part: the one system.

   Momentum. In a substep pressure gives the water's open faces rho theta w (u - u*), the water that
   moves with the body m (U - U*), that of half cells which let go of it D p dt, and the body F:
   together what the walls give, to rounding, also where masses beside the body would be below 0 and
   take more than it weighs (narrow faces, fluid/mac/loads.c). Controls: the account without m; the
   masses as they are without narrow faces cannot be borne, K' is not positive.

   The same for soft bodies in heavy smoke, whose pressure at rest follows them; and what such smoke
   tears apart ends the run.

   Solvers. A block aligned with the grid, half under water: direct, cg and minres agree. Control:
   two visits of the first coarse level make the preconditioner negative there. */
#include "fluid/mac/internal.h"
#include "la/sparse_lu.h"
#include "world_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char SCENE[] =
    "local walls  = param('walls', 'separating', '')\n"
    "local rho    = param('rho', 100, '')\n"
    "local kind   = param('kind', 'rigid', '')\n"
    "local solver = param('solver', 'auto', '')\n"
    "local method = param('method', 'monolithic', '')\n"
    "local angle  = param('angle', 0, '')\n"
    "local full   = param('full', false, '')\n"
    "local block  = transform { translate = {0.5, 0.5}, angle = angle,\n"
    "                           shape = box { center = {0, 0}, size = {0.3, 0.2} } }\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {20, 20}, top = full and 'slip' or 'open' },\n"
    "  fluid    = water { walls = walls, gravity = {0, -9.81},\n"
    "                     initial_water = box { lo = {-1, -1}, hi = {2, full and 2 or 0.5} } },\n"
    "  solids   = { kind == 'rigid' and rigid { shape = block, density = rho }\n"
    "               or elastic { shape = block, density = rho, young = 1e5, poisson = 0.3,\n"
    "                            spacing = 0.06 } },\n"
    "  dynamics = dynamics { gravity = {0, -9.81}, dt = 0.005, contact = false },\n"
    "  coupling = couple { method = method, solver = solver },\n"
    "  output   = { frames = 1000, every = 0.005 },\n"
    "}\n";

/* ---- momentum -------------------------------------------------------------------------------- */

/* Part of the link below a face that water fills, as pressure has it; 0: of none. */
static double link_part(const mn_mac *mac, int a, int i, int j)
{
  int at[2] = {i, j};
  int64_t c = mn_index(&mac->liquid_next, i, j, 0);
  double high = mac->liquid_next.at[c], low = mac->liquid_next.at[c - mac->liquid_next.stride[a]];
  if (at[a] == 0 || at[a] == mac->grid.n[a]) /* an open side */
    return (at[a] ? low : high) < 0 ? 0.5 : 0;
  if (low >= 0 && high >= 0)
    return 0;
  return low < 0 && high < 0 ? 1 : fmax(MN_MAC_THETA_MIN, fmin(low, high) / -fabs(low - high));
}

/* What pressure gave the water along axis a, over the substep; `masses`: that of the bodies' dual
   cells as well. */
static double gained(const mn_mac *mac, int a, int masses)
{
  const mn_field *w = &mac->geometry.open[a], *u = &mac->result[a], *star = &mac->star[a];
  double sum = 0, cell = pow(mac->grid.dx, 2) * mac->def->fluid.density;
  for (int j = 0; j < w->n[1]; j++)
    for (int i = 0; i < w->n[0]; i++) {
      int64_t q = mn_index(w, i, j, 0);
      double theta = w->at[q] > 0 ? link_part(mac, a, i, j) : 0;
      sum += theta > 0 ? cell * theta * w->at[q] * (u->at[q] - star->at[q]) : 0;
    }
  for (size_t r = 0; r < mac->bodies.weights->rows && masses; r++) {
    mn_dual d = mn_mac_bodies_dual(mac, r);
    const mn_closed_face *f = &mac->bodies.face[r];
    if (f->axis != a)
      continue;
    sum += d.mass * (mac->bodies.U[r] - d.before);
    for (int high = 0; high < 2; high++) { /* half cells that have let go move by themselves */
      int i = f->i - (a == 0 && !high), j = f->j - (a == 1 && !high);
      if (mn_mac_is_loose(mac, i, j, 0))
        sum += (high ? -1 : 1) * d.area * mac->dt * mn_get(&mac->dp, i, j, 0);
    }
  }
  return sum;
}

/* Force of the water on closed sides along axis a; the top is open. */
static double side_force(const mn_mac *mac, int a)
{
  const mn_field *p = &mac->dp;
  double sum = 0;
  for (int n = 0; n < p->n[1 - a]; n++) {
    int64_t low = a ? mn_index(p, n, 0, 0) : mn_index(p, 0, n, 0);
    sum += (a ? 0 : p->at[low + (p->n[a] - 1) * p->stride[a]]) - p->at[low];
  }
  return mac->grid.dx * sum;
}

typedef struct account {
  double worst;     /* of a substep: what nobody gave, over what was exchanged */
  double imbalance; /* N */
  int narrowed;     /* substeps */
  double highest;   /* m/s, speed of the body */
} account;

static account run(const char *walls, const char *kind, const char *rho, const char *solver,
                   int masses)
{
  enum { STEPS = 60 };
  const mn_setting s[] = {
      {"walls", walls}, {"kind", kind}, {"rho", rho}, {"solver", solver}, {"angle", "0.2"}};
  const double dt = 0.005, mass = atof(rho) * 0.06;
  account b = {0};
  world_case c;
  world_open(&c, SCENE, s, 5, 1);
  mn_world *w = c.world;
  for (; c.steps < STEPS; c.steps++) {
    mn_coupling_report r;
    mn_vec3 before = w->body_totals.momentum, missing = mn_v3(0, 0, 0);
    double scale = 0;
    CHECK_OK(c.ctx, mn_coupling_try(w->coupling, c.steps * dt, dt, 1, &r));
    CHECK(r.reason == MN_CONVERGED);
    const mn_mac *mac = w->fluid.self;
    for (int a = 0; a < 2; a++) {
      double water = gained(mac, a, masses), sides = dt * side_force(mac, a);
      missing.v[a] = water + sides;
      scale += fabs(water) + fabs(sides);
    }
    b.imbalance = check_worst(b.imbalance, r.imbalance);
    b.narrowed += mac->bodies.narrowed;
    CHECK_OK(c.ctx, mn_coupling_commit(w->coupling, &r));
    mn_world_measure(w);
    mn_vec3 body = mn_sub(w->body_totals.momentum, before);
    body.y += 9.81 * dt * mass;
    b.worst = check_worst(b.worst, mn_length(mn_add(missing, body)) / (scale + mn_length(body)));
    b.highest = check_worst(b.highest, mn_length(w->body_totals.momentum) / mass);
  }
  printf("%s of %s kg/m^3, %s walls, %s: missing %.1e, imbalance %.1e N, at most %.2f m/s, %d of "
         "%d substeps with narrow faces\n",
         kind, rho, walls, solver, b.worst, b.imbalance, b.highest, b.narrowed, STEPS);
  world_close(&c);
  return b;
}

static void test_momentum(void **state)
{
  (void)state;
  static const char *const rho[] = {"1", "10", "100", "500"};
  static const char *const kind[] = {"rigid", "elastic"};
  int narrowed = 0;
  for (int k = 0; k < 8; k++) {
    account b = run("separating", kind[k / 4], rho[k % 4], "auto", 1);
    CHECK_LE(b.worst, 1e-10);
    CHECK_LE(b.imbalance, 1e-8);
    CHECK_LE(b.highest, 1.5); /* about 1 m/s is what buoyancy gives */
    narrowed += b.narrowed;
  }
  CHECK_GE(narrowed, 60);
  CHECK(run("separating", "rigid", "500", "auto", 1).narrowed == 0); /* only where it must be */
  CHECK(run("sticking", "rigid", "1", "auto", 1).narrowed == 0);
  for (int k = 0; k < 2; k++) { /* deformable ones so light that K' is not positive */
    account b = run("sticking", "elastic", "1", k ? "cg" : "auto", 1);
    CHECK_LE(b.worst, 1e-10);
    CHECK_LE(b.highest, 1.5);
    CHECK_GE(b.narrowed, 1);
  }
  CHECK_DONE();
  CHECK_LE(run("separating", "rigid", "100", "auto", 0).worst, 1e-3);
  CHECK_MUST_HAVE_FAILED();
}

/* A soft body in a box full of water: cells at walls let go where the body gives way. What then
   flows out of the closed region is no error of its walls, and is not to be mended; where the gap
   has closed, what faces miss of surfaces is, as much as the system says (0.016 cells in a
   substep). */
static void test_full_box(void **state)
{
  (void)state;
  const mn_setting s[] = {{"kind", "elastic"}, {"full", "true"}};
  world_case c;
  int held = 0;
  double imbalance = 0;
  world_open(&c, SCENE, s, 2, 1);
  while (c.steps < 30 && world_step(&c)) {
    imbalance = check_worst(imbalance, c.info.imbalance);
    held += c.info.pressure.held > 0;
  }
  CHECK_OK(c.ctx, c.status);
  printf("elastic in a full box: imbalance %.1e N, cells let go in %d of %d substeps\n", imbalance,
         held, c.steps);
  CHECK_LE(imbalance, 1e-8);
  CHECK_GE(held, 2);
  CHECK_DONE();
  world_close(&c);
}

/* ---- solvers --------------------------------------------------------------------------------- */

/* Least y^T M y / y^T y over y = A e, e <- e - M A e: what M enlarges grows. */
static double least_of_M(mn_mac *mac, int twice)
{
  const mn_fluid_operators *ops = &mn_mac_fluid_operators;
  size_t n = mac->operators.unknowns.count;
  double *e = calloc(3 * n, sizeof *e), *y = e + n, *z = y + n, least = INFINITY;
  uint64_t seed = 7;
  for (size_t i = 0; i < n; i++)
    e[i] = check_random(&seed) - 0.5;
  CHECK_OK(mac->ctx, ops->prepare(mac, NULL, NULL));
  mac->operators.opened.twice = twice;
  for (int k = 0; k < 200; k++) {
    double yz = 0, size = 0, most = 0;
    ops->apply(mac, e, y);
    ops->precondition(mac, y, z);
    for (size_t i = 0; i < n; i++) {
      yz += y[i] * z[i];
      size += y[i] * y[i];
      e[i] -= z[i];
      most = fmax(most, fabs(e[i]));
    }
    least = fmin(least, yz / size * mac->operators.factor);
    for (size_t i = 0; i < n; i++)
      e[i] /= most;
  }
  mac->operators.opened.twice = 0;
  free(e);
  return least;
}

/* Height of the block after so many substeps, m. */
static double height(const char *walls, const char *rho, const char *solver, double least[2])
{
  enum { STEPS = 12 };
  const mn_setting s[] = {{"walls", walls}, {"rho", rho}, {"solver", solver}};
  world_case c;
  world_open(&c, SCENE, s, 3, 1);
  while (c.steps < STEPS && world_step(&c))
    if (c.steps == 1)
      for (int twice = 0; twice < 2; twice++)
        least[twice] = least_of_M(c.world->fluid.self, twice);
  CHECK_OK(c.ctx, c.status);
  CHECK(c.retries == 0);
  const mn_interface *f = mn_coupling_interface(c.world->coupling);
  double sum = 0;
  for (size_t i = 0; i < f->count; i++)
    sum += f->X[i].y / (double)f->count;
  printf("block of %s kg/m^3, %s walls, %s: at %.9f m; M from %.1e, of two visits %.1e\n", rho,
         walls, solver, sum, least[0], least[1]);
  world_close(&c);
  return sum;
}

static void test_solvers(void **state)
{
  (void)state;
  static const char *const rho[] = {"1", "100"}, *walls[] = {"separating", "sticking"};
  double least[2], both = 0;
  for (int k = 0; k < 4; k++) {
    double one = height(walls[k / 2], rho[k % 2], "minres", least);
    CHECK_GE(least[0], 1e-6);
    both = fmin(both, least[1]);
    CHECK_NEAR(height(walls[k / 2], rho[k % 2], "cg", least), one, 1e-6);
    if (mn_lu_available())
      CHECK_NEAR(height(walls[k / 2], rho[k % 2], "direct", least), one, 1e-6);
  }
  CHECK_DONE();
  CHECK_GE(both, 1e-6);
  CHECK_MUST_HAVE_FAILED();
}

/* ---- soft bodies ----------------------------------------------------------------------------- */

static const char SOFT[] =
    "local young    = param('young', 1e5, '')\n"
    "local rho      = param('rho', 300, '')\n"
    "local y        = param('y', 0.5, '')\n"
    "local coupling = param('coupling', 'monolithic', '')\n"
    "return scene {\n"
    "  domain   = box { size = {1, 1}, cells = {10, 10}, top = 'open' },\n"
    "  fluid    = smoke { density = 1000, gravity = {0, -9.81} },\n"
    "  solids   = { elastic { density = rho, young = young, poisson = 0.3, spacing = 0.1,\n"
    "                         shape = box { center = {0.5, y}, size = {0.3, 0.2} } } },\n"
    "  dynamics = dynamics { gravity = {0, -9.81}, dt = 0.01, check_start = false },\n"
    "  coupling = couple { method = coupling },\n"
    "  output   = { frames = 30, every = 1 / 30 },\n"
    "}\n";

/* Steps until it ends or so many are done; *imbalance over the body's weight. */
static int soft(const mn_setting *s, int count, int steps, double *imbalance, world_case *c)
{
  world_open(c, SOFT, s, count, 1);
  *imbalance = 0;
  while (c->steps < steps && mn_world_frame(c->world) < 30 && world_step(c))
    *imbalance = check_worst(*imbalance, c->info.imbalance / (300 * 0.06 * 9.81));
  printf("%s = %s: %d substeps to %.4f s, imbalance %.1e of the weight; %s\n", s[0].name,
         s[0].value, c->steps, mn_world_time(c->world), *imbalance,
         c->status == MN_OK ? "goes on" : mn_context_message(c->ctx));
  return c->steps;
}

/* Smoke's pressure at rest acts where it was found, however soft the body is. */
static void test_rest(void **state)
{
  (void)state;
  const mn_setting one[] = {{"coupling", "monolithic"}}, linear[] = {{"coupling", "simultaneous"}},
                   turns[] = {{"coupling", "xpm"}};
  world_case c;
  double imbalance;
  soft(one, 1, 20, &imbalance, &c);
  CHECK_OK(c.ctx, c.status);
  CHECK_LE(imbalance, 1e-12);
  world_close(&c);
  soft(linear, 1, 20, &imbalance, &c);
  CHECK_OK(c.ctx, c.status);
  CHECK_LE(imbalance, 1e-12);
  world_close(&c);
  CHECK_DONE();
  soft(turns, 1, 20, &imbalance, &c);
  CHECK_LE(imbalance, 1e-12);
  world_close(&c);
  CHECK_MUST_HAVE_FAILED();
}

/* A body above the open top, where the pressure at rest is far below 0 and tears it apart: the run
   ends, and does not take substeps of 1e-7 s for ever. Stiffer ones bear it. */
static void test_crawl(void **state)
{
  (void)state;
  enum { MOST = 1500 };
  const mn_setting torn[] = {{"young", "1e4"}, {"y", "3"}, {"rho", "100"}},
                   stiff[] = {{"young", "1e8"}, {"y", "3"}, {"rho", "100"}};
  world_case c;
  double imbalance;
  CHECK_LE(soft(torn, 3, MOST, &imbalance, &c), MOST - 1);
  CHECK(c.status == MN_FAILED && strstr(mn_context_message(c.ctx), "crawls"));
  world_close(&c);
  soft(stiff, 3, 30, &imbalance, &c);
  CHECK_OK(c.ctx, c.status);
  world_close(&c);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_momentum), cmocka_unit_test(test_full_box),
      cmocka_unit_test(test_solvers), cmocka_unit_test(test_rest), cmocka_unit_test(test_crawl)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
