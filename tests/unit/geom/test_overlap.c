/* Elements that share space: against volumes cut out by another way, and in whole meshes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "geom/fill.h"
#include "geom/gmsh.h"
#include "geom/structured.h"
#include "math/vec.h"

/* ---- the oracle: clip one element at the sides of the other --------------------------------- */

static double size_of(int dim, const mn_vec3 x[4])
{
  mn_vec3 u = mn_sub(x[1], x[0]), v = mn_sub(x[2], x[0]);
  return dim == 2 ? 0.5 * mn_cross(u, v).z : mn_dot(mn_cross(u, v), mn_sub(x[3], x[0])) / 6;
}

typedef struct plane {
  mn_vec3 n;
  double c; /* inside: n . x > c */
} plane;

static void planes_of(int dim, const mn_vec3 x[4], plane out[4])
{
  for (int f = 0; f <= dim; f++) {
    mn_vec3 a = x[(f + 1) % (dim + 1)], b = x[(f + 2) % (dim + 1)];
    mn_vec3 u = mn_sub(b, a);
    mn_vec3 n = dim == 2 ? mn_v3(-u.y, u.x, 0) : mn_cross(u, mn_sub(x[(f + 3) % (dim + 1)], a));
    double c = mn_dot(n, a), s = mn_dot(n, x[f]) > c ? 1 : -1;
    out[f] = (plane){mn_scale(s, n), s * c};
  }
}

/* Size of the part of x inside the planes k and after. Corners are cut off one at a time along
   the edges, so that the pieces are simplices again. */
static double clipped(int dim, const mn_vec3 x[4], const plane *p, int k)
{
  if (k > dim)
    return fabs(size_of(dim, x));
  for (int i = 0; i <= dim; i++)
    for (int j = 0; j <= dim; j++) {
      double a = mn_dot(p[k].n, x[i]) - p[k].c, b = mn_dot(p[k].n, x[j]) - p[k].c;
      double tiny = 1e-13 * mn_length(p[k].n);
      if (!(a > tiny && b < -tiny))
        continue;
      mn_vec3 first[4], second[4];
      memcpy(first, x, sizeof first);
      memcpy(second, x, sizeof second);
      first[j] = second[i] = mn_madd(x[i], a / (a - b), mn_sub(x[j], x[i]));
      return clipped(dim, first, p, k) + clipped(dim, second, p, k);
    }
  for (int i = 0; i <= dim; i++)
    if (mn_dot(p[k].n, x[i]) - p[k].c < -1e-13 * mn_length(p[k].n))
      return 0;
  return clipped(dim, x, p, k + 1);
}

static void random_simplex(int dim, uint64_t *seed, double spread, mn_vec3 x[4])
{
  mn_vec3 at = {{0, 0, 0}};
  for (int a = 0; a < dim; a++)
    at.v[a] = spread * check_random(seed);
  do
    for (int c = 0; c <= dim; c++)
      for (int a = 0; a < 3; a++)
        x[c].v[a] = a < dim ? at.v[a] + check_random(seed) : 0;
  while (fabs(size_of(dim, x)) < 1e-2);
  if (size_of(dim, x) < 0) {
    mn_vec3 t = x[0];
    x[0] = x[1];
    x[1] = t;
  }
}

static int meet(mn_context *ctx, int dim, const mn_vec3 *nodes, size_t elements)
{
  uint32_t element[8];
  size_t pair[2], corners = (size_t)dim + 1;
  for (uint32_t i = 0; i < elements * corners; i++)
    element[i] = i;
  mn_simplex_mesh m = {.dim = dim,
                       .corners = dim + 1,
                       .order = 1,
                       .nodes = elements * corners,
                       .elements = elements,
                       .node = (mn_vec3 *)nodes,
                       .element = element};
  CHECK_OK(ctx, mn_simplex_mesh_overlap(ctx, &m, pair));
  return pair[0] != pair[1];
}

