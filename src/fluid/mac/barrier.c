/* One-sided sight and interpolation beside thin surfaces [Guendelman et al. 2005].

   There every interpolation casts rays to all corners. Here one ray finds the home of a point, and
   the links between cells, cut or not, say the rest: as tight, and a few times cheaper.

   Fluid slides along a surface. On a blocked face each side has its own velocity: the one of the
   cell on that side, u, turned into  u + ((U - u).n) n  with the surface's velocity U and normal n.

   Verified by tests/unit/fluid/test_shell.c, tests/verify/test_no_leak.c. */
#include "fluid/mac/barrier.h"

#include <math.h>

#include "base/memory.h"
#include "base/status.h"
#include "geom/closest.h"

void mn_barrier_destroy(mn_barrier *b)
{
  mn_free(b->normal);
  mn_free(b->speed);
  *b = (mn_barrier){0};
}

/* ---- links ----------------------------------------------------------------------------------- */

static mn_vec3 center(const mn_grid *g, const int cell[3])
{
  mn_vec3 x = {{0, 0, 0}};
  for (int a = 0; a < g->dim; a++)
    x.v[a] = g->origin.v[a] + g->dx * (g->lo[a] + cell[a] + 0.5);
  return x;
}

static void describe_link(mn_barrier *b, size_t n, const mn_vec3 *V)
{
  const mn_immersed *im = b->surface;
  const mn_closed_face *f = &im->link[n];
  int dim = im->grid->dim, cell[3] = {f->i, f->j, f->k};
  const uint32_t *p = &im->element[(size_t)dim * f->element];
  mn_vec3 x[3], at = center(im->grid, cell), v = {{0, 0, 0}};
  double weight[3] = {0};
  for (int i = 0; i < dim; i++)
    x[i] = im->X[p[i]];
  at.v[f->axis] += (f->fraction - 1) * im->grid->dx;
  mn_closest(dim, x, at, weight);
  for (int i = 0; i < dim; i++)
    v = mn_madd(v, weight[i], V[p[i]]);
  mn_vec3 e = mn_sub(x[1], x[0]);
  mn_vec3 normal = dim == 2 ? mn_v3(e.y, -e.x, 0) : mn_cross(e, mn_sub(x[2], x[0]));
  double length = mn_length(normal);
  b->normal[n] = length > 0 ? mn_scale(1 / length, normal) : mn_v3(0, 0, 0);
  b->speed[n] = mn_dot(v, b->normal[n]);
}

mn_status mn_barrier_place(mn_barrier *b, const mn_immersed *surface, const mn_vec3 *V)
{
  b->surface = surface;
  if (surface->links > b->room) {
    size_t room = surface->links + surface->links / 2;
    MN_TRY(mn_grow(surface->ctx, "blocked links", b->room, room, sizeof *b->normal,
                   (void **)&b->normal));
    MN_TRY(mn_grow(surface->ctx, "blocked links", b->room, room, sizeof *b->speed,
                   (void **)&b->speed));
    b->room = room;
  }
  for (size_t n = 0; n < surface->links; n++)
    describe_link(b, n, V);
  return MN_OK;
}

/* 1 + number of the link below a cell, or 0; cells outside the domain count as the next inside. */
static inline int32_t link_below(const mn_immersed *im, int axis, const int cell[3])
{
  int at[3];
  for (int a = 0; a < 3; a++) {
    int last = im->grid->n[a] - 1;
    at[a] = cell[a] < 0 ? 0 : cell[a] > last ? last : cell[a];
    if (a == axis && cell[a] != at[a])
      return 0; /* to a ghost */
  }
  if (at[axis] == 0)
    return 0;
  return im->blocked[axis][mn_index(&im->face[axis], at[0], at[1], at[2])];
}

/* The same of a face, also on the sides of the domain. */
static inline int32_t link_of_face(const mn_immersed *im, int axis, const int face[3])
{
  int at[3];
  for (int a = 0; a < 3; a++) {
    int last = im->face[axis].n[a] - 1;
    at[a] = face[a] < 0 ? 0 : face[a] > last ? last : face[a];
  }
  return im->blocked[axis][mn_index(&im->face[axis], at[0], at[1], at[2])];
}

