/* Every energy: gradient and Hessian against differences of fourth order, forces that sum to
   nothing and turn nothing, projected Hessians without negative eigenvalues; and the assembled
   sums. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check.h"
#include "geom/structured.h"
#include "la/dense.h"
#include "solid/deform_internal.h"

typedef struct made {
  mn_context *ctx;
  mn_deform *d;
} made;

enum { NODES = 80 };
static const mn_vec3 ZERO = {{0, 0, 0}};

static void shake(mn_simplex_mesh *mesh, double size, uint64_t seed)
{
  for (size_t i = 0; i < mesh->nodes; i++)
    for (int k = 0; k < mesh->dim; k++)
      mesh->node[i].v[k] += size * (check_random(&seed) - 0.5);
}

/* One system with bodies of one kind; random rest shapes. */
typedef enum kind {
  TRIANGLE,
  TRIANGLE2,
  TETRAHEDRON,
  TETRAHEDRON2,
  CURVE,
  CLOTH,
  SHELL,
  RUBBER,
  ROD,
  ROD3,
  RING3,
  LINKS,
  KINDS
} kind;
static const char *const NAME[KINDS] = {"triangle",      "triangle, quadratic",
                                        "tetrahedron",   "tetrahedron, quadratic",
                                        "curve",         "cloth",
                                        "shell",         "rubber",
                                        "rod",           "rod in space",
                                        "ring in space", "links"};

static int dim_of(kind k)
{
  return k == TRIANGLE || k == TRIANGLE2 || k == CURVE || k == ROD ? 2 : 3;
}

static void add_elastic(made *m, kind k, mn_material_kind material)
{
  int cells[3] = {2, 2, 1}, dim = dim_of(k), body;
  mn_simplex_mesh mesh, quadratic = {0};
  CHECK_OK(m->ctx, mn_mesh_box(m->ctx, dim, ZERO, mn_v3(1, 1, 0.6), cells, &mesh));
  shake(&mesh, 0.1, 5);
  if (k == TRIANGLE2 || k == TETRAHEDRON2) {
    CHECK_OK(m->ctx, mn_simplex_mesh_quadratic(m->ctx, &mesh, &quadratic));
    shake(&quadratic, 0.03, 6);
  }
  mn_elastic_def def = {.material = material, .young = 10, .poisson = 0.3, .density = 2};
  CHECK_OK(m->ctx, mn_deform_add_elastic(m->d, quadratic.nodes ? &quadratic : &mesh, &def, &body));
  mn_simplex_mesh_destroy(&mesh);
  mn_simplex_mesh_destroy(&quadratic);
}

static void add_thin(made *m, kind k)
{
  int body, dim = dim_of(k);
  mn_simplex_mesh mesh = {0};
  if (k == CURVE || k == ROD || k == RING3)
    CHECK_OK(m->ctx, mn_mesh_circle(m->ctx, dim, ZERO, 1, 9, &mesh));
  else if (k == ROD3)
    CHECK_OK(m->ctx, mn_mesh_line(m->ctx, dim, ZERO, mn_v3(1, 1, 0), 6, &mesh));
  else
    CHECK_OK(m->ctx, mn_mesh_sheet(m->ctx, ZERO, mn_v3(1, 0, 0), mn_v3(0, 1, 0.2), 3, 2, &mesh));
  if (k != ROD3)
    shake(&mesh, 0.1, 5);
  mn_springs_def springs = {.density = 1, .stretch = 10, .bend = 3};
  mn_shell_def shell = {
      .young = 10, .poisson = 0.3, .thickness = 0.1, .density = 1, .bending = 0.2};
  mn_rod_def rod = {.stretch = 10, .bend = 0.5, .density = 1};
  shell.membrane = k == RUBBER ? MN_MEMBRANE_NEO_HOOKEAN : MN_MEMBRANE_ST_VENANT;
  if (k == CURVE || k == CLOTH || k == LINKS)
    CHECK_OK(m->ctx, mn_deform_add_springs(m->d, &mesh, &springs, &body));
  else if (k == SHELL || k == RUBBER)
    CHECK_OK(m->ctx, mn_deform_add_shell(m->d, &mesh, &shell, &body));
  else
    CHECK_OK(m->ctx, mn_deform_add_rod(m->d, &mesh, &rod, &body));
  if (k == LINKS) {
    CHECK_OK(m->ctx, mn_deform_add_anchor(m->d, 2, mn_v3(3, 2, 1), 0, 7, 1));
    CHECK_OK(m->ctx, mn_deform_add_anchor(m->d, 3, mn_v3(-1, 2, 1), 0.8, 7, 1));
    CHECK_OK(m->ctx, mn_deform_add_spring(m->d, 0, 5, 0, 4, 1)); /* of no length */
    CHECK_OK(m->ctx, mn_deform_add_spring(m->d, 0, 8, 0.7, 4, 0));
  }
  mn_simplex_mesh_destroy(&mesh);
}

