/* Texts of expressions, in --where and operators of one's own, as far as the command line has to know them: their
 * names, and what is no expression at all. What they mean is the library's matter. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/operator_text.h"
#include "h5gpured/besides.h"
#include "h5gpured/members.h"
#include "h5gpured/number.h"
#include "h5gpured/operators.h"

/* Whether a word is the index of index(DIM), and what stands in its brackets; *behind is moved to their end then. */
static bool is_index(const char *word, int length, const char **behind, const char **dim, int *dim_length) {
  const char *at = *behind + strspn(*behind, " "), *end = at + strcspn(at, ")");
  if (!ndr_expression_word_is(word, length, "index") || *at != '(' || !*end) return false;
  *behind = end;
  *dim = at + 1 + strspn(at + 1, " ");
  while (end > *dim && end[-1] == ' ') end--;
  *dim_length = (int)(end - *dim);
  return true;
}

int expression_name(const char **text, const char **name) {
  for (;;) {
    const char *dim;
    int dim_length, length = ndr_expression_word(text, name);
    bool index = is_index(*name, length, text, &dim, &dim_length);
    if (length == 0 || !(index || ndr_expression_is_builtin(*name, length))) return length;
  }
}

/* Returns NULL, or what is wrong. */
static const char *find_dim(const char *name, int length, const ndr_h5_info *info, int *dim) {
  int dims[NDR_MAX_DIMS], count = 0;
  char *copy = strndup(name, (size_t)length);
  if (!copy) return "out of memory";
  ndr_status status = ndr_h5_dims_parse(copy, info->ndim, info->dim_names, &count, dims);
  free(copy);
  if (status == NDR_OK && count == 1) *dim = dims[0];
  return status != NDR_OK ? ndr_last_error() : count != 1 ? "index takes one dim" : NULL;
}

const char *expression_number_dims(const char *text, const ndr_h5_info *info, char **numbered) {
  const char *rest = text, *done = text, *word, *name, *wrong = NULL;
  size_t size;
  int length, name_length, d = 0;
  *numbered = NULL;
  FILE *to = open_memstream(numbered, &size);
  if (!to) return "out of memory";
  while (!wrong && (length = ndr_expression_word(&rest, &word)) > 0) {
    if (!is_index(word, length, &rest, &name, &name_length) || !(*name == '_' || isalpha((unsigned char)*name)))
      continue;
    if (info) wrong = find_dim(name, name_length, info, &d);
    fprintf(to, "%.*s%-*d", (int)(name - done), done, name_length, d); /* columns stay what they are */
    done = name + name_length;
  }
  fputs(done, to);
  if (fclose(to) != 0 && !wrong) wrong = "out of memory";
  if (!wrong) return NULL;
  free(*numbered);
  *numbered = NULL;
  return wrong;
}

const char *expression_date(const char *text) {
  for (const char *at = text; *at; at++) {
    size_t year = strspn(at, "0123456789");
    if (year == 4 && at[4] == '-' && strspn(at + 5, "0123456789") == 2 && at[7] != '.') return at;
    while (isalnum((unsigned char)*at) || *at == '_' || *at == '.') at++; /* a longer number, or a name */
    if (!*at) break;
  }
  return NULL;
}

/* FILE:NAME, as inputs may be written, where there is such a file. */
static bool names_dataset_of_file(const char *text) {
  char *file, *path;
  if (!strchr(text, ':') || ndr_h5_split(text, &file, &path) != NDR_OK) return false;
  bool names = path && text[strlen(file)] == ':' && path[1];
  free(file);
  free(path);
  return names;
}

/* A word that is both a file's name and a condition is a condition. */
static bool is_file_alone(const char *text) {
  return names_file_alone(text) && ndr_h5_condition_check(text) != NDR_OK;
}

/* A number as one with a point is a parameter of an operator: a float beside integers, too. */
char *expression_put(const char *text, const named_value *name, double value) {
  char digits[NUMBER_CHARS], *put = NULL;
  const char *rest = text, *done = text, *found;
  size_t length;
  int count;
  FILE *to = open_memstream(&put, &length);
  if (!to) return NULL;
  number_shortest(value, 17, digits);
  if (isfinite(value) && !strpbrk(digits, ".e")) strcat(digits, ".0");
  while ((count = expression_name(&rest, &found)) > 0) {
    if (!is_named(name, found, count)) continue;
    fprintf(to, signbit(value) ? "%.*s(%s)" : "%.*s%s", (int)(found - done), done, digits);
    done = rest;
  }
  fputs(done, to);
  if (fclose(to) == 0) return put;
  free(put);
  return NULL;
}

bool compares(const char *text) {
  return strcspn(text, "<>=!&|") < (size_t)(part_of(text) - text);
}

bool where_is_dataset(const char *text) {
  return text[0] == '/' || strstr(text, ":/") != NULL || names_dataset_of_file(text) || is_file_alone(text) ||
         (has_file_name(text) && !compares(text)); /* there may be no such file, as opening it will tell */
}