int mn_barrier_linked(const mn_immersed *surface, mn_place place, const int at[3], int axis, int up)
{
  int upper[3] = {at[0], at[1], at[2]};
  upper[axis] += up ? 1 : 0;
  if (place == MN_CELL)
    return !link_below(surface, axis, upper);
  if ((int)place == axis)
    return 1; /* through the cell between them */
  if (!link_below(surface, axis, upper))
    return 1;
  upper[place]--;
  return !link_below(surface, axis, upper);
}

/* ---- sight ----------------------------------------------------------------------------------- */

mn_sight mn_barrier_clear(const mn_grid *g, mn_vec3 x)
{
  mn_sight s = {.seen = MN_SEEN_ALL};
  for (int a = 0; a < g->dim; a++) {
    double at = (x.v[a] - g->origin.v[a]) / g->dx - g->lo[a];
    s.at.v[a] = at > 0 ? (at < g->n[a] ? at : g->n[a]) : 0; /* NaN: 0 */
    s.own[a] = s.at.v[a] < g->n[a] ? (int)s.at.v[a] : g->n[a] - 1;
  }
  return s;
}

/* The nearest cell around whose centre is seen from x, as an offset; 0: none. */
static int find_home(const mn_barrier *b, const mn_sight *s, mn_vec3 x, int home[3])
{
  const mn_grid *g = b->surface->grid;
  int deep = g->dim == 3, tried[27] = {0};
  for (;;) {
    double least = INFINITY;
    int best = -1;
    mn_vec3 best_center = {{0, 0, 0}};
    for (int n = deep ? 0 : 9; n < (deep ? 27 : 18); n++) {
      int off[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1}, cell[3], out = tried[n];
      for (int a = 0; a < 3; a++) {
        cell[a] = s->own[a] + off[a];
        out |= cell[a] < 0 || cell[a] >= g->n[a];
      }
      if (out)
        continue;
      mn_vec3 c = center(g, cell), d = mn_sub(c, x);
      double distance = mn_dot(d, d);
      if (distance < least) {
        least = distance;
        best = n;
        best_center = c;
        for (int a = 0; a < 3; a++)
          home[a] = off[a];
      }
    }
    if (best < 0)
      return 0;
    if (!mn_immersed_crosses(b->surface, x, best_center, NULL, NULL))
      return 1;
    tried[best] = 1;
  }
}

/* Cells reached from home by links, each step away from it. */
static uint32_t reach(const mn_immersed *surface, const int own[3], const int home[3])
{
  const int *n = surface->grid->n;
  int dim = surface->grid->dim, order[3][3];
  uint32_t seen = mn_sight_bit(home[0], home[1], home[2]);
  for (int a = 0; a < 3; a++) {
    order[a][0] = home[a];
    order[a][1] = home[a] == 0 ? -1 : 0;
    order[a][2] = home[a] == 0 ? 1 : -home[a];
  }
  for (int kk = 0; kk < (dim == 3 ? 3 : 1); kk++)
    for (int jj = 0; jj < 3; jj++)
      for (int ii = 0; ii < 3; ii++) {
        int off[3] = {order[0][ii], order[1][jj], order[2][kk]}, cell[3], out = 0, found = 0;
        for (int a = 0; a < 3; a++) {
          cell[a] = own[a] + off[a];
          out |= cell[a] < 0 || cell[a] >= n[a];
        }
        for (int a = 0; a < dim && !out && !found; a++) {
          if (off[a] == home[a])
            continue;
          int up = off[a] > home[a], from[3] = {off[0], off[1], off[2]};
          int upper[3] = {cell[0], cell[1], cell[2]};
          from[a] -= up ? 1 : -1;
          upper[a] += up ? 0 : 1;
          found =
              (seen & mn_sight_bit(from[0], from[1], from[2])) && !link_below(surface, a, upper);
        }
        seen |= found ? mn_sight_bit(off[0], off[1], off[2]) : 0;
      }
  return seen;
}

