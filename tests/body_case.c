#include "body_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void create(body_case *b, mn_context *ctx, int dim, size_t points, size_t elements)
{
  memset(b, 0, sizeof *b);
  CHECK_OK(ctx, mn_interface_create(ctx, dim, points, elements, &b->face));
  b->rest = calloc(points, sizeof *b->rest);
  b->face.impulse = b->face.frozen = 1;
  for (size_t i = 0; i < points; i++)
    b->face.rigid[i] = 1;
}

static void close_line(body_case *b, size_t n)
{
  for (uint32_t e = 0; e < n; e++) {
    b->face.element[2 * e] = e;
    b->face.element[2 * e + 1] = (uint32_t)((e + 1) % n);
  }
}

/* Positions at rest, volume. */
static void settle(body_case *b)
{
  const mn_interface *f = &b->face;
  body_put(b, mn_v3(0, 0, 0), 0, mn_v3(0, 0, 0), 0);
  for (size_t e = 0; e < f->elements; e++) {
    const uint32_t *at = f->element + (size_t)f->dim * e;
    mn_vec3 x = b->rest[at[0]], y = b->rest[at[1]];
    b->volume +=
        f->dim == 2 ? 0.5 * (x.x * y.y - x.y * y.x) : mn_dot(x, mn_cross(y, b->rest[at[2]])) / 6;
  }
}

void body_disk(body_case *b, mn_context *ctx, double radius, int corners)
{
  create(b, ctx, 2, (size_t)corners, (size_t)corners);
  for (int i = 0; i < corners; i++) {
    double t = 2 * MN_PI * i / corners;
    b->rest[i] = mn_v3(radius * cos(t), radius * sin(t), 0);
  }
  close_line(b, (size_t)corners);
  settle(b);
}

static void box2(body_case *b, mn_context *ctx, mn_vec3 size, double spacing)
{
  int n[2] = {(int)ceil(size.x / spacing), (int)ceil(size.y / spacing)};
  size_t count = 2 * (size_t)(n[0] + n[1]), at = 0;
  create(b, ctx, 2, count, count);
  mn_vec3 corner = mn_scale(-0.5, size);
  for (int side = 0; side < 4; side++) { /* counter-clockwise */
    int axis = side & 1;
    mn_vec3 step = {{0, 0, 0}};
    step.v[axis] = (side < 2 ? 1 : -1) * size.v[axis] / n[axis];
    for (int i = 0; i < n[axis]; i++)
      b->rest[at++] = mn_madd(corner, i, step);
    corner = mn_madd(corner, n[axis], step);
  }
  close_line(b, count);
}

/* Six sides, joined at equal points. */
static void box3(body_case *b, mn_context *ctx, mn_vec3 size, double spacing)
{
  int n[3];
  size_t room = 0;
  for (int a = 0; a < 3; a++)
    n[a] = (int)ceil(size.v[a] / spacing);
  size_t quads = 2 * (size_t)(n[0] * n[1] + n[1] * n[2] + n[2] * n[0]);
  room = quads + 2; /* Euler: vertices = edges - faces + 2, edges = 2 faces */
  create(b, ctx, 3, room, 2 * quads);
  size_t grid = (size_t)((n[0] + 1) * (n[1] + 1) * (n[2] + 1)), count = 0, e = 0;
  uint32_t *number = malloc(grid * sizeof *number);
  memset(number, 0xff, grid * sizeof *number);
  for (int side = 0; side < 6; side++) {
    int a = side / 2, u = (a + 1) % 3, v = (a + 2) % 3;
    for (int j = 0; j < n[v]; j++)
      for (int i = 0; i < n[u]; i++) {
        uint32_t quad[4];
        for (int c = 0; c < 4; c++) {
          int at[3];
          at[a] = side & 1 ? n[a] : 0;
          at[u] = i + (c == 1 || c == 2);
          at[v] = j + (c >= 2);
          uint32_t *q = &number[at[0] + (n[0] + 1) * (at[1] + (n[1] + 1) * at[2])];
          if (*q == UINT32_MAX) {
            *q = (uint32_t)count;
            for (int d = 0; d < 3; d++)
              b->rest[count].v[d] = size.v[d] * ((double)at[d] / n[d] - 0.5);
            count++;
          }
          quad[side & 1 ? c : 3 - c] = *q;
        }
        uint32_t two[6] = {quad[0], quad[1], quad[2], quad[0], quad[2], quad[3]};
        memcpy(b->face.element + 6 * e++, two, sizeof two);
      }
  }
  free(number);
}

void body_box(body_case *b, mn_context *ctx, int dim, mn_vec3 size, double spacing)
{
  if (dim == 2)
    box2(b, ctx, size, spacing);
  else
    box3(b, ctx, size, spacing);
  settle(b);
}

