/* Reads a command line by a table of options: -l, -lVALUE, -l VALUE, --name, --name=VALUE, --name VALUE, and names cut
 * short as far as they stay unique. Options and other arguments may be mixed; -- ends the options. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* Where the reading is. */
typedef struct {
  const cli *tool;
  void *target;
  int argc, at;
  char **argv;
  const char *given[CLI_MOST_OPTIONS]; /* the value that an option has been given; "" for one that takes none */
} reading;

char *cli_format(char *room, size_t capacity, const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(room, capacity, format, arguments); // NOLINT(clang-analyzer-valist.Uninitialized)
  char *whole = length >= (int)capacity ? malloc((size_t)length + 1) : NULL;
  if (whole) vsnprintf(whole, (size_t)length + 1, format, again);
  va_end(again);
  return whole;
}

void cli_refuse(const cli *tool, const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  char *whole = cli_format(text, sizeof text, format, arguments);
  va_end(arguments);
  if (tool->refuse) tool->refuse(whole ? whole : text);
  fflush(stdout);
  fprintf(stderr, "%s: ", tool->program);
  cli_print_visible(whole ? whole : text, stderr);
  fprintf(stderr, " (see %s --help)\n", tool->command);
  free(whole);
  exit(CLI_USAGE);
}

/* ---- Which option ------------------------------------------------------------------------------------------------ */

__attribute__((noreturn)) static void refuse_unknown(const cli *tool, const char *name) {
  const char *names[CLI_MOST_OPTIONS];
  for (int i = 0; tool->other && i < tool->other->count; i++)
    if (strcmp(tool->other->options[i].name, name) == 0)
      cli_refuse(tool, "--%s is an option of %s, not of %s", name, tool->other->command, tool->command);
  for (int i = 0; i < tool->count; i++) names[i] = tool->options[i].name;
  const char *near = cli_near(name, tool->count, names);
  if (near) cli_refuse(tool, "there is no option '--%s'; --%s is near", name, near);
  cli_refuse(tool, "there is no option '--%s'", name);
}

__attribute__((noreturn)) static void refuse_ambiguous(const cli *tool, const char *name) {
  char list[512] = "";
  size_t length = 0;
  for (int i = 0; i < tool->count && length < sizeof list; i++)
    if (strncmp(tool->options[i].name, name, strlen(name)) == 0)
      length +=
          (size_t)snprintf(list + length, sizeof list - length, "%s--%s", length ? ", " : "", tool->options[i].name);
  cli_refuse(tool, "'--%s' is short for several options: %s", name, list);
}

static const cli_option *find_name(const cli *tool, const char *name) {
  const cli_option *found = NULL;
  int matches = 0;
  for (int i = 0; i < tool->count; i++) {
    if (strcmp(tool->options[i].name, name) == 0) return &tool->options[i];
    if (strncmp(tool->options[i].name, name, strlen(name)) != 0) continue;
    found = &tool->options[i];
    matches++;
  }
  if (matches == 0) refuse_unknown(tool, name);
  if (matches > 1) refuse_ambiguous(tool, name);
  return found;
}

static const cli_option *find_letter(const cli *tool, char letter) {
  for (int i = 0; i < tool->count; i++)
    if (tool->options[i].letter == letter) return &tool->options[i];
  for (int i = 0; tool->other && i < tool->other->count; i++)
    if (tool->other->options[i].letter == letter)
      cli_refuse(tool, "-%c is an option of %s, not of %s", letter, tool->other->command, tool->command);
  cli_refuse(tool, "there is no option '-%c'", letter);
}

/* ---- Its value --------------------------------------------------------------------------------------------------- */

static void take(reading *r, const cli_option *option, const char *value) {
  const char **before = &r->given[option - r->tool->options];
  if (*before && option->argument && option->repeated == CLI_ONCE) {
    bool list = strcmp(option->argument, "LIST") == 0;
    const char *hint = option->twice ? option->twice : list ? "a list has commas in it" : "";
    cli_refuse(r->tool, "--%s is given twice, as '%s' and as '%s'%s%s", option->name, *before, value, *hint ? "; " : "",
               hint);
  }
  *before = value ? value : "";
  if (r->tool->note) r->tool->note(r->target, (int)(option - r->tool->options));
  char *field = (char *)r->target + option->at;
  if (option->read)
    option->read(r->target, value);
  else if (option->argument)
    memcpy(field, &value, sizeof value);
  else
    *(bool *)field = true;
}

/* The argument after the one that is being read. */
static const char *next(reading *r, const cli_option *option) {
  if (r->at + 1 >= r->argc)
    cli_refuse(r->tool, "--%s needs a value: --%s %s", option->name, option->name, option->argument);
  return r->argv[++r->at];
}

static void read_name(reading *r, const char *text) {
  char name[64];
  size_t length = strcspn(text, "=");
  snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);
  const cli_option *option = find_name(r->tool, name);
  const char *value = text[length] ? text + length + 1 : NULL;
  if (value && !option->argument) cli_refuse(r->tool, "--%s takes no value, but is given '%s'", option->name, value);
  if (!value && option->argument) value = next(r, option);
  take(r, option, value);
}

/* -op would give the option o the value p. */
static void check_dashes(const cli *tool, const char *letters) {
  size_t length = strcspn(letters, "=");
  for (int i = 0; i < tool->count; i++)
    if (length > 1 && strlen(tool->options[i].name) == length && strncmp(tool->options[i].name, letters, length) == 0)
      cli_refuse(tool, "-%s has one dash only: --%.*s is the option", letters, (int)length, letters);
}

static void read_letters(reading *r, const char *letters) {
  check_dashes(r->tool, letters);
  for (; *letters; letters++) {
    const cli_option *option = find_letter(r->tool, *letters);
    if (option->argument) {
      take(r, option, letters[1] ? letters + 1 : next(r, option));
      return;
    }
    take(r, option, NULL);
  }
}

int cli_read(const cli *tool, void *target, int argc, char **argv) {
  reading r = {.tool = tool, .target = target, .argc = argc, .argv = argv};
  int others = 0;
  bool ended = false;
  for (r.at = 1; r.at < argc; r.at++) {
    const char *text = argv[r.at];
    if (ended || text[0] != '-' || !text[1])
      argv[++others] = argv[r.at];
    else if (strcmp(text, "--") == 0)
      ended = true;
    else if (text[1] == '-')
      read_name(&r, text + 2);
    else
      read_letters(&r, text + 1);
  }
  return others;
}

/* ---- --help ------------------------------------------------------------------------------------------------------ */

static int print_left(const cli_option *option, char text[128]) {
  char letter[8] = "";
  if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
  return snprintf(text, 128, "  %4s--%s%s%s", letter, option->name, option->argument ? " " : "",
                  option->argument ? option->argument : "");
}

void cli_print_options(const cli *tool, FILE *to) {
  char left[128];
  int width = 0;
  for (int i = 0; i < tool->count; i++) {
    int length = print_left(&tool->options[i], left);
    if (length > width) width = length;
  }
  for (int i = 0; i < tool->count; i++) {
    const char *line = tool->options[i].help;
    print_left(&tool->options[i], left);
    fprintf(to, "%-*s  ", width, left);
    for (const char *end; (end = strchr(line, '\n')); line = end + 1)
      fprintf(to, "%.*s\n%*s", (int)(end - line), line, width + 2, "");
    fprintf(to, "%s\n", line);
  }
}
