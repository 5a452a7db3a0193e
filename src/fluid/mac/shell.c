/* Thin shells over a substep: paths cut, values from the right side.

   A point x of the grid at the end of the substep gets the value of the point y at its start from
   which its path comes. Both have a side of the shell, x of the shell at the end, y of that at the
   start. In space-time the shell is a surface too (grid/sweep.h), and the two are on the same side
   if the straight way between them does not cross it. Where it does, the path is cut: what is at x
   came along with the shell from the place that it meets, and y is that place at the start, a
   little off on the side of x. For surfaces without free edges the side is confirmed exactly, so
   that rounding cannot carry anything through. docs/theory/thin.md says why.

   Verified by tests/unit/fluid/test_shell.c, tests/verify/test_no_leak.c. */
#include "fluid/mac/internal.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "fluid/mac/trace.h"

/* Paths end this part of a cell off a shell. */
static const double MARGIN = 1e-3;
/* Points nearer than this to a shell, in cells, may be on either side by rounding. */
static const double TOUCH = 1e-6;
enum { LAYERS = 8, NEAR = 1 };

void mn_shell_destroy(mn_shell *s)
{
  mn_barrier_destroy(&s->start);
  mn_barrier_destroy(&s->end);
  mn_sweep_destroy(&s->sweep);
  void *all[] = {s->last, s->far, s->along, s->carried, s->hole, s->list, s->fill, s->walls};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  for (int n = 0; n < MN_MENDED; n++) {
    mn_free(s->undo[n].at);
    mn_free(s->undo[n].value);
  }
  *s = (mn_shell){0};
}

/* ---- distances in cells ---------------------------------------------------------------------- */

/* far <- least of itself and 1 + those of the cells around, in both orders: the greatest of the
   distances along the axes, exactly; in the cells [lo, hi]. */
static void spread(const mn_grid *g, const int lo[3], const int hi[3], unsigned char *far)
{
  int64_t sy = g->n[0], sz = sy * g->n[1];
  for (int back = 0; back < 2; back++)
    for (int kk = lo[2]; kk <= hi[2]; kk++)
      for (int jj = lo[1]; jj <= hi[1]; jj++)
        for (int ii = lo[0]; ii <= hi[0]; ii++) {
          int at[3] = {back ? lo[0] + hi[0] - ii : ii, back ? lo[1] + hi[1] - jj : jj,
                       back ? lo[2] + hi[2] - kk : kk};
          int64_t c = at[0] + sy * at[1] + sz * at[2];
          int least = far[c];
          for (int o = g->dim == 3 ? 0 : 9; o < 13; o++) { /* half of the cells around: before */
            int off[3] = {o % 3 - 1, o / 3 % 3 - 1, o / 9 - 1}, out = 0;
            for (int a = 0; a < 3; a++) {
              off[a] = back ? -off[a] : off[a];
              out |= at[a] + off[a] < lo[a] || at[a] + off[a] > hi[a];
            }
            int other = out ? 255 : far[c + off[0] + sy * off[1] + sz * off[2]] + 1;
            least = other < least ? other : least;
          }
          far[c] = (unsigned char)least;
        }
}

/* Room for the points of a field on all cells near shells. */
static mn_status reserve_list(mn_mac *mac)
{
  mn_shell *s = &mac->shell;
  const mn_grid *g = &mac->grid;
  size_t cells = (size_t)g->n[0] * (size_t)g->n[1] * (size_t)g->n[2], near = 0;
  for (size_t c = 0; c < cells; c++)
    near += s->far[c] <= s->reach;
  near *= 2; /* faces below and above */
  if (near <= s->list_room)
    return MN_OK;
  near += near / 2;
  MN_TRY(
      mn_grow(mac->ctx, "points passed", s->list_room, near, sizeof *s->list, (void **)&s->list));
  MN_TRY(
      mn_grow(mac->ctx, "points passed", s->list_room, near, sizeof *s->fill, (void **)&s->fill));
  s->list_room = near;
  return MN_OK;
}

