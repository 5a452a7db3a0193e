/* Elastic bodies laid flush on floors, or nearer than the contact thickness, rest where they are.
 */
#include "solids_case.h"

#include <stdio.h>

#include "geom/structured.h"

typedef enum floor_kind { PLANE, SAME_SIZE, TABLE, FLOORS } floor_kind;
static const char *const floors[] = {"plane", "box of its size", "table"};

static const double HEIGHT = 0.1, DENSITY = 500, YOUNG = 1e6;

static mn_deform *block(mn_context *ctx, int dim, mn_scheme scheme, mn_vec3 gravity, double bottom)
{
  mn_simplex_mesh mesh;
  const int cells[3] = {4, 1, 2};
  mn_deform_def def = mn_deform_def_default(dim);
  mn_elastic_def elastic = {.name = "soft",
                            .material = MN_NEO_HOOKEAN,
                            .young = YOUNG,
                            .poisson = 0.4,
                            .density = DENSITY};
  mn_deform *d;
  int number;
  mn_vec3 lo = mn_v3(-0.2, bottom, dim == 2 ? 0 : -0.1);
  CHECK_OK(ctx, mn_mesh_box(ctx, dim, lo, mn_v3(0.4, HEIGHT, 0.2), cells, &mesh));
  def.scheme = scheme;
  def.gravity = gravity;
  CHECK_OK(ctx, mn_deform_create(ctx, &def, &d));
  CHECK_OK(ctx, mn_deform_add_elastic(d, &mesh, &elastic, &number));
  CHECK_OK(ctx, mn_deform_ready(d));
  mn_simplex_mesh_destroy(&mesh);
  return d;
}

static void lay(solids_case *c, int dim, floor_kind kind, mn_scheme scheme, mn_vec3 gravity,
                double bottom, double friction)
{
  mn_rigid_def *floor;
  case_open(c, dim);
  c->def.deform = block(c->ctx, dim, scheme, gravity, bottom);
  c->def.contact.node_friction = friction;
  if (kind == PLANE)
    floor = case_wall(c, mn_v3(0, 0, 0), mn_v3(0, 1, 0));
  else if (kind == SAME_SIZE)
    floor = case_box(c, mn_v3(0, -0.1, 0), mn_v3(0.2, 0.1, 0.1));
  else
    floor = case_box(c, mn_v3(0, -0.1, 0), mn_v3(2.2, 0.1, 0.5));
  floor->joint = MN_JOINT_FIXED;
  floor->friction = friction;
  case_start(c);
}

typedef struct seen {
  double rise, sink, gained; /* m, m, of the weight times the contact thickness */
} seen;

static seen rest(int dim, floor_kind kind, mn_scheme scheme, double bottom, double dt,
                 double thickness)
{
  static solids_case c;
  seen s = {0};
  lay(&c, dim, kind, scheme, mn_v3(0, -9.81, 0), bottom, 0.3);
  mn_deform *d = mn_solids_deform(c.solids);
  double mass = mn_deform_get(d).body[0].mass, y = mn_deform_center(d, 0).y;
  while (c.t < 0.1) {
    case_step(&c, dt);
    double up = mn_deform_center(d, 0).y - y;
    s.rise = mn_max(s.rise, up), s.sink = mn_max(s.sink, -up);
    s.gained = mn_max(s.gained, (mn_solids_energy(c.solids, -1) + mass * 9.81 * up) /
                                    (mass * 9.81 * thickness));
  }
  printf("%dD on a %-16s scheme %d from %4.1e m, dt %g: rises %.1e m, sinks %.1e, gains %.1e\n",
         dim, floors[kind], (int)scheme, bottom, dt, s.rise, s.sink, s.gained);
  case_close(&c);
  return s;
}

/* Its own weight presses it by (rho g h^2/2E)/2 < 1e-4 of its height. */
static void test_rest(void **state)
{
  (void)state;
  static const mn_scheme schemes[] = {MN_BACKWARD_EULER, MN_NEWMARK, MN_MIDPOINT};
  double thickness = mn_contact_def_default().thickness;
  for (int dim = 2; dim <= 3; dim++)
    for (int k = 0; k < FLOORS; k++)
      for (int i = 0; i < 3; i++)
        for (int far = 0; far < 2; far++) {
          double dt = (i + k + far) % 3 == 0 ? 0.001 : (i + k + far) % 3 == 1 ? 0.005 : 0.01;
          seen s = rest(dim, (floor_kind)k, schemes[i], 0.4 * far * thickness, dt, thickness);
          CHECK_LE(s.rise, 1e-3 * thickness);
          CHECK_LE(s.sink, 0.05 * thickness);
          CHECK_LE(s.gained, 1e-3);
        }
  CHECK_DONE();
}

