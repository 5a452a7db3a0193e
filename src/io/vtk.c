/* VTK XML, format version 1.0, as the VTK user's guide's file format chapter describes it:

     <AppendedData encoding="raw">_ [array 0] [array 1] ... </AppendedData>
     array = UInt64 blocks, UInt64 block bytes, UInt64 bytes of the last block if it is shorter
             (else 0), UInt64 compressed bytes of each block, then the blocks, each a zlib stream

   The offsets of the arrays stand in the head of the file, before the compressed sizes are known:
   room is left for them and they are filled in at the end. Little-endian machines only (asserted).
   Limits: sizes beyond 2^63 bytes. Verified by tests/unit/io/test_vtk.sh. */
#include "io/vtk.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"

enum {
  BLOCK = 1 << 17, /* bytes before compression; a multiple of every tuple's size is not needed */
  BATCH = 16,      /* blocks compressed at once */
  ARRAYS_MAX = 64,
  LEVEL = 3 /* of zlib: floats hardly shrink further at higher ones, and take thrice the time */
};

typedef struct writer {
  mn_context *ctx;
  FILE *file;
  int count;
  mn_vtk_array array[ARRAYS_MAX];
  long place[ARRAYS_MAX]; /* where the offset of an array goes */
  uint8_t *raw, *packed;  /* BATCH blocks each */
  size_t packed_room;     /* of one block */
  uint64_t packed_size[BATCH];
  int bad[BATCH];
} writer;

static const struct {
  const char *name;
  size_t size;
} TYPES[] = {[MN_VTK_F32] = {"Float32", 4},
             [MN_VTK_F64] = {"Float64", 8},
             [MN_VTK_I64] = {"Int64", 8},
             [MN_VTK_U8] = {"UInt8", 1}};

static size_t tuple_bytes(const mn_vtk_array *a)
{
  return TYPES[a->type].size * (size_t)a->components;
}

/* Tuples of one block: whole ones, so that a filled array can be cut anywhere. */
static size_t block_tuples(const mn_vtk_array *a)
{
  return BLOCK / tuple_bytes(a);
}

/* ---- the data -------------------------------------------------------------------------------- */

static void pack_block(writer *w, const mn_vtk_array *a, size_t block, int slot)
{
  size_t per = block_tuples(a), first = block * per;
  size_t count = a->count - first < per ? a->count - first : per;
  size_t bytes = count * tuple_bytes(a);
  const uint8_t *source;
  if (a->data)
    source = (const uint8_t *)a->data + first * tuple_bytes(a);
  else {
    a->fill(a->user, first, count, w->raw + (size_t)slot * BLOCK);
    source = w->raw + (size_t)slot * BLOCK;
  }
  uLongf size = (uLongf)w->packed_room;
  w->bad[slot] = compress2(w->packed + (size_t)slot * w->packed_room, &size, source, (uLong)bytes,
                           LEVEL) != Z_OK;
  w->packed_size[slot] = size;
}

/* The head of an array with room for the sizes of its blocks, the blocks, then the head again. */
static mn_status write_array(writer *w, const mn_vtk_array *a)
{
  size_t per = block_tuples(a), blocks = (a->count + per - 1) / per;
  uint64_t *head;
  MN_TRY(MN_NEW(w->ctx, "a table of blocks", blocks + 3, &head));
  head[0] = blocks;
  head[1] = per * tuple_bytes(a);
  head[2] = a->count % per * tuple_bytes(a);
  long start = ftell(w->file);
  size_t head_count = blocks + 3;
  fwrite(head, sizeof *head, head_count, w->file);
  int threads = mn_context_threads(w->ctx), bad = 0;
  for (size_t b0 = 0; b0 < blocks && !bad; b0 += BATCH) {
    int n = blocks - b0 < BATCH ? (int)(blocks - b0) : BATCH;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int s = 0; s < n; s++)
      pack_block(w, a, b0 + (size_t)s, s);
    for (int s = 0; s < n; s++) {
      bad |= w->bad[s];
      head[3 + b0 + (size_t)s] = w->packed_size[s];
      fwrite(w->packed + (size_t)s * w->packed_room, 1, w->packed_size[s], w->file);
    }
    bad |= ferror(w->file);
  }
  if (start < 0 || fseek(w->file, start, SEEK_SET) ||
      fwrite(head, sizeof *head, head_count, w->file) != head_count || fseek(w->file, 0, SEEK_END))
    bad = 1;
  mn_free(head);
  return bad ? mn_fail(w->ctx, MN_ENVIRONMENT, "cannot write the array %s: %s", a->name,
                       strerror(errno))
             : MN_OK;
}