mn_status mn_shell_measure(mn_mac *mac)
{
  mn_shell *s = &mac->shell;
  const mn_grid *g = &mac->grid;
  size_t cells = (size_t)g->n[0] * (size_t)g->n[1] * (size_t)g->n[2];
  if (!s->far) {
    MN_TRY(MN_NEW(mac->ctx, "distances to shells", cells, &s->far));
    MN_TRY(MN_NEW(mac->ctx, "points passed", mn_field_size(g, MN_NODE), &s->hole));
    MN_TRY(MN_NEW(mac->ctx, "walls of cells", mn_field_size(g, MN_CELL), &s->walls));
  }
  int lo[3] = {g->n[0], g->n[1], g->n[2]}, hi[3] = {-1, -1, -1};
  for (size_t c = 0; c < cells; c++) {
    int touched = s->sweep.start[c + 1] > s->sweep.start[c];
    s->far[c] = touched ? 0 : 255;
    int at[3] = {(int)(c % (size_t)g->n[0]), (int)((int64_t)c / g->n[0] % g->n[1]),
                 (int)((int64_t)c / g->n[0] / g->n[1])};
    for (int a = 0; a < 3 && touched; a++) {
      lo[a] = at[a] < lo[a] ? at[a] : lo[a];
      hi[a] = at[a] > hi[a] ? at[a] : hi[a];
    }
  }
  for (int a = 0; a < 3; a++) { /* further away nobody asks */
    lo[a] = lo[a] > s->reach ? lo[a] - s->reach : 0;
    hi[a] = hi[a] + s->reach < g->n[a] ? hi[a] + s->reach : g->n[a] - 1;
  }
  spread(g, lo, hi, s->far);
  return reserve_list(mac);
}

mn_status mn_shell_reserve_sides(mn_mac *mac, size_t links)
{
  mn_shell *s = &mac->shell;
  if (links <= s->side_room)
    return MN_OK;
  size_t old = 2 * s->side_room, room = links + links / 2;
  const char *what = "sides of blocked links";
  MN_TRY(mn_grow(mac->ctx, what, old, 2 * room, sizeof(double), (void **)&s->along));
  MN_TRY(mn_grow(mac->ctx, what, old, 2 * room, sizeof(double), (void **)&s->carried));
  s->side_room = room;
  return MN_OK;
}

/* Greatest velocity of a field, m/s. */
static double greatest(const mn_field *f)
{
  double most = 0;
  for (size_t q = 0; q < f->size; q++)
    most = mn_max(most, fabs(f->data[q]));
  return most;
}

mn_status mn_shell_begin(mn_mac *mac, const mn_immersed *start, const mn_immersed *end,
                         const mn_vec3 *V)
{
  mn_shell *s = &mac->shell;
  s->on = !s->see_through && start->two_sided_elements > 0;
  if (!s->on)
    return MN_OK;
  s->sweep.ctx = mac->ctx;
  s->sweep.grid = &mac->grid;
  MN_TRY(mn_sweep_make(&s->sweep, start, start->X, end->X));
  MN_TRY(mn_barrier_place(&s->start, start, V));
  MN_TRY(mn_barrier_place(&s->end, end, V));
  double fastest = 0;
  for (int a = 0; a < mac->grid.dim; a++)
    fastest = mn_max(fastest, greatest(&mac->trace[a]));
  double way = ceil(fastest * mac->dt / mac->grid.dx);
  s->reach = way < 250 ? (int)way + NEAR + 1 : 254;
  MN_TRY(mn_shell_measure(mac));
  if (end->points > s->last_room) {
    MN_TRY(mn_grow(mac->ctx, "expected surfaces", s->last_room, end->points, sizeof *s->last,
                   (void **)&s->last));
    s->last_room = end->points;
  }
  memcpy(s->last, end->X, end->points * sizeof *s->last);
  for (int n = 0; n < MN_MENDED; n++)
    s->undo[n].count = 0;
  s->stamp = 0;
  MN_TRY(mn_shell_reserve_sides(mac, start->links));
  mn_barrier_sides(&s->start, mac->trace, s->along);
  mn_barrier_sides(&s->start, mac->state.u, s->carried);
  return MN_OK;
}

