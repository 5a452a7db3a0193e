/* What closed and open bodies enclose, wherever they are. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "geom/structured.h"
#include "math/vec.h"
#include "solid/deform.h"

static double enclosed(mn_context *ctx, const mn_simplex_mesh *mesh, mn_vec3 shift)
{
  mn_simplex_mesh moved = *mesh;
  mn_vec3 *x = calloc(mesh->nodes, sizeof *x);
  mn_deform *d;
  int body;
  for (size_t i = 0; i < mesh->nodes; i++)
    x[i] = mn_add(mesh->node[i], shift);
  moved.node = x;
  mn_deform_def def = mn_deform_def_default(mesh->dim);
  mn_springs_def springs = {.name = "b", .density = 1, .stretch = 1};
  mn_elastic_def elastic = {.name = "b", .young = 1, .poisson = 0.3, .density = 1};
  CHECK_OK(ctx, mn_deform_create(ctx, &def, &d));
  CHECK_OK(ctx, mesh->corners == mesh->dim + 1 ? mn_deform_add_elastic(d, &moved, &elastic, &body)
                                               : mn_deform_add_springs(d, &moved, &springs, &body));
  CHECK_OK(ctx, mn_deform_ready(d));
  double size = mn_deform_enclosed(d, body);
  mn_deform_destroy(&d);
  free(x);
  return size;
}

/* Elements whose middle is above `level` along the axis are left out. */
static void cut(mn_simplex_mesh *m, int axis, double level)
{
  size_t c = (size_t)m->corners, kept = 0, used = 0;
  uint32_t *name = calloc(m->nodes, sizeof *name);
  for (size_t e = 0; e < m->elements; e++) {
    double z = 0;
    for (size_t k = 0; k < c; k++)
      z += m->node[m->element[c * e + k]].v[axis] / (double)c;
    for (size_t k = 0; k < c && z < level; k++)
      m->element[c * kept + k] = m->element[c * e + k];
    kept += z < level;
  }
  m->elements = kept;
  for (size_t i = 0; i < c * kept; i++)
    name[m->element[i]] = 1;
  for (size_t i = 0; i < m->nodes; i++)
    if (name[i]) {
      m->node[used] = m->node[i];
      name[i] = (uint32_t)used++;
    }
  for (size_t i = 0; i < c * kept; i++)
    m->element[i] = name[m->element[i]];
  m->nodes = used;
  free(name);
}

static void check_size(mn_context *ctx, mn_simplex_mesh *m, double expected, double tolerance)
{
  mn_vec3 far = mn_v3(7, -5, m->dim == 3 ? 3 : 0);
  CHECK_NEAR(enclosed(ctx, m, mn_v3(0, 0, 0)), expected, tolerance);
  CHECK_NEAR(enclosed(ctx, m, far), expected, tolerance);
  mn_simplex_mesh_destroy(m);
}

static void test_enclosed(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_simplex_mesh m;
  mn_vec3 o = mn_v3(0.3, 0.2, 0.1), flat = mn_v3(0.3, 0.2, 0);
  const int cells[3] = {3, 4, 2};
  double polygon = 20 * sin(MN_PI / 20) * cos(MN_PI / 20);
  CHECK_OK(ctx, mn_mesh_circle(ctx, 2, flat, 1, 20, &m));
  check_size(ctx, &m, polygon, 1e-12);
  /* half of it, closed by its diameter; a line */
  CHECK_OK(ctx, mn_mesh_circle(ctx, 2, flat, 1, 20, &m));
  cut(&m, 1, flat.y);
  check_size(ctx, &m, polygon / 2, 1e-12);
  /* a straight wall across it adds nothing */
  CHECK_OK(ctx, mn_mesh_circle(ctx, 2, flat, 1, 20, &m));
  m.element = realloc(m.element, (m.elements + 1) * 2 * sizeof *m.element);
  m.element[2 * m.elements] = 3;
  m.element[2 * m.elements++ + 1] = 14;
  check_size(ctx, &m, polygon, 1e-12);
  CHECK_OK(ctx, mn_mesh_line(ctx, 2, flat, mn_v3(2, 1, 0), 7, &m));
  check_size(ctx, &m, 0, 1e-12);
  CHECK_OK(ctx, mn_mesh_box(ctx, 2, flat, mn_v3(2, 1, 0), cells, &m));
  check_size(ctx, &m, 2, 1e-12);
  CHECK_OK(ctx, mn_mesh_box(ctx, 3, o, mn_v3(2, 1, 3), cells, &m));
  check_size(ctx, &m, 6, 1e-12);
  /* a tube has two rims; a sheet encloses nothing */
  CHECK_OK(ctx, mn_mesh_pipe(ctx, o, mn_v3(0.3, 0.2, 2.1), 1, 20, 5, &m));
  check_size(ctx, &m, 2 * polygon, 1e-12);
  CHECK_OK(ctx, mn_mesh_sheet(ctx, o, mn_v3(1, 0, 1), mn_v3(0, 1, 0), 4, 5, &m));
  check_size(ctx, &m, 0, 1e-12);
  CHECK_OK(ctx, mn_mesh_sphere(ctx, o, 1, 12, &m));
  check_size(ctx, &m, 4 * MN_PI / 3, 0.05);
  CHECK_OK(ctx, mn_mesh_sphere(ctx, o, 1, 12, &m)); /* most of it, the rim a little ragged */
  cut(&m, 2, o.z + 0.5);
  check_size(ctx, &m, MN_PI * (2.0 / 3 + 0.5 - 0.125 / 3), 0.06);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_enclosed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
