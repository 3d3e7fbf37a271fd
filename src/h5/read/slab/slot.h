/* What a slot holds: a slab, or a leaf of one, and behind it the boxes that belong to it of the arrays beside the
 * dataset. */
#ifndef NDR_H5_READ_SLOT_H
#define NDR_H5_READ_SLOT_H

#include "h5/read/beside.h"

typedef struct ndr_slot_plan {
  const ndr_reader *readers; /* one for each part of the series */
  int beside_count;
  const ndr_beside *besides; /* only those that are not read once come with slabs */
} ndr_slot_plan;

/* The buffers of one thread that reads: for the dataset, and for each array beside it. */
typedef struct ndr_slot_scratch {
  ndr_reader_scratch dataset, besides[NDR_MOST_BESIDES];
} ndr_slot_scratch;

void ndr_slot_scratch_clear(ndr_slot_scratch *scratch);

/* In how many pieces a slot is read, those of the dataset first, and how many are worth a thread's task. 0 if the slab
 * has no elements. */
int64_t ndr_slot_pieces(const ndr_slot_plan *plan, const ndr_slab *slab, int64_t *task);

/* Reads `count` of these pieces. Thread-safe for different scratches. */
ndr_status ndr_slot_read(const ndr_slot_plan *plan, const ndr_slab *slab, int64_t first, int64_t count,
                         ndr_slot_scratch *scratch, void *data);

#endif
