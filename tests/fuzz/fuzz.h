/* What fuzz targets share. */
#ifndef TEST_FUZZ_H
#define TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(int condition) {
  if (!condition) abort();
}

typedef struct {
  const uint8_t *data;
  size_t size;
} input;

/* A number of at most 4 bytes, the lowest first; missing ones are 0 where the input has ended. */
static inline unsigned take(input *from, int bytes) {
  unsigned value = 0;
  for (int i = 0; i < bytes && from->size > 0; i++, from->size--) value |= (unsigned)*from->data++ << 8 * i;
  return value;
}

#endif
