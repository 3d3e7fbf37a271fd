/* ndr_h5_list: visits the datasets of a file. Which of them are meant where none is named is in candidates.c. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "h5/find/field.h"
#include "h5/find/hard_links.h"

/* Of one table: a hostile file may claim any number. */
enum { MOST_FIELDS = 1000 };

typedef struct {
  ndr_h5_dataset *dataset; /* each dataset in turn is described in it */
  ndr_h5_visitor visit;
  void *user;
  bool full;         /* there was no memory to describe one */
  ndr_status status; /* of a failure whose reason HDF5 no longer has */
  int external_count;
  char **externals;   /* paths of external links */
  const char *prefix; /* of the paths that are visited: of an external link to their group, or "" */
  bool linked;        /* `links` has been filled */
  ndr_hard_links links;
  const char *same_as; /* the path by which the dataset has been visited before, or NULL */
} listing;

/* A reason is the sentence without the "FILE:/PATH: " that it starts with. */
static const char *reason_of(const ndr_h5_dataset *dataset) {
  const char *sentence = ndr_last_error();
  size_t prefix = dataset->where ? strlen(dataset->where) : 0;
  bool same = prefix > 0 && strncmp(sentence, dataset->where, prefix) == 0 && strlen(sentence) > prefix + 2;
  return same ? sentence + prefix + 2 : sentence;
}

