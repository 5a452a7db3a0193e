/* Volume rendering of smoke and solids, single scattering:

     C = int T(s) sigma(s) (L l(s) + A) ds,   T(s) = exp(-int_0^s sigma),   sigma = K smoke

   along each camera ray, front to back; l is the light that arrives through the smoke and past the
   solids, swept once through the grid layer by layer from the top, which also softens shadows.
   Solids and the water surface are found by sphere tracing their distance fields. A solid around
   everything, a vessel, is cut away: rays start where they leave it, and light passes. Pictures,
   not measurements: fields are reduced to LIMIT cells along the longest axis. Sources: [Max 1995]
   for the integral, [Hart 1996] for the tracing. Verified by tests/unit/io/test_preview.c. */
#include "io/preview3d.h"

#include <math.h>

#include "base/memory.h"
#include "base/status.h"
#include "io/body_layer.h"
#include "io/shown.h"

enum { LIMIT = 128, LONG_SIDE = 600, MARGIN = 20, BLOCK = 8 };

/* K: optical depth of dense smoke across the domain's longest side; OPAQUE: of a solid's cell */
static const double THICKNESS = 26, OPAQUE = 3;
static const mn_vec3 TO_LIGHT = {{-0.40, 0.84, 0.36}}; /* about unit length */

typedef struct view3 {
  const mn_mac_view *view;
  const mn_model_def *def;
  const mn_shown *shown;
  const mn_body_view *bodies;
  int body_count;
  mn_body_layer layer;
  mn_image *image;
  float *light;   /* at the cells of `shown` */
  uint8_t *shade; /* the same: 1 where a body's surface is */
  uint8_t *empty; /* per block of BLOCK^3 cells and its neighbours' borders: nothing to see */
  int blocks[3];
  int clear;      /* all of them are empty */
  mn_vec3 lo, hi; /* the domain */
  double longest; /* m, its longest side */
  double sigma;   /* 1/m for a value at the top of the range */
  mn_camera camera;
  int smoke, water, floor;
  int vessel; /* the domain's corners are all inside solids */
} view3;

/* ---- values and light ------------------------------------------------------------------------ */

/* How strongly a value in the range is seen, 0 to 1. */
static double opacity(const view3 *v, double value)
{
  double t = mn_shown_part(v->shown, value);
  if (v->shown->map == MN_MAP_DIVERGE)
    t = fabs(2 * t - 1);
  t = mn_clamp(t, 0, 1);
  return v->smoke ? t : 0.35 * t * t;
}

static size_t cell(const mn_shown *s, int i, int j, int k)
{
  return ((size_t)k * (size_t)s->n[1] + (size_t)j) * (size_t)s->n[0] + (size_t)i;
}

/* Optical depth of the layer above, interpolated; none beyond the sides. */
static double depth_above(const view3 *v, const float *depth, double x, int j, double z)
{
  const mn_shown *s = v->shown;
  int i = (int)floor(x), k = (int)floor(z);
  double tx = x - i, tz = z - k, sum = 0;
  for (int c = 0; c < 4; c++) {
    int a = i + (c & 1), b = k + (c >> 1);
    if (a >= 0 && b >= 0 && a < s->n[0] && b < s->n[2])
      sum +=
          (c & 1 ? tx : 1 - tx) * (c >> 1 ? tz : 1 - tz) * fmax(0, (double)depth[cell(s, a, j, b)]);
  }
  return sum;
}

static const float IN_VESSEL = -1; /* instead of a depth */

/* Whether nothing but the vessel lies towards the light from a point of layer j - 1. */
static int below_vessel(const view3 *v, const float *depth, double x, int j, double z)
{
  const mn_shown *s = v->shown;
  int i = (int)floor(x + 0.5), k = (int)floor(z + 0.5);
  if (i < 0 || k < 0 || i >= s->n[0] || k >= s->n[2] || j >= s->n[1])
    return 1;
  return depth[cell(s, i, j, k)] == IN_VESSEL;
}

