/* Closed regions in the one system: what is asked of their volumes, and booked.

   The surfaces keep the account (closed.h): a region sweeps dt Q less what earlier substeps left.
   Newton's method takes that along, linear about the iterate, with the rows N of the place where
   the fluid meets the bodies, which are those of the forces of p0 as well:

       N q = target - swept(X),   or in the first step, which starts from where bodies were,
       N q = target - swept(Y) - N (X - Y),   Y that place

   Where bodies have velocities of their own at the end (lead > 0), places follow those of two
   substeps, and held by places they would swing for ever: closed_settle.c settles them once the
   substep is done. What that does, M^-1 N^T l, follows from what the step does to N V, which is
   known before it is solved for,

       N (V + M^-1 N^T l) + (1 + lead)/dt N q = Q(t^n+1),

   N at the iterate. The fluid sees V with it (settled), so that it sees the velocities that stay.
   Where they cannot be settled, since not all that p0 moves goes by the same rule, or water has
   left some walls, velocities are asked for in place of volumes,

       N V = Q(t^n+1) - FED error/dt,    error_n+1 = error_n - FED/2 (error_n + error_n-1),

   which dies out fastest without swinging at FED = 0.34 (Q there from the means of this substep and
   the last: with the mean itself walls lag by half of its change, for as long as it changes); and
   so in regions that have just closed (struck), with Q and without error.

   Where nothing gives way, what the faces miss of slow walls, and of bodies that are wholly inside,
   however near to others, is mended by breaths; what is more has no solution. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "couple/monolithic_internal.h"
#include "math/vec.h"

/* Net flow into a region where nothing gives way: of the walls' own flow, and of all flows; below
   it is how the grid sees walls. */
static const double MENDED = 0.1, ROUND_OFF = 1e-7;
/* Of what earlier substeps left, so much is made good in one, as a distance of the surfaces in
   cells: faces must make up for it (fluid/mac/compatible.c). */
static const double CARRIED = 0.009;
static const double FED = 0.34;
/* A region has grown by more than flowed in, by so many cells over all of its surface: water has
   left its walls. */
static const double GAP = 0.1;
/* What may be left of volumes that depend on each other, likewise. */
static const double FOUND = 1e-5;
/* Regions of at most so many cells along each axis that nobody knows leak; and those thinner than
   so many, where bodies that lie on each other leave a slit. */
enum { POCKET = 3 };
static const double SLIT = 1;

/* Sum over the cells of region g of volume, of the right-hand side, of its size, of the walls', and
   of what is not of bodies. */
typedef struct region_sum {
  double volume, flow, size, walls, blown;
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
    sum.blown += s->fluid.c[i];
  }
  return sum;
}

static mn_status refuse(mn_monolithic *m, int32_t g, const region_sum *sum)
{
  const mn_closed *c = m->closed;
  char which[112] = "a region";
  m->closed->hopeless = 1;
  for (int r = 0; r < c->count; r++)
    if (c->grid[r] == g)
      snprintf(which, sizeof which, "region %d of %zu cells at (%g, %g, %g)", c->info[r].id,
               c->info[r].cells, c->info[r].center.x, c->info[r].center.y, c->info[r].center.z);
  return mn_fail(m->ctx, MN_FAILED,
                 "%s of fluid of %.3g m^%d is closed on all sides, and %g m^%d/s flow into it, "
                 "%.3g of them by bodies that move: no body around it gives way; open a side",
                 which, sum->volume, m->boxes->face.dim, sum->flow, m->boxes->face.dim,
                 sum->flow - sum->blown);
}

/* The part of the flow into a region that is of bodies wholly inside: 0 but for the faces that are
   missing, where cells between them and walls have vanished. */
static mn_status add_up_inside(mn_monolithic *m, int32_t g, double *flow)
{
  mn_mono_system *s = &m->s;
  mn_vec3 *V;
  mn_arena_mark mark = mn_arena_save(&s->arena);
  MN_TRY(MN_PUSH(s->ctx, &s->arena, m->boxes->face.count + 1, &V));
  mn_closed_part_inside(m->closed, g, m->boxes->face.V, V);
  mn_boxes_gather_of(m->boxes, V, s->F);
  *flow = mn_mono_flow_in(s, g, s->F);
  mn_arena_reset(&s->arena, mark);
  return MN_OK;
}

