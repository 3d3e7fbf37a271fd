/* Slabs brought to the device that reduces them, and results brought back. Several slabs are under way at once, each in
 * a lane: memory of the device, and a stream on which the slab is copied there. What reduces it is queued on one stream
 * that all lanes share, so that slabs are added in the order in which they were brought. On the CPU slabs are where
 * they should be, and there is one lane. */
#ifndef NDR_H5_CARRY_H
#define NDR_H5_CARRY_H

#include <stdbool.h>

#include "ndreduce/ndreduce.h"

/* One slab is copied while the one before it is reduced. */
#define NDR_LANES 2

typedef struct ndr_carrier {
  DLDevice device;
  void *stream; /* on which slabs are reduced */
  int lane_count;
  struct {
    void *memory, *stream, *stored; /* the latter where slabs wait to be converted, if there are such */
  } lanes[NDR_LANES];
  int64_t sent, settled; /* slabs */
} ndr_carrier;

/* So many lanes for slabs of so many bytes, as they are stored of so many where that is not 0; on the CPU one. Close it
 * even if that fails, before the memory that slabs were brought from is freed. */
ndr_status ndr_carrier_open(ndr_carrier *carrier, DLDevice device, int64_t slab_bytes, int64_t stored_bytes, int lanes);
void ndr_carrier_close(ndr_carrier *carrier);

/* Brings a slab of so many bytes to the next lane, and has it converted there unless `stored` is NULL: *there is where
 * the carrier's stream finds it. data must stay as it is until the slab has settled. Fewer slabs are under way than
 * there are lanes. */
ndr_status ndr_carrier_bring(ndr_carrier *carrier, const void *data, int64_t bytes, const ndr_stored *stored,
                             const void **there);

/* Says that all that reads the slab brought last has been queued. */
ndr_status ndr_carrier_send(ndr_carrier *carrier);

/* Waits for the oldest slab under way. */
ndr_status ndr_carrier_settle(ndr_carrier *carrier);

/* Waits for all that has been queued, so that the slab brought last may be changed, and brought again. */
ndr_status ndr_carrier_wait(const ndr_carrier *carrier);

/* As ndr_accumulator_finish, of so many results in host memory; the accumulator's stream is the carrier's. */
ndr_status ndr_carrier_finish(const ndr_carrier *carrier, const ndr_accumulator *accumulator, int count,
                              DLTensor *const *results);

#endif