const unsigned char *mn_shell_walls(mn_mac *mac)
{
  mn_shell *s = &mac->shell;
  const mn_immersed *im = s->end.surface;
  const mn_field *f = &mac->cell_scratch; /* any on cells */
  if (!s->on)
    return NULL;
  memset(s->walls, 0, f->size);
  for (size_t n = 0; n < im->links; n++) {
    const mn_closed_face *l = &im->link[n];
    int64_t c = f->at - f->data + mn_index(f, l->i, l->j, l->k);
    s->walls[c] |= (unsigned char)(1 << 2 * l->axis);
    s->walls[c - f->stride[l->axis]] |= (unsigned char)(2 << 2 * l->axis);
  }
  return s->walls;
}

uint32_t mn_shell_seen(const mn_mac *mac, int i, int j, int k)
{
  const mn_shell *s = &mac->shell;
  const mn_grid *g = &mac->grid;
  if (!s->on || s->far[i + (int64_t)g->n[0] * (j + (int64_t)g->n[1] * k)] > NEAR)
    return MN_SEEN_ALL;
  return mn_barrier_around(s->end.surface, (int[]){i, j, k});
}

/* ---- paths that come near -------------------------------------------------------------------- */

static int is_near(const mn_shell *s, mn_vec3 x)
{
  const mn_grid *g = s->sweep.grid;
  int64_t cell = 0;
  for (int a = g->dim - 1; a >= 0; a--) {
    int i = x.v[a] > 0 ? (x.v[a] < g->n[a] ? (int)x.v[a] : g->n[a] - 1) : 0;
    cell = cell * g->n[a] + i;
  }
  return s->far[cell] <= NEAR;
}

int mn_shell_is_beside(const mn_shell *s, mn_vec3 x)
{
  return is_near(s, mn_barrier_clear(s->sweep.grid, x).at);
}

/* Somewhere on the straight way, looked at once a cell. */
static int comes_near(const mn_shell *s, mn_vec3 x, mn_vec3 y)
{
  mn_vec3 d = mn_sub(y, x);
  double longest = fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z)));
  int steps = longest < 1000 ? (int)ceil(longest) : 1000;
  for (int n = 1; n < steps; n++)
    if (is_near(s, mn_madd(x, (double)n / steps, d)))
      return 1;
  return is_near(s, y);
}

static inline int passes_by(const mn_shell *s, const mn_tracer *t, mn_vec3 x, mn_vec3 k1,
                            mn_vec3 *y, const int dim)
{
  double h = t->scale;
  mn_vec3 z = mn_madd(x, 0.5 * h, k1);
  if (is_near(s, x) || comes_near(s, x, z))
    return 0;
  mn_vec3 k2 = mn_tracer_velocity(t, z, dim);
  z = mn_madd(x, 0.75 * h, k2);
  if (comes_near(s, x, z))
    return 0;
  *y = mn_tracer_path(t, x, k1, dim);
  return !comes_near(s, x, *y);
}

int mn_shell_passes_by(const mn_shell *s, const mn_tracer *t, mn_vec3 x, mn_vec3 k1, mn_vec3 *y)
{
  return s->sweep.grid->dim == 2 ? passes_by(s, t, x, k1, y, 2) : passes_by(s, t, x, k1, y, 3);
}

/* ---- sides ----------------------------------------------------------------------------------- */

