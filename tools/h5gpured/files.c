/* Expands inputs, and values of --with, that mean several files, such as m??.nc:/tas. A shell cannot: no file has such
 * a name. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "h5gpured/members.h"

static bool is_file(const char *input) {
  char *file, *path;
  if (ndr_h5_split(input, &file, &path) != NDR_OK) return false;
  free(file);
  free(path);
  return true;
}

/* The first `length` characters as a pattern for glob. Brackets are escaped, as they hold a part of a dataset, and not
 * a set of characters. To be freed; NULL: out of memory. */
static char *escape(const char *text, size_t length) {
  char *pattern = malloc(2 * length + 1), *end = pattern;
  if (!pattern) return NULL;
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '[' || text[i] == '\\') *end++ = '\\';
    *end++ = text[i];
  }
  *end = 0;
  return pattern;
}

/* Adds an input, FILE and what follows it. */
static bool add(patterns *inputs, const char *file, const char *rest) {
  char **all = realloc(inputs->all, ((size_t)inputs->count + 2) * sizeof *all); /* with a NULL at the end */
  if (all) inputs->all = all;
  char *input = all ? malloc(strlen(file) + strlen(rest) + 1) : NULL;
  if (!input) return false;
  stpcpy(stpcpy(input, file), rest);
  all[inputs->count++] = input;
  all[inputs->count] = NULL;
  return true;
}

/* Adds an input for each file, but not for folders, that the first `length` characters of one match, in the order of
 * the files' names. */
static bool add_matching(patterns *inputs, const char *input, size_t length) {
  glob_t found = {.gl_pathc = 0};
  char *pattern = escape(input, length);
  int failure = pattern ? glob(pattern, GLOB_MARK, NULL, &found) : GLOB_NOSPACE;
  bool good = failure != GLOB_NOSPACE;
  for (size_t i = 0; failure == 0 && good && i < found.gl_pathc; i++) {
    const char *file = found.gl_pathv[i];
    if (file[strlen(file) - 1] != '/') good = add(inputs, file, input + length);
  }
  if (failure == 0) globfree(&found);
  free(pattern);
  return good;
}

/* The longest part of the input that matches a file is FILE, as without wildcards the longest that is a file. */
static bool add_input(patterns *inputs, const char *input) {
  int before = inputs->count;
  size_t first = strcspn(input, "*?"), length = strlen(input);
  if (first == length || is_file(input)) return add(inputs, input, "");
  for (; length > first; length--) {
    if (input[length] && !strchr(":/[", input[length])) continue;
    if (!add_matching(inputs, input, length)) return false;
    if (inputs->count > before) return true;
  }
  return add(inputs, input, "");
}

/* Adds to options->withs one value for each file that a value of --with means. All share its typed name. */
static bool add_with(h5gpured_options *options, named_value with) {
  patterns values = {0, NULL};
  bool good = add_input(&values, with.value);
  const size_t count = (size_t)options->with_count + (size_t)values.count;
  named_value *all = good ? realloc(options->withs, count * sizeof *all) : NULL;
  if (all) options->withs = all;
  for (int i = 0; all && i < values.count; i++) {
    with.value = values.all[i];
    values.all[i] = NULL;
    all[options->with_count++] = with;
  }
  patterns_free(&values);
  return all != NULL;
}

bool files_expand(h5gpured_options *options) {
  patterns inputs = {0, NULL};
  for (int i = 0; i < options->typed_with_count; i++)
    if (!add_with(options, options->typed_withs[i])) return false;
  for (int i = 0; i < options->input_count; i++) {
    if (add_input(&inputs, options->inputs[i])) continue;
    patterns_free(&inputs);
    return false;
  }
  options->input_count = inputs.count;
  options->expanded = inputs.all;
  if (inputs.all) options->inputs = inputs.all;
  return true;
}

/* Whether there are files that an input, up to a part or a path, would match if brackets were a set of characters. */
static bool is_shell_pattern(const char *input) {
  bool found = false;
  for (size_t length = strlen(input); strchr(input, '[') && length > 0 && !found; length--) {
    glob_t files = {.gl_pathc = 0};
    if (input[length] && !strchr(":/[", input[length])) continue;
    char *pattern = strndup(input, length);
    found = pattern && glob(pattern, 0, NULL, &files) == 0;
    if (found) globfree(&files);
    free(pattern);
  }
  return found;
}

/* Whether an input that is not there is the output, which CDO and NCO have last. */
static bool is_meant_as_output(const h5gpured_options *options, const char *input) {
  const int count = options->input_count;
  const char *dot = strrchr(input, '.');
  return !options->output && !options->concat && !options->list && !options->merge && count > 1 &&
         input == options->inputs[count - 1] && dot && !strpbrk(dot, "/:[") && access(input, F_OK) != 0;
}

bool input_fail(const h5gpured_options *options, const char *input) {
  char *folder = options->state_count > 0 && input[0] != '/' ? getcwd(NULL, 0) : NULL;
  if (is_shell_pattern(input))
    complain("%s; brackets hold a part of a dataset, and are no pattern, as * and ? are", ndr_last_error());
  else if (is_meant_as_output(options, input))
    complain("%s; results are written to a file by -o %s", ndr_last_error(), input);
  else if (folder)
    complain("%s; --part was given that name, and it is looked for in %s, the current folder", ndr_last_error(),
             folder);
  else
    complain("%s", ndr_last_error());
  free(folder);
  return false;
}

static void free_inputs(char **inputs) {
  for (int i = 0; inputs && inputs[i]; i++) free(inputs[i]);
  free(inputs);
}

void files_free(h5gpured_options *options) {
  free_inputs(options->expanded);
  free_inputs(options->states);
  for (int w = 0; w < options->with_count; w++) free((char *)(uintptr_t)options->withs[w].value);
  free(options->withs);
}
