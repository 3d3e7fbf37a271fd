/* Inputs that mean several datasets: FILE:/PATTERN, and FILE alone where dims are named. Finds which; members.c opens
 * them, main.c reduces them, and others.c copies the other variables of the file. */
#include <stdlib.h>
#include <string.h>

#include "h5gpured/members.h"
#include "h5gpured/ranks.h"

/* ---- Whether there are several ----------------------------------------------------------------------------------- */

static bool is_number(const char *text, size_t length) {
  return strspn(text, "+-0123456789 ") >= length;
}

/* A number is a dim of one array, and "all" are those of one. */
static bool dims_are_names(const char *dims) {
  if (strcmp(dims, "all") == 0) return false;
  for (const char *start = dims; start;) {
    size_t length = strcspn(start, ",");
    if (is_number(start, length)) return false;
    start = start[length] ? start + length + 1 : NULL;
  }
  return true;
}

static bool takes_names(const h5gpured_options *options) {
  return dims_are_names(options->dims) && (!*options->grouped || dims_are_names(options->grouped)) &&
         (!options->concat || dims_are_names(options->concat));
}

bool path_is_file_alone(const char *path) {
  return !path || strspn(path, "/") == (size_t)(part_of(path) - path);
}

/* A pattern that is also the path of a dataset means that dataset. */
bool path_is_pattern(const h5gpured_options *options, const char *file, const char *path) {
  bool is = path && strcspn(path, "*?{") < (size_t)(part_of(path) - path);
  return is && !input_has(options, file, path);
}

static bool is_many(const h5gpured_options *options, const char *input, bool *many) {
  char *file, *path;
  if (ndr_h5_split(input, &file, &path) != NDR_OK) return input_fail(options, input);
  *many = path_is_file_alone(path) ? takes_names(options) && (!path || part_is_by_names(part_of(path)))
                                   : path_is_pattern(options, file, path);
  free(file);
  free(path);
  return true;
}

bool input_is_many(const h5gpured_options *options, int input, bool *many) {
  bool good = is_many(options, options->inputs[input], many);
  for (int i = 1; options->concat && i < options->input_count && good && *many; i++)
    good = is_many(options, options->inputs[i], many);
  return good;
}

/* ---- What the file has ------------------------------------------------------------------------------------------- */

/* Whether a dataset has all dims of a text. `new_dim`, if not NULL, is one that it gets, in place of one that has its
 * name already, which the library refuses. */
static bool has_dims(const char *text, const ndr_h5_info *info, const char *new_dim) {
  const char *names[NDR_MAX_DIMS];
  int count, dims[NDR_MAX_DIMS], ndim = 0;
  if (new_dim) names[ndim++] = new_dim;
  for (int d = 0; d < info->ndim && ndim < NDR_MAX_DIMS; d++) {
    const char *name = info->dim_names[d];
    names[ndim++] = new_dim && name && strcmp(name, new_dim) == 0 ? NULL : name;
  }
  return ndr_h5_dims_parse(text, ndim, names, &count, dims) == NDR_OK;
}

bool list_has(const char *list, const char *name, size_t name_length) {
  for (size_t length; *list; list += length + (list[length] == ',')) {
    length = strcspn(list, ",");
    if (length == name_length && strncmp(name, list, length) == 0) return true;
  }
  return false;
}

/* Whether a dim has one of the names of a comma list. */
static bool has_one_of(const char *list, const ndr_h5_info *info) {
  for (int d = 0; d < info->ndim; d++)
    if (info->dim_names[d] && list_has(list, info->dim_names[d], strlen(info->dim_names[d]))) return true;
  return false;
}

char *members_dims(const h5gpured_options *options) {
  const char *own = options->dims, *entry = options->grouped;
  char *list = malloc(strlen(own) + strlen(entry) + 2);
  if (!list) return NULL;
  char *end = stpcpy(list, own);
  for (size_t length; *entry; entry += length + (entry[length] == ',')) {
    length = strcspn(entry, ",");
    if (!list_has(own, entry, length)) end += sprintf(end, ",%.*s", (int)length, entry);
  }
  return list;
}

static bool has_name(const char *path, const char *name) {
  return strcmp(strrchr(path, '/') ? strrchr(path, '/') + 1 : path, name) == 0;
}

