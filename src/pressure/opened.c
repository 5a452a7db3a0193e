/* The multigrid cycle for the pressure system with opened faces.

       B = A + sum over faces f: o_f d_f d_f^T,   d_f^T x = x_below - x_above

   An opened face is an ordinary coupling of the two cells, or, where x is 0 on one side, a link to
   a fixed value. B is the same kind of matrix as A, on the same cells: closed faces only stand
   beside irregular ones. So the cycle is that of multigrid.h, in single precision; vectors are
   scaled by a power of 2 before, so that the cycle is linear.

   Cells that a coupling far beyond 1 binds to each other can only move together, which sweeps over
   single cells do slowly: such couplings are left at MOST_COUPLING, unless one of the two is bound
   to a fixed value as strongly, and conjugate gradients do the rest (a thin surface in 3D, 32 cells
   a side, o = 1e4 everywhere: 40 iterations, 97 without). Thin bodies with the fluid that moves
   with them have o of at most 1.

   Two visits of the first coarse level are I - (I - M A)^2, which is negative where over-correction
   goes too far (M A > 2: water around a block across its surface, 20 cells a side); then MINRES,
   and who needs B_r^T M B_r, are lost. So `apply` visits once, which is positive for any M, and
   costs half an iteration more of 15; conjugate gradients do so once they stall or have gone on for
   long.

   Links to fixed values are as strong on coarse levels as a wall that gives way is there
   (mn_mg_coarse_share): counted like faces they were too weak, and what was corrected beside a soft
   body that fills space went too far (a block of foam, 32, 64, 128 cells a side: 15, 17, 19
   iterations, now 11).
   Verified by tests/unit/fluid/test_opened.c. */
#include "pressure/opened.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

static const double MOST_COUPLING = 30, MOST_LINK = 1e12;
enum { ANCHOR_PASSES = 3 };

enum { B_CELL, B_HELD, B_PLACE, B_VALUE, B_NUMBER, B_INDEX, B_FORCE, B_ANSWER, B_SUM, B_R, B_DROP };