/* Just inside the domain, where every shell that ends at a wall is met. */
static mn_vec3 within(const mn_grid *g, mn_vec3 x)
{
  for (int a = 0; a < g->dim; a++) {
    double lo = g->origin.v[a] + g->dx * g->lo[a];
    x.v[a] = mn_clamp(x.v[a], lo + TOUCH * g->dx, lo + g->dx * (g->n[a] - TOUCH));
  }
  return x;
}

/* Is x1 at the end on the side of x0 at the start? *hit says where the way meets a shell; its
   element is SIZE_MAX if it does not. */
static int same_side(const mn_shell *s, mn_vec3 x0, mn_vec3 x1, int backward, mn_sweep_hit *hit)
{
  int parts = mn_sweep_parts(&s->sweep, x0, x1, backward, hit);
  if (parts == 1)
    return 0;
  hit->element = SIZE_MAX;
  if (!parts)
    return 1;
  /* the way passes a free edge, or x0 lies on the shell but for rounding */
  mn_sweep_hit on;
  return !mn_sweep_touches(&s->sweep, x0, TOUCH * s->sweep.grid->dx, &on);
}

/* Off the place of a hit at a time, on one side or the other. */
static mn_vec3 beside(const mn_shell *s, const mn_sweep_hit *hit, int time, int flip)
{
  const mn_grid *g = s->sweep.grid;
  mn_vec3 n = mn_sweep_normal(&s->sweep, hit->element, time);
  return within(g,
                mn_madd(mn_sweep_place(&s->sweep, hit, time), (flip ? -1 : 1) * MARGIN * g->dx, n));
}

/* 1: a point is to be looked for where the normal points, 0: the other way. `of` is the end of the
   path, at `time`. */
static int points_to(const mn_shell *s, const mn_sweep_hit *hit, mn_vec3 of, int time)
{
  mn_vec3 d = mn_sub(of, mn_sweep_place(&s->sweep, hit, time));
  return mn_dot(d, mn_sweep_normal(&s->sweep, hit->element, time)) >= 0;
}

/* *y: z, or where the way from there to x (at the end) is cut. 0: no such place. */
static int locate(const mn_shell *s, mn_vec3 x, mn_vec3 z, mn_vec3 *y, int *cut)
{
  mn_sweep_hit hit, other;
  *y = z;
  *cut = 0;
  if (same_side(s, z, x, 1, &hit))
    return 1;
  *cut = 1;
  if (hit.element == SIZE_MAX && !mn_sweep_touches(&s->sweep, z, TOUCH * s->sweep.grid->dx, &hit))
    return 0;
  int flip = !points_to(s, &hit, x, 1);
  for (int turn = 0; turn < 2; turn++) {
    *y = beside(s, &hit, 0, flip ^ turn);
    if (same_side(s, *y, x, 1, &other))
      return 1;
  }
  return 0;
}

/* ---- carried to a point ---------------------------------------------------------------------- */

/* The trace velocity at z, or as far from x towards it as the way is free. */
static int velocity(const mn_mac *mac, mn_vec3 x, mn_vec3 z, mn_vec3 *u)
{
  const mn_shell *s = &mac->shell;
  mn_vec3 y;
  int cut;
  if (!locate(s, x, within(&mac->grid, z), &y, &cut))
    return 0;
  mn_sight sight = mn_barrier_look(&s->start, y);
  if (!sight.seen)
    return 0;
  *u = mn_barrier_velocity(&s->start, &sight, mac->trace, s->along);
  return 1;
}

