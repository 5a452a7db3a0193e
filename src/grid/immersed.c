/* Surfaces on the grid: what is copied from the interface, checked and measured.

   Volume of a body by the divergence theorem: 1/2 sum a x b over its segments, 1/6 sum a . (b x c)
   over its triangles, about a point of the body. Exact for the polygon or polyhedron.
   Verified by tests/unit/grid/test_immersed.c. */
#include "grid/immersed.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "grid/immersed_internal.h"

static const double BAND = 3; /* dx */
enum { BODY_LIMIT = 1000000 };

/* ---- create, destroy ------------------------------------------------------------------------- */

static mn_status make(mn_context *ctx, mn_immersed *im)
{
  const mn_grid *g = im->grid;
  MN_TRY(MN_NEW(ctx, "surfaces on the grid", 1, &im->work));
  MN_TRY(mn_field_create(ctx, g, MN_NODE, "distances to surfaces", &im->distance));
  MN_TRY(MN_NEW(ctx, "nearest elements", im->distance.size, &im->work->nearest));
  im->nearest = im->work->nearest + (im->distance.at - im->distance.data);
  MN_TRY(MN_NEW(ctx, "crossed rows", im->distance.size, &im->work->crossing));
  size_t slabs = (size_t)mn_immersed_slabs(im);
  MN_TRY(MN_NEW(ctx, "links in slabs", slabs, &im->work->box));
  MN_TRY(MN_NEW(ctx, "links in slabs", slabs, &im->work->first));
  for (int a = 0; a < g->dim; a++) {
    im->face[a] = mn_field_view(g, (mn_place)a, NULL);
    MN_TRY(MN_NEW(ctx, "blocked links", im->face[a].size, &im->work->blocked[a]));
    im->blocked[a] = im->work->blocked[a];
    for (int c = 0; c < g->dim; c++)
      im->blocked[a] += MN_GHOST * im->face[a].stride[c];
  }
  im->band = BAND * g->dx;
  mn_field_fill(&im->distance, im->band);
  for (size_t i = 0; i < im->distance.size; i++)
    im->work->nearest[i] = MN_NO_ELEMENT;
  return MN_OK;
}

mn_status mn_immersed_create(mn_context *ctx, const mn_grid *grid, mn_immersed **out)
{
  mn_immersed *im;
  *out = NULL;
  MN_TRY(MN_NEW(ctx, "surfaces on the grid", 1, &im));
  *im = (mn_immersed){.ctx = ctx, .grid = grid};
  mn_status status = make(ctx, im);
  if (status != MN_OK)
    mn_immersed_destroy(&im);
  *out = im;
  return status;
}

void mn_immersed_destroy(mn_immersed **inout)
{
  mn_immersed *im = *inout;
  if (!im)
    return;
  struct mn_immersed_work *w = im->work;
  if (w) {
    void *inner[] = {
        w->bins.list.start, w->bins.list.item, w->block.start, w->block.item, w->box,  w->first,
        w->crossing,        w->nearest,        w->corner,      w->normal,     w->reach};
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
      mn_free(inner[i]);
    for (int a = 0; a < 3; a++)
      mn_free(w->blocked[a]);
  }
  mn_field_destroy(&im->distance);
  void *all[] = {im->X,    im->point_body, im->rigid, im->element, im->body_of, im->two_sided,
                 im->body, im->link,       w};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  mn_free(im);
  *inout = NULL;
}

/* ---- place ----------------------------------------------------------------------------------- */

static mn_status check_points(mn_context *ctx, const mn_interface *f)
{
  for (size_t i = 0; i < f->count; i++) {
    mn_vec3 x = f->X[i];
    if (!isfinite(x.x) || !isfinite(x.y) || !isfinite(x.z))
      return mn_fail(ctx, MN_FAILED, "point %zu of the interface, of body %d, is at (%g, %g, %g)",
                     i, f->body[i], x.x, x.y, x.z);
    if (f->body[i] < 0 || f->body[i] >= BODY_LIMIT)
      return mn_fail(ctx, MN_FAILED, "point %zu of the interface has body %d; 0 to %d are allowed",
                     i, f->body[i], BODY_LIMIT - 1);
  }
  return MN_OK;
}

