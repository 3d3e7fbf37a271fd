/* Orders the labels that the lanes of a warp read from shared memory, so that few of them wait for the same bank. */
#ifndef NDR_GPUPLAN_ZONES_BANKS_H
#define NDR_GPUPLAN_ZONES_BANKS_H

#include <stdint.h>

#include "gpuplan/launch.h"

enum { NDR_BANKS = NDR_WARP_THREADS };

/* The number of lanes that shared memory serves at once if each reads an element. It is also the number of banks, where
 * a bank is as wide as an element, or 4 bytes for smaller elements. */
int ndr_lanes_at_once(int element_bytes);

/* The bank of a tile's element number `label`. */
int ndr_bank_of(int32_t label, int element_bytes);

/* Orders each lane's labels so that at each step few lanes read from the same bank. `lanes` is at most
 * ndr_lanes_at_once. labels: lane after lane, those of a lane sorted by bank. counts[lanes]: the labels of each lane;
 * none has more than lane 0. ordered: room for all labels, lane after lane, too. */
void ndr_order_reads(const int32_t *labels, const int64_t *counts, int lanes, int element_bytes, int32_t *ordered);

#endif
