/* The address of a tensor's element 0. */
#ifndef NDR_CORE_ADDRESS_H
#define NDR_CORE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "ndreduce/ndreduce.h"

/* No array reaches further: 62 bits. */
#define NDR_MOST_OFFSET ((int64_t)1 << 62)

/* Whether data and byte_offset, the one added to the other, are an address. A view with negative strides may have a
 * negative offset, as an unsigned number. */
static inline bool ndr_has_address(const DLTensor *tensor) {
  int64_t offset = (int64_t)tensor->byte_offset;
  uintptr_t data = (uintptr_t)tensor->data;
  if (offset < -NDR_MOST_OFFSET || offset > NDR_MOST_OFFSET) return false;
  return offset < 0 ? data > (uintptr_t)-offset : data <= UINTPTR_MAX - (uintptr_t)offset;
}

#endif
