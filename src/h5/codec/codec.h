/* What the decoder has to know of a filter. Its number, name and library are in the table of decode.c. */
#ifndef NDR_H5_CODEC_CODEC_H
#define NDR_H5_CODEC_CODEC_H

#include "core/status.h"
#include "h5/codec/decode.h"

/* Bytes on their way through the filters. */
typedef struct ndr_span {
  const uint8_t *bytes;
  size_t count;
} ndr_span;

typedef struct ndr_codec {
  bool in_place;    /* undoing it writes nothing: the result is a part of what was stored */
  size_t adds;      /* bytes that encoding adds, if that does not depend on the data */
  bool packs;       /* the size may depend on the data */
  int growth_shift; /* under `packs`, n bytes become at most n + (n >> growth_shift) + NDR_CODEC_HEADERS */
  size_t (*packed_bytes)(const ndr_filter *filter, size_t bytes); /* or at most this, and 4 times the chunk */

  /* Whether the filter can be undone with these parameters (NULL: always), and whether it does nothing with them (NULL:
   * never). */
  bool (*takes)(const ndr_filter *filter);
  bool (*is_idle)(const ndr_filter *filter);

  /* The state that decoding at most `bytes` bytes takes besides input and output; NULL: none. state_bytes also counts
   * what the library below allocates in `undo`. `open` returns NULL if memory is short. */
  size_t (*state_bytes)(const ndr_filter *filter, size_t bytes);
  void *(*open)(const ndr_filter *filter, size_t bytes);
  void (*close)(void *state);

  /* Undoes the filter. Writes at most `room` bytes to `out`, and sets `data` to the result, which is `out` or a part of
   * what `data` was before. The caller checks the result's size. Unless the codec packs, `data` has at most `room` +
   * `adds` bytes; a codec that packs checks what its stream claims. */
  ndr_status (*undo)(const ndr_filter *filter, void *state, ndr_span *data, uint8_t *out, size_t room);
} ndr_codec;

enum { NDR_CODEC_HEADERS = 4096 };

/* What a zstd context takes to decode into one buffer: no window, the tables alone, about 160 KiB in 1.5. */
enum { NDR_CODEC_ZSTD_BYTES = 256 << 10 };

/* What became of a stream: it was undone, holds more than there is room for, or is damaged. */
typedef enum ndr_inflated { NDR_INFLATED, NDR_INFLATED_MORE, NDR_INFLATED_NOT } ndr_inflated;

extern const ndr_codec ndr_codec_shuffle, ndr_codec_fletcher32, ndr_codec_deflate, ndr_codec_szip, ndr_codec_lz4,
    ndr_codec_lzf, ndr_codec_zstd, ndr_codec_blosc, ndr_codec_blosc2, ndr_codec_bzip2, ndr_codec_bitshuffle,
    ndr_codec_zfp, ndr_codec_rounding;

#endif
