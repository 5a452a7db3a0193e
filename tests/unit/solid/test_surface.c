/* Surface points: areas and normals of known bodies, meshes that hold together, loads that keep
   force, torque and power. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "geom/structured.h"
#include "solid/deform.h"

static const mn_vec3 ZERO = {{0, 0, 0}};

typedef struct case_ {
  mn_context *ctx;
  mn_deform *d;
  mn_surface_points points;
  mn_interface interface;
} case_;

static case_ make(int dim, int order, int thin, double spacing)
{
  case_ c = {check_context(1), NULL, {0}, {0}};
  int cells[3] = {3, 2, 2}, body;
  mn_simplex_mesh mesh, quadratic = {0}, *used = &mesh;
  mn_deform_def def = mn_deform_def_default(dim);
  CHECK_OK(c.ctx, mn_deform_create(c.ctx, &def, &c.d));
  mn_elastic_def elastic = {.young = 1, .poisson = 0.3, .density = 1};
  mn_springs_def springs = {.density = 1, .stretch = 1};
  if (thin && dim == 2)
    CHECK_OK(c.ctx, mn_mesh_circle(c.ctx, 2, mn_v3(1, 1, 0), 0.5, 40, &mesh));
  else if (thin)
    CHECK_OK(c.ctx, mn_mesh_sheet(c.ctx, ZERO, mn_v3(1, 0, 0), mn_v3(0, 2, 0), 2, 3, &mesh));
  else
    CHECK_OK(c.ctx, mn_mesh_box(c.ctx, dim, ZERO, mn_v3(1, 2, 0.5), cells, &mesh));
  if (order == 2) {
    CHECK_OK(c.ctx, mn_simplex_mesh_quadratic(c.ctx, &mesh, &quadratic));
    used = &quadratic;
  }
  if (thin)
    CHECK_OK(c.ctx, mn_deform_add_springs(c.d, used, &springs, &body));
  else
    CHECK_OK(c.ctx, mn_deform_add_elastic(c.d, used, &elastic, &body));
  CHECK_OK(c.ctx, mn_deform_ready(c.d));
  mn_deform_view v = mn_deform_get(c.d);
  CHECK_OK(c.ctx, mn_surface_points_create(c.ctx, dim, v.facet, v.facets, v.x, v.nodes, spacing,
                                           &c.points));
  size_t n = c.points.count;
  c.interface = (mn_interface){.dim = dim,
                               .count = n + 3,
                               .X = calloc(n + 3, sizeof(mn_vec3)),
                               .V = calloc(n + 3, sizeof(mn_vec3)),
                               .N = calloc(n + 3, sizeof(mn_vec3)),
                               .area = calloc(n + 3, sizeof(double)),
                               .load = calloc(n + 3, sizeof(mn_vec3))};
  mn_simplex_mesh_destroy(&mesh);
  mn_simplex_mesh_destroy(&quadratic);
  return c;
}

static void destroy(case_ *c)
{
  mn_surface_points_destroy(&c->points);
  free(c->interface.X);
  free(c->interface.V);
  free(c->interface.N);
  free(c->interface.area);
  free(c->interface.load);
  mn_deform_destroy(&c->d);
  mn_context_destroy(&c->ctx);
}

/* Sum of areas, of vector areas, and the volume by the divergence theorem. */
static double measure(const case_ *c, mn_vec3 *vector, double *volume)
{
  double area = 0;
  *vector = ZERO;
  *volume = 0;
  for (size_t i = 3; i < c->interface.count; i++) {
    double a = c->interface.area[i];
    area += a;
    *vector = mn_madd(*vector, a, c->interface.N[i]);
    *volume += a * mn_dot(c->interface.X[i], c->interface.N[i]) / c->interface.dim;
  }
  return area;
}

static double edge(const case_ *c, size_t e, size_t i, size_t j)
{
  const uint32_t *p = c->points.element + (size_t)c->points.dim * e;
  return mn_length(mn_sub(c->interface.X[3 + p[i]], c->interface.X[3 + p[j]]));
}

/* Sum of the elements' areas. */
static double faces(const case_ *c)
{
  double sum = 0;
  for (size_t e = 0; e < c->points.elements; e++) {
    const uint32_t *p = c->points.element + (size_t)c->points.dim * e;
    const mn_vec3 *x = c->interface.X + 3;
    sum += c->points.dim == 2
               ? edge(c, e, 0, 1)
               : 0.5 * mn_length(mn_cross(mn_sub(x[p[1]], x[p[0]]), mn_sub(x[p[2]], x[p[0]])));
  }
  return sum;
}

static double longest(const case_ *c)
{
  double most = 0;
  for (size_t e = 0; e < c->points.elements; e++)
    for (size_t k = 0; k < (size_t)c->points.dim; k++)
      most = fmax(most, edge(c, e, k, (k + 1) % (size_t)c->points.dim));
  return most;
}

