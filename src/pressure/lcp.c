/* The pressure LCP: assembly, the door to its solvers, and the measurement of what they return.

       0 <= p  perp  A p - b >= 0  on cells that touch a solid,   A p = b  elsewhere

   [Lai 2021, eq. 4.15, b with the other sign]. A as in pressure.c; its rows are written out here,
   since the methods change them. The measurement uses nothing the methods computed.
   Theory and measured iterations: docs/theory/lcp.md.
   Tests: tests/unit/pressure/test_lcp.c, test_lcp_oracle.c. */
#include "pressure/lcp.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "pressure/lcp_internal.h"

const char *mn_lcp_solver_name(mn_lcp_solver_kind kind)
{
  static const char *const names[MN_LCP_SOLVERS] = {
      "fast",   "fas", "pi-pcg", "pi-mg",         "pe-pcg",       "pe-mg",           "fmg",
      "newton", "pgs", "mprgp",  "fas-trilinear", "fas-constant", "fas-plain-walls", "fas-direct"};
  return kind >= 0 && kind < MN_LCP_SOLVERS ? names[kind] : "unknown";
}

/* ---- the problem --------------------------------------------------------------------------- */

mn_status mn_lcp_create(mn_context *ctx, const mn_grid *grid, mn_lcp *lcp)
{
  *lcp = (mn_lcp){0};
  MN_TRY(mn_stencil_create(ctx, grid, MN_CELL, &lcp->matrix));
  size_t size = lcp->matrix.diagonal.size;
  mn_status status = MN_NEW(ctx, "separating cells", size, &lcp->separating);
  if (status == MN_OK)
    status = MN_NEW(ctx, "air cells", size, &lcp->air);
  if (status != MN_OK)
    mn_lcp_destroy(lcp);
  return status;
}

void mn_lcp_destroy(mn_lcp *lcp)
{
  mn_stencil_destroy(&lcp->matrix);
  mn_free(lcp->separating);
  mn_free(lcp->air);
  *lcp = (mn_lcp){0};
}

size_t mn_lcp_unknowns(const mn_lcp *lcp)
{
  size_t count = 0;
  for (size_t i = 0; i < lcp->matrix.diagonal.size; i++)
    count += lcp->matrix.diagonal.data[i] > 0;
  return count;
}

static double theta_inverse(const mn_pressure_geometry *g, double liquid, double air)
{
  double t = liquid / (liquid - air);
  return 1 / (t > g->theta_min ? t : g->theta_min);
}

/* Row of cell (i, j, k) divided by 1/dx^2: the couplings to its lower neighbours; returns the
   diagonal, 0 for no unknown. */
static double row(const mn_grid *grid, const mn_pressure_geometry *g, int i, int j, int k,
                  double lower[3], int *separating)
{
  int at[3] = {i, j, k};
  const mn_field *phi = g->liquid;
  const double *here = phi ? phi->at + mn_index(phi, i, j, k) : NULL;
  double diagonal = 0;
  *separating = 0;
  for (int side = 0; side < 2 * grid->dim; side++) {
    int a = side / 2, high = side & 1;
    int beyond = high ? at[a] + 1 >= grid->n[a] : at[a] <= 0;
    const mn_field *open = &g->open[a];
    double w = open->at[mn_index(open, i, j, k) + (high ? open->stride[a] : 0)];
    if (beyond && !(g->open_sides >> side & 1))
      w = 0;
    *separating |= w < 1;
    double other = phi && !beyond ? here[high ? phi->stride[a] : -phi->stride[a]] : -1;
    double c = w > 0 ? w : 0;
    if (!high)
      lower[a] = beyond || other >= 0 ? 0 : c;
    if (beyond)
      c *= 2;
    else if (other >= 0)
      c *= theta_inverse(g, *here, other);
    diagonal += c;
  }
  return g->anchor ? diagonal + mn_get(g->anchor, i, j, k) : diagonal;
}

