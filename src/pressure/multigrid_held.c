/* Cells of the finest level that can be held at x = 0: the active set of an LCP.

   A held cell keeps its place in the level's list of irregular cells, with 1/D = 0: every sweep
   leaves 0 there, and its neighbours, whose diagonals stay as they are, see a fixed value. So
   holding a cell or letting it go costs nothing on the finest level. On coarse levels a held cell
   belongs to no parent, and the couplings to it are links to a fixed value: those levels are built
   anew. Only irregular cells can have a condition, which is what cells at walls are.
   Tests: tests/unit/pressure/test_lcp_fast.c (a cycle against the system without the held cells).
 */
#include "base/status.h"
#include "pressure/multigrid.h"

mn_status mn_multigrid_list_bounds(mn_context *ctx, mn_multigrid *mg, const mn_system *s)
{
  const mn_mg_level *L = &mg->level[0];
  int rows = L->n[1] * L->n[2], count = 0;
  size_t most = (size_t)(L->row[rows].irregular[0] + L->row[rows].irregular[1]);
  MN_TRY(mn_reserve(ctx, "cells with a condition", most, sizeof *mg->bound, &mg->buffer[2]));
  mg->bound = mg->buffer[2].data;
  for (int row = 0; row < rows; row++) {
    int32_t entry[2] = {L->row[row].irregular[0], L->row[row].irregular[1]};
    int32_t fine = entry[0] + entry[1];
    int32_t end = L->row[row + 1].irregular[0] + L->row[row + 1].irregular[1];
    int j = row % L->n[1], k = row / L->n[1];
    for (; fine < end; fine++) {
      mn_mg_fine *cell = &mg->fine[fine];
      int i = cell->i, colour = (i + j + k) & 1;
      double sum = 0;
      for (int side = 0; side < 6; side++)
        sum += cell->c[side];
      cell->bound =
          cell->diagonal > 0 && s->bound(s->bound_self, i, j, k, cell->c, cell->diagonal != sum);
      if (cell->bound)
        mg->bound[count++] = (mn_mg_bound){i, j, k, fine, entry[colour], 0};
      entry[colour]++;
    }
  }
  mg->bounds = count;
  return MN_OK;
}

void mn_multigrid_hold(mn_multigrid *mg, int n, int held)
{
  const mn_mg_bound *t = &mg->bound[n];
  mn_mg_fine *fine = &mg->fine[t->fine];
  mn_mg_cell *cell = &mg->level[0].irregular[(t->i + t->j + t->k) & 1][t->entry];
  mg->held += held - fine->held;
  fine->held = (int16_t)held;
  cell->inverse = held ? 0 : (float)(1 / fine->diagonal);
  if (held) /* where the finest level is the coarsest too, nothing else writes it */
    mg->level[0].u[(t->i + t->j + t->k) & 1][cell->at] = 0;
}

/* Adds marks to a cell and its neighbours, or takes all marks off. */
static void mark(mn_multigrid *mg, const mn_mg_bound *t, int add)
{
  const mn_mg_level *L = &mg->level[0];
  int at[3] = {t->i, t->j, t->k};
  int64_t step[3] = {1, L->n[0], (int64_t)L->n[0] * L->n[1]};
  uint8_t *kind = mg->kind + t->i + step[1] * t->j + step[2] * t->k;
  *kind = (uint8_t)(add ? *kind | MN_MG_HELD : *kind & MN_MG_KIND);
  for (int side = 0; side < 2 * L->dim; side++) {
    int a = side / 2, up = side & 1 ? 1 : -1;
    if (at[a] + up < 0 || at[a] + up >= L->n[a])
      continue;
    uint8_t *near = kind + up * step[a];
    if ((*near & MN_MG_KIND) != MN_DEAD)
      *near = (uint8_t)(add ? *near | MN_MG_BESIDE : *near & MN_MG_KIND);
  }
}

void mn_multigrid_unmark(mn_multigrid *mg)
{
  for (int n = 0; n < mg->bounds; n++) {
    if (mg->bound[n].marked)
      mark(mg, &mg->bound[n], 0);
    mg->bound[n].marked = 0;
  }
}

void mn_multigrid_mark_held(mn_multigrid *mg)
{
  mn_multigrid_unmark(mg);
  for (int n = 0; n < mg->bounds; n++) {
    mg->bound[n].marked = mg->fine[mg->bound[n].fine].held;
    if (mg->bound[n].marked)
      mark(mg, &mg->bound[n], 1);
  }
}
