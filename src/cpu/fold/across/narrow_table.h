/* Template: the kernels of narrow.h, and what they load rows with. */

/* The rows of a tile in bytes. */
typedef struct byte_rows {
  const uint8_t *first;
  int64_t apart, count, lanes;
  int64_t beyond; /* the first rows from whose last whole vector on 32 bytes may be loaded */
  __m256i inside; /* all ones for what a last, loaded vector has of the row: its first bytes of a row of less than 32,
                   * else its last ones */
} byte_rows;

INLINE byte_rows byte_rows_of(const ndr_tile *tile, int64_t bytes) {
  static const uint8_t edges[96] = {[32] = 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                                    255,        255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                                    255,        255, 255, 255, 255, 255, 255, 255, 255, 255};
  const int64_t count = tile->rows * bytes;
  const uint8_t *edge = edges + (count < 32 ? 64 - count : count % 32);
  return (byte_rows){
      tile->data,  tile->lane_stride * bytes,           count,
      tile->lanes, lanes_with(32 / bytes, tile, bytes), _mm256_loadu_si256((const __m256i *)(const void *)edge)};
}

INLINE const uint8_t *row_at(const byte_rows *rows, int64_t lane) {
  const uint8_t *row = rows->first + lower(lane, rows->lanes - 1) * rows->apart;
  __builtin_prefetch(row + AHEAD);
  return row;
}

INLINE __m256i load_32(const uint8_t *at) {
  return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

/* A vector of which `inside` is what the last whole one has left of a row. */
INLINE __m256i last_of_row(const byte_rows *rows, const uint8_t *row, int64_t lane) {
  if (rows->count >= 32) return load_32(row + rows->count - 32);
  if (lane < rows->beyond) return load_32(row);
  uint8_t copy[32] = {0};
  for (int64_t i = 0; i < rows->count; i++) copy[i] = row[i];
  return load_32(copy);
}

INLINE void store_longs(uint64_t *to, __m128i sums) {
  _mm256_storeu_si256((__m256i *)(void *)to, _mm256_cvtepi32_epi64(sums));
}

INLINE void store_doubles(uint64_t *to, __m128i sums) {
  _mm256_storeu_pd((double *)(void *)to, _mm256_cvtepi32_pd(sums));
}

#define FLIPPED(v, bits) _mm256_xor_si256(v, bits)
#define TOTAL_BYTES(s, v) _mm256_add_epi32(s, _mm256_sad_epu8(v, _mm256_setzero_si256()))
#define TOTAL_HALVES(s, v) _mm256_add_epi32(s, _mm256_madd_epi16(v, _mm256_set1_epi16(1)))

/* The least of 8 halves; of bytes, the least of each two first. */
INLINE unsigned least_half(__m256i v) {
  const __m128i least = _mm_min_epu16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  return (unsigned)_mm_cvtsi128_si32(_mm_minpos_epu16(least)) & 0xffffu;
}

INLINE unsigned least_byte(__m256i v) {
  return least_half(_mm256_min_epu8(_mm256_and_si256(v, _mm256_set1_epi16(255)), _mm256_srli_epi16(v, 8)));
}

#define NAME(kernel) across_##kernel##_i8
#define ELEMENT int8_t
#define TALLIED(v) FLIPPED(v, _mm256_set1_epi8(INT8_MIN))
#define EXCESS 128
#define TOTAL TOTAL_BYTES
#define RANKED TALLIED
#define UNRANKED(n) (int64_t)(int8_t)((n) ^ 128u)
#define LOWER _mm256_min_epu8
#define LEAST_OF least_byte
#define JOIN_VALUE(kernel) join_##kernel##_i64
#include "cpu/fold/across/narrow.h"
#define NAME(kernel) across_##kernel##_u8
#define ELEMENT uint8_t
#define TALLIED(v) (v)
#define EXCESS 0
#define TOTAL TOTAL_BYTES
#define RANKED TALLIED
#define UNRANKED(n) (uint8_t)(n)
#define LOWER _mm256_min_epu8
#define LEAST_OF least_byte
#define JOIN_VALUE(kernel) join_##kernel##_u64
#include "cpu/fold/across/narrow.h"
#define NAME(kernel) across_##kernel##_i16
#define ELEMENT int16_t
#define TALLIED(v) (v)
#define EXCESS 0
#define TOTAL TOTAL_HALVES
#define RANKED(v) FLIPPED(v, _mm256_set1_epi16(INT16_MIN))
#define UNRANKED(n) (int64_t)(int16_t)((n) ^ 0x8000u)
#define LOWER _mm256_min_epu16
#define LEAST_OF least_half
#define JOIN_VALUE(kernel) join_##kernel##_i64
#include "cpu/fold/across/narrow.h"
#define NAME(kernel) across_##kernel##_u16
#define ELEMENT uint16_t
#define TALLIED(v) FLIPPED(v, _mm256_set1_epi16(INT16_MIN))
#define EXCESS (-32768)
#define TOTAL TOTAL_HALVES
#define RANKED(v) (v)
#define UNRANKED(n) (uint16_t)(n)
#define LOWER _mm256_min_epu16
#define LEAST_OF least_half
#define JOIN_VALUE(kernel) join_##kernel##_u64
#include "cpu/fold/across/narrow.h"

/* Of bool, and what counts bytes that are not 0. */
#define NAME(kernel) across_##kernel##_bool
#define ELEMENT uint8_t
#define TALLIED(v) _mm256_min_epu8(v, _mm256_set1_epi8(1))
#define EXCESS 0
#define TOTAL TOTAL_BYTES
#include "cpu/fold/across/narrow.h"

#undef FLIPPED
#undef TOTAL_BYTES
#undef TOTAL_HALVES
