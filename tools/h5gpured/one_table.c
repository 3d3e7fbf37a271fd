/* Whether several datasets of an input fit into one table: CSV has the same columns for all, .npy has one array. */
#include <stdlib.h>
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

typedef char dim_list[DIM_CHARS];

static int count_dims(const dim_list list) {
  int count = *list != 0;
  for (const char *comma = list; (comma = strchr(comma, ',')); comma++) count++;
  return count;
}

/* Which of the chosen ones has the dims of the table: the first that is named; else one with the dims that are the most
 * frequent or, of two lists of dims that are as frequent, with the longer one. */
static int choose_dims(const members *m, dim_list *lists) {
  int best = 0, most = 0;
  for (int c = 0; c < m->chosen_count; c++)
    if (m->all[m->chosen[c]].named) return c;
  for (int c = 0; c < m->chosen_count; c++) {
    int same = 0;
    for (int other = 0; other < m->chosen_count; other++) same += strcmp(lists[c], lists[other]) == 0;
    if (same < most || (same == most && count_dims(lists[c]) <= count_dims(lists[best]))) continue;
    best = c;
    most = same;
  }
  return best;
}

static bool refuse_dims(const members *m, const member *one, const dim_list dims, const member *other,
                        const dim_list other_dims) {
  complain("%s: csv is one table, and the results of %s have the dims %s, those of %s %s; name datasets of the same "
           "dims, as 'FILE:/{NAME,NAME}', or take --format json or -o FILE.nc",
           m->file, one->path, *dims ? dims : "none", other->path, *other_dims ? other_dims : "none");
  return false;
}

static void note_left_out(const members *m, const member *one, const dim_list dims, const dim_list table) {
  if (m->options->quiet) return;
  complaints_begin(one->path);
  complain(
      "%s:%s: left out, as its results have the dims %s, and those of the table %s; named by itself, as FILE:/NAME, "
      "it has a table of its own",
      m->file, one->path, *dims ? dims : "none", *table ? table : "none");
  complaints_begin(NULL);
}

/* Compares the names of dims before anything is read. table.c compares the columns themselves. */
static bool fit_dims(members *m, dim_list *lists) {
  const int first = choose_dims(m, lists);
  int kept = 0;
  for (int c = 0; c < m->chosen_count; c++) {
    const member *one = &m->all[m->chosen[c]];
    bool fits = strcmp(lists[c], lists[first]) == 0;
    if (!fits && one->named) return refuse_dims(m, &m->all[m->chosen[first]], lists[first], one, lists[c]);
    if (!fits) note_left_out(m, one, lists[c], lists[first]);
  }
  for (int c = 0; c < m->chosen_count; c++)
    if (strcmp(lists[c], lists[first]) == 0) m->chosen[kept++] = m->chosen[c];
  m->chosen_count = kept;
  complaints_end();
  return true;
}

static bool fit_columns(members *m) {
  dim_list *lists = calloc((size_t)m->chosen_count + 1, sizeof *lists);
  for (int c = 0; lists && c < m->chosen_count; c++) list_kept_dims(m, &m->all[m->chosen[c]], lists[c]);
  bool good = lists ? fit_dims(m, lists) : members_refuse(m, "out of memory");
  free(lists);
  return good;
}

bool members_fit_table(members *m) {
  if (m->options->format == FORMAT_CSV) return fit_columns(m);
  if (m->options->format != FORMAT_NPY || m->chosen_count < 2) return true;
  complain("%s: npy has room for one dataset only, not for %s, %s%s; name one, as FILE:%s, or take --format json or -o "
           "FILE.nc",
           m->file, m->all[m->chosen[0]].path, m->all[m->chosen[1]].path, m->chosen_count > 2 ? " ..." : "",
           m->all[m->chosen[0]].path);
  return false;
}