/* Sum of the open fractions of each cell of a row. */
static void openings(const mn_grid *grid, const mn_pressure_geometry *g, int j, int k, double *sum)
{
  for (int a = 0; a < grid->dim; a++) {
    const double *low = g->open[a].at + mn_index(&g->open[a], 0, j, k);
    const double *high = low + g->open[a].stride[a];
    for (int i = 0; i < grid->n[0]; i++)
      sum[i] = (a ? sum[i] : 0) + (low[i] + high[i]);
  }
}

static void assemble_row(mn_lcp *lcp, const mn_pressure_geometry *g, int j, int k)
{
  const mn_field *D = &lcp->matrix.diagonal;
  const mn_grid *grid = D->grid;
  int64_t first = mn_index(D, 0, j, k), origin = mn_lcp_origin(lcp) + first;
  double scale = 1 / (grid->dx * grid->dx), *d = D->at + first, *off[3];
  const double *phi = g->liquid ? g->liquid->at + mn_index(g->liquid, 0, j, k) : NULL;
  for (int a = 0; a < grid->dim; a++)
    off[a] = lcp->matrix.off[a].at + first;
  openings(grid, g, j, k, d);
  for (int i = 0; i < grid->n[0]; i++) {
    int open = d[i] > 0, liquid = !phi || phi[i] < 0, separating = 0;
    double lower[3] = {0};
    d[i] = open && liquid ? scale * row(grid, g, i, j, k, lower, &separating) : 0;
    lcp->air[origin + i] = open && !liquid;
    lcp->separating[origin + i] = d[i] > 0 && separating;
    for (int a = 0; a < grid->dim; a++)
      off[a][i] = d[i] > 0 ? lower[a] * scale : 0;
  }
}

