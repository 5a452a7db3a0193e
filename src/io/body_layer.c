/* Triangles into a depth buffer of MN_LAYER_SAMPLES^2 samples a pixel. Pictures, not measurements.
   A triangle of the mesh (2D) or of the surface (3D) covers the samples whose centres it holds; the
   reciprocal of depth is linear on the screen. Verified by tests/unit/io/test_body_layer.c. */
#include "io/body_layer.h"

#include "base/memory.h"
#include "base/status.h"

static const double CREASE = 0.8; /* cosine; flatter edges are drawn round */

mn_rgb mn_body_colour(int body)
{
  static const uint32_t colours[] = {0xd0793f, 0x4f8f6b, 0x6b6fb5, 0xc2a13e,
                                     0xb0566f, 0x4d93a8, 0x8d7a55, 0x7f9b3c};
  return mn_rgb_hex(colours[(unsigned)body % (sizeof colours / sizeof *colours)]);
}

int mn_body_by_tension(const mn_body_view *bodies, int count)
{
  int stress = 0, tension = 0;
  for (int b = 0; b < count; b++)
    stress |= bodies[b].stress != NULL, tension |= bodies[b].tension != NULL;
  return tension && !stress;
}

double mn_body_stress(const mn_body_view *bodies, int count)
{
  int tension = mn_body_by_tension(bodies, count);
  double most = 0;
  for (int b = 0; b < count; b++) {
    const double *value = tension ? bodies[b].tension : bodies[b].stress;
    for (size_t c = 0; value && c < bodies[b].cells; c++)
      most = mn_max(most, value[c]);
  }
  return most;
}

static uint32_t pack(mn_rgb c)
{
  double v[3] = {c.r, c.g, c.b};
  uint32_t out = 0;
  for (int i = 0; i < 3; i++)
    out = out << 8 | (uint32_t)(255 * mn_clamp(v[i], 0, 1) + 0.5);
  return out;
}

/* ---- triangles ------------------------------------------------------------------------------- */

typedef struct corner {
  double x, y, z; /* samples, samples, m */
  mn_vec3 n;
} corner;

static corner place(const mn_camera *camera, mn_vec3 x, mn_vec3 n)
{
  corner c = {.n = n};
  c.z = mn_camera_project(camera, x, &c.x, &c.y);
  c.x *= MN_LAYER_SAMPLES;
  c.y *= MN_LAYER_SAMPLES;
  return c;
}

static double cross2(double ax, double ay, double bx, double by)
{
  return ax * by - ay * bx;
}

static void put(mn_body_layer *layer, int i, int j, double z, mn_vec3 n, uint32_t colour)
{
  size_t at = (size_t)j * (size_t)layer->width + (size_t)i;
  if (layer->depth[at] > 0 && (double)layer->depth[at] <= z)
    return;
  layer->depth[at] = (float)z;
  for (int a = 0; a < 3; a++)
    layer->normal[at][a] = (float)n.v[a];
  layer->colour[at] = colour;
}

static void fill_triangle(mn_body_layer *layer, const corner c[3], uint32_t colour)
{
  double area = cross2(c[1].x - c[0].x, c[1].y - c[0].y, c[2].x - c[0].x, c[2].y - c[0].y);
  if (!(area != 0) || !(c[0].z > 0) || !(c[1].z > 0) || !(c[2].z > 0))
    return; /* edge-on, not finite, or behind the eye */
  double lo_x = mn_min(c[0].x, mn_min(c[1].x, c[2].x)),
         hi_x = mn_max(c[0].x, mn_max(c[1].x, c[2].x));
  double lo_y = mn_min(c[0].y, mn_min(c[1].y, c[2].y)),
         hi_y = mn_max(c[0].y, mn_max(c[1].y, c[2].y));
  int i0 = (int)mn_clamp(lo_x - 0.5, 0, layer->width),
      i1 = (int)mn_clamp(hi_x + 0.5, 0, layer->width);
  int j0 = (int)mn_clamp(lo_y - 0.5, 0, layer->height),
      j1 = (int)mn_clamp(hi_y + 0.5, 0, layer->height);
  for (int j = j0; j < j1; j++)
    for (int i = i0; i < i1; i++) {
      double px = i + 0.5, py = j + 0.5, w[3];
      w[0] = cross2(c[1].x - px, c[1].y - py, c[2].x - px, c[2].y - py) / area;
      w[1] = cross2(c[2].x - px, c[2].y - py, c[0].x - px, c[0].y - py) / area;
      w[2] = 1 - w[0] - w[1];
      if (w[0] < 0 || w[1] < 0 || w[2] < 0)
        continue;
      double z = 1 / (w[0] / c[0].z + w[1] / c[1].z + w[2] / c[2].z);
      mn_vec3 n = mn_v3(0, 0, 0);
      for (int k = 0; k < 3; k++)
        n = mn_madd(n, w[k], c[k].n);
      put(layer, i, j, z, n, colour);
    }
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static uint32_t cell_colour(const mn_body_view *b, int body, size_t cell, double most)
{
  if (most > 0 && b->stress)
    return pack(mn_map_colour(MN_MAP_SPEED, b->stress[cell] / most));
  return pack(mn_body_colour(body));
}

/* 2D: every element; curves are drawn by mn_body_outlines. */
static void fill_flat(mn_body_layer *layer, const mn_body_view *b, int body,
                      const mn_camera *camera, double most)
{
  int nodes = b->order == 1 ? b->corners : b->corners * (b->corners + 1) / 2;
  for (size_t e = 0; e < b->cells && b->corners == 3; e++) {
    const uint32_t *p = b->cell + e * (size_t)nodes;
    uint32_t colour = cell_colour(b, body, e, most);
    corner c[6];
    for (int k = 0; k < nodes; k++)
      c[k] = place(camera, b->x[p[k]], mn_v3(0, 0, 1));
    if (b->order == 1) {
      fill_triangle(layer, c, colour);
      continue;
    }
    static const int part[4][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}, {3, 4, 5}};
    for (int k = 0; k < 4; k++)
      fill_triangle(layer, (corner[3]){c[part[k][0]], c[part[k][1]], c[part[k][2]]}, colour);
  }
}

