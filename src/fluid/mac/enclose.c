/* Closed regions among moving surfaces: which they are, what flows into them, who faces them.

   The grid proposes regions: those of the pressure solve that have no opening, in water scenes the
   spaces that have none, with the air in them (spaces.c). Through faces that
   no surface of the interface closes flows, with w the open part of a face, A = dx^(dim-1),

       inflow_r = -sum over the cells of r, their faces f:  A (1 - w_f) u_wall,f . n

   exactly the flow that the projection sees, and what no face shows of gaps (gaps.c); u_wall is a
   mean over the substep.

   A side of an element faces the region of the nearest fluid cell in front of it whose centre it
   sees: no thin surface crosses the way (watertight, with the exact signs of grid/immersed.h), and
   it leads through no solid. Where the gap in front is narrower than sqrt(dim) cells, links between
   cells may break, and a strip of fluid fall apart into pieces that are not there: such a side
   only faces a region that some other side faces across more room, or that is whole, else nobody
   knows. A region is whole if the surfaces at it have no seam: sides beside those that face it face
   it, too, or lie in walls, and no thin surface ends at it but at a wall. Beside pieces of a strip,
   and pockets between bodies that touch, there are sides that face other fluid, or none that is
   seen.

   The pressure of a closed region is known up to a constant. Here its mean over the volume, with
   the weight of the fluid, is 0; the coupling finds the rest, p0, and `lift` keeps it, for those
   who look at pressures.

   Verified by tests/unit/fluid/test_enclose.c. */
#include "fluid/mac/enclose.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "fluid/mac/internal.h"

/* In cells: a point counts as off its element; a centre counts as in front of it; a way through a
   solid so deep is none (distances between nodes are rough). */
static const double OFF = 1e-6, IN_FRONT = 1e-5, DEEP = 0.15;
/* And so far below a body's surface a thin one may lie on it. */
static const double COVER = 0.25;

void mn_enclosure_destroy(mn_enclosure *e)
{
  mn_free(e->number);
  mn_free(e->cells);
  mn_free(e->inflow);
  mn_free(e->blown);
  mn_free(e->hidden);
  mn_free(e->volume);
  mn_free(e->center);
  mn_free(e->sum);
  mn_free(e->parted);
  mn_free(e->kept);
  mn_free(e->broad);
  mn_free(e->lead);
  mn_free(e->facing);
  mn_free(e->narrow);
  mn_free(e->bare);
  mn_free(e->room_ahead);
  mn_free(e->whole);
  mn_free(e->beside);
  mn_free(e->odd);
  mn_free(e->label);
  mn_free(e->gap);
  *e = (mn_enclosure){0};
}

static mn_status make_room(mn_mac *mac, size_t regions, size_t sides, size_t points)
{
  mn_enclosure *e = &mac->enclosure;
  mn_context *ctx = mac->ctx;
  if (!e->label)
    MN_TRY(MN_NEW(ctx, "labels of closed regions", mac->b.size, &e->label));
  if (regions > e->room) {
    size_t old = e->room, room = 2 * regions;
#define GROW(field, times)                                                                         \
  MN_TRY(mn_grow(ctx, "closed regions", (times)*old, (times)*room, sizeof *e->field,               \
                 (void **)&e->field))
    GROW(number, 1);
    GROW(cells, 1);
    GROW(inflow, 1);
    GROW(blown, 1);
    GROW(hidden, 1);
    GROW(volume, 1);
    GROW(center, 1);
    GROW(sum, 3);
    GROW(parted, 1);
    GROW(kept, 1);
    GROW(broad, 1);
    GROW(whole, 1);
    GROW(lead, 1);
    e->room = room;
  }
  if (sides > e->side_room) {
    size_t old = e->side_room, room = sides;
    GROW(facing, 1);
    GROW(narrow, 1);
    GROW(bare, 1);
    GROW(room_ahead, 1);
    e->side_room = room;
  }
  if (points > e->point_room) {
    size_t old = e->point_room, room = points;
    GROW(beside, 2);
    GROW(odd, 1);
    e->point_room = room;
  }
#undef GROW
  return MN_OK;
}

/* ---- regions --------------------------------------------------------------------------------- */

