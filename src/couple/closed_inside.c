/* Rigid bodies that lie wholly inside a closed region.

   Of a body that moves as one the rows N_i of a region (closed.h) give the volume that it takes
   from it by any motion V_i = v + w x x_i,

       sum_i N_i . V_i = v . sum_i N_i + w . sum_i x_i x N_i,

   and both sums are 0, to rounding, where its surface there is closed: a ball in a box, the hollow
   of a ring. Whatever the grid sees of its motion as a net flow is then what is missing of its
   faces, because cells between it and a wall have vanished, and is mended (fluid/mac/compatible.c,
   monolithic_closed.c). Verified by tests/verify/test_closed_landing.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/closed.h"
#include "math/vec.h"

/* Of the sum of sizes: less is rounding. */
static const double BALANCED = 1e-9;

typedef struct body_sum {
  mn_vec3 force, torque, middle; /* sums of N, x x N; mean of x */
  double size, moment, points;   /* sums of |N|, |x| |N| */
  int loose;                     /* 1: it does not move as one */
} body_sum;

static int count_bodies(const mn_interface *f)
{
  int bodies = 0;
  for (size_t i = 0; i < f->count; i++)
    bodies = f->body[i] >= bodies ? f->body[i] + 1 : bodies;
  return bodies;
}

static void add_up(const mn_interface *f, const mn_vec3 *row, body_sum *sum)
{
  for (size_t i = 0; i < f->count; i++) {
    body_sum *s = &sum[f->body[i]];
    s->middle = mn_add(s->middle, f->X[i]);
    s->points++;
    s->loose |= !f->rigid[i];
  }
  for (size_t i = 0; i < f->count; i++) {
    body_sum *s = &sum[f->body[i]];
    mn_vec3 x = mn_madd(f->X[i], -1 / s->points, s->middle);
    s->force = mn_add(s->force, row[i]);
    s->torque = mn_add(s->torque, mn_cross(x, row[i]));
    s->size += mn_length(row[i]);
    s->moment += mn_length(x) * mn_length(row[i]);
  }
}

static int is_balanced(const body_sum *s)
{
  return !s->loose && s->size > 0 && mn_length(s->force) <= BALANCED * s->size &&
         mn_length(s->torque) <= BALANCED * s->moment;
}

static mn_status make_room(mn_closed *c, size_t entries)
{
  if (entries <= c->inside_room)
    return MN_OK;
  c->inside_room = 0;
  MN_TRY(MN_RENEW(c->ctx, "bodies in closed regions", entries, &c->inside));
  c->inside_room = entries;
  return MN_OK;
}

mn_status mn_closed_find_inside(mn_closed *c)
{
  mn_interface *f = &c->boxes->face;
  int bodies = count_bodies(f);
  body_sum *sum;
  if ((size_t)bodies > f->count) /* a solid's own way to number them */
    return MN_OK;
  MN_TRY(make_room(c, (size_t)c->grid_count * (size_t)bodies + 1));
  memset(c->inside, 0, (size_t)c->grid_count * (size_t)bodies);
  mn_arena_mark mark = mn_arena_save(&c->arena);
  MN_TRY(MN_PUSH(c->ctx, &c->arena, (size_t)bodies + 1, &sum));
  for (int r = 0; r < c->count; r++) {
    if (c->grid[r] < 0)
      continue;
    memset(sum, 0, (size_t)bodies * sizeof *sum);
    add_up(f, &c->row[(size_t)r * f->count], sum);
    for (int b = 0; b < bodies; b++)
      c->inside[c->grid[r] * bodies + b] = (uint8_t)is_balanced(&sum[b]);
  }
  mn_arena_reset(&c->arena, mark);
  f->inside = c->boxes->agreed.inside = c->inside;
  f->bodies = c->boxes->agreed.bodies = bodies;
  return MN_OK;
}

void mn_closed_part_inside(const mn_closed *c, int g, const mn_vec3 *field, mn_vec3 *part)
{
  const mn_interface *f = &c->boxes->face;
  int known = f->inside && g >= 0 && g < c->grid_count;
  for (size_t i = 0; i < f->count; i++)
    part[i] = known && f->inside[g * f->bodies + f->body[i]] ? field[i] : mn_v3(0, 0, 0);
}
