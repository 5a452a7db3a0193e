/* Fluid in closed regions only (`outside` = "empty").

   Cells that are connected to an open side by open faces hold nothing: p = 0, no mass, no flow, no
   load. Their faces are closed, so that every other part of this solver takes them for solid. Which
   they are follows from the surfaces, anew with each placement: a shell that spreads gives cells to
   the inside, and since values are carried and continued on one side of a shell only (shell.h),
   what they get is from the inside.

   Verified by tests/verify/test_empty.c. */
#include "fluid/mac/internal.h"

#include <string.h>

#include "base/status.h"

int mn_mac_has_empty(const mn_mac *mac)
{
  return !mn_mac_is_water(mac) && mac->def->fluid.outside == MN_OUTSIDE_EMPTY && mac->open_sides;
}

mn_status mn_mac_empty_create(mn_mac *mac)
{
  mn_mac_geometry *g = &mac->geometry;
  if (!mn_mac_has_empty(mac) || g->empty)
    return MN_OK;
  size_t cells = 1;
  for (int a = 0; a < mac->grid.dim; a++)
    cells *= (size_t)mac->grid.n[a];
  MN_TRY(mn_field_create(mac->ctx, &mac->grid, MN_CELL, "cell volumes", &g->whole));
  MN_TRY(MN_NEW(mac->ctx, "empty cells", cells, &g->empty_list));
  return MN_NEW(mac->ctx, "empty cells", g->volume.size, &g->empty);
}

void mn_mac_empty_destroy(mn_mac *mac)
{
  mn_field_destroy(&mac->geometry.whole);
  mn_free(mac->geometry.empty_list);
  mn_free(mac->geometry.empty);
}

static void take(mn_mac_geometry *g, int i, int j, int k, size_t *count)
{
  const mn_field *cells = &g->volume;
  int64_t c = mn_index(cells, i, j, k);
  unsigned char *mark = &g->empty[cells->at - cells->data + c];
  if (*mark)
    return;
  *mark = 1;
  int32_t *at = g->empty_list[(*count)++];
  at[0] = i;
  at[1] = j;
  at[2] = k;
}

/* Cells at open sides, then their neighbours. */
static size_t find(mn_mac *mac)
{
  mn_mac_geometry *g = &mac->geometry;
  const int *n = mac->grid.n;
  size_t count = 0;
  for (int side = 0; side < 2 * mac->grid.dim; side++) {
    int a = side / 2, high = side & 1, hi[3] = {n[0], n[1], n[2]};
    hi[a] = 1;
    for (int k = 0; k < hi[2] && mac->open_sides >> side & 1; k++)
      for (int j = 0; j < hi[1]; j++)
        for (int i = 0; i < hi[0]; i++) {
          int face[3] = {i, j, k}, cell[3] = {i, j, k};
          face[a] = high ? n[a] : 0;
          cell[a] = high ? n[a] - 1 : 0;
          if (mn_get(&g->open[a], face[0], face[1], face[2]) > 0)
            take(g, cell[0], cell[1], cell[2], &count);
        }
  }
  for (size_t q = 0; q < count; q++)
    for (int side = 0; side < 2 * mac->grid.dim; side++) {
      const int32_t *from = g->empty_list[q];
      int a = side / 2, face[3] = {from[0], from[1], from[2]},
          cell[3] = {from[0], from[1], from[2]};
      face[a] += side & 1;
      cell[a] += side & 1 ? 1 : -1;
      if (cell[a] >= 0 && cell[a] < n[a] && mn_get(&g->open[a], face[0], face[1], face[2]) > 0)
        take(g, cell[0], cell[1], cell[2], &count);
    }
  return count;
}

void mn_mac_empty_outside(mn_mac *mac, const mn_immersed *surfaces)
{
  mn_mac_geometry *g = &mac->geometry;
  if (!g->empty)
    return;
  memset(g->empty, 0, g->volume.size);
  mn_field_copy(&g->whole, &g->volume);
  size_t count = surfaces ? find(mac) : 0;
  for (size_t q = 0; q < count; q++) {
    const int32_t *at = g->empty_list[q];
    mn_set(&g->volume, at[0], at[1], at[2], 0);
    for (int a = 0; a < mac->grid.dim; a++)
      for (int high = 0; high < 2; high++) {
        mn_field *w = &g->open[a];
        int64_t f = mn_index(w, at[0], at[1], at[2]) + high * w->stride[a];
        if (!(w->at[f] > 0))
          continue; /* what closes it stays */
        w->at[f] = 0;
        g->wall[a].at[f] = 0;
        g->kind[a][w->at - w->data + f] = MN_FACE_SLIP;
      }
  }
}

/* f <- value in the cells that hold nothing */
static void set(const mn_mac_geometry *g, mn_field *f, double value)
{
  for (size_t q = 0; f->data && q < f->size; q++)
    if (g->empty[q])
      f->data[q] = value;
}

void mn_mac_empty_state(mn_mac *mac)
{
  const mn_mac_geometry *g = &mac->geometry;
  if (!g->empty)
    return;
  set(g, &mac->state.smoke, 0);
  set(g, &mac->state.temperature, mac->def->fluid.ambient);
  set(g, &mac->state.p, 0);
}

mn_status mn_mac_empty_refuse(mn_mac *mac)
{
  if (!mac->geometry.empty || mn_pressure_unknowns(mac->pressure) > 0)
    return MN_OK;
  return mn_fail(mac->ctx, MN_BAD_INPUT,
                 "fluid.outside is \"empty\", but the bodies enclose no fluid: all of it is "
                 "connected to an open side of the domain; close the region, or set "
                 "fluid.outside = \"fluid\"");
}