static made make(kind k, mn_material_kind material, int threads)
{
  made m = {check_context(threads), NULL};
  mn_deform_def def = mn_deform_def_default(dim_of(k));
  CHECK_OK(m.ctx, mn_deform_create(m.ctx, &def, &m.d));
  if (k <= TETRAHEDRON2)
    add_elastic(&m, k, material);
  else
    add_thin(&m, k);
  CHECK_OK(m.ctx, mn_deform_ready(m.d));
  return m;
}

static void destroy(made *m)
{
  mn_deform_destroy(&m->d);
  mn_context_destroy(&m->ctx);
}

/* Random positions: the rest shape turned, stretched and shaken. */
static void deform(mn_deform *d, uint64_t seed, double size, mn_vec3 *x)
{
  for (size_t i = 0; i < d->nodes; i++) {
    x[i] = d->rest[i];
    x[i].x *= 1.2;
    x[i] = mn_rotate(x[i], mn_v3(0, 0, 1), 0.5);
    for (int k = 0; k < d->def.dim; k++)
      x[i].v[k] += size * (check_random(&seed) - 0.5);
  }
}

static int eval(const mn_energy_group *g, size_t e, const mn_vec3 *x, double *E, double *grad,
                double *H, int psd)
{
  return g->ops->eval(g, e, x, psd, E, grad, H);
}

/* Worst errors of one group at one x, relative to the greatest entry: gradient, Hessian, sum of
   forces, of torques; and the least eigenvalue of the projected Hessian, relative. */
static void examine(mn_context *ctx, const mn_energy_group *g, const mn_vec3 *all, double worst[5])
{
  static const double STEP[4] = {-2, -1, 1, 2}, WEIGHT[4] = {1. / 12, -2. / 3, 2. / 3, -1. / 12};
  int n = g->nodes * g->dim;
  mn_arena arena = {0};
  for (size_t e = 0; e < g->count; e++) {
    mn_vec3 x[MN_ENERGY_NODES_MAX], force = ZERO, torque = ZERO;
    double E, grad[36], H[1296], P[1296], w[36], dE[36] = {0}, dG[1296] = {0}, G = 0, B = 0;
    const double h = 1e-3;
    for (int a = 0; a < g->nodes; a++)
      x[a] = all[g->node[e * (size_t)g->nodes + (size_t)a]];
    if (!eval(g, e, x, &E, grad, H, 0) || !eval(g, e, x, &E, grad, P, 1))
      continue;
    for (int i = 0; i < n; i++)
      for (int k = 0; k < 4; k++) {
        mn_vec3 y[MN_ENERGY_NODES_MAX];
        double at, slope[36];
        memcpy(y, x, sizeof y);
        y[i / g->dim].v[i % g->dim] += STEP[k] * h;
        assert_int_equal(eval(g, e, y, &at, slope, NULL, 0), 1);
        dE[i] += WEIGHT[k] * at / h;
        for (int j = 0; j < n; j++)
          dG[j * n + i] += WEIGHT[k] * slope[j] / h;
      }
    for (int i = 0; i < n; i++)
      G = fmax(G, fabs(grad[i]));
    for (int i = 0; i < n * n; i++)
      B = fmax(B, fabs(H[i]));
    for (int i = 0; i < n; i++)
      worst[0] = check_worst(worst[0], fabs(dE[i] - grad[i]) / G);
    for (int i = 0; i < n * n; i++)
      worst[1] = check_worst(worst[1], fabs(dG[i] - H[i]) / B);
    for (int a = 0; a < g->nodes; a++) {
      mn_vec3 f = ZERO;
      for (int k = 0; k < g->dim; k++)
        f.v[k] = grad[a * g->dim + k];
      force = mn_add(force, f);
      torque = mn_add(torque, mn_cross(x[a], f));
    }
    if (g->nodes > 1) {
      worst[2] = check_worst(worst[2], mn_length(force) / G);
      worst[3] = check_worst(worst[3], mn_length(torque) / G);
    }
    CHECK_OK(ctx, mn_dense_eigen(ctx, &arena, n, P, w, NULL));
    worst[4] = fmin(worst[4], w[0] / w[n - 1]);
  }
  mn_arena_destroy(&arena);
}