/* Another block laid flush on the first, a little narrower or not: neither parts from the other. */
static void test_stack(void **state)
{
  (void)state;
  static solids_case c;
  static const mn_scheme schemes[] = {MN_BACKWARD_EULER, MN_NEWMARK};
  double thickness = mn_contact_def_default().thickness;
  for (int dim = 2; dim <= 3; dim++)
    for (int i = 0; i < 4; i++) {
      mn_deform_def def = mn_deform_def_default(dim);
      mn_elastic_def elastic = {.name = "soft",
                                .material = MN_NEO_HOOKEAN,
                                .young = YOUNG,
                                .poisson = 0.4,
                                .density = DENSITY};
      case_open(&c, dim);
      def.scheme = schemes[i % 2];
      def.gravity = mn_v3(0, -9.81, 0);
      CHECK_OK(c.ctx, mn_deform_create(c.ctx, &def, &c.def.deform));
      for (int k = 0; k < 2; k++) {
        mn_simplex_mesh mesh;
        const int cells[3] = {4 - (k && i > 1), 1, 2};
        double half = k && i > 1 ? 0.17 : 0.2;
        int number;
        CHECK_OK(c.ctx, mn_mesh_box(c.ctx, dim, mn_v3(-half, k * HEIGHT, dim == 2 ? 0 : -0.1),
                                    mn_v3(2 * half, HEIGHT, 0.2), cells, &mesh));
        CHECK_OK(c.ctx, mn_deform_add_elastic(c.def.deform, &mesh, &elastic, &number));
        mn_simplex_mesh_destroy(&mesh);
      }
      CHECK_OK(c.ctx, mn_deform_ready(c.def.deform));
      case_wall(&c, mn_v3(0, 0, 0), mn_v3(0, 1, 0));
      case_start(&c);
      mn_deform *d = mn_solids_deform(c.solids);
      double y = mn_deform_center(d, 1).y, rise = 0, sink = 0;
      while (c.t < 0.1) {
        case_step(&c, 0.005);
        rise = mn_max(rise, mn_deform_center(d, 1).y - y);
        sink = mn_max(sink, y - mn_deform_center(d, 1).y);
      }
      printf("%dD stack, scheme %d%s: the upper one rises %.1e m, sinks %.1e\n", dim,
             (int)schemes[i % 2], i > 1 ? ", narrower" : "", rise, sink);
      CHECK_LE(rise, 0.01 * thickness);
      /* 15/8 rho g h^2/E by their weight, a bounce doubles it, and the sides bulge */
      CHECK_LE(sink, 3 * 15.0 / 8 * DENSITY * 9.81 * HEIGHT * HEIGHT / YOUNG);
      case_close(&c);
    }
  CHECK_DONE();
}

/* On a slope of 30 degrees, after a second: with friction 0.6 it holds, with 0.3 it slides. */
static double slide(int dim, floor_kind kind, double friction, double time)
{
  static solids_case c;
  double a = MN_PI / 6;
  lay(&c, dim, kind, MN_BACKWARD_EULER, mn_v3(9.81 * sin(a), -9.81 * cos(a), 0), 0, friction);
  mn_deform *d = mn_solids_deform(c.solids);
  double x = mn_deform_center(d, 0).x;
  while (c.t < time - 1e-6)
    case_step(&c, 0.005);
  x = mn_deform_center(d, 0).x - x;
  printf("%dD on a %s, friction %g: %.5f m\n", dim, floors[kind], friction, x);
  case_close(&c);
  return x;
}

static void test_slope(void **state)
{
  (void)state;
  double a = MN_PI / 6, exact = 0.5 * 9.81 * (sin(a) - 0.3 * cos(a));
  for (int dim = 2; dim <= 3; dim++)
    for (int k = PLANE; k <= TABLE; k += TABLE) {
      CHECK_LE(fabs(slide(dim, (floor_kind)k, 0.6, 1)), 1e-3);
      CHECK_NEAR(slide(dim, (floor_kind)k, 0.3, 1) / exact, 1, 0.03);
    }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rest), cmocka_unit_test(test_stack),
                                     cmocka_unit_test(test_slope)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
