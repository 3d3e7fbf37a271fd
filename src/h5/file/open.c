/* The public calls that open and close datasets and files. What a dataset is, is found in describe.c. */
#include <stdlib.h>
#include <string.h>

#include "core/sized.h"
#include "h5/cf/coordinates.h"
#include "h5/file/part.h"
#include "h5/find/field.h"
#include "h5/find/near.h"
#include "h5/structure/structure.h"

/* The longest part of path, ending before a "/", that leads somewhere: what the user has right so far. */
static bool exists(hid_t file, char *path, hid_t access) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    bool found = H5Lexists(file, path, access) > 0 && H5Oexists_by_name(file, path, access) > 0;
    *slash = '/';
    if (!found) return false;
  }
  return H5Lexists(file, path, access) > 0;
}

/* Hints at a part that does not come last: the path "/[0:3]:/tas" is what users write as FILE[0:3]:/tas. */
static void hint_at_part(const ndr_h5_dataset *dataset, const char *path, char *hint, size_t capacity) {
  const char *end = strrchr(path, ']'), *name = end ? end + 1 + strspn(end + 1, ":/") : NULL;
  if (end && !end[1]) return;
  if (path[1] == '[' && end)
    snprintf(hint, capacity, "; a part comes last: %s:/%s%.*s", dataset->file, name, (int)(end - path), path + 1);
  else if (strchr(path, '['))
    snprintf(hint, capacity, "; a part ends in ']'");
}

/* Why there is no dataset at path; the sentence of the failed open is the last resort. */
static ndr_status fail_open(const ndr_h5_dataset *dataset, const char *path) {
  char reason[640], *copy = strdup(path);
  hid_t access = dataset->links->access;
  snprintf(reason, sizeof reason, "%s", ndr_last_error());
  if (dataset->links->status != NDR_OK) {
    free(copy);
    return ndr_fail(dataset->links->status, "%s:%s: %s", dataset->file, path, reason);
  }
  bool root = strspn(path, "/") == strlen(path), found = root || (copy && exists(dataset->file_id, copy, access));
  free(copy);
  if (!found) {
    ndr_near_paths(dataset->file_id, access, path, reason, sizeof reason);
    hint_at_part(dataset, path, reason, sizeof reason);
    return ndr_fail(NDR_ERR_FILE, "%s:%s: there is no such dataset%s", dataset->file, path, reason);
  }
  hid_t object = H5Oopen(dataset->file_id, path, access);
  H5I_type_t type = object < 0 ? H5I_BADID : H5Iget_type(object);
  if (object >= 0) H5Oclose(object);
  if (type == H5I_GROUP) return ndr_fail(NDR_ERR_FILE, "%s:%s: is a group, not a dataset", dataset->file, path);
  if (type == H5I_DATATYPE) return ndr_fail(NDR_ERR_FILE, "%s:%s: is a type, not a dataset", dataset->file, path);
  if (H5Oexists_by_name(dataset->file_id, path, access) == 0)
    return ndr_fail(NDR_ERR_FILE, "%s:%s: is a link that leads nowhere", dataset->file, path);
  return ndr_fail(NDR_ERR_FILE, "%s:%s", dataset->file, reason);
}

/* Scales are looked up in the file that holds the dataset. */
static void enter_file_of_dataset(ndr_h5_dataset *dataset) {
  hid_t holder = H5Iget_file_id(dataset->id);
  if (holder < 0) return;
  dataset->elsewhere = holder != dataset->file_id;
  H5Fclose(dataset->file_id);
  dataset->file_id = holder;
}

/* Opens a dataset of compound elements; negative where the path leads to nothing like it. */
static hid_t open_table(const ndr_h5_dataset *dataset, char *path) {
  hid_t access = dataset->links->access;
  hid_t id = exists(dataset->file_id, path, access) ? H5Dopen2(dataset->file_id, path, access) : H5I_INVALID_HID;
  hid_t type = id >= 0 ? H5Dget_type(id) : H5I_INVALID_HID;
  bool compound = type >= 0 && H5Tget_class(type) == H5T_COMPOUND;
  if (type >= 0) H5Tclose(type);
  if (id >= 0 && !compound) H5Dclose(id);
  return compound ? id : H5I_INVALID_HID;
}

/* Opens TABLE of the path TABLE.FIELD, the longest that is there, and cuts the field off. The path stays whole where
 * there is none. */