static void shade_point(view3 *v, mn_vec3 x)
{
  const mn_shown *s = v->shown;
  int at[3];
  for (int a = 0; a < 3; a++) {
    double p = floor((x.v[a] - s->origin.v[a]) / s->dx);
    if (!(p >= 0 && p < s->n[a]))
      return;
    at[a] = (int)p;
  }
  v->shade[cell(s, at[0], at[1], at[2])] = 1;
}

/* The cells that the bodies' surfaces pass, found by points half a cell apart. */
static void mark_shade(view3 *v)
{
  for (int b = 0; b < v->body_count; b++)
    for (size_t f = 0; f < v->bodies[b].facets; f++) {
      const uint32_t *p = v->bodies[b].facet + 3 * f;
      const mn_vec3 *x = v->bodies[b].x;
      mn_vec3 u = mn_sub(x[p[1]], x[p[0]]), w = mn_sub(x[p[2]], x[p[0]]);
      double reach = mn_max(mn_length(u), mn_length(w));
      int n = (int)mn_clamp(2 * reach / v->shown->dx, 1, 400);
      for (int i = 0; i <= n; i++)
        for (int j = 0; j <= n - i; j++)
          shade_point(v, mn_madd(mn_madd(x[p[0]], (double)i / n, u), (double)j / n, w));
    }
}

/* From the top down: depth(x) = depth(one layer up, towards the light) + that of the way between.
 */
static void sweep_light(view3 *v, int threads)
{
  const mn_shown *s = v->shown;
  double sx = TO_LIGHT.x / TO_LIGHT.y, sz = TO_LIGHT.z / TO_LIGHT.y, way = s->dx / TO_LIGHT.y;
  for (int j = s->n[1] - 1; j >= 0; j--) {
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int k = 0; k < s->n[2]; k++)
      for (int i = 0; i < s->n[0]; i++) {
        size_t c = cell(s, i, j, k);
        double own = v->water ? 0 : 0.4 * v->sigma * opacity(v, (double)s->value[c]) * way;
        if (v->view->solid) {
          mn_vec3 x = mn_v3(s->origin.x + (i + 0.5) * s->dx, s->origin.y + (j + 0.5) * s->dx,
                            s->origin.z + (k + 0.5) * s->dx);
          double distance = mn_sample(v->view->solid, x);
          if (v->vessel && distance < 0.5 * s->dx &&
              below_vessel(v, v->light, i + sx, j + 1, k + sz)) {
            v->light[c] = IN_VESSEL;
            continue;
          }
          own += OPAQUE * mn_clamp(0.5 - distance / s->dx, 0, 1);
        }
        own += v->shade[c] ? OPAQUE : 0;
        double above = j + 1 < s->n[1] ? depth_above(v, v->light, i + sx, j + 1, k + sz) : 0;
        v->light[c] = (float)(above + own);
      }
  }
  size_t cells = (size_t)s->n[0] * (size_t)s->n[1] * (size_t)s->n[2];
  for (size_t c = 0; c < cells; c++)
    v->light[c] = expf(-fmaxf(0, v->light[c]));
}

/* Of a cell. */
static size_t block_of(const view3 *v, const int i[3])
{
  return ((size_t)(i[2] / BLOCK) * (size_t)v->blocks[1] + (size_t)(i[1] / BLOCK)) *
             (size_t)v->blocks[0] +
         (size_t)(i[0] / BLOCK);
}

static void mark_empty(view3 *v)
{
  const mn_shown *s = v->shown;
  v->clear = 1;
  size_t count = (size_t)v->blocks[0] * (size_t)v->blocks[1] * (size_t)v->blocks[2];
  for (size_t b = 0; b < count; b++)
    v->empty[b] = 1;
  for (int k = 0; k < s->n[2]; k++)
    for (int j = 0; j < s->n[1]; j++)
      for (int i = 0; i < s->n[0]; i++) {
        if (opacity(v, (double)s->value[cell(s, i, j, k)]) < 2e-3)
          continue;
        v->clear = 0;
        for (int c = 0; c < 8; c++) { /* the blocks that interpolate from this cell */
          int at[3] = {i, j, k};
          for (int a = 0; a < 3; a++)
            at[a] = c >> a & 1 ? (at[a] + 1 < s->n[a] ? at[a] + 1 : at[a])
                               : (at[a] > 0 ? at[a] - 1 : 0);
          v->empty[block_of(v, at)] = 0;
        }
      }
}