static mn_status check_elements(mn_context *ctx, const mn_interface *f)
{
  size_t dim = (size_t)f->dim;
  for (size_t e = 0; e < f->elements; e++) {
    const uint32_t *p = f->element + dim * e;
    for (size_t c = 0; c < dim; c++)
      if (p[c] >= f->count)
        return mn_fail(ctx, MN_FAILED, "element %zu of the interface joins point %u of %zu", e,
                       p[c], f->count);
    for (size_t c = 1; c < dim; c++)
      if (f->body[p[c]] != f->body[p[0]] || f->two_sided[p[c]] != f->two_sided[p[0]])
        return mn_fail(ctx, MN_FAILED,
                       "element %zu of the interface joins points of bodies %d and %d, "
                       "two-sided %d and %d; an element belongs to one body",
                       e, f->body[p[0]], f->body[p[c]], f->two_sided[p[0]], f->two_sided[p[c]]);
  }
  return MN_OK;
}

static mn_status make_room(mn_immersed *im, const mn_interface *f, int bodies)
{
  struct mn_immersed_work *w = im->work;
  if (f->count > w->point_room) {
    w->point_room = 0;
    MN_TRY(MN_RENEW(im->ctx, "surface points", f->count, &im->X));
    MN_TRY(MN_RENEW(im->ctx, "surface bodies", f->count, &im->point_body));
    MN_TRY(MN_RENEW(im->ctx, "surface kinds", f->count, &im->rigid));
    w->point_room = f->count;
  }
  if (f->elements > w->element_room) {
    w->element_room = 0;
    MN_TRY(MN_RENEW(im->ctx, "surface elements", (size_t)f->dim * f->elements, &im->element));
    MN_TRY(MN_RENEW(im->ctx, "bodies of elements", f->elements, &im->body_of));
    MN_TRY(MN_RENEW(im->ctx, "sides of elements", f->elements, &im->two_sided));
    w->element_room = f->elements;
  }
  if ((size_t)bodies > w->body_room) {
    w->body_room = 0;
    MN_TRY(MN_RENEW(im->ctx, "surface bodies", (size_t)bodies, &im->body));
    w->body_room = (size_t)bodies;
  }
  return MN_OK;
}

static void copy(mn_immersed *im, const mn_interface *f)
{
  size_t dim = (size_t)f->dim;
  im->points = f->count;
  im->elements = f->elements;
  for (size_t i = 0; i < f->count; i++) {
    im->X[i] = f->X[i];
    if (dim == 2)
      im->X[i].z = 0;
    im->point_body[i] = f->body[i];
    im->rigid[i] = f->rigid[i];
  }
  if (f->elements)
    memcpy(im->element, f->element, dim * f->elements * sizeof *f->element);
  im->two_sided_elements = 0;
  for (size_t e = 0; e < f->elements; e++) {
    uint32_t p = f->element[dim * e];
    im->body_of[e] = f->body[p];
    im->two_sided[e] = f->two_sided[p];
    im->two_sided_elements += f->two_sided[p] != 0;
  }
  im->closed_elements = f->elements - im->two_sided_elements;
}

static void widen(mn_vec3 *lo, mn_vec3 *hi, mn_vec3 x)
{
  for (int a = 0; a < 3; a++) {
    lo->v[a] = mn_min(lo->v[a], x.v[a]);
    hi->v[a] = mn_max(hi->v[a], x.v[a]);
  }
}

/* 2 (6 in 3D) times the signed volume between the element and the point o. */
static double cone(int dim, const mn_vec3 x[3], mn_vec3 o)
{
  mn_vec3 a = mn_sub(x[0], o), b = mn_sub(x[1], o);
  if (dim == 2)
    return a.x * b.y - a.y * b.x;
  return mn_dot(mn_cross(a, b), mn_sub(x[2], o));
}

/* ---- closed? --------------------------------------------------------------------------------- */

/* A mixed number for a place; points that coincide are one. */
static uint64_t place_hash(mn_vec3 x)
{
  uint64_t h = 0;
  for (int a = 0; a < 3; a++) {
    double value = x.v[a] + 0.0; /* no -0 */
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    h = (h ^ bits) * 0x9e3779b97f4a7c15u; /* odd, from the golden ratio */
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u; /* splitmix64 */
    h ^= h >> 32;
  }
  return h;
}

