/* Whether the files of --concat have the same variables: those that are joined must be in all of them. Otherwise
 * results would lack a variable without a word, or have it of some files only. */
#include <stdlib.h>
#include <string.h>

#include "h5gpured/h5gpured.h"

/* `one` of m's file, or of that of another input, is not in `file`. */
static bool refuse(const members *m, const char *its_file, const member *one, const char *file) {
  const char *dim = concat_new_dim(m->options) ? NULL : m->options->concat;
  complain("%s:%s: %s has no such variable%s%s, and --concat joins what all files have; name it for each, as "
           "'FILE:/{tas,pr}'",
           its_file, one->path, file, dim ? " along " : "", dim ? dim : "");
  return false;
}

/* Whether a variable that is not reduced would be copied, joined or, where files are stacked, from the first one. */
static bool is_copied(const members *m, const member *one) {
  bool copies = members_are_copied(m) && one->same_as < 0 && !one->scale && !one->chosen && !one->has_some;
  return copies && (one->joined || concat_new_dim(m->options));
}

/* Whether what is reduced of the first file is in the other one. Of what is copied, data that are joined must be there;
 * the rest comes without what one of the files lacks. */
static bool has_all(members *m, const members *other) {
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

/* Whether the first file has what the other one would have reduced, or joined and copied. */
static bool has_no_more(const members *m, members *other, const patterns *wanted) {
  bool stacks = concat_new_dim(m->options), marked = false;
  int at = 0;
  for (int i = 0; i < other->count; i++) {
    const member *one = &other->all[i];
    bool reduced = one->has_all && (one->joined || stacks), copied = !stacks && is_copied(m, one);
    if (one->kind != MEMBER_NUMBERS || one->same_as >= 0 || !(reduced || copied)) continue;
    const member *first = members_find_path(m, one->path, &at);
    if (first && (first->kind != MEMBER_NUMBERS || first->joined || stacks)) continue;
    if (m->path && !patterns_match(wanted, one->path)) continue;
    if (!marked && !members_mark_data(other)) return false;
    marked = true;
    if (one->data) return refuse(m, other->file, one, m->file);
  }
  return true;
}

bool members_agree(members *m) {
  patterns wanted = {0, NULL};
  bool good = !m->path || !patterns_expand(&wanted, m->path) || members_refuse(m, "out of memory");
  for (int i = 1; i < m->options->input_count && good; i++) {
    members other;
    good = members_read(m->options, i, &other) && has_all(m, &other) && has_no_more(m, &other, &wanted);
    members_free(&other);
  }
  patterns_free(&wanted);
  return good;
}