/* The eight cells around a place, and where it lies between them. */
typedef struct stencil {
  size_t first, step[3]; /* 0 at the upper sides, where nothing follows */
  float part[3];
} stencil;

/* Of a place counted in cells from the first one's centre; i: the lowest of its cells. */
static inline stencil locate(const mn_shown *s, const double p[3], int i[3])
{
  size_t stride[3] = {1, (size_t)s->n[0], (size_t)s->n[0] * (size_t)s->n[1]};
  stencil st = {0};
  for (int a = 0; a < 3; a++) {
    double x = mn_clamp(p[a], 0, s->n[a] - 1);
    i[a] = (int)x;
    st.part[a] = (float)(x - i[a]);
    st.first += (size_t)i[a] * stride[a];
    st.step[a] = i[a] + 1 < s->n[a] ? stride[a] : 0;
  }
  return st;
}

static inline float lerp(float t, float a, float b)
{
  return a + t * (b - a);
}

static inline float interpolate(const stencil *st, const float *f)
{
  size_t x = st->step[0], y = st->step[1];
  float layer[2];
  for (int k = 0; k < 2; k++) {
    const float *p = f + st->first + (k ? st->step[2] : 0);
    layer[k] = lerp(st->part[1], lerp(st->part[0], p[0], p[x]), lerp(st->part[0], p[y], p[y + x]));
  }
  return lerp(st->part[2], layer[0], layer[1]);
}

static double light_at(const view3 *v, mn_vec3 x)
{
  const mn_shown *s = v->shown;
  double p[3];
  int i[3];
  for (int a = 0; a < 3; a++)
    p[a] = (x.v[a] - s->origin.v[a]) / s->dx - 0.5;
  stencil st = locate(s, p, i);
  return (double)interpolate(&st, v->light);
}

/* ---- camera ---------------------------------------------------------------------------------- */

static mn_vec3 unit(mn_vec3 a)
{
  return mn_scale(1 / mn_length(a), a);
}

static mn_vec3 corner(const view3 *v, int c)
{
  return mn_v3(c & 1 ? v->hi.x : v->lo.x, c & 2 ? v->hi.y : v->lo.y, c & 4 ? v->hi.z : v->lo.z);
}

/* From the front, the right and above; the picture is as large as the domain's outline. */
static void aim(view3 *v, int *width, int *height)
{
  mn_vec3 centre = mn_scale(0.5, mn_add(v->lo, v->hi));
  double size = mn_length(mn_sub(v->hi, v->lo));
  v->camera.forward = unit(mn_v3(-0.55, -0.38, -1.0));
  v->camera.eye = mn_madd(centre, -2.0 * size, v->camera.forward);
  v->camera.right = unit(mn_cross(v->camera.forward, mn_v3(0, 1, 0)));
  v->camera.up = mn_cross(v->camera.right, v->camera.forward);
  v->camera.scale = 1;
  v->camera.cx = v->camera.cy = 0;
  double lo[2] = {1e30, 1e30}, hi[2] = {-1e30, -1e30};
  for (int c = 0; c < 8; c++) {
    double p[2];
    mn_camera_project(&v->camera, corner(v, c), &p[0], &p[1]);
    for (int a = 0; a < 2; a++) {
      lo[a] = fmin(lo[a], p[a]);
      hi[a] = fmax(hi[a], p[a]);
    }
  }
  v->camera.scale = LONG_SIDE / fmax(hi[0] - lo[0], hi[1] - lo[1]);
  double inner = v->camera.scale * (hi[0] - lo[0]);
  double shift = fmax(0, 0.5 * (MN_STRIP_MIN_WIDTH - inner));
  *width = (int)ceil(inner + 2 * shift) + 2 * MARGIN;
  *height = (int)ceil(v->camera.scale * (hi[1] - lo[1])) + 2 * MARGIN + MN_STRIP_HEIGHT;
  *width += *width % 2; /* even, for video codecs */
  *height += *height % 2;
  v->camera.cx = MARGIN + shift - v->camera.scale * lo[0];
  v->camera.cy = MARGIN - v->camera.scale * lo[1];
}

