/* See stack.h. */
#include "h5/series/stack.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "h5/cf/coordinates.h"
#include "h5/cf/variable.h"
#include "h5/file/attributes.h"

#define NEW "new:"

const char *ndr_stack_name(const char *dim) {
  return strncmp(dim, NEW, strlen(NEW)) == 0 ? dim + strlen(NEW) : NULL;
}

static ndr_status check_name(const ndr_h5_dataset *dataset, const char *name) {
  if (!(isalpha((unsigned char)name[0]) || name[0] == '_') || strchr(name, ','))
    return ndr_fail(NDR_ERR_DIMS, "%s: '%.80s' is no name for a new dim, which begins with a letter and has no comma",
                    dataset->where, name);
  for (int d = 0; d < dataset->info.ndim; d++)
    if (dataset->names[d] && strcmp(dataset->names[d], name) == 0)
      return ndr_fail(NDR_ERR_DIMS,
                      "%s: has a dim %.80s already: '%.80s' lays files along it, and a new dim needs "
                      "another name",
                      dataset->where, name, name);
  if (dataset->info.ndim < NDR_MAX_DIMS) return NDR_OK;
  return ndr_fail(NDR_ERR_DIMS, "%s: has %d dims, to which none can be added", dataset->where, dataset->info.ndim);
}

/* Whether the variable of that name says which member of an ensemble the dataset is; then *path is where it is. */
static ndr_status is_realization(const ndr_h5_dataset *dataset, const char *name, char **path) {
  const bool reduced[NDR_MAX_DIMS] = {false};
  ndr_cf_variable found;
  char *standard_name = NULL;
  ndr_status status = ndr_cf_variable_open(&found, dataset, reduced, name, false);
  bool single = status == NDR_OK && found.count && found.whole.info.ndim == 0;
  if (single && !ndr_hdf_get_text(found.whole.id, "standard_name", &standard_name))
    status = ndr_hdf_fail_coordinates(dataset);
  bool says = standard_name ? strcmp(standard_name, "realization") == 0 : strcmp(name, "realization") == 0;
  if (status == NDR_OK && single && says && !(*path = strdup(found.whole.path)))
    status = ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", dataset->where);
  free(standard_name);
  ndr_cf_variable_close(&found);
  return status;
}

static ndr_status find_realization(const ndr_h5_dataset *dataset, char **path) {
  char *names = NULL, *rest = NULL;
  if (!ndr_hdf_get_text(dataset->id, "coordinates", &names)) return ndr_hdf_fail_coordinates(dataset);
  ndr_status status = NDR_OK;
  for (char *name = names ? strtok_r(names, " ", &rest) : NULL; name && status == NDR_OK && !*path;
       name = strtok_r(NULL, " ", &rest))
    status = is_realization(dataset, name, path);
  free(names);
  return status == NDR_OK && !*path ? is_realization(dataset, "realization", path) : status;
}

/* Makes room for a first entry. */
#define SHIFT(entries, first)                                                                                          \
  (memmove((entries) + 1, (entries), (NDR_MAX_DIMS - 1) * sizeof *(entries)), (void)((entries)[0] = (first)))

static void insert_dim(ndr_h5_dataset *dataset, char *name, char *scale) {
  ndr_h5_info *info = &dataset->info;
  info->ndim++;
  SHIFT(info->shape, 1);
  SHIFT(info->chunk, 1);
  SHIFT(info->dim_names, name);
  SHIFT(dataset->names, name);
  SHIFT(dataset->scales, scale);
  SHIFT(dataset->extent, 1);
  SHIFT(dataset->stored, 1);
  SHIFT(dataset->from, 0);
  SHIFT(dataset->step, 1);
  SHIFT(dataset->turn, 0);
  SHIFT(dataset->seam, (ndr_seam){.at = 0});
  SHIFT(dataset->unlimited, false);
  dataset->new_dims = 1;
}

ndr_status ndr_stack_member(ndr_h5_dataset *dataset, const char *name) {
  ndr_hdf_scope scope;
  char *path = NULL;
  NDR_TRY(check_name(dataset, name));
  ndr_hdf_enter(&scope, dataset->no_plugins);
  ndr_status status = dataset->field ? NDR_OK : find_realization(dataset, &path);
  ndr_hdf_leave(&scope);
  char *copy = status == NDR_OK ? strdup(name) : NULL;
  if (copy) {
    insert_dim(dataset, copy, path);
    return NDR_OK;
  }
  free(path);
  return status == NDR_OK ? ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", dataset->where) : status;
}
