/* Parts as texts, [time=2001, lat=30:60]: those that --select puts behind all inputs, and those of several datasets,
 * each of which has some of the dims. What an entry means is the library's matter. */
#include <stdlib.h>
#include <string.h>

#include "h5gpured/h5gpured.h"

const char *part_of(const char *path) {
  const char *end = path + strlen(path), *bracket = strrchr(path, '[');
  return bracket && end[-1] == ']' ? bracket : end;
}

/* The next entry of a part, without blanks around it; *rest is moved behind it. False after the last. */
static bool next_entry(const char **rest, const char **entry, int *length) {
  *rest += strspn(*rest, "[, ");
  *entry = *rest;
  *length = (int)strcspn(*rest, ",]");
  *rest += *length;
  while (*length > 0 && (*entry)[*length - 1] == ' ') --*length;
  return *length > 0;
}

/* The length of NAME in NAME=...; 0 where that is a number, or there is no name. */
static int name_length(const char *entry, int length) {
  const char *equals = memchr(entry, '=', (size_t)length);
  int name = equals ? (int)(equals - entry) : 0;
  while (name > 0 && entry[name - 1] == ' ') name--;
  return (int)strspn(entry, "-0123456789") < name ? name : 0;
}

/* ---- The part of all inputs -------------------------------------------------------------------------------------- */

/* An index would count in each file of a series, and not along the series. */
static bool has_indices(const char *part) {
  const char *entry;
  int length;
  while (next_entry(&part, &entry, &length))
    if (!memchr(entry, '=', (size_t)length)) return true;
  return false;
}

static char *refuse_part(const char *format, const char *input) {
  size_t capacity = strlen(format) + strlen(input) + 1;
  char *text = malloc(capacity);
  if (text) snprintf(text, capacity, format, input);
  return text ? text : strdup("out of memory");
}

/* INPUT[PART]; the part may have its brackets already. */
static char *join_part(const char *input, const char *part) {
  size_t length = strlen(part), capacity = strlen(input) + length + 3;
  bool bare = part[0] != '[' || part[length - 1] != ']';
  char *text = malloc(capacity);
  if (text) snprintf(text, capacity, bare ? "%s[%s]" : "%s%s", input, part);
  return text;
}

char *part_put(h5gpured_options *options) {
  const char *part = options->select;
  char **inputs = calloc((size_t)options->input_count + 1, sizeof *inputs), **given = options->inputs;
  options->inputs = inputs;
  if (!inputs) return strdup("out of memory");
  for (int i = 0; i < options->input_count; i++)
    if (!(inputs[i] = join_part(given[i], part))) return strdup("out of memory");
  if (!part[strspn(part, "[], ")]) return refuse_part("--select: the part is empty%s", "");
  if (options->concat && has_indices(part))
    return refuse_part("--select '%s': under --concat take coordinates, as NAME=FROM:TO; an index would count in each "
                       "file: write it behind those that it is meant of",
                       part);
  for (int i = 0; i < options->input_count; i++)
    if (*part_of(given[i])) return refuse_part("--select: %s has a part of its own already", given[i]);
  return NULL;
}

void part_free(h5gpured_options *options) {
  for (int i = 0; options->select && options->inputs && i < options->input_count; i++) free(options->inputs[i]);
  if (options->select) free(options->inputs);
}

/* ---- The part of one of several datasets ------------------------------------------------------------------------- */

bool part_is_by_names(const char *part) {
  const char *entry;
  int length;
  while (next_entry(&part, &entry, &length))
    if (name_length(entry, length) == 0) return false;
  return true;
}

static bool is_among(const char *name, int length, int count, const char *const *names) {
  for (int i = 0; i < count; i++)
    if (names[i] && (int)strlen(names[i]) == length && strncmp(names[i], name, (size_t)length) == 0) return true;
  return false;
}

char *part_for(const char *part, int ndim, const char *const *names, uint64_t *used) {
  size_t capacity = 2 * strlen(part) + 3, at = 0;
  char *text = malloc(capacity);
  const char *entry;
  int length;
  if (!text) return NULL;
  for (int i = 0; next_entry(&part, &entry, &length); i++) {
    int name = name_length(entry, length);
    if (name > 0 && !is_among(entry, name, ndim, names)) continue;
    if (i < 64) *used |= (uint64_t)1 << i;
    at += (size_t)snprintf(text + at, capacity - at, "%s%.*s", at ? "," : "[", length, entry);
  }
  snprintf(text + at, capacity - at, "%s", at ? "]" : "");
  return text;
}

const char *part_unused(const char *part, uint64_t used, int *length) {
  const char *entry;
  for (int i = 0; next_entry(&part, &entry, length) && i < 64; i++)
    if (!(used & (uint64_t)1 << i)) return entry;
  return NULL;
}