/* What flows into a region that gives no way, more than the faces miss. */
static mn_status check_net(mn_monolithic *m, int32_t g)
{
  region_sum sum = add_up(m, g);
  double missed = 0, most = MENDED * sum.walls + ROUND_OFF * sum.size;
  if (m->s.fluid.bound && sum.flow < 0)
    return MN_OK; /* it lets go */
  if (fabs(sum.flow) <= most)
    return MN_OK;
  MN_TRY(add_up_inside(m, g, &missed));
  return fabs(sum.flow - missed) <= most ? MN_OK : refuse(m, g, &sum);
}

/* ---- what is asked --------------------------------------------------------------------------- */

/* 1: some point that faces the region has a velocity of its own at the end. */
static int leads(const mn_closed *c, int r)
{
  const mn_interface *f = &c->boxes->face;
  const mn_vec3 *row = &c->row[(size_t)r * f->count];
  for (size_t i = 0; i < f->count; i++)
    if (f->lead[i] > 0 && mn_dot(row[i], row[i]) > 0)
      return 1;
  return 0;
}

static double along(const mn_closed *c, int r, const mn_vec3 *field)
{
  size_t n = c->boxes->face.count;
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += mn_dot(c->row[(size_t)r * n + i], field[i]);
  return sum;
}

double mn_mono_lost(const mn_monolithic *m)
{
  const mn_closed *c = m->closed;
  double most = 0;
  for (int r = 0; r < c->count; r++)
    if (c->surface[r] > 0)
      most = fmax(most,
                  fabs(along(c, r, m->boxes->face.X) - along(c, r, m->X_linear)) / c->surface[r]);
  return most;
}

/* A gap that opened where water left its walls is no air, however wide: nothing in it bears bodies
   or holds them back. */
static int is_void(const mn_monolithic *m, int r)
{
  const mn_closed *c = m->closed;
  if (!m->s.fluid.bound || c->keeps || mn_mono_has_cells(&m->s, c->grid[r]))
    return 0;
  return c->parted[r] || c->now.error[c->slot[r]] > GAP * m->dx * c->surface[r];
}

void mn_mono_tell_regions(mn_monolithic *m)
{
  mn_mono_system *s = &m->s;
  mn_closed *c = m->closed;
  size_t n = m->boxes->face.count;
  s->told = c->boxes->fluid.ops->enclose && c->form != MN_CLOSED_NONE;
  s->volumes = s->told ? c->count : 0;
  for (int r = 0; r < s->volumes; r++)
    s->volume[r] = (mn_mono_volume){
        .grid = c->grid[r], .row = c->still[r] || is_void(m, r) ? NULL : &c->row[(size_t)r * n]};
}

void mn_mono_meet_regions(mn_monolithic *m)
{
  mn_closed *c = m->closed;
  if (c->count)
    mn_closed_swept(c, m->boxes->face.X, m->met);
  for (int r = 0; r < c->count; r++)
    m->met[r] -= along(c, r, m->boxes->face.X);
}

/* m^3, of what earlier substeps left; of all regions the same part, so that those that share walls
   do not ask for what contradicts. */
static double carried(const mn_monolithic *m, int r)
{
  const mn_closed *c = m->closed;
  double part = 1;
  for (int k = 0; k < c->count; k++) {
    double most = CARRIED * m->dx * c->surface[k], error = fabs(c->now.error[c->slot[k]]);
    part = error > most ? fmin(part, most / error) : part;
  }
  return part * c->now.error[c->slot[r]];
}

/* 1: the system has a row for the volume of region r, or it follows from those of others. */
static int is_asked(const mn_mono_system *s, int r)
{
  int any = 0;
  for (size_t k = 0; k < s->borders; k++)
    any |= s->border[k].volume == r &&
           (s->border[k].kind == MN_MONO_SWEPT || s->border[k].kind == MN_MONO_TIED);
  for (int k = 0; k < s->volumes; k++)
    any |= s->shared[r][k] != 0;
  return any;
}

/* Whether velocities at the end will be settled. */
static int binds(const mn_monolithic *m, double *lead)
{
  const mn_closed *c = m->closed;
  *lead = 0;
  if (!m->s.volumes || mn_mono_is_linearised(m) || !mn_closed_settles_alike(c, lead))
    return 0;
  for (int r = 0; r < m->s.volumes; r++)
    if (!c->still[r] && !is_asked(&m->s, r))
      return 0;
  return 1;
}

