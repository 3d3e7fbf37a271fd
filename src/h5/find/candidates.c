/* Which datasets are meant where none is named: those that can be reduced and do not only describe others. Scales,
 * fields of tables, and what the attributes bounds, climatology, coordinates and grid_mapping name, come second. */
#include <stdlib.h>
#include <string.h>

#include "h5/file/attributes.h"
#include "h5/file/dataset.h"

#define SHOWN 4

typedef struct {
  char *path;
  int ndim;
  int64_t shape[NDR_MAX_DIMS];
  bool second; /* describes others */
  bool field;  /* of a table */
  bool unread; /* it is not known what it is */
} candidate;

/* Names as an attribute has them, and the group of the dataset that has it, without the last "/". */
typedef struct {
  char *group, *names;
} naming;

typedef struct {
  ndr_h5_dataset *dataset; /* in which each one is described */
  int count, naming_count;
  candidate *all;
  naming *namings;
  bool full; /* there was no memory, or (not readable) an attribute could not be read */
  bool readable;
  int passed_over; /* fields of tables, and the first one */
  char field[80];
  int refused; /* datasets that cannot be reduced, and the first one's reason */
  char reason[400];
} search;

static void forget(search *s) {
  for (int i = 0; i < s->count; i++) free(s->all[i].path);
  for (int i = 0; i < s->naming_count; i++) {
    free(s->namings[i].group);
    free(s->namings[i].names);
  }
  free(s->all);
  free(s->namings);
}

/* Room for one more of a list; NULL where there is no memory. Lists grow to powers of 2. */
static void *grow(void *list, int count, size_t bytes) {
  bool full = (count & (count - 1)) == 0;
  return full ? ndr_hdf_noted(realloc(list, (size_t)(count ? 2 * count : 1) * bytes)) : list;
}

/* ---- What others name -------------------------------------------------------------------------------------------- */

/* Takes over `names`. Datasets of one group mostly have the same ones. */
static bool add_naming(search *s, const char *path, char *names) {
  size_t length = (size_t)(ndr_hdf_leaf(path) - path) - 1;
  for (int i = 0; i < s->naming_count; i++) {
    const naming *n = &s->namings[i];
    if (strcmp(n->names, names) != 0 || strlen(n->group) != length || strncmp(n->group, path, length) != 0) continue;
    free(names);
    return true;
  }
  naming *namings = grow(s->namings, s->naming_count, sizeof *namings);
  if (namings) s->namings = namings;
  char *group = namings ? ndr_hdf_noted(strndup(path, length)) : NULL;
  if (group) s->namings[s->naming_count++] = (naming){group, names};
  if (!group) free(names);
  return group != NULL;
}

static bool add_namings(search *s, const char *path) {
  static const char *const attributes[] = {"bounds", "climatology", "coordinates", "grid_mapping"};
  bool good = true;
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes && good; i++) {
    char *names;
    good = s->readable = ndr_hdf_get_text(s->dataset->id, attributes[i], &names);
    if (names) good = add_naming(s, path, names);
  }
  return good;
}

/* Whether one of the words is the dataset: its path, or its name where it lies in the group or in one above it. */
static bool names_it(const naming *n, const char *path) {
  const char *leaf = ndr_hdf_leaf(path), *word = n->names;
  size_t above = (size_t)(leaf - path) - 1;
  bool near = strncmp(n->group, path, above) == 0 && (n->group[above] == 0 || n->group[above] == '/');
  for (size_t length; *(word += strspn(word, " ")); word += length) {
    length = strcspn(word, " ");
    const char *wanted = *word == '/' ? path : leaf;
    if ((near || *word == '/') && strlen(wanted) == length && strncmp(word, wanted, length) == 0) return true;
  }
  return false;
}

/* ---- All of them --------------------------------------------------------------------------------------------------
 */

/* Beside arrays, tables hold lists, of events or metadata. */
static bool add_unread(search *s, const char *path) {
  candidate *all = grow(s->all, s->count, sizeof *all);
  if (!all) return false;
  s->all = all;
  all[s->count] = (candidate){.path = ndr_hdf_noted(strdup(path)), .unread = true};
  return all[s->count].path && ++s->count;
}

static bool add_candidate(search *s, const char *path, const ndr_h5_info *info) {
  candidate *all = grow(s->all, s->count, sizeof *all);
  if (!all) return false;
  s->all = all;
  candidate *c = &all[s->count];
  bool field = s->dataset->field != NULL;
  *c = (candidate){
      .path = ndr_hdf_noted(strdup(path)), .ndim = info->ndim, .second = info->is_scale || field, .field = field};
  memcpy(c->shape, info->shape, sizeof c->shape);
  if (c->path) s->count++;
  return c->path != NULL;
}

