/* Walls that water can leave: the projection as a linear complementarity problem.

       0 <= p  perp  div u - target >= 0   in liquid cells that touch a solid or a closed side
       div u = target                      elsewhere,        u = u* - (dt/rho) grad p

   [Lai 2021, eq. 3.40; Batty, Bertails, Bridson 2007]. A wall pushes but does not pull: where water
   moves away, p = 0 and the flow may part from the wall; such a cell is "held" (at p = 0). The
   walls' velocities are in div u, so a lid that is lifted lets go. Faces towards an inflow do not
   count: what it blows is the same water. Solvers and matrix: pressure/lcp.h.

   Start: the pressure of the last step, whose zeros at walls are the held cells. A cell that was
   air has p = 0 as well, which says nothing: it gets the mean of its neighbours that were water.

   Regions without air. With F the flow that walls push into a region (0 in a rigid one):
     F > 0   no flow of constant volume does that: refused, as for sticking walls.
     F = 0   no cell can part; p is known up to a constant, which is chosen so that the least
             pressure at the walls is 0. One wall cell is pinned to 0 for the solve, and b made to
             sum to 0; all walls count as sticking.
     F < 0   (a lid lifted off a full tank) some cell must part; the LCP decides which.

   The velocity of a closed face beside a held cell or air is that of the water, where it moves
   away, so that particles in the last half cell come along.

   Verified by tests/verify/test_separating.c. */
#include "fluid/mac/internal.h"

#include <math.h>

#include "base/status.h"

int mn_separates(const mn_model_def *def)
{
  return def->fluid.kind == MN_FLUID_WATER && def->fluid.walls == MN_WALLS_SEPARATING;
}

double mn_separate_bytes(const mn_model_def *def, double wet)
{
  int dim = def->domain.dim;
  if (!mn_separates(def))
    return 0;
  double rows = 8 * (2 * dim + 1) + 8 * 12; /* of the solvers that write out the matrix */
  int grids = def->fluid.lcp_solver == MN_LCP_FAST || def->fluid.lcp_solver == MN_LCP_PI_MG ||
              def->fluid.lcp_solver == MN_LCP_PE_MG;
  return 8 * (1 + dim) + 3 * 8 + 5 + wet * (grids ? 8 * 6 : 3 * rows);
}

mn_status mn_separate_create(mn_mac *mac)
{
  mn_separate *s = &mac->separate;
  s->on = mn_separates(mac->def);
  if (!s->on)
    return MN_OK;
  MN_TRY(mn_field_create(mac->ctx, &mac->grid, MN_CELL, "held cells", &s->held));
  MN_TRY(mn_lcp_create(mac->ctx, &mac->grid, &s->lcp));
  return mn_lcp_solver_create(mac->ctx, &mac->grid, mac->def->fluid.lcp_solver, &s->solver);
}

void mn_separate_destroy(mn_mac *mac)
{
  mn_field_destroy(&mac->separate.held);
  mn_lcp_destroy(&mac->separate.lcp);
  mn_lcp_solver_destroy(&mac->separate.solver);
}

mn_status mn_separate_refuse(mn_mac *mac)
{
  int regions = mn_pressure_region_count(mac->pressure);
  size_t cells = 0;
  if (!regions && !mac->water.on)
    return mn_water_missing(mac);
  if (mac->def->fluid.enclosed || mac->moving || mac->def->body_count || !regions)
    return MN_OK;
  for (int r = 0; r < regions; r++) {
    if (!mn_pressure_get_region(mac->pressure, r).closed)
      return MN_OK;
    cells += mn_pressure_get_region(mac->pressure, r).cells;
  }
  mn_pressure_region one = mn_pressure_get_region(mac->pressure, 0);
  mn_vec3 x = mn_position(&mac->b, one.first[0], one.first[1], one.first[2]);
  return mn_fail(mac->ctx, MN_BAD_INPUT,
                 "fluid.initial_water: all the water (%zu cells, one at (%g, %g, %g)) is enclosed "
                 "by walls, with no air, so it has nowhere to go; make it smaller, open a side of "
                 "the domain, or, if it shall only circulate, set fluid.enclosed = true",
                 cells, x.x, x.y, x.z);
}

/* ---- the problem ----------------------------------------------------------------------------- */

/* Some face of the cell is closed, in part at least, by something else than an inflow. A face that
   was narrowed (loads.c) does not count for the full cell beside it, nor do walls of cells whose
   water has let go of a body (loose.c). */
static int touches_wall(const mn_mac *mac, int i, int j, int k)
{
  const mn_mac_geometry *g = &mac->geometry;
  if (mn_mac_is_loose(mac, i, j, k) || mn_mac_is_behind_wall(mac, i, j, k))
    return 0;
  int full = mac->bodies.narrowed && mn_get(&g->volume, i, j, k) >= 1;
  for (int a = 0; a < mac->grid.dim; a++) {
    const mn_field *w = &g->open[a];
    int64_t q = w->at - w->data + mn_index(w, i, j, k);
    for (int high = 0; high < 2; high++, q += w->stride[a])
      if (w->data[q] < 1 && g->kind[a][q] != MN_FACE_SOURCE && !(full && w->data[q] > 0))
        return 1;
  }
  return 0;
}

