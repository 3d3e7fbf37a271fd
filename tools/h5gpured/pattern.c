// Patterns of paths: /tas*, /{tas,pr}, /group/?, any depth as in /**. Reads no file.
#include <stdlib.h>
#include <string.h>

#include "h5gpured/members.h"

/* Braces multiply: {a,b}{a,b}{a,b} are eight. */
enum { MOST_PATTERNS = 1000, MOST_BRACES = 50 };

bool pattern_has_wildcards(const char *text) {
  return strpbrk(text, "*?") != NULL;
}

/* ---- Braces ------------------------------------------------------------------------------------------------------ */

/* The '}' or, at this depth, the ',' that ends what starts here; NULL if there is none. */
static const char *find_end(const char *text) {
  int depth = 0;
  for (; *text; text++) {
    if (depth == 0 && (*text == ',' || *text == '}')) return text;
    depth += *text == '{' ? 1 : *text == '}' ? -1 : 0;
  }
  return NULL;
}

static const char *find_close(const char *open) {
  const char *end = open;
  do end = find_end(end + 1);
  while (end && *end == ',');
  return end;
}

static const char *keep(patterns *list, const char *text) {
  char **all = realloc(list->all, (size_t)(list->count + 1) * sizeof *all);
  if (all) list->all = all;
  char *copy = all ? strdup(text) : NULL;
  if (!copy) return "out of memory";
  all[list->count++] = copy;
  return NULL;
}

static int count_braces(const char *text) {
  int count = 0;
  for (; *text; text++) count += *text == '{';
  return count;
}

/* Goes once through each list of alternatives, the first one outermost. */
const char *patterns_expand(patterns *list, const char *text) {
  const char *open = strchr(text, '{'), *reason = NULL;
  if (list->count == MOST_PATTERNS || count_braces(text) > MOST_BRACES) return "its braces stand for too many names";
  if (!open) return keep(list, text);
  const char *close = find_close(open);
  if (!close) return "there is a '{' without its '}'";
  for (const char *start = open + 1; start <= close && !reason;) {
    const char *end = find_end(start);
    size_t capacity = strlen(text) + 1;
    char *one = malloc(capacity);
    if (!one) return "out of memory";
    snprintf(one, capacity, "%.*s%.*s%s", (int)(open - text), text, (int)(end - start), start, close + 1);
    reason = patterns_expand(list, one);
    free(one);
    start = end + 1;
  }
  return reason;
}

void patterns_free(patterns *list) {
  for (int i = 0; i < list->count; i++) free(list->all[i]);
  free(list->all);
  *list = (patterns){0, NULL};
}

/* ---- Wildcards --------------------------------------------------------------------------------------------------- */

static const char *next_part(const char *part) {
  const char *slash = strchr(part, '/');
  return slash ? slash + 1 : NULL;
}

/* The byte behind a character of UTF-8. */
static const char *skip_character(const char *text) {
  do text++;
  while (((unsigned char)*text & 0xc0) == 0x80);
  return text;
}

static bool is_end(char c) {
  return c == 0 || c == '/';
}

/* Whether the parts that begin here, up to the next '/', match. On a mismatch the last '*' takes one more byte. */
static bool part_matches(const char *pattern, const char *part) {
  const char *star = NULL, *retry = NULL;
  while (!is_end(*part)) {
    if (*pattern == '*') {
      star = ++pattern;
      retry = part;
    } else if (*pattern == '?' || (*pattern == *part && !is_end(*pattern))) {
      part = *pattern++ == '?' ? skip_character(part) : part + 1;
    } else if (star) {
      pattern = star;
      part = ++retry;
    } else {
      return false;
    }
  }
  while (*pattern == '*') pattern++;
  return is_end(*pattern);
}

static bool is_any_depth(const char *pattern) {
  return pattern && pattern[0] == '*' && pattern[1] == '*' && is_end(pattern[2]);
}

/* As above, with parts in place of bytes: on a mismatch the last "**" takes one part more. */
bool pattern_matches(const char *pattern, const char *path) {
  const char *deep = NULL, *retry = NULL, *part = path + 1;
  pattern++;
  while (part) {
    if (is_any_depth(pattern)) {
      deep = pattern = next_part(pattern);
      if (!deep) return true;
      retry = part;
    } else if (pattern && part_matches(pattern, part)) {
      pattern = next_part(pattern);
      part = next_part(part);
    } else if (deep) {
      pattern = deep;
      part = retry = next_part(retry);
    } else {
      return false;
    }
  }
  return pattern == NULL;
}

bool patterns_match(const patterns *list, const char *path) {
  for (int i = 0; i < list->count; i++)
    if (pattern_matches(list->all[i], path)) return true;
  return false;
}
