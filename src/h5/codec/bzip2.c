/* bzip2, as the registered filter 307 stores it: one stream. */
#include <bzlib.h>
#include <limits.h>

#include "h5/codec/codec.h"

/* 4 bytes for each of the at most 900,000 of a block, and the tables; bzip2 allocates them for every chunk. */
static size_t bzip2_state_bytes(const ndr_filter *filter, size_t bytes) {
  (void)filter, (void)bytes;
  return (size_t)4 << 20;
}

static ndr_status undo_bzip2(const ndr_filter *filter, void *state, ndr_span *data, uint8_t *out, size_t room) {
  (void)filter, (void)state;
  if (data->count > UINT_MAX) return ndr_fail(NDR_ERR_FILE, "bzip2: the stream is longer than 4 GiB");
  unsigned made = room < UINT_MAX ? (unsigned)room : UINT_MAX;
  /* An interface of before const: what is read is not written. */
  union {
    const uint8_t *bytes;
    char *text;
  } stream = {data->bytes};
  switch (BZ2_bzBuffToBuffDecompress((char *)out, &made, stream.text, (unsigned)data->count, 0, 0)) {
  case BZ_OK: break;
  case BZ_MEM_ERROR: return ndr_fail(NDR_ERR_MEMORY, "bzip2: there is no memory for a block");
  case BZ_OUTBUFF_FULL:
    return ndr_fail(NDR_ERR_FILE, "bzip2: the stream holds more than the %zu bytes that are due", room);
  default: return ndr_fail(NDR_ERR_FILE, "bzip2: the stream is damaged or ends early");
  }
  *data = (ndr_span){out, made};
  return NDR_OK;
}

const ndr_codec ndr_codec_bzip2 = {
    .packs = true,
    .growth_shift = 4,
    .state_bytes = bzip2_state_bytes,
    .undo = undo_bzip2,
};
