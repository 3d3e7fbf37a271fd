/* See place.h. */
#include "h5/write/place.h"

#include <stdlib.h>
#include <string.h>

#include "h5/file/netcdf.h"

static size_t place_length(const char *name) {
  return (size_t)(ndr_hdf_leaf(name) - name);
}

char *ndr_place_of(const char *path) {
  path += strspn(path, "/");
  return ndr_hdf_noted(strndup(path, place_length(path)));
}

bool ndr_place_is_same(const char *a, const char *b) {
  size_t length = place_length(a);
  return length == place_length(b) && strncmp(a, b, length) == 0;
}

const char *ndr_place_seen_from(const char *variable, const char *target) {
  size_t length = place_length(target);
  return strncmp(variable, target, length) == 0 ? target + length : target;
}

/* In the order of creation, as the root of the file is made. */
static bool make_group(hid_t file, const char *path) {
  hid_t creation = H5Pcreate(H5P_GROUP_CREATE), group = H5I_INVALID_HID;
  if (H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0 &&
      H5Pset_attr_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0 &&
      H5Pset_obj_track_times(creation, false) >= 0)
    group = H5Gcreate2(file, path, H5P_DEFAULT, creation, H5P_DEFAULT);
  if (creation >= 0) H5Pclose(creation);
  if (group >= 0) H5Gclose(group);
  return group >= 0;
}

bool ndr_place_make_groups(hid_t file, const char *name) {
  char *path = ndr_hdf_noted(strdup(name));
  bool good = path != NULL;
  for (char *slash = path; good && (slash = strchr(slash, '/')); slash++) {
    *slash = 0;
    htri_t exists = H5Lexists(file, path, H5P_DEFAULT);
    good = exists > 0 || (exists == 0 && make_group(file, path));
    *slash = '/';
  }
  free(path);
  return good;
}