/* Fluid part of a cell, each body with its exact volume. */
static double part_of(const mn_mac *mac, int64_t c)
{
  const mn_field *part = mac->bodies.part.data ? &mac->bodies.part : &mac->geometry.volume;
  return part->at[c];
}

/* Parts of the fluid that may be closed: regions of the pressure solver, of water the spaces, whose
   air cannot leave either (spaces.c). */
static int part_count(const mn_mac *mac)
{
  return mn_mac_is_water(mac) ? mac->spaces.count : mn_pressure_region_count(mac->pressure);
}

/* That of a cell, or -1: solid. */
static int part_at(const mn_mac *mac, int i, int j, int k)
{
  if (mn_mac_is_water(mac))
    return mac->spaces.of[mac->b.at - mac->b.data + mn_index(&mac->b, i, j, k)];
  return mn_pressure_region_of(mac->pressure, i, j, k);
}

static int is_closed(const mn_mac *mac, int part, size_t *cells)
{
  if (mn_mac_is_water(mac)) {
    *cells = mac->spaces.space[part].cells;
    return !mac->spaces.space[part].open;
  }
  mn_pressure_region region = mn_pressure_get_region(mac->pressure, part);
  *cells = region.cells;
  return region.closed;
}

static void number_regions(mn_mac *mac)
{
  mn_enclosure *e = &mac->enclosure;
  int count = part_count(mac);
  e->told.count = 0;
  for (int r = 0; r < count; r++) {
    size_t cells;
    int closed = is_closed(mac, r, &cells);
    e->number[r] = closed ? e->told.count : -1;
    if (closed)
      e->cells[e->told.count++] = cells;
  }
  for (int n = 0; n < e->told.count; n++) {
    e->inflow[n] = e->blown[n] = e->hidden[n] = e->volume[n] = 0;
    e->center[n] = mn_v3(0, 0, 0);
    e->broad[n] = e->whole[n] = e->kept[n] = 0;
  }
}

/* Adds the flow into a cell through what closes its faces, and the part of sources. */
static void add_inflow(const mn_mac *mac, int i, int j, int k, double *inflow, double *blown)
{
  double face = pow(mac->grid.dx, mac->grid.dim - 1);
  for (int a = 0; a < mac->grid.dim; a++) {
    const mn_field *w = &mac->geometry.open[a], *u = &mac->geometry.wall[a];
    int64_t q = mn_index(w, i, j, k), next = q + w->stride[a];
    const unsigned char *kind = mac->geometry.kind[a] + (w->at - w->data);
    double low = face * (1 - w->at[q]) * u->at[q], high = face * (1 - w->at[next]) * u->at[next];
    *inflow += low - high;
    *blown += (kind[q] == MN_FACE_SOURCE ? low : 0) - (kind[next] == MN_FACE_SOURCE ? high : 0);
  }
}

static void label_cells(mn_mac *mac)
{
  mn_enclosure *e = &mac->enclosure;
  const mn_field *f = &mac->b;
  for (size_t q = 0; q < f->size; q++)
    e->label[q] = -1;
  for (int k = 0; k < f->n[2] && e->told.count; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++) {
        int r = part_at(mac, i, j, k);
        if (r >= 0)
          e->label[f->at - f->data + mn_index(f, i, j, k)] = e->number[r];
      }
}

/* The middle of the fluid in a cell: exact where a wall across an axis cuts it. */
static mn_vec3 middle_of(const mn_mac *mac, int i, int j, int k)
{
  mn_vec3 x = mn_position(&mac->b, i, j, k);
  double solid = 1 - part_of(mac, mn_index(&mac->b, i, j, k));
  for (int a = 0; a < mac->grid.dim && solid > 0; a++) {
    const mn_field *w = &mac->geometry.open[a];
    int64_t q = mn_index(w, i, j, k);
    double part[2]; /* of the low and the high face that solids leave */
    for (int high = 0; high < 2; high++, q += w->stride[a]) {
      int kind = mac->geometry.kind[a][w->at - w->data + q];
      int other = mn_is_side(kind) || kind == MN_FACE_SOURCE || kind == MN_FACE_SHELL;
      part[high] = other ? 1 : w->at[q];
    }
    x.v[a] += 0.5 * mac->grid.dx * solid * (part[1] - part[0]);
  }
  return x;
}

