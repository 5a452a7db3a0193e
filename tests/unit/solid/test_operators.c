/* The solids as linear operators: Newton's method by linearise and advance ends where `solve` ends
   under the same loads, and commit takes the iterate as it takes a solve. */
#include "la/sparse.h"
#include "operators_case.h"

enum { MOST = 60 };
typedef struct newton {
  int steps;
  double residual[MOST + 1]; /* over the scale, before each step */
} newton;

/* One step of K q = r + E^T load; K times `wrong`. Nothing if the residual is below `enough`. */
static double step(pair *p, mn_sparse_factor *factor, mn_curvature curvature, double wrong,
                   double enough)
{
  mn_solid box = p->c.box;
  const mn_solid_operators *op = box.ops->operators;
  mn_solid_linear l = {.curvature = curvature};
  mn_factor_report report;
  double taken;
  CHECK_OK(p->c.ctx, op->linearise(box.self, &p->f, &l));
  double *b = malloc(((size_t)l.K.rows + 1) * sizeof *b);
  right_side(&l, p->f.load, b);
  double residual = greatest(l.K.rows, b) / l.scale;
  if (residual > enough) {
    mn_csr K = as_csr(&l.K);
    CHECK_OK(p->c.ctx, mn_sparse_factorise(factor, &K, &report));
    if (!report.positive_definite)
      CHECK(report.positive_definite);
    CHECK_OK(p->c.ctx, mn_sparse_solve(factor, 1, b, b));
    for (int64_t i = 0; i < l.K.rows; i++)
      b[i] /= wrong;
    CHECK_OK(p->c.ctx, op->advance(box.self, b, 1, &p->f, &taken));
    CHECK(taken > 0 && taken <= 1);
  }
  free(b);
  return residual;
}

/* Newton's method under the interface's loads, from the start. */
static newton iterate(pair *p, double wrong, double enough)
{
  newton n = {0};
  mn_solid box = p->c.box;
  mn_sparse_factor *factor;
  CHECK_OK(p->c.ctx, mn_sparse_create(p->c.ctx, &factor));
  CHECK_OK(p->c.ctx, box.ops->operators->start(box.self, &p->f));
  for (; n.steps < MOST; n.steps++) {
    n.residual[n.steps] = step(p, factor, MN_CURVATURE_CHECKED, wrong, enough);
    if (n.residual[n.steps] <= enough)
      break;
  }
  mn_sparse_destroy(&factor);
  return n;
}

/* Solves until the loads act where the solve ends. */
static void solve_fully(pair *p)
{
  mn_solid box = p->c.box;
  mn_vec3 *X = malloc(p->f.count * sizeof *X);
  CHECK_OK(p->c.ctx, box.ops->look(box.self, &p->f));
  for (int k = 0; k < 60; k++) {
    memcpy(X, p->f.X, p->f.count * sizeof *X);
    CHECK_OK(p->c.ctx, box.ops->solve(box.self, &p->f, NULL));
    if (differ(&p->f, X, p->f.X) <= 1e-15)
      break;
  }
  free(X);
}

typedef struct outcome {
  double X, V; /* differences, m and m/s */
  newton n;
} outcome;

/* Both ways, from the same state. */
static outcome compare(pair *p, double dt, double size, double wrong, double enough)
{
  outcome o;
  mn_solid box = p->c.box;
  size_t bytes = p->f.count * sizeof(mn_vec3);
  mn_vec3 *X = malloc(bytes), *V = malloc(bytes);
  set_loads(p, size);
  CHECK_OK(p->c.ctx, box.ops->begin(box.self, 0, dt));
  solve_fully(p);
  memcpy(X, p->f.X, bytes), memcpy(V, p->f.V, bytes);
  o.n = iterate(p, wrong, enough);
  o.X = differ(&p->f, X, p->f.X), o.V = differ(&p->f, V, p->f.V);
  free(X), free(V);
  return o;
}

static void print(const char *what, int i, int j, outcome o)
{
  print_message("%s %d %d: X %.2e V %.2e; %d steps:", what, i, j, o.X, o.V, o.n.steps);
  for (int k = 0; k < o.n.steps + 1 && k < 12; k++)
    print_message(" %.1e", o.n.residual[k]);
  print_message("\n");
}

static const double ROUNDING = 1e-12; /* of residuals */

/* The number of exact digits doubles with every step. */
static void check_quadratic(const newton *n)
{
  for (int k = 0; k < n->steps; k++)
    CHECK_LE(n->residual[k + 1], 10 * n->residual[k] * n->residual[k] + ROUNDING);
}

