/* See cf_copy_variable.h. A variable that another file has as well, with the same elements and attributes, is not
 * copied twice. */
#include "h5/write/cf/cf_copy_variable.h"

#include <stdlib.h>
#include <string.h>

#include "h5/cf/variable.h"
#include "h5/file/attributes.h"
#include "h5/write/storage/elements.h"
#include "h5/write/storage/storage.h"

/* The most bytes of all copies together: variables are read whole, beside the budget for buffers. */
#define MOST_BYTES ((int64_t)64 << 20)

ndr_status ndr_cf_copy_fail_memory(const ndr_cf_copy_context *c) {
  return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for the variables that describe it", c->source->where);
}

/* Drops cell_methods: it is wrong for a subset. */
static bool keeps(void *user, const char *name) {
  (void)user;
  return strcmp(name, "cell_methods") != 0;
}

static bool keeps_converted(void *user, const char *name) {
  return keeps(user, name) && ndr_label_keeps_unpacked(user, name);
}

static ndr_hdf_attribute_test test_of(const ndr_cf_copy_context *c, const ndr_cf_variable *found) {
  return c->itself ? NULL : found->converted ? keeps_converted : keeps;
}

static ndr_status write_elements(const ndr_cf_copy_context *c, const ndr_cf_variable *found, const ndr_elements *e,
                                 const int *from, const char *name) {
  bool unlimited[NDR_MAX_DIMS];
  NDR_TRY(ndr_scales_limits(c->scales, &found->whole, found->whole.info.ndim, from, unlimited));
  hid_t copy = ndr_storage_copy(c->scales->file, name, e->type, &found->whole, unlimited, c->known->deflate, e->data);
  bool good = copy >= 0 && ndr_hdf_copy_attributes(found->whole.id, copy, test_of(c, found), NULL, c->scales->remarks);
  ndr_status status = good ? NDR_OK : ndr_hdf_fail(NDR_ERR_FILE, found->whole.where, "cannot be copied to the output");
  if (copy >= 0) H5Dclose(copy);
  return status;
}

/* Readers of netCDF cannot open a file with an enumeration that is no type of the file's own. */
static void take_integers(ndr_elements *e) {
  hid_t integers = e->type >= 0 && H5Tget_class(e->type) == H5T_ENUM ? H5Tget_super(e->type) : H5I_INVALID_HID;
  if (integers < 0) return;
  H5Tclose(e->type);
  e->type = integers;
}

static ndr_status read_elements(const ndr_cf_variable *found, ndr_elements *e) {
  hsize_t count = 1;
  for (int d = 0; d < found->whole.info.ndim; d++) count *= (hsize_t)found->whole.info.shape[d];
  NDR_TRY(found->converted ? ndr_elements_reserve_values(e, count, found->whole.where)
                           : ndr_elements_reserve(e, found->whole.id, count, found->whole.where));
  if (ndr_storage_is_netcdf(&found->whole)) take_integers(e);
  if (found->converted ? ndr_cf_variable_read_values(found, e->data) : ndr_cf_variable_read(found, e->type, e->data))
    return NDR_OK;
  return ndr_hdf_fail(NDR_ERR_FILE, found->whole.where, "cannot be copied to the output");
}

/* name is the copy's in the output, and kept. */
static ndr_status remember(const ndr_cf_copy_context *c, const char *origin, char *name) {
  ndr_cf_copies *known = c->known;
  ndr_cf_copy *all = realloc(known->all, (size_t)(known->count + 1) * sizeof *all);
  char *from = strdup(origin);
  if (all) known->all = all;
  if (!all || !from || !name) {
    free(from);
    free(name);
    return ndr_cf_copy_fail_memory(c);
  }
  all[known->count++] = (ndr_cf_copy){from, name};
  return NDR_OK;
}

/* Whether a copy in the output is what would be copied again, from another file: dims, elements and attributes. */
static ndr_status compare(const ndr_cf_copy_context *c, const ndr_cf_variable *found, const ndr_elements *e,
                          const char *copy, bool *same) {
  int ndim = found->whole.info.ndim;
  *same = ndr_scales_name(c->scales, copy, ndim) == NULL;
  for (int d = 0; d < ndim && *same; d++) {
    const char *other = ndr_scales_name(c->scales, copy, d);
    ndr_scale *own;
    NDR_TRY(ndr_scales_find(c->scales, &found->whole, d, &own));
    *same = other && strcmp(own->name, other) == 0;
  }
  if (!*same) return NDR_OK;
  hid_t dataset = H5Dopen2(c->scales->file, copy, H5P_DEFAULT);
  htri_t equal = dataset < 0 ? -1 : ndr_elements_equal(e, dataset);
  if (equal > 0) equal = ndr_hdf_same_attributes(found->whole.id, dataset, test_of(c, found), NULL);
  if (dataset >= 0) H5Dclose(dataset);
  *same = equal > 0;
  return equal < 0 ? ndr_hdf_fail(NDR_ERR_FILE, copy, "this variable cannot be compared with another") : NDR_OK;
}