static mn_vec3 facet_normal(const mn_body_view *b, const uint32_t *p)
{
  return mn_cross(mn_sub(b->x[p[1]], b->x[p[0]]), mn_sub(b->x[p[2]], b->x[p[0]]));
}

static mn_vec3 unit(mn_vec3 a)
{
  double length = mn_length(a);
  return length > 0 ? mn_scale(1 / length, a) : mn_v3(0, 0, 1);
}

/* 3D: the surface, round where it is nearly flat. A thin body turns its normals to the eye. */
static void fill_surface(mn_body_layer *layer, const mn_body_view *b, int body,
                         const mn_camera *camera, const mn_vec3 *normal, const double *stress,
                         double most)
{
  for (size_t f = 0; f < b->facets; f++) {
    const uint32_t *p = b->facet + 3 * f;
    mn_vec3 flat = unit(facet_normal(b, p));
    uint32_t colour = pack(mn_body_colour(body));
    if (stress && most > 0)
      colour = pack(
          mn_map_colour(MN_MAP_SPEED, (stress[p[0]] + stress[p[1]] + stress[p[2]]) / 3 / most));
    int away = b->thin && mn_dot(flat, mn_sub(b->x[p[0]], camera->eye)) > 0;
    corner c[3];
    for (int k = 0; k < 3; k++) {
      mn_vec3 round = unit(normal[p[k]]), n = mn_dot(round, flat) > CREASE ? round : flat;
      c[k] = place(camera, b->x[p[k]], away ? mn_scale(-1, n) : n);
    }
    fill_triangle(layer, c, colour);
  }
}

/* 3D curves: ribbons of a few samples that face the eye. */
static void fill_ribbons(mn_body_layer *layer, const mn_body_view *b, int body,
                         const mn_camera *camera, double most)
{
  const double half = 1.3 * MN_LAYER_SAMPLES;
  int nodes = b->order == 1 ? 2 : 3;
  mn_vec3 n = mn_scale(-1, camera->forward);
  for (size_t e = 0; e < b->cells; e++) {
    const uint32_t *p = b->cell + e * (size_t)nodes;
    corner a = place(camera, b->x[p[0]], n), z = place(camera, b->x[p[1]], n);
    double dx = z.x - a.x, dy = z.y - a.y, length = sqrt(dx * dx + dy * dy);
    if (!(length > 0))
      continue;
    double sx = -dy / length * half, sy = dx / length * half;
    corner q[4] = {a, a, z, z};
    for (int k = 0; k < 4; k++) {
      double side = k == 0 || k == 3 ? 1 : -1;
      q[k].x += side * sx;
      q[k].y += side * sy;
    }
    uint32_t colour = cell_colour(b, body, e, most);
    fill_triangle(layer, (corner[3]){q[0], q[1], q[2]}, colour);
    fill_triangle(layer, (corner[3]){q[0], q[2], q[3]}, colour);
  }
}

/* Sums over the facets and cells around each point: normals, and the mean stress. */
static void gather(const mn_body_view *b, mn_vec3 *normal, double *stress, double *weight)
{
  for (size_t f = 0; f < b->facets; f++) {
    const uint32_t *p = b->facet + 3 * f;
    mn_vec3 n = facet_normal(b, p);
    for (int k = 0; k < 3; k++)
      normal[p[k]] = mn_add(normal[p[k]], n);
  }
  int nodes = b->order == 1 ? b->corners : b->corners * (b->corners + 1) / 2;
  for (size_t e = 0; b->stress && e < b->cells; e++)
    for (int k = 0; k < nodes; k++) {
      stress[b->cell[e * (size_t)nodes + (size_t)k]] += b->stress[e];
      weight[b->cell[e * (size_t)nodes + (size_t)k]] += 1;
    }
  for (size_t i = 0; b->stress && i < b->points; i++)
    stress[i] /= weight[i] > 0 ? weight[i] : 1;
}

