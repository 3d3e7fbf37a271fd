/* See hard_links.h. */
#include "h5/find/hard_links.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  ndr_hard_links *links;
  hid_t file, group;
  const char *path; /* of the group, without the last "/" */
} search;

static bool add(ndr_hard_links *links, const ndr_hdf_object *object, const char *group, const char *name) {
  bool full = (links->count & (links->count - 1)) == 0;
  size_t capacity = (size_t)(links->count ? 2 * links->count : 1);
  ndr_hard_link *all = full ? ndr_hdf_noted(realloc(links->all, capacity * sizeof *all)) : links->all;
  if (!all) return false;
  links->all = all;
  char *path = ndr_hdf_join(group, "/", name);
  if (path) all[links->count++] = (ndr_hard_link){path, *object};
  return path != NULL;
}

static int keep_link(void *user, const char *name, H5L_type_t type) {
  const search *s = user;
  ndr_hdf_object object;
  if (type != H5L_TYPE_HARD || !ndr_hdf_identify(s->group, name, H5P_DEFAULT, &object)) return 0;
  return !object.dataset || object.links < 2 || add(s->links, &object, s->path, name) ? 0 : -1;
}

static int visit_group(void *user, const char *path, bool is_dataset) {
  search *s = user;
  if (is_dataset) return 0;
  s->path = path[1] ? path : "";
  s->group = H5Gopen2(s->file, path, H5P_DEFAULT);
  herr_t done = s->group < 0 ? -1 : ndr_hdf_each_link(s->group, keep_link, s);
  if (s->group >= 0) H5Gclose(s->group);
  return done < 0 ? -1 : 0;
}

static int compare_objects(const ndr_hdf_object *a, const ndr_hdf_object *b) {
  return memcmp(a->place, b->place, sizeof a->place);
}

static int depth(const char *path) {
  int names = 0;
  for (; *path; path++) names += *path == '/';
  return names;
}

static int compare(const void *a, const void *b) {
  const ndr_hard_link *x = a, *y = b;
  int order = compare_objects(&x->object, &y->object);
  if (!order) order = depth(x->path) - depth(y->path);
  return order ? order : strcmp(x->path, y->path);
}

bool ndr_hard_links_find(hid_t file, ndr_hard_links *links) {
  search s = {.links = links, .file = file};
  *links = (ndr_hard_links){0, NULL};
  bool good = ndr_hdf_visit(file, visit_group, &s) >= 0;
  if (links->count) qsort(links->all, (size_t)links->count, sizeof *links->all, compare);
  return good;
}

void ndr_hard_links_free(ndr_hard_links *links) {
  for (int i = 0; i < links->count; i++) free(links->all[i].path);
  free(links->all);
}

const ndr_hard_link *ndr_hard_links_of(const ndr_hard_links *links, const ndr_hdf_object *object, int *count) {
  int first = 0;
  for (int after = links->count; first < after;) {
    int middle = first + (after - first) / 2;
    if (compare_objects(&links->all[middle].object, object) < 0)
      first = middle + 1;
    else
      after = middle;
  }
  *count = 0;
  while (first + *count < links->count && compare_objects(&links->all[first + *count].object, object) == 0) ++*count;
  return *count ? &links->all[first] : NULL;
}
