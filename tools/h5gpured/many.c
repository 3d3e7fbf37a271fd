// FILE:/*, every dataset of a file that has the dims, one after the other. What is done with each is in main.c.
#include <stdlib.h>
#include <string.h>

#include "h5gpured/h5gpured.h"

typedef struct {
  const char *part; /* "[...]", or "" */
  int count;
  char **paths;
  bool full;
} matches;

static int keep_path(void *user, const char *path) {
  matches *m = user;
  size_t capacity = strlen(path) + strlen(m->part) + 1;
  char **paths = realloc(m->paths, (size_t)(m->count + 1) * sizeof *paths);
  if (paths) m->paths = paths;
  char *text = paths ? malloc(capacity) : NULL;
  m->full = text == NULL;
  if (m->full) return 1;
  snprintf(text, capacity, "%s%s", path, m->part);
  m->paths[m->count++] = text;
  return 0;
}

bool path_is_pattern(const char *path) {
  return path && path[0] == '/' && path[1] == '*' && (path[2] == 0 || path[2] == '[');
}

bool input_is_many(const h5gpured_options *options, int input) {
  char *file, *path;
  if (options->concat || ndr_h5_split(options->inputs[input], &file, &path) != NDR_OK) return false;
  bool many = path_is_pattern(path);
  free(file);
  free(path);
  return many;
}

static bool has_dims(const h5gpured_options *options, const ndr_h5_info *info) {
  int count, dims[NDR_MAX_DIMS];
  return ndr_h5_dims_parse(options->dims, info->ndim, info->dim_names, &count, dims) == NDR_OK;
}

/* Whether a dataset that cannot be opened with its part lacks the dims as a whole: the part may name one of them. */
static bool lacks_dims(const h5gpured_options *options, const char *file, const char *path, const char *part) {
  const ndr_h5_access access = input_access(options);
  ndr_h5_dataset *whole;
  char *name = strndup(path, strlen(path) - strlen(part));
  bool opened = name && *part && ndr_h5_open(&whole, file, name, &access) == NDR_OK;
  bool lacks = opened && !has_dims(options, ndr_h5_describe(whole));
  if (opened) ndr_h5_close(whole);
  free(name);
  return lacks;
}

/* *answered counts those that have the dims. */
static bool answer_path(const h5gpured_options *options, const char *file, const char *path, const char *part,
                        input_answer give, const void *to, int *answered) {
  const ndr_h5_access access = input_access(options);
  ndr_h5_dataset *dataset;
  char reason[1024];
  if (ndr_h5_open(&dataset, file, path, &access) != NDR_OK) {
    snprintf(reason, sizeof reason, "%s", ndr_last_error());
    if (lacks_dims(options, file, path, part)) return true;
    complain("%s", reason);
    return false;
  }
  if (!has_dims(options, ndr_h5_describe(dataset))) {
    ndr_h5_close(dataset);
    return true;
  }
  if ((options->format == FORMAT_NPY || options->format == FORMAT_CSV) && *answered > 0) {
    complain("%s:%s: %s has room for one dataset only; name one, as FILE:/NAME, or take --format json or -o FILE.nc",
             file, path, options->format == FORMAT_NPY ? "npy" : "csv");
    ndr_h5_close(dataset);
    return false;
  }
  ++*answered;
  return give(options, dataset, to);
}

bool input_each(const h5gpured_options *options, int input, input_answer give, const void *to) {
  const ndr_h5_access access = input_access(options);
  char *file, *path;
  int answered = 0;
  if (ndr_h5_split(options->inputs[input], &file, &path) != NDR_OK) return fail();
  matches m = {.part = path + 2};
  bool good = ndr_h5_candidates(file, &access, keep_path, &m) == NDR_OK && !m.full;
  if (!good) complain("%s", m.full ? "out of memory" : ndr_last_error());
  bool whole = good;
  for (int i = 0; i < m.count && whole && (good || !to); i++)
    good = answer_path(options, file, m.paths[i], m.part, give, to, &answered) && good;
  if (good && answered == 0) {
    complain("%s: no dataset has the dims %s", file, options->dims);
    good = false;
  }
  for (int i = 0; i < m.count; i++) free(m.paths[i]);
  free(m.paths);
  free(file);
  free(path);
  return good;
}
