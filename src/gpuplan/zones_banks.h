/* In which order the lanes of a warp read their labels. */
#ifndef NDR_GPUPLAN_ZONES_BANKS_H
#define NDR_GPUPLAN_ZONES_BANKS_H

#include <stdint.h>

#include "gpuplan/launch.h"

enum { NDR_BANKS = NDR_WARP_THREADS };

/* Lanes that shared memory serves together, where they read elements of so many bytes. It has as many banks of so wide
 * elements. */
int ndr_lanes_together(int element);

int ndr_bank_of(int32_t label, int element);

/* Orders the labels of lanes that are served together, so that as few as possible read from one bank at the same step.
 * labels: those of each lane behind those of the one before, in the order of their banks; counts: how many, by lane,
 * the first having the most. ordered: room for as many, which are laid out as they are. */
void ndr_order_reads(const int32_t *labels, const int64_t *counts, int lanes, int element, int32_t *ordered);

#endif
