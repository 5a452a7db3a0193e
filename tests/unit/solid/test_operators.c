/* The solids as linear operators: Newton's method by linearise and advance ends where `solve` ends
   under the same loads; K and E are the derivatives of r and X; commit takes the iterate. */
#include <stdlib.h>

#include "geom/structured.h"
#include "la/sparse.h"
#include "meniscus/operators.h"
#include "solids_case.h"

typedef struct pair {
  solids_case c;
  mn_interface f;
} pair;

static void start_case(pair *p, double spacing)
{
  size_t count, elements;
  case_start(&p->c);
  mn_solid box = p->c.box;
  CHECK_OK(p->c.ctx, box.ops->sample(box.self, spacing, &count, &elements));
  CHECK_OK(p->c.ctx, mn_interface_create(p->c.ctx, p->c.def.dim, count, elements, &p->f));
  p->f.frozen = 1;
}

static void stop_case(pair *p)
{
  mn_interface_destroy(&p->f);
  case_close(&p->c);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

enum { NEO_HOOKEAN, COROTATED, ST_VENANT, SPRINGS, SHELL, ROD, KINDS };

/* Follows a slow path: for nodes that are prescribed. */
static void path(void *user, uint32_t node, mn_vec3 rest, double t, mn_vec3 *x, mn_vec3 *v)
{
  (void)user, (void)node;
  *x = mn_add(rest, mn_v3(0.3 * t, 0.1 * t, 0));
  *v = mn_v3(0.3, 0.1, 0);
}

static mn_deform *soft(mn_context *ctx, int dim, mn_scheme scheme, int kind, double stiff)
{
  mn_deform_def def = mn_deform_def_default(dim);
  def.scheme = scheme;
  def.tolerance = 1e-13;
  def.gravity = mn_v3(0, -1, 0);
  mn_deform *d;
  mn_simplex_mesh mesh, quadratic = {0};
  int cells[3] = {3, 1, 1}, body;
  static const mn_material_kind MATERIAL[3] = {MN_NEO_HOOKEAN, MN_FIXED_COROTATED, MN_ST_VENANT};
  mn_vec3 velocity = mn_v3(0.5, 0.2, 0), low = mn_v3(3, 0, 0);
  CHECK_OK(ctx, mn_deform_create(ctx, &def, &d));
  if (kind <= ST_VENANT)
    CHECK_OK(ctx, mn_mesh_box(ctx, dim, low, mn_v3(2, 0.5, 0.5), cells, &mesh));
  else if (dim == 2 || kind == ROD)
    CHECK_OK(ctx, mn_mesh_line(ctx, dim, low, mn_v3(5, 0.1, 0), 6, &mesh));
  else
    CHECK_OK(ctx, mn_mesh_sheet(ctx, low, mn_v3(2, 0, 0), mn_v3(0, 0.1, 1), 4, 2, &mesh));
  mn_elastic_def elastic = {.material = MATERIAL[kind % 3],
                            .young = stiff * 1e4,
                            .poisson = 0.3,
                            .density = 10,
                            .velocity = velocity,
                            .alpha = 0.1,
                            .beta = 1e-3};
  mn_springs_def springs = {.density = 2,
                            .stretch = stiff * 300,
                            .bend = stiff,
                            .stretch_damping = 0.1,
                            .velocity = velocity};
  mn_shell_def shell = {.young = stiff * 1e5,
                        .poisson = 0.3,
                        .thickness = 0.02,
                        .density = 100,
                        .bending = -1,
                        .velocity = velocity};
  mn_rod_def rod = {.stretch = stiff * 300, .bend = stiff, .density = 2, .velocity = velocity};
  if (kind == COROTATED) {
    CHECK_OK(ctx, mn_simplex_mesh_quadratic(ctx, &mesh, &quadratic));
    CHECK_OK(ctx, mn_deform_add_elastic(d, &quadratic, &elastic, &body));
  } else if (kind <= ST_VENANT)
    CHECK_OK(ctx, mn_deform_add_elastic(d, &mesh, &elastic, &body));
  else if (kind == SHELL && dim == 3)
    CHECK_OK(ctx, mn_deform_add_shell(d, &mesh, &shell, &body));
  else if (kind == ROD)
    CHECK_OK(ctx, mn_deform_add_rod(d, &mesh, &rod, &body));
  else
    CHECK_OK(ctx, mn_deform_add_springs(d, &mesh, &springs, &body));
  mn_deform_fix(d, 0, MN_FIX_ALL);
  mn_deform_fix(d, 1, MN_FIX_X);
  mn_deform_set_motion(d, path, NULL);
  uint32_t last = (uint32_t)mn_deform_get(d).nodes - 1;
  CHECK_OK(ctx, mn_deform_add_anchor(d, last, mn_v3(5.5, 1, 0), 0.5, stiff * 5, 0.1));
  CHECK_OK(ctx, mn_deform_add_spring(d, 1, last, 1.5, stiff * 5, 0.2)); /* a link */
  CHECK_OK(ctx, mn_deform_ready(d));
  mn_simplex_mesh_destroy(&mesh);
  mn_simplex_mesh_destroy(&quadratic);
  return d;
}

static mn_rigid_def *add_box(pair *p, double x, double spin)
{
  int dim = p->c.def.dim;
  mn_rigid_def *b = case_box(&p->c, mn_v3(x, 0, 0), mn_v3(0.5, 0.2, 0.3));
  b->density = 3, b->velocity = mn_v3(0, 1, 0), b->sampled = 1, b->collides = 0;
  b->spin = mn_v3(dim == 3 ? 0.5 * spin : 0, dim == 3 ? 0.3 * spin : 0, spin);
  b->torque = mn_v3(0, 0, 0.3);
  return b;
}

/* A free box, a hinged and a sliding one, a driven one; springs between them. */
static void add_bodies(pair *p, double spin)
{
  solids_case *c = &p->c;
  add_box(p, 0, spin);
  mn_rigid_def *b = case_box(c, mn_v3(0, 2, 0), mn_v3(0.4, 0.1, 0.1));
  b->density = 3, b->joint = MN_JOINT_HINGE, b->axis = mn_v3(0, 0, 1), b->sampled = 1;
  b->point = mn_v3(-0.4, 2, 0), b->spin = mn_v3(0, 0, spin);
  b = case_ball(c, mn_v3(0, -2, 0), 0.3);
  b->density = 3, b->joint = MN_JOINT_PRISMATIC, b->axis = mn_v3(1, 1, 0), b->sampled = 1;
  b = case_ball(c, mn_v3(-3, 0, 0), 0.3);
  b->joint = MN_JOINT_DRIVEN, b->sampled = 1;
  b->motion.translate = mn_v3(0, 1, 0), b->motion.path = mn_timefn_constant(0);
  mn_vec3 zero = mn_v3(0, 0, 0);
  c->spring[0] = (mn_spring_def){0, 1, mn_v3(0.5, 0.2, 0), mn_v3(0.4, 1.9, 0), 20, 0.3, 1, 0};
  c->spring[1] = (mn_spring_def){1, -1, zero, zero, 2, 0.1, 0.3, 1};
  c->spring[2] = (mn_spring_def){0, 3, mn_v3(-0.5, 0, 0), mn_v3(-2.7, 0, 0), 30, 0, 2.4, 0};
  c->def.spring_count = 3;
}

/* ---- Newton's method ------------------------------------------------------------------------- */

static void set_loads(pair *p, double size)
{
  uint64_t seed = 3;
  for (size_t k = 0; k < p->f.count; k++)
    for (int a = 0; a < p->f.dim; a++)
      p->f.load[k].v[a] = size * (check_random(&seed) - 0.3);
}

static double differ(const mn_interface *f, const mn_vec3 *a, const mn_vec3 *b)
{
  double most = 0;
  for (size_t k = 0; k < f->count; k++)
    most = check_worst(most, mn_length(mn_sub(a[k], b[k])));
  return most;
}

/* b = r + E^T load */
static void right_side(const mn_solid_linear *l, const mn_vec3 *load, double *b)
{
  for (int64_t i = 0; i < l->K.rows; i++)
    b[i] = l->r[i];
  for (int64_t i = 0; i < l->E.rows; i++)
    for (int64_t e = l->E.start[i]; e < l->E.start[i + 1]; e++)
      b[l->E.col[e]] += l->E.value[e] * load[i / 3].v[i % 3];
}

static double greatest(int64_t n, const double *a)
{
  double most = 0;
  for (int64_t i = 0; i < n; i++)
    most = check_worst(most, fabs(a[i]));
  return most;
}

static mn_csr as_csr(const mn_sparse_matrix *m)
{
  return (mn_csr){m->rows, m->cols, (int64_t *)(uintptr_t)m->start, (int64_t *)(uintptr_t)m->col,
                  (double *)(uintptr_t)m->value};
}

enum { MOST = 60 };
typedef struct newton {
  int steps;
  double residual[MOST]; /* over the scale, before each step */
} newton;

/* Steps of Newton's method under the interface's loads. */
static newton iterate(pair *p, int most, double enough)
{
  newton n = {0};
  mn_solid box = p->c.box;
  const mn_solid_operators *op = box.ops->operators;
  mn_sparse_factor *factor;
  CHECK_OK(p->c.ctx, mn_sparse_create(p->c.ctx, &factor));
  CHECK_OK(p->c.ctx, op->start(box.self, &p->f));
  for (; n.steps < most; n.steps++) {
    mn_solid_linear l = {.curvature = MN_CURVATURE_CHECKED};
    CHECK_OK(p->c.ctx, op->linearise(box.self, &p->f, &l));
    double *b = malloc(((size_t)l.K.rows + 1) * sizeof *b), taken;
    right_side(&l, p->f.load, b);
    n.residual[n.steps] = greatest(l.K.rows, b) / l.scale;
    if (n.residual[n.steps] <= enough) {
      free(b);
      break;
    }
    mn_csr K = as_csr(&l.K);
    mn_factor_report report;
    CHECK_OK(p->c.ctx, mn_sparse_factorise(factor, &K, &report));
    CHECK(report.positive_definite);
    CHECK_OK(p->c.ctx, mn_sparse_solve(factor, 1, b, b));
    CHECK_OK(p->c.ctx, op->advance(box.self, b, 1, &p->f, &taken));
    CHECK_NEAR(taken, 1, 0);
    free(b);
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
static outcome compare(pair *p, double dt, double size)
{
  outcome o;
  mn_solid box = p->c.box;
  size_t bytes = p->f.count * sizeof(mn_vec3);
  mn_vec3 *X = malloc(bytes), *V = malloc(bytes);
  set_loads(p, size);
  CHECK_OK(p->c.ctx, box.ops->begin(box.self, 0, dt));
  solve_fully(p);
  memcpy(X, p->f.X, bytes), memcpy(V, p->f.V, bytes);
  o.n = iterate(p, MOST, 1e-13);
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

static const mn_scheme SCHEME[4] = {MN_BACKWARD_EULER, MN_NEWMARK, MN_MIDPOINT, MN_EXPLICIT};

static void test_deformable(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int run = 0; run < 4; run++)
      for (int kind = 0; kind < KINDS; kind++) {
        static pair p;
        if (dim == 2 && (kind == SHELL))
          continue;
        case_open(&p.c, dim);
        p.c.def.contacts = 0;
        p.c.def.deform =
            soft(p.c.ctx, dim, SCHEME[run], kind, getenv("STIFF") ? atof(getenv("STIFF")) : 1);
        start_case(&p, 0.3);
        outcome o = compare(&p, SCHEME[run] == MN_EXPLICIT ? 1e-3 : 0.02, 0.2);
        print("soft", 10 * dim + run, kind, o);
        CHECK_LE(o.X, 1e-9);
        CHECK_LE(o.V, 1e-9);
        stop_case(&p);
      }
  CHECK_DONE();
}

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
        outcome o = compare(&p, 0.02, 1);
        print("rigid", 10 * dim + order, kind, o);
        CHECK_LE(o.X, 1e-9);
        CHECK_LE(o.V, 1e-9);
        stop_case(&p);
      }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_deformable),
                                     cmocka_unit_test(test_rigid)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