static int enter_box(const view3 *v, mn_vec3 d, double *t0, double *t1, int *axis_in, int *axis_out)
{
  *t0 = 0;
  *t1 = 1e300;
  *axis_in = *axis_out = 0;
  for (int a = 0; a < 3; a++) {
    double near = (v->lo.v[a] - v->camera.eye.v[a]) / d.v[a],
           far = (v->hi.v[a] - v->camera.eye.v[a]) / d.v[a];
    if (near > far) {
      double swap = near;
      near = far;
      far = swap;
    }
    if (near > *t0)
      *t0 = near, *axis_in = a;
    if (far < *t1)
      *t1 = far, *axis_out = a;
  }
  return *t0 < *t1;
}

static mn_vec3 ray_direction(const view3 *v, int i, int j)
{
  double x = (i + 0.5 - v->camera.cx) / v->camera.scale,
         y = (v->camera.cy - j - 0.5) / v->camera.scale;
  return unit(mn_madd(mn_madd(v->camera.forward, x, v->camera.right), y, v->camera.up));
}

/* ---- surfaces -------------------------------------------------------------------------------- */

typedef struct hit {
  double t;     /* m along the ray */
  double cover; /* of the pixel: less than 1 at a silhouette */
  mn_vec3 x, n;
  mn_rgb colour;
} hit;

static mn_vec3 gradient(const mn_field *f, mn_vec3 x)
{
  mn_vec3 g;
  double h = 0.75 * f->grid->dx;
  for (int a = 0; a < 3; a++) {
    mn_vec3 lo = x, hi = x;
    lo.v[a] -= h;
    hi.v[a] += h;
    g.v[a] = mn_sample(f, hi) - mn_sample(f, lo);
  }
  return g;
}

/* First point of the ray in [t0, t1] where `sign * f` becomes negative; the step is the distance,
   not less than a fraction of a cell, so that a field that is only a bound is crossed and then
   bisected. A ray that passes by within a pixel gets a partial hit. */
static int trace(const view3 *v, const mn_field *f, double sign, mn_vec3 d, double t0, double t1,
                 int axis_in, hit *h)
{
  double dx = f->grid->dx, before = t0, nearest = 1, near_t = t0;
  for (double t = t0; t <= t1;) {
    double value = sign * mn_sample(f, mn_madd(v->camera.eye, t, d));
    if (value < 0) {
      double a = before, b = t;
      for (int it = 0; it < 20 && b > a; it++) {
        double m = 0.5 * (a + b);
        *(sign * mn_sample(f, mn_madd(v->camera.eye, m, d)) < 0 ? &b : &a) = m;
      }
      *h = (hit){.t = b, .cover = 1, .x = mn_madd(v->camera.eye, b, d)};
      h->n = mn_scale(sign, gradient(f, h->x));
      if (t == t0) { /* cut by the domain's side */
        h->n = mn_v3(0, 0, 0);
        h->n.v[axis_in] = d.v[axis_in] > 0 ? -1 : 1;
      }
      double length = mn_length(h->n);
      h->n = length > 0 ? mn_scale(1 / length, h->n) : mn_scale(-1, d);
      return 1;
    }
    if (value * v->camera.scale / t < nearest) {
      nearest = value * v->camera.scale / t;
      near_t = t;
    }
    before = t;
    t += fmax(0.9 * value, 0.2 * dx);
  }
  if (nearest >= 1)
    return 0;
  *h = (hit){.t = near_t, .cover = 1 - nearest, .x = mn_madd(v->camera.eye, near_t, d)};
  mn_vec3 g = mn_scale(sign, gradient(f, h->x));
  double length = mn_length(g);
  h->n = length > 0 ? mn_scale(1 / length, g) : mn_scale(-1, d);
  return 1;
}

