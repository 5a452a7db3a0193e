/* Solids, sources and sides on the grid at one time.

   A kinematic solid moves as x(t) = R(angle(t)) (x0 - pivot) + pivot + translate path(t). Over a
   substep its velocity is the twist that takes it from its old to its new place,

       v(x) = dT/dt + omega x (x - c),   omega = axis d(angle)/dt,

   which is free of divergence, so that a closed box with a turning solid inside stays solvable: the
   fluxes (1 - w) v.n of the closed parts of the faces sum to zero over any closed surface.

   Verified by tests/verify/test_moving_solid.c. */
#include "fluid/mac/internal.h"

#include <string.h>

#include "base/status.h"
#include "grid/fractions.h"

/* A face with less open than this is closed: its row would only add round-off. */
static const double OPEN_MIN = 1e-6;
/* The same beside a body that deforms: the velocities of the faces of a cell differ by its strain,
   and what flows into a cell that is nearly closed would rush through slits. */
static const double OPEN_MIN_SOFT = 0.05;
static mn_placement place_solid(const mn_solid_def *s, double time, double dt)
{
  mn_placement p = {.axis = mn_v3(0, 0, 1)};
  if (!s->moving)
    return p;
  const mn_motion *m = &s->motion;
  double length = mn_length(m->axis);
  if (length > 0)
    p.axis = mn_scale(1 / length, m->axis);
  double path = mn_timefn_eval(&m->path, time), turn = mn_timefn_eval(&m->turn, time);
  p.center = mn_madd(m->pivot, path, m->translate);
  p.angle = turn;
  double rate =
      dt > 0 ? (path - mn_timefn_eval(&m->path, time - dt)) / dt : mn_timefn_rate(&m->path, time);
  double spin =
      dt > 0 ? (turn - mn_timefn_eval(&m->turn, time - dt)) / dt : mn_timefn_rate(&m->turn, time);
  p.velocity = mn_scale(rate, m->translate);
  p.omega = mn_scale(spin, p.axis);
  return p;
}

double mn_mac_placed_distance(const mn_solid_def *s, const mn_placement *p, mn_vec3 x)
{
  if (s->moving) {
    mn_vec3 r = mn_rotate(mn_sub(x, p->center), p->axis, -p->angle);
    x = mn_add(r, s->motion.pivot);
  }
  return mn_shape_distance(s->shape, x);
}

mn_placement mn_mac_place_at_start(const mn_solid_def *s)
{
  return place_solid(s, 0, 0);
}

double mn_mac_start_distance(const mn_mac *mac, int solid, mn_vec3 x)
{
  const mn_solid_def *s = &mac->def->solids[solid];
  mn_placement start = mn_mac_place_at_start(s);
  double d = mn_mac_placed_distance(s, &start, x);
  return mac->geometry.place[solid].thin ? mn_thin_walls_distance(mac, s, &start, x, d) : d;
}

mn_vec3 mn_mac_placed_velocity(const mn_placement *p, mn_vec3 x)
{
  return mn_add(p->velocity, mn_cross(p->omega, mn_sub(x, p->center)));
}

/* The solid nearest to x, or -1. */
static int nearest_solid(const mn_mac *mac, const mn_placement *places, mn_vec3 x, double *distance)
{
  int best = -1;
  *distance = INFINITY;
  for (int s = 0; s < mac->def->solid_count; s++) {
    double d = mn_mac_placed_distance(&mac->def->solids[s], &places[s], x);
    if (best < 0 || d < *distance) {
      best = s;
      *distance = d;
    }
  }
  return best;
}

int mn_mac_nearest_solid(const mn_mac *mac, mn_vec3 x)
{
  double distance;
  return nearest_solid(mac, mac->geometry.place, x, &distance);
}

mn_vec3 mn_mac_solid_velocity(const mn_mac *mac, mn_vec3 x)
{
  int s = mn_mac_nearest_solid(mac, x);
  return s < 0 ? mn_v3(0, 0, 0) : mn_mac_placed_velocity(&mac->geometry.place[s], x);
}

