/* Parts as texts, [time=2001, lat=30:60]: those that --select puts behind all inputs, and those of several datasets,
 * each of which has some of the dims. What an entry means is the library's matter. */
#include <stdlib.h>
#include <string.h>

#include "h5gpured/members.h"

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

/* NAME=VALUE, with the name cut off; NULL for a range. */
static const char *single_value(const char *entry, int length, int *name) {
  const char *equals = memchr(entry, '=', (size_t)length), *value = equals + 1;
  for (*name = (int)(equals - entry); *name > 0 && entry[*name - 1] == ' ';) --*name;
  size_t values = (size_t)(entry + length - value);
  return values > 0 && !memchr(value, ':', values) ? value : NULL;
}

static bool is_number(const char *name, int length) {
  return (int)strspn(name, "-0123456789") >= length;
}

/* The part of each file of a series. NAME=VALUE along the series would be the nearest element of each file: it becomes
 * VALUE:VALUE, which is that coordinate, or all that the date names. Sets options->select_along to the entry along the
 * series, if there is one. What is wrong with the part is in *refusal. */
static char *part_of_each(h5gpured_options *options, char **refusal) {
  const char *rest = options->select, *dim = options->concat, *entry;
  int length, name, along_length = (int)strlen(dim);
  size_t capacity = 2 * strlen(rest) + 1, at = 0;
  char *text = calloc(capacity, 1);
  while (text && !*refusal && next_entry(&rest, &entry, &length)) {
    const char *value = single_value(entry, length, &name);
    bool along = name == along_length && strncmp(entry, dim, (size_t)name) == 0;
    if (value && !along && (is_number(dim, along_length) || is_number(entry, name)))
      *refusal = refuse_part("--select '%s': a single value takes names of dims, here and under --concat, which tell "
                             "whether it is of the dim along which files follow each other",
                             options->select);
    size_t begin = at + (at > 0);
    at += (size_t)snprintf(text + at, capacity - at, "%s%.*s", at ? "," : "", length, entry);
    if (value && along) at += (size_t)snprintf(text + at, capacity - at, ":%.*s", (int)(entry + length - value), value);
    if (along && !options->select_along) options->select_along = join_part("", text + begin);
  }
  return text;
}

/* What is behind each input; to be freed. NULL after a refusal, and where there is no memory. */
static char *part_behind(h5gpured_options *options, char **refusal) {
  const char *part = options->select;
  if (!part[strspn(part, "[], ")]) *refusal = refuse_part("--select: the part is empty%s", "");
  if (*refusal || !options->concat) return *refusal ? NULL : strdup(part);
  if (has_indices(part))
    *refusal = refuse_part("--select '%s': under --concat take coordinates, as NAME=FROM:TO; an index would count in "
                           "each file: write it behind those that it is meant of",
                           part);
  if (*refusal) return NULL;
  return concat_new_dim(options) ? strdup(part) : part_of_each(options, refusal);
}

char *part_put(h5gpured_options *options) {
  char **inputs = calloc((size_t)options->input_count + 1, sizeof *inputs), **given = options->inputs;
  char *refusal = NULL, *part = part_behind(options, &refusal);
  options->inputs = inputs;
  for (int i = 0; !refusal && i < options->input_count; i++) {
    if (!inputs || !part || !(inputs[i] = join_part(given[i], part)))
      refusal = strdup("out of memory");
    else if (*part_of(given[i]))
      refusal = refuse_part("--select: %s has a part of its own already", given[i]);
  }
  free(part);
  return refusal;
}

void part_free(h5gpured_options *options) {
  for (int i = 0; options->select && options->inputs && i < options->input_count; i++) free(options->inputs[i]);
  if (options->select) free(options->inputs);
  free(options->select_along);
}

/* ---- The part of one of several datasets ------------------------------------------------------------------------- */

static bool is_dots(const char *entry, int length) {
  return length == 3 && strncmp(entry, "...", 3) == 0;
}

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

char *part_by_places(const char *part, int ndim, int array_ndim, const int *dims) {
  size_t capacity = strlen(part) * (size_t)(array_ndim + 1) + 3 * (size_t)array_ndim + 3, at = 0;
  char *text = calloc(capacity, 1);
  const char *entries[NDR_MAX_DIMS] = {NULL}, *entry, *rest = part;
  int lengths[NDR_MAX_DIMS], length, count = 0, d = 0;
  while (next_entry(&rest, &entry, &length)) count += !is_dots(entry, length);
  for (rest = part; text && next_entry(&rest, &entry, &length);) {
    if (is_dots(entry, length)) {
      d += ndim - count;
    } else if (d >= 0 && d < ndim) {
      entries[d] = entry;
      lengths[d++] = length;
    }
  }
  for (int i = 0; text && i < array_ndim; i++) {
    const char *own = dims[i] >= 0 ? entries[dims[i]] : NULL;
    at += (size_t)snprintf(text + at, capacity - at, "%s%.*s", i ? "," : "[", own ? lengths[dims[i]] : 1,
                           own ? own : ":");
  }
  if (text) snprintf(text + at, capacity - at, "%s", at ? "]" : "");
  return text;
}

const char *part_unused(const char *part, uint64_t used, int *length) {
  const char *entry;
  for (int i = 0; next_entry(&part, &entry, length) && i < 64; i++)
    if (!(used & (uint64_t)1 << i)) return entry;
  return NULL;
}