static void ask(mn_monolithic *m, double lead)
{
  mn_mono_system *s = &m->s;
  mn_closed *c = m->closed;
  const mn_interface *f = &m->boxes->face;
  double swept[MN_CLOSED_MAX], flow[MN_CLOSED_MAX];
  if (s->volumes && m->newton) {
    mn_closed_swept(c, f->X, swept);
    mn_closed_flow(c, f->X, f->V, flow);
  }
  for (int r = 0; r < s->volumes; r++) {
    double left = carried(m, r);
    double Q = c->info[r].inflow, done = m->newton ? swept[r] : m->met[r] + along(c, r, f->X);
    if (c->struck[c->slot[r]])
      s->volume[r].rate = Q - (m->newton ? flow[r] : along(c, r, f->V));
    else if (leads(c, r) && !m->binds)
      s->volume[r].rate = mn_closed_inflow_at_end(c, r) - FED * left / s->dt - along(c, r, f->V);
    else
      s->volume[r].rate = (1 + lead) * (Q - (left + done) / s->dt);
  }
}

/* m->settled: what is left of N V after the step, by the mass of the bodies. */
static mn_status settle(mn_monolithic *m)
{
  mn_closed *c = m->closed;
  const mn_interface *f = &m->boxes->face;
  size_t n = f->count, count = (size_t)c->count;
  double rate[MN_CLOSED_MAX], part[MN_CLOSED_MAX], left[MN_CLOSED_MAX], *k;
  MN_TRY(MN_PUSH(c->ctx, &c->arena, count * count, &k));
  for (size_t i = 0; i < n; i++)
    m->settled[i] = mn_add(f->V[i], m->touched[i]);
  mn_closed_flow_at(c, f->X, m->settled, rate);
  for (int r = 0; r < c->count; r++) {
    rate[r] += m->s.volume[r].rate - mn_closed_inflow_at_end(c, r);
    mn_closed_flow_at(c, f->X, &c->reply[(size_t)r * n], &k[(size_t)r * count]);
  }
  MN_TRY(mn_closed_solve_small(c, k, rate, part, left));
  memcpy(m->settled, m->touched, n * sizeof *m->settled);
  for (int r = 0; r < c->count; r++)
    for (size_t i = 0; i < n; i++)
      m->settled[i] = mn_madd(m->settled[i], part[r], c->reply[(size_t)r * n + i]);
  return MN_OK;
}

double mn_mono_volume_off(const mn_monolithic *m)
{
  const mn_mono_system *s = &m->s;
  const mn_closed *c = m->closed;
  double swept[MN_CLOSED_MAX], most = 0;
  if (s->volumes)
    mn_closed_swept(c, m->boxes->face.X, swept);
  for (size_t k = 0; k < s->borders; k++) {
    int r = s->border[k].volume, kind = s->border[k].kind;
    if ((kind != MN_MONO_SWEPT && kind != MN_MONO_TIED) || c->struck[c->slot[r]] ||
        (leads(c, r) && !m->binds))
      continue;
    double asked = s->dt * c->info[r].inflow - carried(m, r);
    most = fmax(most, fabs(swept[r] - asked) / c->surface[r]);
  }
  return most;
}

/* Volumes that follow from others, which must give what is asked. */
static mn_status check_shared(mn_monolithic *m)
{
  const mn_mono_system *s = &m->s;
  mn_closed *c = m->closed;
  for (int r = 0; r < s->volumes; r++) {
    int any = 0;
    double left = s->volume[r].rate;
    for (int k = 0; k < s->volumes; k++) {
      any |= s->shared[r][k] != 0;
      left -= s->shared[r][k] * s->volume[k].rate;
    }
    if (any && fabs(left) * s->dt > FOUND * m->dx * c->surface[r])
      return mn_closed_refuse(c, r, left);
  }
  return MN_OK;
}

/* Between bodies on both sides, none of which faces it: twice its volume over their walls is its
   thickness. What sources or driven walls bring in is no such artefact. */
static int is_slit(const mn_monolithic *m, int32_t g)
{
  const mn_mono_system *s = &m->s;
  region_sum sum = add_up(m, g);
  double area = 0;
  for (size_t row = 0; row < s->rows; row++)
    area += mn_mono_breath(s, g, row) != 0 ? s->fluid.area[row] : 0;
  return 2 * sum.volume < SLIT * m->dx * area && fabs(sum.blown) <= MENDED * sum.walls;
}

