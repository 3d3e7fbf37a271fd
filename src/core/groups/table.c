/* See table.h. */
#include "core/groups/table.h"

#include <stdlib.h>

ndr_status ndr_table_make(ndr_table **table, const ndr_groups *groups, int64_t first, int64_t count) {
  ndr_table *made = calloc(1, sizeof *made);
  *table = made;
  if (made) made->ends = malloc((size_t)groups->count * sizeof *made->ends);
  if (made) made->order = malloc(((size_t)count + 1) * sizeof *made->order);
  if (!made || !made->ends || !made->order) {
    ndr_table_free(made);
    *table = NULL;
    return ndr_fail(NDR_ERR_MEMORY, "out of memory for a table of %lld labels", (long long)count);
  }
  ndr_groups_sort(groups, first, count, made->ends, made->order);
  made->groups = groups->count;
  made->count = made->ends[groups->count - 1];
  for (int64_t g = 0; g < groups->count; g++) made->filled += made->ends[g] > (g ? made->ends[g - 1] : 0);
  return NDR_OK;
}

void ndr_table_free(ndr_table *table) {
  if (!table) return;
  free(table->ends);
  free(table->order);
  free(table);
}
