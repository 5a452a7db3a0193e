/* Checked allocation. Every array is zeroed, 64-byte aligned and counted; a failure says how much
   was asked for and by whom. */
#ifndef MN_BASE_MEMORY_H
#define MN_BASE_MEMORY_H

#include "meniscus/base.h"

/* count * size bytes; MN_ENVIRONMENT with a sentence when it overflows, exceeds the limit or fails.
 */
MN_MUST_CHECK mn_status mn_alloc(mn_context *ctx, const char *what, size_t count, size_t size,
                                 void **out);
/* Keeps the first old_count entries; what is added is zero. */
MN_MUST_CHECK mn_status mn_grow(mn_context *ctx, const char *what, size_t old_count, size_t count,
                                size_t size, void **inout);
/* Any pointer of mn_alloc, or NULL. */
void mn_free(void *p);

/* mn_alloc in place of an array whose entries need not be kept: that one is freed first. NULL if it
   fails. */
MN_MUST_CHECK mn_status mn_renew(mn_context *ctx, const char *what, size_t count, size_t size,
                                 void **inout);

/* mn_status s = MN_NEW(ctx, "face fractions", n, &array); */
#define MN_NEW(ctx, what, count, out)                                                              \
  mn_alloc((ctx), (what), (count), sizeof **(out), (void **)(out))
#define MN_RENEW(ctx, what, count, inout)                                                          \
  mn_renew((ctx), (what), (count), sizeof **(inout), (void **)(inout))

/* A stack of scratch memory: grows in the first steps, then never allocates again. */
typedef struct mn_arena {
  struct mn_arena_block *first, *current;
} mn_arena;
typedef struct mn_arena_mark {
  struct mn_arena_block *block;
  size_t used;
} mn_arena_mark;

/* Not zeroed. Valid until the arena is reset to a mark taken before. */
MN_MUST_CHECK mn_status mn_arena_push(mn_context *ctx, mn_arena *arena, size_t count, size_t size,
                                      void **out);
mn_arena_mark mn_arena_save(const mn_arena *arena);
void mn_arena_reset(mn_arena *arena, mn_arena_mark mark);
void mn_arena_destroy(mn_arena *arena);

#define MN_PUSH(ctx, arena, count, out)                                                            \
  mn_arena_push((ctx), (arena), (count), sizeof **(out), (void **)(out))

#endif
