/* Chunks as HDF5's own filters make them, in a file in memory. */
#ifndef TEST_SUPPORT_H5_CHUNK_H
#define TEST_SUPPORT_H5_CHUNK_H

#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>

#include "h5/codec/decode.h"
#include "support/random.h"

typedef struct stored_chunk {
  ndr_filters filters;
  size_t bytes; /* decoded */
  uint8_t *data;
  size_t stored_bytes;
  uint8_t *stored;
  uint32_t mask;
} stored_chunk;

/* A creation property list with one filter a letter, to be closed: s shuffle, d deflate, f fletcher32, z szip (coding
 * neighbours' differences, blocks of 8), Z szip (entropy coding of blocks of 16), n nbit, o scaleoffset; and of the
 * registered ones 2 bzip2, b blosc, l lz4 (blocks of 1000 bytes), t zstd, 0 bitshuffle, 4 bitshuffle with lz4, 5 with
 * zstd. */
hid_t pipeline_create(const char *letters);

/* One chunk of a 1-d dataset of count elements, written through HDF5's filters with the bytes in data. type stays the
 * caller's. */
stored_chunk chunk_write(const char *letters, hid_t type, size_t count, const uint8_t *data);
void chunk_free(stored_chunk *chunk);

/* Decodes to out, memory of exactly chunk->bytes, as a sanitizer sees it, and between guards, as everyone does. */
ndr_status chunk_decode(ndr_decoder *decoder, const stored_chunk *chunk, size_t stored_bytes, uint32_t mask,
                        uint8_t *out);

/* The chunk decodes to its data. */
void chunk_check(const stored_chunk *chunk, const char *letters);

/* Every shorter part of what is stored is refused. */
void chunk_truncate(const stored_chunk *chunk);

/* With ever more bits flipped and any mask, the answer is a chunk or a sentence, and no other byte is touched. */
void chunk_flip(rng *random, stored_chunk *chunk, int rounds);

/* Bytes that compress well, as the values of a field do, or not at all. */
void fill_smooth(rng *random, uint8_t *data, size_t bytes, size_t element);
void fill_noise(rng *random, uint8_t *data, size_t bytes);

#endif