static mn_status write_arrays(writer *w)
{
  uint64_t one = 1;
  unsigned char low;
  memcpy(&low, &one, 1);
  assert(low == 1 && "little-endian");
  w->packed_room = compressBound(BLOCK);
  MN_TRY(MN_NEW(w->ctx, "blocks to compress", (size_t)BATCH * BLOCK, &w->raw));
  MN_TRY(MN_NEW(w->ctx, "compressed blocks", BATCH * w->packed_room, &w->packed));
  fprintf(w->file, "  <AppendedData encoding=\"raw\">\n_");
  long base = ftell(w->file);
  for (int i = 0; i < w->count; i++) {
    long at = ftell(w->file);
    if (fseek(w->file, w->place[i], SEEK_SET) || fprintf(w->file, "%20ld", at - base) < 0 ||
        fseek(w->file, 0, SEEK_END))
      return mn_fail(w->ctx, MN_ENVIRONMENT, "cannot write: %s", strerror(errno));
    MN_TRY(write_array(w, &w->array[i]));
  }
  fprintf(w->file, "\n  </AppendedData>\n</VTKFile>\n");
  return MN_OK;
}

/* ---- the head -------------------------------------------------------------------------------- */

static void add_array(writer *w, const mn_vtk_array *a)
{
  assert(w->count < ARRAYS_MAX && tuple_bytes(a) <= BLOCK);
  fprintf(w->file, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" ",
          TYPES[a->type].name, a->name, a->components);
  if (a->name[0] == 'T' && !strcmp(a->name, "TimeValue"))
    fprintf(w->file, "NumberOfTuples=\"1\" ");
  fprintf(w->file, "format=\"appended\" offset=\"");
  w->place[w->count] = ftell(w->file);
  w->array[w->count++] = *a;
  fprintf(w->file, "%20d\"/>\n", 0);
}

static void begin(writer *w, const char *kind, const char *attributes, const double *time)
{
  fprintf(w->file,
          "<?xml version=\"1.0\"?>\n"
          "<VTKFile type=\"%s\" version=\"1.0\" byte_order=\"LittleEndian\" "
          "header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n<%s%s>\n<FieldData>\n",
          kind, kind, attributes);
  mn_vtk_array at = {"TimeValue", MN_VTK_F64, 1, 1, time, NULL, NULL};
  add_array(w, &at);
  fprintf(w->file, "</FieldData>\n");
}

static void add_data(writer *w, const mn_vtk_data *data, size_t points, size_t cells)
{
  fprintf(w->file, "<PointData");
  if (data->normals)
    fprintf(w->file, " Normals=\"%s\"", data->normals);
  fprintf(w->file, ">\n");
  for (int i = 0; i < data->point_count; i++) {
    assert(data->point[i].count == points);
    add_array(w, &data->point[i]);
  }
  fprintf(w->file, "</PointData>\n<CellData>\n");
  for (int i = 0; i < data->cell_count; i++) {
    assert(data->cell[i].count == cells);
    add_array(w, &data->cell[i]);
  }
  fprintf(w->file, "</CellData>\n");
  (void)points;
  (void)cells;
}

static void add_points(writer *w, size_t count, const mn_vec3 *points)
{
  mn_vtk_array a = {"Points", MN_VTK_F64, 3, count, points, NULL, NULL};
  fprintf(w->file, "<Points>\n");
  add_array(w, &a);
  fprintf(w->file, "</Points>\n");
}

static void add_cells(writer *w, const char *element, const mn_vtk_cells *cells,
                      const uint8_t *types)
{
  static const mn_vtk_cells none;
  if (!cells)
    cells = &none;
  size_t total = cells->count ? (size_t)cells->offsets[cells->count - 1] : 0;
  mn_vtk_array connectivity = {"connectivity",      MN_VTK_I64, 1,   total,
                               cells->connectivity, NULL,       NULL};
  mn_vtk_array offsets = {"offsets", MN_VTK_I64, 1, cells->count, cells->offsets, NULL, NULL};
  fprintf(w->file, "<%s>\n", element);
  add_array(w, &connectivity);
  add_array(w, &offsets);
  if (types) {
    mn_vtk_array kinds = {"types", MN_VTK_U8, 1, cells->count, types, NULL, NULL};
    add_array(w, &kinds);
  }
  fprintf(w->file, "</%s>\n", element);
}

