/* Complaints on stderr. The library's sentences name fields and functions of h5.h; users know these as options. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "h5gpured/ranks.h"

/* No option is longer than what it stands for, so that a text has room for it. */
static const struct {
  const char *api, *option;
} names[] = {
    {"ndr_h5_access.allow_external", "--allow-external"},
    {"ndr_h5_access.by_number", "--pair-by-number"},
    {"ndr_h5_access.raw", "--raw"},
    {"ndr_h5_operand.groups", "--pair-by DIM:KEY"},
    {"agree within the part", "agree under --select"},
    {"operand where", "--where"},
    {"operand weights", "--weights"},
    {"operand with", "--with"},
    {"ndr_h5_list", "--list"},
    {"ndr_h5_open_series", "--concat"},
    {"ndr_h5_options.memory of", "--memory"},
    {"ndr_h5_writer_options.overwrite", "--overwrite"},
};

void name_options(char *text) {
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t before = strlen(names[i].api), after = strlen(names[i].option);
    for (char *at = text; (at = strstr(at, names[i].api)); at += after) {
      memcpy(at, names[i].option, after);
      memmove(at + after, at + before, strlen(at + before) + 1);
    }
  }
}

static void print_line(const char *text, FILE *to) {
  fputs("h5gpured: ", to);
  cli_print_visible(text, to);
  fputc('\n', to);
}

/* In one write, so that lines of several processes do not mix; in several where there is no memory for that. */
static void say_line(const char *text) {
  char *line = NULL;
  size_t length;
  FILE *memory = open_memstream(&line, &length);
  if (memory) print_line(text, memory);
  if (memory && fclose(memory) == 0)
    fwrite(line, 1, length, stderr);
  else
    print_line(text, stderr);
  free(line);
}

/* ---- One reason for many datasets -------------------------------------------------------------------------------- */

/* The path of the dataset that complaints are of; the reason that was given last, without it, and of how many more
 * datasets that is true. */
static struct {
  const char *path;
  char *reason;
  int repeated;
} given;

/* Whether a path ends here, rather than goes on. */
static bool ends_path(char next) {
  return next == 0 || strchr(":;, [", next);
}

/* The text without the path behind files' names, which a sentence on a series has twice; to be freed. NULL where it
 * has no such path, or there is no memory. */
static char *without_path(const char *text, const char *path) {
  size_t length = path ? strlen(path) : 0, at = 0;
  bool found = false;
  char *rest = length ? malloc(strlen(text) + 1) : NULL;
  for (const char *c = text; rest && *c; c++) {
    rest[at++] = *c;
    if (*c != ':' || strncmp(c + 1, path, length) != 0 || !ends_path(c[1 + length])) continue;
    c += length;
    found = true;
  }
  if (rest) rest[at] = 0;
  if (found) return rest;
  free(rest);
  return NULL;
}

/* Whether the reason of a complaint of the dataset is the last one again. */
static bool is_repeated(const char *text) {
  char *reason = without_path(text, given.path);
  if (!reason) {
    if (given.repeated) complaints_end(); /* it would stand behind a line of something else */
    return false;
  }
  bool same = given.reason && strcmp(given.reason, reason) == 0;
  given.repeated += same;
  if (!same) {
    complaints_end();
    given.reason = reason;
    return false;
  }
  free(reason);
  return true;
}

void complaints_begin(const char *path) {
  given.path = path;
}

void complaints_end(void) {
  int count = given.repeated;
  const char *path = given.path;
  given.repeated = 0;
  given.path = NULL;
  free(given.reason);
  given.reason = NULL;
  if (count) complain("the same is true of %d more dataset%s", count, count == 1 ? "" : "s");
  given.path = path;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

void complain(const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  char *whole = cli_format(text, sizeof text, format, arguments);
  va_end(arguments);
  name_options(whole ? whole : text);
  if (is_repeated(whole ? whole : text) || ranks_keep(whole ? whole : text)) {
    free(whole);
    return;
  }
  fflush(stdout);
  say_line(whole ? whole : text);
  free(whole);
}

/* The library names the callback by which a signal stops it. */
static const char *reason(void) {
  return work_is_stopped() ? "stopped by a signal" : ndr_last_error();
}

bool fail_with(const char *where) {
  complain("%s: %s", where, reason());
  return false;
}

bool fail(void) {
  complain("%s", reason());
  return false;
}