static ndr_status open_field(ndr_h5_dataset *dataset, char *path) {
  char *end = path + strlen(path);
  for (char *dot = end; dot > path && dataset->id < 0; dot--) {
    if (*dot != '.' || !dot[1]) continue;
    *dot = 0;
    dataset->id = open_table(dataset, path);
    if (dataset->id < 0)
      *dot = '.';
    else if (!(dataset->field = strdup(dot + 1)))
      return ndr_fail(NDR_ERR_MEMORY, "%s:%s: out of memory", dataset->file, path);
  }
  return NDR_OK;
}

/* path is written to. */
static ndr_status open_named(ndr_h5_dataset *dataset, char *path) {
  char reason[640];
  char *stored = ndr_netcdf_stored(dataset->file_id, path, dataset->links->access);
  if (!stored) return ndr_fail(NDR_ERR_MEMORY, "%s:%s: out of memory", dataset->file, path);
  dataset->links->status = NDR_OK;
  dataset->id = H5Dopen2(dataset->file_id, stored, dataset->links->access);
  free(stored);
  if (dataset->id < 0 && dataset->links->status == NDR_OK) {
    ndr_hdf_fail(NDR_ERR_FILE, path, "cannot be opened");
    snprintf(reason, sizeof reason, "%s", ndr_last_error());
    NDR_TRY(open_field(dataset, path));
    if (dataset->id < 0 && dataset->links->status == NDR_OK) ndr_explain_failure("%s", reason);
  }
  if (dataset->id < 0) return fail_open(dataset, path);
  enter_file_of_dataset(dataset);
  ndr_status status = ndr_hdf_describe_data(dataset, path);
  if (status != NDR_ERR_DTYPE || !dataset->any_type || dataset->field) return status;
  if (!dataset->elements) dataset->elements = "no elements";
  dataset->info.elements = dataset->elements;
  dataset->info.dtype = dataset->info.stored_dtype = NDR_F64;
  return NDR_OK;
}

static ndr_status open_file(ndr_h5_dataset *dataset) {
  NDR_TRY(ndr_hdf_open(dataset->file, dataset->structure, &dataset->file_id));
  return ndr_links_start(dataset->links, dataset->file, dataset->allow_external, dataset->structure);
}

static ndr_status open_largest(ndr_h5_dataset *dataset) {
  char *found;
  int others;
  NDR_TRY(ndr_hdf_find_largest(dataset, &found, &others));
  ndr_status status = open_named(dataset, found);
  dataset->info.other_count = others;
  free(found);
  return status;
}

/* PATH[PART], or /[PART] of the dataset that no path means, unless something is really called that. text is a copy that
 * is written to. */
static ndr_status open_text(ndr_h5_dataset *dataset, char *text) {
  char *bracket = strrchr(text, '['), *end = text + strlen(text) - 1;
  if (!bracket || *end != ']' || exists(dataset->file_id, text, dataset->links->access))
    return open_named(dataset, text);
  *bracket = *end = 0;
  NDR_TRY(strspn(text, "/") == strlen(text) ? open_largest(dataset) : open_named(dataset, text));
  return ndr_part_select(dataset, bracket + 1);
}

static ndr_status open_dataset(ndr_h5_dataset *dataset, const char *path) {
  NDR_TRY(open_file(dataset));
  if (!path) return open_largest(dataset);
  if (!*path) return ndr_fail(NDR_ERR_FILE, "%s: the path of the dataset is empty", dataset->file);
  char *text = strdup(path);
  if (!text) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", dataset->file);
  ndr_status status = open_text(dataset, text);
  free(text);
  return status;
}

/* ---- The public calls ------------------------------------------------------------------------------------------- */

static ndr_status create(ndr_h5_dataset **created, const char *file, const ndr_h5_access *access) {
  ndr_h5_access read = NDR_H5_ACCESS_INIT;
  if (!file) return ndr_fail(NDR_ERR_ARGUMENT, "file is a null pointer");
  if (access) NDR_TRY(ndr_sized_read(access, &read, sizeof read, "access", "NDR_H5_ACCESS_INIT"));
  ndr_h5_dataset *dataset = calloc(1, sizeof *dataset);
  if (dataset) dataset->file = strdup(file);
  if (dataset) dataset->links = calloc(1, sizeof *dataset->links);
  if (!dataset || !dataset->file || !dataset->links) {
    if (dataset) free(dataset->links);
    if (dataset) free(dataset->file);
    free(dataset);
    return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", file);
  }
  dataset->no_plugins = read.no_plugins;
  dataset->raw = read.raw;
  dataset->allow_external = read.allow_external;
  dataset->any_type = read.any_type;
  dataset->all_paths = read.all_paths;
  dataset->by_number = read.by_number;
  dataset->structure = read.structure;
  dataset->remarks = (ndr_remarks){.tell = read.on_remark, .user = read.user};
  dataset->file_id = dataset->id = H5I_INVALID_HID;
  *created = dataset;
  return NDR_OK;
}

