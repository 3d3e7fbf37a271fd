/* Where the labels along a row are cut into tiles that share no group: labels that rise, as those of months do. */
#ifndef NDR_GPUPLAN_ZONES_CUT_H
#define NDR_GPUPLAN_ZONES_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/groups/table.h"

/* The labels begin .. end - 1 of a row, which are those of the groups first .. group_end - 1. */
typedef struct ndr_zones_tile {
  int64_t begin, end, first, group_end;
} ndr_zones_tile;

/* Makes *tile, which is {0} before the first, the next one: as many groups as have at most `width` labels from the
 * first to the last, and at most `groups`. False if there is none, or a label lies before one of a lower group. */
bool ndr_zones_next_tile(const ndr_table *table, int64_t width, int64_t groups, ndr_zones_tile *tile);

/* The number of such tiles of at most *groups groups, of which *groups becomes the most that one has. 0 if the labels
 * cannot be cut so. */
int64_t ndr_zones_count_tiles(const ndr_table *table, int64_t width, int64_t *groups);

#endif
