/* Balls, tori and cylinders of tetrahedra with regular connectivity.

   Ball: a regular icosahedron is 20 tetrahedra around its centre, each cut into n^3 alike, 6 in a
   cube as for boxes but of those only the ones within x >= y >= z; faces are cut into n^2 triangles
   in one way only, so that neighbours agree. Layer k, the points at k/n of the way outward, is
   moved onto the sphere of radius k/n.
   Torus: the disk of structured.c carried around the axis; cylinder: along it. Each triangle gives
   prisms; a prism is cut into 3 tetrahedra, the diagonals of its sides from the node of lower
   number in the disk to the one of higher number, the same from both sides. Verified by
   tests/unit/geom/test_structured.c: closed, volume of second order, angles. */
#include "geom/structured.h"

#include "base/status.h"
#include "math/vec.h"

/* ---- ball ------------------------------------------------------------------------------------ */

enum { CORNERS = 12, EDGES = 30, FACES = 20 };

static const int FACE[FACES][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                   {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                   {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                   {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};

#define PHI 1.6180339887498949 /* the golden ratio */
static const mn_vec3 CORNER[CORNERS] = {{{-1, PHI, 0}},  {{1, PHI, 0}},   {{-1, -PHI, 0}},
                                        {{1, -PHI, 0}},  {{0, -1, PHI}},  {{0, 1, PHI}},
                                        {{0, -1, -PHI}}, {{0, 1, -PHI}},  {{PHI, 0, -1}},
                                        {{PHI, 0, 1}},   {{-PHI, 0, -1}}, {{-PHI, 0, 1}}};

typedef struct ball {
  mn_vec3 center;
  double radius;
  size_t layers;
  size_t edge[CORNERS][CORNERS]; /* number of the edge between two corners */
} ball;

static void count_edges(ball *b)
{
  size_t edges = 0;
  for (int f = 0; f < FACES; f++)
    for (int i = 0; i < 3; i++) {
      int from = FACE[f][i], to = FACE[f][(i + 1) % 3];
      if (from < to) /* each edge is met once in either direction */
        b->edge[from][to] = b->edge[to][from] = edges++;
    }
}

/* Nodes of the layers below k, the centre included: layer m has 10 m^2 + 2. */
static size_t nodes_below(size_t k)
{
  return k == 0 ? 0 : 1 + (k - 1) * k * (2 * k - 1) / 3 * 5 + 2 * (k - 1);
}

/* The node of face f with the weights w of its corners, whose sum k is the layer. A layer counts
   its corners first, then the nodes within edges, from the lower corner, then those within faces.
 */
static uint32_t ball_node(const ball *b, int f, const size_t w[3])
{
  size_t k = w[0] + w[1] + w[2], at = nodes_below(k), inner = k - 1;
  const int *corner = FACE[f];
  if (k == 0)
    return 0;
  for (int i = 0; i < 3; i++) {
    int next = (i + 1) % 3, last = (i + 2) % 3;
    if (w[i] == k)
      return (uint32_t)(at + (size_t)corner[i]);
    if (w[last] == 0 && w[i] && w[next]) {
      size_t from_low = corner[i] < corner[next] ? w[next] : w[i];
      return (uint32_t)(at + CORNERS + b->edge[corner[i]][corner[next]] * inner + from_low - 1);
    }
  }
  size_t row = w[0] - 1, rows = k - 2, before = row * rows - row * (row - 1) / 2;
  return (uint32_t)(at + CORNERS + EDGES * inner + (size_t)f * (inner * (k - 2) / 2) + before +
                    w[1] - 1);
}

static mn_vec3 ball_point(const ball *b, int f, const size_t w[3])
{
  mn_vec3 sum = mn_v3(0, 0, 0);
  for (int i = 0; i < 3; i++)
    sum = mn_madd(sum, (double)w[i], CORNER[FACE[f][i]]);
  double length = mn_length(sum), k = (double)(w[0] + w[1] + w[2]);
  return length > 0 ? mn_madd(b->center, b->radius * k / ((double)b->layers * length), sum)
                    : b->center;
}

/* The tetrahedra of the cube at p that lie within x >= y >= z, of face f. */
static uint32_t *cut_cube(const ball *b, int f, const size_t p[3], mn_simplex_mesh *mesh,
                          uint32_t *out)
{
  /* orders in which a path goes along the axes; the last three are odd */
  static const int PATH[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
  for (int s = 0; s < 6; s++) {
    size_t x[3] = {p[0], p[1], p[2]};
    uint32_t node[4];
    int within = 1;
    for (int c = 0; c < 4; c++) {
      within &= x[0] >= x[1] && x[1] >= x[2];
      if (!within)
        break;
      size_t w[3] = {x[0] - x[1], x[1] - x[2], x[2]};
      node[c] = ball_node(b, f, w);
      mesh->node[node[c]] = ball_point(b, f, w);
      if (c < 3)
        x[PATH[s][c]]++;
    }
    for (int c = 0; c < 4 && within; c++)
      *out++ = node[s >= 3 && c < 2 ? 1 - c : c];
  }
  return out;
}

mn_status mn_mesh_ball(mn_context *ctx, mn_vec3 center, double radius, int layers,
                       mn_simplex_mesh *mesh)
{
  ball b = {.center = center, .radius = radius, .layers = (size_t)layers};
  size_t n = b.layers;
  MN_TRY(mn_simplex_mesh_create(ctx, 3, 4, nodes_below(n + 1), FACES * n * n * n, mesh));
  count_edges(&b);
  uint32_t *out = mesh->element;
  for (int f = 0; f < FACES; f++)
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j <= i; j++)
        for (size_t k = 0; k <= j; k++)
          out = cut_cube(&b, f, (size_t[3]){i, j, k}, mesh, out);
  return MN_OK;
}

mn_status mn_mesh_sphere(mn_context *ctx, mn_vec3 center, double radius, int layers,
                         mn_simplex_mesh *mesh)
{
  ball b = {.center = center, .radius = radius, .layers = (size_t)layers};
  size_t n = b.layers, below = nodes_below(n);
  MN_TRY(mn_simplex_mesh_create(ctx, 3, 3, 10 * n * n + 2, FACES * n * n, mesh));
  count_edges(&b);
  uint32_t *out = mesh->element;
  for (int f = 0; f < FACES; f++)
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; i + j < n; j++)
        for (size_t over = 0; over < 2 && i + j + over < n; over++) { /* two ways up */
          size_t k = n - 1 - i - j - over;
          for (int c = 0; c < 3; c++) {
            size_t w[3] = {i + over, j + over, k + over};
            if (over)
              w[c]--;
            else
              w[c]++;
            *out = (uint32_t)(ball_node(&b, f, w) - below);
            mesh->node[*out++] = ball_point(&b, f, w);
          }
        }
  return MN_OK;
}

/* ---- torus and cylinder ---------------------------------------------------------------------- */

/* Three tetrahedra of the prism over a triangle of the disk, from the nodes at `from` to those at
   `to`. */
static uint32_t *cut_prism(const uint32_t *triangle, size_t from, size_t to, uint32_t *out)
{
  uint32_t v[3] = {triangle[0], triangle[1], triangle[2]};
  int odd = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < 2 - pass; i++)
      if (v[i] > v[i + 1]) {
        uint32_t swap = v[i];
        v[i] = v[i + 1];
        v[i + 1] = swap;
        odd = !odd;
      }
  for (int s = 0; s < 3; s++) { /* up to corner s below, from it on above */
    uint32_t node[4];
    int turned = odd ^ (s == 1);
    for (int c = 0; c < 4; c++)
      node[c] = (uint32_t)(c <= s ? from + v[c] : to + v[c - 1]);
    for (int c = 0; c < 4; c++)
      *out++ = node[turned && c < 2 ? 1 - c : c];
  }
  return out;
}

mn_status mn_mesh_torus(mn_context *ctx, mn_vec3 center, mn_vec3 axis, double major, double minor,
                        int rings, int around, mn_simplex_mesh *mesh)
{
  mn_simplex_mesh disk;
  size_t n = (size_t)around;
  MN_TRY(mn_mesh_disk(ctx, mn_v3(0, 0, 0), minor, rings, &disk));
  mn_status status = mn_simplex_mesh_create(ctx, 3, 4, disk.nodes * n, 3 * disk.elements * n, mesh);
  int a = fabs(axis.x) <= fabs(axis.y) && fabs(axis.x) <= fabs(axis.z) ? 0
          : fabs(axis.y) <= fabs(axis.z)                               ? 1
                                                                       : 2;
  mn_vec3 unit = mn_v3(a == 0, a == 1, a == 2), u = mn_cross(axis, unit);
  u = mn_scale(1 / mn_length(u), u);
  mn_vec3 v = mn_cross(axis, u); /* u, v, axis is right-handed */
  for (size_t k = 0; k < n && status == MN_OK; k++) {
    double turn = 2 * MN_PI * (double)k / around;
    mn_vec3 out = mn_madd(mn_scale(cos(turn), u), sin(turn), v);
    for (size_t i = 0; i < disk.nodes; i++) /* y of the disk runs against the axis */
      mesh->node[k * disk.nodes + i] =
          mn_madd(mn_madd(center, major + disk.node[i].x, out), -disk.node[i].y, axis);
  }
  uint32_t *out = status == MN_OK ? mesh->element : NULL;
  for (size_t k = 0; k < n && out; k++)
    for (size_t e = 0; e < disk.elements; e++)
      out = cut_prism(disk.element + 3 * e, k * disk.nodes, (k + 1) % n * disk.nodes, out);
  mn_simplex_mesh_destroy(&disk);
  return status;
}

mn_status mn_mesh_cylinder(mn_context *ctx, mn_vec3 center, double radius, double length, int rings,
                           int along, mn_simplex_mesh *mesh)
{
  mn_simplex_mesh disk;
  size_t n = (size_t)along;
  MN_TRY(mn_mesh_disk(ctx, center, radius, rings, &disk));
  mn_status status =
      mn_simplex_mesh_create(ctx, 3, 4, disk.nodes * (n + 1), 3 * disk.elements * n, mesh);
  for (size_t k = 0; k <= n && status == MN_OK; k++)
    for (size_t i = 0; i < disk.nodes; i++) {
      mesh->node[k * disk.nodes + i] = disk.node[i];
      mesh->node[k * disk.nodes + i].z = center.z + length * (double)k / along;
    }
  uint32_t *out = status == MN_OK ? mesh->element : NULL;
  for (size_t k = 0; k < n && out; k++)
    for (size_t e = 0; e < disk.elements; e++)
      out = cut_prism(disk.element + 3 * e, k * disk.nodes, (k + 1) * disk.nodes, out);
  mn_simplex_mesh_destroy(&disk);
  return status;
}
