/* Opens the datasets that many.c finds. */
#include <stdlib.h>
#include <string.h>

#include "h5gpured/members.h"

/* PATH[PART], with the entries of the part whose dims the dataset has; NULL where there is no memory. */
static char *path_in(const char *part, const member *one) {
  uint64_t used = 0;
  char *own = part_for(part, one->ndim, (const char *const *)one->names, &used);
  char *path = own ? malloc(strlen(one->path) + strlen(own) + 1) : NULL;
  if (path) sprintf(path, "%s%s", one->path, own);
  free(own);
  return path;
}

/* FILE and PATH[PART] of one's dataset in another input, which the caller frees even after a failure. */
static bool split_other(const members *m, int input, const member *one, char **file, char **path) {
  char *text;
  if (ndr_h5_split(m->options->inputs[input], file, &text) != NDR_OK) return fail();
  *path = path_in(text ? part_of(text) : "", one);
  free(text);
  return *path || members_refuse(m, "out of memory");
}

/* Sets *status to whether they can be joined, which is not complained of. */
static bool join(const members *m, const member *one, const ndr_h5_access *access, ndr_h5_dataset **dataset,
                 ndr_status *status) {
  int count = m->options->input_count;
  char **files = calloc(2 * (size_t)count, sizeof *files);
  if (!files) return members_refuse(m, "out of memory");
  char **paths = files + count;
  bool good = true;
  allow_many_files();
  for (int i = 0; i < count && good; i++) good = split_other(m, i, one, &files[i], &paths[i]);
  if (good)
    *status = ndr_h5_open_series(dataset, count, (const char *const *)files, (const char *const *)paths,
                                 m->options->concat, access);
  for (int i = 0; i < 2 * count; i++) free(files[i]);
  free(files);
  return good;
}

bool member_try_to_join(const members *m, const member *one, const ndr_h5_access *access, ndr_status *status) {
  ndr_h5_dataset *series;
  if (!join(m, one, access, &series, status)) return false;
  if (*status == NDR_OK) ndr_h5_close(series);
  return true;
}

bool member_try_to_open_in(const members *m, int input, const member *one, const ndr_h5_access *access,
                           ndr_h5_dataset **dataset, ndr_status *status) {
  char *file = NULL, *path = NULL;
  bool good = split_other(m, input, one, &file, &path);
  if (good) *status = ndr_h5_open(dataset, file, path, access);
  free(file);
  free(path);
  return good;
}

bool member_try_to_open(const members *m, const member *one, const ndr_h5_access *access, ndr_h5_dataset **dataset,
                        ndr_status *status) {
  if (one->joined) return join(m, one, access, dataset, status);
  char *path = path_in(m->part, one);
  if (!path) return members_refuse(m, "out of memory");
  *status = ndr_h5_open(dataset, m->file, path, access);
  free(path);
  return true;
}

bool member_open(const members *m, const member *one, const ndr_h5_access *access, ndr_h5_dataset **dataset) {
  ndr_status status = NDR_ERR_MEMORY;
  return member_try_to_open(m, one, access, dataset, &status) && (status == NDR_OK || fail());
}
