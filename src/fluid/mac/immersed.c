/* Bodies of other solvers: their surfaces on the grid, within a substep.

   begin    surfaces as they are at its start: what is carried is carried around them
   solve    surfaces where the interface says; if it is frozen, only in the first solve, so that
            later ones differ in nothing but the velocities W V, and cost one pressure solve each
   commit   surfaces of the last solve become those of the next start

   A face belongs to a body if a thin surface blocks its link, or if a closed one is the nearest
   solid and closes a part of it or of one of its cells, or has its part of it (share.c). Of a face
   on a closed side of the domain the body has what it covers, and the side the rest: no fluid
   presses there from outside, and nothing flows in where a body goes through the side. Fluid slides
   along bodies.

   Verified by tests/verify/test_added_mass.c, test_body_balance.c. */
#include "fluid/mac/immersed.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "fluid/mac/internal.h"
#include "grid/fractions.h"

/* ---- copies of an interface ------------------------------------------------------------------ */

static mn_status keep(mn_mac *mac, const mn_interface *from, mn_interface *to)
{
  size_t n = from->count, m = (size_t)from->dim * from->elements;
  if (to->count != n || to->elements != from->elements || to->dim != from->dim) {
    mn_interface_destroy(to);
    MN_TRY(mn_interface_create(mac->ctx, from->dim, n, from->elements, to));
  }
  memcpy(to->X, from->X, n * sizeof *to->X);
  memcpy(to->V, from->V, n * sizeof *to->V);
  memcpy(to->body, from->body, n * sizeof *to->body);
  memcpy(to->two_sided, from->two_sided, n * sizeof *to->two_sided);
  memcpy(to->rigid, from->rigid, n * sizeof *to->rigid);
  memcpy(to->element, from->element, m * sizeof *to->element);
  return MN_OK;
}

/* The same surfaces at the same place. */
static int same(const mn_immersed *im, const mn_interface *f)
{
  return im->points == f->count && im->elements == f->elements &&
         !memcmp(im->X, f->X, f->count * sizeof *f->X) &&
         !memcmp(im->rigid, f->rigid, f->count * sizeof *f->rigid) &&
         !memcmp(im->point_body, f->body, f->count * sizeof *f->body) &&
         !memcmp(im->element, f->element, (size_t)f->dim * f->elements * sizeof *f->element);
}

/* ---- faces ----------------------------------------------------------------------------------- */

/* Cells around all bodies: [lo, hi). */
static void around(const mn_mac *mac, const mn_immersed *im, int lo[3], int hi[3])
{
  const mn_grid *g = &mac->grid;
  for (int a = 0; a < 3; a++) {
    double low = INFINITY, high = -INFINITY;
    for (int b = 0; b < im->bodies; b++)
      if (im->body[b].elements) {
        low = fmin(low, im->body[b].lo.v[a]);
        high = fmax(high, im->body[b].hi.v[a]);
      }
    low = a < g->dim ? floor((low - g->origin.v[a]) / g->dx) - 2 : 0;
    high = a < g->dim ? ceil((high - g->origin.v[a]) / g->dx) + 2 : 1;
    lo[a] = (int)mn_clamp(low, 0, g->n[a]);
    hi[a] = (int)mn_clamp(high, 0, g->n[a]);
  }
}

/* Mean of a nodal field over a face. */
static double face_mean(const mn_field *node, int axis, int i, int j, int k)
{
  int three = node->grid->dim == 3;
  int64_t b = node->stride[three ? (axis + 1) % 3 : 1 - axis];
  int64_t c = three ? node->stride[(axis + 2) % 3] : 0;
  const double *d = node->at + mn_index(node, i, j, k);
  return 0.25 * (d[0] + d[b] + d[c] + d[b + c]);
}

/* 1: more than half of the face lies in obstacles, and the rest in the body: a piston that reaches
   into the wall of its cylinder. What little of the next face is open would else get all that the
   piston moves of this one, as a jet. */