/* Cells beyond the domain are seen as those beside them inside. */
static uint32_t mirror(const mn_grid *g, const int own[3], uint32_t seen)
{
  uint32_t all = 0;
  int inside = 1;
  for (int a = 0; a < g->dim; a++)
    inside &= own[a] > 0 && own[a] < g->n[a] - 1;
  if (inside)
    return seen;
  for (int n = 0; n < 27; n++) {
    int off[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
    for (int a = 0; a < 3; a++)
      if (own[a] + off[a] < 0 || own[a] + off[a] >= g->n[a])
        off[a] = 0;
    all |= seen & mn_sight_bit(off[0], off[1], off[2]) ? UINT32_C(1) << n : 0;
  }
  return all;
}

mn_sight mn_barrier_look(const mn_barrier *b, mn_vec3 x)
{
  const mn_grid *g = b->surface->grid;
  mn_sight s = mn_barrier_clear(g, x);
  int home[3];
  s.seen = find_home(b, &s, x, home) ? mirror(g, s.own, reach(b->surface, s.own, home)) : 0;
  return s;
}

uint32_t mn_barrier_around(const mn_immersed *surface, const int cell[3])
{
  return mirror(surface->grid, cell, reach(surface, cell, (int[]){0, 0, 0}));
}

int mn_sight_sees(const mn_sight *s, mn_place place, const int at[3])
{
  int off[3] = {at[0] - s->own[0], at[1] - s->own[1], at[2] - s->own[2]};
  for (int a = 0; a < 3; a++)
    if (off[a] < -1 || off[a] > ((int)place == a ? 2 : 1))
      return 0;
  if (place == MN_CELL)
    return (s->seen & mn_sight_bit(off[0], off[1], off[2])) != 0;
  int upper = off[place] <= 1 && (s->seen & mn_sight_bit(off[0], off[1], off[2]));
  off[place]--;
  return upper || (off[place] >= -1 && (s->seen & mn_sight_bit(off[0], off[1], off[2])));
}

/* ---- blocked faces --------------------------------------------------------------------------- */

/* The velocity of a cell: means of its open faces; along the axis, of the one `away` from a blocked
   one. */
static mn_vec3 cell_velocity(const mn_barrier *b, const mn_field u[3], const int cell[3], int axis,
                             int away)
{
  mn_vec3 v = {{0, 0, 0}};
  for (int a = 0; a < b->surface->grid->dim; a++) {
    int upper[3] = {cell[0], cell[1], cell[2]};
    const double *low = &u[a].at[mn_index(&u[a], cell[0], cell[1], cell[2])];
    double high = low[u[a].stride[a]];
    upper[a]++;
    int use_low = !link_of_face(b->surface, a, cell);
    int use_high = !link_of_face(b->surface, a, upper);
    if (a == axis)
      use_low = !(use_high = away);
    v.v[a] = use_low == use_high ? 0.5 * (*low + high) : use_low ? *low : high;
  }
  return v;
}

void mn_barrier_sides(const mn_barrier *b, const mn_field u[3], double *side)
{
  for (size_t n = 0; n < b->surface->links; n++) {
    const mn_closed_face *f = &b->surface->link[n];
    int cell[3] = {f->i, f->j, f->k};
    for (int up = 0; up < 2; up++) {
      int c[3] = {cell[0], cell[1], cell[2]}, last = b->surface->grid->n[f->axis] - 1;
      c[f->axis] -= up ? 0 : 1;
      c[f->axis] = c[f->axis] < 0 ? 0 : c[f->axis] > last ? last : c[f->axis];
      mn_vec3 v = cell_velocity(b, u, c, f->axis, c[f->axis] == cell[f->axis]);
      double change = b->speed[n] - mn_dot(v, b->normal[n]);
      side[2 * n + (size_t)up] = v.v[f->axis] + change * b->normal[n].v[f->axis];
    }
  }
}

/* ---- interpolation --------------------------------------------------------------------------- */

/* Lower index and fraction among points on faces (offset 0) or centres (1/2). */
static int split(const mn_sight *s, int a, int face, double *part)
{
  double at = s->at.v[a];
  if (face) {
    *part = at - s->own[a];
    return s->own[a];
  }
  int low = (int)(at + 0.5) - 1;
  *part = at - 0.5 - low;
  return low;
}

double mn_barrier_cells(const mn_sight *s, const mn_field *f, int *whole)
{
  int dim = f->grid->dim, low[3] = {0};
  double part[3] = {0}, sum = 0, weight = 0;
  for (int a = 0; a < dim; a++)
    low[a] = split(s, a, 0, &part[a]);
  *whole = 1;
  for (int c = 0; c < 1 << dim; c++) {
    int at[3] = {0};
    double w = 1;
    for (int a = 0; a < dim; a++) {
      int high = c >> a & 1;
      at[a] = low[a] + high;
      w *= high ? part[a] : 1 - part[a];
    }
    int k = dim == 3 ? at[2] - s->own[2] : 0;
    if (!(s->seen & mn_sight_bit(at[0] - s->own[0], at[1] - s->own[1], k))) {
      *whole = 0;
      continue;
    }
    sum += w * mn_get(f, at[0], at[1], at[2]);
    weight += w;
  }
  if (weight > 0)
    return sum / weight;
  sum = 0; /* the corners seen have no weight: a mean of all cells seen */
  for (int n = 0; n < 27; n++)
    if (s->seen >> n & 1 && (dim == 3 || n / 9 == 1)) {
      sum += mn_get(f, s->own[0] + n % 3 - 1, s->own[1] + n / 3 % 3 - 1,
                    dim == 3 ? s->own[2] + n / 9 - 1 : 0);
      weight++;
    }
  return sum / weight;
}

/* A face's value as seen: of the open face, or of the side that is seen of a blocked one. */
static int face_value(const mn_barrier *b, const mn_sight *s, const mn_field *f, const int at[3],
                      const double *side, double *value, int *whole)
{
  int axis = (int)f->place, low[3], dim = f->grid->dim, seen[2];
  for (int up = 0; up < 2; up++) {
    for (int a = 0; a < 3; a++)
      low[a] = a < dim ? at[a] - s->own[a] : 0;
    low[axis] -= up ? 0 : 1;
    seen[up] = (s->seen & mn_sight_bit(low[0], low[1], low[2])) != 0;
  }
  int32_t link = link_of_face(b->surface, axis, at);
  if (!seen[0] && !seen[1])
    return 0;
  if (link) {
    int up = at[axis] == s->own[axis]; /* the point's own cell is the upper one */
    up = seen[up] ? up : !up;
    *value = side[2 * (link - 1) + up];
    *whole = 0;
  } else
    *value = mn_get(f, at[0], at[1], at[2]);
  return 1;
}

/* The stencil's faces that are seen have no weight: a mean over the cells that are. */
static double mean_of_cells(const mn_barrier *b, const mn_sight *s, const mn_field *f,
                            const double *side)
{
  int dim = f->grid->dim, number = 0, whole;
  double sum = 0, value;
  for (int n = 0; n < 27; n++)
    for (int up = 0; up < 2; up++) {
      int at[3] = {s->own[0] + n % 3 - 1, s->own[1] + n / 3 % 3 - 1, s->own[2] + n / 9 - 1},
          out = 0;
      for (int a = 0; a < 3; a++)
        out |= at[a] < 0 || at[a] >= f->grid->n[a];
      at[f->place] += up;
      if (out || (dim == 2 && n / 9 != 1) || !(s->seen >> n & 1))
        continue;
      int beyond = at[f->place] - s->own[f->place];
      if (beyond < 0 || beyond > 1 || !face_value(b, s, f, at, side, &value, &whole))
        continue;
      sum += value;
      number++;
    }
  return number ? sum / number : NAN;
}

double mn_barrier_faces(const mn_barrier *b, const mn_sight *s, const mn_field *f,
                        const double *side, int *whole)
{
  int dim = f->grid->dim, low[3] = {0};
  double part[3] = {0}, sum = 0, weight = 0;
  for (int a = 0; a < dim; a++)
    low[a] = split(s, a, (int)f->place == a, &part[a]);
  *whole = 1;
  for (int c = 0; c < 1 << dim; c++) {
    int at[3] = {0};
    double w = 1, value;
    for (int a = 0; a < dim; a++) {
      int high = c >> a & 1;
      at[a] = low[a] + high;
      w *= high ? part[a] : 1 - part[a];
    }
    if (!face_value(b, s, f, at, side, &value, whole)) {
      *whole = 0;
      continue;
    }
    sum += w * value;
    weight += w;
  }
  return weight > 0 ? sum / weight : mean_of_cells(b, s, f, side);
}

mn_vec3 mn_barrier_velocity(const mn_barrier *b, const mn_sight *s, const mn_field u[3],
                            const double *side)
{
  mn_vec3 v = {{0, 0, 0}};
  int whole;
  for (int a = 0; a < b->surface->grid->dim; a++)
    v.v[a] = mn_barrier_faces(b, s, &u[a], side, &whole);
  return v;
}