static int keep_candidate(void *user, const char *path, const ndr_h5_info *info, const char *reason) {
  search *s = user;
  if (!info && s->refused++ == 0) snprintf(s->reason, sizeof s->reason, "%s %s", path, reason);
  bool unread = !info && !s->dataset->elements;
  s->full = (info && !(add_candidate(s, path, info) && add_namings(s, path))) || (unread && !add_unread(s, path));
  return s->full;
}

/* Leaves those that are meant. */
static void choose(search *s) {
  int left = 0;
  for (int i = 0; i < s->count; i++) {
    candidate *c = &s->all[i];
    for (int n = 0; n < s->naming_count && !c->second; n++) c->second = names_it(&s->namings[n], c->path);
    left += !c->second && !c->unread;
  }
  int kept = 0;
  for (int i = 0; i < s->count; i++) {
    if (left > 0 && s->all[i].second) {
      if (s->all[i].field && s->passed_over++ == 0) snprintf(s->field, sizeof s->field, "%s", s->all[i].path);
      free(s->all[i].path);
    } else
      s->all[kept++] = s->all[i];
  }
  s->count = kept;
}

static ndr_status find(search *s, ndr_h5_dataset *dataset) {
  *s = (search){.dataset = dataset, .readable = true};
  int (*const tell)(void *, const char *) = dataset->remarks.tell;
  dataset->all_paths = false;
  dataset->remarks.tell = NULL; /* there is nothing to be said of datasets that are not meant */
  ndr_status status = ndr_hdf_list(dataset, keep_candidate, s);
  dataset->remarks.tell = tell;
  if (!s->readable) return ndr_hdf_fail_late(dataset->file, "the attributes of its datasets cannot be read");
  if (s->full) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", dataset->file);
  NDR_TRY(status);
  choose(s);
  for (int i = 0; i < s->count; i++)
    if (!s->all[i].unread) return NDR_OK;
  return ndr_fail(NDR_ERR_FILE, "%s: has no dataset that can be reduced%s%s", dataset->file, s->refused ? ": " : "",
                  s->reason);
}

ndr_status ndr_hdf_each_candidate(ndr_h5_dataset *dataset, ndr_h5_path_visitor visit, void *user) {
  search s;
  ndr_status status = find(&s, dataset);
  if (status == NDR_OK && s.passed_over > 0)
    ndr_remark(&dataset->remarks, "%s: passed over %d field%s of tables; name one to reduce it, as FILE:%s",
               dataset->file, s.passed_over, NDR_PLURAL(s.passed_over), s.field);
  for (int i = 0; i < s.count && status == NDR_OK && !dataset->remarks.stopped; i++)
    if (visit(user, s.all[i].path) != 0) break;
  forget(&s);
  return status;
}

/* ---- The largest --------------------------------------------------------------------------------------------------
 */

static size_t append(char *text, size_t capacity, size_t used, const candidate *c) {
  used += (size_t)snprintf(text + used, capacity - used, "%s%.60s", used ? ", " : "", c->path);
  for (int d = 0; d < c->ndim && used < capacity; d++)
    used += (size_t)snprintf(text + used, capacity - used, "%s%lld", d ? "," : " [", (long long)c->shape[d]);
  if (c->ndim > 0 && used < capacity) used += (size_t)snprintf(text + used, capacity - used, "]");
  return used;
}

static ndr_status fail_ambiguous(const search *s, const char *file, int ndim, int count, const candidate *first) {
  char list[300] = "", more[32] = "";
  size_t used = 0;
  int shown = 0;
  for (int i = 0; i < s->count && shown < SHOWN && used < sizeof list / 2; i++) {
    if (s->all[i].unread || s->all[i].ndim != ndim) continue;
    used = append(list, sizeof list, used, &s->all[i]);
    shown++;
  }
  if (count > shown) snprintf(more, sizeof more, " and %d more", count - shown);
  return ndr_fail(NDR_ERR_FILE, "%s: which dataset? %d have %d dim%s: %s%s; name one, as FILE:%.60s", file, count, ndim,
                  NDR_PLURAL(ndim), list, more, first->path);
}

ndr_status ndr_hdf_find_largest(ndr_h5_dataset *dataset, char **path, int *others) {
  search s;
  const candidate *first = NULL;
  int count = 0;
  *path = NULL;
  ndr_status status = find(&s, dataset);
  for (int i = 0; i < s.count && status == NDR_OK; i++) {
    if (s.all[i].unread) continue;
    if (!first || s.all[i].ndim > first->ndim) {
      first = &s.all[i];
      count = 0;
    }
    count += s.all[i].ndim == first->ndim;
  }
  if (status == NDR_OK && count > 1) status = fail_ambiguous(&s, dataset->file, first->ndim, count, first);
  if (status == NDR_OK && first) {
    *path = strdup(first->path);
    *others = -1;
    for (int i = 0; i < s.count; i++) *others += !s.all[i].unread;
    if (!*path) status = ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", dataset->file);
  }
  forget(&s);
  return status;
}
