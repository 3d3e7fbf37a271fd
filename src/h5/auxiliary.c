#include "h5/auxiliary.h"

#include <stdlib.h>
#include <string.h>

#include "h5/attributes.h"
#include "h5/coordinates.h"

/* Of all of them: they are read whole, on top of what the budget for buffers allows. */
#define MOST_BYTES ((int64_t)64 << 20)

/* What copying goes on in. */
typedef struct {
  ndr_auxiliaries *known;
  ndr_scales *scales;
  const ndr_h5_dataset *source;
  const bool *reduced;
  const char *variable; /* in the output, and where its dims come from */
  int ndim;
  const int *from;
} context;

static ndr_status fail_memory(const context *c) {
  return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for what belongs to it", c->source->where);
}

static ndr_status fail_read(const ndr_h5_dataset *dataset) {
  return ndr_fail(NDR_ERR_FILE, "%s: the attributes that name what belongs to it cannot be read", dataset->where);
}

/* ---- Which variables can be copied ------------------------------------------------------------------------------ */

/* Opens what has that name in the group of the source, or in one of the groups above it, as CF looks for them; what is
 * no dataset, or a link that leads nowhere, is as if it were not there: *opened is negative. */
static ndr_status open_near(const ndr_h5_dataset *source, const char *name, char path[1024], hid_t *opened) {
  char group[1024] = "";
  ssize_t length = H5Iget_name(source->id, group, sizeof group);
  htri_t exists = 0;
  *opened = H5I_INVALID_HID;
  if (length <= 0) return fail_read(source);
  if (length >= (ssize_t)sizeof group || !*name || strpbrk(name, "/.")) return NDR_OK;
  for (char *slash; exists == 0 && (slash = strrchr(group, '/'));) {
    *slash = 0;
    if (snprintf(path, 1024, "%s/%s", group, name) < 1024) exists = H5Lexists(source->file_id, path, H5P_DEFAULT);
  }
  if (exists > 0) exists = H5Oexists_by_name(source->file_id, path, source->links->access);
  if (exists > 0) exists = ndr_hdf_is_dataset(source->file_id, path, source->links->access);
  if (exists > 0) *opened = H5Dopen2(source->file_id, path, source->links->access);
  return exists < 0 || (exists > 0 && *opened < 0) ? fail_read(source) : NDR_OK;
}

/* The bytes of numbers or texts; more than MOST_BYTES where there are others, or more than are worth it, and negative
 * where they cannot be told. */
static int64_t plain_bytes(const ndr_h5_dataset *found) {
  hid_t type = H5Dget_type(found->id);
  H5T_class_t kind = H5Tget_class(type);
  htri_t variable = kind == H5T_STRING ? H5Tis_variable_str(type) : 0;
  int64_t bytes = (int64_t)H5Tget_size(type), texts = 0;
  bool known = kind != H5T_NO_CLASS && variable >= 0 && bytes > 0;
  bool plain = kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_STRING;
  for (int d = 0; d < found->info.ndim; d++)
    if (__builtin_mul_overflow(bytes, found->info.shape[d], &bytes)) bytes = MOST_BYTES + 1;
  if (known && variable > 0 && bytes <= MOST_BYTES) texts = ndr_hdf_text_bytes(found->id, type);
  if (type >= 0) H5Tclose(type);
  if (!known || texts < 0) return -1;
  return plain && texts <= MOST_BYTES ? bytes + texts : MOST_BYTES + 1;
}

/* Each dim must be known, and be none of the reduced ones. */
static bool is_left(const context *c, const ndr_h5_dataset *found) {
  for (int i = 0; i < found->info.ndim; i++) {
    if (!found->scales[i]) return false;
    for (int d = 0; d < c->source->info.ndim; d++)
      if (c->reduced[d] && c->source->scales[d] && strcmp(c->source->scales[d], found->scales[i]) == 0) return false;
  }
  return true;
}

/* ---- Copying one ------------------------------------------------------------------------------------------------ */

/* Says what belongs to a variable, which may not be there. */
static bool keeps(void *user, const char *name) {
  static const char *const others[] = {"coordinates",   "grid_mapping",      "climatology",  "cell_measures",
                                       "formula_terms", "_ARRAY_DIMENSIONS", "cell_methods", "ancillary_variables"};
  (void)user;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(name, others[i]) == 0) return false;
  return true;
}