/* Some body at its walls can give way, and nothing but bodies moves them. That nobody knows it,
   then, is because no side of theirs sees it across more room than the grid can tell (enclose.c): a
   layer between a block that falls and a skin, say, which the grid parts from the fluid around as
   the block passes from one row of cells to the next. */
static int is_layer(const mn_monolithic *m, int32_t g)
{
  const mn_mono_system *s = &m->s;
  const mn_csr *WE = &s->WE.a;
  region_sum sum = add_up(m, g);
  int gives = 0;
  for (size_t row = 0; row < s->rows && !gives; row++)
    gives = mn_mono_breath(s, g, row) != 0 && WE->start[row] < WE->start[row + 1];
  return gives && fabs(sum.blown) <= MENDED * sum.walls;
}

static int is_pocket(const mn_monolithic *m, int32_t g)
{
  double cells = 0;
  for (size_t i = 0; i < m->s.cells; i++)
    cells += m->s.fluid.region[i] == g;
  for (int r = 0; r < m->s.volumes; r++)
    if (m->s.volume[r].grid == g)
      return 0;
  return m->s.told && (cells <= pow(POCKET, m->boxes->face.dim) || is_slit(m, g) || is_layer(m, g));
}

/* Some p0 moves what is around it. */
static int gives_way(const mn_mono_system *s, int32_t g)
{
  for (int r = 0; r < s->volumes; r++)
    if (s->volume[r].grid == g && s->volume[r].row)
      return 1;
  return 0;
}

static int has_walls(const mn_mono_system *s, int32_t g)
{
  for (size_t row = 0; row < s->rows; row++)
    if (mn_mono_breath(s, g, row) != 0)
      return 1;
  return 0;
}

mn_status mn_mono_books(mn_monolithic *m)
{
  mn_mono_system *s = &m->s;
  double lead;
  m->binds = binds(m, &lead);
  ask(m, lead);
  s->settled = NULL;
  if (m->binds) {
    mn_arena_mark mark = mn_arena_save(&m->closed->arena);
    mn_status status = settle(m);
    mn_arena_reset(&m->closed->arena, mark);
    MN_TRY(status);
    s->settled = m->settled;
  }
  MN_TRY(mn_mono_right(s));
  for (size_t k = 0; k < s->borders; k++) {
    int32_t g = s->border[k].grid;
    if (s->border[k].kind == MN_MONO_BREATH && !gives_way(s, g) && !is_pocket(m, g))
      MN_TRY(check_net(m, g));
  }
  for (size_t k = 0; k < s->pins; k++)
    if (!has_walls(s, s->fluid.region[s->pinned[k]]))
      MN_TRY(check_net(m, s->fluid.region[s->pinned[k]]));
  return check_shared(m);
}

int mn_mono_turns(mn_monolithic *m)
{
  mn_closed *c = m->closed;
  size_t n = m->boxes->face.count;
  memcpy(m->rest, m->load, n * sizeof *m->rest);
  for (int r = 0; r < m->s.volumes; r++) {
    double p0 = c->now.p0[c->slot[r]] = m->s.volume[r].p0;
    for (size_t i = 0; i < n; i++)
      m->rest[i] = mn_madd(m->rest[i], -p0, c->row[(size_t)r * n + i]);
  }
  return m->s.volumes && mn_closed_turns(c, m->rest);
}

/* p0 of regions: the mean of p over their volume; of air, what its surfaces feel. */
mn_status mn_monolithic_finish(mn_monolithic *m)
{
  const mn_mono_system *s = &m->s;
  mn_closed *c = m->closed;
  if (m->binds)
    MN_TRY(mn_closed_settle(c));
  for (int r = 0; r < c->count; r++) {
    double sum = 0, volume = 0;
    for (size_t i = 0; i < s->cells && s->fluid.region && c->grid[r] >= 0; i++)
      if (s->fluid.region[i] == c->grid[r]) {
        sum += s->fluid.volume[i] * m->p[i];
        volume += s->fluid.volume[i];
      }
    if (volume > 0)
      c->now.p0[c->slot[r]] = sum / volume;
    else if (r < s->volumes)
      c->now.p0[c->slot[r]] = s->volume[r].p0;
  }
  return mn_closed_finish(c);
}
