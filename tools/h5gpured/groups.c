/* What --by and --coarsen name: the groups along a dim of a dataset, which the library makes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5gpured/h5gpured.h"

/* The library's sentences on the dataset begin with its name, which a complaint has already. */
static const char *drop_name(const char *reason, const char *where) {
  size_t length = strlen(where);
  bool named = strncmp(reason, where, length) == 0 && reason[length] == ':';
  return named ? reason + length + 2 : reason;
}

static bool refuse(const answer *a, const char *where) {
  complain("%s: %s: %s", where, a->options->by ? "--by" : "--coarsen", drop_name(ndr_last_error(), where));
  return false;
}

/* Of DIM:WORD, which may be meant as DIM:/WORD. */
static bool refuse_key(const answer *a, const char *where) {
  const h5gpured_options *options = a->options;
  ndr_h5_access access = input_access(options);
  ndr_h5_dataset *labels = NULL;
  char path[256], reason[512];
  access.on_remark = NULL;
  snprintf(reason, sizeof reason, "%s", drop_name(ndr_last_error(), where));
  int length = snprintf(path, sizeof path, "/%s", options->by_what);
  bool there = length < (int)sizeof path && ndr_h5_open(&labels, a->info->file, path, &access) == NDR_OK;
  ndr_h5_close(labels);
  if (there)
    complain("%s: --by: %s; did you mean %s:%s?", where, reason, options->grouped, path);
  else
    complain("%s: --by: %s", where, reason);
  return false;
}

/* The files of the inputs, whose labels follow each other as they do; to be freed. */
static ndr_status name_series(const h5gpured_options *options, char **files, const char **paths) {
  ndr_status status = files && paths ? NDR_OK : NDR_ERR_MEMORY;
  for (int i = 0; i < options->input_count && status == NDR_OK; i++) {
    char *unused = NULL;
    paths[i] = options->by_what;
    status = ndr_h5_split(options->inputs[i], &files[i], &unused);
    free(unused);
  }
  return status;
}

static ndr_status open_series(const h5gpured_options *options, int along, const ndr_h5_access *access,
                              ndr_h5_dataset **labels) {
  char **files = calloc((size_t)options->input_count, sizeof *files), dim[16];
  const char **paths = calloc((size_t)options->input_count, sizeof *paths);
  ndr_status status = name_series(options, files, paths);
  snprintf(dim, sizeof dim, "%d", along);
  if (status == NDR_OK)
    status = ndr_h5_open_series(labels, options->input_count, (const char *const *)files, paths, dim, access);
  for (int i = 0; files && i < options->input_count; i++) free(files[i]);
  free(files);
  free(paths);
  return status;
}

/* /PATH of the (first) input's file, or FILE:/PATH. */
static ndr_status open_one(const h5gpured_options *options, const ndr_h5_info *info, const ndr_h5_access *access,
                           ndr_h5_dataset **labels) {
  char *file = NULL, *unused = NULL;
  if (!options->concat) return open_path(options->by_what, info->file, access, labels);
  ndr_status status = ndr_h5_split(options->inputs[0], &file, &unused);
  if (status == NDR_OK) status = open_path(options->by_what, file, access, labels);
  free(file);
  free(unused);
  return status;
}

/* Labels lie along `count` dims from `first` on. Where files follow each other along one of these, each has its own. */
static bool open_labels(answer *a, int first, int count, const char *where) {
  const h5gpured_options *options = a->options;
  ndr_h5_access access = input_access(options);
  int along = concat_dim(options, a->info) - first;
  access.raw = 0; /* which is about the elements that are reduced */
  bool series = options->concat && along >= 0 && along < count && !names_file(options->by_what);
  ndr_status status =
      series ? open_series(options, along, &access, &a->labels) : open_one(options, a->info, &access, &a->labels);
  if (status != NDR_OK) return refuse(a, where);
  const ndr_h5_info *info = ndr_h5_describe(a->labels);
  if (info->ndim == count) return true;
  char wanted[16] = "one";
  if (count != 1) snprintf(wanted, sizeof wanted, "%d", count);
  complain("%s: --by: %s:%s: labels have %d dim%s, must have the %s that they lie along", where, info->file,
           info->dataset, info->ndim, info->ndim == 1 ? "" : "s", wanted);
  return false;
}

