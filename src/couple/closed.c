/* Closed regions through a substep: what the fluid says, what is kept, what is booked. */
#include "couple/closed.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "math/vec.h"

/* Of the volume that earlier substeps left, so much is made good in one, as a distance of the
   surfaces in cells. */
static const double CARRIED = 0.05;

/* ---- life ------------------------------------------------------------------------------------ */

static mn_status list_elements(mn_closed *c)
{
  const mn_interface *f = &c->boxes->face;
  size_t dim = (size_t)f->dim, entries = dim * f->elements;
  MN_TRY(MN_NEW(c->ctx, "a surface's elements", f->count + 2, &c->first));
  MN_TRY(MN_NEW(c->ctx, "a surface's elements", entries, &c->around));
  for (size_t k = 0; k < entries; k++)
    c->first[f->element[k] + 2]++;
  for (size_t i = 0; i < f->count; i++)
    c->first[i + 2] += c->first[i + 1];
  for (size_t k = 0; k < entries; k++)
    c->around[c->first[f->element[k] + 1]++] = k / dim;
  return MN_OK;
}

mn_status mn_closed_create(mn_context *ctx, mn_boxes *boxes, mn_coupling_closed form, double dx,
                           mn_closed *c)
{
  size_t n = boxes->face.count, sides = 2 * boxes->face.elements;
  *c = (mn_closed){.ctx = ctx, .boxes = boxes, .form = form, .dx = dx};
  c->kept.next_id = 1;
  MN_TRY(MN_NEW(ctx, "labels of closed regions", sides, &c->label));
  MN_TRY(MN_NEW(ctx, "labels of closed regions", sides, &c->label_now));
  MN_TRY(MN_NEW(ctx, "sides that the fluid does not see", sides, &c->unseen_side));
  MN_TRY(MN_NEW(ctx, "parts of sides in walls", sides, &c->bare));
  MN_TRY(MN_NEW(ctx, "displacements", n, &c->move));
  MN_TRY(MN_NEW(ctx, "a fluid's masses", n, &c->fluid_mass));
  MN_TRY(list_elements(c));
  return mn_closed_find_parts(c);
}

void mn_closed_destroy(mn_closed *c)
{
  void *all[] = {c->label,      c->label_now, c->unseen_side, c->row,    c->reply,
                 c->move,       c->inside,    c->level,       c->first,  c->part,
                 c->fluid_mass, c->around,    c->p0_of_grid,  c->unseen, c->closed_part,
                 c->kept_grid,  c->bare};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  mn_arena_destroy(&c->arena);
  *c = (mn_closed){0};
}

/* ---- the substep ----------------------------------------------------------------------------- */

void mn_closed_begin(mn_closed *c, double dt, const mn_vec3 *start)
{
  c->now = c->kept;
  c->dt = dt;
  c->start = start;
  double far = 0;
  for (size_t i = 0; i < c->boxes->face.count; i++)
    for (int a = 0; a < 3; a++)
      far = mn_max(far, fabs(start[i].v[a]));
  c->far = far;
  c->force = mn_v3(0, 0, 0);
  c->boxes->face.inside = c->boxes->agreed.inside = NULL;
  c->boxes->face.kept = c->boxes->agreed.kept = NULL;
  memset(c->impulse, 0, sizeof c->impulse);
  c->count = c->lids = c->told = c->solves = c->hopeless = c->grid_count = c->settled = 0;
}

static mn_status make_room(mn_closed *c)
{
  size_t n = c->boxes->face.count, room = (size_t)c->count;
  if (room <= c->room)
    return MN_OK;
  c->room = 0;
  MN_TRY(MN_RENEW(c->ctx, "rows of closed regions", room * n, &c->row));
  MN_TRY(MN_RENEW(c->ctx, "rows of closed regions", room * n, &c->reply));
  c->room = room;
  return MN_OK;
}

