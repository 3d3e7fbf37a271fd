/* See order.h. */
#include "h5/write/scale/order.h"

#include <stdlib.h>
#include <string.h>

#include "h5/file/position.h"

/* ---- What is noted ---------------------------------------------------------------------------------------------- */

static ndr_status fail_memory(void) {
  return ndr_fail(NDR_ERR_MEMORY, "out of memory for the order of the output's variables");
}

/* A file may be named in several ways. */
static bool is_file(const ndr_ordered_file *file, const char *name, const struct stat *facts) {
  if (strcmp(file->name, name) == 0) return true;
  return facts->st_ino != 0 && file->inode == facts->st_ino && file->device == facts->st_dev;
}

static ndr_status find_file(ndr_order *order, const char *name, int *number) {
  struct stat facts = {0};
  if (stat(name, &facts) != 0) facts.st_ino = 0;
  for (*number = 0; *number < order->file_count; ++*number)
    if (is_file(&order->files[*number], name, &facts)) return NDR_OK;
  ndr_ordered_file *files = realloc(order->files, (size_t)(order->file_count + 1) * sizeof *files);
  if (files) order->files = files;
  char *own = files ? strdup(name) : NULL;
  if (!own) return fail_memory();
  files[order->file_count++] = (ndr_ordered_file){own, facts.st_dev, facts.st_ino};
  return NDR_OK;
}

/* `position` is kept. */
static ndr_status add(ndr_order *order, const ndr_h5_dataset *dataset, const char *name, char *position) {
  int file = 0;
  ndr_status status = find_file(order, dataset->file, &file);
  ndr_listed *all = status == NDR_OK ? realloc(order->all, (size_t)(order->count + 1) * sizeof *all) : NULL;
  char *own = all ? strdup(name) : NULL;
  if (all) order->all = all;
  if (own) {
    all[order->count] = (ndr_listed){own, position, file, order->count};
    order->count++;
    return NDR_OK;
  }
  free(position);
  return status == NDR_OK ? fail_memory() : status;
}

ndr_status ndr_order_note(ndr_order *order, const ndr_h5_dataset *dataset, const char *name) {
  char *position;
  NDR_TRY(ndr_hdf_own_position(dataset, &position));
  return add(order, dataset, name, position);
}

ndr_status ndr_order_note_scale(ndr_order *order, const ndr_h5_dataset *dataset, int d, const char *name) {
  char *position;
  if (!dataset->scales[d]) return ndr_order_note(order, dataset, name);
  NDR_TRY(ndr_hdf_position(dataset, dataset->scales[d], &position));
  return add(order, dataset, name, position);
}

