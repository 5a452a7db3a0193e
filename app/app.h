/* The command line: one file per subcommand, this for what they share. Only public headers of the
   library are used. */
#ifndef APP_APP_H
#define APP_APP_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "meniscus/meniscus.h"

enum { APP_SETTINGS_MAX = 64, APP_WORDS_MAX = 4, APP_OPTIONS_MAX = 16 };

typedef struct app_option {
  const char *name;  /* "--frames" or "-o" */
  const char *value; /* what stands for its value in the help; NULL: a flag */
  const char *text;
} app_option;

typedef struct app_args app_args;

typedef struct app_command {
  const char *name, *usage, *summary;
  const char *details;       /* for --help, may be NULL */
  int words;                 /* the most words without a dash */
  const app_option *options; /* closed by a row of zeros */
  int (*run)(app_args *args);
} app_command;

struct app_args {
  const app_command *command;
  const char *given[APP_OPTIONS_MAX]; /* value of each option, "" for a flag, NULL if absent */
  int word_count;
  const char *words[APP_WORDS_MAX];
  int setting_count;
  mn_setting settings[APP_SETTINGS_MAX];
};

extern const app_command app_run, app_resume, app_check, app_list, app_show, app_pressure,
    app_bench, app_compare;
extern const app_option app_threads_option, app_json_option;

/* args.c. What can go wrong is told on stderr; these return the exit status to leave with, or 0. */
int app_parse(const app_command *command, int argc, char **argv, app_args *args);
const char *app_get(const app_args *args, const char *name); /* NULL if it was not given */
int app_get_int(const app_args *args, const char *name, int lo, int hi, int *value);
int app_get_number(const app_args *args, const char *name, double *value);
void app_help(const app_command *command);
/* The word of the list (closed by NULL) that is nearest, or NULL if none is near. */
const char *app_nearest(const char *word, const char *const *list);

/* context.c */
int app_error(int status, const char *format, ...) MN_PRINTF(2, 3);
/* The library's last sentence on stderr; returns `status` as the exit status. */
int app_fail(const mn_context *ctx, mn_status status);
/* A context with --threads and a log on stderr; SIGINT and SIGTERM are left alone until
   app_catch_signals. */
int app_context(const app_args *args, mn_context **ctx);
/* The same; threads: unless --threads says another number, 0: all cores. */
int app_context_of(const app_args *args, int threads, mn_context **ctx);
void app_catch_signals(void);
/* Prints the object as one line and deletes it. */
void app_print_json(cJSON *object);

/* progress.c */
typedef enum app_mode { APP_QUIET, APP_LIVE, APP_PLAIN, APP_JSON } app_mode;
typedef struct app_progress {
  app_mode mode;
  int frames;
  int coupled;         /* a fluid and bodies */
  double until, every; /* s */
  double wall_start, time_start, shown_at;
  int started, frame, substeps, coupling_iterations, retries;
} app_progress;

app_progress app_progress_start(const app_args *args, int frames, double until,
                                const mn_model_def *model);
void app_progress_step(void *progress, const mn_world *world, const mn_step_info *info);
/* The last line: what happened and where the results are. */
void app_progress_end(app_progress *progress, const mn_context *ctx, mn_status status,
                      const char *directory);

#endif
