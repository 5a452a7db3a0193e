/* Bodies of a frame as one unstructured grid: all meshes in a row, with the number of the body, its
   velocity, stress or tension and, for elastic bodies, volume ratio. Positions and fields in double
   precision: a body's displacements may be small against its place. */
#include "io/frame.h"

#include "base/memory.h"
#include "base/status.h"
#include "geom/simplex_mesh.h"
#include "io/vtk.h"

typedef struct joined {
  size_t points, cells, entries;
  mn_vec3 *x, *v;
  int64_t *offset, *connectivity, *body;
  uint8_t *type;
  double *stress, *tension, *jacobian;
} joined;

static uint8_t cell_type(int corners, int order)
{
  static const uint8_t types[2][5] = {{0, 1, 3, 5, 10}, {0, 1, 21, 22, 24}};
  return types[order - 1][corners];
}

static mn_status allocate(mn_context *ctx, joined *j)
{
  MN_TRY(MN_NEW(ctx, "points of a frame", j->points + 1, &j->x));
  MN_TRY(MN_NEW(ctx, "velocities of a frame", j->points + 1, &j->v));
  MN_TRY(MN_NEW(ctx, "cells of a frame", j->cells + 1, &j->offset));
  MN_TRY(MN_NEW(ctx, "cells of a frame", j->entries + 1, &j->connectivity));
  MN_TRY(MN_NEW(ctx, "cells of a frame", j->cells + 1, &j->body));
  MN_TRY(MN_NEW(ctx, "cells of a frame", j->cells + 1, &j->type));
  MN_TRY(MN_NEW(ctx, "stress of a frame", j->cells + 1, &j->stress));
  MN_TRY(MN_NEW(ctx, "tension of a frame", j->cells + 1, &j->tension));
  return MN_NEW(ctx, "volume ratios of a frame", j->cells + 1, &j->jacobian);
}

static void append(joined *j, const mn_body_view *b, int body)
{
  size_t nodes = (size_t)mn_simplex_nodes(b->corners, b->order);
  for (size_t c = 0; c < b->cells; c++) {
    for (size_t k = 0; k < nodes; k++)
      j->connectivity[j->entries++] = (int64_t)(j->points + b->cell[c * nodes + k]);
    j->offset[j->cells] = (int64_t)j->entries;
    j->type[j->cells] = cell_type(b->corners, b->order);
    j->body[j->cells] = body;
    j->stress[j->cells] = b->stress ? b->stress[c] : 0;
    j->tension[j->cells] = b->tension ? b->tension[c] : 0;
    j->jacobian[j->cells++] = b->jacobian ? b->jacobian[c] : 1;
  }
  for (size_t i = 0; i < b->points; i++) {
    j->x[j->points] = b->x[i];
    j->v[j->points++] = b->v[i];
  }
}

static void release(joined *j)
{
  mn_free(j->x);
  mn_free(j->v);
  mn_free(j->offset);
  mn_free(j->connectivity);
  mn_free(j->body);
  mn_free(j->type);
  mn_free(j->stress);
  mn_free(j->tension);
  mn_free(j->jacobian);
}

mn_status mn_frame_write_bodies(mn_context *ctx, const mn_body_view *bodies, int count, double time,
                                const char *path)
{
  joined j = {0};
  for (int b = 0; b < count; b++) {
    j.points += bodies[b].points;
    j.cells += bodies[b].cells;
    j.entries += bodies[b].cells * (size_t)mn_simplex_nodes(bodies[b].corners, bodies[b].order);
  }
  mn_status status = allocate(ctx, &j);
  if (status == MN_OK) {
    j.points = j.cells = j.entries = 0;
    for (int b = 0; b < count; b++)
      append(&j, &bodies[b], b);
    mn_vtk_cells cells = {j.cells, j.offset, j.connectivity};
    const mn_vtk_array of_cells[] = {
        {"body", MN_VTK_I64, 1, j.cells, j.body, NULL, NULL},
        {"stress", MN_VTK_F64, 1, j.cells, j.stress, NULL, NULL},
        {"tension", MN_VTK_F64, 1, j.cells, j.tension, NULL, NULL},
        {"volume_ratio", MN_VTK_F64, 1, j.cells, j.jacobian, NULL, NULL}};
    const mn_vtk_array velocity = {"velocity", MN_VTK_F64, 3, j.points, j.v, NULL, NULL};
    mn_vtk_data data = {.cell_count = 4, .cell = of_cells, .point_count = 1, .point = &velocity};
    status = mn_vtk_grid(ctx, path, j.points, j.x, &cells, j.type, time, &data);
  }
  release(&j);
  return status;
}
