/* Whether several datasets of an input fit into one table: CSV has the same columns for all, .npy has one array. */
#include <string.h>

#include "h5gpured/members.h"

/* "time, lat": the dims that results have, groups included, as far as they have names. */
static void list_kept_dims(const members *m, const member *one, char text[DIM_CHARS]) {
  const h5gpured_options *options = m->options;
  const bool all = strcmp(options->dims, "all") == 0;
  size_t used = 0;
  *text = 0;
  for (int d = 0; d < one->ndim; d++) {
    const char *name = one->names[d] ? one->names[d] : "";
    size_t length = strlen(name);
    bool named = all || list_has(options->dims, name, length);
    bool reduced = named && !options->scans && !list_has(options->grouped, name, length);
    if (reduced || !*name || used + length + 3 > DIM_CHARS) continue;
    used += (size_t)snprintf(text + used, DIM_CHARS - used, "%s%s", used ? ", " : "", name);
  }
}

/* Compares the names of dims before anything is read. table.c compares the columns themselves. */
static bool check_columns(const members *m) {
  char first[DIM_CHARS], other[DIM_CHARS];
  const member *one = &m->all[m->chosen[0]];
  list_kept_dims(m, one, first);
  for (int c = 1; c < m->chosen_count; c++) {
    const member *next = &m->all[m->chosen[c]];
    list_kept_dims(m, next, other);
    if (strcmp(first, other) == 0) continue;
    complain("%s: csv is one table, and the results of %s have the dims %s, those of %s %s; name datasets of the same "
             "dims, as 'FILE:/{NAME,NAME}', or take --format json or -o FILE.nc",
             m->file, one->path, *first ? first : "none", next->path, *other ? other : "none");
    return false;
  }
  return true;
}

bool members_fit_table(const members *m) {
  if (m->options->format == FORMAT_CSV) return check_columns(m);
  if (m->options->format != FORMAT_NPY || m->chosen_count < 2) return true;
  complain("%s: npy has room for one dataset only, not for %s, %s%s; name one, as FILE:%s, or take --format json or -o "
           "FILE.nc",
           m->file, m->all[m->chosen[0]].path, m->all[m->chosen[1]].path, m->chosen_count > 2 ? " ..." : "",
           m->all[m->chosen[0]].path);
  return false;
}