static void test_pairs(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  uint64_t seed = 7;
  for (int dim = 2; dim <= 3; dim++) {
    int wrong = 0, met = 0, apart = 0;
    for (int i = 0; i < 20000; i++) {
      mn_vec3 x[8] = {{{0, 0, 0}}}, a[4] = {{{0, 0, 0}}}, b[4] = {{{0, 0, 0}}};
      plane p[4];
      random_simplex(dim, &seed, 1.2, a);
      random_simplex(dim, &seed, 1.2, b);
      if (i % 3 == 0)
        b[i % (dim + 1)] = a[0]; /* a common corner */
      if (i % 6 == 0)
        b[(i + 1) % (dim + 1)] = a[1];
      if (size_of(dim, b) < 1e-2)
        continue;
      memcpy(x, a, (size_t)(dim + 1) * sizeof *x);
      memcpy(x + dim + 1, b, (size_t)(dim + 1) * sizeof *x);
      planes_of(dim, b, p);
      double common = clipped(dim, a, p, 0);
      int found = meet(ctx, dim, x, 2);
      met += common > 1e-5;
      apart += common == 0;
      wrong += (common > 1e-5 && !found) || (common == 0 && found);
    }
    CHECK(wrong == 0);
    CHECK(met > 2000 && apart > 3000);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Two boxes whose corners meet, whose edges cross, that lie flush; a hair and more within. */
static void test_touching(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  const mn_vec3 a[4] = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}};
  const mn_vec3 b[4] = {{{0, 0, 0}}, {{0, 1, 0}}, {{1, 0, 0}}, {{0, 0, -1}}}; /* below a */
  mn_vec3 x[8];
  const struct {
    mn_vec3 shift;
    int met;
  } cases[] = {{{{0, 0, 0}}, 0},         {{{0.3, 0.2, 0}}, 0},  {{{0.3, 0.2, 1e-8}}, 0},
               {{{0.3, 0.2, 1e-3}}, 1},  {{{0, 0, 1e-3}}, 1},   {{{1, 0, 0}}, 0},
               {{{-0.4, -0.4, 0.5}}, 1}, {{{0.9, 0.9, 0.5}}, 0}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    for (int c = 0; c < 4; c++) {
      x[c] = a[c];
      x[4 + c] = mn_add(b[c], cases[k].shift);
    }
    if (!CHECK(meet(ctx, 3, x, 2) == cases[k].met))
      printf("case %zu\n", k);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* ---- meshes ---------------------------------------------------------------------------------- */

static void check_clean(mn_context *ctx, mn_status made, mn_simplex_mesh *m, const char *what)
{
  size_t pair[2];
  CHECK_OK(ctx, made);
  CHECK_OK(ctx, mn_simplex_mesh_overlap(ctx, m, pair));
  if (!CHECK(pair[0] == pair[1]))
    printf("%s: %zu and %zu\n", what, pair[0], pair[1]);
  /* the negative control: the same with its last element twice */
  size_t each = (size_t)mn_simplex_nodes(m->corners, m->order);
  uint32_t *more = malloc((m->elements + 1) * each * sizeof *more), *old = m->element;
  memcpy(more, old, m->elements * each * sizeof *more);
  memcpy(more + m->elements * each, old + (m->elements - 1) * each, each * sizeof *more);
  m->element = more;
  m->elements++;
  CHECK_OK(ctx, mn_simplex_mesh_overlap(ctx, m, pair));
  CHECK(pair[0] == m->elements - 2 && pair[1] == m->elements - 1);
  m->element = old;
  free(more);
  mn_simplex_mesh_destroy(m);
}

static void test_meshes(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_simplex_mesh m, q;
  mn_vec3 o = mn_v3(0.1, 0.2, 0.3), flat = mn_v3(0.1, 0.2, 0), z = mn_v3(0, 0, 1);
  const int cells[3] = {7, 5, 4};
  check_clean(ctx, mn_mesh_box(ctx, 2, flat, mn_v3(1.1, 0.7, 0), cells, &m), &m, "rectangle");
  check_clean(ctx, mn_mesh_box(ctx, 3, o, mn_v3(1.1, 0.7, 0.3), cells, &m), &m, "box");
  check_clean(ctx, mn_mesh_disk(ctx, flat, 0.7, 9, &m), &m, "disk");
  check_clean(ctx, mn_mesh_ring(ctx, flat, 0.5, 0.7, 3, 40, &m), &m, "ring");
  check_clean(ctx, mn_mesh_tube(ctx, o, 0.5, 0.7, 1, 2, 20, 9, &m), &m, "tube");
  check_clean(ctx, mn_mesh_cylinder(ctx, o, 0.5, 1, 4, 9, &m), &m, "cylinder");
  check_clean(ctx, mn_mesh_ball(ctx, o, 0.5, 6, &m), &m, "ball");
  check_clean(ctx, mn_mesh_torus(ctx, o, z, 0.5, 0.2, 3, 30, &m), &m, "torus");
  check_clean(ctx, mn_mesh_sphere(ctx, o, 0.5, 6, &m), &m, "sphere");
  check_clean(ctx, mn_mesh_pipe(ctx, o, z, 0.5, 20, 6, &m), &m, "pipe");
  check_clean(ctx, mn_mesh_sheet(ctx, o, mn_v3(1, 0, 0), z, 5, 7, &m), &m, "sheet");
  check_clean(ctx, mn_mesh_circle(ctx, 2, flat, 0.5, 30, &m), &m, "circle");
  check_clean(ctx, mn_mesh_line(ctx, 3, o, z, 9, &m), &m, "line");
  CHECK_OK(ctx, mn_mesh_ball(ctx, o, 0.5, 4, &q));
  check_clean(ctx, mn_simplex_mesh_quadratic(ctx, &q, &m), &m, "quadratic ball");
  mn_simplex_mesh_destroy(&q);
  mn_shape *shape;
  CHECK_OK(ctx, mn_shape_capsule(ctx, 3, mn_v3(0, 0, 0), mn_v3(1, 0.3, 0.2), 0.3, &shape));
  check_clean(ctx, mn_fill(ctx, shape, 0.08, &m), &m, "filled capsule");
  mn_shape_destroy(&shape);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* A fine mesh in a corner of one coarse element, without and with a common part; a copy of all,
   moved by less than an element. */
static void test_sizes(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  const int cells[3] = {8, 8, 8};
  for (int dim = 2; dim <= 3; dim++)
    for (int within = 0; within < 3; within++) {
      mn_simplex_mesh fine, both;
      double far = within == 1 ? 40 - 1e-3 : 40; /* where the long side of the coarse one passes */
      CHECK_OK(ctx, mn_mesh_box(ctx, dim, mn_v3(0, 0, 0), mn_v3(1, 1, dim == 3), cells, &fine));
      size_t c = (size_t)dim + 1, more = within == 2 ? fine.elements : 1;
      size_t n = within == 2 ? fine.nodes : c;
      CHECK_OK(ctx, mn_simplex_mesh_create(ctx, dim, dim + 1, fine.nodes + n, fine.elements + more,
                                           &both));
      memcpy(both.node, fine.node, fine.nodes * sizeof *both.node);
      memcpy(both.element, fine.element, fine.elements * c * sizeof *both.element);
      for (size_t i = 0; i < n; i++)
        both.node[fine.nodes + i] =
            within == 2 ? mn_add(fine.node[i], mn_v3(0.97, 0.03, 0)) : mn_v3(0, 0, 0);
      if (within < 2) { /* beyond x + y (+ z) = dim, or a hair nearer */
        mn_vec3 *x = &both.node[fine.nodes];
        x[0] = mn_v3(far, far, dim == 3 ? far : 0);
        for (int i = 1; i <= dim; i++)
          x[i] = mn_v3(dim * (within ? 0.999 : 1), 0, 0);
        for (int i = 1; i <= dim; i++) {
          mn_vec3 y = mn_v3(-60, -60, dim == 3 ? -60 : 0);
          y.v[i - 1] = dim * (within ? 0.999 : 1) + 60 * (dim - 1);
          x[i] = y;
        }
      }
      for (size_t i = 0; i < more * c; i++)
        both.element[fine.elements * c + i] =
            (uint32_t)(fine.nodes + (within == 2 ? fine.element[i] : i));
      size_t pair[2];
      CHECK_OK(ctx, mn_simplex_mesh_overlap(ctx, &both, pair));
      CHECK((pair[0] != pair[1]) == (within > 0));
      mn_simplex_mesh_destroy(&fine);
      mn_simplex_mesh_destroy(&both);
    }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* ---- files ----------------------------------------------------------------------------------- */

static void test_files(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const char head[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n1 0 0 0\n2 1 0 0\n"
                             "3 0 1 0\n4 0 0 %d\n5 .1 .1 %s\n6 2 .1 %s\n7 .1 2 %s\n8 .1 .1 %s\n"
                             "$EndNodes\n$Elements\n3\n";
  const struct {
    int dim;
    const char *z[4], *elements, *words; /* of nodes 5 to 8; NULL: taken */
  } cases[] = {
      {3,
       {".1", ".1", ".1", "2"},
       "9 15 0 1\n7 4 0 1 2 3 4\n4 4 0 5 6 7 8\n",
       "line 19: element 4, a tetrahedron near (0.1, 0.1, 0.1), overlaps element 7 of line 18"},
      {3, {"2", "2", "2", "9"}, "9 15 0 1\n7 4 0 1 2 3 4\n4 4 0 5 6 7 8\n", NULL},
      {3,
       {"2", "2", "2", "9"},
       "6 4 0 1 2 3 4\n7 4 0 5 6 7 8\n5 4 0 2 3 1 4\n",
       "line 19: element 5, a tetrahedron near (1, 0, 0), overlaps element 6 of line 17"},
      {2,
       {"0", "0", "0", "0"},
       "9 1 0 1 2\n7 2 0 1 2 3\n4 2 0 5 6 7\n",
       "line 19: element 4, a triangle near (0.1, 0.1, 0), overlaps element 7 of line 18"},
      {3,
       {"-.1", "1", "1", "9"},
       "9 1 0 1 2\n7 2 0 1 2 3\n4 2 0 5 6 7\n",
       "line 19: element 4, a triangle near (0.1, 0.1, -0.1), crosses or repeats element 7"},
      {3, {"1", "1", "1", "9"}, "9 1 0 1 2\n7 2 0 1 2 3\n4 2 0 5 6 7\n", NULL},
      {2, {"0", "0", "0", "0"}, "9 1 0 2 3\n7 1 0 1 2\n4 1 0 1 5\n", NULL},
      {2,
       {"0", "0", "0", "0"},
       "9 1 0 2 3\n7 1 0 1 2\n4 1 0 1 6\n",
       "line 19: element 4, a line near (0, 0, 0), crosses or repeats element 9 of line 17"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[1024];
    mn_simplex_mesh m;
    int n = snprintf(text, sizeof text, head, cases[i].dim - 2, cases[i].z[0], cases[i].z[1],
                     cases[i].z[2], cases[i].z[3]);
    n += snprintf(text + n, sizeof text - (size_t)n, "%s$EndElements\n", cases[i].elements);
    mn_status status = mn_gmsh_parse(ctx, "two.msh", text, (size_t)n, cases[i].dim, &m);
    if (cases[i].words)
      CHECK_FAILS(ctx, status, MN_BAD_INPUT, cases[i].words);
    else
      CHECK_OK(ctx, status);
    mn_simplex_mesh_destroy(&m);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs), cmocka_unit_test(test_touching),
                                     cmocka_unit_test(test_meshes), cmocka_unit_test(test_sizes),
                                     cmocka_unit_test(test_files)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
