/* The default solver of the pressure LCP: policy iteration inside one multigrid CG solve.

       held cells:  p = 0, out of the system          the others:  A p = b
       control:     hold where D p < A p - b, let go elsewhere       [Lai 2021, algorithm 2, scaled]

   The control test follows every true residual of the solve, so to speak between two breaths: the
   residual falls ten times between two tests while cells change, and straight to the end when none
   did. Holding a cell costs nothing on the finest level (multigrid_held.c); coarse levels are built
   anew only when more than SHARE of the cells with a condition changed since. From p = 0 the
   problem on aggregates of 2^dim cells is solved first, recursively (lcp_fast_guess.c).
   The system comes straight from the geometry where there is no matrix.

   Plain twin: pi-mg and pi-pcg in lcp_policy.c. Tests: tests/unit/pressure/test_lcp_fast.c,
   test_lcp_oracle.c, test_lcp_half_sphere.c. Speed: docs/theory/lcp.md. */
#include "pressure/lcp_fast.h"

#include <math.h>

#include "base/memory.h"
#include "base/status.h"

enum { MOST_TESTS = 400, STALLED_AFTER = 6, LEAST_CELLS = 16 };
static const double FALL = 0.1;        /* of the residual between control tests */
static const double MOST_FALL = 1e-2;  /* the same when nothing changed, */
static const double LAST_FALL = 1e-3;  /* or so much if that is the last time */
static const double SHARE = 2e-3;      /* of the conditions: fewer changes need no new levels */
static const double GUESS_FALL = 1e-2; /* of b, on a coarser grid */

/* ---- where the system comes from ------------------------------------------------------------- */

static int bound_by_geometry(const void *self, int i, int j, int k, const double c[6], int anchored)
{
  const mn_lcp *lcp = self;
  const mn_pressure_geometry *g = &lcp->geometry;
  const mn_field *D = &lcp->matrix.diagonal;
  int at[3] = {i, j, k}, dim = D->grid->dim;
  if (!anchored) { /* then the couplings are the fractions */
    double least = 1;
    for (int side = 0; side < 2 * dim; side++)
      least = c[side] < least ? c[side] : least;
    return least < 1;
  }
  for (int side = 0; side < 2 * dim; side++) {
    int a = side / 2, high = side & 1;
    const mn_field *open = &g->open[a];
    double w = open->at[mn_index(open, i, j, k) + (high ? open->stride[a] : 0)];
    int beyond = high ? at[a] + 1 >= D->n[a] : at[a] <= 0;
    if (w < 1 || (beyond && !(g->open_sides >> side & 1)))
      return 1;
  }
  return 0;
}

static int is_marked(const mn_lcp *lcp, int i, int j, int k)
{
  return lcp->separating[mn_lcp_origin(lcp) + mn_index(&lcp->matrix.diagonal, i, j, k)];
}

static int bound_by_mark(const void *self, int i, int j, int k, const double c[6], int anchored)
{
  (void)c, (void)anchored;
  return is_marked(self, i, j, k);
}

/* The matrix's kinds; a cell with a condition is irregular, whatever its row. */
static void classify(const void *self, int j, int k, uint8_t *kind, int *lo, int *hi)
{
  const mn_lcp_fast *f = self;
  const mn_system *matrix = &f->view.system;
  matrix->classify(matrix->self, j, k, kind, lo, hi);
  for (int i = *lo; i < *hi; i++)
    if (kind[i] == MN_REGULAR && is_marked(f->lcp, i, j, k))
      kind[i] = MN_IRREGULAR;
}
static double cell(const void *self, int i, int j, int k, double c[6])
{
  const mn_system *matrix = &((const mn_lcp_fast *)self)->view.system;
  return matrix->cell(matrix->self, i, j, k, c);
}
static int coupled(const void *self, int axis, int i, int j, int k)
{
  const mn_system *matrix = &((const mn_lcp_fast *)self)->view.system;
  return matrix->coupled(matrix->self, axis, i, j, k);
}

