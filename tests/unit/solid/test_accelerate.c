/* Accelerations through the mass alone: exact for single bodies, joints, lumped nodes; and what a
   tiny substep really does, by differences, for every rule in time. */
#include <stdlib.h>

#include "geom/structured.h"
#include "solids_case.h"

typedef struct pair {
  solids_case c;
  mn_interface f;
} pair;

static void start(pair *p, double spacing)
{
  size_t count, elements;
  case_start(&p->c);
  mn_solid box = p->c.box;
  CHECK_OK(p->c.ctx, box.ops->sample(box.self, spacing, &count, &elements));
  CHECK_OK(p->c.ctx, mn_interface_create(p->c.ctx, p->c.def.dim, count, elements, &p->f));
}

static void stop(pair *p)
{
  mn_interface_destroy(&p->f);
  case_close(&p->c);
}

static void load_at_random(mn_interface *f)
{
  uint64_t seed = 11;
  for (size_t k = 0; k < f->count; k++)
    for (int a = 0; a < f->dim; a++)
      f->load[k].v[a] = check_random(&seed) - 0.4;
}

/* Impulses at the end of a substep at rest change V by `factor` times the accelerations that the
   same loads gave, which V holds, and nothing else; it is the velocity that is committed. */
static double settled_off(pair *p, double factor)
{
  mn_interface *f = &p->f;
  mn_solid box = p->c.box;
  size_t bytes = f->count * sizeof *f->X;
  mn_vec3 *a = malloc(bytes), *X = malloc(bytes), *P = malloc(bytes);
  memcpy(a, f->V, bytes);
  memcpy(P, f->load, bytes);
  memset(f->load, 0, bytes);
  CHECK_OK(p->c.ctx, box.ops->look(box.self, f));
  CHECK_OK(p->c.ctx, box.ops->solve(box.self, f, NULL));
  memcpy(X, f->X, bytes);
  memcpy(f->load, P, bytes);
  CHECK_OK(p->c.ctx, box.ops->settle(box.self, f));
  double worst = 0;
  for (int twice = 0; twice < 2; twice++) {
    for (size_t k = 0; k < f->count; k++) {
      worst = check_worst(worst, mn_length(mn_madd(f->V[k], -factor, a[k])));
      worst = check_worst(worst, mn_length(mn_sub(f->X[k], X[k])));
    }
    if (twice)
      break;
    CHECK_OK(p->c.ctx, box.ops->commit(box.self));
    CHECK_OK(p->c.ctx, box.ops->look(box.self, f));
  }
  free(a), free(X), free(P);
  return worst;
}

/* One body each: what Newton and Euler say. */
static void test_rigid_exact(void **state)
{
  (void)state;
  static const mn_joint_kind JOINT[] = {MN_JOINT_NONE, MN_JOINT_PRISMATIC, MN_JOINT_HINGE,
                                        MN_JOINT_FIXED};
  for (int order = 1; order <= 2; order++)
    for (int j = 0; j < 4; j++) {
      static pair p;
      case_open(&p.c, 2);
      p.c.def.order = order, p.c.def.gravity = mn_v3(0, 0, 0);
      mn_vec3 half = mn_v3(0.5, 0.2, 0), axis = mn_v3(0.6, 0.8, 0), pin = mn_v3(-0.5, 0, 0);
      mn_rigid_def *b = case_box(&p.c, mn_v3(0, 0, 0), half);
      b->density = 3, b->sampled = 1, b->joint = JOINT[j], b->point = pin;
      b->axis = JOINT[j] == MN_JOINT_HINGE ? mn_v3(0, 0, 1) : axis;
      start(&p, 0.1);
      mn_interface *f = &p.f;
      mn_solid box = p.c.box;
      CHECK_OK(p.c.ctx, box.ops->begin(box.self, 0, 0.01));
      CHECK_OK(p.c.ctx, box.ops->look(box.self, f));
      load_at_random(f);
      mn_vec3 P = mn_v3(0, 0, 0);
      double T = 0, theta = order == 1 ? 1 : 0.5, m = 3 * 0.4;
      double I = m * (half.x * half.x + half.y * half.y) / 3, worst = 0;
      for (size_t k = 0; k < f->count; k++) {
        P = mn_add(P, f->load[k]);
        T += mn_cross(f->X[k], f->load[k]).z;
      }
      double turn = (T + 0.5 * P.y) / (I + 0.25 * m); /* about the pin */
      CHECK_OK(p.c.ctx, box.ops->accelerate(box.self, f));
      for (size_t k = 0; k < f->count; k++) {
        mn_vec3 x = f->X[k], a = mn_v3(0, 0, 0);
        if (j == 0)
          a = mn_v3(P.x / m - T / I * x.y, P.y / m + T / I * x.x, 0);
        else if (j == 1)
          a = mn_scale(mn_dot(axis, P) / m, axis);
        else if (j == 2)
          a = mn_v3(-turn * x.y, turn * (x.x + 0.5), 0);
        worst = check_worst(worst, mn_length(mn_madd(f->V[k], -theta, a)));
      }
      CHECK_LE(worst, 1e-11);
      CHECK_LE(settled_off(&p, order == 1 ? 0 : 1 / theta), 1e-11);
      stop(&p);
    }
  CHECK_DONE();
}

