/* A part's command line as one text. The file of --state keeps it whole, so that --merge need not be told again what
 * the parts reduce. options.c says which of its options --merge obeys. Where parts are of different jobs, their command
 * lines say why. */
#include <stdlib.h>
#include <string.h>

#include "h5gpured/check.h"

#define SEPARATOR '\x1f' /* between the words of a note */

char *states_note(int argc, char **argv) {
  size_t bytes = 1;
  for (int i = 1; i < argc; i++) bytes += strlen(argv[i]) + 1;
  char *note = malloc(bytes), *end = note;
  for (int i = 1; note && i < argc; i++) {
    size_t length = strlen(argv[i]);
    if (i > 1) *end++ = SEPARATOR;
    memcpy(end, argv[i], length);
    end += length;
  }
  if (note) *end = 0;
  return note;
}

char **states_words(char *note, int *count) {
  size_t most = 3; /* the program's name, the first word, and NULL */
  for (const char *c = note; *c; c++) most += *c == SEPARATOR;
  char **words = calloc(most, sizeof *words);
  *count = 1;
  for (char *word = note; words && word; ++*count) {
    char *end = strchr(word, SEPARATOR);
    words[*count] = word;
    if (end) *end = 0;
    word = end ? end + 1 : NULL;
  }
  return words;
}

/* ---- What two command lines differ in ---------------------------------------------------------------------------- */

/* A file's command line, taken apart. */
typedef struct {
  char *note;
  char **words;
  int input_count;                 /* words[1] and those behind it */
  char *options[CLI_MOST_OPTIONS]; /* "--op max", of each row of the table; NULL: not given */
  int row;                         /* which is being read */
} command;

static void note_row(void *target, int row) {
  ((command *)target)->row = row;
}

/* Adds the option to those of its row. */
static void keep_option(void *target, const char *value) {
  command *c = target;
  char *text = NULL, **before = &c->options[c->row];
  size_t length;
  FILE *to = open_memstream(&text, &length);
  if (!to) return;
  fprintf(to, "%s%s--%s%s", *before ? *before : "", *before ? " " : "", options_table->options[c->row].name,
          value ? " " : "");
  if (value) print_argument(value, to);
  fclose(to);
  free(*before);
  *before = text;
}

/* Reads a part's command line from its file, which anybody may have written. False if it is wrong, or without
 * memory. */
static bool command_read(command *c, const char *file) {
  cli_option rows[CLI_MOST_OPTIONS];
  cli recorder = *options_table;
  int count;
  *c = (command){.note = NULL};
  memcpy(rows, recorder.options, (size_t)recorder.count * sizeof *rows);
  for (int i = 0; i < recorder.count; i++) rows[i].read = keep_option;
  recorder.options = rows;
  recorder.note = note_row;
  if (ndr_h5_state_note(file, &c->note) != NDR_OK || !(c->words = states_words(c->note, &count))) return false;
  c->input_count = cli_try_read(&recorder, c, count, c->words);
  return c->input_count >= 0;
}

static void command_free(command *c) {
  for (int i = 0; i < CLI_MOST_OPTIONS; i++) free(c->options[i]);
  free(c->words);
  free(c->note);
}

static bool differs(const char *a, const char *b) {
  return a && b ? strcmp(a, b) != 0 : a || b;
}

/* Options that say what is reduced, and how; not those that a part has for itself. */
static bool is_of_job(const cli_option *option) {
  return option->not_with & WITH_MERGE && strcmp(option->name, "part") != 0 && strcmp(option->name, "state") != 0;
}

/* What one command line has and the other lacks, with a blank before each word; "" for nothing. To be freed; NULL: out
 * of memory. */
static char *own_words(const command *c, const command *other) {
  enum { MOST = 160 };
  char *text = NULL;
  size_t length;
  FILE *to = open_memstream(&text, &length);
  if (!to) return NULL;
  for (int i = 1; i <= c->input_count; i++) {
    if (i <= other->input_count && strcmp(c->words[i], other->words[i]) == 0) continue;
    fputc(' ', to);
    print_argument(c->words[i], to);
    if (ftell(to) > MOST && i < c->input_count) {
      fputs(" ...", to);
      break;
    }
  }
  for (int i = 0; i < options_table->count; i++)
    if (c->options[i] && is_of_job(&options_table->options[i]) && differs(c->options[i], other->options[i]))
      fprintf(to, " %s", c->options[i]);
  if (fclose(to) == 0) return text;
  free(text);
  return NULL;
}

/* "s2: was made with --op max, s1 with --op mean; ...", or "s2: was made without --op max, unlike s1; ...", to be
 * freed; NULL where there is nothing to say. */
static char *tell_difference(const char *file, const char *first) {
  command a, b = {.note = NULL};
  char *text = NULL, *own = NULL, *others = NULL;
  size_t length;
  if (command_read(&a, file) && command_read(&b, first)) {
    own = own_words(&a, &b);
    others = own_words(&b, &a);
  }
  FILE *to = own && others && (*own || *others) ? open_memstream(&text, &length) : NULL;
  if (to && *own)
    fprintf(to, "%s: was made with%s, %s with%s", file, own, first, *others ? others : "out");
  else if (to)
    fprintf(to, "%s: was made without%s, unlike %s", file, others, first);
  if (to) fputs("; parts must be of one command", to);
  if (to) fclose(to);
  free(own);
  free(others);
  command_free(&a);
  command_free(&b);
  return text;
}

bool states_fail(const h5gpured_options *options, const ndr_h5_refused *refused) {
  if (refused->why == NDR_H5_REFUSED_NONE) return fail();
  char *sentence = strdup(ndr_last_error()), *difference = NULL; /* reading the files may replace it */
  if (refused->why == NDR_H5_REFUSED_JOB)
    difference = tell_difference(options->states[refused->file], options->states[0]);
  complain("--merge: %s", difference ? difference : sentence ? sentence : "out of memory");
  free(sentence);
  free(difference);
  return false;
}