static void check_linear(const newton *n, double rate)
{
  for (int k = 0; k < n->steps; k++)
    CHECK_LE(n->residual[k + 1], rate * n->residual[k] + ROUNDING);
}

static const mn_scheme SCHEME[4] = {MN_BACKWARD_EULER, MN_NEWMARK, MN_MIDPOINT, MN_EXPLICIT};

/* All kinds and schemes, prescribed nodes that move, an anchor, a link, damping. */
static void test_deformable(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int run = 0; run < 4; run++)
      for (int kind = 0; kind < KINDS; kind++) {
        static pair p;
        if (dim == 2 && kind == SHELL)
          continue;
        case_open(&p.c, dim);
        p.c.def.contacts = 0;
        p.c.def.deform = soft(p.c.ctx, dim, SCHEME[run], kind, 1);
        start_case(&p, 0.3);
        int explicit = SCHEME[run] == MN_EXPLICIT;
        outcome o = compare(&p, explicit ? 1e-3 : 0.02, 0.2, 1, explicit ? 1e-9 : 1e-13);
        print("soft", 10 * dim + run, kind, o);
        CHECK_LE(o.X, 1e-11);
        CHECK_LE(o.V, 1e-9);
        CHECK_LE(o.n.steps, explicit ? 1 : 5);
        if (SCHEME[run] == MN_MIDPOINT)
          check_linear(&o.n, 5e-3);
        else
          check_quadratic(&o.n);
        stop_case(&p);
      }
  CHECK_DONE();
}

/* Ten thousand times as stiff, elements that turn much. */
static void test_stiff(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int run = 0; run < 2; run++)
      for (int kind = 0; kind < KINDS; kind++) {
        static pair p;
        if (dim == 2 && kind == SHELL)
          continue;
        case_open(&p.c, dim);
        p.c.def.contacts = 0;
        p.c.def.deform = soft(p.c.ctx, dim, SCHEME[run], kind, 1e4);
        start_case(&p, 0.3);
        outcome o = compare(&p, 0.02, 0.2, 1, 1e-13);
        print("stiff", 10 * dim + run, kind, o);
        CHECK_LE(o.X, 1e-10);
        CHECK_LE(o.V, 1e-8);
        CHECK_LE(o.n.steps, 40);
        stop_case(&p);
      }
  CHECK_DONE();
}

/* 0: a free box at rest; 1: spinning, 0.2 rad in the substep; 2, 3: bodies with joints, one driven,
   springs between them, one of torsion; spinning in 3. */
static void test_rigid(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int order = 1; order <= 2; order++)
      for (int kind = 0; kind < 4; kind++) {
        static pair p;
        case_open(&p.c, dim);
        p.c.def.order = order, p.c.def.contacts = 0;
        if (kind < 2)
          add_box(&p, 0, kind ? 10 : 0);
        else
          add_bodies(&p, kind == 2 ? 0 : 5);
        start_case(&p, 0.22);
        outcome o = compare(&p, 0.02, 1, 1, 1e-13);
        print("rigid", 10 * dim + order, kind, o);
        CHECK_LE(o.X, 1e-12);
        CHECK_LE(o.V, 1e-11);
        CHECK_LE(o.n.steps, 8);
        if (dim == 2 && kind < 2)
          check_quadratic(&o.n);
        else
          check_linear(&o.n, kind < 2 ? 5e-3 : 0.05);
        stop_case(&p);
      }
  CHECK_DONE();
}

/* Each joint alone: sliding is linear, a hinge's one equation quadratic. */
static void test_joints(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int order = 1; order <= 2; order++)
      for (int hinge = 0; hinge < 2; hinge++) {
        static pair p;
        case_open(&p.c, dim);
        p.c.def.order = order, p.c.def.contacts = 0;
        mn_rigid_def *b = add_box(&p, 0, 3);
        b->joint = hinge ? MN_JOINT_HINGE : MN_JOINT_PRISMATIC;
        b->axis = !hinge ? mn_v3(1, 2, 0) : dim == 2 ? mn_v3(0, 0, 1) : mn_v3(0, 0.6, 0.8);
        b->point = mn_v3(-0.5, 0.1, 0);
        start_case(&p, 0.22);
        outcome o = compare(&p, 0.02, 1, 1, 1e-13);
        print(hinge ? "hinge" : "slide", dim, order, o);
        CHECK_LE(o.X, 1e-13);
        CHECK_LE(o.V, 1e-12);
        CHECK_LE(o.n.steps, hinge ? 4 : 1);
        check_quadratic(&o.n);
        stop_case(&p);
      }
  CHECK_DONE();
}