/* A scalar `realization` becomes the coordinate of the dim along which files are stacked. */
static bool member_describe(const h5gpured_options *options, const ndr_h5_info *info, member *one) {
  bool grouped = *options->grouped != 0;
  const char *new_dim = concat_new_dim(options);
  one->ndim = info->ndim;
  for (int d = 0; d < info->ndim; d++)
    if (info->dim_names[d] && !(one->names[d] = strdup(info->dim_names[d]))) return false;
  one->scale = info->is_scale || (new_dim && info->ndim == 0 && has_name(one->path, "realization"));
  one->has_all = has_dims(options->dims, info, new_dim) && (!grouped || has_dims(options->grouped, info, new_dim));
  one->has_some = has_one_of(options->dims, info) || has_one_of(options->grouped, info);
  one->joined = options->concat && !new_dim && has_dims(options->concat, info, NULL);
  return true;
}

static int keep_member(void *user, const char *path, const ndr_h5_info *info, const char *reason) {
  members *m = user;
  bool full = (m->count & (m->count - 1)) == 0;
  member *all = full ? realloc(m->all, (size_t)(m->count ? 2 * m->count : 1) * sizeof *all) : m->all;
  if (all) m->all = all;
  m->full = !all;
  if (m->full) return 1;
  member *one = &m->all[m->count];
  *one = (member){.path = strdup(path), .kind = info ? MEMBER_NUMBERS : MEMBER_UNKNOWN, .same_as = -1};
  if (info && info->same_as) one->same_as = all[m->count - 1].same_as < 0 ? m->count - 1 : all[m->count - 1].same_as;
  m->count++;
  one->reason = reason ? strdup(reason) : NULL;
  m->full = !one->path || (reason && !one->reason) || (info && !member_describe(m->options, info, one));
  return m->full;
}

member *members_find_path(const members *m, const char *path, int *at) {
  for (int i = 0; i < m->count; i++) {
    member *one = &m->all[(*at + i) % m->count];
    if (strcmp(one->path, path) != 0) continue;
    *at = (int)(one - m->all);
    return one;
  }
  return NULL;
}

typedef struct {
  members *m;
  int at;
} data_search;

/* Whether groups have their labels from the dataset of that path: they become the coordinates of a dim of its name. */
static bool is_labels(const h5gpured_options *options, const char *path) {
  return options->by && strcmp(options->by_what, path) == 0;
}

static int mark_data(void *user, const char *path) {
  data_search *s = user;
  member *one = members_find_path(s->m, path, &s->at);
  bool coordinate = one && one->scale && concat_new_dim(s->m->options);
  if (one && one->kind == MEMBER_NUMBERS) one->data = !coordinate && !is_labels(s->m->options, path);
  return 0;
}

bool members_are_copied(const members *m) {
  return !m->path && m->options->output && m->options->format == FORMAT_HDF5;
}

/* A file is not copied in part; who names a pattern, or prints, does without what cannot be opened, as behind a link
 * that leads nowhere. */
static bool pass_over(const members *m, ndr_status status) {
  if (status == NDR_ERR_MEMORY) return fail();
  if (!members_are_copied(m) || status == NDR_ERR_EMPTY || status == NDR_ERR_DTYPE) return true;
  complain("%s; 'FILE:/**' passes it over", ndr_last_error());
  return false;
}

/* What cannot be reduced, and has dims all the same: elements that are no numbers, or numbers that something is wrong
 * with, which are not passed over. */
static bool look_again(const members *m, member *one) {
  ndr_h5_access access = input_access(m->options);
  ndr_h5_dataset *dataset;
  access.on_remark = NULL;
  access.any_type = access.raw = 1;
  ndr_status status = ndr_h5_open(&dataset, m->file, one->path, &access);
  if (status != NDR_OK) return pass_over(m, status);
  const ndr_h5_info *info = ndr_h5_describe(dataset);
  one->kind = info->elements ? MEMBER_OTHERS : MEMBER_NUMBERS;
  one->data = !info->elements && !info->is_scale;
  bool good = member_describe(m->options, info, one);
  ndr_h5_close(dataset);
  if (!good) complain("%s: out of memory", m->file);
  return good;
}

/* FILE alone, or a pattern of nothing but asterisks. */
static bool means_all(const members *m) {
  return !m->path || m->path[strspn(m->path, "/*")] == 0;
}

static ndr_h5_access silent_access(const members *m) {
  ndr_h5_access access = input_access(m->options);
  access.on_remark = NULL;
  access.all_paths = 1;
  return access;
}

static bool read_datasets(members *m) {
  const ndr_h5_access access = silent_access(m);
  if (ndr_h5_list(m->file, &access, keep_member, m) != NDR_OK) return fail();
  if (m->full) complain("%s: out of memory", m->file);
  return !m->full;
}