static void check_kind(kind k, mn_material_kind material)
{
  made m = make(k, material, 1);
  mn_vec3 x[NODES];
  double worst[5] = {0};
  assert_true(m.d->nodes <= NODES);
  for (uint64_t seed = 1; seed <= 12; seed++) {
    deform(m.d, seed, k == TRIANGLE2 || k == TETRAHEDRON2 ? 0.04 : 0.12, x);
    for (int g = 0; g < m.d->groups; g++)
      examine(m.ctx, m.d->group + g, x, worst);
  }
  print_message("%s, material %d\n", NAME[k], (int)material);
  CHECK_LE(worst[0], 1e-6);
  CHECK_LE(worst[1], 1e-6);
  CHECK_LE(worst[2], 1e-12);
  CHECK_LE(worst[3], 1e-12);
  CHECK_GE(worst[4], -1e-12);
  destroy(&m);
}

static void test_every_energy(void **state)
{
  (void)state;
  for (kind k = 0; k < KINDS; k++)
    for (mn_material_kind material = 0; material <= (k <= TETRAHEDRON2 ? MN_ST_VENANT : 0);
         material++)
      check_kind(k, material);
  CHECK_DONE();
}

/* A group whose data were changed must fail the comparison of energy and gradient. */
static int wrong_eval(const mn_energy_group *g, size_t e, const mn_vec3 *x, int psd, double *E,
                      double *grad, double *H)
{
  (void)g, (void)e, (void)psd;
  *E = x[0].x * x[0].x * x[0].y;
  for (int i = 0; grad && i < 2; i++)
    grad[i] = i ? x[0].x * x[0].x : 2 * x[0].x * x[0].y * (1 + 1e-5);
  for (int i = 0; H && i < 4; i++)
    H[i] = 1;
  return 1;
}

static void test_control(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_energy_ops ops = {"wrong", wrong_eval, NULL};
  uint32_t node = 0;
  mn_energy_group g = {.ops = &ops, .dim = 2, .nodes = 1, .count = 1, .node = &node};
  mn_vec3 x = mn_v3(1, 1, 0);
  double worst[5] = {0};
  examine(ctx, &g, &x, worst);
  mn_context_destroy(&ctx);
  CHECK_LE(worst[0], 1e-6);
  CHECK_MUST_HAVE_FAILED();
}

/* Assembled sums equal element-by-element ones placed by hand, and the bits do not depend on the
   number of threads. */