static ndr_status find_same(const ndr_cf_copy_context *c, const ndr_cf_variable *found, const ndr_elements *e,
                            const char *name, const char **copied) {
  char *wanted = ndr_scales_wanted_name(c->scales, found->whole.path, name);
  ndr_status status = wanted ? NDR_OK : ndr_cf_copy_fail_memory(c);
  for (int i = 0; i < c->known->count && status == NDR_OK && !*copied; i++) {
    bool same = false;
    const char *copy = c->known->all[i].name;
    if (ndr_scales_is_named(copy, wanted)) status = compare(c, found, e, copy, &same);
    if (same) *copied = copy;
  }
  free(wanted);
  return status;
}

static ndr_status copy_elements(const ndr_cf_copy_context *c, const ndr_cf_variable *found, const ndr_elements *e,
                                const char *origin, const char *name, int depth, const char **copied) {
  int same[NDR_MAX_DIMS];
  NDR_TRY(find_same(c, found, e, name, copied));
  if (*copied) return remember(c, origin, strdup(*copied));
  NDR_TRY(remember(c, origin, ndr_scales_free_name(c->scales, found->whole.path, name)));
  const char *as = c->known->all[c->known->count - 1].name;
  for (int d = 0; d < found->whole.info.ndim; d++) same[d] = d;
  NDR_TRY(write_elements(c, found, e, same, as));
  NDR_TRY(ndr_order_note(c->scales->order, &found->whole, as));
  NDR_TRY(ndr_scales_attach(c->scales, &found->whole, as, found->whole.info.ndim, same));
  *copied = as;
  return depth ? c->follow(c, found->whole.id, as) : NDR_OK;
}

static ndr_status copy_new(const ndr_cf_copy_context *c, const ndr_cf_variable *found, const char *origin,
                           const char *name, int depth, const char **copied) {
  ndr_elements elements = {.type = H5I_INVALID_HID};
  int64_t bytes = c->itself ? 0 : ndr_cf_variable_bytes(found, MOST_BYTES);
  if (bytes < 0) return ndr_hdf_fail(NDR_ERR_FILE, found->whole.where, "its type cannot be read");
  if (bytes > MOST_BYTES - c->known->bytes) return NDR_OK;
  c->known->bytes += bytes;
  ndr_status status = read_elements(found, &elements);
  if (status == NDR_OK) status = copy_elements(c, found, &elements, origin, name, depth, copied);
  ndr_elements_free(&elements);
  return status;
}

/* What has been copied for another variable is not copied again. */
static ndr_status copy_found(const ndr_cf_copy_context *c, const ndr_cf_variable *found, const char *name, int depth,
                             const char **copied) {
  char *origin = ndr_cf_variable_origin(found);
  if (!origin) return ndr_cf_copy_fail_memory(c);
  for (int i = 0; i < c->known->count; i++)
    if (strcmp(c->known->all[i].origin, origin) == 0) *copied = c->known->all[i].name;
  ndr_status status = *copied ? NDR_OK : copy_new(c, found, origin, name, depth, copied);
  free(origin);
  return status;
}

ndr_status ndr_cf_copy_itself(const ndr_cf_copy_context *c, const ndr_cf_variable *found, const char **copied,
                              bool *is_new) {
  int before = c->known->count;
  *copied = NULL;
  NDR_TRY(copy_found(c, found, ndr_hdf_leaf(found->whole.path), 1, copied));
  *is_new = c->known->count > before && *copied == c->known->all[before].name;
  return NDR_OK;
}

const char *ndr_cf_copy_scale(const ndr_cf_copy_context *c, const char *path) {
  for (int i = 0; i < c->ndim; i++) {
    const char *scale = ndr_scales_is_kept(c->from[i]) ? c->source->scales[c->from[i]] : NULL;
    if (scale && strcmp(scale, path) == 0) return ndr_scales_name(c->scales, c->variable, i);
  }
  return NULL;
}

ndr_status ndr_cf_copy_variable(const ndr_cf_copy_context *c, const char *name, int depth, const char **copied,
                                bool *absent) {
  ndr_cf_variable found;
  *copied = NULL;
  ndr_status status = ndr_cf_variable_open(&found, c->source, c->reduced, name, c->bounds);
  if (status == NDR_OK && found.count && found.whole.info.is_scale)
    *copied = ndr_cf_copy_scale(c, found.whole.path);
  else if (status == NDR_OK && found.fits)
    status = copy_found(c, &found, name, depth, copied);
  *absent = status == NDR_OK && found.count == 0;
  ndr_cf_variable_close(&found);
  return status;
}
