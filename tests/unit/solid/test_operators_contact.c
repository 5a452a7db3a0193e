/* The solids' operators about a solve in which bodies touch: what a change of the loads does, to
   first order, is what the next solve finds. */
#include "la/sparse.h"
#include "operators_case.h"

/* X + E K^-1 E^T (more loads - loads), from a solve under the loads. */
static void predict(pair *p, const mn_vec3 *more, mn_vec3 *X)
{
  mn_solid box = p->c.box;
  mn_solid_linear l = {.curvature = MN_CURVATURE_CHECKED};
  mn_sparse_factor *factor;
  mn_factor_report report;
  CHECK_OK(p->c.ctx, mn_sparse_create(p->c.ctx, &factor));
  CHECK_OK(p->c.ctx, box.ops->operators->linearise(box.self, &p->f, &l));
  double *q = malloc((size_t)l.K.rows * sizeof *q);
  right_side(&l, p->f.load, q);
  CHECK_LE(greatest(l.K.rows, q), 1e-12 * l.scale); /* in balance */
  right_side(&l, more, q);
  mn_csr K = as_csr(&l.K);
  CHECK_OK(p->c.ctx, mn_sparse_factorise(factor, &K, &report));
  CHECK(report.positive_definite);
  CHECK_OK(p->c.ctx, mn_sparse_solve(factor, 1, q, q));
  for (size_t k = 0; k < p->f.count; k++) {
    X[k] = p->f.X[k];
    for (size_t a = 0; a < 3; a++)
      for (int64_t e = l.E.start[3 * k + a]; e < l.E.start[3 * k + a + 1]; e++)
        X[k].v[a] += l.E.value[e] * q[l.E.col[e]];
  }
  mn_sparse_destroy(&factor);
  free(q);
}

/* Loads of `size` per area along `d`, less by a tenth at one side. */
static void press(const pair *p, mn_vec3 d, double size, mn_vec3 *load)
{
  for (size_t k = 0; k < p->f.count; k++)
    load[k] = mn_scale(size * p->f.area[k] * (1 + 0.1 * p->f.X[k].x), d);
}

typedef struct miss {
  double off, moved, free; /* m: of the prediction; how far points went; and without contact */
} miss;

/* Steps under loads, then one solve with more of them. */
static miss predict_and_solve(pair *p, double dt, int steps, mn_vec3 first, mn_vec3 then)
{
  miss m = {0};
  mn_solid box = p->c.box;
  size_t bytes = p->f.count * sizeof(mn_vec3);
  mn_vec3 *more = malloc(bytes), *X = malloc(bytes), *old = malloc(bytes), *load = malloc(bytes);
  CHECK_OK(p->c.ctx, box.ops->look(box.self, &p->f));
  press(p, first, 1, load), press(p, then, 1, more);
  for (int n = 0; n <= steps; n++) {
    CHECK_OK(p->c.ctx, box.ops->look(box.self, &p->f));
    CHECK_OK(p->c.ctx, box.ops->begin(box.self, n * dt, dt));
    memcpy(p->f.load, load, bytes);
    CHECK_OK(p->c.ctx, box.ops->operators->start(box.self, &p->f));
    CHECK_OK(p->c.ctx, box.ops->solve(box.self, &p->f, NULL));
    if (n < steps)
      CHECK_OK(p->c.ctx, box.ops->commit(box.self));
  }
  predict(p, more, X);
  memcpy(old, p->f.X, bytes);
  memcpy(p->f.load, more, bytes);
  CHECK_OK(p->c.ctx, box.ops->solve(box.self, &p->f, NULL));
  m.off = differ(&p->f, X, p->f.X);
  m.moved = differ(&p->f, old, p->f.X);
  double mass = 0, area = 0;
  for (size_t k = 0; k < p->f.count; k++)
    area += p->f.area[k];
  for (int i = 0; i < mn_solids_rigid(p->c.solids)->count; i++)
    mass +=
        mn_solids_rigid(p->c.solids)->body[i].moves * mn_solids_rigid(p->c.solids)->body[i].mass;
  for (int i = 0; p->c.def.deform && i < 1; i++)
    mass += mn_deform_get(mn_solids_deform(p->c.solids)).body[0].mass;
  m.free = dt * dt * mn_length(mn_sub(then, first)) * area / mass;
  free(more), free(X), free(old), free(load);
  return m;
}

/* A box on the floor, pressed down more: it stays. Pushed aside within friction: it stays; beyond:
   it slides as predicted (K does not know that friction follows the normal force: that stays).
   Lifted: it goes (and the prediction, which holds it, does not: the
   control). */
