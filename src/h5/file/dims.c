/* Dims as users type them, and as messages call them. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "h5/file/dims.h"
#include "ndreduce/h5.h"

/* A dim as the user wrote it: part of the text, so not ended by a 0. */
typedef struct {
  const char *start;
  int length;
} item;

const char *ndr_dim_text(int d, const char *const *names, char text[NDR_DIM_TEXT]) {
  const char *name = names ? names[d] : NULL;
  snprintf(text, NDR_DIM_TEXT, name ? "dim %d (%.100s)" : "dim %d", d, name);
  return text;
}

/* Cuts the next item off the list, blanks around it dropped; *text moves behind its comma, or to NULL after the last.
 */
static item next_item(const char **text) {
  const char *start = *text, *comma = strchr(start, ',');
  const char *end = comma ? comma : start + strlen(start);
  *text = comma ? comma + 1 : NULL;
  while (start < end && isspace((unsigned char)*start)) start++;
  while (end > start && isspace((unsigned char)end[-1])) end--;
  size_t length = (size_t)(end - start);
  return (item){start, length > INT_MAX ? INT_MAX : (int)length};
}

static bool is_number(item dim) {
  int i = dim.length > 0 && (dim.start[0] == '-' || dim.start[0] == '+');
  int first = i;
  while (i < dim.length && isdigit((unsigned char)dim.start[i])) i++;
  return i == dim.length && i > first;
}

static ndr_status find_number(item dim, int ndim, int *found) {
  errno = 0;
  long number = strtol(dim.start, NULL, 10);
  if (errno || number < -ndim || number >= ndim)
    return ndr_fail(NDR_ERR_DIMS, "dim %.*s is out of range for an array of %d dim%s", dim.length, dim.start, ndim,
                    NDR_PLURAL(ndim));
  *found = (int)(number < 0 ? number + ndim : number);
  return NDR_OK;
}

static ndr_status find_name(item dim, int ndim, const char *const *names, int *found) {
  char known[256] = "";
  size_t used = 0;
  *found = -1;
  for (int d = 0; d < ndim; d++) {
    if (!names || !names[d]) continue;
    if (used + strlen(names[d]) + 3 < sizeof known) {
      if (used) used += strlen(strcpy(known + used, ", "));
      used += strlen(strcpy(known + used, names[d]));
    }
    if (strlen(names[d]) != (size_t)dim.length || memcmp(names[d], dim.start, (size_t)dim.length) != 0) continue;
    if (*found >= 0)
      return ndr_fail(NDR_ERR_DIMS, "dims %d and %d are both named '%s'; use their numbers", *found, d, names[d]);
    *found = d;
  }
  if (*found >= 0) return NDR_OK;
  if (!used)
    return ndr_fail(NDR_ERR_DIMS, "no dim is named '%.*s': its %d dim%s no name%s", dim.length, dim.start, ndim,
                    ndim == 1 ? " has" : "s have", NDR_PLURAL(ndim));
  return ndr_fail(NDR_ERR_DIMS, "no dim is named '%.*s'; its dims are %s", dim.length, dim.start, known);
}

static ndr_status check_text(const char *text) {
  for (const char *rest = text; rest;)
    if (next_item(&rest).length == 0)
      return ndr_fail(NDR_ERR_PARSE, "'%s' is not a list of dims: an entry is empty", text);
  return NDR_OK;
}

ndr_status ndr_h5_dims_parse(const char *text, int ndim, const char *const *names, int *dim_count, int *dims) {
  bool taken[NDR_MAX_DIMS] = {false};
  char called[NDR_DIM_TEXT];
  int count = 0;
  if (!text || !dim_count || (!dims && ndim > 0))
    return ndr_fail(NDR_ERR_ARGUMENT, "text, dim_count or dims is a null pointer");
  if (ndim < 0 || ndim > NDR_MAX_DIMS) return ndr_fail(NDR_ERR_ARGUMENT, "an array of %d dims", ndim);
  if (strcmp(text, "all") == 0) {
    for (int d = 0; d < ndim; d++) dims[d] = d;
    *dim_count = ndim;
    return NDR_OK;
  }
  NDR_TRY(check_text(text));
  for (const char *rest = text; rest;) {
    item dim = next_item(&rest);
    int found;
    if (ndim == 0)
      return ndr_fail(NDR_ERR_DIMS, "has no dim %.*s: it is a single element, without dims", dim.length, dim.start);
    NDR_TRY(is_number(dim) ? find_number(dim, ndim, &found) : find_name(dim, ndim, names, &found));
    if (taken[found])
      return ndr_fail(NDR_ERR_DIMS, "%s is named twice in '%s'", ndr_dim_text(found, names, called), text);
    taken[found] = true;
    dims[count++] = found;
  }
  *dim_count = count;
  return NDR_OK;
}