static int is_of_wall(const mn_field *obstacles, const mn_field *body, int axis, int i, int j,
                      int k)
{
  int three = body->grid->dim == 3, n = three ? 4 : 2;
  int64_t b = body->stride[three ? (axis + 1) % 3 : 1 - axis];
  int64_t c = three ? body->stride[(axis + 2) % 3] : 0;
  int64_t q = mn_index(body, i, j, k), at[] = {q, q + b, q + c, q + b + c};
  double d[4];
  for (int m = 0; m < n; m++) {
    d[m] = obstacles->at[at[m]];
    if (d[m] >= 0 && body->at[at[m]] >= 0)
      return 0;
  }
  double open = three ? mn_square_fraction(d) : mn_edge_fraction(d[0], d[1]);
  return open > 0 && open < 0.5;
}

/* In cells: a rigid body that lies no deeper in an obstacle is what the fluid meets, as for its
   sides (enclose.c, OFF); where both are flush, it is the body that may move. */
static const double FLUSH = 1e-6;

int mn_mac_bodies_face(const mn_mac *mac, const mn_immersed *im, int axis, int i, int j, int k)
{
  if (im->two_sided_elements && mn_immersed_blocks(im, axis, i, j, k))
    return im->link[im->blocked[axis][mn_index(&im->face[axis], i, j, k)] - 1].body;
  if (!im->closed_elements)
    return -1;
  int body = mn_immersed_face_body(im, axis, i, j, k);
  if (body < 0 || !mac->def->solid_count)
    return body;
  const mn_field *obstacles = &mac->geometry.obstacles, *distance = &im->distance;
  double flush = im->body[body].rigid ? FLUSH * mac->grid.dx : 0;
  int theirs = face_mean(obstacles, axis, i, j, k) + flush <= face_mean(distance, axis, i, j, k) ||
               is_of_wall(obstacles, distance, axis, i, j, k);
  return theirs ? -1 : body;
}

/* In cells: a body that reaches so near to a closed side covers it, as no cell below it holds
   water. */
static const double COVERS = 1e-6;

/* Of a face on a closed side: the part that bodies leave free. Where one stands on the side, its
   distance is 0 all over its base: that of the next row of nodes then says where the base ends. */
static double free_part(const mn_immersed *im, int a, int i, int j, int k)
{
  const mn_field *node = &im->distance;
  int three = node->grid->dim == 3, at[3] = {i, j, k};
  int64_t b = node->stride[three ? (a + 1) % 3 : 1 - a];
  int64_t c = three ? node->stride[(a + 2) % 3] : 0;
  int64_t q = mn_index(node, i, j, k), inwards = at[a] ? -node->stride[a] : node->stride[a];
  double d[4], covers = COVERS * node->grid->dx;
  for (int m = 0; m < 4; m++) {
    int64_t corner = q + (m & 1 ? b : 0) + (m & 2 ? c : 0);
    d[m] = node->at[corner];
    if (fabs(d[m]) <= covers && node->at[corner + inwards] < 0)
      d[m] = node->at[corner + inwards];
  }
  return three ? mn_square_fraction(d) : mn_edge_fraction(d[0], d[1]);
}

static int is_on_side(const mn_mac *mac, int a, int i, int j, int k)
{
  const mn_field *w = &mac->geometry.open[a];
  return mn_is_side(mac->geometry.kind[a][w->at - w->data + mn_index(w, i, j, k)]);
}

/* Whether bodies and the face have to do with each other: a cell beside it is fluid, and the face
   or one of its cells is closed in part; on a side, the face is. */
static int concerns(const mn_mac *mac, const mn_immersed *im, int a, int i, int j, int k)
{
  const mn_mac_geometry *g = &mac->geometry;
  const mn_field *w = &g->open[a], *cells = &g->volume;
  int64_t q = mn_index(w, i, j, k), c = mn_index(cells, i, j, k);
  int at[3] = {i, j, k}, alive = 0, cut = w->at[q] < 1;
  int kind = g->kind[a][w->at - w->data + q];
  if (kind == MN_FACE_SOURCE)
    return 0;
  if (mn_is_side(kind) && (!im->closed_elements || !(free_part(im, a, i, j, k) < 1)))
    return 0;
  for (int high = 0; high < 2; high++) {
    int64_t n = high ? c : c - cells->stride[a];
    if (high ? at[a] >= cells->n[a] : at[a] <= 0)
      continue;
    alive |= g->cell_extension.layer[cells->at - cells->data + n] == 0;
    cut |= cells->at[n] < 1;
  }
  return alive && cut;
}

