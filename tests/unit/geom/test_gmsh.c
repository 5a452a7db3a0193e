/* Gmsh files of both versions, linear and quadratic, and what is refused. */
#include "geom/gmsh.h"

#include <stdio.h>

#include "check.h"
#include "math/vec.h"

static const char HEAD2[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
static const char HEAD4[] = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n";

static mn_status parse(mn_context *ctx, const char *head, const char *body, int dim,
                       mn_simplex_mesh *mesh)
{
  static char text[4096];
  int n = snprintf(text, sizeof text, "%s%s", head, body);
  return mn_gmsh_parse(ctx, "test.msh", text, (size_t)n, dim, mesh);
}

static double volume(const mn_simplex_mesh *m, const uint32_t *p)
{
  mn_vec3 u = mn_sub(m->node[p[1]], m->node[p[0]]), v = mn_sub(m->node[p[2]], m->node[p[0]]);
  return m->corners == 3 ? 0.5 * mn_cross(u, v).z
                         : mn_dot(mn_cross(u, v), mn_sub(m->node[p[3]], m->node[p[0]])) / 6;
}

/* A square of two triangles with its sides as lines, a point, and a node that nothing uses. */
static void test_two_dimensions(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const char *const text[] = {
      "$PhysicalNames\n1\n2 1 \"bar\"\n$EndPhysicalNames\n"
      "$Nodes\n5\n1 0 0 0\n7 1 0 0\n3 1 1 0\n4 0 1 0\n9 5 5 0\n$EndNodes\n"
      "$Elements\n4\n1 15 2 0 1 1\n2 1 2 0 1 1 7\n3 2 2 0 1 1 7 3\n4 2 2 0 1 1 3 4\n$EndElements\n",
      "$Entities\n0 0 0 0\n$EndEntities\n"
      "$Nodes\n2 5 1 9\n0 1 0 1\n1\n0 0 0\n2 1 0 4\n7\n3\n4\n9\n1 0 0\n1 1 0\n0 1 0\n5 5 0\n"
      "$EndNodes\n"
      "$Elements\n2 3 2 4\n1 1 1 1\n2 1 7\n2 1 2 2\n3 1 7 3\n4 1 3 4\n$EndElements\n"};
  for (int version = 0; version < 2; version++) {
    mn_simplex_mesh m;
    CHECK_OK(ctx, parse(ctx, version ? HEAD4 : HEAD2, text[version], 2, &m));
    CHECK(m.corners == 3 && m.order == 1 && m.nodes == 4 && m.elements == 2);
    CHECK_NEAR(volume(&m, m.element) + volume(&m, m.element + 3), 1, 1e-15);
    mn_simplex_mesh_destroy(&m);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Every middle node must lie between the corners that simplex_mesh.h says. */
static void test_quadratic_tetrahedron(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_simplex_mesh m;
  CHECK_OK(ctx, parse(ctx, HEAD2,
                      "$Nodes\n10\n1 0 0 0\n2 2 0 0\n3 0 2 0\n4 0 0 2\n5 1 0 0\n6 1 1 0\n7 0 1 0\n"
                      "8 0 0 1\n9 0 1 1\n10 1 0 1\n$EndNodes\n"
                      "$Elements\n1\n1 11 0 1 2 3 4 5 6 7 8 9 10\n$EndElements\n",
                      3, &m));
  static const int edge[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
  CHECK(m.corners == 4 && m.order == 2 && m.nodes == 10);
  for (int e = 0; e < 6; e++) {
    mn_vec3 a = m.node[m.element[edge[e][0]]], b = m.node[m.element[edge[e][1]]];
    mn_vec3 middle = mn_scale(0.5, mn_add(a, b));
    CHECK_LE(mn_length(mn_sub(middle, m.node[m.element[4 + e]])), 1e-15);
  }
  CHECK_NEAR(volume(&m, m.element), 8.0 / 6, 1e-15);
  mn_simplex_mesh_destroy(&m);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_refused(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_simplex_mesh m;
  static const char nodes[] = "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n";
  char body[512];
  const struct {
    const char *head, *elements, *words;
    int dim;
  } cases[] = {
      {"", "", "no $MeshFormat", 3},
      {"$MeshFormat\n4.0 0 8\n$EndMeshFormat\n", "", "version 4", 3},
      {"$MeshFormat\n2.2 1 8\n$EndMeshFormat\n", "", "binary", 3},
      {HEAD2, "", "no elements", 3},
      {HEAD2, "$Elements\n1\n1 4 0 1 2 3 5\n$EndElements\n", "element 1 names node 5", 3},
      {HEAD2, "$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n", "two dimensions", 2},
      {HEAD2, "$Elements\n1\n1 5 0 1 2 3 4 1 2 3 4\n$EndElements\n", "type 5", 3},
      {HEAD2, "$Elements\n1\n1 99 0 1\n$EndElements\n", "type 99", 3},
      {HEAD2, "$Elements\n1\n1 4 0 1 2 x\n$EndElements\n", "whole number", 3},
      {HEAD2, "$Elements\n900\n1 4 0 1 2 3 4\n", "whole number", 3},
      {HEAD2, "$Elements\n2\n1 4 0 1 2 3 4\n7 4 0 1 3 2 4\n$EndElements\n",
       "line 14: element 7, a tetrahedron, is inverted: its volume is -0.16", 3},
      {HEAD2, "$Elements\n2\n1 4 0 1 2 3 4\n7 4 0 1 2 3 3\n$EndElements\n",
       "element 7, a tetrahedron, is flat", 3},
      {HEAD2, "$Elements\n1\n5 2 0 1 2 2\n$EndElements\n", "element 5, a triangle, is flat", 3},
      {HEAD2, "$Elements\n1\n5 1 0 1 1\n$EndElements\n", "element 5, a line, is flat", 3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    snprintf(body, sizeof body, "%s%s", nodes, cases[i].elements);
    CHECK_FAILS(ctx, parse(ctx, cases[i].head, body, cases[i].dim, &m), MN_BAD_INPUT,
                cases[i].words);
    CHECK(!m.node && !m.element);
  }
  CHECK_FAILS(ctx,
              parse(ctx, HEAD2,
                    "$Nodes\n3\n1 0 0 0\n1 1 0 0\n3 0 1 0\n$EndNodes\n"
                    "$Elements\n1\n1 2 0 1 1 3\n$EndElements\n",
                    3, &m),
              MN_BAD_INPUT, "node 1 is there twice");
  CHECK_FAILS(ctx,
              parse(ctx, HEAD2,
                    "$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n$EndNodes\n"
                    "$Elements\n1\n4 2 0 1 3 2\n$EndElements\n",
                    2, &m),
              MN_BAD_INPUT, "element 4, a triangle, is inverted");
  CHECK_FAILS(ctx, mn_gmsh_read(ctx, "/nonexistent.msh", 3, &m), MN_BAD_INPUT, "nonexistent");
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_dimensions),
                                     cmocka_unit_test(test_quadratic_tetrahedron),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
