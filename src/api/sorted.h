/* Blocks of a problem whose labels are scattered, copied so that the labels of a group follow each other. On the host.
 */
#ifndef NDR_API_SORTED_H
#define NDR_API_SORTED_H

#include "core/canonical.h"

/* Labels of a block that follow each other. */
typedef struct ndr_sorted_run {
  int64_t label, begin, count;
} ndr_sorted_run;

typedef struct ndr_sorted {
  /* The block: a request whose arrays are the copies. Its offset says which outputs it has. */
  ndr_request request;
  const void *data[NDR_MAX_OPERANDS + 1];
  ndr_sorted_run *runs;
  int64_t run_count;

  const ndr_request *whole;
  const void *const *from;
  int64_t row, row_length;     /* labels of one stride; row: where the row of the block begins */
  int64_t first, size;         /* the block's labels in the row, and the most of a block */
  bool peeled[NDR_MAX_DIMS];   /* a block has one index of the dim */
  int64_t index[NDR_MAX_DIMS]; /* of peeled dims */
  int64_t elements;            /* the most of a block */
  int32_t *order;
  int64_t *ends;
  void *copies[NDR_MAX_OPERANDS + 1];
} ndr_sorted;

/* Starts before the first block of a request with groups, whose arrays are at `from`. Close it even if this fails. */
ndr_status ndr_sorted_open(ndr_sorted *sorted, const ndr_request *whole, const void *const *from);

/* Copies the next block; false after the last. */
bool ndr_sorted_next(ndr_sorted *sorted);
void ndr_sorted_close(ndr_sorted *sorted);

#endif
