#include "app.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Edit distance of two words: insertions, deletions, replacements, swaps of neighbours. */
static int distance(const char *a, const char *b)
{
  enum { LONGEST = 40 };
  int d[LONGEST + 1][LONGEST + 1], la = (int)strlen(a), lb = (int)strlen(b);
  if (la > LONGEST || lb > LONGEST)
    return LONGEST;
  for (int i = 0; i <= la; i++)
    for (int j = 0; j <= lb; j++) {
      int best = i == 0 || j == 0 ? i + j : d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      if (i && d[i - 1][j] + 1 < best)
        best = d[i - 1][j] + 1;
      if (j && d[i][j - 1] + 1 < best)
        best = d[i][j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
          d[i - 2][j - 2] + 1 < best)
        best = d[i - 2][j - 2] + 1;
      d[i][j] = best;
    }
  return d[la][lb];
}

const char *app_nearest(const char *word, const char *const *list)
{
  const char *best = NULL;
  int least = 2 + (int)strlen(word) / 4;
  for (; *list; list++) {
    int d = distance(word, *list);
    if (d < least) {
      least = d;
      best = *list;
    }
  }
  return best;
}

static int unknown_option(const app_command *command, const char *name)
{
  const char *list[APP_OPTIONS_MAX + 2];
  int count = 0;
  for (const app_option *o = command->options; o->name; o++)
    list[count++] = o->name;
  list[count++] = "--help";
  list[count] = NULL;
  const char *near = app_nearest(name, list);
  int sets = 0; /* parameters of a scene */
  for (int i = 0; i < count; i++)
    sets |= !strcmp(list[i], "-p");
  return app_error(MN_BAD_INPUT, "%s: unknown option %s%s%s%s (meniscus %s --help lists them%s)",
                   command->name, name, near ? "; did you mean " : "", near ? near : "",
                   near ? "?" : "", command->name,
                   sets ? "; parameters of a scene are set by -p NAME=VALUE" : "");
}

/* -p NAME=VALUE; the text is cut at the equals sign. */
static int add_setting(app_args *args, char *text)
{
  char *equals = strchr(text, '=');
  if (!equals || equals == text)
    return app_error(MN_BAD_INPUT, "-p needs NAME=VALUE, found \"%s\"", text);
  if (args->setting_count == APP_SETTINGS_MAX)
    return app_error(MN_BAD_INPUT, "more than %d parameters with -p", APP_SETTINGS_MAX);
  *equals = 0;
  args->settings[args->setting_count++] = (mn_setting){text, equals + 1};
  return 0;
}

static int add_word(const app_command *command, app_args *args, const char *word)
{
  if (args->word_count == command->words)
    return app_error(MN_BAD_INPUT, "%s: \"%s\" is one word too many; usage: meniscus %s",
                     command->name, word, command->usage);
  args->words[args->word_count++] = word;
  return 0;
}

/* One option with its value, which may be glued on (--frames=3, -oDIR) or the next word. */
static int parse_option(const app_command *command, int argc, char **argv, int *i, app_args *args)
{
  char *name = argv[*i], *value = NULL;
  if (name[1] == '-' && (value = strchr(name, '=')))
    *value++ = 0;
  char letter[3] = {name[0], name[1], 0};
  if (name[1] != '-' && name[2]) {
    value = name + 2;
    name = letter;
  }
  int number = 0;
  const app_option *o = command->options;
  while (o->name && strcmp(o->name, name)) {
    o++;
    number++;
  }
  if (!o->name)
    return unknown_option(command, argv[*i]);
  if (!o->value && value)
    return app_error(MN_BAD_INPUT, "%s: %s takes no value", command->name, name);
  if (o->value && !value && *i + 1 == argc)
    return app_error(MN_BAD_INPUT, "%s: %s needs %s", command->name, name, o->value);
  if (o->value && !value)
    value = argv[++*i];
  if (!strcmp(name, "-p"))
    return add_setting(args, value);
  args->given[number] = o->value ? value : "";
  return 0;
}

int app_parse(const app_command *command, int argc, char **argv, app_args *args)
{
  *args = (app_args){.command = command};
  int only_words = 0;
  for (int i = 0; i < argc; i++) {
    int bad = 0;
    if (!only_words && !strcmp(argv[i], "--"))
      only_words = 1;
    else if (!only_words && argv[i][0] == '-' && argv[i][1])
      bad = parse_option(command, argc, argv, &i, args);
    else
      bad = add_word(command, args, argv[i]);
    if (bad)
      return bad;
  }
  return 0;
}

const char *app_get(const app_args *args, const char *name)
{
  const app_option *o = args->command->options;
  for (int i = 0; o[i].name; i++)
    if (!strcmp(o[i].name, name))
      return args->given[i];
  return NULL;
}

int app_get_int(const app_args *args, const char *name, int lo, int hi, int *value)
{
  const char *text = app_get(args, name);
  if (!text)
    return 0;
  char *end;
  errno = 0;
  long number = strtol(text, &end, 10);
  if (end == text || *end || errno || number < lo || number > hi)
    return app_error(MN_BAD_INPUT, "%s: %s is \"%s\": must be a whole number from %d to %d",
                     args->command->name, name, text, lo, hi);
  *value = (int)number;
  return 0;
}

int app_get_number(const app_args *args, const char *name, double *value)
{
  const char *text = app_get(args, name);
  if (!text)
    return 0;
  char *end;
  double number = strtod(text, &end);
  if (end == text || *end || !isfinite(number) || number < 0)
    return app_error(MN_BAD_INPUT, "%s: %s is \"%s\": must be a finite number, not negative",
                     args->command->name, name, text);
  *value = number;
  return 0;
}

void app_help(const app_command *command)
{
  printf("usage: meniscus %s\n\n%s\n", command->usage, command->summary);
  if (command->details)
    printf("\n%s\n", command->details);
  printf("\noptions:\n");
  for (const app_option *o = command->options; o->name; o++) {
    char left[40];
    snprintf(left, sizeof left, "%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
    printf("  %-24s %s\n", left, o->text);
  }
  printf("  %-24s %s\n", "--help", "print this");
}