/* An octahedron, whose triangles are cut in four `levels` times. */
void body_ball(body_case *b, mn_context *ctx, double radius, int levels)
{
  size_t triangles = 8, points;
  for (int l = 0; l < levels; l++)
    triangles *= 4;
  points = triangles / 2 + 2;
  create(b, ctx, 3, points, triangles);
  mn_vec3 corner[6] = {mn_v3(1, 0, 0),  mn_v3(-1, 0, 0), mn_v3(0, 1, 0),
                       mn_v3(0, -1, 0), mn_v3(0, 0, 1),  mn_v3(0, 0, -1)};
  size_t count = 0, e = 0;
  int n = 1 << levels;
  uint32_t *row = malloc((size_t)(n + 2) * (size_t)(n + 2) * sizeof *row);
  for (int face = 0; face < 8; face++) {
    int flip = (face & 1) ^ (face >> 1 & 1) ^ (face >> 2 & 1);
    mn_vec3 a = corner[face & 1], u = corner[2 + (face >> 1 & 1)], v = corner[4 + (face >> 2 & 1)];
    for (int i = 0; i <= n; i++)
      for (int j = 0; i + j <= n; j++) {
        mn_vec3 x = mn_v3(0, 0, 0);
        x = mn_madd(mn_madd(mn_madd(x, n - i - j, a), i, u), j, v);
        x = mn_scale(radius / mn_length(x), x);
        size_t q = 0;
        while (q < count && mn_length(mn_sub(b->rest[q], x)) > 1e-9 * radius)
          q++;
        if (q == count)
          b->rest[count++] = x;
        row[i * (n + 2) + j] = (uint32_t)q;
      }
    for (int i = 0; i < n; i++)
      for (int j = 0; i + j < n; j++)
        for (int second = 0; second < (i + j + 1 < n ? 2 : 1); second++) {
          uint32_t t[3] = {row[(i + 1) * (n + 2) + j], row[i * (n + 2) + j + 1],
                           second ? row[(i + 1) * (n + 2) + j + 1] : row[i * (n + 2) + j]};
          int turn = second ^ flip ^ 1;
          uint32_t out[3] = {turn ? t[0] : t[1], turn ? t[1] : t[0], t[2]};
          memcpy(b->face.element + 3 * e++, out, sizeof out);
        }
  }
  free(row);
  settle(b);
  if (b->volume < 0) /* all triangles have the same turn */
    for (size_t t = 0; t < b->face.elements; t++) {
      uint32_t *at = b->face.element + 3 * t, swap = at[0];
      at[0] = at[1];
      at[1] = swap;
    }
  double exact = 4 * MN_PI / 3 * radius * radius * radius, scale = cbrt(exact / fabs(b->volume));
  for (size_t i = 0; i < points; i++)
    b->rest[i] = mn_scale(scale, b->rest[i]);
  b->volume = exact;
}

void body_plate(body_case *b, mn_context *ctx, int dim, mn_vec3 half, int pieces)
{
  size_t n = (size_t)pieces;
  if (dim == 2) {
    create(b, ctx, 2, n + 1, n);
    for (size_t i = 0; i <= n; i++)
      b->rest[i] = mn_scale(2.0 * (double)i / (double)n - 1, half);
    for (uint32_t e = 0; e < n; e++) {
      b->face.element[2 * e] = e;
      b->face.element[2 * e + 1] = e + 1;
    }
  } else {
    create(b, ctx, 3, (n + 1) * (n + 1), 2 * n * n);
    for (size_t j = 0; j <= n; j++)
      for (size_t i = 0; i <= n; i++)
        b->rest[i + (n + 1) * j] = mn_v3(0, half.y * (2.0 * (double)i / (double)n - 1),
                                         half.z * (2.0 * (double)j / (double)n - 1));
    for (size_t j = 0; j < n; j++)
      for (size_t i = 0; i < n; i++) {
        uint32_t q = (uint32_t)(i + (n + 1) * j), up = q + (uint32_t)n + 1;
        uint32_t two[6] = {q, q + 1, up + 1, q, up + 1, up};
        memcpy(b->face.element + 6 * (i + n * j), two, sizeof two);
      }
  }
  memset(b->face.two_sided, 1, b->face.count);
  settle(b);
}

void body_destroy(body_case *b)
{
  mn_interface_destroy(&b->face);
  free(b->rest);
}

/* Vector areas of the elements, shared by their points. */
static void make_normals(mn_interface *f)
{
  memset(f->N, 0, f->count * sizeof *f->N);
  for (size_t e = 0; e < f->elements; e++) {
    const uint32_t *at = f->element + (size_t)f->dim * e;
    mn_vec3 u = mn_sub(f->X[at[1]], f->X[at[0]]);
    mn_vec3 n = f->dim == 2 ? mn_v3(u.y, -u.x, 0)
                            : mn_scale(0.5, mn_cross(u, mn_sub(f->X[at[2]], f->X[at[0]])));
    for (int v = 0; v < f->dim; v++)
      f->N[at[v]] = mn_madd(f->N[at[v]], 1.0 / f->dim, n);
  }
  for (size_t i = 0; i < f->count; i++) {
    f->area[i] = mn_length(f->N[i]);
    f->N[i] = mn_scale(f->area[i] > 0 ? 1 / f->area[i] : 0, f->N[i]);
  }
}

void body_put(body_case *b, mn_vec3 x, double angle, mn_vec3 velocity, double omega)
{
  for (size_t i = 0; i < b->face.count; i++) {
    mn_vec3 r = mn_rotate(b->rest[i], mn_v3(0, 0, 1), angle);
    b->face.X[i] = mn_add(x, r);
    b->face.V[i] = mn_add(velocity, mn_cross(mn_v3(0, 0, omega), r));
  }
  make_normals(&b->face);
}

mn_vec3 body_force(const body_case *b)
{
  mn_vec3 sum = {{0, 0, 0}};
  for (size_t i = 0; i < b->face.count; i++)
    sum = mn_add(sum, b->face.load[i]);
  return sum;
}

mn_vec3 body_torque(const body_case *b, mn_vec3 x)
{
  mn_vec3 sum = {{0, 0, 0}};
  for (size_t i = 0; i < b->face.count; i++)
    sum = mn_add(sum, mn_cross(mn_sub(b->face.X[i], x), b->face.load[i]));
  return sum;
}
