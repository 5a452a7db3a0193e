#include "app.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>

/* The one piece of global state: a signal handler can reach nothing else. */
static volatile sig_atomic_t interrupted;

int app_error(int status, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  fflush(stdout);
  fputs("meniscus: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  return status;
}

int app_fail(const mn_context *ctx, mn_status status)
{
  return app_error((int)status, "%s", mn_context_message(ctx));
}

static void log_line(void *quiet, mn_log_level level, const char *text)
{
  if (level == MN_LOG_WARNING)
    app_error(0, "warning: %s", text);
  else if (level == MN_LOG_INFO && !quiet)
    app_error(0, "%s", text);
}

int app_context(const app_args *args, mn_context **ctx)
{
  return app_context_of(args, 0, ctx);
}

int app_context_of(const app_args *args, int threads, mn_context **ctx)
{
  static char yes;
  mn_context_def def = mn_context_def_default();
  def.threads = threads ? threads : def.threads;
  int bad = app_get_int(args, "--threads", 1, 1024, &def.threads);
  if (bad)
    return bad;
  def.log = log_line;
  def.log_user = app_get(args, "--quiet") || app_get(args, "--json") ? &yes : NULL;
  def.interrupted = &interrupted;
  if (mn_context_create(&def, ctx) != MN_OK)
    return app_error(MN_ENVIRONMENT, "out of memory");
  return 0;
}

/* The first signal asks for a clean stop, the second ends the program at once. */
static void on_signal(int number)
{
  if (interrupted) {
    signal(number, SIG_DFL);
    raise(number);
  }
  interrupted = 1;
}

void app_catch_signals(void)
{
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

void app_print_json(cJSON *object)
{
  char *text = cJSON_PrintUnformatted(object);
  if (text)
    puts(text);
  cJSON_free(text);
  cJSON_Delete(object);
  fflush(stdout);
}