/* Sums over the cells in their order: the same for any number of threads. */
static void measure_regions(mn_mac *mac)
{
  mn_enclosure *e = &mac->enclosure;
  const mn_field *f = &mac->b;
  double cell = pow(mac->grid.dx, mac->grid.dim);
  for (int k = 0; k < f->n[2] && e->told.count; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++) {
        int64_t c = mn_index(f, i, j, k);
        int32_t n = e->label[f->at - f->data + c];
        if (n < 0)
          continue;
        double volume = part_of(mac, c) * cell;
        add_inflow(mac, i, j, k, &e->inflow[n], &e->blown[n]);
        e->volume[n] += volume;
        e->center[n] = mn_madd(e->center[n], volume, middle_of(mac, i, j, k));
      }
  for (int n = 0; n < e->told.count; n++)
    if (e->volume[n] > 0)
      e->center[n] = mn_scale(1 / e->volume[n], e->center[n]);
}

/* What closes the bodies' faces moves with U, or for a while not at all. */
static void move_bodies(mn_mac *mac, int move)
{
  const mn_mac_bodies *b = &mac->bodies;
  for (size_t r = 0; b->on && r < b->weights->rows; r++) {
    mn_mac_bodies_set_wall(mac, r, move ? b->U[r] : 0);
  }
}

/* ---- sides of elements ----------------------------------------------------------------------- */

/* A side of an element: a point just off it, and the way ahead. */
typedef struct probe {
  mn_vec3 x, start, n; /* n unit */
} probe;

/* From x on it. 0: the element has no normal. */
static int aim(const mn_interface *f, size_t element, int behind, mn_vec3 x, double dx, probe *p)
{
  const uint32_t *at = f->element + (size_t)f->dim * element;
  mn_vec3 u = mn_sub(f->X[at[1]], f->X[at[0]]);
  p->x = x;
  mn_vec3 n = f->dim == 2 ? mn_v3(u.y, -u.x, 0) : mn_cross(u, mn_sub(f->X[at[2]], f->X[at[0]]));
  double length = mn_length(n);
  if (!(length > 0))
    return 0;
  p->n = mn_scale((behind ? -1 : 1) / length, n);
  p->start = mn_madd(p->x, OFF * dx, p->n);
  return 1;
}

static int outside(const mn_grid *g, mn_vec3 x)
{
  for (int a = 0; a < g->dim; a++)
    if (!(x.v[a] > g->origin.v[a] && x.v[a] < g->origin.v[a] + g->dx * g->n[a]))
      return 1;
  return 0;
}

/* Signed distance to solids and closed bodies, in cells, at a point of the domain. */
static double room_at(const mn_mac *mac, mn_vec3 x)
{
  return mn_mac_has_solids(mac) ? mn_sample(&mac->geometry.solid, x) / mac->grid.dx : 1;
}

/* No thin surface and no solid between the point and the centre of a cell. */
static int sees(const mn_mac *mac, const probe *p, mn_vec3 center)
{
  mn_vec3 way = mn_sub(center, p->start);
  for (int n = 1; n <= 4; n++)
    if (room_at(mac, mn_madd(p->start, 0.25 * n, way)) < -DEEP)
      return 0;
  return !mn_immersed_crosses(mac->immersed, p->start, center, NULL, NULL);
}

/* The gap ahead is narrower than sqrt(dim) cells. */
static int is_narrow(const mn_mac *mac, const probe *p)
{
  double dx = mac->grid.dx, far = sqrt(mac->grid.dim) * dx;
  mn_vec3 end = mn_madd(p->x, far, p->n);
  if (outside(&mac->grid, end) || mn_immersed_crosses(mac->immersed, p->start, end, NULL, NULL))
    return 1;
  for (int n = 1; n <= 3; n++)
    if (!(room_at(mac, mn_madd(p->x, fmin(0.5 * dx * n, far), p->n)) > 0))
      return 1;
  return 0;
}

enum { NO_REGION = -1, NOTHING = -2 };