double mn_mac_solid_reach(const mn_mac *mac, int solid)
{
  const mn_solid_def *s = &mac->def->solids[solid];
  double whole = mn_length(mac->def->domain.size), far = 0;
  mn_vec3 lo, hi;
  mn_shape_bounds(s->shape, &lo, &hi);
  for (int a = 0; a < mac->grid.dim; a++) {
    double reach = fmax(fabs(lo.v[a] - s->motion.pivot.v[a]), fabs(hi.v[a] - s->motion.pivot.v[a]));
    far += reach * reach;
  }
  return fmin(sqrt(far), whole);
}

/* Thin walls are where the nodes have them, for particles as for faces. */
double mn_mac_obstacle_distance(const mn_mac *mac, mn_vec3 x)
{
  const mn_mac_geometry *g = &mac->geometry;
  double d = 1e30;
  nearest_solid(mac, g->place, x, &d);
  return g->thin_walls ? fmin(d, mn_sample(g->obstacles.data ? &g->obstacles : &g->solid, x)) : d;
}

double mn_mac_solid_distance(const mn_mac *mac, mn_vec3 x)
{
  const mn_mac_geometry *g = &mac->geometry;
  double d = 1e30;
  nearest_solid(mac, g->place, x, &d);
  return mac->bodies.on || g->thin_walls ? fmin(d, mn_sample(&g->solid, x)) : d;
}

/* Distance to the nearest solid at a node, thin walls as thick as the grid needs. */
static double node_distance(const mn_mac *mac, const mn_placement *places, mn_vec3 x, double far)
{
  double least = far;
  for (int s = 0; s < mac->def->solid_count; s++) {
    const mn_solid_def *solid = &mac->def->solids[s];
    double d = mn_mac_placed_distance(solid, &places[s], x);
    least = fmin(least, places[s].thin ? mn_thin_walls_distance(mac, solid, &places[s], x, d) : d);
  }
  return least;
}

static void sample_distance(mn_mac *mac, const mn_placement *places, mn_field *f)
{
  const mn_grid *g = &mac->grid;
  double far = g->dx * (g->global_n[0] + g->global_n[1] + g->global_n[2]);
  int slabs = mn_slabs(f);
#pragma omp parallel for schedule(static) num_threads(g->exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(f, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < f->n[0]; i++)
        mn_set(f, i, j, k, node_distance(mac, places, mn_position(f, i, j, k), far));
  }
  mn_thin_walls_plug(mac, f);
  mn_sync(f);
}

/* Which cells blow, and which get smoke and temperature set. A source that holds no cell's centre
   would do nothing in silence: it is refused. */
static mn_status mark_sources(mn_mac *mac)
{
  int found[256] = {0};
  const mn_field *f = &mac->geometry.volume;
  const mn_model_def *def = mac->def;
  int64_t base = f->at - f->data;
  for (int k = 0; k < f->n[2]; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++) {
        int64_t c = base + mn_index(f, i, j, k);
        mn_vec3 x = mn_position(f, i, j, k);
        mac->geometry.inflow[c] = mac->geometry.emitter[c] = 0;
        for (int s = 0; s < def->source_count; s++)
          if (mn_shape_distance(def->sources[s].shape, x) < 0) {
            found[s] = 1;
            mac->geometry.emitter[c] = (unsigned char)(s + 1);
            if (def->sources[s].blows)
              mac->geometry.inflow[c] = (unsigned char)(s + 1);
          }
      }
  for (int s = 0; s < def->source_count; s++)
    if (!found[s])
      return mn_fail(
          mac->ctx, MN_BAD_INPUT,
          "scene.sources[%d]%s%s: it holds the centre of no cell (cells are %g m wide): move it "
          "into the domain, "
          "make it thicker, or use more cells",
          s + 1, *def->sources[s].name ? " " : "", def->sources[s].name, mac->grid.dx);
  return MN_OK;
}

/* Velocity along an axis at x out of a source that blows on all sides: that of an irrotational
   flow, speed (R/r)^(dim - 1), on the faces around it, linear inside. */