static bool mark_all_data(members *m, const ndr_h5_access *access) {
  data_search s = {m, 0};
  return ndr_h5_candidates(m->file, access, mark_data, &s) == NDR_OK || fail();
}

bool members_mark_data(members *m) {
  const ndr_h5_access access = silent_access(m);
  return mark_all_data(m, &access);
}

/* Fields of tables are remarked on only where everything is meant. */
static bool read_and_mark(members *m) {
  const ndr_h5_access access = means_all(m) ? input_access(m->options) : silent_access(m);
  if (!read_datasets(m) || !mark_all_data(m, &access)) return false;
  for (int i = 0; i < m->count; i++)
    if (m->all[i].kind == MEMBER_UNKNOWN && !look_again(m, &m->all[i])) return false;
  return true;
}

bool member_is_sound(const members *m, const member *one) {
  if (one->kind != MEMBER_NUMBERS || !one->reason) return true;
  complain("%s:%s: %s", m->file, one->path, one->reason);
  return false;
}

/* ---- Which of them are meant ------------------------------------------------------------------------------------- */

bool members_refuse(const members *m, const char *reason) {
  complain("%s:%s: %s", m->file, m->path ? m->path : "/", reason);
  return false;
}

/* The place of a dataset by its first path. */
static int first_path(const members *m, int i) {
  return m->all[i].same_as < 0 ? i : m->all[i].same_as;
}

static bool choose(members *m, int i) {
  for (int c = 0; c < m->chosen_count; c++)
    if (m->chosen[c] == i) return true;
  int *chosen = realloc(m->chosen, (size_t)(m->chosen_count + 1) * sizeof *chosen);
  if (!chosen) return members_refuse(m, "out of memory");
  m->chosen = chosen;
  chosen[m->chosen_count++] = i;
  m->all[first_path(m, i)].chosen = true;
  if (concat_new_dim(m->options)) m->all[i].joined = true;
  return true;
}

/* A name without wildcards is that of a dataset, whatever it has; it is an error where there is none. */
static bool choose_named(members *m, const char *path) {
  int at = 0;
  ndr_h5_dataset *dataset;
  const ndr_h5_access access = input_access(m->options);
  member *one = members_find_path(m, path, &at);
  if (one) one->named = true;
  if (one && one->kind == MEMBER_NUMBERS) return choose(m, at);
  if (ndr_h5_open(&dataset, m->file, path, &access) != NDR_OK) return fail();
  at = m->count;
  keep_member(m, path, ndr_h5_describe(dataset), NULL);
  ndr_h5_close(dataset);
  if (m->full) return members_refuse(m, "out of memory");
  m->all[at].named = true;
  return choose(m, at);
}

/* Those that have the dims, each by one path; *matched counts the others, too. No pattern matches all. */
static bool choose_matching(members *m, const char *pattern, int *matched) {
  for (int i = 0; i < m->count; i++) {
    if (!m->all[first_path(m, i)].data) continue;
    if (pattern ? !pattern_matches(pattern, m->all[i].path) : m->all[i].same_as >= 0) continue;
    ++*matched;
    if (m->all[i].has_all && !m->all[first_path(m, i)].chosen && !choose(m, i)) return false;
  }
  return true;
}

static bool is_listed(const char *list, const char *name) {
  size_t length = strlen(name);
  for (const char *at = list; (at = strstr(at, name)); at++)
    if ((at == list || at[-1] == ' ') && (at[length] == 0 || at[length] == ',')) return true;
  return false;
}

/* "time, lat, lon": the dims of all data. */
static void list_dims(const members *m, char text[DIM_CHARS]) {
  size_t used = 0;
  *text = 0;
  for (int i = 0; i < m->count; i++)
    for (int d = 0; d < m->all[i].ndim && m->all[i].data; d++) {
      const char *name = m->all[i].names[d];
      if (!name || is_listed(text, name) || used + strlen(name) + 3 > DIM_CHARS) continue;
      used += (size_t)snprintf(text + used, DIM_CHARS - used, "%s%s", used ? ", " : "", name);
    }
}

