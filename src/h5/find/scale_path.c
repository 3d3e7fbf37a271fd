/* See scale_path.h. A path that is tried has to lead to the scale. If a scale has several links, only HDF5's search
 * says which path it has, so a path serves again in the file where it was found, not in another one. */
#include "h5/find/scale_path.h"

#include <stdlib.h>
#include <string.h>

#include "h5/file/attributes.h"

/* Paths that are kept, at least as many as the scales that variables of a file mostly have; none of more bytes. */
enum { KEPT = 64, LONGEST = 256 };

typedef struct {
  char path[LONGEST]; /* "": none is kept here */
  ndr_hdf_object of;
} kept_path;

static struct {
  int next;
  kept_path all[KEPT];
} kept;

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

/* A dataset, and the property list by which links to other files are followed. */
typedef struct {
  hid_t dataset, access;
} origin;

static bool is_hard_link(const origin *from, const char *path) {
#if H5_VERSION_GE(1, 12, 0)
  H5L_info2_t info;
  herr_t done = H5Lget_info2(from->dataset, path, &info, from->access);
#else
  H5L_info_t info;
  herr_t done = H5Lget_info(from->dataset, path, &info, from->access);
#endif
  return done >= 0 && info.type == H5L_TYPE_HARD;
}

/* Whether the path leads through hard links alone. Others may lead to another file, or to nothing. */
static bool is_hard_path(const origin *from, char *path) {
  for (char *cut = path + strcspn(path + 1, "/") + 1;; cut += 1 + strcspn(cut + 1, "/")) {
    const char behind = *cut;
    *cut = 0;
    bool hard = is_hard_link(from, path);
    *cut = behind;
    if (!hard || !behind) return hard;
  }
}

static bool leads_to(const origin *from, char *path, const ndr_hdf_object *scale) {
  ndr_hdf_object found;
  return *path == '/' && is_hard_path(from, path) && ndr_hdf_identify(from->dataset, path, from->access, &found) &&
         ndr_hdf_same_object(&found, scale);
}

/* ---- Paths that were found before -------------------------------------------------------------------------------- */

static bool may_serve(const kept_path *k, const ndr_hdf_object *scale) {
  if (!*k->path) return false;
  return k->of.file == scale->file ? ndr_hdf_same_object(&k->of, scale) : scale->links == 1;
}

static bool find_kept(const origin *from, const ndr_hdf_object *scale, char **path) {
  for (int i = 1; i <= KEPT; i++) {
    kept_path *k = &kept.all[(kept.next + KEPT - i) % KEPT];
    if (!may_serve(k, scale) || !leads_to(from, k->path, scale)) continue;
    k->of = *scale;
    *path = ndr_hdf_noted(strdup(k->path));
    return true;
  }
  return false;
}

static void keep(const ndr_hdf_object *scale, const char *path) {
  kept_path *k = &kept.all[kept.next];
  if (strlen(path) >= LONGEST) return;
  strcpy(k->path, path);
  k->of = *scale;
  kept.next = (kept.next + 1) % KEPT;
}

/* ---- Other ways -------------------------------------------------------------------------------------------------- */

/* The scale's name in the groups from the dataset's up to the root; `place` is the dataset's path, and cut. */
static char *try_groups(const origin *from, const ndr_hdf_object *scale, const char *name, char *place) {
  for (char *slash; (slash = strrchr(place, '/'));) {
    *slash = 0;
    char *path = ndr_hdf_join(place, "/", name);
    if (!path || leads_to(from, path, scale)) return path;
    free(path);
  }
  return NULL;
}

static char *try_name(const origin *from, hid_t scale, const ndr_hdf_object *is) {
  char *name = NULL, *path = NULL, *place = NULL;
  bool malformed;
  if (is->links != 1 || !ndr_hdf_find_text(scale, "NAME", &name, &malformed)) return NULL;
  if (name && *name && !strchr(name, '/')) (void)ndr_hdf_path(from->dataset, &place);
  if (place && *place == '/') path = try_groups(from, is, name, place);
  free(place);
  free(name);
  return path;
}

bool ndr_scale_path(hid_t dataset, hid_t access, hid_t scale, char **path) {
  const origin from = {dataset, access};
  ndr_hdf_object is;
  bool good = true;
  *path = NULL;
  if (!ndr_hdf_identify(scale, ".", H5P_DEFAULT, &is)) return false;
  if (find_kept(&from, &is, path)) return *path != NULL;
  *path = try_name(&from, scale, &is);
  if (!*path) good = ndr_hdf_path(scale, path);
  if (*path && good) keep(&is, *path);
  return good && !ndr_hdf_lacks_memory();
}
