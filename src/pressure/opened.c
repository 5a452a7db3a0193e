/* The multigrid cycle for the pressure system with opened faces.

       B = A + sum over faces f: o_f d_f d_f^T,   d_f^T x = x_below - x_above

   An opened face is an ordinary coupling of the two cells, or, where x is 0 on one side, a link to
   a fixed value. B is the same kind of matrix as A, on the same cells: closed faces only stand
   beside irregular ones. So the cycle is that of multigrid.h, in single precision; vectors are
   scaled by a power of 2 before, so that the cycle is linear.
   Verified by tests/unit/fluid/test_operators.c. */
#include "pressure/opened.h"

#include <math.h>
#include <string.h>

#include "base/status.h"

/* Couplings beyond this are as good as infinite, and hard on single precision. */
static const double MOST = 1e6;

void mn_opened_free(mn_opened *o)
{
  mn_multigrid_free(&o->mg);
  mn_buffer_free(&o->buffer);
}

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

static void open_faces(mn_opened *o, const mn_opened_face *face, const double *coefficient,
                       size_t faces)
{
  const mn_unknowns *u = o->unknowns;
  int64_t entries = u->first_cell[u->regions->n[1] * u->regions->n[2]];
  for (int64_t e = 0; e < entries; e++) {
    memcpy(o->cell[e].c, u->cell[e].c, sizeof u->cell[e].c);
    o->cell[e].excess = u->cell[e].excess;
  }
  for (size_t f = 0; f < faces; f++) {
    double open = coefficient[f] < MOST ? coefficient[f] : MOST;
    int32_t below = face[f].entry[0], above = face[f].entry[1];
    if (!(open > 0))
      continue;
    if (below >= 0 && above >= 0) {
      o->cell[below].c[2 * face[f].axis + 1] += open;
      o->cell[above].c[2 * face[f].axis] += open;
    } else if (below >= 0 || above >= 0)
      o->cell[below >= 0 ? below : above].excess += open;
  }
}

mn_status mn_opened_setup(mn_context *ctx, mn_opened *o, const mn_system *system,
                          const mn_unknowns *unknowns, const mn_opened_face *face,
                          const double *coefficient, size_t faces, const uint8_t *held)
{
  const mn_regions *g = unknowns->regions;
  size_t entries = (size_t)unknowns->first_cell[g->n[1] * g->n[2]];
  MN_TRY(mn_reserve(ctx, "opened cells", entries, sizeof *o->cell, &o->buffer));
  o->cell = o->buffer.data;
  o->unknowns = unknowns;
  o->held = held;
  open_faces(o, face, coefficient, faces);
  mn_system s = *system;
  s.self = s.bound_self = o;
  s.cell = row;
  s.prefetch = NULL;
  s.bound = held ? is_held : NULL;
  MN_TRY(mn_multigrid_setup_finest(ctx, &o->mg, &s, g));
  for (int n = 0; n < o->mg.bounds; n++)
    mn_multigrid_hold(&o->mg, n, 1);
  mn_status status = mn_multigrid_coarsen(ctx, &o->mg, s.exec, MN_MG_LEVELS);
  mn_multigrid_unmark(&o->mg);
  o->held = NULL;
  return status;
}

/* ---- vectors --------------------------------------------------------------------------------- */

/* Moves the unknowns of a row between a vector and the level's arrays by colour. */
static void load_row(const mn_opened *o, int at, double factor, const double *y)
{
  const mn_regions *g = o->unknowns->regions;
  const mn_mg_level *L = &o->mg.level[0];
  const mn_mg_row *line = &L->row[at];
  float *f[2] = {L->f[line->parity] + line->base[line->parity],
                 L->f[1 - line->parity] + line->base[1 - line->parity]};
  for (int r = g->first_run[at]; r < g->first_run[at + 1]; r++) {
    int i = g->run[r].lo, hi = g->run[r].hi;
    const double *from = y + o->unknowns->run[r] - i;
    for (; i < hi && i & 1; i++)
      f[1][i / 2] = (float)(factor * from[i]);
    for (; i + 1 < hi; i += 2) {
      f[0][i / 2] = (float)(factor * from[i]);
      f[1][i / 2] = (float)(factor * from[i + 1]);
    }
    for (; i < hi; i++)
      f[0][i / 2] = (float)(factor * from[i]);
  }
}

static void store_row(const mn_opened *o, int at, double factor, double *z)
{
  const mn_regions *g = o->unknowns->regions;
  const mn_mg_level *L = &o->mg.level[0];
  const mn_mg_row *line = &L->row[at];
  const float *u[2] = {L->u[line->parity] + line->base[line->parity],
                       L->u[1 - line->parity] + line->base[1 - line->parity]};
  for (int r = g->first_run[at]; r < g->first_run[at + 1]; r++) {
    int i = g->run[r].lo, hi = g->run[r].hi;
    double *to = z + o->unknowns->run[r] - i;
    for (; i < hi && i & 1; i++)
      to[i] = factor * (double)u[1][i / 2];
    for (; i + 1 < hi; i += 2) {
      to[i] = factor * (double)u[0][i / 2];
      to[i + 1] = factor * (double)u[1][i / 2];
    }
    for (; i < hi; i++)
      to[i] = factor * (double)u[0][i / 2];
  }
}

/* A power of 2 that brings y to sizes that single precision has room for. */
static double size_of(const mn_opened *o, const double *y)
{
  double most = 0;
  for (size_t n = 0; n < o->unknowns->count; n++)
    most = mn_worse(most, y[n]);
  int exponent;
  frexp(most, &exponent);
  return most > 0 && isfinite(most) ? ldexp(1, exponent) : 1;
}

void mn_opened_apply(mn_opened *o, double factor, const double *y, double *z)
{
  const mn_regions *g = o->unknowns->regions;
  int rows = g->n[1] * g->n[2];
  double size = size_of(o, y);
#pragma omp parallel for schedule(static) num_threads(o->unknowns->exec->threads)
  for (int at = 0; at < rows; at++)
    load_row(o, at, 1 / size, y);
  mn_multigrid_cycle(&o->mg, NULL, NULL);
#pragma omp parallel for schedule(static) num_threads(o->unknowns->exec->threads)
  for (int at = 0; at < rows; at++)
    store_row(o, at, factor * size, z);
}