/* The rim of a surface is the sum of the oriented rims of its elements. Here every end of a segment
   and every edge of a triangle stands for a 64-bit number, its reverse for the negative: the sum
   over a body is 0 if it is closed and, but for one chance in 2^64, only then. */
static uint64_t rim(int dim, const mn_vec3 x[3])
{
  uint64_t h[3];
  for (int c = 0; c < dim; c++)
    h[c] = place_hash(x[c]);
  if (dim == 2)
    return h[1] - h[0];
  uint64_t sum = 0;
  for (int c = 0; c < 3; c++) {
    uint64_t a = h[c], b = h[(c + 1) % 3];
    sum += (a < b ? 1 : -(uint64_t)1) * ((a < b ? a : b) * 0x94d049bb133111ebu ^ (a < b ? b : a)) *
           (a != b);
  }
  return sum;
}

static mn_status check_closed(const mn_immersed *im)
{
  for (int b = 0; b < im->bodies; b++)
    if (im->body[b].elements && !im->body[b].two_sided && im->body[b].rim)
      return mn_fail(
          im->ctx, MN_FAILED,
          "the surface of body %d, which should be closed, has an open edge: each %s must "
          "be shared by elements that run through it both ways",
          b, im->grid->dim == 2 ? "point" : "edge");
  return MN_OK;
}

static void measure(mn_immersed *im, int bodies)
{
  static const mn_vec3 nowhere = {{INFINITY, INFINITY, INFINITY}};
  struct mn_immersed_work *w = im->work;
  mn_vec3 minus = mn_scale(-1, nowhere);
  int dim = im->grid->dim;
  im->bodies = bodies;
  for (int b = 0; b < bodies; b++)
    im->body[b] = (mn_immersed_body){.lo = nowhere, .hi = minus};
  w->lo = nowhere;
  w->hi = minus;
  for (size_t e = 0; e < im->elements; e++) {
    mn_immersed_body *body = &im->body[im->body_of[e]];
    mn_vec3 x[3];
    mn_immersed_corners(im, (uint32_t)e, x);
    if (!body->elements++) {
      body->two_sided = im->two_sided[e];
      body->rigid = im->rigid[im->element[(size_t)dim * e]];
      body->about = x[0];
    }
    for (int c = 0; c < dim; c++)
      widen(&body->lo, &body->hi, x[c]);
    body->rim += rim(dim, x);
    body->volume += cone(dim, x, body->about) / (dim == 2 ? 2 : 6);
  }
  for (int b = 0; b < bodies; b++)
    if (im->body[b].elements) {
      widen(&w->lo, &w->hi, im->body[b].lo);
      widen(&w->lo, &w->hi, im->body[b].hi);
    }
}

static mn_status place(mn_immersed *im, const mn_interface *f)
{
  int bodies = 0;
  for (size_t i = 0; i < f->count; i++)
    bodies = f->body[i] >= bodies ? f->body[i] + 1 : bodies;
  MN_TRY(make_room(im, f, bodies));
  copy(im, f);
  measure(im, bodies);
  MN_TRY(check_closed(im));
  MN_TRY(mn_immersed_reach(im));
  MN_TRY(mn_immersed_sort(im));
  mn_immersed_distances(im);
  return mn_immersed_block(im);
}

static void clear(mn_immersed *im)
{
  mn_immersed_clear_distances(im);
  mn_immersed_clear_links(im);
  im->points = im->elements = im->closed_elements = im->two_sided_elements = 0;
  im->bodies = 0;
}

mn_status mn_immersed_place(mn_immersed *im, const mn_interface *f)
{
  if (f->dim != im->grid->dim)
    return mn_fail(im->ctx, MN_FAILED, "an interface of dimension %d on a grid of dimension %d",
                   f->dim, im->grid->dim);
  if (f->count >= MN_NO_ELEMENT || f->elements >= INT32_MAX)
    return mn_fail(im->ctx, MN_FAILED, "%zu interface points and %zu elements are too many",
                   f->count, f->elements);
  MN_TRY(check_points(im->ctx, f));
  MN_TRY(check_elements(im->ctx, f));
  clear(im);
  mn_status status = place(im, f);
  if (status != MN_OK)
    clear(im);
  return status;
}
