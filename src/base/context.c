#include "base/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"

const char *mn_version(void)
{
  return MN_VERSION_STRING;
}

mn_context_def mn_context_def_default(void)
{
  return (mn_context_def){0};
}

/* What the machine can give to one process: its physical memory. */
static size_t physical_memory(void)
{
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && size > 0 ? (size_t)pages * (size_t)size : SIZE_MAX;
}

mn_status mn_context_create(const mn_context_def *def, mn_context **out)
{
  *out = NULL;
  mn_context *ctx = calloc(1, sizeof *ctx);
  if (!ctx)
    return MN_ENVIRONMENT;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  ctx->exec.threads = def->threads > 0 ? def->threads : cores > 0 ? (int)cores : 1;
  ctx->memory_limit = def->memory_limit ? def->memory_limit : physical_memory();
  ctx->log = def->log;
  ctx->log_user = def->log_user;
  ctx->interrupted = def->interrupted;
  *out = ctx;
  return MN_OK;
}

void mn_context_destroy(mn_context **ctx)
{
  free(*ctx);
  *ctx = NULL;
}

const char *mn_context_message(const mn_context *ctx)
{
  return ctx->message;
}

int mn_context_threads(const mn_context *ctx)
{
  return ctx->exec.threads;
}

mn_status mn_fail(mn_context *ctx, mn_status status, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  vsnprintf(ctx->message, sizeof ctx->message, format, args);
  va_end(args);
  return status;
}

mn_status mn_fail_prefix(mn_context *ctx, mn_status status, const char *format, ...)
{
  char old[MN_MESSAGE_MAX];
  memcpy(old, ctx->message, sizeof old);
  va_list args;
  va_start(args, format);
  int used = vsnprintf(ctx->message, sizeof ctx->message, format, args);
  va_end(args);
  if (used < 0 || (size_t)used >= sizeof ctx->message)
    return status;
  if (snprintf(ctx->message + used, sizeof ctx->message - (size_t)used, ": %s", old) < 0)
    ctx->message[used] = 0; /* what does not fit is cut */
  return status;
}

void mn_log(const mn_context *ctx, mn_log_level level, const char *format, ...)
{
  if (!ctx->log)
    return;
  char text[MN_MESSAGE_MAX];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  ctx->log(ctx->log_user, level, text);
}