static mn_status make_room(mn_mac *mac, size_t count)
{
  mn_mac_bodies *b = &mac->bodies;
  if (count <= b->capacity)
    return MN_OK;
  size_t old = b->capacity, room = count + count / 2;
  MN_TRY(mn_grow(mac->ctx, "faces of bodies", old, room, sizeof *b->face, (void **)&b->face));
  MN_TRY(mn_grow(mac->ctx, "faces of bodies", old, room, sizeof *b->side, (void **)&b->side));
  MN_TRY(mn_grow(mac->ctx, "faces of bodies", old, room, sizeof *b->room, (void **)&b->room));
  MN_TRY(mn_grow(mac->ctx, "faces of bodies", old, room, sizeof *b->beside, (void **)&b->beside));
  MN_TRY(mn_grow(mac->ctx, "faces of bodies", old, room, sizeof *b->held, (void **)&b->held));
  MN_TRY(mn_grow(mac->ctx, "faces of bodies", old, room, sizeof *b->U, (void **)&b->U));
  MN_TRY(mn_grow(mac->ctx, "faces of bodies", old, room, sizeof *b->U, (void **)&b->U_start));
  MN_TRY(mn_grow(mac->ctx, "faces of bodies", old, room, sizeof *b->F, (void **)&b->F));
  MN_TRY(mn_grow(mac->ctx, "faces of bodies", old, room, sizeof *b->F, (void **)&b->mass));
  MN_TRY(mn_grow(mac->ctx, "faces of bodies", old, room, sizeof *b->counts, (void **)&b->counts));
  b->capacity = room;
  return MN_OK;
}

/* In index order, so that every sum over them is the same for any threads. */
static mn_status list_faces(mn_mac *mac, const mn_immersed *im, size_t *count)
{
  int lo[3], hi[3];
  *count = 0;
  around(mac, im, lo, hi);
  MN_TRY(mn_mac_find_fits(mac, im));
  for (int a = 0; a < mac->grid.dim; a++)
    for (int k = lo[2]; k < hi[2] + (a == 2); k++)
      for (int j = lo[1]; j < hi[1] + (a == 1); j++)
        for (int i = lo[0]; i < hi[0] + (a == 0); i++) {
          if (!concerns(mac, im, a, i, j, k))
            continue;
          mn_share s = mn_mac_share_face(mac, im, a, (const int[3]){i, j, k});
          if (s.body < 0)
            continue;
          MN_TRY(make_room(mac, *count + 1));
          mac->bodies.side[*count] = is_on_side(mac, a, i, j, k) ? free_part(im, a, i, j, k) : -1;
          mac->bodies.room[*count] = s.room;
          mac->bodies.beside[*count] = s.beside;
          mac->bodies.held[*count] = s.held;
          mn_closed_face *f = &mac->bodies.face[(*count)++];
          int32_t link =
              im->two_sided_elements ? im->blocked[a][mn_index(&im->face[a], i, j, k)] : 0;
          if (link)
            *f = im->link[link - 1];
          else
            *f = (mn_closed_face){a, i, j, k, s.body, MN_NO_ELEMENT, 0.5};
        }
  return MN_OK;
}

/* ---- placement ------------------------------------------------------------------------------- */