double mn_shell_carried(const mn_mac *mac, double dt, const mn_field *from, mn_vec3 x, mn_vec3 *raw,
                        int *cut)
{
  const mn_shell *s = &mac->shell;
  mn_vec3 k1, k2, k3, y;
  *cut = 1;
  *raw = x;
  if (!velocity(mac, x, x, &k1) || !velocity(mac, x, mn_madd(x, -0.5 * dt, k1), &k2) ||
      !velocity(mac, x, mn_madd(x, -0.75 * dt, k2), &k3))
    return NAN;
  mn_vec3 k = mn_madd(mn_madd(mn_scale(2, k1), 3, k2), 4, k3), z = mn_madd(x, -dt / 9, k);
  if (!locate(s, x, within(&mac->grid, z), &y, cut))
    return NAN;
  for (int a = 0; a < mac->grid.dim; a++)
    raw->v[a] = (z.v[a] - mac->grid.origin.v[a]) / mac->grid.dx - mac->grid.lo[a];
  mn_sight sight = mn_barrier_look(&s->start, y);
  int whole;
  if (!sight.seen)
    return NAN;
  return from->place == MN_CELL ? mn_barrier_cells(&sight, from, &whole)
                                : mn_barrier_faces(&s->start, &sight, from, s->carried, &whole);
}

/* ---- points without a value ------------------------------------------------------------------ */

int64_t mn_shell_mark_passed(mn_mac *mac, const mn_field *f)
{
  mn_shell *s = &mac->shell;
  const mn_grid *g = &mac->grid;
  int64_t base = f->at - f->data, count = 0;
  for (int k = 0; k < g->n[2]; k++)
    for (int j = 0; j < g->n[1]; j++)
      for (int i = 0; i < g->n[0]; i++) {
        int64_t c = i + (int64_t)g->n[0] * (j + (int64_t)g->n[1] * k);
        if (s->sweep.start[c + 1] == s->sweep.start[c])
          continue;
        for (int up = 0; up < (f->place == MN_CELL ? 1 : 2); up++) {
          int at[3] = {i, j, k};
          if (up)
            at[f->place]++;
          int64_t q = base + mn_index(f, at[0], at[1], at[2]);
          if (f->place != MN_CELL &&
              mn_immersed_blocks(s->end.surface, (int)f->place, at[0], at[1], at[2]))
            continue; /* a blocked face keeps what it has */
          if (!s->hole[q] && mn_sweep_passes(&s->sweep, mn_position(f, at[0], at[1], at[2]))) {
            s->hole[q] = 1;
            count++;
          }
        }
      }
  return count;
}

static size_t list_holes(const mn_shell *s, const mn_field *f)
{
  size_t count = 0;
  const unsigned char *end = s->hole + f->size;
  for (const unsigned char *p = s->hole; p < end && (p = memchr(p, 1, (size_t)(end - p))); p++)
    s->list[count++] = p - s->hole;
  return count;
}

/* Has the point a value that others may take? */
static int is_source(const mn_mac *mac, const mn_field *f, int64_t q, const int at[3])
{
  const mn_mac_geometry *g = &mac->geometry;
  if (mac->shell.hole[q])
    return 0;
  if (f->place == MN_CELL)
    return g->cell_extension.layer[q] == 0;
  return g->kind[f->place][q] <= MN_FACE_STUCK &&
         !mn_immersed_blocks(mac->shell.end.surface, (int)f->place, at[0], at[1], at[2]);
}

static int mean_of_neighbours(const mn_mac *mac, const mn_field *f, int64_t q, double *mean)
{
  int at[3], number = 0;
  double sum = 0;
  mn_field_point(f, q, at);
  for (int a = 0; a < f->grid->dim; a++)
    for (int up = 0; up < 2; up++) {
      int next[3] = {at[0], at[1], at[2]};
      next[a] += up ? 1 : -1;
      if (next[a] < 0 || next[a] >= f->n[a] ||
          !mn_barrier_linked(mac->shell.end.surface, f->place, at, a, up))
        continue;
      int64_t c = q + (up ? f->stride[a] : -f->stride[a]);
      if (is_source(mac, f, c, next)) {
        sum += f->data[c];
        number++;
      }
    }
  *mean = number ? sum / number : 0;
  return number;
}