/* The control: with half of K, Newton's method overshoots and does not double its digits. */
static void test_wrong(void **state)
{
  (void)state;
  static pair p;
  case_open(&p.c, 2);
  p.c.def.contacts = 0;
  p.c.def.deform = soft(p.c.ctx, 2, MN_BACKWARD_EULER, NEO_HOOKEAN, 1);
  start_case(&p, 0.3);
  outcome o = compare(&p, 0.02, 0.2, 0.8, 1e-13);
  check_quadratic(&o.n);
  stop_case(&p);
  CHECK_MUST_HAVE_FAILED();
}

static void open_mix(pair *p, int dim, int order, mn_scheme scheme, int kind)
{
  case_open(&p->c, dim);
  p->c.def.order = order, p->c.def.contacts = 0;
  add_bodies(p, 1);
  p->c.def.deform = soft(p->c.ctx, dim, scheme, kind, 1);
  start_case(p, 0.25);
}

static double worst_of(mn_vec3 a, mn_vec3 b)
{
  return mn_length(mn_sub(a, b));
}

/* Substeps of a mix, one case by solves, one by iterates: the states stay the same, and so do the
   energy, both momenta and the forces on bodies. */
static void test_commit(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int run = 0; run < 8; run++) {
      static pair p[2];
      double dt = SCHEME[run % 4] == MN_EXPLICIT ? 1e-3 : 0.02;
      for (int i = 0; i < 2; i++) {
        open_mix(&p[i], dim, 1 + run / 4, SCHEME[run % 4], run % KINDS);
        mn_solid box = p[i].c.box;
        for (int n = 0; n < 4; n++) {
          CHECK_OK(p[i].c.ctx, box.ops->begin(box.self, n * dt, dt));
          set_loads(&p[i], 0.3);
          if (i)
            iterate(&p[i], 1, 1e-12);
          else
            solve_fully(&p[i]);
          CHECK_OK(p[i].c.ctx, box.ops->commit(box.self));
        }
        CHECK_OK(p[i].c.ctx, box.ops->look(box.self, &p[i].f));
      }
      mn_solids *a = p[0].c.solids, *b = p[1].c.solids;
      mn_vec3 zero = mn_v3(0, 0, 0);
      CHECK_LE(differ(&p[0].f, p[0].f.X, p[1].f.X), 1e-10);
      CHECK_LE(differ(&p[0].f, p[0].f.V, p[1].f.V), 1e-9);
      double energy = mn_solids_energy(a, -1);
      CHECK_NEAR(mn_solids_energy(b, -1), energy, 1e-9 * (1 + fabs(energy)));
      CHECK_LE(worst_of(mn_solids_momentum(a, -1), mn_solids_momentum(b, -1)), 1e-9);
      CHECK_LE(worst_of(mn_solids_angular(a, -1, zero), mn_solids_angular(b, -1, zero)), 1e-9);
      for (int k = 0; k < 5; k++)
        CHECK_LE(worst_of(mn_solids_force(a, k), mn_solids_force(b, k)), 1e-9);
      stop_case(&p[0]), stop_case(&p[1]);
    }
  CHECK_DONE();
}

/* A solve after the last advance, with its loads, changes nothing but rounding. */
static void test_solve_after(void **state)
{
  (void)state;
  for (int run = 0; run < 4; run++) {
    static pair p;
    double dt = SCHEME[run] == MN_EXPLICIT ? 1e-3 : 0.02;
    open_mix(&p, 3, 2, SCHEME[run], SPRINGS);
    mn_solid box = p.c.box;
    size_t bytes = p.f.count * sizeof(mn_vec3);
    mn_vec3 *X = malloc(bytes), *V = malloc(bytes);
    CHECK_OK(p.c.ctx, box.ops->begin(box.self, 0, dt));
    set_loads(&p, 0.3);
    iterate(&p, 1, 1e-13);
    memcpy(X, p.f.X, bytes), memcpy(V, p.f.V, bytes);
    CHECK_OK(p.c.ctx, box.ops->solve(box.self, &p.f, NULL));
    CHECK_LE(differ(&p.f, X, p.f.X), 1e-12);
    CHECK_LE(differ(&p.f, V, p.f.V), 1e-10);
    free(X), free(V);
    stop_case(&p);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_deformable), cmocka_unit_test(test_stiff),
      cmocka_unit_test(test_rigid),      cmocka_unit_test(test_joints),
      cmocka_unit_test(test_wrong),      cmocka_unit_test(test_commit),
      cmocka_unit_test(test_solve_after)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
