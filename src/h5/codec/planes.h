/* Elements put together again from planes: of their bytes, or of their bits. */
#ifndef NDR_H5_CODEC_PLANES_H
#define NDR_H5_CODEC_PLANES_H

#include <stddef.h>
#include <stdint.h>

/* in[byte * count + element] -> out[element * size + byte]. in and out do not overlap. */
void ndr_join_bytes(const uint8_t *in, uint8_t *out, size_t count, size_t size);

/* The reverse: what a shuffle does. */
void ndr_part_bytes(const uint8_t *in, uint8_t *out, size_t count, size_t size);

/* Bit b of element e is bit e % 8 of in[b * count / 8 + e / 8]; bits count from the lowest, and from an element's first
 * byte. count is a multiple of 8, and scratch has NDR_PLANES_STRIP * size bytes, or count * size where that is less. */
enum { NDR_PLANES_STRIP = 128 };
void ndr_join_bits(const uint8_t *in, uint8_t *out, size_t count, size_t size, uint8_t *scratch);

#endif