static void describe(mn_closed *c, const mn_enclosed *said)
{
  for (int r = 0; r < c->count; r++) {
    int g = c->grid[r], slot = c->slot[r];
    mn_region_info *i = &c->info[r];
    *i = (mn_region_info){.id = (int)c->now.id[slot]};
    c->blown[r] = 0;
    c->parted[r] = g >= 0 && said->parted && said->parted[g];
    if (g >= 0) {
      c->blown[r] = said->blown ? said->blown[g] : 0;
      i->inflow = said->inflow[g];
      i->volume = said->volume[g];
      i->center = said->center[g];
      i->cells = said->cells[g];
    }
    double most = CARRIED * c->dx * c->surface[r], error = c->now.error[slot];
    int carry = c->form != MN_CLOSED_NONE;
    c->target[r] = c->dt * i->inflow - (carry ? fmax(-most, fmin(most, error)) : 0);
  }
}

/* Regions whose volume a p0 keeps. */
static void tell_kept(mn_closed *c)
{
  if (!c->keeps || !c->grid_count)
    return;
  memset(c->kept_grid, 0, (size_t)c->grid_count);
  for (int r = 0; r < c->count; r++)
    if (c->grid[r] >= 0)
      c->kept_grid[c->grid[r]] = !c->still[r];
  c->boxes->face.kept = c->boxes->agreed.kept = c->kept_grid;
}

mn_status mn_closed_meet(mn_closed *c)
{
  mn_enclosed said = {0};
  if (!c->boxes->fluid.ops->enclose)
    return MN_OK;
  MN_TRY(mn_boxes_enclose(c->boxes, &said));
  MN_TRY(mn_closed_identify(c, &said));
  if ((size_t)said.count > c->grid_room) {
    c->grid_room = 0;
    MN_TRY(MN_RENEW(c->ctx, "pressures of regions", (size_t)said.count, &c->p0_of_grid));
    MN_TRY(MN_RENEW(c->ctx, "pressures of regions", (size_t)said.count, &c->level));
    MN_TRY(MN_RENEW(c->ctx, "flows of regions", (size_t)said.count, &c->unseen));
    MN_TRY(MN_RENEW(c->ctx, "regions that are kept", (size_t)said.count, &c->kept_grid));
    c->grid_room = (size_t)said.count;
  }
  for (int g = 0; g < said.count; g++)
    c->level[g] = 0;
  c->grid_count = said.count;
  c->told = c->count;
  if (!c->count)
    return MN_OK;
  MN_TRY(make_room(c));
  mn_closed_find_lids(c);
  mn_closed_fill_rows(c, c->start); /* where the solid's mass answers */
  describe(c, &said);
  MN_TRY(mn_closed_weigh_rows(c));
  for (int r = 0; r < c->count; r++)
    if (c->still[r]) /* no p0 is wrong, and none lasts */
      c->now.p0[c->slot[r]] = 0;
  mn_closed_fill_rows(c, c->boxes->face.X);
  tell_kept(c);
  return mn_closed_find_inside(c);
}

int mn_closed_changed(const mn_closed *c)
{
  return memcmp(c->now.id, c->kept.id, sizeof c->now.id) != 0;
}

void mn_closed_weigh(mn_closed *c)
{
  const mn_interface *f = &c->boxes->face;
  memcpy(c->fluid_mass, f->mass, f->count * sizeof *f->mass);
}

/* What the faces cannot show of sides that keep their region unseen: see interface.unseen. */
static void find_unseen(mn_closed *c)
{
  double flow[MN_CLOSED_MAX];
  const mn_interface *f = &c->boxes->face;
  mn_closed_flow_unseen(c, f->X, f->V, flow);
  for (int g = 0; g < c->grid_count; g++)
    c->unseen[g] = 0;
  for (int r = 0; r < c->count; r++)
    if (c->grid[r] >= 0)
      c->unseen[c->grid[r]] = flow[r];
}

