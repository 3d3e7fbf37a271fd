/* Zstandard, as the registered filter 32015 stores it: frames, and nothing beside them. */
#include <zstd.h>

#include "h5/codec/codec.h"

static size_t zstd_state_bytes(const ndr_filter *filter, size_t bytes) {
  (void)filter, (void)bytes;
  return NDR_CODEC_ZSTD_BYTES;
}

static void *open_zstd(const ndr_filter *filter, size_t bytes) {
  (void)filter, (void)bytes;
  return ZSTD_createDCtx();
}

static void close_zstd(void *state) {
  ZSTD_freeDCtx(state);
}

static ndr_status undo_zstd(const ndr_filter *filter, void *state, ndr_span *data, uint8_t *out, size_t room) {
  (void)filter;
  size_t made = ZSTD_decompressDCtx(state, out, room, data->bytes, data->count);
  if (ZSTD_isError(made)) return ndr_fail(NDR_ERR_FILE, "zstd: %s", ZSTD_getErrorName(made));
  *data = (ndr_span){out, made};
  return NDR_OK;
}

const ndr_codec ndr_codec_zstd = {
    .packs = true,
    .growth_shift = 4,
    .state_bytes = zstd_state_bytes,
    .open = open_zstd,
    .close = close_zstd,
    .undo = undo_zstd,
};