/* Whether users know another dataset by the path of this one, a dimension. */
static bool is_hiding(listing *l, const char *path) {
  char *stored = ndr_netcdf_stored(l->dataset->file_id, path, l->dataset->links->access);
  l->full = l->full || !stored;
  bool hiding = stored && strcmp(stored, path) != 0;
  free(stored);
  return hiding;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

typedef struct {
  listing *listing;
  const char *path;
  int count;
  bool cut; /* not all are listed */
} field_listing;

static int list_field(void *user, const char *field) {
  field_listing *f = user;
  listing *l = f->listing;
  f->cut = f->count++ == MOST_FIELDS;
  if (f->cut) return 1;
  ndr_hdf_forget(l->dataset);
  l->dataset->field = strdup(field);
  ndr_status status = l->dataset->field ? ndr_hdf_describe_data(l->dataset, f->path) : NDR_ERR_MEMORY;
  l->full = status == NDR_ERR_MEMORY;
  if (l->full) return -1;
  if (status == NDR_OK) return l->visit(l->user, l->dataset->path, &l->dataset->info, NULL);
  return l->visit(l->user, l->dataset->path, NULL, reason_of(l->dataset));
}

/* In place of a table, each of its fields. */
static int list_fields(listing *l, const char *path) {
  field_listing f = {l, path, 0, false};
  hid_t type = H5Dget_type(l->dataset->id);
  int stop = type < 0 ? -1 : ndr_field_each(type, list_field, &f);
  if (type >= 0) H5Tclose(type);
  return f.cut ? l->visit(l->user, path, NULL, "has more fields than are listed") : stop;
}

/* ---- Datasets ---------------------------------------------------------------------------------------------------- */

static int list_described(listing *l, const char *path, ndr_status status) {
  ndr_h5_dataset *dataset = l->dataset;
  dataset->info.same_as = l->same_as;
  if (status == NDR_OK) return l->visit(l->user, dataset->path, &dataset->info, NULL);
  if (l->same_as) return 0;
  if (dataset->bare && is_hiding(l, path)) return 0;
  if (status == NDR_ERR_DTYPE && dataset->table) return list_fields(l, path);
  return l->visit(l->user, dataset->path, NULL, reason_of(dataset));
}

/* Scales are looked up in the file that holds the dataset. */
static int list_dataset(listing *l, const char *path) {
  hid_t listed = l->dataset->file_id;
  l->dataset->id = H5Dopen2(listed, path, l->dataset->links->access);
  if (l->dataset->id < 0) return l->visit(l->user, path, NULL, "cannot be opened");
  hid_t holder = H5Iget_file_id(l->dataset->id);
  if (holder >= 0) l->dataset->file_id = holder;
  ndr_status status = ndr_hdf_describe_data(l->dataset, path);
  l->full = status == NDR_ERR_MEMORY;
  int stop = l->full ? -1 : l->dataset->remarks.stopped ? 1 : list_described(l, path, status);
  H5Dclose(l->dataset->id);
  if (holder >= 0) H5Fclose(holder);
  l->dataset->id = H5I_INVALID_HID;
  l->dataset->file_id = listed;
  ndr_hdf_forget(l->dataset);
  return l->full ? -1 : stop;
}

/* ---- Hard links ---------------------------------------------------------------------------------------------------
 */

static ndr_status fail_list(const ndr_h5_dataset *dataset) {
  return ndr_hdf_fail(NDR_ERR_FILE, dataset->file, "its datasets cannot be listed");
}

static bool find_links(listing *l) {
  if (l->linked) return true;
  l->linked = ndr_hard_links_find(l->dataset->file_id, &l->links);
  if (!l->linked) l->status = fail_list(l->dataset);
  if (!l->linked) ndr_hard_links_free(&l->links);
  return l->linked;
}

/* By each of its paths, the one in the fewest groups first. */
static int list_links(listing *l, const ndr_hdf_object *object, const char *path) {
  int count, most = l->dataset->all_paths ? INT_MAX : 1;
  if (!find_links(l)) return -1;
  const ndr_hard_link *links = ndr_hard_links_of(&l->links, object, &count);
  if (!links) return list_dataset(l, path);
  char *first = ndr_netcdf_shown(links[0].path);
  l->full = !first;
  int stop = first ? list_dataset(l, links[0].path) : -1;
  l->same_as = first;
  for (int i = 1; i < count && i < most && stop == 0; i++) stop = list_dataset(l, links[i].path);
  l->same_as = NULL;
  free(first);
  return stop;
}

/* ---- External links ---------------------------------------------------------------------------------------------- */

typedef struct {
  listing *listing;
  const char *group; /* without the last "/" */
} external_search;

static int keep_external(void *user, const char *name, H5L_type_t type) {
  const external_search *s = user;
  listing *l = s->listing;
  if (type != H5L_TYPE_EXTERNAL) return 0;
  char **externals = realloc(l->externals, (size_t)(l->external_count + 1) * sizeof *externals);
  if (externals) l->externals = externals;
  char *path = externals ? ndr_hdf_join(s->group, "/", name) : NULL;
  l->full = path == NULL;
  if (path) l->externals[l->external_count++] = path;
  return l->full ? -1 : 0;
}

static int find_externals(listing *l, const char *path) {
  external_search s = {l, strcmp(path, "/") == 0 ? "" : path};
  hid_t group = H5Gopen2(l->dataset->file_id, path, H5P_DEFAULT);
  herr_t done = group < 0 ? -1 : ndr_hdf_each_link(group, keep_external, &s);
  if (done < 0 && !l->full) l->status = fail_list(l->dataset); /* H5Gclose forgets the reason */
  if (group >= 0) H5Gclose(group);
  return done < 0 ? -1 : 0;
}

static int list_entry(void *user, const char *path, bool is_dataset) {
  listing *l = user;
  ndr_hdf_object object;
  if (!is_dataset) return *l->prefix ? 0 : find_externals(l, path);
  if (!*l->prefix && ndr_hdf_identify(l->dataset->file_id, path, H5P_DEFAULT, &object) && object.links > 1)
    return list_links(l, &object, path);
  char *whole = ndr_hdf_join(l->prefix, path, "");
  l->full = whole == NULL;
  int stop = whole ? list_dataset(l, whole) : -1;
  free(whole);
  return stop;
}

/* What an external link leads to: a dataset, or those of a group; external links in there are not followed. */
static int list_external(listing *l, const char *path) {
  ndr_links *links = l->dataset->links;
  links->status = NDR_OK;
  htri_t is_dataset = ndr_hdf_is_dataset(l->dataset->file_id, path, links->access);
  if (is_dataset < 0)
    return l->visit(l->user, path, NULL, links->status == NDR_OK ? "is a link that leads nowhere" : ndr_last_error());
  if (is_dataset > 0) return list_dataset(l, path);
  hid_t group = H5Gopen2(l->dataset->file_id, path, links->access);
  if (group < 0) return 0;
  l->prefix = path;
  herr_t done = ndr_hdf_visit(group, list_entry, l);
  l->prefix = "";
  H5Gclose(group);
  return done;
}

static void end(listing *l) {
  if (l->linked) ndr_hard_links_free(&l->links);
  for (int i = 0; i < l->external_count; i++) free(l->externals[i]);
  free(l->externals);
}

ndr_status ndr_hdf_list(ndr_h5_dataset *dataset, ndr_h5_visitor visit, void *user) {
  listing l = {.dataset = dataset, .visit = visit, .user = user, .prefix = ""};
  herr_t done = ndr_hdf_visit(dataset->file_id, list_entry, &l);
  for (int i = 0; i < l.external_count && done == 0; i++) done = list_external(&l, l.externals[i]);
  end(&l);
  if (done >= 0) return NDR_OK;
  if (l.full) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", dataset->file);
  return l.status == NDR_OK ? fail_list(dataset) : l.status;
}