/* A curve of free nodes, points on the nodes and between; the first one fixed. */
static void test_curve_exact(void **state)
{
  (void)state;
  static pair p;
  case_open(&p.c, 2);
  mn_deform_def def = mn_deform_def_default(2);
  def.scheme = MN_NEWMARK, def.beta = 0.3, def.gamma = 0.5;
  mn_springs_def springs = {.density = 2, .stretch = 300, .bend = 1};
  mn_simplex_mesh mesh;
  int body;
  CHECK_OK(p.c.ctx, mn_deform_create(p.c.ctx, &def, &p.c.def.deform));
  CHECK_OK(p.c.ctx, mn_mesh_line(p.c.ctx, 2, mn_v3(0, 0, 0), mn_v3(2, 0, 0), 2, &mesh));
  CHECK_OK(p.c.ctx, mn_deform_add_springs(p.c.def.deform, &mesh, &springs, &body));
  mn_deform_fix(p.c.def.deform, 0, MN_FIX_Y);
  CHECK_OK(p.c.ctx, mn_deform_ready(p.c.def.deform));
  mn_simplex_mesh_destroy(&mesh);
  start(&p, 0.5); /* a point halfway between two nodes */
  mn_interface *f = &p.f;
  mn_solid box = p.c.box;
  CHECK_NEAR((double)f->count, 5, 0);
  CHECK_OK(p.c.ctx, box.ops->begin(box.self, 0, 0.01));
  CHECK_OK(p.c.ctx, box.ops->look(box.self, f));
  for (size_t k = 0; k < f->count; k++)
    f->load[k] = fabs(f->X[k].x - 0.5) < 1e-12 ? mn_v3(1, 1, 0) : mn_v3(0, 0, 0);
  CHECK_OK(p.c.ctx, box.ops->accelerate(box.self, f));
  /* nodes at x = 0, 1, 2 of 1, 2, 1 kg; half of the load on each of the first two */
  double ax[3] = {0.3 * 0.5, 0.3 * 0.25, 0}, ay[3] = {0, 0.3 * 0.25, 0};
  for (size_t k = 0; k < f->count; k++) {
    double x = f->X[k].x, s = x <= 1 ? x : x - 1;
    int i = x <= 1 ? 0 : 1;
    CHECK_NEAR(f->V[k].x, (1 - s) * ax[i] + s * ax[i + 1], 1e-14);
    CHECK_NEAR(f->V[k].y, (1 - s) * ay[i] + s * ay[i + 1], 1e-14);
  }
  stop(&p);
  CHECK_DONE();
}

