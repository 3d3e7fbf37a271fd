/* Blocks of a problem whose labels are scattered, copied so that the labels of a group follow each other. On the host.
 */
#ifndef NDR_API_SORTED_H
#define NDR_API_SORTED_H

#include "core/request/canonical.h"

/* Labels of a block that follow each other. */
typedef struct ndr_sorted_run {
  int64_t label, begin, count;
} ndr_sorted_run;

/* What a thread has of it. */
typedef struct ndr_sorted {
  /* The block: a request whose arrays are the copies. Its offset says which outputs it has. */
  ndr_request request;
  const void *data[NDR_MAX_OPERANDS + 1];
  ndr_sorted_run *runs;
  int64_t run_count;

  int64_t blocks; /* of the whole */
  bool disjoint;  /* no two blocks have an output in common */

  const ndr_request *whole;
  const void *const *from;
  /* Labels are sorted in sections of at most `size`, none of which is longer than a row: the labels of one stride. */
  int64_t row_length, size, section; /* section: the one that is sorted, -1: none */
  int64_t row, first;                /* the section's row, by its first label, and its first label there */
  int64_t each[NDR_MAX_DIMS];        /* elements of a block along a dim beside those of the labels */
  int64_t index[NDR_MAX_DIMS];       /* the block's first element there */
  int64_t elements;                  /* the most of a block, with one behind each row's end */
  int64_t count;                     /* labels of the section */
  int32_t *order;                    /* the section's labels by group */
  int32_t *place;                    /* where each is in that order; those of no group are behind its end */
  int64_t *ends;
  void *copies[NDR_MAX_OPERANDS + 1];
} ndr_sorted;

/* Cuts a request with groups, whose arrays are at `from`, into blocks. Nothing is allocated. */
void ndr_sorted_cut(ndr_sorted *sorted, const ndr_request *whole, const void *const *from);

/* Allocates what one thread needs, from what ndr_sorted_cut has set. Close it even if this fails. */
ndr_status ndr_sorted_open(ndr_sorted *sorted, const ndr_sorted *cut);

/* Copies a block. Returns whether it has the runs and the shape of the one before. */
bool ndr_sorted_copy(ndr_sorted *sorted, int64_t number);
void ndr_sorted_close(ndr_sorted *sorted);

#endif
