/* Cloth over elastic bodies whose facets are as large as its own: it does not show what is under
   it. Overlap is measured apart from contact: points all over the cloth in elements of the body. */
#include "solids_case.h"

#include <stdio.h>

#include "geom/structured.h"
#include "solid/contact_internal.h"

static const double RADIUS = 0.15; /* of the ball */

static int in_element(const mn_vec3 *x, const uint32_t *n, mn_vec3 y)
{
  mn_vec3 a = x[n[0]], u = mn_sub(x[n[1]], a), v = mn_sub(x[n[2]], a), w = mn_sub(x[n[3]], a);
  double all = mn_dot(u, mn_cross(v, w));
  y = mn_sub(y, a);
  double p = mn_dot(y, mn_cross(v, w)) / all, q = mn_dot(u, mn_cross(y, w)) / all;
  double r = mn_dot(u, mn_cross(v, y)) / all;
  return p >= 0 && q >= 0 && r >= 0 && p + q + r <= 1;
}

/* How deep y lies in body 0; 0: outside. */
static double depth(const mn_deform_view *view, const uint32_t *element, size_t elements, mn_vec3 y)
{
  int inside = 0, near = mn_length(mn_sub(y, mn_v3(0, RADIUS, 0))) < 1.2 * RADIUS;
  for (size_t e = 0; e < elements && near && !inside; e++)
    inside = in_element(view->x, element + 4 * e, y);
  double least = HUGE_VAL, w[3];
  for (size_t f = 0; inside && f < view->body[0].facets; f++) {
    mn_vec3 p[3], at = {0};
    for (int k = 0; k < 3; k++)
      p[k] = view->x[view->facet[view->body[0].first_facet + f].node[k]];
    mn_nearest_weights(3, p, y, w);
    for (int k = 0; k < 3; k++)
      at = mn_madd(at, w[k], p[k]);
    least = mn_min(least, mn_length(mn_sub(at, y)));
  }
  return inside ? least : 0;
}

static double deepest(mn_deform *d)
{
  enum { PARTS = 4 };
  mn_deform_view view = mn_deform_get(d);
  int nodes;
  const uint32_t *element = mn_deform_element_nodes(d, 0, &nodes);
  size_t elements = mn_deform_elements(d, 0);
  double most = 0;
  for (size_t f = 0; f < view.body[1].facets; f++) {
    const uint32_t *n = view.facet[view.body[1].first_facet + f].node;
    for (int i = 0; i <= PARTS; i++)
      for (int j = 0; i + j <= PARTS; j++) {
        double u = (double)i / PARTS, v = (double)j / PARTS;
        mn_vec3 y =
            mn_madd(mn_madd(mn_scale(1 - u - v, view.x[n[0]]), u, view.x[n[1]]), v, view.x[n[2]]);
        most = mn_max(most, depth(&view, element, elements, y));
      }
  }
  return most;
}

/* The deepest overlap while the cloth falls on the ball and lies there, of the ball's radius. */
static double drape(int shell, int search)
{
  static solids_case c;
  mn_simplex_mesh mesh;
  mn_deform_def def = mn_deform_def_default(3);
  mn_deform *d;
  double r = RADIUS, deep = 0, energy = HUGE_VAL, gain = -HUGE_VAL;
  int body;
  case_open(&c, 3);
  def.scheme = MN_BACKWARD_EULER;
  def.gravity = mn_v3(0, -9.81, 0);
  CHECK_OK(c.ctx, mn_deform_create(c.ctx, &def, &d));
  CHECK_OK(c.ctx, mn_mesh_ball(c.ctx, mn_v3(0, r + 0.002, 0), r, 3, &mesh));
  mn_elastic_def ball = {
      .name = "ball", .material = MN_NEO_HOOKEAN, .young = 2e4, .poisson = 0.3, .density = 600};
  CHECK_OK(c.ctx, mn_deform_add_elastic(d, &mesh, &ball, &body));
  mn_simplex_mesh_destroy(&mesh);
  CHECK_OK(c.ctx, mn_mesh_sheet(c.ctx, mn_v3(-0.3, 0.33, -0.31), mn_v3(0.6, 0, 0), mn_v3(0, 0, 0.6),
                                10, 10, &mesh));
  mn_springs_def cloth = {.name = "cloth", .density = 0.3, .stretch = 60, .bend = 0.5};
  mn_shell_def sheet = {.name = "sheet",
                        .membrane = MN_MEMBRANE_ST_VENANT,
                        .young = 2e4,
                        .poisson = 0.3,
                        .thickness = 0.002,
                        .density = 400,
                        .bending = -1};
  CHECK_OK(c.ctx, shell ? mn_deform_add_shell(d, &mesh, &sheet, &body)
                        : mn_deform_add_springs(d, &mesh, &cloth, &body));
  mn_simplex_mesh_destroy(&mesh);
  CHECK_OK(c.ctx, mn_deform_ready(d));
  c.def.deform = d;
  c.def.contact.search = search;
  case_wall(&c, mn_v3(0, 0, 0), mn_v3(0, 1, 0));
  case_start(&c);
  for (int n = 0; n < 60; n++) {
    case_step(&c, 0.005);
    mn_deform_view view = mn_deform_get(d);
    double e = mn_deform_kinetic(d, -1) + mn_deform_elastic(d, -1);
    for (size_t i = 0; i < view.nodes; i++)
      e += 9.81 * view.mass[i] * view.x[i].y;
    gain = mn_max(gain, e - energy);
    energy = e;
    if (n % 6 == 5)
      deep = mn_max(deep, deepest(d) / r);
  }
  printf("%s over a ball, edges %d: deepest %.1e of the radius; energy gained %.1e J of %.1e J\n",
         shell ? "shell" : "cloth", search, deep, gain, energy);
  CHECK_LE(gain, 1e-4 * energy);
  case_close(&c);
  return deep;
}

static void test_drape(void **state)
{
  (void)state;
  for (int shell = 0; shell < 2; shell++)
    CHECK_LE(drape(shell, 1), 1e-3);
  CHECK_GE(drape(0, 0), 5e-3); /* the control: nodes against facets alone */
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_drape)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
