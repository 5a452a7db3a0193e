/* VTK XML files: appended raw data in zlib-compressed blocks (vtkZLibDataCompressor, UInt64
   headers). Written beside the final name and renamed, in constant memory: an array may be given as
   a function that fills a range of it. Blocks are compressed in parallel; bytes do not depend on
   the number of threads. Verified by VTK's own readers in tests/unit/io/test_vtk.sh. */
#ifndef MN_IO_VTK_H
#define MN_IO_VTK_H

#include "meniscus/base.h"

typedef enum mn_vtk_type { MN_VTK_F32, MN_VTK_F64, MN_VTK_I64, MN_VTK_U8 } mn_vtk_type;

/* Writes the tuples [first, first + count) into `out`, in the array's type. Called from several
   threads at once, on separate ranges. */
typedef void mn_vtk_fill(const void *user, size_t first, size_t count, void *out);

typedef struct mn_vtk_array {
  const char *name;
  mn_vtk_type type;
  int components;
  size_t count;     /* tuples */
  const void *data; /* or NULL and: */
  mn_vtk_fill *fill;
  const void *user;
} mn_vtk_array;

/* Cells of PolyData: end offsets into a list of point numbers, as VTK wants them. */
typedef struct mn_vtk_cells {
  size_t count;
  const int64_t *offsets;      /* [count], the end of each cell in connectivity */
  const int64_t *connectivity; /* [offsets[count - 1]] */
} mn_vtk_cells;

typedef struct mn_vtk_data {
  int cell_count, point_count; /* of arrays */
  const mn_vtk_array *cell, *point;
  const char *normals; /* the point array that holds unit normals; may be NULL */
} mn_vtk_data;

/* A box of cells; cells[2] = 0 makes it a picture in the plane. Times are in s. */
MN_MUST_CHECK mn_status mn_vtk_image(mn_context *ctx, const char *path, const int cells[3],
                                     mn_vec3 origin, double spacing, double time,
                                     const mn_vtk_data *data);
/* Cell data are ordered verts, lines, polys. */
MN_MUST_CHECK mn_status mn_vtk_poly(mn_context *ctx, const char *path, size_t point_count,
                                    const mn_vec3 *points, const mn_vtk_cells *verts,
                                    const mn_vtk_cells *lines, const mn_vtk_cells *polys,
                                    double time, const mn_vtk_data *data);
/* `types` are VTK's cell types (10: tetrahedron, 5: triangle, ...). */
MN_MUST_CHECK mn_status mn_vtk_grid(mn_context *ctx, const char *path, size_t point_count,
                                    const mn_vec3 *points, const mn_vtk_cells *cells,
                                    const uint8_t *types, double time, const mn_vtk_data *data);

typedef struct mn_vtk_item {
  double time;      /* s */
  int part;         /* items of one time differ in it */
  const char *file; /* relative to the collection */
} mn_vtk_item;
MN_MUST_CHECK mn_status mn_vtk_collection(mn_context *ctx, const char *path,
                                          const mn_vtk_item *items, size_t count);

#endif