static double round_velocity(const mn_mac *mac, const mn_source_def *s, int axis, mn_vec3 x,
                             int inside)
{
  mn_vec3 lo, hi;
  mn_shape_bounds(s->shape, &lo, &hi);
  double R = 0.5 * (hi.x - lo.x);
  mn_vec3 d = mn_sub(x, mn_scale(0.5, mn_add(lo, hi)));
  d.z = mac->grid.dim == 3 ? d.z : 0;
  double r = mn_length(d);
  double away = inside || !(r > 0) ? 1 / R : pow(R / r, mac->grid.dim - 1) / r;
  return s->speed * away * d.v[axis];
}

/* Factors with which the flow out of round sources is speed times their surface. */
static void measure_sources(mn_mac *mac)
{
  mn_mac_geometry *g = &mac->geometry;
  const mn_field *cells = &g->volume;
  double A = pow(mac->grid.dx, mac->grid.dim - 1);
  for (int n = 0; n < mac->def->source_count; n++) {
    const mn_source_def *s = &mac->def->sources[n];
    mn_vec3 lo, hi;
    double flow = 0;
    mn_shape_bounds(s->shape, &lo, &hi);
    double R = 0.5 * (hi.x - lo.x);
    g->blow[n] = 1;
    for (int a = 0; a < mac->grid.dim && s->blows && s->speed != 0; a++)
      for (int k = 0; k < cells->n[2]; k++)
        for (int j = 0; j < cells->n[1]; j++)
          for (int i = 0; i + (a == 0) < cells->n[0]; i++) {
            int at[3] = {i, j, k};
            if (at[a] + 1 >= cells->n[a])
              continue;
            int64_t c = cells->at - cells->data + mn_index(cells, i, j, k);
            int low = g->inflow[c] == n + 1, high = g->inflow[c + cells->stride[a]] == n + 1;
            at[a]++;
            mn_vec3 x = mn_position(&g->open[a], at[0], at[1], at[2]);
            if (low != high)
              flow += (low ? A : -A) * round_velocity(mac, s, a, x, 0);
          }
    double surface = mac->grid.dim == 2 ? 2 * MN_PI * R : 4 * MN_PI * R * R;
    if (flow != 0)
      g->blow[n] = s->speed * surface / flow;
  }
}

/* 1 - (r/R)^2 across the shape, R half its extent along each axis across the flow. */
double mn_mac_profile(const mn_source_def *s, mn_vec3 x)
{
  if (s->profile == MN_PROFILE_UNIFORM)
    return 1;
  mn_vec3 lo, hi;
  mn_shape_bounds(s->shape, &lo, &hi);
  double speed = mn_length(s->velocity), factor = 1;
  if (!(speed > 0))
    return 0;
  mn_vec3 axis = mn_scale(1 / speed, s->velocity);
  mn_vec3 r = mn_sub(x, mn_scale(0.5, mn_add(lo, hi)));
  mn_vec3 across = mn_madd(r, -mn_dot(r, axis), axis);
  if (lo.z == hi.z) { /* 2D: one direction across */
    double half = 0.5 * (fabs(axis.y) * (hi.x - lo.x) + fabs(axis.x) * (hi.y - lo.y));
    factor -= mn_dot(across, across) / (half * half);
  } else
    for (int a = 0; a < 3; a++) {
      double half = 0.5 * (hi.v[a] - lo.v[a]);
      if (half > 0 && isfinite(half))
        factor -= across.v[a] * across.v[a] / (half * half);
    }
  return factor > 0 ? factor : 0;
}

/* Velocity of a face between the cells below and above, of which one or both blow. */
static double source_velocity(const mn_mac *mac, int axis, int i, int j, int k)
{
  const mn_mac_geometry *g = &mac->geometry;
  const mn_field *cells = &g->volume;
  int at[3] = {i, j, k}, low = at[axis] == 0, high = at[axis] == cells->n[axis];
  int64_t c = cells->at - cells->data + mn_index(cells, i, j, k), b = c - cells->stride[axis];
  int below = low ? 0 : g->inflow[b], above = high ? 0 : g->inflow[c];
  const mn_source_def *s = &mac->def->sources[(below ? below : above) - 1];
  int enclosed = mac->enclosure.known && !(below && above) && !(below ? high : low) &&
                 mac->enclosure.label[below ? c : b] >= 0;
  double ramp = enclosed ? mn_timefn_mean(&s->ramp, g->time - g->dt, g->time)
                         : mn_timefn_eval(&s->ramp, g->time);
  mn_vec3 x = mn_position(&g->open[axis], i, j, k);
  double v = s->speed != 0 ? g->blow[(below ? below : above) - 1] *
                                 round_velocity(mac, s, axis, x, below && above) * ramp
                           : s->velocity.v[axis] * mn_mac_profile(s, x) * ramp;
  if (below && above)
    return v;
  return below ? (v > 0 ? v : 0) : (v < 0 ? v : 0); /* out of the shape, never into it */
}