static mn_status fill_solid(mn_context *ctx, mn_body_layer *layer, const mn_body_view *b, int body,
                            const mn_camera *camera, double most)
{
  mn_vec3 *normal = NULL;
  double *stress = NULL, *weight = NULL;
  mn_status status = MN_NEW(ctx, "normals of a picture", b->points + 1, &normal);
  if (status == MN_OK && b->stress)
    status = MN_NEW(ctx, "stress of a picture", b->points + 1, &stress);
  if (status == MN_OK && b->stress)
    status = MN_NEW(ctx, "stress of a picture", b->points + 1, &weight);
  if (status == MN_OK) {
    gather(b, normal, stress, weight);
    fill_surface(layer, b, body, camera, normal, stress, most);
  }
  mn_free(normal);
  mn_free(stress);
  mn_free(weight);
  return status;
}

mn_status mn_body_layer_make(mn_context *ctx, const mn_body_view *bodies, int count,
                             const mn_camera *camera, int width, int height, double most,
                             mn_body_layer *layer)
{
  *layer = (mn_body_layer){.width = MN_LAYER_SAMPLES * width, .height = MN_LAYER_SAMPLES * height};
  size_t samples = (size_t)layer->width * (size_t)layer->height;
  mn_status status = MN_NEW(ctx, "a picture's depth", samples, &layer->depth);
  if (status == MN_OK)
    status = MN_NEW(ctx, "a picture's normals", samples, &layer->normal);
  if (status == MN_OK)
    status = MN_NEW(ctx, "a picture's colours", samples, &layer->colour);
  int tension = mn_body_by_tension(bodies, count);
  for (int b = 0; b < count && status == MN_OK; b++) {
    mn_body_view view = bodies[b];
    view.stress = tension ? view.tension : view.stress;
    if (camera->flat)
      fill_flat(layer, &view, b, camera, most);
    else if (view.corners == 2)
      fill_ribbons(layer, &view, b, camera, most);
    else
      status = fill_solid(ctx, layer, &view, b, camera, most);
  }
  if (status != MN_OK)
    mn_body_layer_free(layer);
  return status;
}

void mn_body_layer_free(mn_body_layer *layer)
{
  mn_free(layer->depth);
  mn_free(layer->normal);
  mn_free(layer->colour);
  *layer = (mn_body_layer){0};
}

mn_layer_pixel mn_body_layer_pixel(const mn_body_layer *layer, int i, int j)
{
  mn_layer_pixel p = {0};
  int hits = 0;
  if (!layer->depth)
    return p;
  for (int s = 0; s < MN_LAYER_SAMPLES * MN_LAYER_SAMPLES; s++) {
    int x = MN_LAYER_SAMPLES * i + s % MN_LAYER_SAMPLES,
        y = MN_LAYER_SAMPLES * j + s / MN_LAYER_SAMPLES;
    size_t at = (size_t)y * (size_t)layer->width + (size_t)x;
    if (!(layer->depth[at] > 0))
      continue;
    hits++;
    p.depth += (double)layer->depth[at];
    mn_rgb c = mn_rgb_hex(layer->colour[at]);
    p.colour = (mn_rgb){p.colour.r + c.r, p.colour.g + c.g, p.colour.b + c.b};
    for (int a = 0; a < 3; a++)
      p.normal.v[a] += (double)layer->normal[at][a];
  }
  if (!hits)
    return p;
  double part = 1.0 / hits;
  p.cover = (double)hits / (MN_LAYER_SAMPLES * MN_LAYER_SAMPLES);
  p.depth *= part;
  p.colour = (mn_rgb){p.colour.r * part, p.colour.g * part, p.colour.b * part};
  p.normal = unit(p.normal);
  return p;
}

void mn_body_outlines(const mn_body_view *bodies, int count, const mn_camera *camera, double most,
                      mn_image *image)
{
  int tension = mn_body_by_tension(bodies, count);
  for (int b = 0; b < count; b++) {
    const mn_body_view *v = &bodies[b];
    const double *value = tension ? v->tension : v->stress;
    int curve = v->corners == 2 && v->thin;
    mn_rgb ink = curve ? mn_body_colour(b) : mn_rgb_hex(0x22282e);
    for (size_t f = 0; f < v->facets; f++) {
      double x0, y0, x1, y1;
      mn_camera_project(camera, v->x[v->facet[2 * f]], &x0, &y0);
      mn_camera_project(camera, v->x[v->facet[2 * f + 1]], &x1, &y1);
      if (curve && most > 0 && value) /* its facets are its cells */
        ink = mn_map_colour(MN_MAP_SPEED, value[f] / most);
      mn_image_line(image, x0, y0, x1, y1, curve ? 2.6 : 1.1, ink, curve ? 1 : 0.8);
    }
  }
}
