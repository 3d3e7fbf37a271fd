/* Everything that is compiled once for each instruction set, into the ndr_isa that the including file names ISA. */
#include "cpu/fold/lane.h"

#include "cpu/fold/convert.h"
#include "cpu/fold/dtype/bytes.h"
#include "cpu/fold/eight.h"
#include "cpu/fold/finish.h"
#include "cpu/fold/join.h"

#define SKIP 0

#define JOIN_INT(kernel) join_##kernel##_i64
#define NAME(kernel) kernel##_i8
#define ELEMENT int8_t
#define INDEX uint8_t
#define SUM int16_t
#define REAL_SUM int16_t
#define REAL_IS_INT 1
#define SQUARES uint32_t
#define SQUARE uint16_t
#define MOMENTS 1
#define LEAST INT8_MIN
#define MOST INT8_MAX
#define SUM_OF_RUN(tile) (sum_of_bytes(tile, 128, false) - 128 * tile->rows * tile->lanes)
#define COUNT_OF_RUN(tile) sum_of_bytes(tile, 0, true)
#include "cpu/fold/dtype/int.h"
#define NAME(kernel) kernel##_i16
#define ELEMENT int16_t
#define INDEX uint16_t
#define SUM int32_t
#define REAL_SUM int32_t
#define REAL_IS_INT 1
#define SQUARES int64_t
#define SQUARE uint32_t
#define MOMENTS 1
#define LEAST INT16_MIN
#define MOST INT16_MAX
#include "cpu/fold/dtype/int.h"
#define NAME(kernel) kernel##_i32
#define ELEMENT int32_t
#define INDEX uint32_t
#define SUM int64_t
#define REAL_SUM int64_t
#define REAL_IS_INT 1
#define MOMENTS 0
#define LOAD_REAL load_f64_i32
#define LEAST INT32_MIN
#define MOST INT32_MAX
#include "cpu/fold/dtype/int.h"
#define NAME(kernel) kernel##_i64
#define ELEMENT int64_t
#define INDEX uint64_t
#define SUM uint64_t
#define REAL_SUM double
#define REAL_IS_INT 0
#define REAL F64_OF_I64
#define MOMENTS 0
#define LOAD_REAL load_f64_i64
#define LEAST INT64_MIN
#define MOST INT64_MAX
#include "cpu/fold/dtype/int.h"
#undef JOIN_INT

#define JOIN_INT(kernel) join_##kernel##_u64
#define NAME(kernel) kernel##_u8
#define ELEMENT uint8_t
#define INDEX uint8_t
#define SUM uint16_t
#define REAL_SUM uint16_t
#define REAL_IS_INT 1
#define SQUARES uint32_t
#define SQUARE uint16_t
#define MOMENTS 1
#define LEAST 0
#define MOST UINT8_MAX
#define SUM_OF_RUN(tile) sum_of_bytes(tile, 0, false)
#define COUNT_OF_RUN(tile) sum_of_bytes(tile, 0, true)
#include "cpu/fold/dtype/int.h"

#include "cpu/fold/dtype/bool.h"

#define NAME(kernel) kernel##_u16
#define ELEMENT uint16_t
#define INDEX uint16_t
#define SUM uint32_t
#define REAL_SUM uint32_t
#define REAL_IS_INT 1
#define SQUARES uint64_t
#define SQUARE uint32_t
#define MOMENTS 1
#define LEAST 0
#define MOST UINT16_MAX
#include "cpu/fold/dtype/int.h"
#define NAME(kernel) kernel##_u32
#define ELEMENT uint32_t
#define INDEX uint32_t
#define SUM uint64_t
#define REAL_SUM uint64_t
#define REAL_IS_INT 1
#define MOMENTS 0
#define LOAD_REAL load_f64_u32
#define LEAST 0
#define MOST UINT32_MAX
#include "cpu/fold/dtype/int.h"
#define NAME(kernel) kernel##_u64
#define ELEMENT uint64_t
#define INDEX uint64_t
#define SUM uint64_t
#define REAL_SUM double
#define REAL_IS_INT 0
#define REAL F64_OF_U64
#define MOMENTS 0
#define LOAD_REAL load_f64_u64
#define LEAST 0
#define MOST UINT64_MAX
#include "cpu/fold/dtype/int.h"
#undef JOIN_INT