static mn_status open_writer(mn_context *ctx, const char *path, writer *w)
{
  memset(w, 0, sizeof *w);
  w->ctx = ctx;
  return mn_open_part(ctx, path, &w->file);
}

/* Closes the head, writes the data, and puts the file under its name if all went well. */
static mn_status finish(writer *w, const char *path, const char *kind)
{
  fprintf(w->file, "</Piece>\n</%s>\n", kind);
  mn_status status = write_arrays(w);
  mn_free(w->raw);
  mn_free(w->packed);
  if (status != MN_OK) {
    mn_status closed = mn_close_part(w->ctx, path, w->file, 0);
    return closed != MN_OK ? closed : mn_fail_prefix(w->ctx, status, "%s", path);
  }
  return mn_close_part(w->ctx, path, w->file, 1);
}

/* ---- the three kinds, and the collection ----------------------------------------------------- */

mn_status mn_vtk_image(mn_context *ctx, const char *path, const int cells[3], mn_vec3 origin,
                       double spacing, double time, const mn_vtk_data *data)
{
  writer w;
  MN_TRY(open_writer(ctx, path, &w));
  char extent[128], attributes[512];
  snprintf(extent, sizeof extent, "0 %d 0 %d 0 %d", cells[0], cells[1], cells[2]);
  snprintf(attributes, sizeof attributes,
           " WholeExtent=\"%s\" Origin=\"%.17g %.17g %.17g\" Spacing=\"%.17g %.17g %.17g\"", extent,
           origin.x, origin.y, origin.z, spacing, spacing, spacing);
  begin(&w, "ImageData", attributes, &time);
  fprintf(w.file, "<Piece Extent=\"%s\">\n", extent);
  size_t points = 1, total = 1;
  for (int a = 0; a < 3; a++) {
    points *= (size_t)cells[a] + 1;
    total *= cells[a] ? (size_t)cells[a] : 1;
  }
  add_data(&w, data, points, total);
  return finish(&w, path, "ImageData");
}

mn_status mn_vtk_poly(mn_context *ctx, const char *path, size_t point_count, const mn_vec3 *points,
                      const mn_vtk_cells *verts, const mn_vtk_cells *lines,
                      const mn_vtk_cells *polys, double time, const mn_vtk_data *data)
{
  writer w;
  MN_TRY(open_writer(ctx, path, &w));
  size_t n[3] = {verts ? verts->count : 0, lines ? lines->count : 0, polys ? polys->count : 0};
  begin(&w, "PolyData", "", &time);
  fprintf(w.file,
          "<Piece NumberOfPoints=\"%zu\" NumberOfVerts=\"%zu\" NumberOfLines=\"%zu\" "
          "NumberOfStrips=\"0\" NumberOfPolys=\"%zu\">\n",
          point_count, n[0], n[1], n[2]);
  add_data(&w, data, point_count, n[0] + n[1] + n[2]);
  add_points(&w, point_count, points);
  add_cells(&w, "Verts", verts, NULL);
  add_cells(&w, "Lines", lines, NULL);
  add_cells(&w, "Strips", NULL, NULL);
  add_cells(&w, "Polys", polys, NULL);
  return finish(&w, path, "PolyData");
}

mn_status mn_vtk_grid(mn_context *ctx, const char *path, size_t point_count, const mn_vec3 *points,
                      const mn_vtk_cells *cells, const uint8_t *types, double time,
                      const mn_vtk_data *data)
{
  writer w;
  MN_TRY(open_writer(ctx, path, &w));
  begin(&w, "UnstructuredGrid", "", &time);
  fprintf(w.file, "<Piece NumberOfPoints=\"%zu\" NumberOfCells=\"%zu\">\n", point_count,
          cells->count);
  add_data(&w, data, point_count, cells->count);
  add_points(&w, point_count, points);
  add_cells(&w, "Cells", cells, types);
  return finish(&w, path, "UnstructuredGrid");
}

mn_status mn_vtk_collection(mn_context *ctx, const char *path, const mn_vtk_item *items,
                            size_t count)
{
  FILE *file;
  MN_TRY(mn_open_part(ctx, path, &file));
  fprintf(file, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                "byte_order=\"LittleEndian\">\n<Collection>\n");
  for (size_t i = 0; i < count; i++)
    fprintf(file, "<DataSet timestep=\"%.17g\" part=\"%d\" file=\"%s\"/>\n", items[i].time,
            items[i].part, items[i].file);
  fprintf(file, "</Collection>\n</VTKFile>\n");
  return mn_close_part(ctx, path, file, 1);
}
