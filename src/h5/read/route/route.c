/* What the routes have in common. */
#include <time.h>

#include "h5/read/route/route.h"

int64_t ndr_stored_bytes(const ndr_reader *reader) {
  return (int64_t)ndr_dtype_bytes(reader->unpack.from);
}

double ndr_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
