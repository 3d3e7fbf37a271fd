/* Arithmetic of plans that cut work into parts. */
#ifndef NDR_CPU_CUTS_H
#define NDR_CPU_CUTS_H

#include <stdint.h>

static inline int64_t ndr_least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static inline int64_t ndr_most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* Parts of at least 1 that a total takes. */
static inline int64_t ndr_cuts(int64_t total, int64_t part) {
  int64_t each = ndr_most(part, 1);
  return total / each + (total % each != 0);
}

#endif
