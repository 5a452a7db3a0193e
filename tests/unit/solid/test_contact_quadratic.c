/* Quadratic elastic bodies on floors and obstacles: all their nodes stay above, and they come to
   rest where linear ones do. */
#include "solids_case.h"

#include <stdio.h>

#include "geom/structured.h"

static const mn_vec3 G = {{0, -9.81, 0}};
static const double SIZE = 0.2, DENSITY = 1000, DAMPING = 0.02;

/* A disk, or a cube in 3D, that comes down at `speed`. */
typedef struct fall {
  int dim, order;
  double young, speed, time;
  int on_step; /* half of it over a box, not on a plane */
  int without; /* controls: 1: contact does not see nodes inside, 2: nor middle ones */
} fall;

typedef struct seen {
  double lowest, grown, least_j; /* m, of any node; of m g SIZE, in a substep */
  double height, energy;         /* at the end: m, of the centre; of m g SIZE */
  double force, speed;           /* the same: of the weight; m/s */
  int done;
} seen;

static mn_deform *body(mn_context *ctx, const fall *f)
{
  mn_simplex_mesh linear, mesh;
  int n = f->order == 1 ? 4 : 2; /* about as many nodes */
  const int cells[3] = {n, n, n};
  if (f->dim == 2)
    CHECK_OK(ctx, mn_mesh_disk(ctx, mn_v3(0, 0.11, 0), SIZE / 2, 3, &linear));
  else
    CHECK_OK(ctx,
             mn_mesh_box(ctx, 3, mn_v3(-0.1, 0.01, -0.1), mn_v3(SIZE, SIZE, SIZE), cells, &linear));
  mesh = linear;
  if (f->order == 2) {
    CHECK_OK(ctx, mn_simplex_mesh_quadratic(ctx, &linear, &mesh));
    mn_simplex_mesh_destroy(&linear);
  }
  mn_deform_def def = mn_deform_def_default(f->dim);
  mn_elastic_def elastic = {.name = "soft",
                            .material = MN_NEO_HOOKEAN,
                            .young = f->young,
                            .poisson = 0.3,
                            .density = DENSITY,
                            .beta = DAMPING,
                            .velocity = mn_v3(0, -f->speed, 0)};
  mn_deform *d;
  int number;
  def.gravity = G;
  CHECK_OK(ctx, mn_deform_create(ctx, &def, &d));
  CHECK_OK(ctx, mn_deform_add_elastic(d, &mesh, &elastic, &number));
  CHECK_OK(ctx, mn_deform_ready(d));
  mn_simplex_mesh_destroy(&mesh);
  return d;
}

static double energy(solids_case *c)
{
  mn_deform_view v = mn_deform_get(mn_solids_deform(c->solids));
  double e = mn_solids_energy(c->solids, -1);
  for (size_t i = 0; i < v.nodes; i++)
    e -= v.mass[i] * mn_dot(G, v.x[i]);
  return e;
}

static int step(solids_case *c, double dt)
{
  mn_interface none = {.dim = c->def.dim};
  if (c->box.ops->begin(c->box.self, c->t, dt) != MN_OK ||
      c->box.ops->solve(c->box.self, &none, NULL) != MN_OK)
    return 0;
  c->t += dt;
  return c->box.ops->commit(c->box.self) == MN_OK;
}

/* Substeps that fail, as crushed elements may, are halved, as in a run. */
static int advance(solids_case *c, double dt, int halvings)
{
  if (step(c, dt))
    return 1;
  return halvings > 0 && advance(c, dt / 2, halvings - 1) && advance(c, dt / 2, halvings - 1);
}

/* How far a node is above what lies below: the plane y = 0, and the box. */
static double above(const solids_case *c, mn_vec3 x)
{
  double d = HUGE_VAL;
  for (int i = 0; i < c->def.rigid_count; i++)
    d = mn_min(d, mn_shape_distance(c->shape[i], x));
  return d;
}

