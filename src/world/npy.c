/* A file is: "\x93NUMPY", version 1 0, length of the header (16 bits), the header, the data. The
   header is a Python dictionary with the keys descr, fortran_order and shape, padded with spaces
   and closed by a newline so that the data start at a multiple of 64 bytes.
   Source: numpy.lib.format, "NPY format", version 1.0. Verified by tests/unit/world/test_npy.c. */
#include "world/npy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "world/world.h"

enum { PREFIX = 10, ALIGN = 64, HEADER_MAX = 1024 };

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "checkpoints are written as little-endian data"
#endif

static const char *descr(mn_array_type type)
{
  return type == MN_F64 ? "<f8" : type == MN_I64 ? "<i8" : "|u1";
}

/* "(3, 4)", "(3,)" or "()" as Python writes tuples */
static void shape_text(const mn_array *array, char *text, size_t size)
{
  size_t used = (size_t)snprintf(text, size, "(");
  for (int i = 0; i < array->rank; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%zu", i ? ", " : "", array->shape[i]);
  snprintf(text + used, size - used, array->rank == 1 ? ",)" : ")");
}

void mn_array_describe(const mn_array *array, char *text, size_t size)
{
  char shape[128];
  shape_text(array, shape, sizeof shape);
  snprintf(text, size, "%s %s",
           array->type == MN_F64   ? "float64"
           : array->type == MN_I64 ? "int64"
                                   : "uint8",
           shape);
}

mn_status mn_npy_write(mn_context *ctx, const char *path, const mn_array *array)
{
  char shape[128], header[HEADER_MAX];
  shape_text(array, shape, sizeof shape);
  int used =
      snprintf(header + PREFIX, sizeof header - PREFIX,
               "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr(array->type), shape);
  int total = (PREFIX + used + 1 + ALIGN - 1) / ALIGN * ALIGN;
  memcpy(header, "\x93NUMPY\x01\x00", 8);
  header[8] = (char)((total - PREFIX) & 255);
  header[9] = (char)((total - PREFIX) >> 8);
  memset(header + PREFIX + used, ' ', (size_t)(total - PREFIX - used - 1));
  header[total - 1] = '\n';

  FILE *file = fopen(path, "wb");
  if (!file)
    return mn_fail(ctx, MN_ENVIRONMENT, "cannot write %s: %s", path, strerror(errno));
  size_t bytes = mn_array_bytes(array);
  int bad = fwrite(header, 1, (size_t)total, file) != (size_t)total ||
            (bytes && fwrite(array->data, 1, bytes, file) != bytes) || fflush(file) ||
            fsync(fileno(file));
  int error = errno;
  if (fclose(file) && !bad) {
    bad = 1;
    error = errno;
  }
  if (bad)
    return mn_fail(ctx, MN_ENVIRONMENT, "cannot write %s: %s", path, strerror(error));
  return MN_OK;
}

/* The text after 'key': in the header, blanks skipped; NULL if there is none. */
static const char *value_of(const char *header, const char *key)
{
  char quoted[32];
  snprintf(quoted, sizeof quoted, "'%s'", key);
  const char *p = strstr(header, quoted);
  if (!p)
    return NULL;
  p += strlen(quoted);
  p += strspn(p, " ");
  return *p == ':' ? p + 1 + strspn(p + 1, " ") : NULL;
}

static int header_matches(const char *header, const mn_array *array)
{
  char type[8];
  snprintf(type, sizeof type, "'%s'", descr(array->type));
  const char *d = value_of(header, "descr"), *f = value_of(header, "fortran_order"),
             *s = value_of(header, "shape");
  if (!d || !f || !s || strncmp(d, type, strlen(type)) || strncmp(f, "False", 5) || *s != '(')
    return 0;
  s++;
  for (int i = 0; i < array->rank; i++) {
    char *end;
    s += strspn(s, " ,");
    if (*s < '0' || *s > '9' || strtoull(s, &end, 10) != array->shape[i])
      return 0;
    s = end;
  }
  return s[strspn(s, " ,")] == ')';
}

static mn_status read_open_file(mn_context *ctx, const char *path, FILE *file,
                                const mn_array *array, void *data)
{
  unsigned char prefix[PREFIX];
  char header[HEADER_MAX] = "", expected[192];
  struct stat info;
  if (fread(prefix, 1, PREFIX, file) != PREFIX || memcmp(prefix, "\x93NUMPY", 6))
    return mn_fail(ctx, MN_BAD_INPUT, "%s is no .npy file or is truncated", path);
  size_t length = prefix[8] + 256u * prefix[9], bytes = mn_array_bytes(array);
  if (prefix[6] != 1 || length >= sizeof header)
    return mn_fail(ctx, MN_BAD_INPUT, "%s: only .npy format 1.0 with a short header can be read",
                   path);
  if (fread(header, 1, length, file) != length)
    return mn_fail(ctx, MN_BAD_INPUT, "%s is truncated", path);
  mn_array_describe(array, expected, sizeof expected);
  if (!header_matches(header, array))
    return mn_fail(ctx, MN_BAD_INPUT, "%s holds %.200s, but %s is needed", path, header, expected);
  if (fstat(fileno(file), &info) || (size_t)info.st_size != PREFIX + length + bytes)
    return mn_fail(ctx, MN_BAD_INPUT, "%s is truncated or damaged: %lld bytes instead of %zu", path,
                   (long long)info.st_size, PREFIX + length + bytes);
  if (bytes && fread(data, 1, bytes, file) != bytes)
    return mn_fail(ctx, MN_ENVIRONMENT, "cannot read %s: %s", path, strerror(errno));
  return MN_OK;
}

mn_status mn_npy_read(mn_context *ctx, const char *path, const mn_array *array, void *data)
{
  FILE *file = fopen(path, "rb");
  if (!file)
    return mn_fail(ctx, MN_BAD_INPUT, "cannot read %s: %s", path, strerror(errno));
  mn_status status = read_open_file(ctx, path, file, array, data);
  fclose(file);
  return status;
}
