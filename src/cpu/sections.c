/* See sections.h. */
#include "cpu/sections.h"

#include <stdlib.h>

#include "cpu/cuts.h"

/* What is known while sections are made. */
typedef struct cutter {
  ndr_sections *made;
  const ndr_table *table;
  ndr_cutting how;
  int32_t *labels;  /* of the row; -1: of no group */
  int32_t *section; /* of each label */
  int64_t *next;    /* of each section: where the next label goes in the order */
  int64_t *terms;   /* counts of each group, and of labels of none; 0 but while they are counted */
  int64_t room;     /* for runs */
} cutter;

static ndr_status out_of_memory(const cutter *c) {
  return ndr_fail(NDR_ERR_MEMORY, "out of memory for sections of %lld labels", (long long)c->how.length);
}

static void read_labels(const cutter *c) {
  int64_t begin = 0;
  for (int64_t at = 0; at < c->how.length; at++) c->labels[at] = -1;
  for (int64_t g = 0; g < c->table->groups; begin = c->table->ends[g++])
    for (int64_t i = begin; i < c->table->ends[g]; i++) c->labels[c->table->order[i]] = (int32_t)g;
}

/* Where the section that begins at `first` ends, and how many runs of neighbours it has. */
static int64_t end_of_section(const cutter *c, int64_t first, int64_t *runs) {
  int64_t end = c->how.length - first > c->how.most ? first + c->how.most : c->how.length, cut = end;
  const int64_t half = first + c->how.most / 2;
  while (cut < c->how.length && cut > half && c->labels[cut] == c->labels[cut - 1]) cut--;
  if (cut > half && !c->how.turned) end = cut;
  *runs = 0;
  for (int64_t at = first; at < end; at++) *runs += at == first || c->labels[at] != c->labels[at - 1];
  return end;
}

static void cut_row(cutter *c) {
  ndr_sections *made = c->made;
  for (int64_t first = 0, end, runs; first < c->how.length; first = end, made->count++) {
    end = end_of_section(c, first, &runs);
    ndr_section *section = &made->sections[made->count];
    *section =
        (ndr_section){.first = first, .length = end - first, .neighbours = end - first >= c->how.long_run * runs};
    const int64_t groups = runs < c->table->groups ? runs : c->table->groups;
    section->single = c->how.turned || (!section->neighbours && section->length < c->how.few * groups);
    for (int64_t at = first; at < end; at++) c->section[at] = (int32_t)made->count;
  }
}

static bool are_of_one_group(const int32_t *group, int64_t count) {
  for (int64_t i = 1; i < count; i++)
    if (group[i] != group[0]) return false;
  return true;
}

/* Lists the group of each label. If eight labels that a kernel folds together are of one group, the first has its
 * complement (ndr_fold_turned). */
static void list_turned(cutter *c) {
  for (int64_t s = 0; s < c->made->count; s++) {
    ndr_section *section = &c->made->sections[s];
    int32_t *group = c->made->group + section->first;
    section->label = section->first;
    section->labels = section->length;
    for (int64_t i = 0; i < section->length; i++) {
      const int32_t label = c->labels[section->first + i];
      group[i] = label < 0 ? (int32_t)c->table->groups : label;
    }
    for (int64_t i = 0; i + 8 <= section->length; i += 8)
      if (are_of_one_group(group + i, 8)) group[i] = ~group[i];
  }
}

/* Lists the labels of each section: by group, and where runs are of neighbours in their order. */
static void list_labels(cutter *c) {
  const ndr_table *table = c->table;
  int64_t at = 0, begin = 0;
  for (int64_t s = 0; s < c->made->count; s++) {
    ndr_section *section = &c->made->sections[s];
    c->next[s] = section->label = at;
    for (int64_t i = 0; i < section->length; i++) {
      if (c->labels[section->first + i] < 0) continue;
      c->made->order[at] = (int32_t)i;
      c->made->group[at++] = c->labels[section->first + i];
    }
    section->labels = at - section->label;
  }
  for (int64_t g = 0; !c->how.neighbours && g < table->groups; begin = table->ends[g++])
    for (int64_t i = begin; i < table->ends[g]; i++) {
      int32_t s = c->section[table->order[i]];
      if (c->made->sections[s].neighbours || c->made->sections[s].single) continue;
      c->made->order[c->next[s]] = (int32_t)(table->order[i] - c->made->sections[s].first);
      c->made->group[c->next[s]++] = (int32_t)g;
    }
}

static ndr_status add_run(cutter *c, ndr_label_run run) {
  ndr_sections *made = c->made;
  if (made->run_count == c->room) {
    int64_t room = 2 * c->room + 64;
    ndr_label_run *grown = realloc(made->runs, (size_t)room * sizeof *grown);
    if (!grown) return out_of_memory(c);
    made->runs = grown;
    c->room = room;
  }
  made->runs[made->run_count++] = run;
  return NDR_OK;
}

