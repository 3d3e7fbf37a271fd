/* What --by and --coarsen name: the groups along a dim of a dataset, which the library makes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5gpured/besides.h"
#include "h5gpured/operators.h"
#include "h5gpured/output.h"
#include "h5gpured/results.h"

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
static bool open_labels(const answer *a, kept_groups *kept, int first, int count, const char *where) {
  const h5gpured_options *options = a->options;
  ndr_h5_access access = input_access(options);
  int along = concat_dim(options, a->info) - first;
  access.raw = 0; /* which is about the elements that are reduced */
  bool series = options->concat && along >= 0 && along < count && !names_file(options->by_what);
  ndr_status status =
      series ? open_series(options, along, &access, &kept->labels) : open_one(options, a->info, &access, &kept->labels);
  if (status != NDR_OK) return refuse(a, where);
  const ndr_h5_info *info = ndr_h5_describe(kept->labels);
  if (info->ndim == count) return true;
  char wanted[16] = "one";
  if (count != 1) snprintf(wanted, sizeof wanted, "%d", count);
  complain("%s: --by: %s:%s: labels have %d dim%s, must have the %s that they lie along", where, info->file,
           info->dataset, info->ndim, info->ndim == 1 ? "" : "s", wanted);
  return false;
}

/* What is left over at the end of a dim, unless the option says what becomes of it. */
static bool check_rest(const answer *a, int i, int d, const char *where) {
  const h5gpured_options *options = a->options;
  int64_t size = a->info->shape[d], left = size % options->windows[i];
  char along[DIM_CHARS];
  if (options->rests[i] != NDR_REST_REFUSE || left == 0) return true;
  dim_label(a, d, along);
  if (size < options->windows[i])
    complain("%s: --coarsen %s: %s has size %lld, less than a window of %lld: %s,pad makes one shorter window of it",
             where, options->coarsen, along, (long long)size, (long long)options->windows[i], options->coarsen);
  else
    complain("%s: --coarsen %s: %s has size %lld, of which %lld %s left over: %s,trim leaves %s out, %s,pad makes %s a "
             "window",
             where, options->coarsen, along, (long long)size, (long long)left, left == 1 ? "is" : "are",
             options->coarsen, left == 1 ? "it" : "them", options->coarsen, left == 1 ? "it" : "them");
  return false;
}

/* The windows in the order of the array's dims, of which `dims` are in the order in which they are named. */
static bool make_windows(const answer *a, kept_groups *kept, const ndr_h5_dataset *dataset, const int *dims, int first,
                         const char *where) {
  const h5gpured_options *options = a->options;
  int count = options->window_count;
  int64_t windows[NDR_MAX_DIMS];
  ndr_rest rests[NDR_MAX_DIMS];
  for (int i = 0; i < count; i++) {
    if (!check_rest(a, i, dims[i], where)) return false;
    windows[dims[i] - first] = options->windows[i];
    rests[dims[i] - first] = options->rests[i];
  }
  return ndr_h5_groups_boxes(&kept->groups, dataset, first, count, windows, rests) == NDR_OK || refuse(a, where);
}

static bool make_by(const answer *a, kept_groups *kept, const ndr_h5_dataset *dataset, int first, int count,
                    const char *where) {
  const char *what = a->options->by_what;
  if (!where_is_dataset(what))
    return ndr_h5_groups_by_time(&kept->groups, dataset, first, what) == NDR_OK || refuse_key(a, where);
  if (names_file_alone(what)) return refuse_file_alone(a->options, a->info, where, "--by", what, NULL);
  return open_labels(a, kept, first, count, where) &&
         (ndr_h5_groups_by_labels(&kept->groups, dataset, first, kept->labels) == NDR_OK || refuse(a, where));
}

/* Labels and windows of several dims have theirs next to each other; in which order they are named does not matter.
 * Returns the first, or -1 after a complaint. */
static int find_first(const answer *a, const int *dims, int count, const char *where) {
  const h5gpured_options *options = a->options;
  const char *option = options->by ? "--by" : "--coarsen";
  int first = dims[0], last = dims[0];
  for (int i = 1; i < count; i++) {
    if (dims[i] < first) first = dims[i];
    if (dims[i] > last) last = dims[i];
  }
  if (count != 1 && options->by && !where_is_dataset(options->by_what))
    complain("%s: --by: only labels, as DIM,DIM:/PATH, lie along %d dims", where, count);
  else if (count != 1 && options->coarsen && count != options->window_count)
    complain("%s: --coarsen: %s names %d dims for %d windows", where, options->grouped, count, options->window_count);
  else if (last - first + 1 != count)
    complain("%s: %s: %s do not lie next to each other", where, option, options->grouped);
  else
    return first;
  return -1;
}

static bool groups_make(const answer *a, kept_groups *kept, const ndr_h5_dataset *dataset, const char *where) {
  int dims[NDR_MAX_DIMS], count = 0;
  if (ndr_h5_dims_parse(a->options->grouped, a->info->ndim, a->info->dim_names, &count, dims) != NDR_OK)
    return refuse(a, where);
  int first = find_first(a, dims, count, where);
  if (first < 0) return false;
  if (first == ndr_h5_groups_dim(kept->groups) && ndr_h5_groups_fit(kept->groups, dataset)) return true;
  groups_close(kept);
  return a->options->by ? make_by(a, kept, dataset, first, count, where)
                        : make_windows(a, kept, dataset, dims, first, where);
}

bool groups_open(answer *a, kept_groups *kept, const ndr_h5_dataset *dataset, const char *where,
                 const ndr_h5_writer *writer) {
  if (!*a->options->grouped) return true;
  if (!groups_make(a, kept, dataset, where)) return false;
  a->groups = kept->groups;
  return !writer || !kept->labels || ndr_h5_writer_protect(writer, kept->labels) == NDR_OK || refuse(a, where);
}

void groups_close(kept_groups *kept) {
  ndr_h5_groups_destroy(kept->groups);
  ndr_h5_close(kept->labels);
  *kept = (kept_groups){NULL, NULL};
}

bool is_in_groups(const answer *a, int d) {
  return ndr_h5_groups_along(a->groups, d) != NULL;
}

bool is_group_dim(const answer *a, int d) {
  const ndr_h5_groups *along = ndr_h5_groups_along(a->groups, d);
  return along && (along != a->groups || d == ndr_h5_groups_dim(a->groups));
}

bool groups_names(const answer *a, int d, date **names) {
  const ndr_h5_groups *groups = ndr_h5_groups_along(a->groups, d);
  int64_t count = ndr_h5_groups_count(groups);
  *names = malloc((size_t)count * sizeof **names + 1);
  if (!*names) {
    complain("%s: out of memory for the names of groups", a->info->file);
    return false;
  }
  for (int64_t i = 0; i < count; i++) ndr_h5_groups_name(groups, i, (*names)[i]);
  return true;
}

void groups_unfold(answer *a) {
  int64_t shape[NDR_MAX_DIMS];
  for (int i = 0; a->groups && i < a->options->op_count; i++) {
    a->results[i].ndim = ndr_h5_groups_unfold(a->groups, &a->problem, &a->results[i], shape);
    memcpy(a->shapes[i], shape, sizeof shape);
  }
}
