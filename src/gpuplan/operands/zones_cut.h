/* Cuts the labels along a row into tiles that share no group, which can be done where labels rise, as those of months
 * do. */
#ifndef NDR_GPUPLAN_ZONES_CUT_H
#define NDR_GPUPLAN_ZONES_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/groups/table.h"

/* The labels begin .. end - 1 of a row, all of which are in the groups first .. group_end - 1 or in none. */
typedef struct ndr_zones_tile {
  int64_t begin, end, first, group_end;
} ndr_zones_tile;

/* Moves *tile, which is {0} before the first call, to the next one: as many of the next groups as lie within `width`
 * labels, and at most `groups` of them. False behind the last, where the next group alone is wider, and where a label
 * lies before one of a lower group. */
bool ndr_zones_next_tile(const ndr_table *table, int64_t width, int64_t groups, ndr_zones_tile *tile);

/* Counts such tiles of at most *groups groups; *groups becomes the most groups that one of them has. 0 if the labels
 * cannot be cut so; *groups then stays. */
int64_t ndr_zones_count_tiles(const ndr_table *table, int64_t width, int64_t *groups);

#endif