static int holds_nothing(const mn_mac *mac, const int at[3])
{
  const mn_field *b = &mac->b;
  const unsigned char *empty = mac->geometry.empty;
  return empty && empty[b->at - b->data + mn_index(b, at[0], at[1], at[2])];
}

/* Region of the pressure solver of the nearest cell ahead that is seen, or NOTHING if that is
   empty, NO_REGION if none is seen. */
static int region_ahead(const mn_mac *mac, const probe *p)
{
  const mn_grid *g = &mac->grid;
  int own[3] = {0, 0, 0}, deep = g->dim == 3, tried[27] = {0};
  for (int a = 0; a < g->dim; a++) {
    double at = (p->x.v[a] - g->origin.v[a]) / g->dx + 0.5 * p->n.v[a];
    if (!(at > -2 && at < g->n[a] + 2))
      return NO_REGION;
    own[a] = (int)floor(at);
  }
  for (;;) {
    double least = INFINITY;
    int best = -1, region = NO_REGION;
    mn_vec3 center = {{0, 0, 0}};
    for (int n = deep ? 0 : 9; n < (deep ? 27 : 18); n++) {
      int at[3] = {own[0] + n % 3 - 1, own[1] + n / 3 % 3 - 1, own[2] + n / 9 - 1}, out = tried[n];
      for (int a = 0; a < 3; a++)
        out |= at[a] < 0 || at[a] >= g->n[a];
      int r = out ? NO_REGION : part_at(mac, at[0], at[1], at[2]);
      if (!out && r < 0 && holds_nothing(mac, at))
        r = NOTHING;
      if (r == NO_REGION)
        continue;
      mn_vec3 c = mn_position(&mac->b, at[0], at[1], at[2]), d = mn_sub(c, p->x);
      if (mn_dot(d, p->n) > IN_FRONT * g->dx && mn_dot(d, d) < least) {
        least = mn_dot(d, d);
        best = n;
        region = r;
        center = c;
      }
    }
    if (best < 0)
      return NO_REGION;
    if (sees(mac, p, center))
      return region;
    tried[best] = 1;
  }
}

/* A thin surface lies on the body: drawn round it, as chords of that surface it passes below the
   body's own. It is what the fluid meets. */
static int is_covered(const mn_mac *mac, const mn_interface *f, size_t element, const probe *p)
{
  mn_vec3 below = mn_madd(p->x, -COVER * mac->grid.dx, p->n);
  int thin = f->two_sided[f->element[(size_t)f->dim * element]];
  return !thin && mn_immersed_crosses(mac->immersed, p->start, below, NULL, NULL);
}

/* Besides what is told: fluid that is not enclosed, or nothing; of a point, no side yet, or sides
   that do not agree. */
enum { FACES_OPEN = -4, BESIDE_NONE = -5, BESIDE_SEAM = -6 };

/* Distance to the nearest obstacle or side of the domain. */
static double wall_distance(const mn_mac *mac, mn_vec3 x)
{
  const mn_grid *g = &mac->grid;
  double least = mn_mac_obstacle_distance(mac, x);
  for (int a = 0; a < g->dim; a++) {
    double from = x.v[a] - g->origin.v[a];
    least = fmin(least, fmin(from, g->dx * g->n[a] - from));
  }
  return least;
}

static int32_t face_of(const mn_mac *mac, const mn_interface *f, size_t element, int behind,
                       uint8_t *narrow, double *bare, double *room)
{
  probe p;
  mn_vec3 middle;
  *narrow = 0;
  *room = 0;
  *bare = mn_mac_bare_part(mac, f, element, &middle);
  if (behind && !f->two_sided[f->element[(size_t)f->dim * element]])
    return MN_FACES_NONE;
  if (!aim(f, element, behind, middle, mac->grid.dx, &p))
    return MN_FACES_UNKNOWN;
  *room = wall_distance(mac, p.start);
  if (outside(&mac->grid, p.start) || *bare == 0 || *room < 0)
    return MN_FACES_WALL;
  if (is_covered(mac, f, element, &p))
    return MN_FACES_NONE;
  int region = region_ahead(mac, &p);
  if (region == NOTHING)
    return FACES_OPEN;
  if (region < 0)
    return MN_FACES_UNKNOWN; /* at a wall, say: a body that lies there is not part of it */
  int32_t n = mac->enclosure.number[region];
  *narrow = n >= 0 && is_narrow(mac, &p);
  return n < 0 ? FACES_OPEN : n;
}

