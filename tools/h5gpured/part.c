/* Parts as they are written behind a path, [time=2001, lat=30:60], where each of several datasets has some of the dims.
 * What an entry means is the library's matter. */
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