static mn_rgb shade_solid(const view3 *v, const hit *h, mn_vec3 d)
{
  mn_rgb base = h->colour;
  double offset = 1.6 * v->shown->dx;
  double light = light_at(v, mn_madd(mn_madd(h->x, offset, h->n), 0.5 * offset, TO_LIGHT));
  double diffuse = fmax(0, mn_dot(h->n, TO_LIGHT)) * light;
  mn_vec3 half = unit(mn_sub(TO_LIGHT, d));
  double shine = 0.25 * light * pow(fmax(0, mn_dot(h->n, half)), 40);
  double ambient = 0.22 + 0.12 * h->n.y;
  double rim = 0.10 * pow(1 - fmax(0, -mn_dot(h->n, d)), 3);
  double k = ambient + 0.78 * diffuse;
  return (mn_rgb){base.r * k + shine + rim, base.g * k + shine + rim,
                  base.b * k + shine + 1.3 * rim};
}

/* The nearest of the grid's solids and the bodies. A body's silhouette hides nothing behind it: the
   eye does not see a fraction of a pixel. */
static int find_solid(const view3 *v, mn_vec3 d, double t0, double t1, int axis_in,
                      mn_layer_pixel body, hit *h)
{
  int hits = v->view->obstacles && trace(v, v->view->obstacles, 1, d, t0, t1, axis_in, h);
  h->colour = (mn_rgb){0.80, 0.66, 0.52};
  if (!(body.cover > 0))
    return hits;
  double t = body.depth / mn_dot(d, v->camera.forward);
  if (hits && h->cover == 1 && h->t < t)
    return hits;
  *h = (hit){t, body.cover, mn_madd(v->camera.eye, t, d), body.normal, body.colour};
  return 1;
}

static mn_rgb shade_floor(const view3 *v, mn_vec3 x)
{
  double k = 0.35 + 0.65 * light_at(v, x);
  return (mn_rgb){0.30 * k, 0.335 * k, 0.38 * k};
}

/* ---- one ray --------------------------------------------------------------------------------- */

/* A ray in cells: at + t by. */
typedef struct way {
  double at[3], by[3];
} way;

/* Where a ray leaves the block of cell i. */
static double end_of_block(const view3 *v, const way *w, const int i[3])
{
  double end = INFINITY;
  for (int a = 0; a < 3; a++) {
    int b = i[a] / BLOCK, on = w->by[a] > 0;
    if (w->by[a] != 0 && (on ? b + 1 < v->blocks[a] : b > 0)) /* what is beyond has its values */
      end = fmin(end, ((b + on) * BLOCK - w->at[a]) / w->by[a]);
  }
  return end;
}

/* Adds what lies between t0 and t1 to `c`; returns the transmittance left of `through`. Blocks with
   nothing to see are passed at once: of most pictures they are the larger part. */
static double march(const view3 *v, mn_vec3 d, double t0, double t1, double through, mn_rgb *c)
{
  const mn_shown *s = v->shown;
  double ds = fmin(0.8 * s->dx, v->longest / 200); /* finer on coarse grids: no steps to be seen */
  if (v->clear) /* bodies without smoke: most of a picture's time */
    return through;
  way w;
  for (int a = 0; a < 3; a++) {
    w.at[a] = (v->camera.eye.v[a] - s->origin.v[a]) / s->dx - 0.5;
    w.by[a] = d.v[a] / s->dx;
  }
  int count = (int)ceil((t1 - t0) / ds - 0.5);
  for (int m = 0; m < count && through > 5e-3; m++) {
    double t = t0 + (m + 0.5) * ds;
    double p[3] = {w.at[0] + t * w.by[0], w.at[1] + t * w.by[1], w.at[2] + t * w.by[2]};
    int i[3];
    stencil st = locate(s, p, i);
    if (v->empty[block_of(v, i)]) {
      double next = (end_of_block(v, &w, i) - t0) / ds - 0.5;
      m = next < count ? (int)fmax(m, ceil(next) - 1) : count;
      continue;
    }
    double value = (double)interpolate(&st, s->value), dense = opacity(v, value);
    if (dense < 1e-3)
      continue;
    double l = (double)interpolate(&st, v->light),
           taken = through * (1 - exp(-v->sigma * dense * ds));
    mn_rgb hue = {1.0, 0.98, 0.95};
    if (!v->smoke)
      hue = mn_map_colour(s->map, mn_shown_part(s, value));
    double gain = v->smoke ? 0.80 * l : 0.55 + 0.45 * l;
    mn_rgb sky = v->smoke ? (mn_rgb){0.19, 0.21, 0.25} : (mn_rgb){0, 0, 0};
    c->r += taken * (hue.r * gain + sky.r);
    c->g += taken * (hue.g * gain + sky.g);
    c->b += taken * (hue.b * gain + sky.b);
    through -= taken;
  }
  return through;
}

