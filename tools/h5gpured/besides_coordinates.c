/* Arrays that are made of the coordinates of a dim: as they are, or as --weights takes them. */
#include <stdlib.h>
#include <string.h>

#include "h5gpured/search.h"

int search_find_dim(const search *s, const char *name) {
  int found = -1;
  for (int d = 0; d < s->info->ndim; d++) {
    if (!s->info->dim_names[d] || strcmp(s->info->dim_names[d], name) != 0) continue;
    if (found >= 0) return -1;
    found = d;
  }
  return found >= 0 && ndr_h5_coordinate(s->dataset, found, NULL) == NDR_OK ? found : -1;
}

/* Adds an array along dim d, whose values the caller then sets: *values. `source` says what it is. */
static bool add_along(const search *s, const char *name, int d, const char *source, double **values) {
  ndr_h5_operand *operand = search_add(s, NDR_WITH);
  if (!operand) return false;
  int i = s->b->count - 1;
  *values = malloc((size_t)s->info->shape[d] * sizeof **values + 1);
  if (!*values) return search_fail_memory(s);
  s->b->sizes[i] = s->info->shape[d];
  s->b->dims[i] = d;
  s->b->tensors[i] = ndr_tensor(*values, NDR_F64, 1, &s->b->sizes[i]);
  operand->name = name;
  operand->tensor = &s->b->tensors[i];
  operand->dims = &s->b->dims[i];
  return (s->b->sources[i] = strdup(source)) || search_fail_memory(s);
}

bool search_add_coordinate(const search *s, const char *name, int d) {
  double *values;
  return add_along(s, name, d, "coordinate", &values) && (ndr_h5_coordinate(s->dataset, d, values) == NDR_OK || fail());
}

int search_find_weighed_dim(const search *s, const char *text) {
  size_t length = strlen(text);
  int dims[NDR_MAX_DIMS], count = 0;
  if (weighing_of(text, length) == BY_VALUE) return -1;
  char *name = strndup(text, length - weights_function_length(text, length));
  bool found = name && ndr_h5_dims_parse(name, s->info->ndim, s->info->dim_names, &count, dims) == NDR_OK && count == 1;
  free(name);
  return found ? dims[0] : -1;
}

bool search_add_weighed(const search *s, const char *name, int d, const char *text) {
  double *values;
  char option[DIM_CHARS];
  if (!add_along(s, name, d, text, &values)) return false;
  bool days = weighing_of(text, strlen(text)) == BY_DAYS;
  ndr_status status =
      days ? ndr_h5_time_weights(s->dataset, d, values) : ndr_h5_coordinate_weights(s->dataset, d, true, values);
  snprintf(option, sizeof option, "--with %.300s", name);
  return status == NDR_OK || search_refuse_reason(s, option);
}