static void test_assembly(void **state)
{
  (void)state;
  made one = make(TETRAHEDRON2, MN_NEO_HOOKEAN, 1), three = make(TETRAHEDRON2, MN_NEO_HOOKEAN, 3);
  mn_deform *d = one.d;
  size_t n = d->nodes * 3;
  mn_vec3 x[NODES];
  double E[2], grad[2][3 * NODES], worst = 0, most = 0;
  double *dense = calloc(n * n, sizeof *dense);
  mn_inverted bad;
  deform(d, 3, 0.01, x);
  const mn_csr *a = &d->assembly.pattern;
  assert_int_equal(mn_assembly_energy(&d->assembly, x, -1, &E[0], grad[0], &bad), 1);
  assert_int_equal(mn_assembly_energy(&three.d->assembly, x, -1, &E[1], grad[1], &bad), 1);
  CHECK(E[0] == E[1] && !memcmp(grad[0], grad[1], n * sizeof *grad[0]));
  assert_int_equal(mn_assembly_hessian(&d->assembly, x, 1, 0, a->value, &bad), 1);
  const mn_energy_group *g = d->group;
  for (size_t e = 0; e < g->count; e++) {
    mn_vec3 local[10];
    double H[900], energy, slope[30];
    for (size_t i = 0; i < 10; i++)
      local[i] = x[g->node[10 * e + i]];
    assert_int_equal(g->ops->eval(g, e, local, 1, &energy, slope, H), 1);
    for (size_t r = 0; r < 30; r++)
      for (size_t c = 0; c < 30; c++)
        dense[(g->node[10 * e + r / 3] * 3 + r % 3) * n + g->node[10 * e + c / 3] * 3 + c % 3] +=
            H[r * 30 + c];
  }
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t e = a->start[i]; e < a->start[i + 1]; e++) {
      double *entry = dense + (size_t)i * n + (size_t)a->col[e];
      worst = fmax(worst, fabs(*entry - a->value[e]));
      most = fmax(most, fabs(*entry));
      *entry = 0;
    }
  for (size_t i = 0; i < n * n; i++) /* nothing outside the pattern */
    worst = fmax(worst, fabs(dense[i]));
  CHECK_LE(worst / most, 1e-14);
  free(dense);
  destroy(&one);
  destroy(&three);
  CHECK_DONE();
}

/* Eight at once beside one by one, of whole batches and the rest: the same bits. Shapes near rest
   and far from it, and one turned inside out, or of no length. Returns how many were not fine. */
static size_t compare_eight(const made *m, const mn_energy_group *g)
{
  size_t nodes = (size_t)g->nodes, n = 3 * nodes, inverted = 0;
  uint64_t seed = 3;
  for (int far = 0; far < 3; far++) {
    mn_vec3 x[NODES];
    for (size_t i = 0; i < m->d->nodes; i++)
      for (int k = 0; k < 3; k++)
        x[i].v[k] = m->d->x[i].v[k] + 0.01 * pow(10, far) * (check_random(&seed) - 0.5);
    x[g->node[0]] = g->nodes == 2 ? x[g->node[1]] : x[g->node[0]];
    for (size_t e = 0; e < g->count; e += 7) { /* the last are fewer than 8 */
      size_t count = g->count - e < 8 ? g->count - e : 8;
      double energy[8], gradient[8 * 12], hessian[8 * 144], E, f[12], K[144];
      uint8_t fine[8];
      g->eval_eight(g, e, count, x, energy, gradient, hessian, fine);
      for (size_t k = 0; k < count; k++) {
        mn_vec3 local[4];
        for (size_t a = 0; a < nodes; a++)
          local[a] = x[g->node[nodes * (e + k) + a]];
        int good = g->ops->eval(g, e + k, local, 0, &E, f, K);
        CHECK(fine[k] == good);
        inverted += !good;
        if (!good)
          continue;
        CHECK(energy[k] == E);
        for (size_t i = 0; i < n; i++)
          CHECK(gradient[n * k + i] == f[i]);
        for (size_t row = 0; row < n; row++)
          for (size_t col = 0; col <= row; col++)
            CHECK(hessian[8 * (row * n + col) + k] == K[row * n + col]);
      }
    }
  }
  return inverted;
}

static void test_eight_at_once(void **state)
{
  (void)state;
  static const kind kinds[] = {TETRAHEDRON, CLOTH, LINKS};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    made m = make(kinds[k], MN_NEO_HOOKEAN, 1);
    int groups = 0;
    for (int g = 0; g < m.d->groups; g++) {
      const mn_energy_group *group = m.d->group + g;
      if (!group->eval_eight)
        continue;
      size_t inverted = compare_eight(&m, group);
      CHECK(k ? inverted == 0 : inverted > 0 && inverted < 2 * group->count);
      groups++;
    }
    CHECK(groups > 0);
    destroy(&m);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_energy),
      cmocka_unit_test(test_control),
      cmocka_unit_test(test_assembly),
      cmocka_unit_test(test_eight_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
