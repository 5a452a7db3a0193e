/* One Newton step of a bent bar, taken apart and timed. */
#include "meniscus/solid_problem.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/timer.h"
#include "geom/structured.h"
#include "solid/deform_internal.h"

/* A bar of 4 n x n x n cells of 6 tetrahedra, held at one end and bent by half a radian. */
static mn_status make_bar(mn_context *ctx, int64_t elements, mn_deform **d)
{
  int n = (int)(cbrt((double)elements / 24) + 0.5), body;
  n = n < 1 ? 1 : n;
  int cells[3] = {(int)((double)elements / (6.0 * n * n) + 0.5), n, n};
  mn_vec3 size = mn_v3(cells[0] / (double)n, 1, 1);
  mn_simplex_mesh mesh;
  mn_deform_def def = mn_deform_def_default(3);
  mn_elastic_def elastic = {.name = "bar", .young = 1e5, .poisson = 0.4, .density = 1000};
  def.gravity.y = -9.81;
  MN_TRY(mn_mesh_box(ctx, 3, mn_v3(0, 0, 0), size, cells, &mesh));
  mn_status status = mn_deform_create(ctx, &def, d);
  if (status == MN_OK)
    status = mn_deform_add_elastic(*d, &mesh, &elastic, &body);
  for (size_t i = 0; status == MN_OK && i < mesh.nodes; i++) {
    mn_vec3 *x = mn_deform_get(*d).x + i;
    double angle = 0.5 * x->x / size.x, radius = size.x / 0.5;
    if (x->x == 0)
      mn_deform_fix(*d, (uint32_t)i, MN_FIX_ALL);
    *x = mn_v3((radius - x->y) * sin(angle), radius - (radius - x->y) * cos(angle), x->z);
  }
  mn_simplex_mesh_destroy(&mesh);
  return status == MN_OK ? mn_deform_ready(*d) : status;
}

static double best(double old, double now, int first)
{
  return first ? now : mn_min(old, now);
}

/* Gradient, then the matrix with projected Hessians, its factor, one solve. */
static mn_status newton_step(mn_deform *d, int first, mn_newton_result *r)
{
  mn_deform_report report = {0};
  mn_inverted bad;
  double energy, start = mn_seconds();
  if (!mn_assembly_energy(&d->assembly, d->x, -1, &energy, d->gradient, &bad))
    return mn_deform_fail_inverted(d, &bad, "in the bar");
  double gradient = mn_seconds() - start;
  MN_TRY(mn_deform_factorise(d, d->y, 1, &report));
  start = mn_seconds();
  MN_TRY(mn_sparse_solve(d->factor, 1, d->gradient, d->step));
  r->solve_s = best(r->solve_s, mn_seconds() - start, first);
  r->assembly_s = best(r->assembly_s, gradient + report.assembly_s, first);
  r->factor_s = best(r->factor_s, report.factor_s, first);
  return MN_OK;
}

static mn_status measure(mn_deform *d, int repeat, mn_newton_result *r)
{
  mn_factor_report factor;
  double start = mn_seconds();
  MN_TRY(mn_sparse_analyse(d->factor, &d->assembly.pattern));
  r->analyse_s = mn_seconds() - start;
  MN_TRY(mn_deform_begin(d, 0, 1.0 / 60));
  for (int k = 0; k < repeat; k++)
    MN_TRY(newton_step(d, k == 0, r));
  MN_TRY(mn_sparse_factorise(d->factor, &d->constrained, &factor));
  r->nodes = (int64_t)d->nodes;
  r->elements = (int64_t)d->group[0].count;
  r->unknowns = d->assembly.pattern.rows;
  r->matrix_entries = mn_csr_entries(&d->assembly.pattern);
  r->factor_entries = factor.entries;
  return MN_OK;
}

mn_status mn_newton_problem(mn_context *ctx, int64_t elements, int repeat, mn_newton_result *result)
{
  mn_deform *d = NULL;
  *result = (mn_newton_result){0};
  if (elements < 24 || elements > 20000000 || repeat < 1)
    return mn_fail(ctx, MN_BAD_INPUT, "a bar of %lld tetrahedra, %d times: from 24 to 20000000",
                   (long long)elements, repeat);
  mn_status status = make_bar(ctx, elements, &d);
  if (status == MN_OK)
    status = measure(d, repeat, result);
  mn_deform_destroy(&d);
  return status;
}
