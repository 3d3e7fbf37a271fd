/* What --with names: the dataset that it means for the one that is reduced, and how that is said of results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5gpured/besides.h"
#include "h5gpured/members.h"

char *with_text(const h5gpured_options *options, const char *path, const char *value) {
  char *file = NULL, *own = NULL, *text;
  bool split = names_file(value) && ndr_h5_split(value, &file, &own) == NDR_OK;
  bool alone = split && path_is_file_alone(own) && input_has(options, file, path);
  if (!alone)
    text = strdup(value);
  else if ((text = malloc(strlen(value) + strlen(path) + 2)))
    sprintf(text, "%s:%s%s", file, path, part_of(value));
  free(file);
  free(own);
  return text;
}

char *with_part(const char *text, const char *part) {
  if (*part_of(text)) part = "";
  char *whole = malloc(strlen(text) + strlen(part) + 1);
  if (whole) sprintf(whole, "%s%s", text, part);
  return whole;
}

/* Prints FILE:NAME and FILE/NAME as FILE:/NAME, and a text that names no file unchanged. False: out of memory. */
static bool print_dataset(const char *text, FILE *to) {
  char *file = NULL, *path = NULL, *whole = NULL;
  bool names = names_file(text) && ndr_h5_split(text, &file, &path) == NDR_OK && path;
  size_t capacity = names ? strlen(file) + strlen(path) + 2 : 0;
  if (names && (whole = malloc(capacity))) snprintf(whole, capacity, "%s:%s", file, path);
  if (whole || !names) print_argument(whole ? whole : text, to);
  bool good = whole || !names;
  free(whole);
  free(file);
  free(path);
  return good;
}

char *with_source(int count, const char *const *texts) {
  char *source = NULL;
  size_t length;
  FILE *to = open_memstream(&source, &length);
  bool good = to != NULL;
  for (int i = 0; good && i < count; i++) {
    if (i > 0) fputc(' ', to);
    good = print_dataset(texts[i], to);
  }
  if (to && fclose(to) == 0 && good) return source;
  free(source);
  return NULL;
}
