#include "unit/geom/surface.h"

#include <math.h>

#include "base/context.h"
#include "base/file.h"
#include "geom/mesh.h"

static char folder[] = "/tmp/meniscus-mesh-XXXXXX";
static char path[256];

static const char *at(const char *name)
{
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static double random_in(uint64_t *seed, double lo, double hi)
{
  return lo + (hi - lo) * check_random(seed);
}

static mn_vec3 random_point(uint64_t *seed, double half)
{
  double x = random_in(seed, -half, half), y = random_in(seed, -half, half);
  return mn_v3(x, y, random_in(seed, -half, half));
}

static mn_mesh *read_surface(mn_context *ctx, const surface *s, mesh_format format)
{
  char name[32];
  snprintf(name, sizeof name, "mesh%d%s", (int)format, format_ending[format]);
  surface_write(s, format, at(name));
  mn_mesh *mesh;
  CHECK_OK(ctx, mn_mesh_read(ctx, path, &mesh));
  return mesh;
}

/* ---- an independent distance ----------------------------------------------------------------- */

static double segment_distance(mn_vec3 x, mn_vec3 a, mn_vec3 b)
{
  mn_vec3 ab = mn_sub(b, a);
  double t = mn_clamp(mn_dot(mn_sub(x, a), ab) / mn_dot(ab, ab), 0, 1);
  return mn_length(mn_sub(x, mn_madd(a, t, ab)));
}

/* The plane's distance if the foot is inside all three edges, else the nearest edge's. */
static double triangle_distance(mn_vec3 x, mn_vec3 a, mn_vec3 b, mn_vec3 c)
{
  mn_vec3 n = mn_cross(mn_sub(b, a), mn_sub(c, a)), p[4] = {a, b, c, a};
  int inside = 1;
  double best = INFINITY;
  for (int i = 0; i < 3; i++) {
    mn_vec3 inward = mn_cross(n, mn_sub(p[i + 1], p[i]));
    inside = inside && mn_dot(inward, mn_sub(x, p[i])) >= 0;
    best = fmin(best, segment_distance(x, p[i], p[i + 1]));
  }
  return inside ? fabs(mn_dot(n, mn_sub(x, a))) / mn_length(n) : best;
}

static double brute_distance(const surface *s, mn_vec3 x)
{
  double best = INFINITY;
  for (int t = 0; t < s->triangles; t++) {
    const int *v = s->triangle[t];
    best = fmin(best, triangle_distance(x, s->vertex[v[0]], s->vertex[v[1]], s->vertex[v[2]]));
  }
  return best;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void test_every_format_reads_the_same_mesh(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  surface s = surface_torus(0.7, 0.25, 9);
  for (int f = 0; f < FORMATS; f++) {
    mn_mesh *mesh = read_surface(ctx, &s, (mesh_format)f);
    uint64_t seed = 1;
    double worst = 0;
    for (int trial = 0; trial < 300; trial++) {
      mn_vec3 x = random_point(&seed, 1.2);
      worst = check_worst(worst, fabs(fabs(mn_mesh_distance(mesh, x)) - brute_distance(&s, x)));
    }
    printf("format %d, %zu vertices, %zu triangles\n", f, mesh->vertices, mesh->triangles);
    CHECK(mesh->vertices == (size_t)s.vertices && mesh->triangles == (size_t)s.triangles);
    CHECK_LE(worst, format_precision[f] + 1e-14);
    mn_mesh_destroy(&mesh);
  }
  surface_free(&s);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static const char cube_obj[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\n"
                               "v 0 1 1\nf 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\n"
                               "f 4 1 5 8\n";

static void test_polygons_become_fans(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_shape *mesh, *box;
  write_bytes(at("cube.obj"), cube_obj, strlen(cube_obj));
  CHECK_OK(ctx, mn_shape_mesh(ctx, path, &mesh));
  CHECK_OK(ctx, mn_shape_box(ctx, 3, mn_v3(0, 0, 0), mn_v3(1, 1, 1), &box));
  uint64_t seed = 2;
  double worst = 0;
  for (int trial = 0; trial < 2000; trial++) {
    mn_vec3 x = random_point(&seed, 1.5);
    worst = check_worst(worst, fabs(mn_shape_distance(mesh, x) - mn_shape_distance(box, x)));
  }
  CHECK_LE(worst, 1e-15);
  mn_vec3 lo, hi;
  mn_shape_bounds(mesh, &lo, &hi);
  CHECK(lo.x == 0 && lo.y == 0 && lo.z == 0 && hi.x == 1 && hi.y == 1 && hi.z == 1);
  /* a mesh takes part in compositions, but not in two dimensions */
  CHECK(mn_shape_dim(mesh) == 3);
  mn_shape *moved, *mixed[2];
  CHECK_OK(ctx, mn_shape_transform(ctx, mesh, mn_v3(0, 0, 1), mn_v3(1, 0, 0), MN_PI, 2, &moved));
  mn_shape_bounds(moved, &lo, &hi);
  CHECK_NEAR(lo.z, -1, 1e-14);
  CHECK_NEAR(hi.z, 1, 1e-14);
  CHECK_NEAR(lo.y, -2, 1e-14);
  mixed[0] = moved;
  CHECK_OK(ctx, mn_shape_sphere(ctx, 2, mn_v3(0, 0, 0), 1, &mixed[1]));
  CHECK_FAILS(ctx, mn_shape_union(ctx, mixed, 2, &moved), MN_BAD_INPUT, "3 and 2 dimensions");
  mn_shape_destroy(&box);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* ---- distance and sign ----------------------------------------------------------------------- */

static void test_sphere_converges_at_second_order(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_vec3 center = mn_v3(0.1, -0.05, 0.02);
  double h[4], error[4];
  for (int g = 0; g < 4; g++) {
    int n = 8 << g, wrong = 0;
    surface s = surface_sphere(center, 0.6, n);
    mn_mesh *mesh = read_surface(ctx, &s, FORMAT_PLY_LITTLE);
    uint64_t seed = 3;
    h[g] = 1.0 / n;
    error[g] = 0;
    for (int trial = 0; trial < 2000; trial++) {
      mn_vec3 x = random_point(&seed, 0.9);
      double d = mn_mesh_distance(mesh, x), exact = mn_length(mn_sub(x, center)) - 0.6;
      error[g] = check_worst(error[g], fabs(d - exact));
      wrong += fabs(exact) > 2 * h[g] * h[g] && (d < 0) != (exact < 0);
    }
    CHECK_LE((double)wrong, 0);
    mn_mesh_destroy(&mesh);
    surface_free(&s);
  }
  CHECK_ORDER(h, error, 4, 2, 0.1);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_sign_and_winding_near_and_far(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  surface s = surface_torus(0.6, 0.2, 40);
  mn_mesh *mesh = read_surface(ctx, &s, FORMAT_OBJ);
  mn_shape *torus;
  CHECK_OK(ctx, mn_shape_torus(ctx, 3, mn_v3(0, 0, 0), mn_v3(0, 0, 1), 0.6, 0.2, &torus));
  uint64_t seed = 4;
  int wrong = 0, unlike = 0, inside = 0;
  double integer = 0, exact_integer = 0;
  for (int trial = 0; trial < 4000; trial++) {
    mn_vec3 x = random_point(&seed, 0.9);
    if (trial % 2) { /* close to the surface, on either side */
      int t = (int)(check_random(&seed) * s.triangles);
      double u = check_random(&seed), v = (1 - u) * check_random(&seed);
      const int *c = s.triangle[t];
      x = mn_add(mn_scale(u, s.vertex[c[0]]),
                 mn_madd(mn_scale(v, s.vertex[c[1]]), 1 - u - v, s.vertex[c[2]]));
      x = mn_add(x, random_point(&seed, 1e-6));
    }
    double exact = mn_mesh_winding_exact(mesh, x), w = mn_mesh_winding(mesh, x);
    exact_integer = check_worst(exact_integer, fabs(exact - round(exact)));
    integer = check_worst(integer, fabs(w - round(w)));
    unlike += round(exact) != round(w);
    inside += w > 0.5;
    double d = mn_shape_distance(torus, x);
    wrong += fabs(d) > 0.005 && (d < 0) != (mn_mesh_distance(mesh, x) < 0);
  }
  CHECK_LE((double)wrong, 0);
  CHECK_LE((double)unlike, 0);
  CHECK_GE((double)inside, 100);
  CHECK_LE(exact_integer, 1e-9);
  CHECK_LE(integer, 0.25);
  mn_shape_destroy(&torus);
  mn_mesh_destroy(&mesh);
  surface_free(&s);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Joins b to a, turned if `inward`. */
static surface joined(const surface *a, const surface *b, int inward)
{
  surface s = surface_make(a->vertices + b->vertices, a->triangles + b->triangles);
  for (int i = 0; i < a->vertices; i++)
    s.vertex[s.vertices++] = a->vertex[i];
  for (int i = 0; i < b->vertices; i++)
    s.vertex[s.vertices++] = b->vertex[i];
  for (int t = 0; t < a->triangles; t++)
    surface_triangle(&s, a->triangle[t][0], a->triangle[t][1], a->triangle[t][2]);
  for (int t = 0; t < b->triangles; t++) {
    const int *v = b->triangle[t], n = a->vertices;
    surface_triangle(&s, n + v[0], n + v[inward ? 2 : 1], n + v[inward ? 1 : 2]);
  }
  return s;
}

static void test_cavities_overlaps_and_inside_out(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  surface big = surface_sphere(mn_v3(0, 0, 0), 1, 16), none = surface_make(1, 1);
  surface small = surface_sphere(mn_v3(0, 0, 0), 0.5, 16);
  surface other = surface_sphere(mn_v3(1, 0.01, 0), 0.5, 16);
  surface hollow = joined(&big, &small, 1), overlap = joined(&big, &other, 0);
  surface turned = joined(&none, &big, 1);
  mn_mesh *m = read_surface(ctx, &hollow, FORMAT_PLY_ASCII);
  CHECK_GE(mn_mesh_distance(m, mn_v3(0.01, 0.02, 0)), 0.4);
  CHECK_LE(mn_mesh_distance(m, mn_v3(0.75, 0.01, 0)), -0.2);
  CHECK_GE(mn_mesh_distance(m, mn_v3(1.2, 0, 0)), 0.1);
  mn_mesh_destroy(&m);
  m = read_surface(ctx, &overlap, FORMAT_OBJ);
  CHECK_LE(mn_mesh_distance(m, mn_v3(0.8, 0.01, 0.01)), -0.1); /* in both: winding 2 */
  CHECK_LE(mn_mesh_distance(m, mn_v3(1.3, 0.01, 0.01)), -0.1);
  CHECK_GE(mn_mesh_distance(m, mn_v3(1.7, 0.01, 0.01)), 0.1);
  mn_mesh_destroy(&m);
  m = read_surface(ctx, &turned, FORMAT_STL_BINARY);
  CHECK_LE(mn_mesh_distance(m, mn_v3(0.1, 0.01, 0.01)), -0.8);
  mn_mesh_destroy(&m);
  surface *all[] = {&big, &none, &small, &other, &hollow, &overlap, &turned};
  for (int i = 0; i < 7; i++)
    surface_free(all[i]);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static int depth_of(const mn_mesh *m, uint32_t i)
{
  const mn_mesh_node *n = &m->node[i];
  if (!n->right)
    return 1;
  int a = depth_of(m, i + 1), b = depth_of(m, n->right);
  return 1 + (a > b ? a : b);
}

/* Triangles in no order of place: the tree must find one. How many nodes any search has to open for
   points near the surface, whose box is nearer than the nearest triangle, grows with log n only. */
static void test_search_opens_few_nodes(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int n = 10; n <= 80; n *= 2) {
    surface s = surface_sphere(mn_v3(0, 0, 0), 1, n);
    uint64_t seed = 8;
    for (int t = s.triangles - 1; t > 0; t--) {
      int other = (int)(check_random(&seed) * (t + 1)), swap[3];
      memcpy(swap, s.triangle[t], sizeof swap);
      memcpy(s.triangle[t], s.triangle[other], sizeof swap);
      memcpy(s.triangle[other], swap, sizeof swap);
    }
    mn_mesh *m = read_surface(ctx, &s, FORMAT_PLY_LITTLE);
    double opened = 0;
    for (int trial = 0; trial < 50; trial++) {
      mn_vec3 x = random_point(&seed, 1);
      x = mn_scale((1 + 1.0 / n) / mn_length(x), x);
      double d = mn_mesh_unsigned_distance(m, x);
      for (size_t i = 0; i < m->nodes; i++) {
        mn_vec3 q;
        for (int a = 0; a < 3; a++)
          q.v[a] = mn_clamp(x.v[a], m->node[i].lo.v[a], m->node[i].hi.v[a]);
        opened += mn_length(mn_sub(q, x)) < d;
      }
    }
    CHECK_LE(opened / 50, 3 * log2((double)m->triangles));
    mn_mesh_destroy(&m);
    surface_free(&s);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Dipoles that are wrong by half must be noticed, as the sum is then far from an integer, and the
   triangles asked instead. */
static void test_winding_notices_bad_dipoles(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  surface s = surface_torus(0.6, 0.2, 20);
  mn_mesh *m = read_surface(ctx, &s, FORMAT_OBJ);
  for (size_t i = 0; i < m->nodes; i++)
    m->node[i].strength *= 0.5;
  int wrong = 0, inside = 0;
  double worst = 0;
  uint64_t seed = 9;
  for (int trial = 0; trial < 1000; trial++) {
    double phi = 2 * MN_PI * check_random(&seed), rho = 0.4 + 0.4 * check_random(&seed);
    mn_vec3 x = mn_v3(rho * cos(phi), rho * sin(phi), 0.15 * check_random(&seed));
    double w = mn_mesh_winding_exact(m, x);
    worst = check_worst(worst, fabs(mn_mesh_winding(m, x) - w));
    wrong += (w > 0.5) != mn_mesh_inside(m, x);
    inside += w > 0.5;
  }
  CHECK_LE((double)wrong, 0);
  CHECK_LE(worst, 0.25 + 1e-9);
  CHECK_GE((double)inside, 500);
  mn_mesh_destroy(&m);
  surface_free(&s);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* The walk's cost is bounded by the depth; the boxes must hold their triangles. */
static void test_tree_is_balanced_and_holds_its_triangles(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  surface s = surface_sphere(mn_v3(0, 0, 0), 1, 40);
  mn_mesh *m = read_surface(ctx, &s, FORMAT_STL_ASCII);
  CHECK_LE(depth_of(m, 0), ceil(log2((double)m->triangles)));
  CHECK_LE((double)m->nodes, (double)m->triangles);
  int outside = 0;
  size_t leaves = 0;
  for (size_t i = 0; i < m->nodes; i++) {
    const mn_mesh_node *n = &m->node[i];
    leaves += n->right ? 0 : n->count;
    for (uint32_t t = n->first; t < n->first + n->count; t++)
      for (int c = 0; c < 3; c++) {
        mn_vec3 x = m->vertex[m->triangle[t][c]];
        for (int a = 0; a < 3; a++)
          outside += x.v[a] < n->lo.v[a] || x.v[a] > n->hi.v[a];
        mn_vec3 r = mn_sub(x, n->centre);
        double height = mn_dot(r, n->axis);
        outside += mn_length(r) > n->radius || height < n->below || height > n->above;
      }
  }
  CHECK_LE((double)outside, 0);
  CHECK(leaves == m->triangles);
  mn_mesh_destroy(&m);
  surface_free(&s);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_threads_read_the_same_distances(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  surface s = surface_torus(0.6, 0.2, 20);
  mn_mesh *m = read_surface(ctx, &s, FORMAT_OBJ);
  enum { N = 2000 };
  static double one[N], many[N];
  static mn_vec3 x[N];
  uint64_t seed = 5;
  for (int i = 0; i < N; i++)
    x[i] = random_point(&seed, 1);
  for (int i = 0; i < N; i++)
    one[i] = mn_mesh_distance(m, x[i]);
#pragma omp parallel for schedule(static) num_threads(4)
  for (int i = 0; i < N; i++)
    many[i] = mn_mesh_distance(m, x[i]);
  CHECK(!memcmp(one, many, sizeof one));
  mn_mesh_destroy(&m);
  surface_free(&s);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* A vertex for every normal, as many programs write: closed by places alone. */
static void test_joined(void **state)
{
  (void)state;
  static const char *const text[2] = {
      "v 0 0 0\nv 0 1 0\nv 1 0 0\nv 0 0 0\nv 1 0 0\nv 0 0 1\nv 0 0 0\nv 0 0 1\nv 0 1 0\n"
      "v 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 4 5 6\nf 7 8 9\nf 10 11 12\n",
      "v 0 0 0\nv 0 1 0\nv 1 0 0\nv 0 0 0\nv 1 0 0\nv 0 0 1\nv 0 0 0\nv 0 0 1\nv 0 1 0\n"
      "v 1 0 0\nv 0 1 1e-9\nv 0 0 1\nf 1 2 3\nf 4 5 6\nf 7 8 9\nf 10 11 12\n"};
  mn_context *ctx = check_context(1);
  mn_mesh *mesh;
  CHECK_OK(ctx, mn_mesh_parse(ctx, "joined.obj", text[0], strlen(text[0]), &mesh));
  CHECK_NEAR(mn_mesh_distance(mesh, mn_v3(0.1, 0.1, 0.2)), -0.1, 1e-12);
  mn_mesh_destroy(&mesh);
  CHECK_FAILS(ctx, mn_mesh_parse(ctx, "nearly.obj", text[1], strlen(text[1]), &mesh), MN_BAD_INPUT,
              "vertices 2 and 3"); /* the control: the file's own numbers */
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* ---- refusals -------------------------------------------------------------------------------- */

typedef struct bad_file {
  const char *name, *text, *words;
} bad_file;

#define TETRA_V "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
#define PLY_HEAD(vertices, faces)                                                                  \
  "ply\nformat ascii 1.0\nelement vertex " #vertices "\nproperty float x\nproperty float y\n"      \
  "property float z\nelement face " #faces "\nproperty list uchar int vertex_indices\n"            \
  "end_header\n"
#define PLY_V "0 0 0\n1 0 0\n0 1 0\n0 0 1\n"

static const bad_file bad_files[] = {
    {"empty.obj", "", "empty.obj: no triangles"},
    {"a.obj", TETRA_V, "no triangles"},
    {"b.obj", TETRA_V "f 1 3 2\nf 1 2 5\n", "line 6: vertex index 5, allowed are 1 to 4"},
    {"c.obj", TETRA_V "f 1 3 0\n", "line 5: vertex index 0, allowed are 1 to 4 or -1 to -4"},
    {"d.obj", TETRA_V "f 1 3 -5\n", "line 5: vertex index -5"},
    {"e.obj", TETRA_V "f 1 3\n", "line 5: a face with 2 vertices"},
    {"f.obj", TETRA_V "f 1 x 3\n", "line 5: a face must have vertex numbers"},
    {"g.obj", "v 0 0\n", "line 1: a vertex must have three numbers"},
    {"h.obj", "v 0 0 nan\n", "line 1: vertex coordinate z is nan"},
    {"i.obj", "v 0 1e300 0\n", "line 1: vertex coordinate y is 1e+300"},
    {"j.obj", TETRA_V "f 1 3 2\nf 1 2 4\nf 1 4 3\n", "belongs to 1 triangle; a closed surface"},
    {"k.obj", TETRA_V "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 4 3\n", "neighbours must be oriented alike"},
    {"l.obj", TETRA_V "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\nf 2 3 4\n", "belongs to 3 triangles"},
    {"m.obj", TETRA_V "f 1 3 3\n", "line 5: a triangle has vertex 3 twice"},
    {"n.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "line 4: a degenerate triangle of area 0"},
    {"o.obj", TETRA_V "f 1 3 99999999999999999999\n", "line 5: a face must have vertex numbers"},
    {"a.ply", "", "begins with 'ply'"},
    {"b.ply", "ply\nformat ascii 1.0\n", "no end_header"},
    {"c.ply", "ply\nformat text 1.0\nend_header\n", "line 2: found 'text', allowed: ascii"},
    {"d.ply", "ply\nformat ascii 1.0\nelement vertex -1\n", "line 3: found 'vertex'"},
    {"e.ply", "ply\nformat ascii 1.0\nproperty float x\n", "line 3: found 'property'"},
    {"f.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty real x\n", "found 'real'"},
    {"g.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n",
     "must have x, y and z"},
    {"h.ply", "ply\nformat ascii 1.0\nelement face 1\nproperty int x\nend_header\n1\n",
     "must have a list vertex_indices"},
    {"i.ply", PLY_HEAD(4, 1) PLY_V "3 0 1 4\n", "face 1: vertex index 4, allowed are 0 to 3"},
    {"j.ply", PLY_HEAD(4, 1) PLY_V "3 0 1 -1\n", "face 1: vertex index -1, allowed are 0 to 3"},
    {"k.ply", PLY_HEAD(4, 1) PLY_V "2 0 1\n", "face 1: 2 vertices, it must have at least 3"},
    {"l.ply", PLY_HEAD(4, 2) PLY_V "3 0 1 2\n", "face 2 of 2: the file ends here"},
    {"m.ply", PLY_HEAD(5, 2) PLY_V, "vertex 5 of 5: the file ends here"},
    {"n.ply", PLY_HEAD(4, 1) PLY_V "3 0 1 1.5\n", "face 1: 1.5 is no vertex index"},
    {"o.ply", PLY_HEAD(1, 1) "0 inf 0\n", "vertex 1: vertex coordinate y is inf"},
    {"p.ply", PLY_HEAD(4, 0) PLY_V, "no triangles"},
    {"q.ply", "ply\nelement vertex 9999999999999\nend_header\n", "no format"},
    {"r.ply", "ply\nformat ascii 1.0\nelement thing 9999999999999\nend_header\n", "no triangles"},
    {"a.stl", "", "found 0 bytes, but an STL file begins with 'solid'"},
    {"b.stl", "solid x\n", "line 2: found '', expected 'facet' or 'endsolid'"},
    {"c.stl", "solid x\nendsolid\n", "no triangles"},
    {"d.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0\n",
     "line 4: expected three numbers"},
    {"e.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nendloop\n",
     "line 5: found 'endloop', expected 'vertex'"},
    {"f.stl",
     "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 0 0\n"
     "endloop\nendfacet\nendsolid\n",
     "facet 1: a triangle has the vertex (1, 0, 0) twice"},
    {"g.stl",
     "................................................................................"
     "\3\0\0\0",
     "a binary STL file of 3 facets must have 234 bytes, found 84: it is cut off"},
    {"h.stl",
     "solid of a binary file........................................................."
     "\0\3\0\0\0",
     "a binary STL file of 3 facets must have 234 bytes, found 84: it is cut off"},
    {"mesh.txt", "", "the ending is '.txt', allowed for a mesh are .obj, .ply and .stl"},
    {"mesh", "", "the ending is ''"},
};

static void test_bad_files_are_refused(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_shape *s;
  for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
    const bad_file *b = &bad_files[i];
    write_bytes(at(b->name), b->text, strstr(b->words, "a binary STL") ? 84 : strlen(b->text));
    CHECK_FAILS(ctx, mn_shape_mesh(ctx, path, &s), MN_BAD_INPUT, b->words);
    CHECK(s == NULL && strstr(mn_context_message(ctx), b->name));
  }
  CHECK_FAILS(ctx, mn_shape_mesh(ctx, at("absent.obj"), &s), MN_BAD_INPUT, "absent.obj");
  CHECK_FAILS(ctx, mn_shape_mesh(ctx, "/tmp/.obj/x", &s), MN_BAD_INPUT, "ending is ''");
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* ---- robustness ------------------------------------------------------------------------------ */

/* Any status is fine, a crash or a leak is not; what is accepted must answer. The bytes are copied
   to a block of their size, so that asan sees a read beyond them. */
static int survive(mn_context *ctx, int format, const char *data, size_t bytes)
{
  mn_mesh *m;
  char *copy = malloc(bytes + 1);
  assert_non_null(copy);
  memcpy(copy, data, bytes);
  copy[bytes] = 0;
  mn_status status = mn_mesh_parse(ctx, format_ending[format], copy, bytes, &m);
  free(copy);
  if (status != MN_OK) {
    CHECK(mn_context_message(ctx)[0] != 0);
    return 0;
  }
  CHECK(!isnan(mn_mesh_distance(m, mn_v3(0.1, 0.2, 0.3))));
  mn_mesh_destroy(&m);
  return 1;
}

/* Some bytes of a good file changed, every other time only in its beginning. */
static int survive_changes(mn_context *ctx, int format, const char *data, size_t bytes,
                           uint64_t *seed, int trial)
{
  char *changed = malloc(bytes);
  assert_non_null(changed);
  memcpy(changed, data, bytes);
  size_t range = trial % 2 && bytes > 400 ? 400 : bytes;
  for (int c = 0; c <= trial % 8; c++)
    changed[(size_t)(check_random(seed) * (double)range)] = (char)(check_random(seed) * 256);
  int accepted = survive(ctx, format, changed, bytes);
  free(changed);
  return accepted;
}

static void test_damaged_files_never_crash(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  surface s = surface_sphere(mn_v3(0, 0, 0), 1, 3);
  uint64_t seed = 6;
  int accepted = 0;
  for (int f = 0; f < FORMATS; f++) {
    char whole[32], *data;
    size_t bytes;
    snprintf(whole, sizeof whole, "whole%d%s", f, format_ending[f]);
    surface_write(&s, (mesh_format)f, at(whole));
    CHECK_OK(ctx, mn_read_file(ctx, path, (size_t)1 << 20, &data, &bytes));
    CHECK(survive(ctx, f, data, bytes));
    for (size_t cut = 0; cut < bytes; cut++)
      accepted += survive(ctx, f, data, cut);
    for (int trial = 0; trial < 2000; trial++)
      accepted += survive_changes(ctx, f, data, bytes, &seed, trial);
    for (int trial = 0; trial < 200; trial++) { /* noise behind a good beginning */
      size_t start = (size_t)(check_random(&seed) * 300);
      char noise[2000];
      for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = i < start && i < bytes ? data[i] : (char)(check_random(&seed) * 256);
      accepted += survive(ctx, f, noise, sizeof noise);
    }
    free(data);
  }
  printf("%d damaged files were still meshes\n", accepted);
  surface_free(&s);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Fails every allocation once; leaks show under the asan preset. */
static void test_allocation_failures_leave_nothing_behind(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  surface s = surface_sphere(mn_v3(0, 0, 0), 1, 12);
  for (int f = 0; f < FORMATS; f++) {
    char name[32];
    snprintf(name, sizeof name, "sweep%d%s", f, format_ending[f]);
    surface_write(&s, (mesh_format)f, at(name));
    mn_status status = MN_ENVIRONMENT;
    int fail = 1;
    for (; status != MN_OK && fail < 200; fail++) {
      ctx->allocations = 0;
      ctx->fail_allocation = fail;
      mn_shape *shape;
      status = mn_shape_mesh(ctx, path, &shape);
      CHECK(status == MN_OK || status == MN_ENVIRONMENT);
      CHECK((status == MN_OK) == (shape != NULL));
      mn_shape_destroy(&shape);
    }
    ctx->fail_allocation = 0;
    printf("format %d: %d allocations failed in turn\n", f, fail - 2);
    CHECK(status == MN_OK && fail > 10);
  }
  surface_free(&s);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* A coarse mesh is not the sphere: the test of the order must see a stuck error. */
static void test_negative_control_no_refinement(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  surface s = surface_sphere(mn_v3(0, 0, 0), 1, 8);
  mn_mesh *m = read_surface(ctx, &s, FORMAT_OBJ);
  double h[3] = {1, 0.5, 0.25}, error[3];
  for (int g = 0; g < 3; g++)
    error[g] = fabs(mn_mesh_distance(m, mn_v3(0.3, 0.2, 0.1)) - (sqrt(0.14) - 1));
  CHECK_ORDER(h, error, 3, 2, 0.1);
  mn_mesh_destroy(&m);
  surface_free(&s);
  mn_context_destroy(&ctx);
  CHECK_MUST_HAVE_FAILED();
}

static int make_folder(void **state)
{
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_status status = mn_remove_tree(ctx, folder);
  mn_context_destroy(&ctx);
  return status == MN_OK ? 0 : -1;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_joined),
      cmocka_unit_test(test_every_format_reads_the_same_mesh),
      cmocka_unit_test(test_polygons_become_fans),
      cmocka_unit_test(test_sphere_converges_at_second_order),
      cmocka_unit_test(test_sign_and_winding_near_and_far),
      cmocka_unit_test(test_cavities_overlaps_and_inside_out),
      cmocka_unit_test(test_tree_is_balanced_and_holds_its_triangles),
      cmocka_unit_test(test_search_opens_few_nodes),
      cmocka_unit_test(test_winding_notices_bad_dipoles),
      cmocka_unit_test(test_threads_read_the_same_distances),
      cmocka_unit_test(test_bad_files_are_refused),
      cmocka_unit_test(test_damaged_files_never_crash),
      cmocka_unit_test(test_allocation_failures_leave_nothing_behind),
      cmocka_unit_test(test_negative_control_no_refinement),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
