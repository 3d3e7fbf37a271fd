/* See cf_names.h. Which attributes there are is the matter of cf_copy.c and cf_copy_mesh.c. */
#include "h5/write/cf/cf_names.h"

#include <stdlib.h>
#include <string.h>

#include "h5/cf/variable.h"
#include "h5/file/seam.h"
#include "h5/write/place.h"

ndr_status ndr_cf_names_fail_read(const ndr_h5_dataset *dataset) {
  return ndr_hdf_fail_late(dataset->where, "the attributes that name the variables which describe it cannot be read");
}

ndr_status ndr_cf_names_put_text(const ndr_cf_copy_context *c, const char *variable, const char *attribute,
                                 const char *text) {
  hid_t dataset = H5Dopen2(c->scales->file, variable, H5P_DEFAULT);
  bool good = dataset >= 0 && ndr_hdf_put_text(dataset, attribute, text);
  ndr_status status = good ? NDR_OK : ndr_hdf_fail(NDR_ERR_FILE, variable, "its attributes cannot be written");
  if (dataset >= 0) H5Dclose(dataset);
  return status;
}

/* Several variables may share a scale: its attributes are written with the first of them. */
static ndr_status has_attribute(const ndr_cf_copy_context *c, const char *variable, const char *attribute, bool *has) {
  hid_t dataset = H5Dopen2(c->scales->file, variable, H5P_DEFAULT);
  htri_t exists = dataset < 0 ? -1 : H5Aexists(dataset, attribute);
  *has = exists > 0;
  if (dataset >= 0) H5Dclose(dataset);
  return exists < 0 ? ndr_hdf_fail(NDR_ERR_FILE, variable, "its attributes cannot be read") : NDR_OK;
}

bool ndr_cf_names_next(const char **rest, char word[256]) {
  *rest += strspn(*rest, " ");
  size_t length = strcspn(*rest, " ");
  snprintf(word, 256, "%.*s", (int)(length < 255 ? length : 255), *rest);
  *rest += length;
  return length > 0;
}

static bool is_key(const char *word) {
  return word[0] && word[strlen(word) - 1] == ':';
}

static ndr_status can_copy_all(const ndr_cf_copy_context *c, const char *names, bool *can) {
  char word[256];
  *can = true;
  while (*can && ndr_cf_names_next(&names, word)) {
    ndr_cf_variable found;
    if (is_key(word)) continue;
    ndr_status status = ndr_cf_variable_open(&found, c->source, c->reduced, word, c->bounds);
    *can = found.count && (found.whole.info.is_scale ? ndr_cf_copy_scale(c, found.whole.path) != NULL : found.fits);
    ndr_cf_variable_close(&found);
    NDR_TRY(status);
  }
  return NDR_OK;
}

/* Whether the result still has all cells of the input, along the dims that a measure may have: the horizontal ones for
 * "area:", all but time for others. */
static bool has_all_cells(const ndr_cf_copy_context *c, const char *key) {
  const ndr_h5_dataset *source = c->source;
  bool area = strcmp(key, "area:") == 0;
  for (int d = 0; d < source->info.ndim; d++) {
    bool cut = source->info.shape[d] != source->extent[d] || ndr_has_seam(source, d) ||
               (source->part_count && source->series_dim == d);
    bool touches = area ? c->axes[d] == NDR_AXIS_HORIZONTAL : c->axes[d] != NDR_AXIS_TIME;
    if (touches && (cut || c->reduced[d])) return false;
  }
  return true;
}

ndr_status ndr_cf_names_copy(const ndr_cf_copy_context *c, const char *names, ndr_cf_naming how, int depth,
                             const char *variable, char **left) {
  char word[256], key[256] = "";
  size_t capacity = 2 * strlen(names) + 2048, length = 0;
  bool all = true;
  *left = calloc(capacity, 1);
  if (!*left) return ndr_cf_copy_fail_memory(c);
  while (ndr_cf_names_next(&names, word)) {
    const char *copied;
    bool absent;
    if (is_key(word)) {
      memcpy(key, word, sizeof key);
      continue;
    }
    NDR_TRY(ndr_cf_copy_variable(c, word, depth, &copied, &absent));
    if (how == NDR_CF_NAMES_MEASURES && absent && has_all_cells(c, key)) copied = word;
    all = all && copied;
    if (copied) copied = ndr_place_seen_from(variable, copied);
    if (copied && length + strlen(key) + strlen(copied) + 4 < capacity)
      length += (size_t)snprintf(*left + length, capacity - length, "%s%s%s%s%s", length ? " " : "", key,
                                 *key ? " " : "", strchr(copied, '/') ? "/" : "", copied);
    key[0] = 0;
  }
  if (how == NDR_CF_NAMES_ALL && !all) **left = 0;
  return NDR_OK;
}

ndr_status ndr_cf_names_put(const ndr_cf_copy_context *c, const char *names, const char *attribute, ndr_cf_naming how,
                            int depth, const char *variable) {
  char *left = NULL;
  bool can = names != NULL, has = false;
  if (can && how == NDR_CF_NAMES_ONE) can = strchr(names, ' ') == NULL;
  if (can) NDR_TRY(has_attribute(c, variable, attribute, &has));
  if (can && !has && how == NDR_CF_NAMES_ALL) NDR_TRY(can_copy_all(c, names, &can));
  if (!can || has) return NDR_OK;
  ndr_status status = ndr_cf_names_copy(c, names, how, depth, variable, &left);
  if (status == NDR_OK && *left) status = ndr_cf_names_put_text(c, variable, attribute, left);
  free(left);
  return status;
}

ndr_status ndr_cf_names_put_of(const ndr_cf_copy_context *c, hid_t from, const char *attribute, ndr_cf_naming how,
                               int depth, const char *variable) {
  char *names;
  if (!ndr_hdf_get_text_or_tell(from, attribute, c->scales->remarks, &names)) return ndr_cf_names_fail_read(c->source);
  ndr_status status = ndr_cf_names_put(c, names, attribute, how, depth, variable);
  free(names);
  return status;
}

ndr_status ndr_cf_names_put_of_copy(const ndr_cf_copy_context *c, hid_t from, const char *variable) {
  NDR_TRY(ndr_cf_names_put_of(c, from, "bounds", NDR_CF_NAMES_ONE, 0, variable));
  for (int i = 0; i < NDR_CF_MESH_PARTS; i++)
    NDR_TRY(ndr_cf_names_put_of(c, from, ndr_cf_mesh_parts[i], NDR_CF_NAMES_SOME, 0, variable));
  return NDR_OK;
}
