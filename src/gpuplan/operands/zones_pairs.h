/* The labels of a tile with many groups, dealt to the threads of a block as pairs of a label and its group. */
#ifndef NDR_GPUPLAN_ZONES_PAIRS_H
#define NDR_GPUPLAN_ZONES_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/groups/table.h"
#include "gpuplan/launch.h"
#include "gpuplan/operands/zones_cut.h"

/* Thread t has pairs[begin[t]] to pairs[begin[t + 1] - 1]: a label, counted from the tile's first, and 16 bits higher
 * its group, counted from the tile's first group. No two threads have labels of one group, so that none waits for
 * another. */
typedef struct ndr_zones_dealt {
  int64_t begin[NDR_THREADS + 1];
  uint32_t *pairs;
} ndr_zones_dealt;

/* Whether tiles of `width` labels have so few labels of each of their groups that pairs pay. */
bool ndr_zones_pay_pairs(const ndr_table *table, int64_t width);

/* Deals the labels of a tile. next: by group of the table, the number in table->order of its first label that is in no
 * tile yet; moved behind those of this tile. False if there is no memory for it. The caller frees the pairs. */
bool ndr_zones_deal(const ndr_table *table, const ndr_zones_tile *tile, int element_bytes, int64_t *next,
                    ndr_zones_dealt *dealt);

#endif