static void add(mn_rgb *c, double weight, mn_rgb colour)
{
  c->r += weight * colour.r;
  c->g += weight * colour.g;
  c->b += weight * colour.b;
}

/* Water: a surface that reflects a pale sky by Fresnel's law and tints what is behind by depth. */
static mn_rgb through_water(const view3 *v, mn_vec3 d, const hit *h, double t_behind, mn_rgb behind)
{
  hit out;
  double end = t_behind;
  if (trace(v, v->view->liquid, -1, d, h->t + 0.5 * v->shown->dx, t_behind, 0, &out) &&
      out.cover == 1)
    end = out.t;
  double clear = exp(-5.0 * (end - h->t) / v->longest), cosine = fmax(0, -mn_dot(h->n, d));
  double light = 0.45 + 0.55 * fmax(0, mn_dot(h->n, TO_LIGHT));
  mn_rgb deep = {0.05 * light, 0.33 * light, 0.62 * light};
  mn_rgb c = mn_rgb_mix(deep, behind, clear);
  double mirror = 0.03 + 0.75 * pow(1 - cosine, 4);
  c = mn_rgb_mix(c, (mn_rgb){0.72, 0.82, 0.92}, mirror);
  double shine = 0.7 * pow(fmax(0, mn_dot(h->n, unit(mn_sub(TO_LIGHT, d)))), 90);
  add(&c, shine, (mn_rgb){1, 1, 1});
  return mn_rgb_mix(behind, c, h->cover);
}

static mn_rgb ray_colour(const view3 *v, mn_vec3 d, mn_layer_pixel body, mn_rgb background)
{
  double t0, t1, through = 1;
  int axis_in, axis_out;
  if (!enter_box(v, d, &t0, &t1, &axis_in, &axis_out))
    return background;
  if (v->floor && axis_out == 1 && d.y < 0)
    background = mn_rgb_mix(background, shade_floor(v, mn_madd(v->camera.eye, t1, d)), 0.9);
  mn_rgb c = {0, 0, 0};
  hit solid, liquid, out;
  if (v->vessel && mn_sample(v->view->obstacles, mn_madd(v->camera.eye, t0, d)) < 0) {
    if (!trace(v, v->view->obstacles, -1, d, t0, t1, axis_in, &out) || out.cover < 1)
      return background;
    t0 = out.t;
  }
  int hits = find_solid(v, d, t0, t1, axis_in, body, &solid);
  if (v->water) {
    if (hits)
      background = mn_rgb_mix(background, shade_solid(v, &solid, d), solid.cover);
    double end = hits && solid.cover == 1 ? solid.t : t1;
    if (trace(v, v->view->liquid, 1, d, t0, end, axis_in, &liquid)) {
      if (v->vessel && liquid.t == t0)
        liquid.n = out.n; /* water that stands at the vessel */
      background = through_water(v, d, &liquid, end, background);
    }
    return background;
  }
  double begin = t0;
  if (hits) {
    through = march(v, d, t0, solid.t, 1, &c);
    add(&c, through * solid.cover, shade_solid(v, &solid, d));
    through *= 1 - solid.cover;
    begin = solid.t;
  }
  if (through > 0)
    through = march(v, d, begin, t1, through, &c);
  add(&c, through, background);
  return c;
}

/* ---- the picture ----------------------------------------------------------------------------- */

/* The edges that meet in the farthest corner are behind everything, the others in front. */
static void draw_edges(const view3 *v, int behind)
{
  int far = 0;
  for (int a = 0; a < 3; a++)
    far |= (v->camera.forward.v[a] > 0) << a;
  for (int c = 0; c < 8; c++)
    for (int a = 0; a < 3; a++) {
      int other = c | 1 << a;
      if (other == c || (c == far || other == far) != behind)
        continue;
      double x0, y0, x1, y1;
      mn_camera_project(&v->camera, corner(v, c), &x0, &y0);
      mn_camera_project(&v->camera, corner(v, other), &x1, &y1);
      mn_image_line(v->image, x0, y0, x1, y1, 1.2, mn_rgb_hex(0xaab6c4), behind ? 0.35 : 0.6);
    }
}

