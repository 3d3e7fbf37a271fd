/* Weights that are a dataset: found, opened, and its dims paired with those that are reduced. The library reads it. */
#include "h5gpured/weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Opens a path; one without a file is in the first input. `quiet`: only to see whether it is there. */
static bool open_beside(const h5gpured_options *options, const char *path, bool quiet, ndr_h5_dataset **from) {
  char *file, *unused;
  ndr_h5_access access = input_access(options);
  access.raw = 0; /* --raw is for the elements that are weighed */
  if (quiet) access.on_remark = NULL;
  if (names_file(path)) return open_path(path, NULL, &access, from) == NDR_OK;
  if (ndr_h5_split(options->inputs[0], &file, &unused) != NDR_OK) return false;
  ndr_status status = open_path(path, file, &access, from);
  free(file);
  free(unused);
  return status == NDR_OK;
}

bool weights_are_there(const h5gpured_options *options, const char *path) {
  ndr_h5_dataset *found;
  if (!open_beside(options, path, true, &found)) return false;
  ndr_h5_close(found);
  return true;
}

char *weights_find_path(const h5gpured_options *options, const ndr_h5_info *info, const char *word) {
  const char *slash = strrchr(info->dataset, '/');
  int group = slash ? (int)(slash - info->dataset) : 0;
  size_t capacity = (size_t)group + strlen(word) + 2;
  char *path = malloc(capacity);
  if (!path) return NULL;
  strcpy(path, word);
  if ((strchr(word, '/') || has_file_name(word)) && weights_are_there(options, path)) return path;
  snprintf(path, capacity, "%.*s/%s", group, info->dataset, word);
  if (weights_are_there(options, path)) return path;
  snprintf(path, capacity, "/%s", word);
  if (weights_are_there(options, path)) return path;
  free(path);
  return NULL;
}

/* Dims are paired by their names; where these say nothing, by their sizes, in order. */
static bool same_dim(const ndr_h5_info *a, int i, const ndr_h5_info *b, int j) {
  if (a->dim_names[i] && b->dim_names[j]) return strcmp(a->dim_names[i], b->dim_names[j]) == 0;
  return a->shape[i] == b->shape[j];
}

/* Pairs dims in order, each with the first one that fits, or with the last. */
static bool pair_from(const ndr_h5_info *info, const ndr_h5_info *own, bool last, int *dims) {
  int step = last ? -1 : 1, d = last ? info->ndim - 1 : 0;
  for (int n = 0; n < own->ndim; n++, d += step) {
    int i = last ? own->ndim - 1 - n : n;
    while (d >= 0 && d < info->ndim && !same_dim(info, d, own, i)) d += step;
    if (d < 0 || d >= info->ndim) return false;
    dims[i] = d;
  }
  return true;
}

/* Pairs dims in any order, if each has a name that only one dim of the dataset has. */
static bool pair_by_name(const ndr_h5_info *info, const ndr_h5_info *own, int *dims) {
  bool taken[NDR_MAX_DIMS] = {false};
  for (int i = 0; i < own->ndim; i++) {
    int found = 0;
    for (int d = 0; d < info->ndim; d++) {
      if (!own->dim_names[i] || !info->dim_names[d] || strcmp(own->dim_names[i], info->dim_names[d]) != 0) continue;
      found++;
      dims[i] = d;
    }
    if (found != 1 || taken[dims[i]]) return false;
    taken[dims[i]] = true;
  }
  return true;
}

static bool has_dim_of_groups(const ndr_h5_info *own) {
  for (int i = 0; i < own->ndim; i++)
    if (own->dim_names[i] && names_groups(own->dim_names[i])) return true;
  return false;
}

/* What weights are of dims that the dataset does not have; those of groups can be paired all the same. */
static bool fail_dims(const h5gpured_options *options, const char *where, const ndr_h5_info *own) {
  static const char said[] = "%s: --weights: the dims of %s are not among its dims, in order";
  const int length = snprintf(NULL, 0, said, where, options->weights);
  char *text = has_dim_of_groups(own) ? malloc((size_t)length + 1) : NULL;
  if (!text) {
    complain(said, where, options->weights);
    return false;
  }
  snprintf(text, (size_t)length + 1, said, where, options->weights);
  fail_weights_of_groups(options, text);
  free(text);
  return false;
}

static bool pair_dims(const h5gpured_options *options, const char *where, const ndr_h5_info *info,
                      const ndr_h5_info *own, weights *w) {
  int others[NDR_MAX_DIMS];
  char called[3][DIM_CHARS];
  w->tensor.ndim = own->ndim;
  memcpy(w->shape, own->shape, sizeof w->shape);
  if (pair_by_name(info, own, w->dims)) return true;
  if (!pair_from(info, own, false, w->dims) || !pair_from(info, own, true, others))
    return fail_dims(options, where, own);
  for (int i = 0; i < own->ndim; i++) {
    if (w->dims[i] == others[i]) continue;
    complain("%s: --weights: %s of %s could be %s or %s", where, weights_dim_text(own, i, called[0]), options->weights,
             weights_dim_text(info, w->dims[i], called[1]), weights_dim_text(info, others[i], called[2]));
    return false;
  }
  return true;
}

static bool check_concat(const h5gpured_options *options, const char *where, const ndr_h5_info *info,
                         const weights *w) {
  int along = concat_dim(options, info);
  for (int i = 0; i < w->tensor.ndim; i++) {
    if (w->dims[i] != along) continue;
    complain("%s: --weights: %s lies along the dim of --concat, but in one file only", where, options->weights);
    return false;
  }
  return true;
}

/* Blank units are none. */
static const char *units_of_dataset(const ndr_h5_dataset *dataset) {
  const char *units = ndr_h5_describe(dataset)->units;
  bool numbers = !units || !units[strspn(units, " ")] || strcmp(units, "1") == 0;
  return numbers ? NULL : units;
}

bool weights_read_dataset(const h5gpured_options *options, const ndr_h5_dataset *dataset, const char *where,
                          weights *w) {
  if (names_file_alone(options->weights))
    return refuse_file_alone(options, ndr_h5_describe(dataset), where, "--weights", options->weights, NULL);
  if (!open_beside(options, options->weights, false, &w->dataset)) {
    if (weighing_of(options->weights, strlen(options->weights)) == BY_VALUE) return weights_refuse(where);
    complain("%s: --weights: %s; the cosine of a dim's coordinates is DIM:cos", where, ndr_last_error());
    return false;
  }
  w->units = units_of_dataset(w->dataset);
  return pair_dims(options, where, ndr_h5_describe(dataset), ndr_h5_describe(w->dataset), w) &&
         check_concat(options, where, ndr_h5_describe(dataset), w);
}
