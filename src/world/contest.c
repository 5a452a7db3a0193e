/* Solvers side by side on the pressure equations of a simulation (meniscus/contest.h).
   Verified by tests/verify/test_lai.c. */
#include "meniscus/contest.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/timer.h"
#include "world/world.h"

typedef struct entrant {
  mn_contestant *about;
  int linear, multigrid;
  mn_lcp_solver_kind kind;
  mn_lcp_solver *lcp; /* made when it first takes part */
  mn_stencil_solver *stencil;
  mn_pressure *pressure;
} entrant;

/* On grids with more cells than this solvers are dropped after each equation: they keep nothing
   that the next one needs, and all together take far more memory than the simulation. */
static const double LARGE = 5e6;

struct mn_contest {
  mn_context *ctx;
  mn_world *world;
  entrant *entrants;
  int count;
  int64_t equations; /* seen */
  mn_lcp own;        /* with its matrix, if the simulation has none */
  mn_field p, b;     /* copies that solvers may write to */
};

/* ---- creation -------------------------------------------------------------------------------- */

static mn_status find_kind(mn_context *ctx, const char *name, entrant *e)
{
  e->multigrid = !strcmp(name, "mgpcg");
  e->linear = e->multigrid || !strcmp(name, "mic-pcg");
  for (int k = 0; k < MN_LCP_SOLVERS && !e->linear; k++)
    if (!strcmp(name, mn_lcp_solver_name((mn_lcp_solver_kind)k))) {
      e->kind = (mn_lcp_solver_kind)k;
      return MN_OK;
    }
  return e->linear ? MN_OK : mn_fail(ctx, MN_BAD_INPUT, "there is no pressure solver \"%s\"", name);
}

static mn_status see(void *user, const mn_mac_equation *e);

mn_status mn_contest_create(mn_context *ctx, mn_world *world, mn_contestant *contestants, int count,
                            mn_contest **contest)
{
  mn_contest *c;
  *contest = NULL;
  MN_TRY(MN_NEW(ctx, "a contest", 1, &c));
  c->ctx = ctx;
  c->world = world;
  c->count = count;
  mn_status status = MN_NEW(ctx, "contestants", (size_t)count, &c->entrants);
  for (int i = 0; i < count && status == MN_OK; i++) {
    c->entrants[i].about = &contestants[i];
    status = find_kind(ctx, contestants[i].solver, &c->entrants[i]);
    if (status == MN_OK && !c->entrants[i].linear && world->def->fluid.walls != MN_WALLS_SEPARATING)
      status = mn_fail(ctx, MN_BAD_INPUT,
                       "%s solves the pressure of separating walls, and those of the scene stick",
                       contestants[i].solver);
  }
  if (status != MN_OK) {
    mn_contest_destroy(&c);
    return status;
  }
  mn_mac_watch(&world->fluid, (mn_mac_watcher){see, c});
  *contest = c;
  return MN_OK;
}

static void drop(entrant *n)
{
  mn_lcp_solver_destroy(&n->lcp);
  mn_stencil_solver_destroy(&n->stencil);
  mn_pressure_destroy(&n->pressure);
}

void mn_contest_destroy(mn_contest **contest)
{
  mn_contest *c = *contest;
  if (!c)
    return;
  mn_mac_watch(&c->world->fluid, (mn_mac_watcher){0});
  for (int i = 0; i < c->count && c->entrants; i++)
    drop(&c->entrants[i]);
  mn_field_destroy(&c->p);
  mn_field_destroy(&c->b);
  mn_lcp_destroy(&c->own);
  mn_free(c->entrants);
  mn_free(c);
  *contest = NULL;
}

/* ---- one equation ---------------------------------------------------------------------------- */

static mn_status solve_linear(mn_contest *c, entrant *n, const mn_mac_equation *e,
                              const mn_lcp *lcp, double *seconds, mn_lcp_report *report)
{
  mn_solve_report *out = &report->solve;
  if (!n->stencil)
    MN_TRY(mn_stencil_solver_create(c->ctx, e->grid, MN_CELL, MN_PRESSURE_PCG, &n->stencil));
  double start = mn_seconds();
  MN_TRY(mn_stencil_setup(n->stencil, &lcp->matrix));
  MN_TRY(mn_stencil_solve(n->stencil, &c->b, e->tolerance, n->about->max_iterations, &c->p, out));
  *seconds = mn_seconds() - start;
  report->outer = 1;
  report->residual = out->residual;
  return MN_OK;
}