/* Closes the face as the solid of the scene or the body does that is nearest. The velocity of a
   body's face comes later (immersed.c). */
static void close_by_solid(mn_mac *mac, int body, int a, int i, int j, int k, double w)
{
  mn_mac_geometry *g = &mac->geometry;
  int64_t q = g->open[a].at - g->open[a].data + mn_index(&g->open[a], i, j, k);
  if (body >= 0) {
    g->kind[a][q] = w == 0 ? MN_FACE_SLIP : MN_FACE_FLUID;
    return;
  }
  double distance = 0;
  mn_vec3 x = mn_position(&g->open[a], i, j, k);
  int s = nearest_solid(mac, g->place, x, &distance);
  if (s < 0) { /* a body's face, too far from its surface for it to know */
    g->kind[a][q] = w == 0 ? MN_FACE_SLIP : MN_FACE_FLUID;
    return;
  }
  g->wall[a].data[q] = mn_mac_shared_velocity(mac, a, x, s);
  int noslip = mac->def->solids[s].noslip;
  if (w == 0)
    g->kind[a][q] = noslip ? MN_FACE_NOSLIP : MN_FACE_SLIP;
  else if (noslip && distance <= 0)
    g->kind[a][q] = MN_FACE_STUCK;
}

/* Velocity of a face of a closed side, of which a moving solid of the scene covers 1 - w: what goes
   through it is what the solid's surface sweeps in the cell (project.c), be it that of a piston
   that begins at the side. */
static double covered_side(const mn_mac *mac, int a, int i, int j, int k, double w)
{
  const mn_mac_geometry *g = &mac->geometry;
  double distance;
  mn_vec3 x = mn_position(&g->open[a], i, j, k);
  int s = w < 1 && mac->moving ? nearest_solid(mac, g->place, x, &distance) : -1;
  return s >= 0 ? (1 - w) * mn_mac_shared_velocity(mac, a, x, s) : 0;
}

static void close_face(mn_mac *mac, const mn_immersed *im, int a, int i, int j, int k)
{
  mn_mac_geometry *g = &mac->geometry;
  const mn_field *f = &g->open[a];
  const mn_field *cells = &g->volume;
  int64_t q = f->at - f->data + mn_index(f, i, j, k);
  int index[3] = {i, j, k};
  int low = index[a] == 0, high = index[a] == f->n[a] - 1;
  int64_t c = cells->at - cells->data + mn_index(cells, i, j, k);
  int below = low ? 0 : g->inflow[c - cells->stride[a]], above = high ? 0 : g->inflow[c];
  double w = f->data[q];
  g->kind[a][q] = MN_FACE_FLUID;
  g->wall[a].data[q] = 0;
  if (below || above) {
    int beyond = below ? !high : !low; /* in a solid that is flush with it nothing goes */
    if (!(below && above) && beyond && !(cells->data[below ? c : c - cells->stride[a]] > 0))
      w = 0;
    g->kind[a][q] = MN_FACE_SOURCE;
    g->gate[a][q] = below && above ? 1 : mn_stairs_open_part(mac, a, i, j, k, w);
    g->wall[a].data[q] = g->gate[a][q] * source_velocity(mac, a, i, j, k);
    w = 0;
  } else if ((low || high) && mac->def->domain.side[2 * a + high].kind < MN_SIDE_OPEN) {
    int body = im && w < 1 ? mn_mac_bodies_face(mac, im, a, i, j, k) : -1;
    g->wall[a].data[q] = body < 0 ? covered_side(mac, a, i, j, k, w) : 0;
    g->kind[a][q] = w > 0 && (body >= 0 || g->wall[a].data[q] != 0) ? MN_FACE_EDGE : MN_FACE_SIDE;
    w = 0;
  } else if (im && im->two_sided_elements && mn_immersed_blocks(im, a, i, j, k)) {
    g->kind[a][q] = MN_FACE_SHELL;
    w = 0;
  } else if (w < 1) {
    int body = im ? mn_mac_bodies_face(mac, im, a, i, j, k) : -1;
    int soft = body >= 0 && !im->body[body].rigid;
    w = w < (soft ? OPEN_MIN_SOFT : OPEN_MIN) ? 0 : w;
    if (w > 0 && im && im->two_sided_elements && mn_mac_is_behind_skin(mac, im, a, i, j, k))
      w = 0;
    close_by_solid(mac, body, a, i, j, k, w);
  }
  f->at[mn_index(f, i, j, k)] = w;
}

