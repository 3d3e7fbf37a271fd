/* Opens the inputs, one by one or under --concat as one, and prints what the library remarks on. All datasets of a file
 * are visited in many.c. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "h5gpured/members.h"
#include "h5gpured/ranks.h"

/* Inputs may be one file named twice, or opened again for weights: what has been said of it is known. */
static bool was_said(const char *sentence) {
  static char **said;
  static size_t count;
  for (size_t i = 0; i < count; i++)
    if (strcmp(said[i], sentence) == 0) return true;
  char **more = realloc(said, (count + 1) * sizeof *said);
  if (more) said = more;
  char *copy = more ? strdup(sentence) : NULL;
  if (copy) said[count++] = copy;
  return false;
}

int say_remark(void *user, const char *sentence) {
  (void)user;
  if (!was_said(sentence)) complain("%s", sentence);
  return 0;
}

ndr_h5_access input_access(const h5gpured_options *options) {
  ndr_h5_access access = NDR_H5_ACCESS_INIT;
  access.no_plugins = options->no_plugins;
  access.raw = options->raw;
  access.by_number = options->by_number;
  access.allow_external = options->allow_external;
  access.on_remark = say_remark;
  access.structure = ranks_structure();
  return access;
}

void allow_many_files(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

bool input_has(const h5gpured_options *options, const char *file, const char *path) {
  ndr_h5_access access = input_access(options);
  ndr_h5_dataset *dataset;
  access.on_remark = NULL;
  access.any_type = access.raw = 1;
  if (ndr_h5_open(&dataset, file, path, &access) != NDR_OK) return false;
  ndr_h5_close(dataset);
  return true;
}

static bool split_one(const h5gpured_options *options, const char *input, char **file, char **path) {
  if (ndr_h5_split(input, file, path) != NDR_OK) return fail();
  bool pattern = path_is_pattern(options, *file, *path);
  if (pattern) complain("%s: --concat takes one dataset of each file: name it, as FILE:/NAME", input);
  return !pattern;
}

const char *concat_new_dim(const h5gpured_options *options) {
  static const char prefix[] = "new:";
  bool stacks = options->concat && strncmp(options->concat, prefix, strlen(prefix)) == 0;
  return stacks ? options->concat + strlen(prefix) : NULL;
}

bool concat_is_name(const h5gpured_options *options) {
  return options->concat && !concat_new_dim(options) && strspn(options->concat, "-0123456789") == 0;
}

int concat_dim(const h5gpured_options *options, const ndr_h5_info *info) {
  int dims[NDR_MAX_DIMS], count = 0;
  if (!options->concat || concat_new_dim(options)) return -1;
  bool good = ndr_h5_dims_parse(options->concat, info->ndim, info->dim_names, &count, dims) == NDR_OK;
  return good && count == 1 ? dims[0] : -1;
}

/* Whether an entry of a part has no NAME=. Such a part is of one dataset. */
static bool has_index(const char *part) {
  for (const char *at = part; *at; at += *at == ',') {
    size_t length = strcspn(at, ",");
    if (!memchr(at, '=', length)) return true;
    at += length;
  }
  return false;
}

/* Several datasets may be reduced one after the other, but none of them beside another one. */
static bool fail_input(const h5gpured_options *options, const char *input) {
  const char *reason = ndr_last_error(), *part = part_of(input);
  const bool many = strstr(reason, ": which dataset? ");
  const bool lacks = concat_is_name(options) && strstr(reason, "no dim is named");
  if (many && has_index(part))
    complain("%s, or all: 'FILE:/**'; what has no name in '%s' is an index, and a range of coordinates is NAME=FROM:TO",
             reason, part);
  else if (many)
    complain("%s, or all: 'FILE:/**'", reason);
  else if (lacks)
    complain("%s%s%s", reason, STACKS_FILES, options->concat);
  else
    fail();
  return false;
}

bool input_open_series(const h5gpured_options *options, int count, const char *const *inputs,
                       const ndr_h5_access *access, ndr_h5_dataset **dataset) {
  size_t n = (size_t)count;
  char **files = calloc(2 * n, sizeof *files), **paths = files ? files + n : NULL;
  bool good = files != NULL;
  if (!good) complain("out of memory");
  allow_many_files();
  for (size_t i = 0; good && i < n; i++) good = split_one(options, inputs[i], &files[i], &paths[i]);
  good = good && (ndr_h5_open_series(dataset, count, (const char *const *)files, (const char *const *)paths,
                                     options->concat, access) == NDR_OK ||
                  (inputs == (const char *const *)options->inputs ? fail_input(options, inputs[0]) : fail()));
  for (size_t i = 0; files && i < 2 * n; i++) free(files[i]);
  free(files);
  return good;
}

bool input_open(const h5gpured_options *options, int input, ndr_h5_dataset **dataset) {
  char *file, *path;
  const ndr_h5_access access = input_access(options);
  if (options->concat)
    return input_open_series(options, options->input_count, (const char *const *)options->inputs, &access, dataset);
  if (ndr_h5_split(options->inputs[input], &file, &path) != NDR_OK) return fail();
  ndr_status status = ndr_h5_open(dataset, file, path, &access);
  bool list = status != NDR_OK && path && strcspn(path, ",") < (size_t)(part_of(path) - path) &&
              strstr(ndr_last_error(), "there is no such dataset");
  if (list) complain("%s:%s: there is no such dataset; several are named as 'FILE:/{tas,pr}'", file, path);
  free(file);
  free(path);
  return status == NDR_OK || (!list && fail_input(options, options->inputs[input]));
}
