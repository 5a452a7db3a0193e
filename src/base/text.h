/* Growing text, for messages, JSON-free small files and reports. An allocation failure makes the
   text empty and sets `failed`; check it once, at the end. */
#ifndef MN_BASE_TEXT_H
#define MN_BASE_TEXT_H

#include <stddef.h>

#include "meniscus/base.h"

typedef struct mn_text {
  char *data; /* zero-terminated, or NULL when empty */
  size_t size, capacity;
  int failed;
} mn_text;

void mn_text_add(mn_text *text, const char *format, ...) MN_PRINTF(2, 3);
void mn_text_add_bytes(mn_text *text, const void *data, size_t bytes);
void mn_text_free(mn_text *text);

#endif
