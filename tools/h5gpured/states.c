/* Parts of a reduction, for job arrays: --part and --state write partial states, --merge goes on from those of all
 * parts. The command line of a part is kept in its file, without what may differ from part to part, so that --merge
 * needs only the files, and what else is said of the results. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "h5gpured/h5gpured.h"

#define SEPARATOR '\x1f' /* between the words of a note */

/* What parts may differ in, or --merge says anew. */
static const struct {
  const char *name, *letter;
  bool has_value;
} own[] = {{"--part", NULL, true},      {"--state", NULL, true},
           {"--threads", "-t", true},   {"--memory", NULL, true},
           {"--device", NULL, true},    {"--progress", NULL, false},
           {"--quiet", "-q", false},    {"--explain", NULL, false},
           {"--merge", NULL, false},    {"--allow-external", NULL, false},
           {"--overwrite", NULL, false}};

/* How many words, from `word` on, are one of those; -N and --name=value are one. */
static int own_words(const char *word) {
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    size_t length = strlen(own[i].name);
    bool named = strncmp(word, own[i].name, length) == 0;
    if (named && own[i].has_value && word[length] == '=') return 1;
    if ((named && !word[length]) || (own[i].letter && strcmp(word, own[i].letter) == 0))
      return own[i].has_value ? 2 : 1;
    if (own[i].letter && own[i].has_value && strncmp(word, own[i].letter, 2) == 0) return 1;
  }
  return 0;
}

char *states_note(int argc, char **argv) {
  size_t bytes = 1;
  for (int i = 1; i < argc; i++) bytes += strlen(argv[i]) + 1;
  char *note = malloc(bytes), *end = note;
  for (int i = 1; note && i < argc; i++) {
    int skipped = own_words(argv[i]);
    if (skipped) {
      i += skipped - 1;
      continue;
    }
    size_t length = strlen(argv[i]);
    if (end > note) *end++ = SEPARATOR;
    memcpy(end, argv[i], length);
    end += length;
  }
  if (note) *end = 0;
  return note;
}

static bool is_one_of(const char *word, int count, char *const *words) {
  for (int i = 0; i < count; i++)
    if (words[i] == word) return true;
  return false;
}

char **states_words(char *note, int argc, char **argv, int file_count, char *const *files, int *kept_count,
                    int *count) {
  size_t most = (size_t)argc + 2;
  for (const char *c = note; *c; c++) most += *c == SEPARATOR;
  char **words = calloc(most, sizeof *words);
  int n = 0;
  if (!words) return NULL;
  words[n++] = argv[0];
  for (char *word = note; word; n++) {
    char *end = strchr(word, SEPARATOR);
    words[n] = word;
    if (end) *end = 0;
    word = end ? end + 1 : NULL;
  }
  *kept_count = n;
  for (int i = 1; i < argc; i++)
    if (!is_one_of(argv[i], file_count, files) && strcmp(argv[i], "--merge") != 0) words[n++] = argv[i];
  *count = n;
  return words;
}
