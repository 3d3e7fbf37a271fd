/* See encoders.h: frames of Blosc2. */
#include "h5/encoders.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#ifdef NDR_WITH_BLOSC2
/* Copies a frame to stored where it has room; 0 bytes where it has not. */
static size_t keep_frame(uint8_t *frame, int64_t bytes, bool owned, uint8_t *stored, size_t room) {
  ck_assert_int_gt(bytes, 0);
  bool fits = (size_t)bytes <= room;
  if (fits) memcpy(stored, frame, (size_t)bytes);
  if (owned) free(frame);
  return fits ? (size_t)bytes : 0;
}

/* A frame of the bytes in their order. */
static size_t encode_plain(blosc2_storage *storage, const uint8_t *data, size_t bytes, uint8_t *stored, size_t room) {
  blosc2_schunk *schunk = blosc2_schunk_new(storage);
  uint8_t *frame = NULL;
  bool owned = false;
  ck_assert_ptr_nonnull(schunk);
  ck_assert_int_eq(blosc2_schunk_append_buffer(schunk, data, (int32_t)bytes), 1);
  int64_t length = blosc2_schunk_to_buffer(schunk, &frame, &owned);
  size_t written = keep_frame(frame, length, owned, stored, room);
  blosc2_schunk_free(schunk);
  return written;
}

size_t encode_array(blosc2_storage *storage, int dims, const int32_t *chunk, const int32_t *block, const uint8_t *data,
                    size_t bytes, uint8_t *stored, size_t room) {
  int64_t shape[NDR_FILTER_VALUES], length = 0;
  uint8_t *frame = NULL;
  bool owned = false;
  for (int d = 0; d < dims; d++) shape[d] = chunk[d];
  b2nd_context_t *context =
      b2nd_create_ctx(storage, (int8_t)dims, shape, chunk, block, "|u1", DTYPE_NUMPY_FORMAT, NULL, 0);
  b2nd_array_t *array = NULL;
  ck_assert_ptr_nonnull(context);
  ck_assert_int_eq(b2nd_from_cbuffer(context, &array, data, (int64_t)bytes), 0);
  ck_assert_int_eq(b2nd_to_cframe(array, &frame, &length, &owned), 0);
  size_t written = keep_frame(frame, length, owned, stored, room);
  b2nd_free(array);
  b2nd_free_ctx(context);
  return written;
}

/* Cuts elements into a chunk of at most 5 dims, and that into blocks; all of a dim, or a power of two as HDF5's filter
 * has it. Returns the number of dims. */
static int cut_elements(rng *random, size_t elements, int32_t *chunk, int32_t *block) {
  int dims = 0;
  for (; dims < 4 && rng_once_in(random, 2); dims++)
    for (size_t size = (size_t)rng_between(random, 1, 12);; size--)
      if (elements % size == 0) {
        chunk[dims] = (int32_t)size;
        elements /= size;
        break;
      }
  chunk[dims++] = (int32_t)elements;
  for (int d = 0; d < dims; d++) {
    for (block[d] = 1; 2 * block[d] <= chunk[d] && !rng_once_in(random, 5);) block[d] *= 2;
    if (rng_once_in(random, 3)) block[d] = chunk[d];
  }
  return dims;
}

size_t encode_blosc2(rng *random, ndr_filter *filter, const uint8_t *data, size_t bytes, uint8_t *stored) {
  static const uint8_t packers[] = {BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZLIB, BLOSC_ZSTD};
  const char *name;
  int32_t chunk[5], block[5], size = 1 << rng_between(random, 0, 3);
  while (bytes % (size_t)size) size /= 2;
  int dims = cut_elements(random, bytes / (size_t)size, chunk, block);
  blosc2_cparams how = BLOSC2_CPARAMS_DEFAULTS;
  how.typesize = size;
  how.clevel = (uint8_t)rng_between(random, 0, 9);
  how.compcode = packers[rng_between(random, 0, 4)];
  if (blosc2_compcode_to_compname(how.compcode, &name) < 0) how.compcode = BLOSC_BLOSCLZ;
  how.filters[BLOSC2_MAX_FILTERS - 1] = (uint8_t)rng_between(random, 0, 3);
  blosc2_storage storage = {.cparams = &how, .contiguous = false};
  *filter = (ndr_filter){.id = 32026, .value_count = 7};
  memcpy(filter->values,
         (unsigned[]){1, 0, (unsigned)size, (unsigned)bytes, how.clevel, how.filters[BLOSC2_MAX_FILTERS - 1],
                      how.compcode},
         7 * sizeof(unsigned));
  if (dims > 1) {
    filter->value_count = 8 + (size_t)dims;
    filter->values[7] = (unsigned)dims;
    for (int d = 0; d < dims; d++) filter->values[8 + d] = (unsigned)chunk[d];
  }
  size_t written = ndr_filters_known(&(ndr_filters){.count = 1, .all = {*filter}}, NULL)
                       ? encode_array(&storage, dims, chunk, block, data, bytes, stored, 2 * bytes + ENCODE_ROOM)
                       : 0;
  if (written && (dims > 1 || rng_once_in(random, 2))) return written;
  filter->value_count = 7;
  return encode_plain(&storage, data, bytes, stored, 2 * bytes + ENCODE_ROOM);
}
#endif
