/* Meshes for tests: made, and written to files in every format the library reads. */
#ifndef MN_TESTS_GEOM_SURFACE_H
#define MN_TESTS_GEOM_SURFACE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "math/vec.h"

typedef struct surface {
  mn_vec3 *vertex;
  int (*triangle)[3];
  int vertices, triangles;
} surface;

static inline surface surface_make(int vertices, int triangles)
{
  surface s = {calloc((size_t)vertices, sizeof(mn_vec3)), calloc((size_t)triangles, sizeof(int[3])),
               0, 0};
  assert_non_null(s.vertex);
  assert_non_null(s.triangle);
  return s;
}

static inline void surface_free(surface *s)
{
  free(s->vertex);
  free(s->triangle);
}

static inline void surface_triangle(surface *s, int a, int b, int c)
{
  int *t = s->triangle[s->triangles++];
  t[0] = a;
  t[1] = b;
  t[2] = c;
}

/* n rings between the poles and 2 n segments, vertices on the sphere. */
static inline surface surface_sphere(mn_vec3 center, double radius, int n)
{
  surface s = surface_make(2 + (n - 1) * 2 * n, 4 * n * n);
  s.vertices = 2 + (n - 1) * 2 * n;
  s.vertex[0] = mn_madd(center, radius, mn_v3(0, 0, 1));
  s.vertex[1] = mn_madd(center, radius, mn_v3(0, 0, -1));
  for (int i = 1; i < n; i++)
    for (int j = 0; j < 2 * n; j++) {
      double theta = MN_PI * i / n, phi = MN_PI * j / n;
      s.vertex[2 + (i - 1) * 2 * n + j] =
          mn_madd(center, radius, mn_v3(sin(theta) * cos(phi), sin(theta) * sin(phi), cos(theta)));
    }
  for (int j = 0; j < 2 * n; j++) {
    int next = (j + 1) % (2 * n), last = 2 + (n - 2) * 2 * n;
    surface_triangle(&s, 0, 2 + j, 2 + next);
    surface_triangle(&s, 1, last + next, last + j);
    for (int i = 0; i + 2 < n; i++) {
      int a = 2 + i * 2 * n, b = a + 2 * n;
      surface_triangle(&s, a + j, b + j, b + next);
      surface_triangle(&s, a + j, b + next, a + next);
    }
  }
  return s;
}

/* About the z-axis, n segments around the tube and 2 n along it. */
static inline surface surface_torus(double major, double minor, int n)
{
  surface s = surface_make(2 * n * n, 4 * n * n);
  s.vertices = 2 * n * n;
  for (int i = 0; i < 2 * n; i++)
    for (int j = 0; j < n; j++) {
      double phi = MN_PI * i / n, psi = 2 * MN_PI * j / n, rho = major + minor * cos(psi);
      s.vertex[i * n + j] = mn_v3(rho * cos(phi), rho * sin(phi), minor * sin(psi));
      int i1 = (i + 1) % (2 * n), j1 = (j + 1) % n;
      surface_triangle(&s, i * n + j, i1 * n + j, i1 * n + j1);
      surface_triangle(&s, i * n + j, i1 * n + j1, i * n + j1);
    }
  return s;
}

/* ---- files ----------------------------------------------------------------------------------- */

typedef enum mesh_format {
  FORMAT_OBJ,
  FORMAT_OBJ_NEGATIVE, /* indices from the end, with texture and normal numbers */
  FORMAT_PLY_ASCII,
  FORMAT_PLY_LITTLE,
  FORMAT_PLY_BIG,
  FORMAT_STL_ASCII,
  FORMAT_STL_BINARY,
  FORMATS
} mesh_format;

static const char *const format_ending[FORMATS] = {".obj", ".OBJ", ".ply", ".ply",
                                                   ".ply", ".stl", ".stl"};
/* Of a coordinate of size 1: text has 17 digits, binary STL and one of the PLY are floats. */
static const double format_precision[FORMATS] = {0, 0, 0, 0, 1e-7, 0, 1e-7};

static inline void put_bytes(FILE *file, const void *data, size_t size, int big)
{
  unsigned char bytes[8];
  memcpy(bytes, data, size); /* the tests run on little-endian machines */
  for (size_t i = 0; i < size; i++)
    fputc(bytes[big ? size - 1 - i : i], file);
}

