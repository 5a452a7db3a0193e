#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/status.h"

enum { ALIGNMENT = 64 };
static const double MEBI = 1024.0 * 1024.0;

mn_status mn_alloc(mn_context *ctx, const char *what, size_t count, size_t size, void **out)
{
  *out = NULL;
  if (size && count > (SIZE_MAX - ALIGNMENT) / size)
    return mn_fail(ctx, MN_ENVIRONMENT, "out of memory: %s needs more bytes than can be counted",
                   what);
  size_t bytes = count * size;
  if (bytes > ctx->memory_limit)
    return mn_fail(ctx, MN_ENVIRONMENT, "out of memory: %s needs %.1f MB, the limit is %.1f MB",
                   what, (double)bytes / MEBI, (double)ctx->memory_limit / MEBI);
  bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + (bytes ? 0 : ALIGNMENT);
  ctx->allocations++;
  void *p = ctx->allocations == ctx->fail_allocation ? NULL : aligned_alloc(ALIGNMENT, bytes);
  if (!p)
    return mn_fail(ctx, MN_ENVIRONMENT, "out of memory: %s needs %.1f MB", what,
                   (double)bytes / MEBI);
  memset(p, 0, bytes);
  *out = p;
  return MN_OK;
}

mn_status mn_grow(mn_context *ctx, const char *what, size_t old_count, size_t count, size_t size,
                  void **inout)
{
  void *p;
  MN_TRY(mn_alloc(ctx, what, count, size, &p));
  if (*inout)
    memcpy(p, *inout, (old_count < count ? old_count : count) * size);
  mn_free(*inout);
  *inout = p;
  return MN_OK;
}

mn_status mn_renew(mn_context *ctx, const char *what, size_t count, size_t size, void **inout)
{
  mn_free(*inout);
  *inout = NULL;
  return mn_alloc(ctx, what, count, size, inout);
}

void mn_free(void *p)
{
  free(p);
}

struct mn_arena_block {
  struct mn_arena_block *next;
  size_t size, used;
  unsigned char *data;
};

static mn_status add_block(mn_context *ctx, mn_arena *arena, size_t bytes)
{
  struct mn_arena_block *block;
  size_t last = arena->current ? arena->current->size : (size_t)1 << 16;
  size_t size = bytes > 2 * last ? bytes : 2 * last;
  MN_TRY(MN_NEW(ctx, "scratch block", 1, &block));
  mn_status status = mn_alloc(ctx, "scratch memory", size, 1, (void **)&block->data);
  if (status != MN_OK) {
    mn_free(block);
    return status;
  }
  block->size = size;
  if (arena->current) {
    block->next = arena->current->next;
    arena->current->next = block;
  } else {
    block->next = arena->first;
    arena->first = block;
  }
  arena->current = block;
  return MN_OK;
}

mn_status mn_arena_push(mn_context *ctx, mn_arena *arena, size_t count, size_t size, void **out)
{
  *out = NULL;
  if (size && count > (SIZE_MAX - ALIGNMENT) / size)
    return mn_fail(ctx, MN_ENVIRONMENT, "out of memory: scratch beyond what can be counted");
  size_t bytes = (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (!arena->current && arena->first) {
    arena->current = arena->first;
    arena->current->used = 0;
  }
  while (arena->current && arena->current->used + bytes > arena->current->size &&
         arena->current->next) {
    arena->current = arena->current->next;
    arena->current->used = 0;
  }
  if (!arena->current || arena->current->used + bytes > arena->current->size)
    MN_TRY(add_block(ctx, arena, bytes));
  *out = arena->current->data + arena->current->used;
  arena->current->used += bytes;
  return MN_OK;
}

mn_arena_mark mn_arena_save(const mn_arena *arena)
{
  return (mn_arena_mark){arena->current, arena->current ? arena->current->used : 0};
}

void mn_arena_reset(mn_arena *arena, mn_arena_mark mark)
{
  arena->current = mark.block;
  if (mark.block)
    mark.block->used = mark.used;
}

void mn_arena_destroy(mn_arena *arena)
{
  for (struct mn_arena_block *b = arena->first, *next; b; b = next) {
    next = b->next;
    mn_free(b->data);
    mn_free(b);
  }
  *arena = (mn_arena){0};
}