static int at_wall(const mn_mac *mac, mn_vec3 x)
{
  return wall_distance(mac, x) < COVER * mac->grid.dx;
}

/* Where a surface ends, off walls, what lies in front and behind meets. In the ring of elements
   around an inner point every neighbour occurs twice. */
static void find_ends(mn_mac *mac, const mn_interface *f)
{
  mn_enclosure *e = &mac->enclosure;
  size_t dim = (size_t)f->dim;
  memset(e->odd, 0, f->count * sizeof *e->odd);
  for (size_t k = 0; k < dim * f->elements; k++)
    for (size_t v = 1; v < dim; v++)
      e->odd[f->element[k]] ^= dim == 2 ? 1 : f->element[k - k % dim + (k + v) % dim] + 1;
  for (size_t i = 0; i < f->count; i++) {
    int32_t *at = &e->beside[2 * i];
    int ends = f->two_sided[i] && e->odd[i];
    if (ends && at[0] != at[1] && !at_wall(mac, f->X[i]))
      at[0] = at[1] = BESIDE_SEAM;
  }
}

/* e->whole, from what sides face, those in walls left out. */
static void find_whole(mn_mac *mac, const mn_interface *f)
{
  mn_enclosure *e = &mac->enclosure;
  size_t dim = (size_t)f->dim, sides = 2 * f->elements;
  for (size_t i = 0; i < 2 * f->count; i++)
    e->beside[i] = BESIDE_NONE;
  for (size_t s = 0; s < sides; s++) {
    int in_wall = e->facing[s] == MN_FACES_NONE || e->facing[s] == MN_FACES_WALL;
    for (size_t v = 0; v < dim && !in_wall; v++) {
      int32_t *at = &e->beside[2 * f->element[dim * (s / 2) + v] + s % 2];
      *at = *at == BESIDE_NONE || *at == e->facing[s] ? e->facing[s] : BESIDE_SEAM;
    }
  }
  find_ends(mac, f);
  for (size_t s = 0; s < sides; s++)
    if (e->facing[s] >= 0)
      e->whole[e->facing[s]] = 1;
  for (size_t s = 0; s < sides; s++)
    for (size_t v = 0; v < dim && e->facing[s] >= 0; v++)
      if (e->beside[2 * f->element[dim * (s / 2) + v] + s % 2] == BESIDE_SEAM)
        e->whole[e->facing[s]] = 0;
}

static void find_sides(mn_mac *mac, const mn_interface *f)
{
  mn_enclosure *e = &mac->enclosure;
  int64_t sides = 2 * (int64_t)f->elements;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int64_t s = 0; s < sides; s++)
    e->facing[s] =
        face_of(mac, f, (size_t)s / 2, (int)(s % 2), &e->narrow[s], &e->bare[s], &e->room_ahead[s]);
  find_whole(mac, f);
  for (int64_t s = 0; s < sides; s++)
    if (e->facing[s] >= 0 && !e->narrow[s])
      e->broad[e->facing[s]] = 1;
  for (int64_t s = 0; s < sides; s++) {
    int32_t n = e->facing[s];
    if (n >= 0 && e->narrow[s] && !e->broad[n] && !e->whole[n])
      e->facing[s] = MN_FACES_UNKNOWN;
    if (n == FACES_OPEN)
      e->facing[s] = MN_FACES_NONE;
  }
}

/* Water may flow into a space with air as long as no body has to bear the air's pressure. */
static void excuse_air(mn_mac *mac, size_t sides)
{
  mn_enclosure *e = &mac->enclosure;
  for (int n = 0; n < e->told.count; n++)
    e->broad[n] = 0; /* faced at all */
  for (size_t s = 0; s < sides; s++)
    if (e->facing[s] >= 0)
      e->broad[e->facing[s]] = 1;
  for (int part = 0; part < mac->spaces.count; part++) {
    int n = e->number[part];
    if (n >= 0 && !mac->spaces.space[part].full && !e->broad[n])
      e->inflow[n] = e->blown[n] = e->hidden[n] = 0;
  }
}

