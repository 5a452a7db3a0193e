/* fmg: the full multigrid of [Chentanez, Mueller 2012] for the pressure LCP, the thesis's baseline.

   Coarse matrices are discretised on averaged fractions and level sets (lcp_coarse.c). A level l
   solves for a correction with a lower bound,

       A_l e_l = b_l,   e_l >= least_l at cells with a wall below them:
       b_{l+1}     = mean over the children of the residual, 0 where the bound holds the cell
       least_{l+1} = max over the children of (least_l - e_l)

   so that what is added to p leaves it above 0; on the finest level e is p itself and least 0. Four
   projected sweeps before and after. One iteration is a full cycle: the residual on all levels,
   then from the coarsest up interpolate (trilinear), V-cycle.

   Deviations: corrections from below get the length that is best for the energy: the discretised
   coarse levels overshoot where the geometry is thin, and without it equations of the circle and
   the sphere were left unsolved. And the bounds go down to the coarsest level. With the three
   finest only, as [Lai 2021] describes the method, it fails at 128 cells a side: the levels below
   take held cells for free ones and overshoot by more than the sweeps mend, cycle after cycle.
   Restriction by the transposed trilinear weights fails there, too: a coarse cell that is nearly
   closed then gets the residual of open neighbours. Tests:
   tests/unit/pressure/test_lcp_half_sphere.c, test_lcp_large.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "pressure/lcp_levels.h"

enum { PATIENCE = 100, SWEEPS = 4, COARSEST_SWEEPS = 60 };

/* What a level's cycle works on. */
typedef struct view {
  const mn_rows *A;
  const unsigned char *bound;
  const double *least, *b; /* least NULL: 0 */
  double *x;
} view;

static view view_of(mn_lcp_solver *v, int l)
{
  mn_lcp_level *L = &v->levels->level[l];
  mn_lcp_flat *f = &v->flat;
  return l ? (view){L->A, L->bound, L->least, L->b, L->x}
           : (view){&f->A, f->bound, NULL, f->b, f->x};
}

static double floor_of(const view *w, int r)
{
  return w->least ? w->least[r] : 0;
}

static void smooth(mn_lcp_solver *v, int l, int sweeps, int backwards)
{
  view w = view_of(v, l);
  for (int s = 0; s < sweeps; s++)
    mn_rows_sweep(w.A, w.bound, w.least, w.b, 1, backwards, w.x);
}

/* r = b - A x, 0 where the bound holds the cell. */
static void residual(mn_lcp_solver *v, int l)
{
  view w = view_of(v, l);
  double *r = v->levels->level[l].r;
  mn_rows_multiply(w.A, w.x, r);
#pragma omp parallel for schedule(static) num_threads(mn_rows_threads(w.A))
  for (int i = 0; i < w.A->count; i++) {
    r[i] = w.b[i] - r[i];
    if (w.bound[i] && w.x[i] <= floor_of(&w, i) && r[i] < 0)
      r[i] = 0;
  }
}

/* b of level l + 1 from r of level l, and its bounds from least - x. */
static void restrict_level(mn_lcp_solver *v, int l)
{
  const mn_lcp_level *L = &v->levels->level[l];
  mn_lcp_level *coarse = &v->levels->level[l + 1];
  view w = view_of(v, l);
  int places = (1 << L->shift) - 1;
#pragma omp parallel for schedule(static) num_threads(mn_rows_threads(w.A))
  for (int I = 0; I < coarse->A->count; I++) {
    double sum = 0, least = -HUGE_VAL;
    for (int u = L->user_start[I]; u < L->user_start[I + 1]; u++) {
      int i = L->user[u] >> L->shift;
      if (L->user[u] & places)
        continue; /* place 0 is the parent */
      sum += L->r[i];
      if (w.bound[i])
        least = fmax(least, floor_of(&w, i) - w.x[i]);
    }
    coarse->b[I] = sum / (1 << L->dim);
    coarse->bound[I] = least > -HUGE_VAL;
    coarse->least[I] = least;
  }
}

static void clear(mn_lcp_solver *v, int l)
{
  mn_lcp_level *L = &v->levels->level[l];
  memset(L->x, 0, (size_t)L->A->count * sizeof *L->x);
}