static void draw_background(const view3 *v)
{
  for (int j = 0; j < v->image->height; j++)
    mn_image_rectangle(
        v->image, 0, j, v->image->width, 1,
        mn_rgb_mix(mn_rgb_hex(0x2b3542), mn_rgb_hex(0x12171e), (double)j / v->image->height), 1);
}

static void draw_rays(const view3 *v, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int j = 0; j < v->image->height; j++)
    for (int i = 0; i < v->image->width; i++)
      mn_image_blend(v->image, i, j,
                     ray_colour(v, ray_direction(v, i, j), mn_body_layer_pixel(&v->layer, i, j),
                                mn_image_get(v->image, i, j)),
                     1);
}

static mn_status draw(mn_context *ctx, view3 *v, double time)
{
  int width, height, threads = mn_context_threads(ctx);
  aim(v, &width, &height);
  MN_TRY(mn_image_create(ctx, width, height, (mn_rgb){0, 0, 0}, v->image));
  MN_TRY(mn_body_layer_make(ctx, v->bodies, v->body_count, &v->camera, width, height,
                            v->shown->stress, &v->layer));
  mark_shade(v);
  sweep_light(v, threads);
  mark_empty(v);
  draw_background(v);
  draw_edges(v, 1);
  draw_rays(v, threads);
  draw_edges(v, 0);
  mn_shown_strip(v->shown, time, v->image, MARGIN, height - MN_STRIP_HEIGHT, width - 2 * MARGIN,
                 mn_rgb_hex(0xdbe2ea));
  return MN_OK;
}

static int in_vessel(const view3 *v)
{
  int inside = v->view->obstacles != NULL;
  for (int c = 0; c < 8 && inside; c++)
    inside = mn_sample(v->view->obstacles, corner(v, c)) < 0;
  return inside;
}

mn_status mn_preview_draw_3d(mn_context *ctx, const mn_mac_view *view, const mn_body_view *bodies,
                             int body_count, const mn_model_def *def, double time, mn_image *image)
{
  const mn_grid *g = view->grid;
  mn_shown shown;
  MN_TRY(mn_shown_make(ctx, view, def, LIMIT, mn_body_stress(bodies, body_count),
                       mn_body_by_tension(bodies, body_count), &shown));
  view3 v = {.view = view,
             .def = def,
             .shown = &shown,
             .bodies = bodies,
             .body_count = body_count,
             .image = image,
             .lo = g->origin};
  size_t cells = 1, blocks = 1;
  for (int a = 0; a < 3; a++) {
    v.hi.v[a] = v.lo.v[a] + g->n[a] * g->dx;
    v.longest = fmax(v.longest, g->n[a] * g->dx);
    v.blocks[a] = (shown.n[a] + BLOCK - 1) / BLOCK;
    cells *= (size_t)shown.n[a];
    blocks *= (size_t)v.blocks[a];
  }
  v.vessel = in_vessel(&v);
  v.sigma = THICKNESS / v.longest;
  v.smoke = shown.map == MN_MAP_SMOKE;
  v.water = shown.map == MN_MAP_WATER;
  v.floor = def->domain.side[2].kind < MN_SIDE_OPEN; /* closed */
  mn_status status = MN_NEW(ctx, "a preview's light", cells, &v.light);
  if (status == MN_OK)
    status = MN_NEW(ctx, "a preview's shadows", cells, &v.shade);
  if (status == MN_OK)
    status = MN_NEW(ctx, "a preview's blocks", blocks, &v.empty);
  if (status == MN_OK)
    status = draw(ctx, &v, time);
  mn_body_layer_free(&v.layer);
  mn_free(v.light);
  mn_free(v.shade);
  mn_free(v.empty);
  mn_shown_free(&shown);
  return status;
}