#define NAME(kernel) kernel##_f32
#define EXP exp_f32
#define PICK pick_f32
#define RANK int32_t
#define RANK_MOST INT32_MAX
#define INFINITE 0x7f800000
#define ELEMENT float
#define WIDEN WIDEN_F32
#define LOAD_REAL load_f64_f32
#define VEC(op) VECTOR(op, ps)
#define COMPARE(a, b, how) COMPARED(ps, a, b, how)
#define FLOAT_OF(x) (x)
#ifdef RUN_PART
#define PART_OF(at) PART_OF_F32(at)
#endif
#define INDEX uint32_t
#define JOIN_FLOAT(kernel) join_##kernel##_f64
#include "cpu/fold/dtype/float.h"
#define NAME(kernel) kernel##_f64
#define EXP exp_f64
#define PICK pick_f64
#define RANK int64_t
#define RANK_MOST INT64_MAX
#define INFINITE 0x7ff0000000000000
#define ELEMENT double
#define WIDEN WIDEN_F64
#define LOAD_REAL load_f64_f64
#define VEC(op) VECTOR(op, pd)
#define COMPARE(a, b, how) COMPARED(pd, a, b, how)
#define INDEX uint64_t
#define JOIN_FLOAT(kernel) join_##kernel##_f64
#include "cpu/fold/dtype/float.h"
#define NAME(kernel) kernel##_c64
#define PART(kernel) kernel##_f32
#define ELEMENT ndr_c64
#define INDEX uint64_t
#include "cpu/fold/dtype/complex.h"
#define NAME(kernel) kernel##_c128
#define PART(kernel) kernel##_f64
#define ELEMENT ndr_c128
#define INDEX uint64_t
#include "cpu/fold/dtype/complex.h"

#define NAME(kernel) kernel##_f16
#define ELEMENT ndr_f16
#define INDEX uint16_t
#define INFINITE 0x7c00
#define WIDEN convert_f16_f32
#define FLOAT_OF(x) f32_of_f16(x)
#define LOAD_REAL load_f64_f16
#ifdef __F16C__
#define LOAD_PART(at) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(at)))
#define PART_OF(at) LOAD_PART(at)
#endif
#include "cpu/fold/dtype/half.h"
#define NAME(kernel) kernel##_bf16
#define ELEMENT ndr_bf16
#define INDEX uint16_t
#define INFINITE 0x7f80
#define WIDEN convert_bf16_f32
#define FLOAT_OF(x) f32_of_bf16(x)
#define LOAD_REAL load_f64_bf16
#ifdef __AVX2__
#define BITS_OF(at) _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)(at)))
#define LOAD_PART(at) _mm256_castsi256_ps(_mm256_slli_epi32(BITS_OF(at), 16))
#define PART_OF(at) LOAD_PART(at)
#endif
#include "cpu/fold/dtype/half.h"
#undef BITS_OF

#undef SKIP
#define SKIP 1

#define NAME(kernel) kernel##_skip_f32
#define EXP exp_f32
#define PICK pick_f32
#define RANK int32_t
#define RANK_MOST INT32_MAX
#define INFINITE 0x7f800000
#define ELEMENT float
#define WIDEN WIDEN_F32
#define LOAD_REAL load_f64_f32
#define VEC(op) VECTOR(op, ps)
#define COMPARE(a, b, how) COMPARED(ps, a, b, how)
#define INDEX uint32_t
#define JOIN_FLOAT(kernel) join_##kernel##_skip
#include "cpu/fold/dtype/float.h"
#define NAME(kernel) kernel##_skip_f64
#define EXP exp_f64
#define PICK pick_f64
#define RANK int64_t
#define RANK_MOST INT64_MAX
#define INFINITE 0x7ff0000000000000
#define ELEMENT double
#define WIDEN WIDEN_F64
#define LOAD_REAL load_f64_f64
#define VEC(op) VECTOR(op, pd)
#define COMPARE(a, b, how) COMPARED(pd, a, b, how)
#define INDEX uint64_t
#define JOIN_FLOAT(kernel) join_##kernel##_skip
#include "cpu/fold/dtype/float.h"
#define NAME(kernel) kernel##_skip_c64
#define ELEMENT ndr_c64
#define INDEX uint64_t
#include "cpu/fold/dtype/complex.h"
#define NAME(kernel) kernel##_skip_c128
#define ELEMENT ndr_c128
#define INDEX uint64_t
#include "cpu/fold/dtype/complex.h"

