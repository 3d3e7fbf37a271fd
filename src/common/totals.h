/* Ops that are made of totals, sums and counts of elements that somebody else has added up: see
 * ndr_accumulator_add_totals. */
#ifndef NDR_COMMON_TOTALS_H
#define NDR_COMMON_TOTALS_H

#include <stdbool.h>

#include "ndreduce/ndreduce.h"

static inline bool ndr_op_is_made_of_totals(ndr_op op) {
  return op == NDR_SUM || op == NDR_MEAN || op == NDR_VALID;
}

#endif
