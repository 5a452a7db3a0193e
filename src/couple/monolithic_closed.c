/* Closed regions in the one system. Where bodies give way the equations hold all there is to say;
   what remains is the account of volumes, which the grid keeps by velocities and the surfaces by
   the way they went: the difference, `error` of closed.h, is made good in the next substep. Walls
   then seem to move a little more to the fluid than they do (a breath, monolithic_regions.c).
   Where nothing gives way, what the grid misses of slow walls is mended by breaths as well; what is
   more than that has no solution. Water that can leave its walls keeps no account: its volume is
   its own. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/monolithic_internal.h"
#include "la/dense.h"

/* Net flow into a region where nothing gives way: of the walls' own flow, and of all flows; below
   it is how the grid sees walls. */
static const double MENDED = 0.1, ROUND_OFF = 1e-7;
/* Cells by which a breath may move walls in a substep. */
static const double MOST_BREATH = 0.009;

/* Sum over the cells of region g of volume, of the right-hand side, of its size, of the walls'. */
typedef struct region_sum {
  double volume, flow, size, walls;
} region_sum;

static region_sum add_up(const mn_monolithic *m, int32_t g)
{
  const mn_mono_system *s = &m->s;
  region_sum sum = {0};
  for (size_t i = 0; i < s->cells; i++) {
    if (s->fluid.region[i] != g)
      continue;
    sum.volume += s->fluid.volume[i];
    sum.flow += s->right_cells[i];
    sum.size += fabs(s->right_cells[i]);
    sum.walls += fabs(s->right_cells[i] - s->fluid.c[i]);
  }
  return sum;
}

/* breath[regions] for what is owed to the accounts, K l = owed: regions that share walls share it.
 */
static mn_status pay(mn_monolithic *m, int32_t regions)
{
  mn_mono_system *s = &m->s;
  mn_closed *c = m->closed;
  int n = c->count, rank;
  double K[MN_CLOSED_MAX * MN_CLOSED_MAX] = {0}, owed[MN_CLOSED_MAX] = {0}, l[MN_CLOSED_MAX];
  memset(m->breath, 0, (size_t)regions * sizeof *m->breath);
  if (s->fluid.bound || !n)
    return MN_OK;
  for (int r = 0; r < n; r++) {
    int32_t g = c->grid[r];
    if (g < 0 || g >= regions)
      continue;
    owed[r] = c->target[r] / s->dt - c->info[r].inflow;
    for (size_t row = 0; row < s->rows; row++) {
      double own = mn_mono_breath(s, g, row);
      for (int q = 0; q < n && own != 0; q++)
        if (c->grid[q] >= 0)
          K[r + n * q] += own * s->fluid.area[row] * mn_mono_breath(s, c->grid[q], row);
    }
  }
  MN_TRY(mn_dense_least_squares(m->ctx, &s->arena, n, n, K, 1, owed, 1e-9, l, &rank));
  double most = MOST_BREATH * m->dx / s->dt;
  for (int r = 0; r < n; r++)
    if (c->grid[r] >= 0 && c->grid[r] < regions)
      m->breath[c->grid[r]] = fmax(-most, fmin(most, l[r]));
  return MN_OK;
}

static mn_status refuse(mn_monolithic *m, const region_sum *sum)
{
  m->closed->hopeless = 1;
  return mn_fail(m->ctx, MN_FAILED,
                 "a region of fluid of %.3g m^%d is closed on all sides, and %g m^%d/s flow into "
                 "it: no body around it gives way; open a side",
                 sum->volume, m->boxes->face.dim, sum->flow, m->boxes->face.dim);
}

/* What flows into a region that gives no way, more than the faces miss. */
static mn_status check_net(mn_monolithic *m, int32_t g)
{
  region_sum sum = add_up(m, g);
  if (m->s.fluid.bound && sum.flow < 0)
    return MN_OK; /* it lets go */
  int missed = fabs(sum.flow) <= MENDED * sum.walls + ROUND_OFF * sum.size;
  return missed ? MN_OK : refuse(m, &sum);
}

/* Bodies that some other region shares may still take the flow. */
static int has_bodies(const mn_mono_system *s, int32_t g)
{
  for (size_t row = 0; row < s->rows; row++)
    if (mn_mono_breath(s, g, row) != 0)
      return 1;
  return 0;
}

mn_status mn_mono_books(mn_monolithic *m)
{
  mn_mono_system *s = &m->s;
  int32_t regions = mn_mono_regions(s);
  if ((size_t)regions > m->breath_room) {
    m->breath_room = 0;
    MN_TRY(MN_RENEW(m->ctx, "regions", (size_t)regions, &m->breath));
    m->breath_room = (size_t)regions;
  }
  MN_TRY(pay(m, regions));
  MN_TRY(mn_mono_right(s, regions ? m->breath : NULL));
  for (size_t k = 0; k < s->breaths; k++)
    MN_TRY(check_net(m, s->breath[k]));
  for (size_t k = 0; k < s->pins; k++)
    if (!has_bodies(s, s->fluid.region[s->pinned[k]]))
      MN_TRY(check_net(m, s->fluid.region[s->pinned[k]]));
  return MN_OK;
}

/* p0 of regions: the mean of p over their volume. */
mn_status mn_monolithic_finish(mn_monolithic *m)
{
  const mn_mono_system *s = &m->s;
  mn_closed *c = m->closed;
  for (int r = 0; r < c->count && s->fluid.region; r++) {
    double sum = 0, volume = 0;
    for (size_t i = 0; i < s->cells && c->grid[r] >= 0; i++)
      if (s->fluid.region[i] == c->grid[r]) {
        sum += s->fluid.volume[i] * m->p[i];
        volume += s->fluid.volume[i];
      }
    if (volume > 0)
      c->now.p0[c->slot[r]] = sum / volume;
  }
  return mn_closed_finish(c);
}