void ndr_order_free(ndr_order *order) {
  for (int i = 0; i < order->count; i++) {
    free(order->all[i].name);
    free(order->all[i].position);
  }
  for (int i = 0; i < order->file_count; i++) free(order->files[i].name);
  free(order->all);
  free(order->files);
  *order = (ndr_order){.count = 0};
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

/* A link of the output: its path is the first `length` characters of the text, that of its group the first `group`. */
typedef struct {
  const char *text;
  size_t length, group;
  int rank; /* of the first variable that it is, or that is below it */
} ordered_link;

static int compare_listed(const void *a, const void *b) {
  const ndr_listed *x = a, *y = b;
  int order = x->file != y->file ? x->file - y->file : strcmp(x->position, y->position);
  return order ? order : x->number - y->number;
}

static int compare_texts(const char *a, size_t a_length, const char *b, size_t b_length) {
  int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
  return order ? order : (a_length > b_length) - (a_length < b_length);
}

static int compare_paths(const void *a, const void *b) {
  const ordered_link *x = a, *y = b;
  int order = compare_texts(x->text, x->length, y->text, y->length);
  return order ? order : x->rank - y->rank;
}

static int compare_groups(const void *a, const void *b) {
  const ordered_link *x = a, *y = b;
  int order = compare_texts(x->text, x->group, y->text, y->group);
  return order ? order : x->rank - y->rank;
}

/* The links of variables, which are sorted, and of the groups that they are in; to be freed, NULL where there is no
 * memory. */
static ordered_link *list_links(const ndr_listed *sorted, int variables, int *count) {
  size_t most = (size_t)variables;
  for (int i = 0; i < variables; i++)
    for (const char *c = sorted[i].name; *c; c++) most += *c == '/';
  ordered_link *links = malloc(most * sizeof *links);
  *count = 0;
  for (int i = 0; i < variables && links; i++) {
    const char *name = sorted[i].name;
    for (size_t group = 0, length; name[group]; group = length + (name[length] == '/')) {
      length = group + strcspn(name + group, "/");
      links[(*count)++] = (ordered_link){name, length, group, i};
    }
  }
  return links;
}

/* Leaves each link once, of the first rank, and those of a group side by side, by their ranks. Returns how many are
 * left. */
static int sort_links(ordered_link *links, int count) {
  int left = 0;
  qsort(links, (size_t)count, sizeof *links, compare_paths);
  for (int i = 0; i < count; i++)
    if (left == 0 || compare_texts(links[i].text, links[i].length, links[left - 1].text, links[left - 1].length) != 0)
      links[left++] = links[i];
  qsort(links, (size_t)left, sizeof *links, compare_groups);
  return left;
}

/* The links of one group, in the order that they are to have. */
typedef struct {
  const ordered_link *links;
  int count;
  int kept; /* the first ones, which follow each other already, maybe with others in between */
} group_links;

static int keep_in_order(void *user, const char *name, H5L_type_t type) {
  group_links *g = user;
  (void)type;
  if (g->kept == g->count) return 0;
  const ordered_link *next = &g->links[g->kept];
  g->kept += compare_texts(name, strlen(name), next->text + next->group, next->length - next->group) == 0;
  return 0;
}

/* Makes a link again, as the last one of its group: under another name for a moment. */
static bool make_last(hid_t group, const char *name) {
  char *other = ndr_hdf_noted(strdup(name));
  while (other && H5Lexists(group, other, H5P_DEFAULT) > 0) {
    char *longer = ndr_hdf_join(other, "~", "");
    free(other);
    other = longer;
  }
  bool good = other && H5Lmove(group, name, group, other, H5P_DEFAULT, H5P_DEFAULT) >= 0 &&
              H5Lmove(group, other, group, name, H5P_DEFAULT, H5P_DEFAULT) >= 0;
  free(other);
  return good;
}

static bool order_group(hid_t group, group_links *g) {
  bool good = ndr_hdf_each_link_made(group, keep_in_order, g) >= 0;
  for (int i = g->kept; i < g->count && good; i++) {
    const ordered_link *link = &g->links[i];
    char *name = ndr_hdf_noted(strndup(link->text + link->group, link->length - link->group));
    good = name && make_last(group, name);
    free(name);
  }
  return good;
}

static bool order_groups(hid_t file, const ordered_link *links, int count) {
  bool good = true;
  for (int i = 0, next; i < count && good; i = next) {
    for (next = i + 1; next < count && links[next].group == links[i].group &&
                       memcmp(links[next].text, links[i].text, links[i].group) == 0;)
      next++;
    group_links g = {&links[i], next - i, 0};
    char *path = ndr_hdf_noted(strndup(links[i].text, links[i].group));
    hid_t group = path ? H5Gopen2(file, *path ? path : "/", H5P_DEFAULT) : H5I_INVALID_HID;
    good = group >= 0 && order_group(group, &g);
    if (group >= 0) H5Gclose(group);
    free(path);
  }
  return good;
}

ndr_status ndr_order_apply(ndr_order *order, hid_t file, const char *path) {
  int count;
  if (order->count == 0) return NDR_OK;
  qsort(order->all, (size_t)order->count, sizeof *order->all, compare_listed);
  ordered_link *links = list_links(order->all, order->count, &count);
  if (!links) return fail_memory();
  count = sort_links(links, count);
  bool good = order_groups(file, links, count);
  free(links);
  return good ? NDR_OK : ndr_hdf_fail_late(path, "its variables cannot be put in order");
}