static void close_faces(mn_mac *mac, const mn_immersed *im)
{
  for (int a = 0; a < mac->grid.dim; a++) {
    const mn_field *f = &mac->geometry.open[a];
    int slabs = mn_slabs(f);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
    for (int s = 0; s < slabs; s++) {
      int k, j0, j1;
      mn_slab(f, s, &k, &j0, &j1);
      for (int j = j0; j < j1; j++)
        for (int i = 0; i < f->n[0]; i++)
          close_face(mac, im, a, i, j, k);
    }
  }
}

static void plan_extensions(mn_mac *mac)
{
  mn_mac_geometry *g = &mac->geometry;
  int dim = mac->grid.dim;
  for (int a = 0; a < dim; a++) {
    mn_extension *e = &g->face_extension[a];
    for (size_t q = 0; q < e->capacity; q++)
      e->layer[q] = g->kind[a][q] == MN_FACE_SLIP    ? MN_OUT_OF_REACH
                    : g->kind[a][q] == MN_FACE_SHELL ? MN_NO_SOURCE
                                                     : 0;
    e->surface = g->thin;
    mn_extension_plan(&g->open[a], e);
  }
  mn_extension *e = &g->cell_extension;
  const mn_field *f = &g->volume;
  int64_t base = f->at - f->data;
  for (int k = 0; k < f->n[2]; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++) {
        int64_t c = base + mn_index(f, i, j, k);
        int known = g->inflow[c];
        for (int a = 0; a < dim && !known; a++) {
          const mn_field *w = &g->open[a];
          int64_t q = mn_index(w, i, j, k);
          known = w->at[q] > 0 || w->at[q + w->stride[a]] > 0;
        }
        e->layer[c] = known ? 0 : MN_OUT_OF_REACH;
        if (!known && f->data[c] >= 1) /* shut in by thin surfaces: it keeps what it has */
          e->layer[c] = MN_NO_SOURCE;
        else if (!known || g->inflow[c])
          f->data[c] = 0;
      }
  e->surface = g->thin;
  mn_extension_plan(f, e);
}

mn_status mn_mac_geometry_create(mn_mac *mac)
{
  mn_mac_geometry *g = &mac->geometry;
  mn_context *ctx = mac->ctx;
  if (mac->def->source_count > 254)
    return mn_fail(ctx, MN_BAD_INPUT, "scene.sources: found %d, allowed: at most 254",
                   mac->def->source_count);
  MN_TRY(MN_NEW(ctx, "placements", (size_t)mac->def->solid_count, &g->place));
  MN_TRY(mn_field_create(ctx, &mac->grid, MN_NODE, "solid distance", &g->solid));
  MN_TRY(mn_field_create(ctx, &mac->grid, MN_CELL, "cell volumes", &g->volume));
  for (int a = 0; a < mac->grid.dim; a++) {
    MN_TRY(mn_field_create(ctx, &mac->grid, (mn_place)a, "open fractions", &g->open[a]));
    MN_TRY(mn_field_create(ctx, &mac->grid, (mn_place)a, "wall velocities", &g->wall[a]));
    MN_TRY(MN_NEW(ctx, "face kinds", g->open[a].size, &g->kind[a]));
    if (mac->def->source_count)
      MN_TRY(MN_NEW(ctx, "faces of sources", g->open[a].size, &g->gate[a]));
    MN_TRY(mn_extension_create(ctx, &g->open[a], &g->face_extension[a]));
  }
  MN_TRY(mn_extension_create(ctx, &g->volume, &g->cell_extension));
  MN_TRY(MN_NEW(ctx, "sources", g->volume.size, &g->inflow));
  MN_TRY(MN_NEW(ctx, "sources", g->volume.size, &g->emitter));
  MN_TRY(MN_NEW(ctx, "sources", (size_t)mac->def->source_count, &g->blow));
  g->time = -1;
  MN_TRY(mn_thin_walls_find(mac));
  MN_TRY(mark_sources(mac));
  measure_sources(mac);
  MN_TRY(mn_stairs_create(mac));
  return mn_mac_check_places(mac);
}

