/* What a filter is to the decoder. Its number, name and library are in the table of decode.c. */
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
  size_t adds;      /* bytes that encoding adds, where it always gives the same size */
  bool packs;       /* the size may depend on the data */
  int growth_shift; /* what packs makes of n bytes at most n + (n >> growth_shift) + NDR_CODEC_HEADERS of them */
  size_t (*packed_bytes)(const ndr_filter *filter, size_t bytes); /* or at most this, and 4 times the chunk */

  /* Whether it can be undone with these parameters; and whether it does nothing at all with them. NULL: always; never.
   */
  bool (*takes)(const ndr_filter *filter);
  bool (*is_idle)(const ndr_filter *filter);

  /* What it needs besides input and output to decode at most `bytes` bytes; NULL where that is nothing. state_bytes
   * counts also what the library below allocates in undo. NULL from open means out of memory. */
  size_t (*state_bytes)(const ndr_filter *filter, size_t bytes);
  void *(*open)(const ndr_filter *filter, size_t bytes);
  void (*close)(void *state);

  /* Undoes it for data, writing at most room bytes to out, and leaves in data the result: out, or a part of what data
   * was before. The caller compares the result's size with what is due. Unless the codec packs, data are no more than
   * room bytes and what it adds; what packs checks what its stream claims. */
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