void mn_shell_refill(mn_mac *mac, mn_field *f, double otherwise)
{
  mn_shell *s = &mac->shell;
  size_t count = list_holes(s, f);
  for (int layer = 0; layer < LAYERS && count; layer++) {
    size_t left = 0;
    for (size_t n = 0; n < count; n++)
      if (!mean_of_neighbours(mac, f, s->list[n], &s->fill[n]))
        s->fill[n] = NAN;
    for (size_t n = 0; n < count; n++)
      if (!isnan(s->fill[n])) {
        f->data[s->list[n]] = s->fill[n];
        s->hole[s->list[n]] = 0;
      } else
        s->list[left++] = s->list[n];
    count = left;
  }
  for (size_t n = 0; n < count; n++) {
    f->data[s->list[n]] = otherwise;
    s->hole[s->list[n]] = 0;
  }
}

/* ---- particles ------------------------------------------------------------------------------- */

/* The trace velocity at z, or where the straight way there from x0 meets a shell at the start. */
static int velocity_from(const mn_mac *mac, mn_vec3 x0, mn_vec3 z, mn_vec3 *u)
{
  const mn_shell *s = &mac->shell;
  double t, off = MARGIN * mac->grid.dx;
  z = within(&mac->grid, z);
  mn_vec3 d = mn_sub(z, x0);
  if (mn_immersed_crosses(s->start.surface, x0, z, &t, NULL)) {
    double length = mn_length(d), stop = length > 0 ? t - off / length : 0;
    z = stop > 0 ? mn_madd(x0, stop, d) : x0;
    if (mn_immersed_crosses(s->start.surface, x0, z, NULL, NULL))
      z = x0;
  }
  mn_sight sight = mn_barrier_look(&s->start, z);
  if (!sight.seen)
    return 0;
  *u = mn_barrier_velocity(&s->start, &sight, mac->trace, s->along);
  return 1;
}

int mn_shell_stop(const mn_shell *s, mn_vec3 x0, mn_vec3 *x1)
{
  const mn_grid *g = s->sweep.grid;
  mn_sweep_hit hit, other;
  mn_vec3 end = within(g, *x1);
  if (same_side(s, x0, end, 0, &hit)) {
    *x1 = end;
    return 1;
  }
  if (hit.element == SIZE_MAX && !mn_sweep_touches(&s->sweep, x0, TOUCH * g->dx, &hit))
    return 0;
  int flip = !points_to(s, &hit, x0, 0);
  mn_vec3 place = mn_sweep_place(&s->sweep, &hit, 1);
  mn_vec3 n = mn_sweep_normal(&s->sweep, hit.element, 1);
  mn_vec3 rest = mn_sub(end, place), slip = mn_madd(rest, -mn_dot(rest, n), n);
  for (int way = 0; way < 4; way++) { /* along the shell, then not; this side, then that */
    mn_vec3 y = beside(s, &hit, 1, flip ^ (way & 1));
    y = way < 2 ? within(g, mn_add(y, slip)) : y;
    if (same_side(s, x0, y, 0, &other)) {
      *x1 = y;
      return 1;
    }
  }
  *x1 = x0; /* it stays, if the shell lets it */
  return same_side(s, x0, x0, 0, &other);
}

int mn_shell_lets_by(const mn_shell *s, mn_vec3 x0, mn_vec3 x1)
{
  mn_sweep_hit hit;
  return same_side(s, x0, x1, 0, &hit);
}

int mn_shell_move(const mn_mac *mac, double dt, mn_vec3 x0, mn_vec3 *x1)
{
  mn_vec3 k1, k2, k3, k = {{0, 0, 0}};
  if (velocity_from(mac, x0, x0, &k1) && velocity_from(mac, x0, mn_madd(x0, 0.5 * dt, k1), &k2) &&
      velocity_from(mac, x0, mn_madd(x0, 0.75 * dt, k2), &k3))
    k = mn_madd(mn_madd(mn_scale(2, k1), 3, k2), 4, k3);
  *x1 = mn_madd(x0, dt / 9, k);
  return mn_shell_stop(&mac->shell, x0, x1);
}