static void test_box(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int order = 1; order <= 2; order++)
      for (int kind = 0; kind < 4; kind++) {
        static pair p;
        case_open(&p.c, dim);
        p.c.def.order = order;
        mn_rigid_def *b = case_box(&p.c, mn_v3(0, 0.2, 0), mn_v3(0.5, 0.2, 0.3));
        b->density = 3, b->sampled = 1, b->friction = 0.5;
        case_wall(&p.c, mn_v3(0, 0, 0), mn_v3(0, 1, 0))->friction = 0.5;
        start_case(&p, 0.2);
        mn_vec3 down = mn_v3(kind == 2 ? 3 : 0, -1, 0);
        mn_vec3 more = mn_v3(kind == 1   ? 0.2
                             : kind == 2 ? 4
                                         : 0,
                             kind == 3   ? 20
                             : kind == 2 ? -1
                                         : -2,
                             0);
        miss m = predict_and_solve(&p, 0.01, 5, down, more);
        print_message("box %d %d %d: off %.2e moved %.2e free %.2e\n", dim, order, kind, m.off,
                      m.moved, m.free);
        if (kind < 2) {
          CHECK_LE(m.moved, 1e-5 * m.free);
          CHECK_LE(m.off, 1e-5 * m.free);
        } else if (kind == 2)
          CHECK_LE(m.off, 1e-3 * m.free);
        else
          CHECK_GE(m.off, 0.3 * m.free);
        stop_case(&p);
      }
  CHECK_DONE();
}

/* Two boxes, one on the other, and a hinged flap on a stop. */
static void test_stack(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int flap = 0; flap < 2; flap++) {
      static pair p;
      case_open(&p.c, dim);
      mn_rigid_def *b = case_box(&p.c, mn_v3(0, 0.2, 0), mn_v3(0.5, 0.2, 0.3));
      b->density = 3, b->sampled = 1, b->friction = 0.5;
      if (flap) {
        b->joint = MN_JOINT_HINGE, b->axis = mn_v3(0, 0, 1), b->point = mn_v3(-0.5, 0, 0);
      } else {
        b = case_box(&p.c, mn_v3(0, 0.5, 0), mn_v3(0.3, 0.1, 0.2));
        b->density = 3, b->sampled = 1, b->friction = 0.5;
      }
      case_wall(&p.c, mn_v3(0, 0, 0), mn_v3(0, 1, 0))->friction = 0.5;
      start_case(&p, 0.2);
      miss m = predict_and_solve(&p, 0.01, 8, mn_v3(0, -1, 0), mn_v3(0.1, -2, 0));
      print_message("stack %d %d: off %.2e moved %.2e free %.2e\n", dim, flap, m.off, m.moved,
                    m.free);
      CHECK_LE(m.moved, 1e-4 * m.free);
      CHECK_LE(m.off, 1e-4 * m.free);
      stop_case(&p);
    }
  CHECK_DONE();
}

/* An elastic block and a sheet that lie on the floor: rows of their own solve are in K. */
static void test_soft(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++) {
    static pair p;
    case_open(&p.c, dim);
    mn_deform_def def = mn_deform_def_default(dim);
    def.gravity = mn_v3(0, -9.81, 0);
    mn_elastic_def elastic = {.young = 1e4, .poisson = 0.3, .density = 100};
    int cells[3] = {3, 2, 2}, body;
    mn_simplex_mesh mesh;
    CHECK_OK(p.c.ctx, mn_deform_create(p.c.ctx, &def, &p.c.def.deform));
    CHECK_OK(p.c.ctx, mn_mesh_box(p.c.ctx, dim, mn_v3(-0.3, 0.001, -0.2), mn_v3(0.6, 0.4, 0.4),
                                  cells, &mesh));
    CHECK_OK(p.c.ctx, mn_deform_add_elastic(p.c.def.deform, &mesh, &elastic, &body));
    CHECK_OK(p.c.ctx, mn_deform_ready(p.c.def.deform));
    mn_simplex_mesh_destroy(&mesh);
    case_wall(&p.c, mn_v3(0, 0, 0), mn_v3(0, 1, 0));
    start_case(&p, 0.3);
    miss m = predict_and_solve(&p, 0.01, 20, mn_v3(0, -10, 0), mn_v3(0, -12, 0));
    print_message("soft %d: off %.2e moved %.2e free %.2e\n", dim, m.off, m.moved, m.free);
    CHECK_LE(m.off, 0.02 * m.moved);
    CHECK_GE(m.moved, 1e-3 * m.free);
    stop_case(&p);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_box), cmocka_unit_test(test_stack),
                                     cmocka_unit_test(test_soft)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