static mn_status solve_multigrid(mn_contest *c, entrant *n, const mn_mac_equation *e,
                                 double *seconds, mn_lcp_report *report)
{
  if (!n->pressure)
    MN_TRY(mn_pressure_create(c->ctx, e->grid, MN_PRESSURE_MGPCG, &n->pressure));
  double start = mn_seconds();
  MN_TRY(mn_pressure_assemble(n->pressure, e->geometry));
  MN_TRY(mn_pressure_solve(n->pressure, &c->b, e->tolerance, INFINITY, n->about->max_iterations,
                           &c->p, &report->solve));
  *seconds = mn_seconds() - start;
  report->outer = 1;
  report->residual = report->solve.residual;
  return MN_OK;
}

static mn_status solve_lcp(mn_contest *c, entrant *n, const mn_mac_equation *e, const mn_lcp *lcp,
                           double *seconds, mn_lcp_report *report)
{
  if (!n->lcp)
    MN_TRY(mn_lcp_solver_create(c->ctx, e->grid, n->kind, &n->lcp));
  double start = mn_seconds();
  MN_TRY(mn_lcp_solve(n->lcp, lcp, &c->b, e->tolerance, n->about->max_iterations, &c->p, report));
  *seconds = mn_seconds() - start;
  return MN_OK;
}

static mn_status enter(mn_contest *c, entrant *n, const mn_mac_equation *e, const mn_lcp *lcp)
{
  mn_contestant *a = n->about;
  mn_lcp_report report = {0};
  mn_field_copy(&c->p, e->start);
  mn_field_copy(&c->b, e->b);
  double seconds;
  MN_TRY(n->multigrid ? solve_multigrid(c, n, e, &seconds, &report)
         : n->linear  ? solve_linear(c, n, e, lcp, &seconds, &report)
                      : solve_lcp(c, n, e, lcp, &seconds, &report));
  if ((double)e->b->size > LARGE)
    drop(n);
  a->equations++;
  a->reason = report.solve.reason;
  a->worst = fmax(a->worst, report.residual / e->tolerance);
  if (a->reason != MN_CONVERGED)
    a->failed++;
  else {
    a->seconds += seconds;
    a->parted += report.active > 0;
    a->iterations += report.solve.iterations;
    a->outer += report.outer;
  }
  if (a->solved)
    a->solved(a->user, a);
  return MN_OK;
}

/* The equation with its matrix. */
static mn_status write_out(mn_contest *c, const mn_mac_equation *e)
{
  if (!c->own.matrix.diagonal.data)
    MN_TRY(mn_lcp_create(c->ctx, e->grid, &c->own));
  MN_TRY(mn_lcp_assemble(c->ctx, e->geometry, &c->own));
  for (size_t i = 0; e->lcp && e->lcp->marked && i < c->p.size; i++)
    c->own.separating[i] &= e->lcp->separating[i];
  return MN_OK;
}

static mn_status see(void *user, const mn_mac_equation *e)
{
  mn_contest *c = user;
  if (!c->p.data) {
    MN_TRY(mn_field_create(c->ctx, e->grid, MN_CELL, "a contestant's pressure", &c->p));
    MN_TRY(mn_field_create(c->ctx, e->grid, MN_CELL, "a contestant's equation", &c->b));
  }
  int64_t number = c->equations++;
  const mn_lcp *whole = e->lcp && !e->lcp->geometry_only ? e->lcp : NULL;
  for (int i = 0; i < c->count; i++) {
    entrant *n = &c->entrants[i];
    if (n->about->every < 1 || number % n->about->every)
      continue;
    int as_is = n->multigrid || (!n->linear && n->kind == MN_LCP_FAST); /* they need no matrix */
    if (!whole && !as_is) {
      MN_TRY(write_out(c, e));
      whole = &c->own;
    }
    mn_lcp alone = {0};
    if (as_is && e->lcp) {
      alone = *e->lcp;
      alone.analysed = NULL; /* all of the work is its own, as with the others */
    }
    MN_TRY(enter(c, n, e, as_is ? &alone : whole));
  }
  return MN_OK;
}
