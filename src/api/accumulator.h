/* What an accumulator is: accumulator.c adds to it and merges, export.c writes its states as bytes and reads them. */
#ifndef NDR_API_ACCUMULATOR_H
#define NDR_API_ACCUMULATOR_H

#include "api/parts/parts.h"
#include "core/own_ops.h"
#include "core/spans.h"

struct ndr_accumulator {
  ndr_request whole; /* partial; strides are those of the slab last added */
  ndr_options options;
  ndr_device device; /* a copy of options.device, so that nothing of the caller's is kept */
  char family[16];
  const ndr_backend *backend;
  DLDevice place;
  int64_t outputs, length;
  uint64_t *states[NDR_MAX_OPS]; /* word-major, pitch outputs, row-major over the kept dims; [0] owns the memory */
  void *scratch;                 /* for a slab's states; kept on a GPU, where allocating may take long */
  size_t scratch_bytes;
  /* On a GPU, pinned memory from which imported states are copied; work that is queued may read it. */
  void *staging;
  size_t staging_bytes;
  ndr_spans covered;            /* the caller's numbers */
  ndr_own_op *own[NDR_MAX_OPS]; /* held, so that the problem can be printed; NULL: a built-in operator */
};

/* Whether both are of the same problem and on the same kind of device, so that their states can be merged. */
bool ndr_accumulators_are_alike(const ndr_accumulator *a, const ndr_accumulator *b);

/* Places states in scratch that is large enough for those of all outputs, on the accumulator's device. */
ndr_status ndr_accumulator_place(ndr_accumulator *a, uint64_t **states);

/* Merges states on the device of `into`, of as many outputs, into its own. */
ndr_status ndr_accumulator_merge_states(ndr_accumulator *into, uint64_t *const *from);

#endif
