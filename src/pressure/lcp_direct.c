/* Coarse matrices discretised on averaged geometry (lcp_coarse.c): fas-direct and fmg.

   Limits: too crude at cut cells, where a coarse face or surface is not where the fine ones are.
   Tests: tests/unit/pressure/test_lcp_half_sphere.c. */
#include <string.h>

#include "base/status.h"
#include "pressure/lcp_levels.h"

/* Rows of a coarse problem discretised on its own grid. */
mn_status mn_lcp_direct_rows(mn_context *ctx, const mn_exec *exec, mn_lcp_level *L)
{
  const mn_stencil *s = &L->direct.lcp.matrix;
  int planes = mn_lcp_planes(L), entry = 0;
  MN_TRY(mn_rows_reserve(ctx, exec, planes, L->plane, (size_t)L->plane[planes] * 6, &L->own));
  for (int k = 0; k < L->n[2]; k++)
    for (int j = 0; j < L->n[1]; j++)
      for (int i = 0; i < L->n[0]; i++) {
        int row = L->number[mn_lcp_cell(L, i, j, k)];
        if (row < 0)
          continue;
        L->own.start[row] = entry;
        L->own.diagonal[row] = mn_get(&s->diagonal, i, j, k);
        for (int side = 0; side < 2 * L->dim; side++) {
          int q[3] = {i, j, k}, a = side / 2;
          q[a] += side & 1 ? 1 : -1;
          if (q[a] < 0 || q[a] >= L->n[a])
            continue;
          int other = L->number[mn_lcp_cell(L, q[0], q[1], q[2])];
          double c = side & 1 ? mn_get(&s->off[a], q[0], q[1], q[2]) : mn_get(&s->off[a], i, j, k);
          if (other < 0 || c == 0)
            continue;
          L->own.column[entry] = other;
          L->own.value[entry++] = -c;
        }
      }
  L->own.start[L->own.count] = entry;
  size_t rows = (size_t)L->own.count;
  MN_TRY(mn_reserve(ctx, "level diagonal", rows, sizeof *L->whole, &L->buffer[13]));
  L->whole = L->buffer[13].data;
  memcpy(L->whole, L->own.diagonal, rows * sizeof *L->whole);
  return MN_OK;
}

/* Parents (place 0 of an interpolation row) of cut rows hold no equation. */
static void hold_parents(const mn_lcp_level *L, mn_lcp_level *coarse)
{
  memset(coarse->cut, 0, (size_t)coarse->own.count);
  for (int r = 0; r < L->A->count; r++)
    if (L->cut[r] && L->from[r << L->shift] >= 0)
      coarse->cut[L->from[r << L->shift]] = 1;
  for (int r = 0; r < coarse->own.count; r++)
    coarse->own.diagonal[r] = coarse->cut[r] ? 0 : coarse->whole[r];
}

void mn_lcp_direct_hold(mn_lcp_levels *v)
{
  for (int l = 0; l + 1 < v->count; l++)
    hold_parents(&v->level[l], &v->level[l + 1]);
}
