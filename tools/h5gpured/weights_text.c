/* The text of --weights: its entries, and how complaints and attributes speak of it. */
#include "h5gpured/weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *weights_reason(const char *where) {
  const char *reason = ndr_last_error();
  size_t length = strlen(where);
  return strncmp(reason, where, length) == 0 && reason[length] == ':' ? reason + length + 2 : reason;
}

bool weights_refuse(const char *where) {
  complain("%s: --weights: %s", where, weights_reason(where));
  return false;
}

bool weights_refuse_memory(const char *where) {
  complain("%s: --weights: out of memory", where);
  return false;
}

const char *weights_dim_text(const ndr_h5_info *info, int d, char text[DIM_CHARS]) {
  snprintf(text, DIM_CHARS, info->dim_names[d] ? "dim %d (%.300s)" : "dim %d", d, info->dim_names[d]);
  return text;
}

static bool ends_in(const char *text, size_t length, const char *end) {
  size_t own = strlen(end);
  return length > own && strncmp(text + length - own, end, own) == 0;
}

weighing weighing_of(const char *entry, size_t length) {
  return ends_in(entry, length, ":cos") ? BY_COSINE : ends_in(entry, length, ":days") ? BY_DAYS : BY_VALUE;
}

size_t weights_function_length(const char *entry, size_t length) {
  weighing how = weighing_of(entry, length);
  return how == BY_COSINE ? strlen(":cos") : how == BY_DAYS ? strlen(":days") : 0;
}

bool weights_are_dataset(const char *text) {
  return where_is_dataset(text) && (strchr(text, '/') || weighing_of(text, strlen(text)) == BY_VALUE);
}

/* The length of a comma list's first entry. Commas within brackets belong to a part. */
static size_t entry_length(const char *entry) {
  size_t length = strcspn(entry, ",[");
  if (entry[length] == '[') length += strcspn(entry + length, "]");
  return length + strcspn(entry + length, ",");
}

const char *weights_next(const char **rest, size_t *length) {
  const char *entry = *rest;
  if (!entry) return NULL;
  *length = entry_length(entry);
  *rest = entry[*length] ? entry + *length + 1 : NULL;
  return entry;
}

/* "weighted by the days of time and the cosine of lat" */
char *weights_comment(const char *list) {
  static const char *const of[] = {[BY_VALUE] = "", [BY_COSINE] = "the cosine of ", [BY_DAYS] = "the days of "};
  size_t capacity = strlen("weighted by ") + 1;
  for (const char *c = list; *c; c++) capacity += *c == ',' ? strlen(" and ") + strlen(of[BY_COSINE]) : 1;
  char *comment = malloc(capacity + strlen(of[BY_COSINE]));
  if (!comment) return NULL;
  char *end = stpcpy(comment, "weighted by ");
  if (weights_are_dataset(list)) {
    strcpy(end, list);
    return comment;
  }
  size_t length;
  for (const char *rest = list, *entry; (entry = weights_next(&rest, &length));) {
    size_t name = length - weights_function_length(entry, length);
    end = stpcpy(stpcpy(end, entry == list ? "" : " and "), of[weighing_of(entry, length)]);
    memcpy(end, entry, name);
    end[name] = 0;
    end += name;
  }
  return comment;
}
