/* A part's command line as one text. The file of --state keeps it whole, so that --merge need not be told again what
 * the parts reduce. options.c says which of its options --merge obeys. */
#include <stdlib.h>
#include <string.h>

#include "h5gpured/h5gpured.h"

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