static mn_status find_system(mn_lcp_fast *f, const mn_lcp *lcp)
{
  f->lcp = lcp;
  if (lcp->geometry_only) {
    if (!lcp->analysed) {
      if (!f->pressure)
        MN_TRY(mn_pressure_create(f->ctx, f->grid, MN_PRESSURE_MGPCG, &f->pressure));
      MN_TRY(mn_pressure_analyse(f->pressure, &lcp->geometry));
    }
    mn_pressure *analysed = lcp->analysed ? lcp->analysed : f->pressure;
    f->system = *mn_pressure_system(analysed);
    f->regions = mn_pressure_regions(analysed);
    f->system.bound = lcp->marked ? bound_by_mark : bound_by_geometry;
  } else {
    mn_stencil_view_make(&lcp->matrix, &f->view);
    f->system = f->view.system;
    f->system.self = f;
    f->system.classify = classify;
    f->system.cell = cell;
    f->system.coupled = coupled;
    f->system.bound = bound_by_mark;
    f->regions = &f->own_regions;
    MN_TRY(mn_regions_build(f->ctx, f->regions, &f->system));
  }
  f->system.bound_self = lcp;
  return MN_OK;
}

/* ---- control --------------------------------------------------------------------------------- */

/* Greatest violation of p >= 0 (times max(D, 1)) and of A p - b >= 0 at held cells, divided by the
   scale. */
static double violation(const mn_lcp_fast *f, const mn_field *p)
{
  const mn_multigrid *mg = &f->mgpcg.mg;
  double worst = 0, least = 1 / f->system.scale;
  for (int n = 0; n < mg->bounds; n++) {
    const mn_mg_fine *fine = &mg->fine[mg->bound[n].fine];
    double weight = fine->diagonal > least ? fine->diagonal : least;
    double wrong = fine->held ? fine->r : -weight * p->at[mn_lcp_fast_at(f, p, n)];
    worst = wrong > worst ? wrong : worst;
  }
  return worst;
}

/* The first control: of the cells at 0 those are held that are pushed there. Else the control test.
   Returns how many cells changed. */
static int improve(mn_lcp_fast *f, mn_mgpcg_run *run, int first)
{
  mn_multigrid *mg = &f->mgpcg.mg;
  mn_field *p = run->x;
  int changed = 0;
  for (int n = 0; n < mg->bounds; n++) {
    const mn_mg_fine *fine = &mg->fine[mg->bound[n].fine];
    double *here = &p->at[mn_lcp_fast_at(f, p, n)];
    int held = first ? fine->held && fine->r < 0 : fine->diagonal * *here < -fine->r;
    if (held == fine->held)
      continue;
    changed++;
    mn_mgpcg_hold(run, n, held);
  }
  if (changed)
    mn_mgpcg_restart(run);
  return changed;
}

/* Cells at 0 are held until their slack is known. */
static void hold_zeros(mn_lcp_fast *f, mn_field *p)
{
  for (int n = 0; n < f->mgpcg.mg.bounds; n++) {
    double *here = &p->at[mn_lcp_fast_at(f, p, n)];
    int held = *here <= 0;
    mn_multigrid_hold(&f->mgpcg.mg, n, held);
    *here = held ? 0 : *here;
  }
}

/* ---- one grid -------------------------------------------------------------------------------- */

static int is_cold(const mn_lcp_fast *f, const mn_field *p)
{
  const mn_regions *g = f->regions;
  for (int row = 0; row < g->n[1] * g->n[2]; row++) {
    const double *x = p->at + mn_index(p, 0, row % g->n[1], row / g->n[1]);
    for (int i = g->range[row][0]; i < g->range[row][1]; i++)
      if (x[i] != 0)
        return 0;
  }
  return 1;
}

static int worth_guessing(const mn_lcp_fast *f)
{
  for (int a = 0; a < f->grid->dim; a++)
    if (f->grid->n[a] < 2 * LEAST_CELLS)
      return 0;
  return f->mgpcg.mg.bounds > 0;
}

/* What a solve on one grid is asked and answers. */
typedef struct problem {
  const mn_field *b;
  mn_field *p;
  double tolerance;
  int max_iterations;
  int iterations, outer;
  double initial;
} problem;

static mn_status solve_grid(mn_lcp_fast *f, problem *t);

static mn_status guess(mn_lcp_fast *f, const problem *t)
{
  double size;
  MN_TRY(mn_lcp_fast_coarsen(f, t->b, &size));
  problem coarse = {.b = &f->coarser->b,
                    .p = &f->coarser->p,
                    .tolerance = fmax(GUESS_FALL * size, t->tolerance),
                    .max_iterations = t->max_iterations};
  MN_TRY(solve_grid(f->coarser, &coarse));
  mn_lcp_fast_interpolate(f, t->b, t->p);
  return MN_OK;
}