static mn_deform *block(mn_context *ctx, int dim, mn_scheme scheme)
{
  mn_deform_def def = mn_deform_def_default(dim);
  def.scheme = scheme;
  def.tolerance = 1e-14;
  mn_deform *d;
  mn_simplex_mesh mesh, quadratic;
  int cells[3] = {2, 1, 1}, body;
  mn_elastic_def elastic = {.young = 100, .poisson = 0.3, .density = 10, .beta = 1e-3};
  CHECK_OK(ctx, mn_deform_create(ctx, &def, &d));
  CHECK_OK(ctx, mn_mesh_box(ctx, dim, mn_v3(3, 0, 0), mn_v3(2, 0.5, 0.5), cells, &mesh));
  CHECK_OK(ctx, mn_simplex_mesh_quadratic(ctx, &mesh, &quadratic));
  CHECK_OK(ctx, mn_deform_add_elastic(d, &quadratic, &elastic, &body));
  mn_deform_fix(d, 0, MN_FIX_ALL);
  mn_deform_fix(d, 1, MN_FIX_X);
  CHECK_OK(ctx, mn_deform_ready(d));
  mn_simplex_mesh_destroy(&mesh);
  mn_simplex_mesh_destroy(&quadratic);
  return d;
}

/* Difference of two solves over dt^2, against the answer; relative to the greatest. */
static double miss(pair *p, double dt)
{
  mn_interface *f = &p->f;
  mn_solid box = p->c.box;
  size_t bytes = f->count * sizeof *f->X;
  mn_vec3 *a = malloc(bytes), *X = malloc(bytes);
  CHECK_OK(p->c.ctx, box.ops->begin(box.self, 0, dt));
  CHECK_OK(p->c.ctx, box.ops->look(box.self, f));
  CHECK_OK(p->c.ctx, box.ops->solve(box.self, f, NULL));
  memcpy(X, f->X, bytes);
  CHECK_OK(p->c.ctx, box.ops->look(box.self, f));
  load_at_random(f);
  CHECK_OK(p->c.ctx, box.ops->accelerate(box.self, f));
  memcpy(a, f->V, bytes);
  CHECK_OK(p->c.ctx, box.ops->look(box.self, f));
  CHECK_OK(p->c.ctx, box.ops->solve(box.self, f, NULL));
  double worst = 0, size = 0;
  for (size_t k = 0; k < f->count; k++) {
    mn_vec3 change = mn_scale(1 / (dt * dt), mn_sub(f->X[k], X[k]));
    worst = check_worst(worst, mn_length(mn_sub(change, a[k])));
    size = check_worst(size, mn_length(a[k]));
    f->load[k] = mn_v3(0, 0, 0);
  }
  free(a), free(X);
  return worst / size;
}

/* Turning bodies with joints and a spring between them and an elastic one: the part that stiffness,
   turning and damping have vanishes with dt, at first order or better. */
static void test_tiny_steps(void **state)
{
  (void)state;
  static const mn_scheme SCHEME[4] = {MN_BACKWARD_EULER, MN_NEWMARK, MN_MIDPOINT, MN_EXPLICIT};
  for (int dim = 2; dim <= 3; dim++)
    for (int run = 0; run < 4; run++) {
      static pair p;
      case_open(&p.c, dim);
      p.c.def.order = 1 + run % 2, p.c.def.contacts = 0;
      mn_rigid_def *b = case_box(&p.c, mn_v3(0, 0, 0), mn_v3(0.5, 0.2, 0.3));
      b->density = 3, b->spin = mn_v3(dim == 3, 0, 2), b->velocity = mn_v3(0, 1, 0);
      b->sampled = 1;
      b = case_box(&p.c, mn_v3(0, 2, 0), mn_v3(0.4, 0.1, 0.1));
      b->density = 3, b->joint = MN_JOINT_HINGE, b->axis = mn_v3(0, 0, 1), b->sampled = 1;
      b->point = mn_v3(-0.4, 2, 0), b->spin = mn_v3(0, 0, 0.5);
      p.c.spring[0] = (mn_spring_def){.a = 0,
                                      .b = 1,
                                      .at_a = mn_v3(0.5, 0.2, 0),
                                      .at_b = mn_v3(0.4, 1.9, 0),
                                      .stiffness = 20,
                                      .length = -1};
      p.c.def.spring_count = 1;
      p.c.def.deform = block(p.c.ctx, dim, SCHEME[run]);
      start(&p, 0.2);
      double before = miss(&p, 1e-3), after = miss(&p, 1e-4);
      CHECK_LE(after, 1e-3);
      CHECK_LE(after, 0.15 * before + 1e-6);
      stop(&p);
    }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rigid_exact),
      cmocka_unit_test(test_curve_exact),
      cmocka_unit_test(test_tiny_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