static seen drop(fall f)
{
  static solids_case c;
  seen s = {.least_j = 1, .lowest = HUGE_VAL};
  case_open(&c, f.dim);
  c.def.deform = body(c.ctx, &f);
  c.def.contact.middles = 2 - f.without;
  case_wall(&c, mn_v3(0, f.on_step ? -0.3 : 0, 0), mn_v3(0, 1, 0));
  if (f.on_step)
    case_box(&c, mn_v3(0.25, -0.1, 0), mn_v3(0.25, 0.1, 0.3))->joint = MN_JOINT_FIXED;
  case_start(&c);
  mn_deform *d = mn_solids_deform(c.solids);
  mn_deform_view v = mn_deform_get(d);
  double mass = v.body[0].mass, before = energy(&c), dt = 0.005;
  for (s.done = 1; s.done && c.t < f.time - 0.5 * dt;) {
    s.done = advance(&c, dt, 6);
    double e = energy(&c);
    s.grown = mn_max(s.grown, (e - before) / (mass * 9.81 * SIZE));
    before = e;
    s.least_j = mn_min(s.least_j, mn_deform_min_j(d, -1));
    v = mn_deform_get(d);
    for (size_t i = 0; i < v.nodes; i++)
      s.lowest = mn_min(s.lowest, above(&c, v.x[i]));
  }
  s.energy = before / (mass * 9.81 * SIZE);
  s.height = mn_deform_center(d, 0).y;
  s.force = -case_state(&c, 0)->contact.y / (mass * 9.81);
  s.speed = mn_length(mn_deform_momentum(d, 0)) / mass;
  printf("%dD order %d%s E %6g at %g m/s%s: lowest %8.5f m, least J %.3f, grown %.1e, rests at "
         "%.5f m, energy %.4f, force %.4f, %.1e m/s%s\n",
         f.dim, f.order,
         f.without == 2 ? " (corners alone)"
         : f.without    ? " (surface alone)"
                        : "",
         f.young, f.speed, f.on_step ? " on a step" : "", s.lowest, s.least_j, s.grown, s.height,
         s.energy, s.force, s.speed, s.done ? "" : ", not finished");
  case_close(&c);
  return s;
}

static void check_held(const seen *s)
{
  CHECK(s->done);
  CHECK_GE(s->lowest, -0.002 * SIZE);
  CHECK_LE(s->grown, 1e-3);
}

/* Both orders: the same height and energy at rest within `same` of the size, all of the weight on
   the floor. */
static void land(fall f, double same)
{
  f.order = 1;
  seen linear = drop(f);
  f.order = 2;
  seen quadratic = drop(f);
  check_held(&linear);
  check_held(&quadratic);
  CHECK_NEAR(quadratic.height, linear.height, same * SIZE);
  CHECK_NEAR(quadratic.energy, linear.energy, same);
  CHECK_NEAR(quadratic.force, 1, 0.02);
  CHECK_LE(quadratic.speed, 0.01);
}

static void test_landing_2d(void **state)
{
  (void)state;
  land((fall){.dim = 2, .young = 1e3, .speed = 2, .time = 2}, 0.01);
  land((fall){.dim = 2, .young = 3e3, .speed = 2, .time = 2}, 0.01);
  land((fall){.dim = 2, .young = 1e5, .speed = 3, .time = 1}, 0.005);
  CHECK_DONE();
}

static void test_landing_3d(void **state)
{
  (void)state;
  land((fall){.dim = 3, .young = 3e3, .speed = 1, .time = 1}, 0.01);
  land((fall){.dim = 3, .young = 1e5, .speed = 2, .time = 0.5}, 0.001);
  CHECK_DONE();
}

/* Its own weight crushes it to a quarter of its height and less. */
static void test_crushed(void **state)
{
  (void)state;
  fall f = {.dim = 2, .order = 2, .young = 300, .speed = 3, .time = 1};
  seen s = drop(f);
  check_held(&s);
  f = (fall){.dim = 3, .order = 2, .young = 90, .speed = 1, .time = 0.2};
  s = drop(f);
  check_held(&s);
  CHECK_DONE();
  f.without = 1; /* elements turn over behind the surface */
  s = drop(f);
  check_held(&s);
  CHECK_MUST_HAVE_FAILED();
}

/* Over an edge, where it bends down. */
static void test_step(void **state)
{
  (void)state;
  seen s = drop((fall){.dim = 2, .order = 2, .young = 1e4, .speed = 1, .time = 0.3, .on_step = 1});
  check_held(&s);
  CHECK_DONE();
}

/* With corners alone, as once, middle nodes fall through the floor. */
static void test_control(void **state)
{
  (void)state;
  fall f = {.order = 2, .young = 1e3, .speed = 2, .time = 0.4, .without = 2};
  for (f.dim = 2; f.dim <= 3; f.dim++) {
    seen s = drop(f);
    CHECK_GE(s.lowest, -0.05 * SIZE);
    CHECK_MUST_HAVE_FAILED();
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_landing_2d), cmocka_unit_test(test_landing_3d),
      cmocka_unit_test(test_crushed), cmocka_unit_test(test_step), cmocka_unit_test(test_control)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