void mn_opened_free(mn_opened *o)
{
  mn_mgpcg_free(&o->mgpcg);
  for (size_t b = 0; b < sizeof o->buffer / sizeof *o->buffer; b++)
    mn_buffer_free(&o->buffer[b]);
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static double row(const void *self, int i, int j, int k, double c[6])
{
  const mn_opened *o = self;
  const mn_opened_cell *cell = &o->cell[mn_unknowns_entry(o->unknowns, i, j, k)];
  memcpy(c, cell->c, sizeof cell->c);
  return cell->excess;
}

static int is_held(const void *self, int i, int j, int k, const double c[6], int anchored)
{
  const mn_opened *o = self;
  (void)c, (void)anchored;
  return o->held[mn_unknowns_number(o->unknowns, i, j, k)];
}

static double between(double x, double most)
{
  return x > most ? most : x > 0 ? x : 0; /* also of what is no number */
}

/* The cells of a face; NULL where x is 0. */
static void cells_of(const mn_opened *o, size_t f, mn_opened_cell *cell[2])
{
  for (int high = 0; high < 2; high++)
    cell[high] = o->face[f].entry[high] < 0 ? NULL : &o->cell[o->face[f].entry[high]];
}

/* o_f as the cycle has it. */
static double opening(const mn_opened *o, size_t f)
{
  mn_opened_cell *cell[2];
  cells_of(o, f, cell);
  double most = MOST_LINK;
  if (cell[0] && cell[1])
    most = fmax(MOST_COUPLING, fmax(cell[0]->anchor, cell[1]->anchor));
  return between(o->coefficient[f], most);
}

/* Finds the anchors: of the cells that have one by themselves, then of their neighbours. */
static void find_anchors(mn_opened *o)
{
  for (int pass = 0; pass <= ANCHOR_PASSES; pass++)
    for (size_t f = 0; f < o->faces; f++) {
      mn_opened_cell *cell[2];
      cells_of(o, f, cell);
      double open = between(o->coefficient[f], MOST_LINK);
      if (pass == 0 && !cell[0] != !cell[1])
        (cell[0] ? cell[0] : cell[1])->anchor += open;
      for (int high = 0; high < 2 && pass && cell[0] && cell[1]; high++)
        cell[high]->anchor = fmax(cell[high]->anchor, fmin(open, cell[!high]->anchor));
    }
}

static void open_faces(mn_opened *o)
{
  const mn_unknowns *u = o->unknowns;
  int64_t entries = u->first_cell[u->regions->n[1] * u->regions->n[2]];
#pragma omp parallel for schedule(static) num_threads(u->exec->threads)
  for (int64_t e = 0; e < entries; e++) {
    memcpy(o->cell[e].c, u->cell[e].c, sizeof u->cell[e].c);
    o->cell[e].excess = u->cell[e].excess;
    o->cell[e].anchor = o->cell[e].excess;
    o->cell[e].beside = -1;
  }
  find_anchors(o);
  o->links = 0;
  for (size_t f = 0; f < o->faces; f++) {
    mn_opened_cell *cell[2];
    cells_of(o, f, cell);
    double open = opening(o, f);
    if (cell[0] && cell[1]) {
      cell[0]->c[2 * o->face[f].axis + 1] += open;
      cell[1]->c[2 * o->face[f].axis] += open;
    } else if (cell[0] || cell[1]) {
      (cell[0] ? cell[0] : cell[1])->excess += open;
      o->links |= open > 0;
    }
  }
}

static mn_status hold(mn_context *ctx, mn_opened *o)
{
  mn_multigrid *mg = &o->mgpcg.mg;
  MN_TRY(mn_reserve(ctx, "held cells", (size_t)mg->bounds, sizeof(int32_t), &o->buffer[B_HELD]));
  o->held_number = o->buffer[B_HELD].data;
  for (int n = 0; n < mg->bounds; n++) {
    const mn_mg_bound *b = &mg->bound[n];
    mn_multigrid_hold(mg, n, 1);
    o->held_number[n] = mn_unknowns_number(o->unknowns, b->i, b->j, b->k);
  }
  return MN_OK;
}

mn_status mn_opened_setup(mn_context *ctx, mn_opened *o, const mn_system *system,
                          const mn_unknowns *unknowns, const mn_opened_face *face,
                          const double *coefficient, size_t faces, const uint8_t *held)
{
  const mn_regions *g = unknowns->regions;
  size_t entries = (size_t)unknowns->first_cell[g->n[1] * g->n[2]];
  MN_TRY(mn_reserve(ctx, "opened cells", entries, sizeof *o->cell, &o->buffer[B_CELL]));
  o->cell = o->buffer[B_CELL].data;
  o->unknowns = unknowns;
  o->face = face;
  o->coefficient = coefficient;
  o->faces = faces;
  o->held = held && memchr(held, 1, unknowns->count) ? held : NULL;
  o->beside = -1;
  open_faces(o);
  mn_system s = *system;
  s.self = s.bound_self = o;
  s.cell = row;
  s.prefetch = NULL;
  s.bound = o->held ? is_held : NULL;
  o->mgpcg.mg.split = 1;
  o->mgpcg.mg.soft = o->links && !o->hard;
  MN_TRY(mn_mgpcg_setup_finest(ctx, &o->mgpcg, &s, g));
  MN_TRY(hold(ctx, o));
  mn_status status = mn_multigrid_coarsen(ctx, &o->mgpcg.mg, s.exec, MN_MG_LEVELS);
  mn_multigrid_unmark(&o->mgpcg.mg);
  o->held = NULL;
  return status;
}

/* ---- vectors --------------------------------------------------------------------------------- */

/* Moves the unknowns of a row from a vector to the level's arrays by colour; returns the greatest.
 */
static double load_row(const mn_opened *o, int at, double factor, const double *y)
{
  const mn_regions *g = o->unknowns->regions;
  const mn_mg_level *L = &o->mgpcg.mg.level[0];
  const mn_mg_row *line = &L->row[at];
  float *even = L->f[line->parity] + line->base[line->parity];
  float *odd = L->f[1 - line->parity] + line->base[1 - line->parity];
  double most = 0;
  for (int r = g->first_run[at]; r < g->first_run[at + 1]; r++) {
    int lo = g->run[r].lo, hi = g->run[r].hi, i = lo + (lo & 1);
    const double *from = y + o->unknowns->run[r] - lo;
    if (lo & 1)
      odd[lo / 2] = (float)(factor * from[lo]);
    for (; i + 1 < hi; i += 2) {
      even[i / 2] = (float)(factor * from[i]);
      odd[i / 2] = (float)(factor * from[i + 1]);
    }
    if (i < hi)
      even[i / 2] = (float)(factor * from[i]);
    for (i = lo; i < hi; i++) {
      double size = fabs(from[i]);
      most = size > most ? size : most;
    }
  }
  return most;
}

/* z <- factor x, x by colour, or z += factor x */
static void store_row(const mn_opened *o, int at, double factor, float *const x[2], int add,
                      double *z)
{
  const mn_regions *g = o->unknowns->regions;
  const mn_mg_row *line = &o->mgpcg.mg.level[0].row[at];
  const float *even = x[line->parity] + line->base[line->parity];
  const float *odd = x[1 - line->parity] + line->base[1 - line->parity];
  double keep = add ? 1 : 0;
  for (int r = g->first_run[at]; r < g->first_run[at + 1]; r++) {
    int lo = g->run[r].lo, hi = g->run[r].hi, i = lo + (lo & 1);
    double *to = z + o->unknowns->run[r] - lo;
    if (!add)
      memset(to + lo, 0, (size_t)(hi - lo) * sizeof *to);
    if (lo & 1)
      to[lo] = keep * to[lo] + factor * (double)odd[lo / 2];
    for (; i + 1 < hi; i += 2) {
      to[i] = keep * to[i] + factor * (double)even[i / 2];
      to[i + 1] = keep * to[i + 1] + factor * (double)odd[i / 2];
    }
    if (i < hi)
      to[i] = keep * to[i] + factor * (double)even[i / 2];
  }
}

static double load(const mn_opened *o, double factor, const double *y)
{
  const mn_mg_level *L = &o->mgpcg.mg.level[0];
#pragma omp parallel for schedule(static) num_threads(o->unknowns->exec->threads)
  for (int s = 0; s < L->slabs; s++) {
    int k, j0, j1;
    double most = 0;
    mn_mg_slab_rows(L, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      most = mn_worse(most, load_row(o, j + L->n[1] * k, factor, y));
    o->mgpcg.partial[s] = most;
  }
  return mn_reduce(o->unknowns->exec, MN_MAX, o->mgpcg.partial, L->slabs);
}

static void store(const mn_opened *o, double factor, float *const x[2], int add, double *z)
{
  const mn_regions *g = o->unknowns->regions;
  int rows = g->n[1] * g->n[2];
#pragma omp parallel for schedule(static) num_threads(o->unknowns->exec->threads)
  for (int at = 0; at < rows; at++)
    store_row(o, at, factor, x, add, z);
}

void mn_opened_apply(mn_opened *o, double factor, const double *y, double *z)
{
  enum { ROOM = 30 }; /* single precision has powers of 2 up to 127 */
  int exponent;
  double most = load(o, ldexp(1, -o->exponent), y);
  frexp(most, &exponent);
  if (most > 0 && isfinite(most) && abs(exponent - o->exponent) > ROOM) {
    o->exponent = exponent;
    load(o, ldexp(1, -o->exponent), y);
  }
  o->mgpcg.mg.once = !o->twice;
  mn_multigrid_cycle(&o->mgpcg.mg, NULL, NULL);
  store(o, ldexp(factor, o->exponent), o->mgpcg.mg.level[0].u, 0, z);
}

/* ---- conjugate gradients --------------------------------------------------------------------- */

/* Those of the cells beside faces that are held. */
static mn_status list_dropped(mn_context *ctx, mn_opened *o)
{
  const mn_multigrid *mg = &o->mgpcg.mg;
  MN_TRY(mn_reserve(ctx, "held cells", (size_t)mg->bounds, sizeof(int32_t), &o->buffer[B_DROP]));
  o->drop = o->buffer[B_DROP].data;
  o->dropped = 0;
  for (int n = 0; n < mg->bounds; n++) {
    const mn_mg_bound *b = &mg->bound[n];
    int32_t place = o->cell[mn_unknowns_entry(o->unknowns, b->i, b->j, b->k)].beside;
    if (place >= 0)
      o->drop[o->dropped++] = place;
  }
  return MN_OK;
}

/* The cells beside faces, each once: where G acts. */
static mn_status list_beside(mn_context *ctx, mn_opened *o)
{
  const mn_unknowns *u = o->unknowns;
  const mn_mg_level *L = &o->mgpcg.mg.level[0];
  size_t most = 2 * o->faces;
  static const size_t sizes[] = {sizeof(struct mn_mg_place), sizeof(float), sizeof(int32_t)};
  for (int n = 0; n < 3; n++)
    MN_TRY(mn_reserve(ctx, "cells beside bodies", most, sizes[n], &o->buffer[B_PLACE + n]));
  MN_TRY(mn_reserve(ctx, "cells beside bodies", o->faces, sizeof *o->index, &o->buffer[B_INDEX]));
  MN_TRY(mn_reserve(ctx, "forces on faces", o->faces, sizeof(double), &o->buffer[B_FORCE]));
  MN_TRY(mn_reserve(ctx, "forces on faces", o->faces, sizeof(double), &o->buffer[B_ANSWER]));
  MN_TRY(mn_reserve(ctx, "cells beside bodies", most, sizeof(double), &o->buffer[B_SUM]));
  MN_TRY(mn_reserve(ctx, "residual", u->count, sizeof(double), &o->buffer[B_R]));
  o->place = o->buffer[B_PLACE].data;
  o->value = o->buffer[B_VALUE].data;
  o->number = o->buffer[B_NUMBER].data;
  o->index = o->buffer[B_INDEX].data;
  o->F = o->buffer[B_FORCE].data;
  o->U = o->buffer[B_ANSWER].data;
  o->sum = o->buffer[B_SUM].data;
  o->r = o->buffer[B_R].data;
  if (o->beside >= 0)
    return MN_OK;
  o->beside = 0;
  for (size_t f = 0; f < o->faces; f++)
    for (int high = 0; high < 2; high++) {
      int32_t e = o->face[f].entry[high];
      o->index[f][high] = -1;
      if (e < 0)
        continue;
      if (o->cell[e].beside < 0)
        o->cell[e].beside = o->beside++;
      o->index[f][high] = o->cell[e].beside;
    }
  int rows = u->regions->n[1] * u->regions->n[2];
  for (int at = 0; at < rows; at++)
    for (int32_t e = u->first_cell[at]; e < u->first_cell[at + 1]; e++)
      if (o->cell[e].beside >= 0) {
        int n = o->cell[e].beside, colour = (u->cell[e].i + L->row[at].parity) & 1;
        o->place[n] = (struct mn_mg_place){colour, L->row[at].base[colour] + u->cell[e].i / 2};
        o->number[n] = u->cell[e].number;
      }
  return list_dropped(ctx, o);
}

/* A solve. */
typedef struct task {
  mn_opened *o;
  const mn_opened_answer *G;
  double factor;
  double unit;      /* of x, by which its correction is divided */
  mn_status status; /* of G */
} task;

/* sum <- D U of the cells beside; `cycle`: less what the cycle's matrix has of it */
static void flow(task *t, int cycle)
{
  mn_opened *o = t->o;
  memset(o->sum, 0, (size_t)o->beside * sizeof *o->sum);
  for (size_t f = 0; f < o->faces; f++) {
    double area = t->G->area[f];
    double own = cycle && area > 0 ? opening(o, f) * t->factor / (area * area) : 0;
    double flow = area * (o->U[f] - own * o->F[f]);
    if (o->index[f][0] >= 0)
      o->sum[o->index[f][0]] += flow;
    if (o->index[f][1] >= 0)
      o->sum[o->index[f][1]] -= flow;
  }
  for (int n = 0; n < o->dropped; n++)
    o->sum[o->drop[n]] = 0;
}

static double extra_product(void *user, float *const z[2])
{
  task *t = user;
  mn_opened *o = t->o;
  for (int n = 0; n < o->beside; n++)
    o->sum[n] = (double)z[o->place[n].colour][o->place[n].at];
  for (size_t f = 0; f < o->faces; f++)
    o->F[f] = t->G->area[f] * ((o->index[f][0] >= 0 ? o->sum[o->index[f][0]] : 0) -
                               (o->index[f][1] >= 0 ? o->sum[o->index[f][1]] : 0));
  t->status = t->G->answer(t->G->user, o->F, o->U);
  if (t->status != MN_OK)
    return NAN;
  flow(t, 1);
  double product = 0;
  for (int n = 0; n < o->beside; n++) {
    o->value[n] = (float)(o->sum[n] / t->factor);
    product += (double)z[o->place[n].colour][o->place[n].at] * (double)o->value[n];
  }
  return product;
}

static void extra_follow(void *user, float beta, float alpha)
{
  const task *t = user;
  t->G->follow(t->G->user, (double)beta, (double)alpha * t->unit);
}

static double norm_of(const mn_opened *o, const double *r)
{
  double *partial = o->mgpcg.partial;
  int slabs = o->mgpcg.mg.level[0].slabs;
  int64_t count = (int64_t)o->unknowns->count;
#pragma omp parallel for schedule(static) num_threads(o->unknowns->exec->threads)
  for (int s = 0; s < slabs; s++) {
    double most = 0, sum = 0; /* the sum is no number if one of them is none */
    for (int64_t c = count * s / slabs; c < count * (s + 1) / slabs; c++) {
      double size = fabs(r[c]);
      most = size > most ? size : most;
      sum += size;
    }
    partial[s] = mn_worse(most, sum == sum ? 0 : sum);
  }
  return mn_reduce(o->unknowns->exec, MN_MAX, partial, slabs);
}

/* r <- b - (factor A + D G D^T) x; returns its norm. */
static double true_residual(task *t, const double *b, const double *x)
{
  mn_opened *o = t->o;
  mn_unknowns_residual(o->unknowns, t->factor, b, x, o->r);
  for (size_t f = 0; f < o->faces; f++)
    o->F[f] = t->G->area[f] * ((o->index[f][0] >= 0 ? x[o->number[o->index[f][0]]] : 0) -
                               (o->index[f][1] >= 0 ? x[o->number[o->index[f][1]]] : 0));
  t->status = (t->G->whole ? t->G->whole : t->G->answer)(t->G->user, o->F, o->U);
  if (t->status != MN_OK)
    return NAN;
  flow(t, 0);
  for (int n = 0; n < o->beside; n++)
    o->r[o->number[n]] -= o->sum[n];
  for (int n = 0; n < o->mgpcg.mg.bounds; n++)
    o->r[o->held_number[n]] = 0;
  return norm_of(o, o->r);
}

mn_status mn_opened_solve(mn_context *ctx, mn_opened *o, double factor, const mn_opened_answer *G,
                          const double *b, double tolerance, int max_iterations, double *x,
                          mn_solve_report *report)
{
  /* as in mgpcg.c: fall of the residual between two true ones, what to aim at, and when to end */
  static const double REPLACE = 1e-2, AIM = 0.8;
  enum { STALLED_AFTER = 4, LONG = 40 };
  MN_TRY(list_beside(ctx, o));
  task t = {.o = o, .G = G, .factor = factor};
  mn_system exec = {.exec = o->unknowns->exec};
  mn_mgpcg_extra extra = {
      o->beside, o->place, o->value, extra_product, G->follow ? extra_follow : NULL, &t};
  mn_mgpcg_run run = {.v = &o->mgpcg, .s = &exec, .extra = &extra};
  for (int n = 0; n < o->mgpcg.mg.bounds; n++)
    x[o->held_number[n]] = 0;
  double norm = true_residual(&t, b, x);
  *report = (mn_solve_report){.initial_residual = norm, .reason = MN_ITERATION_LIMIT};
  o->mgpcg.mg.once = 0;
  for (int slow = 0; norm > tolerance && isfinite(norm) && run.iterations < max_iterations;) {
    double before = norm, aim = AIM * tolerance / norm;
    int most = run.iterations + LONG < max_iterations ? run.iterations + LONG : max_iterations;
    load(o, 1 / norm, o->r);
    t.unit = norm / factor;
    if (mn_mgpcg_iterate(&run, aim > REPLACE ? aim : REPLACE, most))
      store(o, t.unit, o->mgpcg.e, 1, x);
    MN_TRY(t.status);
    if (run.broken || (run.iterations == most && !o->mgpcg.mg.once))
      run.dq = 0; /* directions of a preconditioner that was none are forgotten */
    o->mgpcg.mg.once |= run.iterations == most;
    norm = true_residual(&t, b, x);
    slow = norm < 0.5 * before ? 0 : slow + 1;
    o->mgpcg.mg.once |= slow > 0;
    if (slow >= STALLED_AFTER && norm > tolerance) {
      report->reason = MN_STALLED;
      break;
    }
  }
  MN_TRY(t.status);
  report->iterations = run.iterations;
  report->residual = norm;
  if (norm <= tolerance)
    report->reason = MN_CONVERGED;
  else if (!isfinite(norm))
    report->reason = MN_DIVERGED;
  return MN_OK;
}
