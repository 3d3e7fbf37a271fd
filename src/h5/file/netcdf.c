/* See netcdf.h. What CF says is in cf_*.c. */
#include "h5/file/netcdf.h"

#include <stdlib.h>
#include <string.h>

#include "h5/bytes/header.h"
#include "h5/file/attributes.h"

const char *ndr_hdf_leaf(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static bool is_hidden(const char *leaf) {
  size_t length = strlen(NDR_HIDDEN_VARIABLE);
  return strncmp(leaf, NDR_HIDDEN_VARIABLE, length) == 0 && leaf[length];
}

char *ndr_netcdf_shown(const char *path) {
  const char *leaf = ndr_hdf_leaf(path);
  char *shown = ndr_hdf_noted(strdup(path));
  if (shown && is_hidden(leaf)) strcpy(shown + (leaf - path), leaf + strlen(NDR_HIDDEN_VARIABLE));
  return shown;
}

char *ndr_netcdf_stored(hid_t file, const char *path, hid_t access) {
  const char *leaf = ndr_hdf_leaf(path);
  size_t capacity = strlen(path) + strlen(NDR_HIDDEN_VARIABLE) + 1;
  char *stored = ndr_hdf_noted(malloc(capacity));
  if (!stored) return NULL;
  snprintf(stored, capacity, "%.*s" NDR_HIDDEN_VARIABLE "%s", (int)(leaf - path), path, leaf);
  if (!*leaf || is_hidden(leaf) || H5Lexists(file, stored, access) <= 0) strcpy(stored, path);
  return stored;
}

htri_t ndr_netcdf_is_bare(hid_t scale) {
  char *name;
  bool malformed;
  if (!ndr_hdf_find_text(scale, "NAME", &name, &malformed)) return -1;
  bool bare = name && strncmp(name, NDR_BARE_SCALE, strlen(NDR_BARE_SCALE)) == 0;
  free(name);
  return bare;
}

/* ---- Dims by their numbers --------------------------------------------------------------------------------------- */

/* Reads the numbers of an attribute; *found is false where it is not there, or has not so many. */
static bool read_ids(hid_t object, const char *name, int count, int *ids, bool *found) {
  htri_t exists = ndr_header_has_attribute(object, name);
  *found = false;
  if (exists <= 0) return exists == 0;
  hid_t attribute = ndr_header_open(object, name);
  if (attribute < 0) return ndr_hdf_is_malformed();
  hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  hssize_t points = H5Sget_simple_extent_npoints(space);
  H5T_class_t kind = H5Tget_class(type);
  *found = kind == H5T_INTEGER && points == count;
  bool good = kind != H5T_NO_CLASS && points >= 0 && (!*found || ndr_header_read(attribute, H5T_NATIVE_INT, ids) >= 0);
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  H5Aclose(attribute);
  return good;
}

typedef struct {
  hid_t group, access;
  const char *path; /* of the group, without the last "/" */
  int ndim;
  const int *ids;
  char **paths;
} dim_search;

static bool keep_dims_of(const dim_search *s, const char *name, hid_t scale) {
  int id;
  bool found;
  char *class;
  if (!read_ids(scale, "_Netcdf4Dimid", 1, &id, &found)) return false;
  if (!found) return true;
  if (!ndr_hdf_get_text(scale, "CLASS", &class)) return false;
  found = class && strcmp(class, "DIMENSION_SCALE") == 0;
  free(class);
  for (int d = 0; d < s->ndim && found; d++) {
    if (s->ids[d] != id || s->paths[d]) continue;
    size_t capacity = strlen(s->path) + strlen(name) + 2;
    s->paths[d] = ndr_hdf_noted(malloc(capacity));
    if (!s->paths[d]) return false;
    snprintf(s->paths[d], capacity, "%s/%s", s->path, name);
  }
  return true;
}

static int visit_scale(void *user, const char *name, H5L_type_t type) {
  const dim_search *s = user;
  if (type != H5L_TYPE_HARD || ndr_hdf_is_dataset(s->group, name, s->access) <= 0) return 0;
  hid_t scale = H5Dopen2(s->group, name, s->access);
  bool good = scale < 0 || keep_dims_of(s, name, scale);
  if (scale >= 0) H5Dclose(scale);
  return good ? 0 : -1;
}

static bool search_groups(hid_t dataset, char *place, dim_search *s) {
  bool good = true;
  for (char *slash; good && (slash = strrchr(place, '/'));) {
    *slash = 0;
    s->path = place;
    s->group = H5Gopen2(dataset, *place ? place : "/", H5P_DEFAULT);
    good = s->group >= 0 && ndr_hdf_each_link(s->group, visit_scale, s) >= 0;
    if (s->group >= 0) H5Gclose(s->group);
  }
  return good;
}

bool ndr_netcdf_find_dims(hid_t dataset, hid_t access, int ndim, char **paths) {
  int ids[H5S_MAX_RANK];
  bool found;
  if (!read_ids(dataset, "_Netcdf4Coordinates", ndim, ids, &found)) return false;
  ssize_t length = found ? H5Iget_name(dataset, NULL, 0) : 0;
  if (length <= 0) return length == 0;
  char *place = ndr_hdf_noted(malloc((size_t)length + 1));
  dim_search s = {.access = access, .ndim = ndim, .ids = ids, .paths = paths};
  bool good = place && H5Iget_name(dataset, place, (size_t)length + 1) > 0 && search_groups(dataset, place, &s);
  free(place);
  return good;
}