/* ---- the operations -------------------------------------------------------------------------- */

/* Regions with cells of which water has let go of bodies (loose.c), and without any air but that.
 */
static void find_parted(mn_mac *mac)
{
  mn_enclosure *e = &mac->enclosure;
  const mn_field *phi = &mac->liquid_next;
  e->told.parted = NULL;
  if (!mac->bodies.marked || !e->told.count)
    return;
  memset(e->parted, 0, (size_t)e->told.count);
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < phi->n[2]; k++)
      for (int j = 0; j < phi->n[1]; j++)
        for (int i = 0; i < phi->n[0]; i++) {
          int64_t q = phi->at - phi->data + mn_index(phi, i, j, k);
          if (e->label[q] < 0 || mac->geometry.cell_extension.layer[q] != 0)
            continue;
          int marked = mac->state.held.data[q] >= MN_MAC_LOOSE, air = phi->data[q] >= 0;
          if (pass == 0 && marked)
            e->parted[e->label[q]] = 1;
          else if (pass == 1 && air && !marked)
            e->parted[e->label[q]] = 0;
        }
  e->told.parted = e->parted;
}

mn_status mn_mac_enclose(void *self, const mn_interface *interface, mn_enclosed *enclosed)
{
  mn_mac *mac = self;
  mn_enclosure *e = &mac->enclosure;
  int bodies = interface && interface->count;
  if (bodies && !mac->bodies.on)
    return mn_fail(mac->ctx, MN_BAD_INPUT,
                   "the fluid did not meet the interface's surfaces before the substep");
  e->known = 0;
  if (bodies)
    MN_TRY(mn_mac_bodies_place(mac, interface));
  else
    MN_TRY(mn_mac_find_spaces(mac));
  MN_TRY(mn_mac_analyse(mac));
  size_t sides = bodies ? 2 * interface->elements : 0;
  int regions = mn_pressure_region_count(mac->pressure), parts = part_count(mac);
  MN_TRY(make_room(mac, (size_t)(regions > parts ? regions : parts), sides,
                   bodies ? interface->count : 0));
  number_regions(mac);
  label_cells(mac);
  e->known = 1;
  if (mac->def->source_count && e->told.count)
    mn_mac_update_sources(mac);
  move_bodies(mac, 0);
  measure_regions(mac);
  if (mac->moving && e->told.count)
    MN_TRY(mn_mac_add_gaps(mac));
  move_bodies(mac, 1);
  if (e->told.count && bodies)
    find_sides(mac, interface);
  else
    for (size_t s = 0; s < sides; s++)
      e->facing[s] = MN_FACES_NONE;
  e->told.bare = e->told.count && bodies ? e->bare : NULL;
  e->told.room = e->told.count && bodies ? e->room_ahead : NULL;
  if (mn_mac_is_water(mac))
    excuse_air(mac, sides);
  find_parted(mac);
  e->told.cells = e->cells;
  e->told.inflow = e->inflow;
  e->told.blown = e->blown;
  e->told.volume = e->volume;
  e->told.center = e->center;
  e->told.facing = e->facing;
  e->told.whole = e->whole;
  *enclosed = e->told;
  return MN_OK;
}

mn_status mn_mac_region_sums(mn_mac *mac, int each, double **sum)
{
  size_t count = (size_t)mn_pressure_region_count(mac->pressure);
  MN_TRY(make_room(mac, count, 0, 0));
  *sum = mac->enclosure.sum;
  memset(*sum, 0, (size_t)each * count * sizeof **sum);
  return MN_OK;
}

/* sum[2 r], sum[2 r + 1] <- integrals of f and of 1 over each closed region, in cells */
static mn_status integrate(mn_mac *mac, const mn_field *f)
{
  double *sum;
  MN_TRY(mn_mac_region_sums(mac, 2, &sum));
  for (int k = 0; k < f->n[2]; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++) {
        int r = mn_pressure_region_of(mac->pressure, i, j, k);
        if (r < 0 || !mn_pressure_get_region(mac->pressure, r).closed)
          continue;
        int64_t c = mn_index(f, i, j, k);
        double part = part_of(mac, c);
        sum[2 * r] += part * f->at[c];
        sum[2 * r + 1] += part;
      }
  return MN_OK;
}