/* What on_remark has stopped fails, whatever else has come of it. */
static ndr_status heed(const ndr_h5_dataset *dataset, ndr_status status) {
  return ndr_remarks_heed(&dataset->remarks, dataset->where ? dataset->where : dataset->file, status);
}

ndr_status ndr_hdf_open_along(ndr_h5_dataset **opened, const char *file, const char *path, const ndr_h5_access *access,
                              const char *along) {
  ndr_hdf_scope scope;
  ndr_h5_dataset *dataset;
  *opened = NULL;
  NDR_TRY(create(&dataset, file, access));
  dataset->along = along;
  ndr_hdf_enter(&scope, dataset->no_plugins);
  if (dataset->structure) ndr_structure_opens(dataset->structure);
  ndr_status status = heed(dataset, open_dataset(dataset, path));
  ndr_hdf_leave(&scope);
  dataset->along = NULL;
  if (status == NDR_OK)
    *opened = dataset;
  else
    ndr_hdf_close(dataset);
  return status;
}

ndr_status ndr_h5_open(ndr_h5_dataset **opened, const char *file, const char *path, const ndr_h5_access *access) {
  if (!opened) return ndr_fail(NDR_ERR_ARGUMENT, "dataset is a null pointer");
  return ndr_hdf_open_along(opened, file, path, access, NULL);
}

/* Opens a file to walk through what it holds; where that succeeds, leave_file ends it. */
static ndr_status enter_file(const char *file, const ndr_h5_access *access, ndr_hdf_scope *scope,
                             ndr_h5_dataset **dataset) {
  NDR_TRY(create(dataset, file, access));
  ndr_hdf_enter(scope, (*dataset)->no_plugins);
  ndr_status status = open_file(*dataset);
  if (status == NDR_OK) return NDR_OK;
  ndr_hdf_leave(scope);
  ndr_hdf_close(*dataset);
  return status;
}

static void leave_file(ndr_hdf_scope *scope, ndr_h5_dataset *dataset) {
  ndr_hdf_leave(scope);
  ndr_hdf_close(dataset);
}

ndr_status ndr_h5_list(const char *file, const ndr_h5_access *access, ndr_h5_visitor visit, void *user) {
  ndr_hdf_scope scope;
  ndr_h5_dataset *dataset;
  if (!visit) return ndr_fail(NDR_ERR_ARGUMENT, "visit is a null pointer");
  NDR_TRY(enter_file(file, access, &scope, &dataset));
  ndr_status status = heed(dataset, ndr_hdf_list(dataset, visit, user));
  leave_file(&scope, dataset);
  return status;
}

ndr_status ndr_h5_candidates(const char *file, const ndr_h5_access *access, ndr_h5_path_visitor visit, void *user) {
  ndr_hdf_scope scope;
  ndr_h5_dataset *dataset;
  if (!visit) return ndr_fail(NDR_ERR_ARGUMENT, "visit is a null pointer");
  NDR_TRY(enter_file(file, access, &scope, &dataset));
  ndr_status status = heed(dataset, ndr_hdf_each_candidate(dataset, visit, user));
  leave_file(&scope, dataset);
  return status;
}

void ndr_hdf_close(ndr_h5_dataset *dataset) {
  ndr_hdf_scope scope;
  ndr_hdf_enter(&scope, false);
  if (dataset->id >= 0) H5Dclose(dataset->id);
  if (dataset->file_id >= 0) H5Fclose(dataset->file_id);
  ndr_links_end(dataset->links);
  ndr_hdf_leave(&scope);
  ndr_hdf_forget(dataset);
  ndr_hdf_forget_coordinates(dataset);
  ndr_remarks_free(&dataset->remarks);
  free(dataset->links);
  free(dataset->nothing);
  free(dataset->file);
  free(dataset);
}

const ndr_h5_info *ndr_h5_describe(const ndr_h5_dataset *dataset) {
  return dataset ? &dataset->info : NULL;
}
