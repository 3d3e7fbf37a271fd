/* Deals the labels of a tile to the threads of a block as pairs, each a label and its group: for tiles with many groups
 * that have few labels each. */
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

/* Whether pairs are faster than lists by group: there are more groups than threads, so that each thread has some, and
 * they have few labels in a tile of `width` labels. */
bool ndr_zones_pay_pairs(const ndr_table *table, int64_t width);

/* Deals the labels of a tile of elements of `element_bytes`. next[group of the table]: where in table->order its first
 * label lies that is in no tile yet; it is moved behind the labels of this tile. The caller frees dealt->pairs, also
 * after false, which says that memory is short; they may be NULL. */
bool ndr_zones_deal(const ndr_table *table, const ndr_zones_tile *tile, int element_bytes, int64_t *next,
                    ndr_zones_dealt *dealt);

#endif
