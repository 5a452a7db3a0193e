/* Vector areas and swept volumes of the elements that face closed regions.

   While the points of an element move straight from a to b, its vector area is linear in time in 2D
   and quadratic in 3D: the middle and Simpson's rule give its mean exactly, and that times the mean
   displacement of its points is the volume it sweeps. No surface need be closed for that: a piston
   between walls, a shell that ends at them, and parts that slide along walls sweep what they
   should; of an element that reaches into a wall only the part outside counts (mn_enclosed.bare).
   Rows are shared evenly over an element's points. Verified by test_closed_rows.c. */
#include "couple/closed.h"

#include <string.h>

#include "math/vec.h"

static mn_vec3 area_at(const mn_vec3 *x, int dim)
{
  mn_vec3 u = mn_sub(x[1], x[0]);
  if (dim == 2)
    return mn_v3(u.y, -u.x, 0);
  return mn_scale(0.5, mn_cross(u, mn_sub(x[2], x[0])));
}

static mn_vec3 area_of(const mn_interface *f, const uint32_t *point, const mn_vec3 *a,
                       const mn_vec3 *b)
{
  mn_vec3 x[3][3] = {0}; /* start, middle, end */
  for (int k = 0; k < f->dim; k++) {
    uint32_t i = point[k];
    x[0][k] = a[i];
    x[1][k] = mn_scale(0.5, mn_add(a[i], b[i]));
    x[2][k] = b[i];
  }
  mn_vec3 middle = area_at(x[1], f->dim);
  if (f->dim == 2)
    return middle;
  mn_vec3 ends = mn_add(area_at(x[0], 3), area_at(x[2], 3));
  return mn_scale(1.0 / 6, mn_madd(ends, 4, middle));
}

mn_vec3 mn_closed_area(const mn_interface *f, size_t e, const mn_vec3 *a, const mn_vec3 *b)
{
  return area_of(f, &f->element[(size_t)f->dim * e], a, b);
}

/* Regions that the two sides face, or -1, by slot; 0 if that is the same for both. */
static int sides(const mn_closed *c, size_t e, int slot[2])
{
  slot[0] = mn_closed_slot(c->label_now[2 * e]);
  slot[1] = mn_closed_slot(c->label_now[2 * e + 1]);
  return slot[0] != slot[1];
}

static void index_slots(const mn_closed *c, int *region)
{
  for (int r = 0; r < c->count; r++)
    region[c->slot[r]] = r;
}

/* While the points move from `from` to X; of all sides, or the unseen ones. */
static void add_flow(const mn_closed *c, const mn_vec3 *from, const mn_vec3 *X,
                     const mn_vec3 *field, int unseen, double *flow)
{
  const mn_interface *f = &c->boxes->face;
  int region[MN_CLOSED_MAX] = {0}, slot[2];
  index_slots(c, region);
  memset(flow, 0, (size_t)c->count * sizeof *flow);
  for (size_t e = 0; e < f->elements; e++) {
    if (!sides(c, e, slot))
      continue;
    mn_vec3 mean = mn_v3(0, 0, 0);
    for (int k = 0; k < f->dim; k++)
      mean = mn_add(mean, field[f->element[(size_t)f->dim * e + (size_t)k]]);
    double through = mn_dot(mn_closed_area(f, e, from, X), mean) / f->dim;
    if (slot[0] >= 0 && (!unseen || c->unseen_side[2 * e]))
      flow[region[slot[0]]] -= c->bare[2 * e] * through;
    if (slot[1] >= 0 && (!unseen || c->unseen_side[2 * e + 1]))
      flow[region[slot[1]]] += c->bare[2 * e + 1] * through;
  }
}

void mn_closed_flow_unseen(const mn_closed *c, const mn_vec3 *X, const mn_vec3 *field, double *flow)
{
  add_flow(c, c->start, X, field, 1, flow);
}

/* Of all sides and lids. */
static void flow_of_all(const mn_closed *c, const mn_vec3 *from, const mn_vec3 *X,
                        const mn_vec3 *field, double *flow)
{
  const mn_interface *f = &c->boxes->face;
  add_flow(c, from, X, field, 0, flow);
  for (int l = 0; l < c->lids; l++) {
    const uint32_t *p = c->lid[l].point;
    flow[c->lid[l].region] += mn_dot(area_of(f, p, from, X), mn_add(field[p[0]], field[p[1]])) / 2;
  }
}

void mn_closed_flow(const mn_closed *c, const mn_vec3 *X, const mn_vec3 *field, double *flow)
{
  flow_of_all(c, c->start, X, field, flow);
}

void mn_closed_flow_at(const mn_closed *c, const mn_vec3 *X, const mn_vec3 *field, double *flow)
{
  flow_of_all(c, X, X, field, flow);
}

void mn_closed_swept(const mn_closed *c, const mn_vec3 *X, double *swept)
{
  size_t n = c->boxes->face.count;
  for (size_t i = 0; i < n; i++)
    c->move[i] = mn_sub(X[i], c->start[i]);
  mn_closed_flow(c, X, c->move, swept);
}

void mn_closed_fill_rows(mn_closed *c, const mn_vec3 *X)
{
  const mn_interface *f = &c->boxes->face;
  size_t n = f->count, dim = (size_t)f->dim;
  int region[MN_CLOSED_MAX] = {0}, slot[2];
  index_slots(c, region);
  memset(c->row, 0, (size_t)c->count * n * sizeof *c->row);
  memset(c->surface, 0, sizeof c->surface);
  for (size_t e = 0; e < f->elements; e++) {
    if (!sides(c, e, slot))
      continue;
    mn_vec3 area = mn_closed_area(f, e, X, X);
    for (int s = 0; s < 2; s++) {
      if (slot[s] < 0)
        continue;
      int r = region[slot[s]];
      double bare = c->bare[2 * e + (size_t)s];
      c->surface[r] += bare * mn_length(area);
      for (size_t k = 0; k < dim; k++) {
        mn_vec3 *at = &c->row[(size_t)r * n + f->element[dim * e + k]];
        *at = mn_madd(*at, (s ? bare : -bare) / f->dim, area);
      }
    }
  }
  for (int l = 0; l < c->lids; l++) {
    mn_vec3 area = area_of(f, c->lid[l].point, X, X);
    mn_vec3 *row = &c->row[(size_t)c->lid[l].region * n];
    for (int k = 0; k < 2; k++)
      row[c->lid[l].point[k]] = mn_madd(row[c->lid[l].point[k]], 0.5, area);
  }
}
