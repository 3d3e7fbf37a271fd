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

/* Labels are /PATH of the same file, or of each file of a series that follow each other along the groups' dim. */
static bool open_labels(answer *a, int dim, const char *where) {
  const h5gpured_options *options = a->options;
  ndr_h5_access access = input_access(options);
  access.raw = 0; /* which is about the elements that are reduced */
  bool series = concat_dim(options, a->info) == dim;
  int files = series ? options->input_count : 1;
  char **names = calloc((size_t)files, sizeof *names);
  const char **paths = calloc((size_t)files, sizeof *paths);
  ndr_status status = names && paths ? NDR_OK : NDR_ERR_MEMORY;
  for (int i = 0; i < files && status == NDR_OK; i++) {
    char *unused = NULL;
    paths[i] = options->by_what;
    status = options->concat ? ndr_h5_split(options->inputs[i], &names[i], &unused) : NDR_OK;
    if (!options->concat && !(names[i] = strdup(a->info->file))) status = NDR_ERR_MEMORY;
    free(unused);
  }
  if (status == NDR_OK)
    status = series ? ndr_h5_open_series(&a->labels, files, (const char *const *)names, paths, "0", &access)
                    : ndr_h5_open(&a->labels, names[0], paths[0], &access);
  for (int i = 0; names && i < files; i++) free(names[i]);
  free(names);
  free(paths);
  return status == NDR_OK || refuse(a, where);
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

static bool make_groups(answer *a, const ndr_h5_dataset *dataset, int dim, const char *where) {
  const h5gpured_options *options = a->options;
  ndr_status status;
  if (options->window && !check_rest(a, dim, where)) return false;
  if (options->window)
    status = ndr_h5_groups_windows(&a->groups, dataset, dim, options->window, options->rest);
  else if (options->by_what[0] != '/')
    return ndr_h5_groups_by_time(&a->groups, dataset, dim, options->by_what) == NDR_OK || refuse_key(a, where);
  else if (open_labels(a, dim, where))
    status = ndr_h5_groups_by_labels(&a->groups, dataset, dim, a->labels);
  else
    return false;
  return status == NDR_OK || refuse(a, where);
}

bool groups_open(answer *a, const ndr_h5_dataset *dataset, const char *where, const ndr_h5_writer *writer) {
  int dims[NDR_MAX_DIMS], count = 0;
  if (!*a->options->grouped) return true;
  if (ndr_h5_dims_parse(a->options->grouped, a->info->ndim, a->info->dim_names, &count, dims) != NDR_OK)
    return refuse(a, where);
  if (count != 1) {
    complain("%s: %s names %d dims, not one", where, a->options->by ? "--by" : "--coarsen", count);
    return false;
  }
  if (!make_groups(a, dataset, dims[0], where)) return false;
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