#define NAME(kernel) kernel##_skip_f16
#define ELEMENT ndr_f16
#define INDEX uint16_t
#define INFINITE 0x7c00
#define WIDEN convert_f16_f32
#define FLOAT_OF(x) f32_of_f16(x)
#define LOAD_REAL load_f64_f16
#include "cpu/fold/dtype/half.h"
#define NAME(kernel) kernel##_skip_bf16
#define ELEMENT ndr_bf16
#define INDEX uint16_t
#define INFINITE 0x7f80
#define WIDEN convert_bf16_f32
#define FLOAT_OF(x) f32_of_bf16(x)
#define LOAD_REAL load_f64_bf16
#include "cpu/fold/dtype/half.h"

#define GATHER(function) gather_8_##function
#define UNPACK(half) WIDE_UNPACK(half, epi8)
#define BITS uint8_t
#define SIDE 16
#define LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#include "cpu/fold/gather.h"
#define GATHER(function) gather_16_##function
#define UNPACK(half) WIDE_UNPACK(half, epi16)
#define BITS uint16_t
#define SIDE 8
#define LOW 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH 4, 12, 5, 13, 6, 14, 7, 15
#include "cpu/fold/gather.h"
#define GATHER(function) gather_32_##function
#define UNPACK(half) WIDE_UNPACK(half, epi32)
#define BITS uint32_t
#define SIDE 4
#define LOW 0, 4, 1, 5
#define HIGH 2, 6, 3, 7
#include "cpu/fold/gather.h"
#define GATHER(function) gather_64_##function
#define UNPACK(half) WIDE_UNPACK(half, epi64)
#define BITS uint64_t
#define SIDE 2
#define LOW 0, 2
#define HIGH 1, 3
#include "cpu/fold/gather.h"

/* Behind gather.h, whose transpositions it uses. */
#include "cpu/fold/across/across_table.h"

#include "cpu/fold/factors/masked.h"

#include "cpu/fold/factors/factors_table.h"
#include "cpu/fold/step/step.h"
#include "cpu/fold/step/step_table.h"

static void gather_128_tile(const void *source, int64_t row_stride, int64_t lane_stride, void *target, int64_t rows,
                            int64_t lanes, int64_t ahead) {
  const ndr_c128 *from = source;
  ndr_c128 *to = target;
  for (int64_t row = 0; row < rows; row++) {
    for (int64_t l = 0; l < lanes; l++) to[row * lanes + l] = from[row * row_stride + l * lane_stride];
    if (ahead && (row % 4 == 0 || row_stride > 1))
      prefetch_lanes(from + row * row_stride, lane_stride * (int64_t)sizeof *to, lanes, ahead);
  }
}

#define TRUTH_KERNELS(name, plain) [NDR_ANY] = any_##name, [NDR_ALL] = all_##plain, [NDR_COUNT] = count_##name
#define MOMENTS_KERNELS(name) [NDR_VAR] = var_##name, [NDR_STD] = var_##name, [NDR_NORM2] = norm2_##name
#define INTEGER_KERNELS(name)                                                                                          \
  TRUTH_KERNELS(name, name), [NDR_SUM] = sum_##name, [NDR_PROD] = prod_##name, [NDR_MIN] = min_##name,                 \
                             [NDR_MAX] = max_##name, [NDR_ARGMIN] = argmin_##name, [NDR_ARGMAX] = argmax_##name,       \
                             [NDR_PTP] = ptp_##name, [NDR_VALID] = valid_integer, [NDR_MEAN] = mean_##name,            \
                             MOMENTS_KERNELS(name)
#define BOOL_KERNELS                                                                                                   \
  TRUTH_KERNELS(u8, u8), [NDR_SUM] = count_u8, [NDR_PROD] = all_u8, [NDR_MIN] = all_u8, [NDR_MAX] = any_u8,            \
                         [NDR_VALID] = valid_integer, [NDR_MEAN] = mean_bool, MOMENTS_KERNELS(bool)
#define HALF_KERNELS(name, plain)                                                                                      \
  TRUTH_KERNELS(name, plain), [NDR_VALID] = valid_##plain, [NDR_SUM] = sum_##name, [NDR_MEAN] = mean_##name
#define RANKED_KERNELS(name, plain)                                                                                    \
  HALF_KERNELS(name, plain),                                                                                           \
      MOMENTS_KERNELS(name), [NDR_MIN] = min_##name, [NDR_MAX] = max_##name, [NDR_PTP] = ptp_##name,                   \
                             [NDR_ARGMIN] = argmin_##name, [NDR_ARGMAX] = argmax_##name