static mn_status create(mn_mac *mac)
{
  mn_mac_bodies *b = &mac->bodies;
  if (b->weights)
    return MN_OK;
  MN_TRY(mn_immersed_create(mac->ctx, &mac->grid, &mac->immersed));
  MN_TRY(mn_immersed_create(mac->ctx, &mac->grid, &mac->immersed_start));
  MN_TRY(mn_field_create(mac->ctx, &mac->grid, MN_CELL, "fluid parts", &b->part));
  if (mac->separate.on)
    MN_TRY(mn_field_create(mac->ctx, &mac->grid, MN_CELL, "loose cells", &b->anchor));
  if (!mac->state.lift.data) { /* bodies that the scene does not know */
    MN_TRY(mn_field_create(mac->ctx, &mac->grid, MN_CELL, "lift", &mac->state.lift));
    MN_TRY(mn_field_create(mac->ctx, &mac->grid, MN_CELL, "lift", &mac->saved.lift));
  }
  MN_TRY(mn_mac_geometry_keep_obstacles(mac));
  MN_TRY(mn_mac_empty_create(mac));
  return mn_weights_create(mac->ctx, mac->def->coupling.kernel_radius * mac->grid.dx, &b->weights);
}

void mn_mac_bodies_destroy(mn_mac *mac)
{
  mn_mac_bodies *b = &mac->bodies;
  mn_immersed_destroy(&mac->immersed);
  mn_immersed_destroy(&mac->immersed_start);
  mn_weights_destroy(&b->weights);
  mn_interface_destroy(&b->start);
  mn_interface_destroy(&b->last);
  mn_interface_destroy(&b->expected);
  mn_field_destroy(&b->part);
  mn_field_destroy(&b->anchor);
  mn_free(b->loose);
  mn_free(b->grip);
  mn_free(b->face);
  mn_free(b->side);
  mn_free(b->room);
  mn_free(b->beside);
  mn_free(b->held);
  mn_free(b->U);
  mn_free(b->U_start);
  mn_free(b->F);
  mn_free(b->mass);
  mn_free(b->counts);
  mn_free(b->shift);
  mn_free(b->flush);
  mn_buffer_free(&b->wall);
  mn_buffer_free(&b->fits);
  mn_buffer_free(&b->skins);
  for (int n = 0; n < 5; n++)
    mn_free(b->region[n]);
}

/* The geometry with these surfaces, the faces that feel them, and W. */
static mn_status apply(mn_mac *mac, double time, double dt, const mn_immersed *im, long stamp)
{
  size_t count;
  if (mac->bodies.narrowed != mac->bodies.narrow)
    mac->geometry.stamp = 0;
  if (mac->geometry.stamp != stamp)
    MN_TRY(mn_mac_bodies_shift(mac, im));
  if (!mn_mac_geometry_update(mac, time, dt, im, stamp))
    return MN_OK;
  mac->geometry.stamp = 0; /* until all is done */
  MN_TRY(list_faces(mac, im, &count));
  MN_TRY(mn_weights_place(mac->bodies.weights, im, mac->bodies.face, count));
  mn_mac_bodies_parts(mac, im);
  if (mac->bodies.narrow)
    mn_mac_bodies_narrow(mac);
  mac->bodies.narrowed = mac->bodies.narrow;
  mac->geometry.stamp = stamp;
  return MN_OK;
}

static double open_part(const mn_mac *mac, size_t r)
{
  const mn_closed_face *f = &mac->bodies.face[r];
  return mn_get(&mac->geometry.open[f->axis], f->i, f->j, f->k);
}

double mn_mac_bodies_open(const mn_mac *mac, size_t r)
{
  double side = mac->bodies.side[r];
  return side >= 0 ? side : open_part(mac, r) + mac->bodies.held[r];
}

double mn_mac_bodies_closed(const mn_mac *mac, size_t r)
{
  double side = mac->bodies.side[r];
  return side >= 0 ? 1 - side : fmax(mac->bodies.room[r] - open_part(mac, r), 0);
}

void mn_mac_bodies_set_wall(mn_mac *mac, size_t r, double U)
{
  const mn_mac_bodies *b = &mac->bodies;
  const mn_closed_face *f = &b->face[r];
  double side = b->side[r], wall = U;
  if (side >= 0)
    wall = (1 - side) * U;
  else if (b->room[r] < 1) {
    double open = open_part(mac, r);
    wall = open < 1 ? (mn_mac_bodies_closed(mac, r) * U + b->beside[r]) / (1 - open) : 0;
  }
  mn_set(&mac->geometry.wall[f->axis], f->i, f->j, f->k, wall);
}

