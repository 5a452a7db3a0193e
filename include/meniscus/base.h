/* Status codes, the context, version, small vectors: what every other header uses. */
#ifndef MENISCUS_BASE_H
#define MENISCUS_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MN_VERSION_MAJOR 0
#define MN_VERSION_MINOR 1
#define MN_VERSION_PATCH 0
#define MN_VERSION_STRING "0.1.0"

/* The version of the library that is linked, which may differ from the header's. */
const char *mn_version(void);

#define MN_MUST_CHECK __attribute__((warn_unused_result))
#define MN_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* What a call that can fail returns. The context holds the sentence that says what happened.
   The command line maps these to its exit status: 0, 1, 2, 3, 130. */
typedef enum mn_status {
  MN_OK = 0,
  MN_FAILED = 1,      /* the simulation could not go on */
  MN_BAD_INPUT = 2,   /* a user's mistake: file, key, value */
  MN_ENVIRONMENT = 3, /* memory, disk, a missing file system right */
  MN_INTERRUPTED = 130
} mn_status;

typedef enum mn_log_level { MN_LOG_DEBUG, MN_LOG_INFO, MN_LOG_WARNING } mn_log_level;
typedef void mn_log_fn(void *user, mn_log_level level, const char *text);

/* Everything that would be global: threads, the log, the last error, the memory limit. A context is
   used by one caller at a time; any number of contexts may exist. */
typedef struct mn_context mn_context;

typedef struct mn_context_def {
  int threads;         /* 0: as many as the machine has cores */
  size_t memory_limit; /* bytes one allocation may ask for; 0: what the machine has */
  mn_log_fn *log;      /* NULL: silent */
  void *log_user;
  const volatile int
      *interrupted; /* non-zero asks a run to stop at the next substep; may be NULL */
} mn_context_def;

mn_context_def mn_context_def_default(void);
MN_MUST_CHECK mn_status mn_context_create(const mn_context_def *def, mn_context **ctx);
void mn_context_destroy(mn_context **ctx);
const char *mn_context_message(const mn_context *ctx); /* of the last failure; "" if none */
int mn_context_threads(const mn_context *ctx);

/* Three components always; in two dimensions z is 0. */
typedef union mn_vec3 {
  struct {
    double x, y, z;
  };
  double v[3];
} mn_vec3;

#ifdef __cplusplus
}
#endif
#endif
