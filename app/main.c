/* meniscus: dispatch to one subcommand per file. */
#include "app.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const app_option app_threads_option = {"--threads", "N", "threads (default: all cores)"};
const app_option app_json_option = {"--json", NULL, "one JSON object per line"};

static const app_command *const commands[] = {&app_run,  &app_resume,   &app_check, &app_list,
                                              &app_show, &app_pressure, &app_bench, &app_compare};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void help(FILE *out)
{
  fprintf(out, "Meniscus %s simulates fluids and solids that move each other.\n\nusage:\n",
          mn_version());
  for (int i = 0; i < COMMANDS; i++)
    fprintf(out, "  meniscus %s\n      %s\n", commands[i]->usage, commands[i]->summary);
  fprintf(out, "\nmeniscus COMMAND --help says more; meniscus --version prints the version.\n"
               "SCENE is a path to a Lua file or the name of a built-in scene (meniscus list).\n"
               "Exit status: 0 done, 1 the simulation could not go on, 2 bad input, 3 disk or "
               "memory failed,\n130 interrupted with a checkpoint written.\n");
}

static int unknown(const char *word)
{
  const char *names[COMMANDS + 1] = {0};
  for (int i = 0; i < COMMANDS; i++)
    names[i] = commands[i]->name;
  const char *near = app_nearest(word, names);
  return app_error(MN_BAD_INPUT, "unknown command \"%s\"%s%s%s (meniscus --help lists them)", word,
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* `help` alone, or of a command. */
static int help_about(int argc, char **argv)
{
  for (int i = 0; i < COMMANDS && argc > 0; i++)
    if (!strcmp(argv[0], commands[i]->name)) {
      app_help(commands[i]);
      return 0;
    }
  help(stdout);
  return 0;
}

static int asks_for_help(int argc, char **argv)
{
  for (int i = 0; i < argc && strcmp(argv[i], "--"); i++)
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
      return 1;
  return 0;
}

/* Whether other programs keep the machine busy. */
static int machine_is_busy(void)
{
  double load = 1;
  FILE *file = fopen("/proc/loadavg", "r");
  if (file && fscanf(file, "%lf", &load) != 1)
    load = 1;
  if (file)
    fclose(file);
  return load > 0.25 * (double)sysconf(_SC_NPROCESSORS_ONLN);
}

/* Threads that wait for each other spin for milliseconds by default. Where other programs share the
   cores that costs far more than it saves: a small scene took 45 s instead of 3. On an idle machine
   spinning for a moment makes two threads 1.9 times as fast as one, sleeping at once 1.2 times;
   what only measures speed expects such a machine. The OpenMP runtime reads the setting before main
   starts, so the program starts itself once more. */
static void wait_politely(int argc, char **argv)
{
  if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT"))
    return;
  int measures = argc > 1 && (!strcmp(argv[1], "pressure") || !strcmp(argv[1], "bench"));
  int set = !measures && machine_is_busy() ? setenv("OMP_WAIT_POLICY", "passive", 1)
                                           : setenv("GOMP_SPINCOUNT", "100000", 1);
  if (!set)
    execv("/proc/self/exe", argv); /* returns only if it failed: slower then, not wrong */
}

/* What was printed must have arrived. */
static int finish(int status)
{
  if ((fflush(stdout) || ferror(stdout)) && !status)
    return app_error(MN_ENVIRONMENT, "cannot write to standard output");
  return status;
}

int main(int argc, char **argv)
{
  wait_politely(argc, argv);
  signal(SIGXFSZ, SIG_IGN); /* a write beyond a size limit fails like one to a full disk */
  signal(SIGPIPE, SIG_IGN); /* a reader that goes away does not end a run */
  if (argc < 2) {
    help(stderr);
    return MN_BAD_INPUT;
  }
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
    return finish(help_about(argc - 2, argv + 2));
  if (!strcmp(argv[1], "--version")) {
    printf("meniscus %s\n", mn_version());
    return finish(0);
  }
  for (int i = 0; i < COMMANDS; i++) {
    if (strcmp(argv[1], commands[i]->name))
      continue;
    if (asks_for_help(argc - 2, argv + 2)) {
      app_help(commands[i]);
      return finish(0);
    }
    app_args args;
    int status = app_parse(commands[i], argc - 2, argv + 2, &args);
    return finish(status ? status : commands[i]->run(&args));
  }
  return unknown(argv[1]);
}