#define COMPLEX_KERNELS(name, plain)                                                                                   \
  HALF_KERNELS(name, plain), [NDR_PROD] = prod_##name,                                                                 \
                             MOMENTS_KERNELS(name), [NDR_NORM1] = norm1_##name, [NDR_NORMINF] = norminf_##name
#define FLOAT_KERNELS(name, plain)                                                                                     \
  COMPLEX_KERNELS(name, plain), [NDR_MIN] = min_##name, [NDR_MAX] = max_##name, [NDR_ARGMIN] = argmin_##name,          \
                                [NDR_ARGMAX] = argmax_##name, [NDR_PTP] = ptp_##name,                                  \
                                [NDR_LOGSUMEXP] = logsumexp_##name

#define ACROSS_KERNELS(name)                                                                                           \
  {                                                                                                                    \
    [NDR_SUM] = across_sum_##name, [NDR_MEAN] = across_mean_##name, [NDR_NORM2] = across_norm2_##name,                 \
    [NDR_MIN] = across_min_##name, [NDR_MAX] = across_max_##name, [NDR_VAR] = across_var_##name,                       \
    [NDR_STD] = across_var_##name                                                                                      \
  }

/* The kernels of listed.h or turned.h, by `kind`. */
#define LABEL_KERNELS(kind, name)                                                                                      \
  {                                                                                                                    \
    [NDR_SUM] = across_##kind##_sum_##name, [NDR_MEAN] = across_##kind##_mean_##name,                                  \
    [NDR_NORM2] = across_##kind##_norm2_##name, [NDR_MIN] = across_##kind##_min_##name,                                \
    [NDR_MAX] = across_##kind##_max_##name                                                                             \
  }
#define LABEL_DTYPES(kind)                                                                                             \
  {                                                                                                                    \
    [NDR_I32] = LABEL_KERNELS(kind, i32), [NDR_I64] = LABEL_KERNELS(kind, i64), [NDR_U32] = LABEL_KERNELS(kind, u32),  \
    [NDR_U64] = LABEL_KERNELS(kind, u64), [NDR_F16] = LABEL_KERNELS(kind, f16),                                        \
    [NDR_BF16] = LABEL_KERNELS(kind, bf16), [NDR_F32] = LABEL_KERNELS(kind, f32), [NDR_F64] = LABEL_KERNELS(kind, f64) \
  }

