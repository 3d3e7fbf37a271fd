/* Coordinates of what argmin and argmax have found, as numbers or dates. Printing them is in text.c,
 * json.c and table.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5gpured/number.h"
#include "h5gpured/output.h"

bool dates_of(const ndr_h5_dataset *dataset, int dim, int64_t count, const double *values, date **dates) {
  *dates = malloc((size_t)count * sizeof **dates + 1);
  if (!*dates) {
    complain("out of memory for dates");
    return false;
  }
  ndr_status status = ndr_h5_dates(dataset, dim, count, values, *dates);
  if (status == NDR_OK) return true;
  free(*dates);
  *dates = NULL;
  if (status != NDR_ERR_DIMS) complain("%s", ndr_last_error());
  return status == NDR_ERR_DIMS;
}

_Static_assert(NUMBER_CHARS >= NDR_H5_DATE_CHARS, "a text has room for a date");

void coordinate_text(date *dates, const double *values, int64_t i, char text[NUMBER_CHARS]) {
  if (dates && *dates[i])
    strcpy(text, dates[i]);
  else
    number_shortest(values[i], 17, text);
}

/* The coordinates, if there are any, along one dim of what one operator has found. */
static bool find_along(const ndr_h5_dataset *dataset, answer *a, int op, int dim) {
  const DLTensor *indices = &a->results[op];
  ndr_status has = ndr_h5_coordinate(dataset, dim, NULL);
  if (has == NDR_ERR_DIMS) return true;
  if (has != NDR_OK) return fail();
  double *values = malloc((size_t)tensor_count(indices) * sizeof *values + 1);
  if (!values) {
    complain("%s:%s: out of memory for coordinates", a->info->file, a->info->dataset);
    return false;
  }
  found_place *place = &a->found[a->found_count++];
  *place = (found_place){.op = op, .dim = dim, .values = values};
  dim_label(a, dim, place->name);
  if (ndr_h5_locate(dataset, &a->problem, dim, indices, values) == NDR_OK)
    return dates_of(dataset, dim, tensor_count(indices), values, &place->dates);
  return fail();
}

bool find_places(const ndr_h5_dataset *dataset, answer *a) {
  bool reduced[NDR_MAX_DIMS] = {false};
  for (int i = 0; i < a->problem.dim_count; i++) reduced[a->problem.dims[i]] = true;
  for (int op = 0; op < a->options->op_count; op++) {
    bool finds = a->options->ops[op] == NDR_ARGMIN || a->options->ops[op] == NDR_ARGMAX;
    for (int d = 0; d < a->info->ndim && finds; d++)
      if (reduced[d] && !find_along(dataset, a, op, d)) return false;
  }
  return true;
}

DLTensor found_tensor(const answer *a, int i) {
  DLTensor tensor = a->results[a->found[i].op];
  tensor.dtype = ndr_dtype_to_dlpack(NDR_F64);
  tensor.data = a->found[i].values;
  return tensor;
}

void dim_label(const answer *a, int d, char label[DIM_CHARS]) {
  const char *const *names = a->info->dim_names;
  bool reduced[NDR_MAX_DIMS] = {false};
  int same = 1;
  for (int i = 0; i < a->problem.dim_count; i++) reduced[a->problem.dims[i]] = true;
  for (int e = 0; e < d; e++)
    same += reduced[e] == reduced[d] && names[e] && names[d] && strcmp(names[e], names[d]) == 0;
  if (!names[d])
    snprintf(label, DIM_CHARS, "dim%d", d);
  else if (same > 1)
    snprintf(label, DIM_CHARS, "%.300s_%d", names[d], same);
  else
    snprintf(label, DIM_CHARS, "%s", names[d]);
}