mn_status mn_lcp_assemble(mn_context *ctx, const mn_pressure_geometry *geometry, mn_lcp *lcp)
{
  (void)ctx;
  const mn_field *D = &lcp->matrix.diagonal;
  lcp->geometry = *geometry;
  lcp->has_geometry = 1;
  lcp->geometry_only = 0;
#pragma omp parallel for schedule(static) num_threads(D->grid->exec->threads)
  for (int s = 0; s < mn_slabs(D); s++) {
    int k, j0, j1;
    mn_slab(D, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      assemble_row(lcp, geometry, j, k);
  }
  return MN_OK;
}

void mn_lcp_set_geometry(const mn_pressure_geometry *geometry, mn_lcp *lcp)
{
  lcp->geometry = *geometry;
  lcp->has_geometry = lcp->geometry_only = 1;
  lcp->marked = 0;
  lcp->analysed = NULL;
}

/* ---- the solvers --------------------------------------------------------------------------- */

static int is_policy(mn_lcp_solver_kind kind)
{
  return kind == MN_LCP_PI_PCG || kind == MN_LCP_PI_MG;
}

static int is_penalty(mn_lcp_solver_kind kind)
{
  return kind == MN_LCP_PE_PCG || kind == MN_LCP_PE_MG;
}

mn_status mn_lcp_solver_create(mn_context *ctx, const mn_grid *grid, mn_lcp_solver_kind kind,
                               mn_lcp_solver **solver)
{
  mn_lcp_solver *v;
  *solver = NULL;
  MN_TRY(MN_NEW(ctx, "LCP solver", 1, &v));
  v->ctx = ctx;
  v->grid = grid;
  v->kind = kind;
  if (kind == MN_LCP_FAST) {
    *solver = v;
    return MN_OK;
  }
  mn_status status = mn_field_create(ctx, grid, MN_CELL, "LCP residual", &v->r);
  if (status == MN_OK && (is_policy(kind) || is_penalty(kind))) {
    int pcg = kind == MN_LCP_PI_PCG || kind == MN_LCP_PE_PCG;
    status = MN_NEW(ctx, "active cells", v->r.size, &v->active);
    if (status == MN_OK && is_policy(kind))
      status = mn_field_create(ctx, grid, MN_CELL, "policy iterate", &v->before);
    if (status == MN_OK)
      status = mn_field_create(ctx, grid, MN_CELL, "LCP diagonal", &v->system.diagonal);
    if (status == MN_OK)
      status = mn_stencil_solver_create(ctx, grid, MN_CELL,
                                        pcg ? MN_PRESSURE_PCG : MN_PRESSURE_MGPCG, &v->linear);
  }
  if (status != MN_OK)
    mn_lcp_solver_destroy(&v);
  *solver = v;
  return status;
}

void mn_lcp_solver_destroy(mn_lcp_solver **solver)
{
  mn_lcp_solver *v = *solver;
  if (!v)
    return;
  mn_lcp_levels_free(&v->levels);
  mn_lcp_fast_free(&v->fast);
  mn_flat_free(&v->flat);
  mn_stencil_solver_destroy(&v->linear);
  mn_field_destroy(&v->system.diagonal);
  mn_lcp_passes_free(&v->passes);
  mn_buffer_free(&v->measured);
  mn_free(v->active);
  mn_field_destroy(&v->before);
  mn_field_destroy(&v->r);
  mn_free(v);
  *solver = NULL;
}

size_t mn_lcp_solver_bytes(const mn_lcp_solver *v)
{
  size_t bytes = sizeof *v + v->r.size * sizeof(double) + mn_lcp_levels_bytes(v->levels) +
                 mn_lcp_fast_bytes(v->fast) + v->measured.bytes;
  if (v->linear) /* its own matrix and marks; the linear solver does not tell */
    bytes += v->r.size * (sizeof(double) + 1);
  for (size_t i = 0; i < sizeof v->flat.buffer / sizeof *v->flat.buffer; i++)
    bytes += v->flat.buffer[i].bytes;
  for (size_t i = 0; i < sizeof v->flat.A.buffer / sizeof *v->flat.A.buffer; i++)
    bytes += v->flat.A.buffer[i].bytes;
  return bytes;
}

static mn_lcp_method *method_of(mn_lcp_solver_kind kind)
{
  switch (kind) {
  case MN_LCP_FAST:
    return mn_lcp_fast_solve;
  case MN_LCP_PI_PCG:
  case MN_LCP_PI_MG:
    return mn_lcp_policy;
  case MN_LCP_PE_PCG:
  case MN_LCP_PE_MG:
    return mn_lcp_penalty;
  case MN_LCP_FMG:
    return mn_lcp_fmg;
  case MN_LCP_NEWTON:
    return mn_lcp_newton;
  case MN_LCP_PGS:
    return mn_lcp_pgs;
  case MN_LCP_MPRGP:
    return mn_lcp_mprgp;
  default:
    return mn_lcp_fas;
  }
}

mn_status mn_lcp_solve(mn_lcp_solver *v, const mn_lcp *lcp, const mn_field *b, double tolerance,
                       int max_iterations, mn_field *p, mn_lcp_report *report)
{
  *report = (mn_lcp_report){0};
  mn_lcp_task task = {lcp, b, tolerance, max_iterations, p, report};
  report->solve.reason = MN_ITERATION_LIMIT;
  if (v->kind != MN_LCP_FAST) {
    if (lcp->geometry_only)
      return mn_fail(v->ctx, MN_FAILED, "the LCP solver %s needs the matrix (mn_lcp_assemble)",
                     mn_lcp_solver_name(v->kind));
    for (size_t i = 0; i < p->size; i++)
      if (!(lcp->matrix.diagonal.data[i] > 0))
        p->data[i] = 0;
    MN_TRY(mn_lcp_passes_build(v->ctx, &v->passes, lcp));
    report->solve.initial_residual = mn_lcp_passes_residual(&v->passes, lcp, b, p, &v->r);
  }
  MN_TRY(method_of(v->kind)(v, &task));
  MN_TRY(mn_lcp_measure(v, &task));
  if (report->residual <= tolerance)
    report->solve.reason = MN_CONVERGED;
  else if (!isfinite(report->residual))
    report->solve.reason = MN_DIVERGED;
  else if (report->solve.reason == MN_CONVERGED || report->solve.iterations < max_iterations)
    report->solve.reason =
        report->residual > 10 * report->solve.initial_residual ? MN_DIVERGED : MN_STALLED;
  return MN_OK;
}
