/* Streams of the registered filters, made as their formats are defined, so that no plugin is needed. */
#ifndef TEST_H5_ENCODERS_H
#define TEST_H5_ENCODERS_H

#ifdef NDR_WITH_BLOSC2
#include <b2nd.h>
#endif
#ifdef NDR_WITH_ZFP
#include <zfp.h>
#endif

#include "support/h5_chunk.h"

/* Encodes data with parameters chosen at random, and puts the filter beside it. stored has room for twice the bytes and
 * ENCODE_ROOM more. */
typedef size_t encode_bytes(rng *random, ndr_filter *filter, const uint8_t *data, size_t bytes, uint8_t *stored);
enum { ENCODE_ROOM = 8192 };

typedef struct encoder {
  const char *name;
  encode_bytes *encode;
  size_t unit;    /* what a chunk's size is a multiple of */
  bool loses_end; /* a part of a stream may be one itself */
} encoder;

/* Those whose libraries are here. */
extern const encoder encoders[];
extern const int encoder_count;

/* A chunk of at least `bytes` bytes by encoder i; to be freed with chunk_free. */
stored_chunk encode_chunk(rng *random, int i, size_t bytes);

/* Writes the value's last `count` bytes, the highest first. */
void put_be(uint8_t *bytes, int count, uint64_t value);

#ifdef NDR_WITH_BLOSC2
encode_bytes encode_blosc2;

/* A frame of an array in blocks; 0 bytes where it takes more than `room`. */
size_t encode_array(blosc2_storage *storage, int dims, const int32_t *chunk, const int32_t *block, const uint8_t *data,
                    size_t bytes, uint8_t *stored, size_t room);
#endif

#ifdef NDR_WITH_ZFP
encode_bytes encode_zfp;

/* A stream of the field's elements, and in the filter's values its header behind a word of versions. */
size_t encode_field(zfp_stream *stream, zfp_field *field, ndr_filter *filter, uint8_t *stored, size_t room);
#endif

#endif
