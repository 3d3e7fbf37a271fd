/* Everything that is compiled once for each instruction set, into the ndr_scan_isa `isa`. */
#include "cpu/fold/lane.h"

#include "cpu/fold/f16.h"

#include "cpu/scan/loops.h"

#include "cpu/scan/convert.h"

#include "cpu/scan/combine.h"
#include "cpu/scan/stream.h"
#include "cpu/scan/transpose.h"

#define LOOPS(name)                                                                                                    \
  { merge_##name, fold_##name, join_##name, scan_##name, fold8_##name, join8_##name, scan8_##name }
#define WIDE_LOOPS(name)                                                                                               \
  { merge_##name, fold_##name, join_##name, scan_##name, NULL, NULL, NULL }
#define ORDERED(word, name) [word] = {[NDR_SCAN_MIN] = LOOPS(min_##name), [NDR_SCAN_MAX] = LOOPS(max_##name)}

static const ndr_scan_isa isa = {
    .load = {[NDR_BOOL] = {[NDR_U64] = load_bool_u64, [NDR_F64] = load_bool_f64},
             [NDR_I8] = {[NDR_U64] = load_i8_u64, [NDR_F64] = load_i8_f64, [NDR_I8] = load_8},
             [NDR_I16] = {[NDR_U64] = load_i16_u64, [NDR_F64] = load_i16_f64, [NDR_I16] = load_16},
             [NDR_I32] = {[NDR_U64] = load_i32_u64, [NDR_F64] = load_i32_f64, [NDR_I32] = load_32},
             [NDR_I64] = {[NDR_U64] = load_64, [NDR_F64] = load_i64_f64, [NDR_I64] = load_64},
             [NDR_U8] = {[NDR_U64] = load_u8_u64, [NDR_F64] = load_u8_f64, [NDR_U8] = load_8},
             [NDR_U16] = {[NDR_U64] = load_u16_u64, [NDR_F64] = load_u16_f64, [NDR_U16] = load_16},
             [NDR_U32] = {[NDR_U64] = load_u32_u64, [NDR_F64] = load_u32_f64, [NDR_U32] = load_32},
             [NDR_U64] = {[NDR_U64] = load_64, [NDR_F64] = load_u64_f64},
             [NDR_F16] = {[NDR_F64] = load_f16_f64, [NDR_F32] = load_f16_f32},
             [NDR_BF16] = {[NDR_F64] = load_bf16_f64, [NDR_F32] = load_bf16_f32},
             [NDR_F32] = {[NDR_F64] = load_f32_f64, [NDR_F32] = load_32},
             [NDR_F64] = {[NDR_F64] = load_64},
             [NDR_C64] = {[NDR_C128] = load_c64_c128},
             [NDR_C128] = {[NDR_C128] = load_c128}},
    .truth = {{load_truth_8, load_truth_8, load_truth_16, load_truth_32, load_truth_64, load_truth_8, load_truth_16,
               load_truth_32, load_truth_64, load_truth_f16, load_truth_f16, load_truth_f32, load_truth_f64,
               load_truth_c64, load_truth_c128},
              {load_truth_8, load_truth_8, load_truth_16, load_truth_32, load_truth_64, load_truth_8, load_truth_16,
               load_truth_32, load_truth_64, load_number_f16, load_number_bf16, load_number_f32, load_number_f64,
               load_number_c64, load_number_c128}},
    .store =
        {[NDR_U8] = {[NDR_BOOL] = store_8, [NDR_U8] = store_8},
         [NDR_I8] = {[NDR_I8] = store_8},
         [NDR_U16] = {[NDR_U16] = store_16},
         [NDR_I16] = {[NDR_I16] = store_16},
         [NDR_U32] = {[NDR_U32] = store_32},
         [NDR_I32] = {[NDR_I32] = store_32},
         [NDR_U64] = {[NDR_U64] = store_64, [NDR_I64] = store_64},
         [NDR_I64] = {[NDR_I64] = store_64},
         [NDR_F32] = {[NDR_F16] = store_f32_f16, [NDR_BF16] = store_f32_bf16, [NDR_F32] = store_32},
         [NDR_F64] =
             {[NDR_F16] = store_f64_f16, [NDR_BF16] = store_f64_bf16, [NDR_F32] = store_f64_f32, [NDR_F64] = store_64},
         [NDR_C128] = {[NDR_C64] = store_c128_c64, [NDR_C128] = store_c128}},
    .load_word = {load_8, load_16, load_32, load_64, load_c128},
    .move = {store_8, store_16, store_32, store_64, store_c128},
    .transpose = {transpose_8, transpose_16, transpose_32, transpose_64, transpose_128},
    .stream = stream,
    .fence = fence,
    .loops = {ORDERED(NDR_I8, i8), ORDERED(NDR_I16, i16), ORDERED(NDR_I32, i32), ORDERED(NDR_I64, i64),
              ORDERED(NDR_U8, u8), ORDERED(NDR_U16, u16), ORDERED(NDR_U32, u32),
              [NDR_U64] = {[NDR_SCAN_SUM] = LOOPS(sum_u64),
                           [NDR_SCAN_PROD] = LOOPS(prod_u64),
                           [NDR_SCAN_MIN] = LOOPS(min_u64),
                           [NDR_SCAN_MAX] = LOOPS(max_u64)},
              [NDR_F32] = {[NDR_SCAN_MIN] = LOOPS(min_f32),
                           [NDR_SCAN_MAX] = LOOPS(max_f32),
                           [NDR_SCAN_MIN_NUMBER] = LOOPS(min_number_f32),
                           [NDR_SCAN_MAX_NUMBER] = LOOPS(max_number_f32)},
              [NDR_F64] = {[NDR_SCAN_SUM] = LOOPS(sum_f64),
                           [NDR_SCAN_PROD] = LOOPS(prod_f64),
                           [NDR_SCAN_MIN] = LOOPS(min_f64),
                           [NDR_SCAN_MAX] = LOOPS(max_f64),
                           [NDR_SCAN_MIN_NUMBER] = LOOPS(min_number_f64),
                           [NDR_SCAN_MAX_NUMBER] = LOOPS(max_number_f64)},
              [NDR_C128] = {[NDR_SCAN_SUM] = LOOPS(sum_c128),
                            [NDR_SCAN_PROD] = WIDE_LOOPS(prod_c128),
                            [NDR_SCAN_PAIRS] = WIDE_LOOPS(pairs)}},
    .clean = {[NDR_F64] = clean_f64, [NDR_C128] = clean_c128},
    .make_pairs = make_pairs,
    .finish_pairs = finish_pairs,
};
