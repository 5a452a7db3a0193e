/* NumPy's .npy files (format 1.0, C order, little-endian): what a checkpoint's arrays are. */
#ifndef MN_WORLD_NPY_H
#define MN_WORLD_NPY_H

#include "meniscus/box.h"

/* Writes under `path` directly and syncs: the caller renames the folder around it. */
MN_MUST_CHECK mn_status mn_npy_write(mn_context *ctx, const char *path, const mn_array *array);
/* Reads into `data` a file that must have the type and shape of `array`, and nothing more; the
   array's own data are not touched. Files of other programs may space the header as they like. */
MN_MUST_CHECK mn_status mn_npy_read(mn_context *ctx, const char *path, const mn_array *array,
                                    void *data);

/* "float64 (3, 4)" for messages */
void mn_array_describe(const mn_array *array, char *text, size_t size);

#endif