/* Finds the runs of a section, whose labels the order lists from `at` to `end`. */
static ndr_status find_runs(cutter *c, ndr_section *section, int64_t at, int64_t end) {
  const int32_t *order = c->made->order;
  bool neighbours = c->how.neighbours || section->neighbours;
  section->run = c->made->run_count;
  for (int64_t next; at < end; at = next) {
    int32_t step = at + 1 < end && !neighbours ? order[at + 1] - order[at] : 1;
    bool even = true;
    for (next = at + 1; next < end && next - at < NDR_ROWS && c->made->group[next] == c->made->group[at]; next++) {
      if (neighbours && order[next] != order[next - 1] + 1) break;
      even = even && order[next] - order[next - 1] == step;
    }
    if (next == at + 1) step = 1;
    NDR_TRY(add_run(c, (ndr_label_run){c->made->group[at], (int32_t)(next - at), even ? step : 0}));
  }
  section->end = c->made->run_count;
  return NDR_OK;
}

static ndr_status find_all_runs(cutter *c) {
  for (int64_t s = 0; s < c->made->count; s++) {
    ndr_section *section = &c->made->sections[s];
    if (!section->single) NDR_TRY(find_runs(c, section, section->label, section->label + section->labels));
  }
  return NDR_OK;
}

/* Adds `change` to the counts of a section's terms in each group, and returns the greatest count that comes of it. A
 * term is what is added to a state at once: a run, or where there are none a label. Of eight labels that are folded
 * together each counts. */
static int64_t count_terms(const cutter *c, const ndr_section *section, int64_t change) {
  const ndr_sections *made = c->made;
  const int64_t terms = section->single ? section->labels : section->end - section->run;
  int64_t most = 0;
  for (int64_t i = 0; i < terms; i++) {
    const int32_t g = section->single ? made->group[section->label + i] : made->runs[section->run + i].group;
    int64_t *count = &c->terms[g < 0 ? ~g : g];
    *count += change;
    most = *count > most ? *count : most;
  }
  return most;
}

/* The most terms that sections `first` to end - 1 have in one group. */
static int64_t most_terms(const cutter *c, int64_t first, int64_t end) {
  int64_t most = 0;
  for (int64_t s = first; s < end; s++) most = ndr_most(most, count_terms(c, &c->made->sections[s], 1));
  for (int64_t s = first; s < end; s++) count_terms(c, &c->made->sections[s], -1);
  return most;
}

/* A group has its labels in one section of a row, or in all of them: so each section is counted with its most terms,
 * and whole rows with theirs, and what allows more sections is taken. */
static void set_joined_after(const cutter *c) {
  ndr_sections *made = c->made;
  int64_t of_row = most_terms(c, 0, made->count), of_section = 1;
  for (int64_t s = 0; s < made->count; s++) of_section = ndr_most(of_section, most_terms(c, s, s + 1));
  const int64_t rows = of_row > 0 ? NDR_SECTIONS_TERMS / of_row : 0;
  made->joined_after = ndr_most(1, ndr_most(NDR_SECTIONS_TERMS / of_section, rows * made->count));
}

static ndr_status make(cutter *c) {
  ndr_sections *made = c->made;
  size_t length = (size_t)c->how.length, most_sections = (size_t)(c->how.length / (c->how.most / 2 + 1) + 1);
  made->sections = calloc(most_sections, sizeof *made->sections);
  if (!c->how.turned) made->order = malloc((length + 1) * sizeof *made->order);
  made->group = malloc((length + 1) * sizeof *made->group);
  c->labels = calloc(length, sizeof *c->labels);
  c->section = malloc(length * sizeof *c->section);
  c->next = malloc(most_sections * sizeof *c->next);
  c->terms = calloc((size_t)c->table->groups + 1, sizeof *c->terms);
  if (!made->sections || !(made->order || c->how.turned) || !made->group || !c->labels || !c->section || !c->next ||
      !c->terms)
    return out_of_memory(c);
  read_labels(c);
  cut_row(c);
  if (c->how.turned)
    list_turned(c);
  else
    list_labels(c);
  NDR_TRY(find_all_runs(c));
  set_joined_after(c);
  return NDR_OK;
}

ndr_status ndr_sections_make(ndr_sections **made, const ndr_table *table, const ndr_cutting *cutting) {
  cutter c = {.made = calloc(1, sizeof *c.made), .table = table, .how = *cutting};
  *made = NULL;
  if (!c.made) return out_of_memory(&c);
  ndr_status status = make(&c);
  free(c.labels);
  free(c.section);
  free(c.next);
  free(c.terms);
  if (status == NDR_OK)
    *made = c.made;
  else
    ndr_sections_free(c.made);
  return status;
}

void ndr_sections_free(ndr_sections *sections) {
  if (!sections) return;
  free(sections->sections);
  free(sections->runs);
  free(sections->order);
  free(sections->group);
  free(sections);
}