void mn_mac_geometry_destroy(mn_mac *mac)
{
  mn_mac_geometry *g = &mac->geometry;
  mn_mac_empty_destroy(mac);
  mn_field_destroy(&g->solid);
  mn_field_destroy(&g->obstacles);
  mn_field_destroy(&g->volume);
  for (int a = 0; a < 3; a++) {
    mn_field_destroy(&g->open[a]);
    mn_field_destroy(&g->wall[a]);
    mn_free(g->kind[a]);
    mn_free(g->gate[a]);
    mn_free(g->blowing[a]);
    mn_extension_destroy(&g->face_extension[a]);
  }
  mn_extension_destroy(&g->cell_extension);
  mn_free(g->place);
  mn_free(g->inflow);
  mn_free(g->emitter);
  mn_free(g->blow);
  mn_free(g->stairs);
  mn_free(g->plug);
}

void mn_mac_update_sources(mn_mac *mac)
{
  mn_mac_geometry *g = &mac->geometry;
  for (int a = 0; a < mac->grid.dim; a++) {
    mn_field *f = &g->wall[a];
    for (int k = 0; k < f->n[2]; k++)
      for (int j = 0; j < f->n[1]; j++)
        for (int i = 0; i < f->n[0]; i++)
          if (g->kind[a][f->at - f->data + mn_index(f, i, j, k)] == MN_FACE_SOURCE)
            mn_set(f, i, j, k,
                   g->gate[a][f->at - f->data + mn_index(f, i, j, k)] *
                       source_velocity(mac, a, i, j, k));
  }
}

mn_status mn_mac_geometry_keep_obstacles(mn_mac *mac)
{
  mn_mac_geometry *g = &mac->geometry;
  MN_TRY(mn_field_create(mac->ctx, &mac->grid, MN_NODE, "solid distance", &g->obstacles));
  if (g->time >= 0)
    mn_field_copy(&g->obstacles, &g->solid);
  return MN_OK;
}

/* Nodes so near to a wall, in cells, lie on it. */
static const double FLUSH = 1e-6;

/* Distance to a flush body at a node: where it lies against a wall is no surface of the fluid, so
   that a node there is as deep as its neighbour inside. Else the corner between a piston and the
   wall beside it would be cut off. */
static double flush_distance(const mn_mac *mac, const mn_immersed *im, int i, int j, int k)
{
  const mn_field *d = &im->distance;
  const double near = FLUSH * mac->grid.dx;
  int64_t q = mn_index(d, i, j, k);
  double least = d->at[q];
  int at[3] = {i, j, k}, wall = fabs(mac->geometry.obstacles.at[q]) < near;
  for (int a = 0; a < mac->grid.dim; a++)
    wall |= at[a] == 0 || at[a] == d->n[a] - 1;
  for (int a = 0; a < mac->grid.dim && wall && fabs(d->at[q]) < near; a++) {
    least = at[a] > 0 ? mn_min(least, d->at[q - d->stride[a]]) : least;
    least = at[a] < d->n[a] - 1 ? mn_min(least, d->at[q + d->stride[a]]) : least;
  }
  return least;
}