static bool refuse_dims(const members *m) {
  char there[DIM_CHARS], *dims = members_dims(m->options);
  if (!dims) return members_refuse(m, "out of memory");
  list_dims(m, there);
  const char *concat = m->options->concat;
  const bool stacks = concat_is_name(m->options) && *there && !is_listed(there, concat);
  complain("%s%s%s: no dataset has the dim%s %s; %s%s%s%s", m->file, m->path ? ":" : "", m->path ? m->path : "",
           strchr(dims, ',') ? "s" : "", dims, *there ? "there are " : "its dims have no names, only numbers from 0",
           there, stacks ? STACKS_FILES : "", stacks ? concat : "");
  free(dims);
  return false;
}

/* A file with one dataset says what that lacks. */
static bool choose_any(members *m) {
  int matched = 0, only = 0;
  if (!choose_matching(m, NULL, &matched)) return false;
  if (m->chosen_count > 0 || matched != 1) return m->chosen_count > 0 || refuse_dims(m);
  while (!m->all[only].data) only++;
  return choose(m, only);
}

static bool choose_by_pattern(members *m) {
  patterns list = {0, NULL};
  const char *reason = patterns_expand(&list, m->path);
  bool good = !reason || members_refuse(m, reason);
  int matched = 0;
  for (int i = 0; i < list.count && good; i++) {
    bool wild = pattern_has_wildcards(list.all[i]);
    int before = matched;
    good = wild ? choose_matching(m, list.all[i], &matched) : choose_named(m, list.all[i]);
    if (good && wild && matched == before) {
      complain("%s:%s: matches no data variable; --list shows what there is", m->file, list.all[i]);
      good = false;
    }
  }
  patterns_free(&list);
  return good && (m->chosen_count > 0 || refuse_dims(m));
}

/* A part that no dataset has is a mistake. */
static bool check_part(const members *m) {
  char dims[DIM_CHARS];
  uint64_t used = 0;
  int length;
  for (int c = 0; c < m->chosen_count; c++) {
    const member *one = &m->all[m->chosen[c]];
    char *part = part_for(m->part, one->ndim, (const char *const *)one->names, &used);
    if (!part) return members_refuse(m, "out of memory");
    free(part);
  }
  const char *entry = part_unused(m->part, used, &length);
  if (entry) {
    list_dims(m, dims);
    complain("%s: '%.*s': no dataset to reduce has that dim; there are %s", m->file, length, entry, dims);
  }
  return !entry;
}

/* No file is written without what should be in it. */
static bool check_sound(const members *m) {
  for (int c = 0; c < m->chosen_count && m->options->output; c++)
    if (!member_is_sound(m, &m->all[m->chosen[c]])) return false;
  return true;
}

/* Keeps the file open: else HDF5 reads its superblock and groups again for each variable. */
static void hold_file(members *m, ndr_h5_structure *structure) {
  ndr_h5_access access = input_access(m->options);
  access.structure = structure;
  access.on_remark = NULL;
  access.any_type = access.raw = 1;
  if (ndr_h5_open(&m->held, m->file, m->all[m->chosen[0]].path, &access) != NDR_OK) m->held = NULL;
}

bool members_read(const h5gpured_options *options, int input, members *m) {
  *m = (members){.options = options};
  return (ndr_h5_split(options->inputs[input], &m->file, &m->text) == NDR_OK || fail()) && read_datasets(m);
}

bool members_find(const h5gpured_options *options, int input, members *m) {
  *m = (members){.options = options};
  if (ndr_h5_split(options->inputs[input], &m->file, &m->text) != NDR_OK) return fail();
  m->part = m->text ? part_of(m->text) : "";
  bool alone = path_is_file_alone(m->text);
  if (!alone) m->path = strndup(m->text, (size_t)(m->part - m->text));
  if (!alone && !m->path) return members_refuse(m, "out of memory");
  bool good = read_and_mark(m) && (alone ? choose_any(m) : choose_by_pattern(m)) && check_part(m) && check_sound(m) &&
              (!options->concat || !ranks_leads() || members_agree(m)) && members_set_aside(m);
  m->several = m->path || m->chosen_count > 1;
  good = good && members_fit_table(m);
  if (good) hold_file(m, ranks_structure());
  return good;
}

void members_leave_ranks(members *m) {
  if (!ranks_structure()) return;
  ndr_h5_close(m->held);
  hold_file(m, NULL);
}

void members_free(members *m) {
  for (int i = 0; i < m->count; i++) {
    for (int d = 0; d < m->all[i].ndim; d++) free(m->all[i].names[d]);
    free(m->all[i].path);
    free(m->all[i].reason);
  }
  ndr_h5_close(m->held);
  free(m->all);
  free(m->chosen);
  free(m->path);
  free(m->text);
  free(m->file);
}
