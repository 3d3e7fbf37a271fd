/* See zones_cut.h. */
#include "gpuplan/operands/zones_cut.h"

bool ndr_zones_next_tile(const ndr_table *table, int64_t width, int64_t groups, ndr_zones_tile *tile) {
  int64_t end = tile->end, begin = -1, first = tile->group_end, g = first;
  for (; g < table->groups && g - first < groups; g++) {
    int64_t from = g ? table->ends[g - 1] : 0, to = table->ends[g];
    if (from == to) continue;
    const int64_t first_label = table->order[from], label_end = table->order[to - 1] + 1;
    if (first_label < end) return false;
    if (label_end - (begin < 0 ? first_label : begin) > width) break;
    if (begin < 0) begin = first_label;
    end = label_end;
  }
  *tile = (ndr_zones_tile){.begin = begin < 0 ? end : begin, .end = end, .first = first, .group_end = g};
  return g > first;
}

int64_t ndr_zones_count_tiles(const ndr_table *table, int64_t width, int64_t *groups) {
  ndr_zones_tile tile = {0};
  int64_t count = 0, most = 0;
  while (tile.group_end < table->groups) {
    if (!ndr_zones_next_tile(table, width, *groups, &tile)) return 0;
    if (tile.group_end - tile.first > most) most = tile.group_end - tile.first;
    count++;
  }
  *groups = most;
  return count;
}
