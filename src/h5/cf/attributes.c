/* See cf/attributes.h. What each operator does to an attribute is a row of spec/ops.def. */
#include "h5/cf/attributes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The columns of ops.def. */
typedef enum { NONE, NUMBER, QUANTITY, PACKED, SQUARE, DIFFERENCE } kind;

static const struct {
  const char *method;
  kind kind;
  enum { UNMARKED, MARKED } nothing;
} attributes_of[NDR_OP_COUNT] = {
#define OP(NAME, value, name, result, empty, domain, combine, words, kernel, finalize, cost, weights, nothing, scan,   \
           units, method, what)                                                                                        \
  [value] = {method, units, nothing},
#include "spec/ops.def"
};

/* What an operator of one's own comes to is known to its author alone. */
static kind kind_of(ndr_op op) {
  return (int)op < NDR_OP_COUNT ? attributes_of[op].kind : NONE;
}

bool ndr_cf_attributes_is_quantity(ndr_op op) {
  return kind_of(op) >= QUANTITY;
}

bool ndr_cf_attributes_composes(ndr_op op) {
  static const bool composes[NDR_OP_COUNT] = {
      [NDR_SUM] = true,       [NDR_PROD] = true,  [NDR_MIN] = true,   [NDR_MAX] = true,
      [NDR_MEAN] = true,      [NDR_NORM1] = true, [NDR_NORM2] = true, [NDR_NORMINF] = true,
      [NDR_LOGSUMEXP] = true, [NDR_ANY] = true,   [NDR_ALL] = true};
  return (int)op < NDR_OP_COUNT && composes[op];
}

bool ndr_cf_attributes_is_packed(ndr_op op) {
  return kind_of(op) == PACKED;
}

bool ndr_cf_attributes_hides_missing(ndr_op op) {
  return (int)op < NDR_OP_COUNT && attributes_of[op].nothing == MARKED;
}

const char *ndr_cf_attributes_method(ndr_op op) {
  return attributes_of[op].method;
}

/* Writes a comment in brackets. CF's grammar allows no brackets within these: they are escaped as in URIs. */
static void put_comment(char *end, const char *comment) {
  end = stpcpy(end, " (");
  for (; *comment; comment++) {
    if (*comment == '(' || *comment == ')')
      end = stpcpy(end, *comment == '(' ? "%28" : "%29");
    else
      *end++ = *comment;
  }
  strcpy(end, ")");
}

char *ndr_cf_attributes_methods(const char *before, int count, const char *const *names, const char *method,
                                const char *comment) {
  size_t capacity = (before ? strlen(before) : 0) + strlen(method) + (comment ? 3 * strlen(comment) : 0) + 6;
  for (int i = 0; i < count; i++) capacity += names[i] ? strlen(names[i]) + 3 : 0;
  char *text = malloc(capacity);
  if (!text) return NULL;
  size_t length = (size_t)snprintf(text, capacity, "%s", before ? before : "");
  size_t start = length;
  for (int i = 0; i < count; i++)
    if (names[i] && !strpbrk(names[i], " :()"))
      length += (size_t)snprintf(text + length, capacity - length, "%s%s:", length ? " " : "", names[i]);
  if (length > start) length += (size_t)snprintf(text + length, capacity - length, " %s", method);
  if (length > start && comment) put_comment(text + length, comment);
  return text;
}

/* UDUNITS reads "K2" and "(K m-1)^2". */
static char *square(const char *units, size_t length) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  bool word = strspn(units, letters) >= length;
  char *text = malloc(length + 5);
  if (text) snprintf(text, length + 5, word ? "%.*s2" : "(%.*s)^2", (int)length, units);
  return text;
}

/* "days since 1970-01-01" are points in time: they have a mean, and differences in days, but no sum. */
bool ndr_cf_attributes_units(const char *units, ndr_op op, char **result) {
  const char *since = units ? strstr(units, " since ") : NULL;
  kind wanted = kind_of(op);
  *result = NULL;
  if (!units || wanted == NONE || (since && wanted == QUANTITY)) return true;
  size_t length = since && wanted != PACKED ? (size_t)(since - units) : strlen(units);
  if (length == 0) return true;
  if (wanted == NUMBER || strcmp(units, "1") == 0)
    *result = strdup("1");
  else
    *result = wanted == SQUARE ? square(units, length) : strndup(units, length);
  return *result != NULL;
}

/* A mean, variance or deviation is divided by weights. */
bool ndr_cf_attributes_has_weights(ndr_op op) {
  return op == NDR_SUM || op == NDR_NORM2;
}

/* UDUNITS reads a blank as a product. A norm has the root of the weights' units. */
bool ndr_cf_attributes_weigh(const char *units, ndr_op op, const char *weights, char **result) {
  *result = NULL;
  if (!units || op != NDR_SUM || !*weights || strstr(weights, " since ")) return true;
  size_t capacity = strlen(units) + strlen(weights) + 2;
  bool number = strcmp(units, "1") == 0;
  *result = malloc(capacity);
  if (*result) snprintf(*result, capacity, "%s%s%s", number ? "" : units, number ? "" : " ", weights);
  return *result != NULL;
}