/* U = W V, also as the velocity of what closes the faces. */
static void move_walls(mn_mac *mac, const mn_vec3 *V)
{
  mn_mac_bodies *b = &mac->bodies;
  mn_weights_gather(b->weights, V, b->U);
  b->judged = 0;
  for (size_t r = 0; r < b->weights->rows; r++)
    mn_mac_bodies_set_wall(mac, r, b->U[r]);
}

mn_status mn_mac_bodies_geometry(mn_mac *mac, double time, double dt)
{
  mn_mac_bodies *b = &mac->bodies;
  b->placed = b->narrow = 0;
  mn_mac_tighten(mac);
  b->emptied = 0;
  if (!b->on) {
    mn_mac_geometry_update(mac, time, dt, NULL, 0);
    return MN_OK;
  }
  MN_TRY(apply(mac, time, dt, mac->immersed_start, b->stamp_start));
  move_walls(mac, b->start.V);
  return MN_OK;
}

/* The surfaces of the interface on mac->immersed; nothing to do if they are there. */
static mn_status put(mn_mac *mac, const mn_interface *interface)
{
  mn_mac_bodies *b = &mac->bodies;
  if (b->stamp_end && same(mac->immersed, interface))
    return MN_OK;
  b->stamp_end = 0;
  MN_TRY(mn_immersed_place(mac->immersed, interface));
  b->stamp_end = ++b->stamp;
  return MN_OK;
}

mn_status mn_mac_bodies_expect(mn_mac *mac)
{
  mn_mac_bodies *b = &mac->bodies;
  if (!b->on || !mac->immersed_start->two_sided_elements || mac->shell.see_through) {
    mac->shell.on = 0;
    return MN_OK;
  }
  MN_TRY(keep(mac, &b->start, &b->expected));
  for (size_t i = 0; i < b->start.count; i++)
    if (b->start.two_sided[i])
      b->expected.X[i] = mn_madd(b->start.X[i], mac->dt, b->start.V[i]);
  MN_TRY(put(mac, &b->expected));
  if (mac->water.on) {
    MN_TRY(apply(mac, mac->geometry.time, mac->geometry.dt, mac->immersed, b->stamp_end));
    move_walls(mac, b->start.V);
  }
  return mn_shell_begin(mac, mac->immersed_start, mac->immersed, b->start.V);
}

/* What the surfaces have passed, and what they enclose. */
static mn_status place_shells(mn_mac *mac, const mn_vec3 *V)
{
  mn_mac_forget_spaces(mac, 1);
  MN_TRY(mn_shell_place(mac, mac->immersed, V, mac->bodies.stamp_end));
  return mn_mac_find_spaces(mac);
}

mn_status mn_mac_bodies_arrive(mn_mac *mac)
{
  mn_mac_bodies *b = &mac->bodies;
  if (!b->on || !b->placed || !mac->shell.on)
    return MN_OK;
  if (!b->stamp_end || !same(mac->immersed, &b->last)) {
    MN_TRY(put(mac, &b->last));
    MN_TRY(apply(mac, mac->geometry.time, mac->geometry.dt, mac->immersed, b->stamp_end));
    move_walls(mac, b->last.V);
  }
  return place_shells(mac, b->last.V);
}

static mn_status check(mn_mac *mac, const mn_interface *f)
{
  const mn_mac_bodies *b = &mac->bodies;
  if (f->dim != mac->grid.dim)
    return mn_fail(mac->ctx, MN_BAD_INPUT, "the interface has %d dimensions, the fluid %d", f->dim,
                   mac->grid.dim);
  if (f->count != b->start.count || f->elements != b->start.elements)
    return mn_fail(mac->ctx, MN_BAD_INPUT,
                   "the fluid met surfaces of %zu points and %zu elements, and shall now solve "
                   "with %zu and %zu: call `meet` when they change",
                   b->start.count, b->start.elements, f->count, f->elements);
  return MN_OK;
}

