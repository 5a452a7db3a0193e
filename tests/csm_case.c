#include "csm_case.h"

#include <math.h>

#include "check.h"
#include "geom/structured.h"

mn_deform *csm_make(mn_context *ctx, const csm_def *c, uint32_t *tip)
{
  int cells[3] = {c->nx, c->ny, 1}, body;
  mn_vec3 low = {{0, -0.01, 0}}, size = {{1, 0.02, 0}};
  mn_simplex_mesh mesh, quadratic = {0}, *used = &mesh;
  mn_deform_def def = mn_deform_def_default(2);
  mn_deform *d;
  CHECK_OK(ctx, mn_mesh_box(ctx, 2, low, size, cells, &mesh));
  if (c->order == 2) {
    CHECK_OK(ctx, mn_simplex_mesh_quadratic(ctx, &mesh, &quadratic));
    used = &quadratic;
  }
  for (size_t i = 0; i < used->nodes; i++) { /* middles too: the root is curved */
    mn_vec3 *x = &used->node[i];
    double root = c->straight ? 0.25 : 0.2 + sqrt(0.05 * 0.05 - x->y * x->y);
    x->x = root + (0.6 - root) * x->x;
    x->y += 0.2;
  }
  mn_elastic_def bar = {.name = "bar",
                        .material = c->material,
                        .young = 2 * c->mu * 1.4,
                        .poisson = 0.4,
                        .density = 1000};
  def.gravity.y = -2;
  def.scheme = c->scheme;
  CHECK_OK(ctx, mn_deform_create(ctx, &def, &d));
  CHECK_OK(ctx, mn_deform_add_elastic(d, used, &bar, &body));
  for (size_t i = 0; i < used->nodes; i++) {
    mn_vec3 x = used->node[i];
    double root = c->straight ? 0.25 : 0.2 + sqrt(0.05 * 0.05 - (x.y - 0.2) * (x.y - 0.2));
    if (fabs(x.x - root) < 1e-9)
      mn_deform_fix(d, (uint32_t)i, MN_FIX_ALL);
    if (fabs(x.x - 0.6) < 1e-9 && fabs(x.y - 0.2) < 1e-9)
      *tip = (uint32_t)i;
  }
  CHECK_OK(ctx, mn_deform_ready(d));
  mn_simplex_mesh_destroy(&mesh);
  mn_simplex_mesh_destroy(&quadratic);
  return d;
}