/* The extent as it is now: HDF5 refuses an unlimited one where there are no chunks. */
static hid_t open_space(const ndr_h5_dataset *found) {
  hsize_t size[NDR_MAX_DIMS];
  hid_t space = H5Dget_space(found->id);
  int ndim = H5Sget_simple_extent_dims(space, size, NULL);
  if (ndim >= 0 && (ndim == 0 || H5Sset_extent_simple(space, ndim, size, NULL) >= 0)) return space;
  if (space >= 0) H5Sclose(space);
  return H5I_INVALID_HID;
}

static bool copy_elements(const ndr_h5_dataset *found, hid_t file, const char *name) {
  hid_t type = H5Dget_type(found->id), space = open_space(found);
  hssize_t count = H5Sget_simple_extent_npoints(space);
  size_t bytes = H5Tget_size(type);
  void *data = bytes > 0 && count >= 0 ? calloc((size_t)count + 1, bytes) : NULL;
  hid_t copy = H5I_INVALID_HID;
  bool good = data && H5Dread(found->id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  if (good) copy = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  good = copy >= 0 && H5Dwrite(copy, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0 &&
         ndr_hdf_copy_attributes(found->id, copy, keeps, NULL);
  if (copy >= 0) H5Dclose(copy);
  if (data && H5Tis_variable_str(type) > 0) ndr_hdf_reclaim(type, space, H5P_DEFAULT, data);
  free(data);
  if (space >= 0) H5Sclose(space);
  H5Tclose(type);
  return good;
}

static ndr_status remember(const context *c, const char *origin, const char *name, const char **copied) {
  ndr_auxiliaries *known = c->known;
  ndr_auxiliary *all = realloc(known->all, (size_t)(known->count + 1) * sizeof *all);
  if (!all) return fail_memory(c);
  known->all = all;
  all[known->count] = (ndr_auxiliary){strdup(origin), ndr_scales_free_name(c->scales->file, name)};
  ndr_auxiliary *added = &all[known->count++];
  if (!added->origin || !added->name) return fail_memory(c);
  *copied = added->name;
  return NDR_OK;
}

static ndr_status put_bounds(const context *c, char *bounds, const char *variable, int depth);

static ndr_status copy_described(const context *c, const ndr_h5_dataset *found, const char *name, int depth,
                                 const char **copied) {
  int same[NDR_MAX_DIMS];
  const char *as;
  for (int i = 0; i < c->known->count; i++)
    if (strcmp(c->known->all[i].origin, found->where) == 0) {
      *copied = c->known->all[i].name;
      return NDR_OK;
    }
  int64_t bytes = plain_bytes(found);
  if (bytes < 0) return ndr_hdf_fail(NDR_ERR_FILE, found->where, "its type cannot be read");
  if (bytes > MOST_BYTES - c->known->bytes) return NDR_OK;
  c->known->bytes += bytes;
  NDR_TRY(remember(c, found->where, name, &as));
  if (!copy_elements(found, c->scales->file, as))
    return ndr_hdf_fail(NDR_ERR_FILE, found->where, "cannot be copied to the output");
  for (int d = 0; d < found->info.ndim; d++) same[d] = d;
  NDR_TRY(ndr_scales_attach(c->scales, found, as, found->info.ndim, same));
  *copied = as;
  char *bounds;
  if (!depth) return NDR_OK;
  if (!ndr_hdf_get_text(found->id, "bounds", &bounds)) return fail_read(found);
  return put_bounds(c, bounds, as, depth - 1);
}

/* The name in the output of a scale that is attached to the variable; NULL where it is not there. */
static const char *find_scale(const context *c, const char *path) {
  for (int i = 0; i < c->ndim; i++) {
    const char *scale = c->from[i] < 0 ? NULL : c->source->scales[c->from[i]];
    if (scale && strcmp(scale, path) == 0) return ndr_scales_name(c->scales, c->variable, i);
  }
  return NULL;
}

/* Where one of that name exists and may be copied, *copied is its name in the output, else NULL. */
static ndr_status copy_named(const context *c, const char *name, int depth, const char **copied) {
  char path[1024];
  ndr_h5_dataset found = {.file = c->source->file, .file_id = c->source->file_id, .links = c->source->links};
  *copied = NULL;
  found.raw = true;
  NDR_TRY(open_near(c->source, name, path, &found.id));
  if (found.id < 0) return NDR_OK;
  ndr_status status = ndr_hdf_describe(&found, path);
  bool known = status == NDR_OK || status == NDR_ERR_DTYPE;
  if (status != NDR_ERR_MEMORY && status != NDR_ERR_FILE) status = NDR_OK;
  if (known && found.info.is_scale)
    *copied = find_scale(c, path);
  else if (known && is_left(c, &found))
    status = copy_described(c, &found, name, depth, copied);
  ndr_hdf_forget(&found);
  H5Dclose(found.id);
  return status;
}

/* ---- Attributes that name them ---------------------------------------------------------------------------------- */

static ndr_status put_text(const context *c, const char *variable, const char *attribute, const char *text) {
  hid_t dataset = H5Dopen2(c->scales->file, variable, H5P_DEFAULT);
  bool good = dataset >= 0 && (H5Aexists(dataset, attribute) > 0 || ndr_hdf_put_text(dataset, attribute, text));
  ndr_status status = good ? NDR_OK : ndr_hdf_fail(NDR_ERR_FILE, variable, "its attributes cannot be written");
  if (dataset >= 0) H5Dclose(dataset);
  return status;
}

/* Copies the bounds of that name, which is freed, and ties them to the variable of the output. */
static ndr_status put_bounds(const context *c, char *bounds, const char *variable, int depth) {
  const char *copied = NULL;
  ndr_status status = bounds ? copy_named(c, bounds, depth, &copied) : NDR_OK;
  if (status == NDR_OK && copied) status = put_text(c, variable, "bounds", copied);
  free(bounds);
  return status;
}

/* A scale is closed before anything is copied: of one that is open, HDF5 1.10 may not know the name when a reference is
 * followed to it. */
static ndr_status put_bounds_of_scales(const context *c) {
  ndr_status status = NDR_OK;
  for (int i = 0; i < c->ndim && status == NDR_OK; i++) {
    const char *name = c->from[i] < 0 ? NULL : ndr_scales_name(c->scales, c->variable, i);
    hid_t scale = H5I_INVALID_HID;
    char *bounds;
    if (name) NDR_TRY(ndr_hdf_open_coordinates(c->source, c->from[i], false, &scale));
    if (scale < 0) continue;
    bool good = ndr_hdf_get_text(scale, "bounds", &bounds);
    H5Dclose(scale);
    status = good ? put_bounds(c, bounds, name, 0) : fail_read(c->source);
  }
  return status;
}

/* A list of names, less those that the output has not. */
static ndr_status put_list(const context *c, const char *attribute, bool single) {
  char *names, *rest = NULL;
  if (!ndr_hdf_get_text(c->source->id, attribute, &names)) return fail_read(c->source);
  size_t capacity = names ? 2 * strlen(names) + 256 : 0, length = 0;
  char *left = names ? calloc(capacity, 1) : NULL;
  ndr_status status = names && !left ? fail_memory(c) : NDR_OK;
  if (left && single && strchr(names, ' ')) names[0] = 0;
  for (char *name = left ? strtok_r(names, " ", &rest) : NULL; name && status == NDR_OK;
       name = strtok_r(NULL, " ", &rest)) {
    const char *copied;
    status = copy_named(c, name, 1, &copied);
    if (status == NDR_OK && copied && length + strlen(copied) + 2 < capacity)
      length += (size_t)snprintf(left + length, capacity - length, "%s%s", length ? " " : "", copied);
  }
  if (status == NDR_OK && length) status = put_text(c, c->variable, attribute, left);
  free(left);
  free(names);
  return status;
}

static bool is_whole(const ndr_h5_dataset *source) {
  for (int d = 0; d < source->info.ndim; d++)
    if (source->info.shape[d] != source->extent[d]) return false;
  return source->part_count == 0;
}

ndr_status ndr_auxiliaries_attach(ndr_auxiliaries *known, ndr_scales *scales, const ndr_label *label,
                                  const char *variable, int ndim, const int *from) {
  context c = {known, scales, label->source, label->reduced, variable, ndim, from};
  if (!is_whole(label->source)) return NDR_OK;
  NDR_TRY(put_bounds_of_scales(&c));
  NDR_TRY(put_list(&c, "coordinates", false));
  return put_list(&c, "grid_mapping", true);
}

void ndr_auxiliaries_free(ndr_auxiliaries *known) {
  for (int i = 0; i < known->count; i++) {
    free(known->all[i].origin);
    free(known->all[i].name);
  }
  free(known->all);
}