/* What is left over at the end, unless the option says what becomes of it. */
static bool check_rest(const answer *a, int dim, const char *where) {
  const h5gpured_options *options = a->options;
  int64_t size = a->info->shape[dim];
  if (options->rest != NDR_REST_REFUSE || size % options->window == 0) return true;
  complain("%s: --coarsen %s: of size %lld, %lld %s left over: %s,trim leaves them out, %s,pad makes them a window",
           where, options->coarsen, (long long)size, (long long)(size % options->window),
           size % options->window == 1 ? "is" : "are", options->coarsen, options->coarsen);
  return false;
}

static bool make_groups(answer *a, const ndr_h5_dataset *dataset, int dim, int count, const char *where) {
  const h5gpured_options *options = a->options;
  ndr_status status;
  if (options->window && !check_rest(a, dim, where)) return false;
  if (options->window)
    status = ndr_h5_groups_windows(&a->groups, dataset, dim, options->window, options->rest);
  else if (!where_is_dataset(options->by_what))
    return ndr_h5_groups_by_time(&a->groups, dataset, dim, options->by_what) == NDR_OK || refuse_key(a, where);
  else if (open_labels(a, dim, count, where))
    status = ndr_h5_groups_by_labels(&a->groups, dataset, dim, a->labels);
  else
    return false;
  return status == NDR_OK || refuse(a, where);
}

static int compare(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

/* Labels of several dims have theirs next to each other; in which order they are named does not matter. */
static bool check_dims(const answer *a, int *dims, int count, const char *where) {
  const h5gpured_options *options = a->options;
  qsort(dims, (size_t)count, sizeof *dims, compare);
  if (count != 1 && (options->window || !where_is_dataset(options->by_what))) {
    complain("%s: %s: only labels, as DIM,DIM:/PATH, lie along %d dims", where, options->by ? "--by" : "--coarsen",
             count);
    return false;
  }
  for (int i = 1; i < count; i++) {
    if (dims[i] == dims[0] + i) continue;
    complain("%s: --by: labels lie along dims that are next to each other, which %s are not", where, options->grouped);
    return false;
  }
  return true;
}

bool groups_open(answer *a, const ndr_h5_dataset *dataset, const char *where, const ndr_h5_writer *writer) {
  int dims[NDR_MAX_DIMS], count = 0;
  if (!*a->options->grouped) return true;
  if (ndr_h5_dims_parse(a->options->grouped, a->info->ndim, a->info->dim_names, &count, dims) != NDR_OK)
    return refuse(a, where);
  if (!check_dims(a, dims, count, where) || !make_groups(a, dataset, dims[0], count, where)) return false;
  return !writer || !a->labels || ndr_h5_writer_protect(writer, a->labels) == NDR_OK || refuse(a, where);
}

void groups_close(answer *a) {
  ndr_h5_groups_destroy(a->groups);
  ndr_h5_close(a->labels);
  a->groups = NULL;
  a->labels = NULL;
}

bool is_group_dim(const answer *a, int d) {
  return a->groups && ndr_h5_groups_dim(a->groups) == d;
}

bool is_in_groups(const answer *a, int d) {
  int first = ndr_h5_groups_dim(a->groups);
  return a->groups && d >= first && d < first + ndr_h5_groups_dim_count(a->groups);
}

bool groups_names(const answer *a, date **names) {
  int64_t count = ndr_h5_groups_count(a->groups);
  *names = malloc((size_t)count * sizeof **names + 1);
  if (!*names) {
    complain("%s: out of memory for the names of groups", a->info->file);
    return false;
  }
  for (int64_t i = 0; i < count; i++) ndr_h5_groups_name(a->groups, i, (*names)[i]);
  return true;
}