/* The lesser of the distances to the scene's solids and to bodies, whose volumes are right then. */
static void add_bodies(mn_mac *mac, const mn_immersed *im)
{
  mn_field *to = &mac->geometry.solid;
  const double *shift = mac->bodies.shift;
  mn_field_copy(to, &mac->geometry.obstacles);
  int slabs = im ? mn_slabs(to) : 0;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(to, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < to->n[0]; i++) {
        int64_t q = mn_index(to, i, j, k);
        uint32_t e = im->nearest[q];
        double d = im->distance.at[q];
        if (e != MN_NO_ELEMENT)
          d = mac->bodies.flush[im->body_of[e]] ? flush_distance(mac, im, i, j, k)
                                                : mn_mac_shifted(mac, d, shift[im->body_of[e]]);
        to->at[q] = mn_min(to->at[q], d);
      }
  }
  mn_sync(to);
}

/* A cell beside a solid of the scene that only touches it, and cut by a flush body: the body alone
   says its volume. In the lesser of both distances, 0 on the solid, the cut ends in the corner. */
static void mend_corner(mn_mac *mac, const mn_immersed *im, int i, int j, int k)
{
  double d[8], obstacle = INFINITY;
  int flush = 0, corners = 1 << mac->grid.dim;
  for (int n = 0; n < corners; n++) {
    int at[3] = {i + (n & 1), j + (n >> 1 & 1), k + (n >> 2)};
    int64_t q = mn_index(&im->distance, at[0], at[1], at[2]);
    uint32_t e = im->nearest[q];
    flush |= e != MN_NO_ELEMENT && mac->bodies.flush[im->body_of[e]];
    obstacle = mn_min(obstacle, mac->geometry.obstacles.at[q]);
    d[n] = flush_distance(mac, im, at[0], at[1], at[2]);
  }
  if (flush && fabs(obstacle) < FLUSH * mac->grid.dx)
    mn_set(&mac->geometry.volume, i, j, k, mn_cell_fraction(mac->grid.dim, d));
}

static void mend_corners(mn_mac *mac, const mn_immersed *im)
{
  const mn_field *f = &mac->geometry.volume;
  int any = 0;
  for (int b = 0; im && b < im->bodies; b++)
    any |= mac->bodies.flush[b];
  int slabs = any && mac->def->solid_count ? mn_slabs(f) : 0;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(f, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < f->n[0]; i++)
        if (mn_get(f, i, j, k) > 0 && mn_get(f, i, j, k) < 1)
          mend_corner(mac, im, i, j, k);
  }
}

/* Where two walls leave less than this part of a cell, or of two beside each other, these are
   closed when walls move: what walls squeeze out of them would leave them at speeds that nothing
   bounds, and the jet would be as wide as a cell beside them. (From the distances at nodes, which
   are those to the nearer wall, a gap shrinks to nothing as one of the walls reaches a node; and
   a corner that they cover from two sides may be open by a hair where there is a gap, a flap's on
   its stop say: test_flap_on_stop.c.) The
   sides of a source are walls, too: what it blows does not give way. Not with water, whose
   particles are as wide as they are. */
static const double SLIT = 0.05;

/* The face of a cell, of no source, on the low or high side. */
static int is_shut(const mn_mac *mac, const int at[3], int axis, int high)
{
  const mn_field *w = &mac->geometry.open[axis];
  int64_t q = mn_index(w, at[0], at[1], at[2]) + (high ? w->stride[axis] : 0);
  int next[3] = {at[0], at[1], at[2]}, outside;
  next[axis] += high ? 1 : -1;
  int blows = mn_inflow_of(mac, next, &outside);
  return !(w->at[q] > 0) || blows ||
         (outside && mac->def->domain.side[2 * axis + high].kind != MN_SIDE_OPEN);
}

/* Of a cell, marked or not (close_slits). */
static double part_of(const mn_mac *mac, const int at[3])
{
  return fabs(mn_get(&mac->geometry.volume, at[0], at[1], at[2]));
}

/* Walls of two solids, each with a motion of its own, meet in the cell, or beyond a node that lies
   in both: a piston reaches into the wall along which it slides. (In one that cuts off a corner of
   it, what is open is right, however little.) */
