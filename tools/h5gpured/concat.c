/* Whether the files of --concat have the same variables: those that are joined must be in all of them. Otherwise
 * results would lack a variable without a word, or have it of some files only. */
#include <stdlib.h>
#include <string.h>

#include "h5gpured/members.h"

/* `one`, a variable of `its_file`, is not in `file`. */
static bool refuse(const members *m, const char *its_file, const member *one, const char *file) {
  const char *dim = concat_new_dim(m->options) ? NULL : m->options->concat;
  complain("%s:%s: %s has no such variable%s%s; --concat joins only what all files have: name that, as "
           "'FILE:/{NAME,NAME}'",
           its_file, one->path, file, dim ? " along " : "", dim ? dim : "");
  return false;
}

/* Whether a variable that is not reduced is copied: joined, or from the first file where files are stacked. */
static bool is_copied(const members *m, const member *one) {
  bool copies = members_are_copied(m) && one->same_as < 0 && !one->scale && !one->chosen && !one->has_some;
  return copies && (one->joined || concat_new_dim(m->options));
}

/* Whether what is reduced of the first file is in the other one. Of what is copied, data that are joined must be there;
 * the rest comes without what one of the files lacks. */
static bool other_lacks_none(members *m, const members *other) {
  int at = 0;
  for (int c = 0; c < m->chosen_count; c++) {
    const member *one = &m->all[m->chosen[c]];
    if (one->joined && !members_find_path(other, one->path, &at)) return refuse(m, m->file, one, other->file);
  }
  for (int i = 0; i < m->count; i++) {
    member *one = &m->all[i];
    if (!is_copied(m, one) || members_find_path(other, one->path, &at)) continue;
    if (one->joined && one->data) return refuse(m, m->file, one, other->file);
    one->absent = true;
  }
  return true;
}

/* Whether the numbers of another file would be reduced, or joined and copied, if the first one had them. */
static bool would_be_joined(const members *m, const member *one) {
  bool stacks = concat_new_dim(m->options);
  bool reduced = one->has_all && (one->joined || stacks), copied = !stacks && is_copied(m, one);
  return one->kind == MEMBER_NUMBERS && one->same_as < 0 && (reduced || copied);
}

/* Along a series a first one without the dim does not count: it is taken from its own file, and the elements of the
 * other one would be lost. What is not numbers counts: it is not reduced in any file. */
static bool first_has(const members *m, const member *one, int *at) {
  const member *first = members_find_path(m, one->path, at);
  return first && (first->kind != MEMBER_NUMBERS || first->joined || concat_new_dim(m->options));
}

/* Whether the first file has what the other one would have reduced, or joined and copied. */
static bool first_lacks_none(const members *m, members *other, const patterns *wanted) {
  bool marked = false;
  int at = 0;
  for (int i = 0; i < other->count; i++) {
    const member *one = &other->all[i];
    bool named = !m->path || patterns_match(wanted, one->path);
    if (!named || !would_be_joined(m, one) || first_has(m, one, &at)) continue;
    if (!marked && !members_mark_data(other)) return false;
    marked = true;
    if (one->data) return refuse(m, other->file, one, m->file);
  }
  return true;
}

/* What is reduced is found by the first input's pattern. That of another one would go without a word; FILE alone has
 * none. */
static bool same_pattern(const members *m, int input) {
  char *file, *path;
  if (ndr_h5_split(m->options->inputs[input], &file, &path) != NDR_OK) return fail();
  int length = path && !path_is_file_alone(path) ? (int)(part_of(path) - path) : 0;
  bool same = length == 0 || (m->path && (int)strlen(m->path) == length && strncmp(path, m->path, (size_t)length) == 0);
  if (!same && m->path)
    complain("--concat: %s:%.*s: its pattern differs from the first one, %s", file, length, path, m->path);
  else if (!same)
    complain("--concat: %s:%.*s: has a pattern, and the first input, %s, has none", file, length, path, m->file);
  free(file);
  free(path);
  return same;
}

bool members_agree(members *m) {
  patterns wanted = {0, NULL};
  for (int i = 1; i < m->options->input_count; i++)
    if (!same_pattern(m, i)) return false;
  bool good = !m->path || !patterns_expand(&wanted, m->path) || members_refuse(m, "out of memory");
  for (int i = 1; i < m->options->input_count && good; i++) {
    members other;
    good = members_read(m->options, i, &other) && other_lacks_none(m, &other) && first_lacks_none(m, &other, &wanted);
    members_free(&other);
  }
  patterns_free(&wanted);
  return good;
}
