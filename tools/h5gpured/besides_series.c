/* Arrays of the inputs' own files under --concat: each file has its own, which follow each other, or are stacked, as
 * the inputs are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5gpured/members.h"
#include "h5gpured/search.h"

static int find_dim(const ndr_h5_info *info, const char *name) {
  for (int d = 0; d < info->ndim; d++)
    if (name && info->dim_names[d] && strcmp(info->dim_names[d], name) == 0) return d;
  return -1;
}

/* Sets dims[i] to the dataset's dim that dim i of an array is: that of its name, or counted from the last one if not
 * all of the array's dims have names of the dataset's. */
static void pair_dims(const search *s, const ndr_h5_info *array, int *dims) {
  bool named = true;
  for (int i = 0; i < array->ndim; i++) named = (dims[i] = find_dim(s->info, array->dim_names[i])) >= 0 && named;
  for (int i = 0; i < array->ndim && !named; i++) dims[i] = i + s->info->ndim - array->ndim;
}

/* The dim of an array that is the one along which files follow each other; -1: it lacks that dim. */
static int dim_along_series(const search *s, const ndr_h5_info *array) {
  int dims[NDR_MAX_DIMS], own = concat_dim(s->options, s->info);
  pair_dims(s, array, dims);
  for (int i = 0; i < array->ndim; i++)
    if (own >= 0 && dims[i] == own) return i;
  return -1;
}

/* Sets *size to that of the dim in the first file, of which the series may have a part. */
static bool read_size_in_first(const search *s, int64_t *size) {
  ndr_h5_access access = input_access(s->options);
  ndr_h5_dataset *first = NULL;
  char *file, *path;
  access.on_remark = NULL; /* the series has made them */
  if (ndr_h5_split(s->options->inputs[0], &file, &path) != NDR_OK) return fail();
  ndr_status status = ndr_h5_open(&first, file, s->info->dataset, &access);
  free(file);
  free(path);
  if (status != NDR_OK) return search_refuse(s, "--concat");
  *size = ndr_h5_describe(first)->shape[concat_dim(s->options, s->info)];
  ndr_h5_close(first);
  return true;
}

/* Whether an array of the first file goes along the series, in *does: as long as that file's dim, which may have one
 * step, or as many as the whole series has; or of another length than the series, over which one step is repeated. */
static bool goes_along_series(const search *s, const ndr_h5_info *array, bool *does) {
  int own = concat_dim(s->options, s->info), d = dim_along_series(s, array);
  int64_t size = 0;
  *does = false;
  if (d < 0) return true;
  if (!read_size_in_first(s, &size)) return false;
  *does = array->shape[d] == size || (array->shape[d] != 1 && array->shape[d] != s->info->shape[own]);
  return true;
}

/* The part of an array where the dataset has `part`: entries by names go by those of its dims, others by their places.
 * NULL after a complaint. */
static char *part_of_array(const search *s, const char *part, const ndr_h5_info *array) {
  int dims[NDR_MAX_DIMS];
  uint64_t used = 0;
  char *text;
  pair_dims(s, array, dims);
  bool same = array->ndim == s->info->ndim;
  for (int i = 0; i < array->ndim && same; i++) same = dims[i] == i;
  if (same) {
    text = strdup(part);
  } else if (part_is_by_names(part)) {
    text = part_for(part, array->ndim, array->dim_names, &used);
  } else if (strchr(part, '=')) {
    complain("%s: %s:%s has other dims: '%s' is its part, too, if all entries are by names of dims", s->where,
             array->file, array->dataset, part);
    return NULL;
  } else {
    text = part_by_places(part, s->info->ndim, array->ndim, dims);
  }
  if (!text) search_fail_memory(s);
  return text;
}

/* The dataset of that path in the file of input i, with the part that is taken there; to be freed. Stacked files may be
 * cut by their coordinates; indices count in all of them alike, and are the library's matter. NULL after a complaint.
 */
static char *text_in(const search *s, int i, const ndr_h5_info *info) {
  char *file, *own, *part, *text = NULL;
  if (ndr_h5_split(s->options->inputs[i], &file, &own) != NDR_OK) {
    fail();
    return NULL;
  }
  const char *given = own ? part_of(own) : "";
  part = part_of_array(s, concat_new_dim(s->options) && !part_is_by_names(given) ? "" : given, info);
  if (part && !(text = malloc(strlen(file) + strlen(info->dataset) + strlen(part) + 2))) search_fail_memory(s);
  if (text) sprintf(text, "%s:%s%s", file, info->dataset, part);
  free(file);
  free(own);
  free(part);
  return text;
}

/* Opens the array of each file as one, along the array's dim d, or stacked as the inputs are; `first` is that of the
 * first file. */
static bool open_array_series(const search *s, const ndr_h5_info *first, int d, const ndr_h5_access *access,
                              ndr_h5_dataset **dataset) {
  int count = s->options->input_count;
  char number[16], **texts = calloc((size_t)count, sizeof *texts);
  h5gpured_options along = *s->options;
  snprintf(number, sizeof number, "%d", d);
  if (!concat_new_dim(s->options)) along.concat = number;
  bool good = true;
  if (!texts) return search_fail_memory(s);
  for (int i = 0; good && i < count; i++) good = (texts[i] = text_in(s, i, first)) != NULL;
  good = good && input_open_series(&along, count, (const char *const *)texts, access, dataset);
  for (int i = 0; i < count; i++) free(texts[i]);
  free(texts);
  return good;
}

/* Whether all files that are stacked have an array of the first one, in *all: they have it, or none of the others. */
static bool all_have(const search *s, const ndr_h5_info *array, bool *all) {
  char *file, *path, *lacking = NULL;
  int count = s->options->input_count, having = 0;
  for (int i = 0; i < count; i++) {
    if (ndr_h5_split(s->options->inputs[i], &file, &path) != NDR_OK) return fail();
    bool has = input_has(s->options, file, array->dataset);
    having += has;
    free(path);
    free(has || lacking ? file : NULL);
    if (!has && !lacking) lacking = file;
  }
  *all = having == count;
  bool good = *all || having <= 1;
  if (!good)
    complain("%s: %s has no %s, which each file has for itself; %s:%s, with its file, is for all", s->where, lacking,
             array->dataset, array->file, array->dataset);
  free(lacking);
  return good;
}

bool search_open_in_each(const search *s, ndr_h5_operand *operand, const ndr_h5_access *access) {
  ndr_h5_dataset *first = operand->dataset;
  const ndr_h5_info *info = ndr_h5_describe(first);
  bool each = false, stacks = concat_new_dim(s->options);
  if (!s->options->concat) return true;
  if (!(stacks ? all_have(s, info, &each) : goes_along_series(s, info, &each))) return false;
  if (!each) return true;
  operand->dataset = NULL;
  bool good = open_array_series(s, info, dim_along_series(s, info), access, &operand->dataset);
  ndr_h5_close(first);
  return good;
}
