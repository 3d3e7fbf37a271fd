/* See position.h. A text has for each name of the path whether it is a group's, its number or the name, and '\1', which
 * sorts before all characters of names. */
#include "h5/file/position.h"

#include <stdlib.h>
#include <string.h>

/* Characters before a name, or in place of it. */
enum { NUMBER_CHARS = 20 };

/* *number is negative if the group of the link keeps no order. A path that leads nowhere, as one of another file may,
 * is no failure. */
static ndr_status read_number(const ndr_h5_dataset *dataset, hid_t file, const char *path, int64_t *number) {
  hid_t access = dataset->links->access;
  *number = -1;
  htri_t exists = H5Lexists(file, path, access);
  if (exists == 0 || (exists > 0 && ndr_hdf_link_number(file, path, access, number))) return NDR_OK;
  return ndr_hdf_is_malformed() ? NDR_OK : ndr_hdf_fail(NDR_ERR_FILE, dataset->where, "its links cannot be read");
}

static ndr_status append(const ndr_h5_dataset *dataset, hid_t file, char *path, char *text) {
  char *at = text;
  for (char *name = path + strspn(path, "/"), *end; *name; name = end) {
    int64_t number;
    end = name + strcspn(name, "/");
    char after = *end;
    *end = 0;
    NDR_TRY(read_number(dataset, file, path, &number));
    if (number >= 0)
      at += sprintf(at, "%d0%016llx\1", after != 0, (unsigned long long)number);
    else
      at += sprintf(at, "%d1%s\1", after != 0, name);
    *end = after;
    end += strspn(end, "/");
  }
  return NDR_OK;
}

static ndr_status position_in(const ndr_h5_dataset *dataset, hid_t file, const char *path, char **position) {
  size_t names = 1;
  for (const char *c = path; *c; c++) names += *c == '/';
  char *own = ndr_hdf_noted(strdup(path));
  *position = ndr_hdf_noted(calloc(strlen(path) + names * NUMBER_CHARS + 1, 1));
  ndr_status status = own && *position ? append(dataset, file, own, *position)
                                       : ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", dataset->where);
  free(own);
  if (status == NDR_OK) return NDR_OK;
  free(*position);
  *position = NULL;
  return status;
}

ndr_status ndr_hdf_position(const ndr_h5_dataset *dataset, const char *path, char **position) {
  return position_in(dataset, dataset->file_id, path, position);
}

static ndr_status own_position_in(const ndr_h5_dataset *dataset, hid_t file, char **position) {
  size_t field = dataset->field ? strlen(dataset->field) + 1 : 0;
  char *path = ndr_hdf_noted(strndup(dataset->path, strlen(dataset->path) - field));
  char *stored = path ? ndr_netcdf_stored(file, path, dataset->links->access) : NULL;
  ndr_status status = stored ? position_in(dataset, file, stored, position)
                             : ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", dataset->where);
  free(path);
  free(stored);
  return status;
}

/* A dataset behind an external link stands where the link does, in a file that is no longer open. */
ndr_status ndr_hdf_own_position(const ndr_h5_dataset *dataset, char **position) {
  hid_t file;
  *position = NULL;
  if (!dataset->elsewhere) return own_position_in(dataset, dataset->file_id, position);
  NDR_TRY(ndr_hdf_open(dataset->file, dataset->structure, &file));
  ndr_status status = own_position_in(dataset, file, position);
  H5Fclose(file);
  return status;
}