int mn_separate_is_open(const mn_mac *mac, int i, int j, int k)
{
  for (int a = 0; a < mac->grid.dim; a++) {
    const mn_field *w = &mac->geometry.open[a];
    int64_t q = mn_index(w, i, j, k);
    if (w->at[q] > 0 || w->at[q + w->stride[a]] > 0)
      return 1;
  }
  return 0;
}

static void leave_out_inflows(mn_mac *mac)
{
  const mn_field *b = &mac->b;
  unsigned char *mark = mac->separate.lcp.separating + (b->at - b->data);
  for (int k = 0; k < b->n[2]; k++)
    for (int j = 0; j < b->n[1]; j++)
      for (int i = 0; i < b->n[0]; i++) {
        int64_t c = mn_index(b, i, j, k);
        if (mark[c])
          mark[c] = (unsigned char)touches_wall(mac, i, j, k);
      }
}

/* The same marks without the matrix. */
void mn_separate_mark(mn_mac *mac)
{
  const mn_field *phi = &mac->liquid_next;
  unsigned char *mark = mac->separate.lcp.separating + (phi->at - phi->data);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < mn_slabs(phi); s++) {
    int k, j0, j1;
    mn_slab(phi, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < phi->n[0]; i++) {
        int64_t c = mn_index(phi, i, j, k);
        mark[c] = phi->at[c] < 0 && touches_wall(mac, i, j, k) && mn_separate_is_open(mac, i, j, k);
      }
  }
}

/* Fills the problem. The default solver takes its rows from the geometry, unless one is to be
   changed. */
mn_status mn_separate_describe(mn_mac *mac, int changes)
{
  mn_lcp *lcp = &mac->separate.lcp;
  mn_pressure_geometry geometry = mn_mac_pressure_geometry(mac);
  if (mac->def->fluid.lcp_solver != MN_LCP_FAST || changes) {
    MN_TRY(mn_lcp_assemble(mac->ctx, &geometry, lcp));
    leave_out_inflows(mac);
    return MN_OK;
  }
  mn_lcp_set_geometry(&geometry, lcp);
  mn_separate_mark(mac);
  lcp->marked = 1;
  lcp->analysed = mac->pressure;
  return MN_OK;
}

/* A cell that was no water gets the mean of the neighbours that were. */
static double mean_of_neighbours(const mn_mac *mac, int i, int j, int k)
{
  const mn_field *was = &mac->state.liquid, *old = &mac->state.p;
  int at[3] = {i, j, k}, number = 0;
  double sum = 0;
  for (int side = 0; side < 2 * mac->grid.dim; side++) {
    int a = side / 2, up = side & 1 ? 1 : -1;
    int64_t n = mn_index(old, i, j, k) + up * old->stride[a];
    if (at[a] + up < 0 || at[a] + up >= old->n[a] || !(was->at[n] < 0))
      continue;
    sum += fmax(old->at[n], 0);
    number++;
  }
  return number ? sum / number : 0;
}

static void guess_new_cells(mn_mac *mac)
{
  const mn_field *was = &mac->state.liquid;
  const unsigned char *wall = mac->separate.lcp.separating + (mac->dp.at - mac->dp.data);
  mn_field *p = &mac->dp;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < mn_slabs(p); s++) {
    int k, j0, j1;
    mn_slab(p, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < p->n[0]; i++) {
        int64_t c = mn_index(p, i, j, k);
        if (wall[c] && !(was->at[c] < 0))
          p->at[c] = mean_of_neighbours(mac, i, j, k);
      }
  }
}

/* ---- regions without air --------------------------------------------------------------------- */

typedef enum closure { HAS_AIR, FIXED, OPENS, CROWDED } closure;

static closure closure_of(const mn_mac *mac, int region, double sum_tolerance)
{
  mn_pressure_region r = mn_pressure_get_region(mac->pressure, region);
  if (!r.closed)
    return HAS_AIR;
  return r.rhs_sum > sum_tolerance ? CROWDED : r.rhs_sum < -sum_tolerance ? OPENS : FIXED;
}

/* Takes the mean off b, makes the walls sticking, and the first cell a place of p = 0. */
static void pin_region(mn_mac *mac, int region)
{
  mn_lcp *lcp = &mac->separate.lcp;
  mn_field *b = &mac->b;
  mn_pressure_region r = mn_pressure_get_region(mac->pressure, region);
  for (int k = 0; k < b->n[2]; k++)
    for (int j = 0; j < b->n[1]; j++)
      for (int i = 0; i < b->n[0]; i++) {
        if (mn_pressure_region_of(mac->pressure, i, j, k) != region)
          continue;
        int64_t c = mn_index(b, i, j, k);
        b->at[c] -= r.rhs_sum / (double)r.cells;
        lcp->separating[b->at - b->data + c] = 0;
        if (i == r.first[0] && j == r.first[1] && k == r.first[2])
          lcp->matrix.diagonal.at[c] = 0;
      }
}

