/* Arrays in stored form, and what they become: to try ndr_convert_stored with. */
#ifndef TEST_SUPPORT_H5_STORED_H
#define TEST_SUPPORT_H5_STORED_H

#include "h5/read/unpack/unpack.h"
#include "support/random.h"

void h5_random_bytes(unsigned char *bytes, size_t count, rng *random);

/* A way to unpack elements of a dtype, with masks that some of these elements meet. */
ndr_unpack h5_random_unpack(ndr_dtype from, const unsigned char *elements, int64_t count, rng *random);

/* A stored form of random elements, its bytes, and those that ndr_unpack makes of the elements. */
typedef struct h5_stored {
  ndr_stored stored;
  size_t bytes, result_bytes;
  unsigned char *data, *expected;
} h5_stored;

/* One of a dtype, of about so many elements at most. */
void h5_stored_make(h5_stored *made, ndr_dtype dtype, int64_t most, rng *random);

/* One of the dtype, layout and shuffle that made->stored says, the rest being 0. */
void h5_stored_fill(h5_stored *made, rng *random);

void h5_stored_free(h5_stored *made);

/* What a failure is told with; valid until the next call. */
const char *h5_stored_text(const h5_stored *made);

#endif