#define ACROSS_COMPLEX(name)                                                                                           \
  { [NDR_SUM] = across_sum_##name, [NDR_MEAN] = across_mean_##name, [NDR_NORM2] = across_norm2_##name }

#define ALONG_TRUTH(name) [NDR_ANY] = along_any_##name, [NDR_ALL] = along_all_##name, [NDR_COUNT] = along_count_##name
#define ALONG_INTEGERS(name)                                                                                           \
  ALONG_TRUTH(name), [NDR_MIN] = along_min_##name, [NDR_MAX] = along_max_##name, [NDR_PTP] = along_ptp_##name,         \
                     [NDR_ARGMIN] = along_argmin_##name, [NDR_ARGMAX] = along_argmax_##name
#define ALONG_SHORT(name) ALONG_INTEGERS(name), [NDR_VAR] = along_var_##name, [NDR_STD] = along_var_##name
#define ALONG_FLOATS(name) ALONG_INTEGERS(name), [NDR_VALID] = along_valid_##name
#define ALONG_COMPLEX(name) ALONG_TRUTH(name), [NDR_VALID] = along_valid_##name

#ifdef __AVX2__
#define ACROSS_BOOL                                                                                                    \
  { [NDR_SUM] = across_sum_bool, [NDR_COUNT] = across_sum_bool, [NDR_MEAN] = across_mean_bool }
#else
#define ACROSS_BOOL                                                                                                    \
  { NULL }
#endif

#define TO_SIZES(name8, name16, name32, name64)                                                                        \
  [NDR_I8] = name8, [NDR_U8] = name8, [NDR_I16] = name16, [NDR_U16] = name16, [NDR_I32] = name32, [NDR_U32] = name32,  \
  [NDR_I64] = name64, [NDR_U64] = name64

static const ndr_isa isa = {
    .name = ISA_NAME,
    .fold = {{[NDR_BOOL] = {BOOL_KERNELS},
              [NDR_I8] = {INTEGER_KERNELS(i8)},
              [NDR_I16] = {INTEGER_KERNELS(i16)},
              [NDR_I32] = {INTEGER_KERNELS(i32)},
              [NDR_I64] = {INTEGER_KERNELS(i64)},
              [NDR_U8] = {INTEGER_KERNELS(u8)},
              [NDR_U16] = {INTEGER_KERNELS(u16)},
              [NDR_U32] = {INTEGER_KERNELS(u32)},
              [NDR_U64] = {INTEGER_KERNELS(u64)},
              [NDR_F16] = {RANKED_KERNELS(f16, f16)},
              [NDR_BF16] = {RANKED_KERNELS(bf16, bf16)},
              [NDR_F32] = {FLOAT_KERNELS(f32, f32)},
              [NDR_F64] = {FLOAT_KERNELS(f64, f64)},
              [NDR_C64] = {COMPLEX_KERNELS(c64, c64)},
              [NDR_C128] = {COMPLEX_KERNELS(c128, c128)}},
             {[NDR_F16] = {RANKED_KERNELS(skip_f16, f16)},
              [NDR_BF16] = {RANKED_KERNELS(skip_bf16, bf16)},
              [NDR_F32] = {FLOAT_KERNELS(skip_f32, f32)},
              [NDR_F64] = {FLOAT_KERNELS(skip_f64, f64)},
              [NDR_C64] = {COMPLEX_KERNELS(skip_c64, c64)},
              [NDR_C128] = {COMPLEX_KERNELS(skip_c128, c128)}}},
    .across = {[NDR_BOOL] = ACROSS_BOOL,
               [NDR_I8] = ACROSS_KERNELS(i8),
               [NDR_I16] = ACROSS_KERNELS(i16),
               [NDR_I32] = ACROSS_KERNELS(i32),
               [NDR_I64] = ACROSS_KERNELS(i64),
               [NDR_U8] = ACROSS_KERNELS(u8),
               [NDR_U16] = ACROSS_KERNELS(u16),
               [NDR_U32] = ACROSS_KERNELS(u32),
               [NDR_U64] = ACROSS_KERNELS(u64),
               [NDR_F16] = ACROSS_KERNELS(f16),
               [NDR_BF16] = ACROSS_KERNELS(bf16),
               [NDR_F32] = ACROSS_KERNELS(f32),
               [NDR_F64] = ACROSS_KERNELS(f64),
               [NDR_C64] = ACROSS_COMPLEX(c64),
               [NDR_C128] = ACROSS_COMPLEX(c128)},
    .listed = LABEL_DTYPES(listed),
    .turned = LABEL_DTYPES(turned),
    .along = {[NDR_BOOL] = {ALONG_TRUTH(u8)},
              [NDR_I8] = {ALONG_SHORT(i8)},
              [NDR_I16] = {ALONG_SHORT(i16)},
              [NDR_I32] = {ALONG_INTEGERS(i32)},
              [NDR_I64] = {ALONG_INTEGERS(i64)},
              [NDR_U8] = {ALONG_SHORT(u8)},
              [NDR_U16] = {ALONG_SHORT(u16)},
              [NDR_U32] = {ALONG_INTEGERS(u32)},
              [NDR_U64] = {ALONG_INTEGERS(u64)},
              [NDR_F16] = {ALONG_FLOATS(f16)},
              [NDR_BF16] = {ALONG_FLOATS(bf16)},
              [NDR_F32] = {ALONG_FLOATS(f32)},
              [NDR_F64] = {ALONG_FLOATS(f64)},
              [NDR_C64] = {ALONG_COMPLEX(c64)},
              [NDR_C128] = {ALONG_COMPLEX(c128)}},
    .gather = {gather_8_tile, gather_16_tile, gather_32_tile, gather_64_tile, gather_128_tile},
    .turn = {gather_8_turn, gather_16_turn, gather_32_turn, gather_64_turn, NULL},
    .convert =
        {[NDR_BOOL] = {[NDR_U8] = convert_bool_u8, [NDR_F32] = convert_bool_f32, [NDR_F64] = convert_bool_f64},
         [NDR_I8] = {TO_SIZES(NULL, convert_i8_16, convert_i8_32, convert_i8_64), [NDR_BOOL] = convert_bool_u8,
                     [NDR_F32] = convert_i8_f32, [NDR_F64] = convert_i8_f64},
         [NDR_I16] = {TO_SIZES(convert_n16_8, NULL, convert_i16_32, convert_i16_64), [NDR_BOOL] = convert_n16_bool,
                      [NDR_F32] = convert_i16_f32, [NDR_F64] = convert_i16_f64},
         [NDR_I32] = {TO_SIZES(convert_n32_8, convert_n32_16, NULL, convert_i32_64), [NDR_BOOL] = convert_n32_bool,
                      [NDR_F32] = convert_i32_f32, [NDR_F64] = convert_i32_f64},
         [NDR_I64] = {TO_SIZES(convert_n64_8, convert_n64_16, convert_n64_32, NULL), [NDR_BOOL] = convert_n64_bool,
                      [NDR_F32] = convert_i64_f32, [NDR_F64] = convert_i64_f64},
         [NDR_U8] = {TO_SIZES(NULL, convert_u8_16, convert_u8_32, convert_u8_64), [NDR_BOOL] = convert_bool_u8,
                     [NDR_F32] = convert_u8_f32, [NDR_F64] = convert_u8_f64},
         [NDR_U16] = {TO_SIZES(convert_n16_8, NULL, convert_u16_32, convert_u16_64), [NDR_BOOL] = convert_n16_bool,
                      [NDR_F32] = convert_u16_f32, [NDR_F64] = convert_u16_f64},
         [NDR_U32] = {TO_SIZES(convert_n32_8, convert_n32_16, NULL, convert_u32_64), [NDR_BOOL] = convert_n32_bool,
                      [NDR_F32] = convert_u32_f32, [NDR_F64] = convert_u32_f64},
         [NDR_U64] = {TO_SIZES(convert_n64_8, convert_n64_16, convert_n64_32, NULL), [NDR_BOOL] = convert_n64_bool,
                      [NDR_F32] = convert_u64_f32, [NDR_F64] = convert_u64_f64},
         [NDR_F16] = {[NDR_F32] = convert_f16_f32},
         [NDR_BF16] = {[NDR_F32] = convert_bf16_f32},
         [NDR_F32] = {[NDR_BOOL] = convert_f32_bool, [NDR_F64] = convert_f32_f64, [NDR_C64] = convert_f32_c64},
         [NDR_F64] = {[NDR_BOOL] = convert_f64_bool,
                      [NDR_I64] = convert_f64_i64,
                      [NDR_U64] = convert_f64_u64,
                      [NDR_F32] = convert_f64_f32,
                      [NDR_C128] = convert_f64_c128},
         [NDR_C64] = {[NDR_BOOL] = convert_c64_bool, [NDR_F32] = convert_c64_f32, [NDR_C128] = convert_c64_c128},
         [NDR_C128] = {[NDR_BOOL] = convert_c128_bool, [NDR_F64] = convert_c128_f64, [NDR_C64] = convert_c128_c64}},
    .step = STEP_TABLE,
    .weighted = {{[NDR_WEIGHT_F32_F32] = FACTORS_KERNELS(WEIGHTED_F32),
                  [NDR_WEIGHT_F32_F64] = FACTORS_KERNELS(WEIGHTED_F32_F64),
                  [NDR_WEIGHT_F64_F64] = FACTORS_KERNELS(WEIGHTED_F64)},
                 {[NDR_WEIGHT_F32_F32] = FACTORS_KERNELS(SKIPPING_F32),
                  [NDR_WEIGHT_F32_F64] = FACTORS_KERNELS(SKIPPING_F32_F64),
                  [NDR_WEIGHT_F64_F64] = FACTORS_KERNELS(SKIPPING_F64)}},
    .masked = {[NDR_F32] = FACTORS_KERNELS(MASKED_F32), [NDR_F64] = FACTORS_KERNELS(MASKED_F64)},
    .product = {[NDR_F32] = product_sum_f32, [NDR_F64] = weighted_sum_f64},
    .squared_difference = {[NDR_F32] = squared_difference_sum_f32, [NDR_F64] = squared_difference_sum_f64},
    .count_compared = {[NDR_F32] = COMPARED_KERNELS(COUNT_F32), [NDR_F64] = COMPARED_KERNELS(COUNT_F64)},
#ifdef RUN_PART
    .reads_in_order = true,
#endif
    .complex_moments = {moments_c128, moments_squares_c128},
    .masked_argument = {{[NDR_I64] = masked_argmin_i64, [NDR_U64] = masked_argmin_u64, [NDR_F64] = masked_argmin_f64},
                        {[NDR_I64] = masked_argmax_i64, [NDR_U64] = masked_argmax_u64, [NDR_F64] = masked_argmax_f64}},
    .join = join_of,
    .finish = finish,
};
