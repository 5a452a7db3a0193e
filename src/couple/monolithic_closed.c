/* Closed regions in the one system. Where bodies give way the equations hold all there is to say;
   what remains is the account of volumes, which the grid keeps by velocities and the surfaces by
   the way they went: the difference, `error` of closed.h, is made good in the next substep. Where
   nothing gives way (a pinned region) what the grid misses of slow walls is spread over the cells;
   what is more than that has no solution. Water that can leave its walls keeps no account: its
   volume is its own. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/monolithic_internal.h"

/* Net flow into a region where nothing gives way: of the walls' own flow, and of all flows; below
   it is how the grid sees walls. */
static const double MENDED = 0.1, ROUND_OFF = 1e-7;

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

static void spread(mn_monolithic *m, int32_t g, double flow, double volume)
{
  mn_mono_system *s = &m->s;
  for (size_t i = 0; i < s->cells && volume > 0; i++)
    if (s->fluid.region[i] == g)
      s->right_cells[i] += flow * s->fluid.volume[i] / volume;
}

static int is_pinned(const mn_mono_system *s, int32_t g)
{
  for (size_t k = 0; k < s->pins; k++)
    if (s->fluid.region[s->pinned[k]] == g)
      return 1;
  return 0;
}

/* Bodies that some other region shares may still take the flow. */
static int touches_bodies(const mn_mono_system *s, int32_t g)
{
  double most = 0, sum = 0;
  for (size_t f = 0; f < s->freedoms; f++) {
    double net = 0;
    for (int64_t e = s->BT.a.start[f]; e < s->BT.a.start[f + 1]; e++)
      if (s->fluid.region[s->BT.a.col[e]] == g) {
        net += s->BT.a.value[e];
        sum += fabs(s->BT.a.value[e]);
      }
    most = fmax(most, fabs(net));
  }
  return most > 1e-9 * sum;
}

mn_status mn_mono_books(mn_monolithic *m)
{
  mn_mono_system *s = &m->s;
  mn_closed *c = m->closed;
  if (!s->fluid.region)
    return MN_OK;
  for (int r = 0; r < c->count && !s->fluid.bound; r++) {
    if (c->grid[r] < 0 || is_pinned(s, c->grid[r]))
      continue;
    region_sum sum = add_up(m, c->grid[r]);
    double owed = c->target[r] / s->dt - c->info[r].inflow; /* as the surfaces count */
    spread(m, c->grid[r], owed, sum.volume);
  }
  for (size_t k = 0; k < s->pins; k++) {
    int32_t g = s->fluid.region[s->pinned[k]];
    if (touches_bodies(s, g))
      continue;
    region_sum sum = add_up(m, g);
    if (s->fluid.bound && sum.flow < 0)
      continue; /* it lets go */
    if (fabs(sum.flow) > MENDED * sum.walls + ROUND_OFF * sum.size) {
      c->hopeless = 1;
      return mn_fail(m->ctx, MN_FAILED,
                     "a region of fluid of %.3g m^%d is closed on all sides, and %g m^%d/s flow "
                     "into it: no body around it gives way; open a side",
                     sum.volume, m->boxes->face.dim, sum.flow, m->boxes->face.dim);
    }
    spread(m, g, -sum.flow, sum.volume);
  }
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