static inline void write_ply(FILE *file, const surface *s, mesh_format format)
{
  int big = format == FORMAT_PLY_BIG;
  fprintf(file,
          "ply\nformat %s 1.0\ncomment made by a test\nelement vertex %d\n"
          "property uchar red\nproperty %s x\nproperty %s y\nproperty %s z\n"
          "property list uchar short tags\nelement face %d\nproperty list uchar %s %s\n"
          "property float quality\nelement edge 1\nproperty int a\nend_header\n",
          format == FORMAT_PLY_ASCII ? "ascii"
          : big                      ? "binary_big_endian"
                                     : "binary_little_endian",
          s->vertices, big ? "float" : "double", big ? "float32" : "float64",
          big ? "float" : "double", s->triangles, big ? "uint" : "int32",
          big ? "vertex_index" : "vertex_indices");
  for (int i = 0; i < s->vertices; i++) {
    mn_vec3 x = s->vertex[i];
    if (format == FORMAT_PLY_ASCII) {
      fprintf(file, "7 %.17g %.17g %.17g 2 5 -6\n", x.x, x.y, x.z);
      continue;
    }
    fputc(7, file);
    for (int a = 0; a < 3; a++) {
      float f = (float)x.v[a];
      put_bytes(file, big ? (void *)&f : (void *)&x.v[a], big ? sizeof f : sizeof x.x, big);
    }
    fputc(1, file);
    put_bytes(file, &(short){-3}, 2, big);
  }
  for (int t = 0; t < s->triangles; t++) {
    const int *v = s->triangle[t];
    if (format == FORMAT_PLY_ASCII) {
      fprintf(file, "3 %d %d %d 0.5\n", v[0], v[1], v[2]);
      continue;
    }
    fputc(3, file);
    for (int c = 0; c < 3; c++)
      put_bytes(file, &v[c], 4, big);
    put_bytes(file, &(float){0.5f}, 4, big);
  }
  if (format == FORMAT_PLY_ASCII)
    fprintf(file, "1\n");
  else
    put_bytes(file, &(int){1}, 4, big);
}

static inline void write_stl(FILE *file, const surface *s, mesh_format format)
{
  char header[80] = "solid but binary";
  if (format == FORMAT_STL_ASCII)
    fprintf(file, "solid a b c\r\n");
  else {
    fwrite(header, 1, sizeof header, file);
    put_bytes(file, &s->triangles, 4, 0);
  }
  for (int t = 0; t < s->triangles; t++) {
    if (format == FORMAT_STL_ASCII)
      fprintf(file, " facet normal 0 0 0\r\n  outer loop\r\n");
    else
      for (int i = 0; i < 12; i++)
        fputc(0, file);
    for (int c = 0; c < 3; c++) {
      mn_vec3 x = s->vertex[s->triangle[t][c]];
      if (format == FORMAT_STL_ASCII)
        fprintf(file, "   vertex %.17g %.17g %.17g\r\n", x.x, x.y, x.z);
      else
        for (int a = 0; a < 3; a++)
          put_bytes(file, &(float){(float)x.v[a]}, 4, 0);
    }
    if (format == FORMAT_STL_ASCII)
      fprintf(file, "  endloop\r\n endfacet\r\n");
    else
      put_bytes(file, &(short){0}, 2, 0);
  }
  if (format == FORMAT_STL_ASCII)
    fprintf(file, "endsolid a b c\r\n");
}

static inline void write_obj(FILE *file, const surface *s, mesh_format format)
{
  fprintf(file, "# made by a test\nmtllib none.mtl\no thing\n");
  for (int i = 0; i < s->vertices; i++)
    fprintf(file, "v %.17g %.17g %.17g\n", s->vertex[i].x, s->vertex[i].y, s->vertex[i].z);
  fprintf(file, "vt 0 0\nvn 0 0 1\ns off\n");
  for (int t = 0; t < s->triangles; t++) {
    const int *v = s->triangle[t];
    if (format == FORMAT_OBJ)
      fprintf(file, "f %d %d %d # comment\n", v[0] + 1, v[1] + 1, v[2] + 1);
    else
      fprintf(file, "f %d/1/1 \\\n %d//1 %d/1\r\n", v[0] - s->vertices, v[1] - s->vertices,
              v[2] - s->vertices);
  }
}

static inline void surface_write(const surface *s, mesh_format format, const char *path)
{
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  if (format <= FORMAT_OBJ_NEGATIVE)
    write_obj(file, s, format);
  else if (format <= FORMAT_PLY_BIG)
    write_ply(file, s, format);
  else
    write_stl(file, s, format);
  assert_int_equal(fclose(file), 0);
}

static inline void write_bytes(const char *path, const void *data, size_t bytes)
{
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, bytes, file), bytes);
  assert_int_equal(fclose(file), 0);
}

#endif
