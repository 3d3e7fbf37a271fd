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
  bool quiet; /* a wrong command line ends the reading, not the program */
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

__attribute__((noreturn, format(printf, 2, 0))) static void end_program(const cli *tool, const char *format,
                                                                        va_list arguments) {
  char text[1024];
  char *whole = cli_format(text, sizeof text, format, arguments);
  if (tool->refuse) tool->refuse(whole ? whole : text);
  fflush(stdout);
  fprintf(stderr, "%s: ", tool->program);
  cli_print_visible(whole ? whole : text, stderr);
  fprintf(stderr, " (see %s --help)\n", tool->command);
  free(whole);
  exit(CLI_USAGE);
}

void cli_refuse(const cli *tool, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  end_program(tool, format, arguments);
}

/* Ends the program; if the reading is quiet, returns false instead. */
__attribute__((format(printf, 2, 3))) static bool refuse(const reading *r, const char *format, ...) {
  va_list arguments;
  if (r->quiet) return false;
  va_start(arguments, format);
  end_program(r->tool, format, arguments);
}

/* ---- Which option ------------------------------------------------------------------------------------------------ */

static void refuse_unknown(const reading *r, const char *name) {
  const char *names[CLI_MOST_OPTIONS];
  const cli *tool = r->tool;
  for (int i = 0; tool->other && i < tool->other->count; i++)
    if (strcmp(tool->other->options[i].name, name) == 0)
      refuse(r, "--%s is an option of %s, not of %s", name, tool->other->command, tool->command);
  for (int i = 0; i < tool->count; i++) names[i] = tool->options[i].name;
  const char *near = cli_near(name, tool->count, names);
  if (near)
    refuse(r, "there is no option '--%s'; --%s is near", name, near);
  else
    refuse(r, "there is no option '--%s'", name);
}

static void refuse_ambiguous(const reading *r, const char *name) {
  const cli *tool = r->tool;
  char list[512] = "";
  size_t length = 0;
  for (int i = 0; i < tool->count && length < sizeof list; i++)
    if (strncmp(tool->options[i].name, name, strlen(name)) == 0)
      length +=
          (size_t)snprintf(list + length, sizeof list - length, "%s--%s", length ? ", " : "", tool->options[i].name);
  refuse(r, "'--%s' is short for several options: %s", name, list);
}

/* The option of that name, or the one whose name begins with it; NULL: there is none, or more than one. */
static const cli_option *find_name(const reading *r, const char *name) {
  const cli *tool = r->tool;
  const cli_option *found = NULL;
  int matches = 0;
  for (int i = 0; i < tool->count; i++) {
    if (strcmp(tool->options[i].name, name) == 0) return &tool->options[i];
    if (strncmp(tool->options[i].name, name, strlen(name)) != 0) continue;
    found = &tool->options[i];
    matches++;
  }
  if (matches == 0) refuse_unknown(r, name);
  if (matches > 1) refuse_ambiguous(r, name);
  return matches == 1 ? found : NULL;
}

static const cli_option *find_letter(const reading *r, char letter) {
  const cli *tool = r->tool;
  for (int i = 0; i < tool->count; i++)
    if (tool->options[i].letter == letter) return &tool->options[i];
  for (int i = 0; tool->other && i < tool->other->count; i++)
    if (tool->other->options[i].letter == letter)
      refuse(r, "-%c is an option of %s, not of %s", letter, tool->other->command, tool->command);
  refuse(r, "there is no option '-%c'", letter);
  return NULL;
}

/* ---- Its value --------------------------------------------------------------------------------------------------- */

/* This and the functions below return false where a quiet reading ends. */
static bool take(reading *r, const cli_option *option, const char *value) {
  const char **before = &r->given[option - r->tool->options];
  if (*before && option->argument && option->repeated == CLI_ONCE) {
    bool list = strcmp(option->argument, "LIST") == 0;
    const char *hint = option->twice ? option->twice : list ? "a list has commas in it" : "";
    return refuse(r, "--%s is given twice, as '%s' and as '%s'%s%s", option->name, *before, value, *hint ? "; " : "",
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
  return true;
}

/* Takes the argument after the one that is being read. */
static bool take_next(reading *r, const cli_option *option) {
  if (r->at + 1 >= r->argc)
    return refuse(r, "--%s needs a value: --%s %s", option->name, option->name, option->argument);
  return take(r, option, r->argv[++r->at]);
}

static bool read_name(reading *r, const char *text) {
  char name[64];
  size_t length = strcspn(text, "=");
  snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);
  const cli_option *option = find_name(r, name);
  const char *value = text[length] ? text + length + 1 : NULL;
  if (!option) return false;
  if (value && !option->argument) return refuse(r, "--%s takes no value, but is given '%s'", option->name, value);
  return !value && option->argument ? take_next(r, option) : take(r, option, value);
}

/* -op would give the option o the value p. */
static bool check_dashes(const reading *r, const char *letters) {
  const cli *tool = r->tool;
  size_t length = strcspn(letters, "=");
  for (int i = 0; i < tool->count; i++)
    if (length > 1 && strlen(tool->options[i].name) == length && strncmp(tool->options[i].name, letters, length) == 0)
      return refuse(r, "-%s has one dash only: --%.*s is the option", letters, (int)length, letters);
  return true;
}

static bool read_letters(reading *r, const char *letters) {
  if (!check_dashes(r, letters)) return false;
  for (; *letters; letters++) {
    const cli_option *option = find_letter(r, *letters);
    if (!option) return false;
    if (option->argument) return letters[1] ? take(r, option, letters + 1) : take_next(r, option);
    if (!take(r, option, NULL)) return false;
  }
  return true;
}

static int read_all(reading r) {
  int others = 0;
  bool ended = false;
  for (r.at = 1; r.at < r.argc; r.at++) {
    char *text = r.argv[r.at];
    if (ended || text[0] != '-' || !text[1])
      r.argv[++others] = text;
    else if (strcmp(text, "--") == 0)
      ended = true;
    else if (text[1] == '-' ? !read_name(&r, text + 2) : !read_letters(&r, text + 1))
      return -1;
  }
  return others;
}

int cli_read(const cli *tool, void *target, int argc, char **argv) {
  return read_all((reading){.tool = tool, .target = target, .argc = argc, .argv = argv});
}

int cli_try_read(const cli *tool, void *target, int argc, char **argv) {
  return read_all((reading){.tool = tool, .target = target, .quiet = true, .argc = argc, .argv = argv});
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