static void test_measures(void **state)
{
  (void)state;
  static const double AREA[2] = {6, 7}; /* 1 x 2 and 1 x 2 x 0.5 */
  mn_vec3 vector;
  double volume;
  for (int dim = 2; dim <= 3; dim++)
    for (int order = 1; order <= 2; order++) {
      case_ c = make(dim, order, 0, 0.21);
      mn_deform_view v = mn_deform_get(c.d);
      mn_surface_gather(&c.points, v.x, v.v, &c.interface, 3);
      CHECK_NEAR(faces(&c), AREA[dim - 2], 1e-12);
      CHECK_LE(measure(&c, &vector, &volume), AREA[dim - 2]); /* less by the edges */
      CHECK_LE(mn_length(vector), 1e-12);
      CHECK_NEAR(volume, dim == 2 ? 2 : 1, 1e-12); /* positive: normals are outward */
      CHECK_NEAR(mn_deform_enclosed(c.d, 0), dim == 2 ? 2 : 1, 1e-12);
      CHECK(c.points.point[0].two_sided == 0);
      CHECK_LE(longest(&c), dim == 2 ? 0.21 : 1.5 * 0.21);
      /* Euler: one loop, one sphere; so every point is shared */
      CHECK(dim == 2 ? c.points.elements == c.points.count
                     : c.points.elements == 2 * c.points.count - 4);
      destroy(&c);
    }
  case_ c = make(2, 1, 1, 0.03);
  mn_deform_view v = mn_deform_get(c.d);
  mn_surface_gather(&c.points, v.x, v.v, &c.interface, 3);
  CHECK_NEAR(faces(&c), 40 * 2 * 0.5 * sin(MN_PI / 40), 1e-12);
  CHECK(measure(&c, &vector, &volume) > 0);
  CHECK_LE(mn_length(vector), 1e-12);
  CHECK_NEAR(mn_deform_enclosed(c.d, 0), 20 * 0.25 * sin(MN_PI / 20), 1e-12);
  CHECK(c.points.point[0].two_sided == 1);
  destroy(&c);
  CHECK_DONE();
}

static void test_conservation(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int kind = 0; kind < 3; kind++) {
      case_ c = make(dim, kind == 1 ? 2 : 1, kind == 2, 0.2);
      mn_deform_view v = mn_deform_get(c.d);
      mn_vec3 *force = calloc(v.nodes, sizeof *force), F = ZERO, T = ZERO, F1 = ZERO, T1 = ZERO;
      double power = 0, power1 = 0;
      uint64_t seed = 4;
      for (size_t i = 0; i < v.nodes; i++)
        for (int k = 0; k < dim; k++) { /* a deformed body in motion */
          v.x[i].v[k] += 0.05 * (check_random(&seed) - 0.5);
          v.v[i].v[k] = check_random(&seed) - 0.5;
        }
      mn_surface_gather(&c.points, v.x, v.v, &c.interface, 3);
      for (size_t i = 3; i < c.interface.count; i++) {
        for (int k = 0; k < dim; k++)
          c.interface.load[i].v[k] = check_random(&seed) - 0.5;
        F = mn_add(F, c.interface.load[i]);
        T = mn_add(T, mn_cross(c.interface.X[i], c.interface.load[i]));
        power += mn_dot(c.interface.V[i], c.interface.load[i]);
      }
      mn_surface_scatter(&c.points, &c.interface, 3, force);
      for (size_t i = 0; i < v.nodes; i++) {
        F1 = mn_add(F1, force[i]);
        T1 = mn_add(T1, mn_cross(v.x[i], force[i]));
        power1 += mn_dot(v.v[i], force[i]);
      }
      CHECK_LE(mn_length(mn_sub(F, F1)), 1e-12);
      CHECK_LE(mn_length(mn_sub(T, T1)), 1e-12);
      CHECK_NEAR(power1, power, 1e-12);
      if (kind == 0 && dim == 2) { /* control: loads put on the nearest corner turn the body */
        mn_vec3 wrong = ZERO;
        for (size_t i = 3; i < c.interface.count; i++)
          wrong = mn_add(wrong, mn_cross(v.x[c.points.point[i - 3].node[0]], c.interface.load[i]));
        CHECK_GE(mn_length(mn_sub(T, wrong)), 1e-3);
      }
      free(force);
      destroy(&c);
    }
  CHECK_DONE();
}

/* Every node of the surface is a point, of weight 1; a rod in space has none. */
static void test_nodes(void **state)
{
  (void)state;
  for (int order = 1; order <= 2; order++) {
    case_ c = make(3, order, 0, 10);
    mn_deform_view v = mn_deform_get(c.d);
    size_t on = 0;
    for (size_t i = 0; i < c.points.count; i++)
      for (int a = 0; a < c.points.point[i].nodes; a++)
        on += c.points.point[i].weight[a] == 1;
    CHECK(on == c.points.count);
    /* 3 x 2 x 2 cells have 36 - 2 nodes on the surface, of order 2 as 6 x 4 x 4 */
    CHECK(c.points.count == (order == 1 ? 34 : 7 * 5 * 5 - 5 * 3 * 3));
    CHECK(c.points.elements == v.facets * (order == 1 ? 1 : 4));
    destroy(&c);
  }
  mn_context *ctx = check_context(1);
  mn_deform_def def = mn_deform_def_default(3);
  mn_rod_def rod = {.stretch = 1, .density = 1};
  mn_simplex_mesh mesh;
  mn_surface_points points;
  mn_deform *d;
  int body;
  CHECK_OK(ctx, mn_deform_create(ctx, &def, &d));
  CHECK_OK(ctx, mn_mesh_line(ctx, 3, ZERO, mn_v3(1, 0, 0), 4, &mesh));
  CHECK_OK(ctx, mn_deform_add_rod(d, &mesh, &rod, &body));
  CHECK_OK(ctx, mn_deform_ready(d));
  mn_deform_view v = mn_deform_get(d);
  CHECK_OK(ctx, mn_surface_points_create(ctx, 3, v.facet, v.facets, v.x, v.nodes, 0.1, &points));
  CHECK(points.count == 0 && points.elements == 0);
  mn_surface_points_destroy(&points);
  mn_simplex_mesh_destroy(&mesh);
  mn_deform_destroy(&d);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_measures),
      cmocka_unit_test(test_nodes),
      cmocka_unit_test(test_conservation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
