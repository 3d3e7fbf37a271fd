/* The checked form of ndr_select, ndr_partition and ndr_nonzero: elements, or slices along a dim, that are kept in
 * their order. */
#ifndef NDR_SCAN_SELECTION_H
#define NDR_SCAN_SELECTION_H

#include "core/request/canonical.h"
#include "ndreduce/scan.h"

typedef enum ndr_selection_kind {
  NDR_SELECTION_SELECT,
  NDR_SELECTION_PARTITION,
  NDR_SELECTION_NONZERO
} ndr_selection_kind;

typedef struct ndr_selection {
  ndr_selection_kind kind;
  int dim;         /* -1: of elements in row-major order */
  ndr_dtype dtype; /* of the array */
  int ndim;
  int64_t shape[NDR_MAX_DIMS], strides[NDR_MAX_DIMS];
  /* Of the mask, by the array's dims; for a dim only that one's is used. For nonzero the mask is the array. */
  int64_t mask_strides[NDR_MAX_DIMS];
  /* A dim: by the array's dims. Elements: result_strides[0] is the step from a place to the next, and for nonzero
   * result_strides[1] that from an index to the next; a result of the array's shape has by_dims set, and its strides.
   */
  int64_t result_strides[NDR_MAX_DIMS];
  bool by_dims;
  int64_t places; /* elements, or slices along dim, that may be kept */
  int64_t room;   /* how many the result holds */
  int result_ndim;
  int64_t result_shape[NDR_MAX_DIMS];
  ndr_dtype result_dtype;
} ndr_selection;

/* Addresses of elements 0; mask is the array for nonzero. */
typedef struct ndr_selection_addresses {
  const void *array, *mask;
  void *result;
  int64_t *count;
} ndr_selection_addresses;

ndr_status ndr_select_options_read(const ndr_select_options *given, ndr_select_options *out);

/* mask is NULL for nonzero. */
ndr_status ndr_selection_make(ndr_selection *selection, ndr_selection_kind kind, const DLTensor *array,
                              const DLTensor *mask, int dim, const DLTensor *result);

/* Checks that the result has no byte in common with the array and the mask. */
ndr_status ndr_selection_check_overlap(const ndr_selection *selection, const ndr_selection_addresses *addresses);

#endif