mn_status mn_mac_bodies_place(mn_mac *mac, const mn_interface *interface)
{
  mn_mac_bodies *b = &mac->bodies;
  int anew = !b->placed || b->narrowed != b->narrow || !interface->frozen;
  MN_TRY(check(mac, interface));
  if (b->placed && b->narrowed != b->narrow) { /* the same again, with narrow faces */
    MN_TRY(apply(mac, mac->geometry.time, mac->geometry.dt, mac->immersed, b->stamp_end));
    mn_weights_gather(b->weights, b->start.V, b->U_start);
  } else if (!b->placed || !interface->frozen) {
    b->placed = 0;
    MN_TRY(put(mac, interface));
    MN_TRY(apply(mac, mac->geometry.time, mac->geometry.dt, mac->immersed, b->stamp_end));
    mn_weights_gather(b->weights, b->start.V, b->U_start);
    MN_TRY(place_shells(mac, interface->V));
    b->placed = 1;
  }
  move_walls(mac, interface->V);
  if (anew)
    MN_TRY(mn_mac_loosen(mac));
  return keep(mac, interface, &b->last);
}

mn_status mn_mac_bodies_move(mn_mac *mac, const mn_interface *interface)
{
  MN_TRY(check(mac, interface));
  move_walls(mac, interface->V);
  return keep(mac, interface, &mac->bodies.last);
}

mn_status mn_mac_bodies_end(mn_mac *mac, const mn_interface *interface)
{
  if (!mac->bodies.on || !mac->bodies.placed)
    return MN_OK;
  MN_TRY(check(mac, interface));
  return keep(mac, interface, &mac->bodies.last);
}

/* The surfaces at the start of the next substep. */
static mn_status move_on(mn_mac *mac, const mn_interface *interface)
{
  mn_mac_bodies *b = &mac->bodies;
  MN_TRY(keep(mac, interface, &b->start));
  if (b->stamp_start && same(mac->immersed_start, interface))
    return MN_OK;
  mn_immersed *old = mac->immersed_start;
  mac->immersed_start = mac->immersed;
  mac->immersed = old;
  long stamp = b->stamp_end;
  b->stamp_end = b->stamp_start;
  b->stamp_start = stamp;
  if (stamp && same(mac->immersed_start, interface))
    return MN_OK;
  b->stamp_start = 0;
  MN_TRY(mn_immersed_place(mac->immersed_start, interface));
  b->stamp_start = ++b->stamp;
  return MN_OK;
}

mn_status mn_mac_bodies_meet(mn_mac *mac, const mn_interface *interface)
{
  mac->bodies.on = interface->count > 0;
  if (!mac->bodies.on)
    return MN_OK;
  MN_TRY(create(mac));
  if (interface->dim != mac->grid.dim)
    return mn_fail(mac->ctx, MN_BAD_INPUT, "the interface has %d dimensions, the fluid %d",
                   interface->dim, mac->grid.dim);
  return move_on(mac, interface);
}

mn_status mn_mac_bodies_commit(mn_mac *mac)
{
  return mac->bodies.on && mac->bodies.placed ? move_on(mac, &mac->bodies.last) : MN_OK;
}

void mn_mac_bodies_forget(mn_mac *mac)
{
  mac->bodies.stamp_start = mac->bodies.stamp_end = 0;
  mac->bodies.placed = 0;
}

/* ---- speeds ---------------------------------------------------------------------------------- */

double mn_mac_bodies_speed(const mn_mac *mac)
{
  const mn_interface *f = &mac->bodies.start;
  double most = 0;
  for (size_t i = 0; i < f->count && mac->bodies.on; i++)
    most = fmax(most, mn_length(f->V[i]));
  return most;
}

double mn_mac_bodies_jump(const mn_mac *mac)
{
  const mn_interface *a = &mac->bodies.start, *b = &mac->bodies.last;
  double most = 0;
  for (size_t i = 0; i < a->count && mac->bodies.placed; i++)
    most = fmax(most, mn_length(mn_sub(b->V[i], a->V[i])));
  return most;
}
