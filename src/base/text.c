#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int reserve(mn_text *text, size_t more)
{
  if (text->failed)
    return 0;
  if (text->size + more + 1 > text->capacity) {
    size_t capacity = 2 * (text->size + more + 1);
    char *data = realloc(text->data, capacity);
    if (!data) {
      mn_text_free(text);
      text->failed = 1;
      return 0;
    }
    text->data = data;
    text->capacity = capacity;
  }
  return 1;
}

void mn_text_add_bytes(mn_text *text, const void *data, size_t bytes)
{
  if (!reserve(text, bytes))
    return;
  memcpy(text->data + text->size, data, bytes);
  text->size += bytes;
  text->data[text->size] = 0;
}

void mn_text_add(mn_text *text, const char *format, ...)
{
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int bytes = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (bytes >= 0 && reserve(text, (size_t)bytes)) {
    vsnprintf(text->data + text->size, (size_t)bytes + 1, format, again);
    text->size += (size_t)bytes;
  }
  va_end(again);
}

void mn_text_free(mn_text *text)
{
  free(text->data);
  *text = (mn_text){0};
}