/* x += a d for the correction d from below, with the length a that is best for the energy
   x.A x/2 - b.x; cells that their bound holds stay. r is still that of x. */
static void correct(mn_lcp_solver *v, int l)
{
  const mn_lcp_level *L = &v->levels->level[l];
  view w = view_of(v, l);
  double *d = L->way, *image = L->image, along = 0, curvature = 0;
  memset(d, 0, (size_t)w.A->count * sizeof *d);
  mn_lcp_level_correct(v->levels, l, d);
  for (int i = 0; i < w.A->count; i++)
    if (w.bound[i] && w.x[i] <= floor_of(&w, i) && L->r[i] <= 0)
      d[i] = 0;
  mn_rows_multiply(w.A, d, image);
  for (int i = 0; i < w.A->count; i++) {
    along += d[i] * L->r[i];
    curvature += d[i] * image[i];
  }
  double a = curvature > 0 ? fmax(0, along / curvature) : 0;
#pragma omp parallel for schedule(static) num_threads(mn_rows_threads(w.A))
  for (int i = 0; i < w.A->count; i++) {
    w.x[i] += a * d[i];
    if (w.bound[i])
      w.x[i] = fmax(w.x[i], floor_of(&w, i));
  }
}

static void v_cycle(mn_lcp_solver *v, int l)
{
  if (l + 1 == v->levels->count) {
    for (int s = 0; s < COARSEST_SWEEPS; s++)
      smooth(v, l, 1, s & 1);
    return;
  }
  smooth(v, l, SWEEPS, 0);
  residual(v, l);
  restrict_level(v, l);
  clear(v, l + 1);
  v_cycle(v, l + 1);
  correct(v, l);
  smooth(v, l, SWEEPS, 1);
}

static void full_cycle(mn_lcp_solver *v)
{
  int last = v->levels->count - 1;
  for (int l = 0; l < last; l++) {
    residual(v, l); /* of x = 0 below level 0 */
    restrict_level(v, l);
    clear(v, l + 1);
  }
  for (int l = last; l >= 0; l--) {
    if (l < last)
      correct(v, l);
    v_cycle(v, l); /* overwrites the levels below, which are done */
  }
}

static mn_status reserve_bounds(mn_lcp_solver *v)
{
  for (int l = 0; l < v->levels->count; l++) {
    mn_lcp_level *L = &v->levels->level[l];
    size_t rows = (size_t)L->A->count;
    MN_TRY(mn_reserve(v->ctx, "level corrections", rows, sizeof *L->way, &L->buffer[16]));
    MN_TRY(mn_reserve(v->ctx, "level corrections", rows, sizeof *L->image, &L->buffer[17]));
    L->way = L->buffer[16].data;
    L->image = L->buffer[17].data;
    if (l == 0)
      continue;
    MN_TRY(mn_reserve(v->ctx, "level bounds", rows, 1, &L->buffer[14]));
    MN_TRY(mn_reserve(v->ctx, "level bounds", rows, sizeof *L->least, &L->buffer[15]));
    L->bound = L->buffer[14].data;
    L->least = L->buffer[15].data;
  }
  return MN_OK;
}

mn_status mn_lcp_fmg(mn_lcp_solver *v, const mn_lcp_task *t)
{
  mn_lcp_design design = {MN_LCP_TRILINEAR, 1, 0, SWEEPS};
  mn_solve_report *out = &t->report->solve;
  out->residual = out->initial_residual;
  if (out->residual <= t->tolerance)
    return MN_OK;
  MN_TRY(mn_lcp_flatten(v, t, 0));
  MN_TRY(mn_lcp_levels_build(v, t->lcp, design));
  MN_TRY(reserve_bounds(v));
  t->report->outer = 1;
  mn_lcp_watch watch = mn_lcp_watch_start(out->residual, PATIENCE);
  while (out->residual > t->tolerance && out->iterations < t->max_iterations &&
         !mn_lcp_watch_hopeless(&watch, out->residual)) {
    full_cycle(v);
    out->iterations++;
    out->residual = mn_flat_residual(&v->flat);
  }
  mn_lcp_unflatten(&v->flat, t->p);
  return MN_OK;
}