static int is_shared(const mn_mac *mac, const mn_immersed *im, const int at[3])
{
  const mn_mac_geometry *g = &mac->geometry;
  int first = -2; /* -1: the scene's solids */
  for (int n = 0; n < 1 << mac->grid.dim; n++) {
    int64_t q = mn_index(&g->solid, at[0] + (n & 1), at[1] + (n >> 1 & 1), at[2] + (n >> 2));
    if (g->solid.at[q] > 0)
      continue;
    uint32_t e = im->nearest[q];
    int owner = e != MN_NO_ELEMENT && g->solid.at[q] < g->obstacles.at[q] ? im->body_of[e] : -1;
    if ((first > -2 && owner != first) || (owner >= 0 && !(g->obstacles.at[q] > 0)))
      return 1;
    first = owner;
  }
  return 0;
}

static int is_slit(const mn_mac *mac, const mn_immersed *im, const int at[3])
{
  double part = part_of(mac, at), widest = 0;
  int outside;
  if (!(part > 0) || part >= SLIT || mn_inflow_of(mac, at, &outside))
    return 0;
  for (int a = 0; a < mac->grid.dim; a++)
    for (int high = 0; high < 2; high++) {
      int next[3] = {at[0], at[1], at[2]};
      next[a] += high ? 1 : -1;
      if (!is_shut(mac, at, a, !high))
        continue;
      if (is_shut(mac, at, a, high) ||
          (is_shut(mac, next, a, high) && part + part_of(mac, next) < SLIT))
        return 1;
    }
  for (int a = 0; a < mac->grid.dim; a++) {
    const mn_field *w = &mac->geometry.open[a];
    int64_t q = mn_index(w, at[0], at[1], at[2]);
    widest = fmax(widest, fmax(w->at[q], w->at[q + w->stride[a]]));
  }
  return widest < SLIT && mac->geometry.obstacles.data && im && is_shared(mac, im, at);
}

/* First all are found, marked by the sign of their volume: which come first shall not matter. */
static void close_slits(mn_mac *mac, const mn_immersed *im)
{
  mn_mac_geometry *g = &mac->geometry;
  mn_field *f = &g->volume;
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < f->n[2]; k++)
      for (int j = 0; j < f->n[1]; j++)
        for (int i = 0; i < f->n[0]; i++) {
          double *part = &f->at[mn_index(f, i, j, k)];
          if (pass == 0 && is_slit(mac, im, (const int[3]){i, j, k}))
            *part = -*part;
          if (pass == 0 || *part >= 0)
            continue;
          *part = -*part;
          for (int a = 0; a < mac->grid.dim; a++) {
            mn_field *w = &g->open[a];
            int64_t q = mn_index(w, i, j, k);
            w->at[q] = w->at[q + w->stride[a]] = 0;
          }
        }
}

int mn_mac_geometry_update(mn_mac *mac, double time, double dt, const mn_immersed *im, long stamp)
{
  mn_mac_geometry *g = &mac->geometry;
  int fresh = g->time < 0, moved = g->stamp != stamp;
  int later = fresh || g->time != time || g->dt != dt;
  if (!later && !moved)
    return 0;
  g->time = time;
  g->dt = dt;
  if (!fresh && !mac->moving && !moved) { /* only the sources' velocities change */
    if (mac->def->source_count)
      mn_mac_update_sources(mac);
    return 0;
  }
  if (fresh || (mac->moving && later)) {
    for (int s = 0; s < mac->def->solid_count; s++) {
      int thin = g->place[s].thin;
      g->place[s] = place_solid(&mac->def->solids[s], time, dt);
      g->place[s].thin = thin;
    }
    sample_distance(mac, g->place, g->obstacles.data ? &g->obstacles : &g->solid);
  }
  if (g->obstacles.data)
    add_bodies(mac, im);
  g->stamp = stamp;
  mn_face_fractions(&g->solid, g->open);
  mn_cell_fractions(&g->solid, &g->volume);
  if (g->obstacles.data)
    mend_corners(mac, im);
  if ((mac->moving || im) && !mn_mac_is_water(mac))
    close_slits(mac, im);
  close_faces(mac, im);
  mn_mac_empty_outside(mac, im);
  g->thin = im && im->two_sided_elements && !mac->shell.see_through ? im : NULL;
  plan_extensions(mac);
  mac->assembled = 0;
  mac->viscous_dt = 0;
  mac->water.space_known = mac->water.near_known = 0;
  return 1;
}