static int any_closed(const mn_mac *mac)
{
  for (int r = 0; r < mn_pressure_region_count(mac->pressure); r++)
    if (mn_pressure_get_region(mac->pressure, r).closed)
      return 1;
  return 0;
}

mn_status mn_mac_gauge(mn_mac *mac)
{
  const mn_enclosure *e = &mac->enclosure;
  mn_field *p = &mac->dp;
  if (!e->known || mac->increments || !any_closed(mac))
    return MN_OK;
  MN_TRY(integrate(mac, p));
  for (int k = 0; k < p->n[2]; k++)
    for (int j = 0; j < p->n[1]; j++)
      for (int i = 0; i < p->n[0]; i++) {
        int r = mn_pressure_region_of(mac->pressure, i, j, k);
        if (r >= 0 && e->sum[2 * r + 1] > 0)
          p->at[mn_index(p, i, j, k)] -= e->sum[2 * r] / e->sum[2 * r + 1];
      }
  return MN_OK;
}

/* The vote is that of Boyer and Moore, right if there is a majority. */
static void vote(mn_mac *mac)
{
  mn_enclosure *e = &mac->enclosure;
  const mn_field *f = &mac->b;
  int count = mn_pressure_region_count(mac->pressure);
  int64_t *lead = mac->enclosure.lead;
  for (int r = 0; r < count; r++) {
    e->number[r] = -1;
    lead[r] = 0;
  }
  for (int k = 0; k < f->n[2]; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++) {
        int r = mn_pressure_region_of(mac->pressure, i, j, k);
        if (r < 0 || !mn_pressure_get_region(mac->pressure, r).closed)
          continue;
        int32_t label = e->label[f->at - f->data + mn_index(f, i, j, k)];
        if (!lead[r])
          e->number[r] = label;
        lead[r] += e->number[r] == label ? 1 : -1;
      }
}

mn_status mn_mac_number_closed(mn_mac *mac)
{
  MN_TRY(make_room(mac, (size_t)mn_pressure_region_count(mac->pressure), 0, 0));
  if (mac->enclosure.known)
    vote(mac);
  else
    number_regions(mac);
  return MN_OK;
}

/* Water and air, by the labels told. */
static void lift_spaces(mn_mac *mac, const double *p0)
{
  mn_field *lift = &mac->state.lift;
  for (size_t q = 0; q < lift->size; q++)
    if (mac->enclosure.label[q] >= 0)
      lift->data[q] = p0[mac->enclosure.label[q]];
}

/* shown = p + rest + lift has the mean p0 over the region's volume. */
mn_status mn_mac_lift(void *self, const double *p0, int count)
{
  mn_mac *mac = self;
  mn_enclosure *e = &mac->enclosure;
  mn_field *lift = &mac->state.lift;
  if (!e->known || count != e->told.count)
    return mn_fail(mac->ctx, MN_BAD_INPUT,
                   "%d pressures of closed regions are given, and the fluid told of %d", count,
                   e->known ? e->told.count : 0);
  if (!lift->data)
    return MN_OK; /* there are no surfaces */
  mn_field_fill(lift, 0);
  e->lifted = 1;
  if (count && mn_mac_is_water(mac))
    lift_spaces(mac, p0);
  if (!count || mn_mac_is_water(mac) || !any_closed(mac))
    return MN_OK;
  MN_TRY(make_room(mac, (size_t)mn_pressure_region_count(mac->pressure), 0, 0));
  vote(mac);
  mn_vec3 weight = mn_scale(mac->def->fluid.density, mac->def->fluid.gravity);
  for (int k = 0; k < lift->n[2]; k++)
    for (int j = 0; j < lift->n[1]; j++)
      for (int i = 0; i < lift->n[0]; i++) {
        int r = mn_pressure_region_of(mac->pressure, i, j, k);
        int n = r < 0 ? -1 : e->number[r];
        if (n < 0)
          continue;
        double rest = mn_dot(weight, mn_sub(e->center[n], mn_mac_top(mac)));
        mn_set(lift, i, j, k, p0[n] - rest);
      }
  return MN_OK;
}