static mn_status iterate(mn_lcp_fast *f, problem *t, mn_mgpcg_run *run, int first)
{
  mn_multigrid *mg = &f->mgpcg.mg;
  double goal = t->tolerance / f->system.scale;
  int stale = -1, slow = 0; /* changes since the coarse levels were built; -1: there are none */
  for (int k = 0; k < MOST_TESTS && isfinite(run->norm); k++) {
    if (run->norm <= goal && violation(f, t->p) <= goal)
      break;
    int changed = improve(f, run, first && k == 0);
    if (!changed && run->norm <= goal)
      break; /* violations within rounding */
    t->outer += k == 0 || changed;
    if (run->norm <= goal)
      continue; /* perhaps nothing is left */
    stale = stale < 0 ? mg->bounds + 1 : stale + changed;
    if (stale > SHARE * mg->bounds) {
      MN_TRY(mn_multigrid_coarsen(f->ctx, mg, f->grid->exec, MN_MG_LEVELS));
      stale = 0;
    }
    if (t->iterations + run->iterations >= t->max_iterations || slow >= STALLED_AFTER)
      break;
    double before = run->norm;
    double last = goal > LAST_FALL * run->norm ? goal / run->norm : MOST_FALL;
    mn_mgpcg_advance(run, goal, changed || k == 0 ? FALL : last, t->max_iterations);
    slow = run->norm < 0.5 * before || changed ? 0 : slow + 1;
  }
  t->iterations += run->iterations;
  return MN_OK;
}

static mn_status solve_grid(mn_lcp_fast *f, problem *t)
{
  mn_mgpcg_run run = {.v = &f->mgpcg, .s = &f->system, .g = f->regions, .b = t->b, .x = t->p};
  MN_TRY(mn_mgpcg_setup_finest(f->ctx, &f->mgpcg, &f->system, f->regions));
  int nested = is_cold(f, t->p) && worth_guessing(f);
  if (nested)
    MN_TRY(guess(f, t));
  else
    hold_zeros(f, t->p);
  mn_mgpcg_start(&run);
  t->initial = fmax(run.norm, violation(f, t->p)) * f->system.scale;
  return iterate(f, t, &run, !nested);
}

mn_status mn_lcp_fast_solve(mn_lcp_solver *v, const mn_lcp_task *task)
{
  if (!v->fast) {
    MN_TRY(MN_NEW(v->ctx, "LCP solver", 1, &v->fast));
    v->fast->ctx = v->ctx;
    v->fast->grid = v->grid;
  }
  mn_lcp_fast *f = v->fast;
  MN_TRY(find_system(f, task->lcp));
  mn_region_clear_outside(f->regions, task->p);
  problem t = {.b = task->b,
               .p = task->p,
               .tolerance = task->tolerance,
               .max_iterations = task->max_iterations};
  MN_TRY(solve_grid(f, &t));
  mn_multigrid_unmark(&f->mgpcg.mg);
  task->report->solve.initial_residual = t.initial;
  task->report->solve.iterations = t.iterations;
  task->report->outer = t.outer;
  return MN_OK;
}

void mn_lcp_fast_free(struct mn_lcp_fast **fast)
{
  mn_lcp_fast *f = *fast;
  if (!f)
    return;
  mn_lcp_fast_free(&f->coarser);
  mn_mgpcg_free(&f->mgpcg);
  mn_pressure_destroy(&f->pressure);
  mn_regions_free(&f->own_regions);
  mn_field_destroy(&f->b);
  mn_field_destroy(&f->p);
  mn_buffer_free(&f->buffer);
  mn_free(f);
  *fast = NULL;
}

size_t mn_lcp_fast_bytes(const struct mn_lcp_fast *f)
{
  if (!f)
    return 0;
  size_t bytes = sizeof *f + mn_mgpcg_bytes(&f->mgpcg) + mn_lcp_fast_bytes(f->coarser);
  bytes += (f->b.size + f->p.size) * sizeof(double) + f->buffer.bytes;
  bytes += f->pressure ? mn_pressure_bytes(f->pressure) : 0;
  for (size_t i = 0; i < sizeof f->own_regions.buffer / sizeof *f->own_regions.buffer; i++)
    bytes += f->own_regions.buffer[i].bytes;
  return bytes;
}