mn_status mn_closed_solve_fluid(mn_closed *c)
{
  for (int g = 0; g < c->grid_count; g++)
    c->level[g] = 0;
  if (c->count)
    find_unseen(c);
  c->boxes->face.level = c->count ? c->level : NULL;
  c->boxes->face.unseen = c->count ? c->unseen : NULL;
  mn_status status = mn_boxes_solve_fluid(c->boxes);
  c->boxes->face.level = NULL; /* one system takes the loads as they are */
  c->boxes->face.unseen = NULL;
  MN_TRY(status);
  for (int g = 0; g < c->grid_count; g++)
    if (!isfinite(c->level[g]))
      return mn_fail(c->ctx, MN_FAILED, "the fluid \"%s\" answered with a level that is not finite",
                     c->boxes->fluid.ops->name ? c->boxes->fluid.ops->name : "without a name");
  return MN_OK;
}

void mn_closed_push(mn_closed *c)
{
  mn_interface *f = &c->boxes->face;
  size_t n = f->count;
  c->force = mn_v3(0, 0, 0);
  for (int r = 0; r < c->count; r++) {
    double p = c->now.p0[c->slot[r]] + (c->grid[r] >= 0 ? c->level[c->grid[r]] : 0);
    for (size_t i = 0; i < n; i++) {
      mn_vec3 part = mn_scale(p, c->row[(size_t)r * n + i]);
      f->load[i] = mn_add(f->load[i], part);
      c->force = mn_add(c->force, part);
    }
  }
}

/* ---- its end --------------------------------------------------------------------------------- */

mn_status mn_closed_finish(mn_closed *c)
{
  double swept[MN_CLOSED_MAX], end[MN_CLOSED_MAX];
  if (!c->grid_count && !c->count)
    return MN_OK;
  memset(c->p0_of_grid, 0, (size_t)c->grid_count * sizeof *c->p0_of_grid);
  if (c->count) {
    mn_closed_swept(c, c->boxes->face.X, swept);
    mn_closed_flow(c, c->boxes->face.X, c->boxes->face.V, end);
  }
  for (int r = 0; r < c->count; r++) {
    mn_region_info *i = &c->info[r];
    int slot = c->slot[r];
    if (c->struck[slot])
      c->now.known = 0; /* K was that of velocities */
    else                /* what stands still cannot make it good */
      (c->still[r] ? c->now.lost : c->now.error)[slot] += swept[r] - c->dt * i->inflow;
    i->p0 = c->now.p0[slot] + c->impulse[r] / c->dt;
    c->now.last_inflow[slot] = i->inflow;
    c->now.last_dt[slot] = c->dt;
    i->error = c->now.error[slot] + c->now.lost[slot];
    c->now.volume[slot] = i->volume;
    i->net_outflow = (c->struck[slot] ? end[r] : swept[r] / c->dt) - i->inflow;
    if (c->grid[r] >= 0)
      c->p0_of_grid[c->grid[r]] = i->p0;
  }
  return mn_boxes_lift(c->boxes, c->p0_of_grid, c->grid_count);
}

void mn_closed_commit(mn_closed *c)
{
  if (!c->boxes->fluid.ops->enclose)
    return;
  c->kept = c->now;
  c->kept.begun = 1;
  memcpy(c->label, c->label_now, 2 * c->boxes->face.elements);
}

void mn_closed_hand_over(mn_closed *c, const mn_closed *from)
{
  if (!c->boxes->fluid.ops->enclose)
    return;
  c->kept = from->kept;
  c->kept.known = 0; /* K was that of another form */
  memcpy(c->label, from->label, 2 * c->boxes->face.elements);
  c->told = from->told;
  memcpy(c->info, from->info, sizeof c->info);
}

int mn_closed_arrays(mn_closed *c, mn_array *arrays, int capacity)
{
  size_t numbers = sizeof c->kept / sizeof(double), sides = 2 * c->boxes->face.elements;
  mn_array own[] = {{"closed_numbers", MN_F64, 1, {numbers}, &c->kept, 0},
                    {"closed_labels", MN_U8, 1, {sides}, c->label, 0}};
  for (int i = 0; i < 2 && i < capacity; i++)
    arrays[i] = own[i];
  return 2;
}
