/* Whether two strided arrays have bytes in common. */
#ifndef NDR_SCAN_OVERLAP_H
#define NDR_SCAN_OVERLAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ndr_span {
  const void *address; /* of element 0 */
  size_t bytes;        /* of an element */
  int ndim;
  const int64_t *shape, *strides; /* in elements */
} ndr_span;

/* True also for layouts so entangled that it takes more than some thousand steps to tell. */
bool ndr_spans_overlap(const ndr_span *a, const ndr_span *b);

#endif
