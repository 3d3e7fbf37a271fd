/* See table_cut.h. */
#include "gpuplan/operands/table_cut.h"

static void write_task(const ndr_table_lists *l) {
  if (l->tasks) l->tasks[l->task_count] = (int32_t)l->segment_count;
}

/* The list begins with a segment that ends at 0. */
static void add_segment(ndr_table_lists *l, int64_t end, int64_t to) {
  if (l->segments) {
    l->segments[2 * l->segment_count + 2] = (int32_t)end;
    l->segments[2 * l->segment_count + 3] = (int32_t)to;
  }
  l->segment_count++;
}

static void write_join(const ndr_table_lists *l, int64_t group) {
  if (!l->joins) return;
  l->joins[2 * l->join_count] = (int32_t)group;
  l->joins[2 * l->join_count + 1] = (int32_t)l->slots;
}

/* A long group has tasks of its own, of equal length; others share tasks. A group in one segment needs no slot, unless
 * segments are cut into parts. */
void ndr_table_cut_up(const ndr_table *table, const ndr_table_cut *how, ndr_table_lists *l) {
  int64_t filled = how->rows; /* of the task at hand; here there is none */
  if (l->segments) l->segments[0] = l->segments[1] = 0;
  for (int64_t g = 0, begin = 0; g < table->groups; begin = table->ends[g++]) {
    int64_t length = table->ends[g] - begin, pieces = (2 * length + how->rows) / (2 * how->rows);
    if (pieces < 1) pieces = 1;
    bool slots = pieces > 1 || (how->parts > 1 && length > 0);
    if (slots) write_join(l, g);
    l->join_count += slots;
    for (int64_t k = 0; k < pieces; k++) {
      if (pieces > 1 || filled >= how->rows) {
        write_task(l);
        l->task_count++;
        filled = 0;
      }
      add_segment(l, begin + (k + 1) * length / pieces, slots ? -1 - l->slots++ : g);
    }
    filled = pieces > 1 ? how->rows : filled + length + 1;
  }
  write_task(l);
  write_join(l, table->groups);
}