/* Least pressure at the walls 0. */
static void level_region(mn_mac *mac, int region)
{
  mn_field *p = &mac->dp;
  double least = INFINITY;
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < p->n[2]; k++)
      for (int j = 0; j < p->n[1]; j++)
        for (int i = 0; i < p->n[0]; i++) {
          if (mn_pressure_region_of(mac->pressure, i, j, k) != region)
            continue;
          double *value = &p->at[mn_index(p, i, j, k)];
          if (pass == 1)
            *value -= isfinite(least) ? least : 0;
          else if (touches_wall(mac, i, j, k))
            least = fmin(least, *value);
        }
}

/* ---- solution -------------------------------------------------------------------------------- */

void mn_separate_mark_held(mn_mac *mac)
{
  const mn_lcp *lcp = &mac->separate.lcp;
  mn_field *held = &mac->separate.held;
  for (size_t c = 0; c < held->size; c++)
    held->data[c] = lcp->separating[c] && mac->dp.data[c] <= 0;
}

static void fill_report(mn_mac *mac, double dt, const mn_lcp_report *from, mn_solve_report *to)
{
  int closed = to->closed_regions;
  *to = from->solve;
  to->closed_regions = closed;
  to->residual = from->residual;
  to->outer = from->outer;
  to->held = from->active;
  to->least_p = from->least_p;
  to->least_slack = from->least_slack * dt / mac->def->fluid.density;
  to->complementarity = from->complementarity;
}

mn_status mn_separate_solve(mn_mac *mac, double dt, double tolerance, double sum_tolerance,
                            mn_solve_report *report)
{
  mn_separate *s = &mac->separate;
  int regions = mn_pressure_region_count(mac->pressure), fixed = 0;
  mn_pressure_sum_regions(mac->pressure, &mac->b);
  for (int r = 0; r < regions; r++) {
    closure kind = closure_of(mac, r, sum_tolerance);
    report->closed_regions += kind != HAS_AIR;
    fixed += kind == FIXED;
    if (kind == CROWDED) {
      report->reason = MN_INCOMPATIBLE;
      return MN_OK;
    }
  }
  MN_TRY(mn_separate_describe(mac, fixed > 0));
  for (int r = 0; r < regions && fixed; r++)
    if (closure_of(mac, r, sum_tolerance) == FIXED)
      pin_region(mac, r);
  guess_new_cells(mac);
  mn_lcp_report found;
  MN_TRY(mn_mac_show_equation(mac, &s->lcp.geometry, &s->lcp, tolerance));
  MN_TRY(mn_lcp_solve(s->solver, &s->lcp, &mac->b, tolerance,
                      mac->def->fluid.pressure_max_iterations, &mac->dp, &found));
  for (int r = 0; r < regions && fixed; r++)
    if (closure_of(mac, r, sum_tolerance) == FIXED)
      level_region(mac, r);
  mn_separate_mark_held(mac);
  fill_report(mac, dt, &found, report);
  return MN_OK;
}

/* ---- what follows from it -------------------------------------------------------------------- */

/* The water or air in cell c (index of a cell field) may move away from its walls. */
static int is_free(const mn_mac *mac, const mn_field *held, int64_t c)
{
  return held->at[c] > 0 || mac->state.liquid.at[c] >= 0;
}

void mn_separate_faces(const mn_mac *mac, const mn_field *held, int axis, mn_field *u)
{
  const mn_mac_geometry *g = &mac->geometry;
  const mn_field *w = &g->open[axis];
  for (int k = 0; k < u->n[2]; k++)
    for (int j = 0; j < u->n[1]; j++)
      for (int i = 0; i < u->n[0]; i++) {
        int64_t q = mn_index(u, i, j, k), s = u->stride[axis], c = mn_index(held, i, j, k);
        mn_face_kind kind = (mn_face_kind)g->kind[axis][u->at - u->data + q];
        if (!mn_is_side(kind) && kind != MN_FACE_NOSLIP)
          continue;
        int at[3] = {i, j, k};
        double wall = kind == MN_FACE_EDGE ? 0 : g->wall[axis].at[q];
        if (at[axis] < u->n[axis] - 1 && is_free(mac, held, c) && w->at[q + s] > 0)
          u->at[q] = fmax(wall, u->at[q + s]);
        else if (at[axis] > 0 && is_free(mac, held, c - held->stride[axis]) && w->at[q - s] > 0)
          u->at[q] = fmin(wall, u->at[q - s]);
      }
}

int mn_separate_near(const mn_field *held, int i, int j, int k, int reach)
{
  int deep = held->grid->dim == 3 ? reach : 0;
  const int *n = held->n;
  for (int kk = k > deep ? k - deep : 0; kk <= k + deep && kk < n[2]; kk++)
    for (int jj = j > reach ? j - reach : 0; jj <= j + reach && jj < n[1]; jj++)
      for (int ii = i > reach ? i - reach : 0; ii <= i + reach && ii < n[0]; ii++)
        if (mn_get(held, ii, jj, kk) > 0)
          return 1;
  return 0;
}
