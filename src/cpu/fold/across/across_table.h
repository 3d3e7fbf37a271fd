/* Template: the kernels of across.h for every dtype. */
#include "cpu/fold/across/turn.h"

#ifdef __AVX2__
#include "cpu/fold/across/narrow_table.h"
#define NARROW
#endif
#define NAME(kernel) across_##kernel##_i8
#define ELEMENT int8_t
#define VALUES i64x8
#define LOAD_VALUES load_i64_i8
#define ADD(a, b) ((i64_part)((u64_part)(a) + (u64_part)(b)))
#define NOT_A_NUMBER(v) 0
#define LEAST INT64_MIN
#define MOST INT64_MAX
#define LOAD_REAL load_f64_i8
#define JOIN_ADD join_add_int
#define JOIN_VALUE(kernel) join_##kernel##_i64
#include "cpu/fold/across/across_ops.h"
#define NAME(kernel) across_##kernel##_i16
#define ELEMENT int16_t
#define VALUES i64x8
#define LOAD_VALUES load_i64_i16
#define ADD(a, b) ((i64_part)((u64_part)(a) + (u64_part)(b)))
#define NOT_A_NUMBER(v) 0
#define LEAST INT64_MIN
#define MOST INT64_MAX
#define LOAD_REAL load_f64_i16
#define JOIN_ADD join_add_int
#define JOIN_VALUE(kernel) join_##kernel##_i64
#include "cpu/fold/across/across_ops.h"
#define NAME(kernel) across_##kernel##_u8
#define ELEMENT uint8_t
#define VALUES u64x8
#define LOAD_VALUES load_u64_u8
#define ADD(a, b) ((a) + (b))
#define NOT_A_NUMBER(v) 0
#define LEAST 0
#define MOST UINT64_MAX
#define LOAD_REAL load_f64_u8
#define JOIN_ADD join_add_int
#define JOIN_VALUE(kernel) join_##kernel##_u64
#include "cpu/fold/across/across_ops.h"
#define NAME(kernel) across_##kernel##_u16
#define ELEMENT uint16_t
#define VALUES u64x8
#define LOAD_VALUES load_u64_u16
#define ADD(a, b) ((a) + (b))
#define NOT_A_NUMBER(v) 0
#define LEAST 0
#define MOST UINT64_MAX
#define LOAD_REAL load_f64_u16
#define JOIN_ADD join_add_int
#define JOIN_VALUE(kernel) join_##kernel##_u64
#include "cpu/fold/across/across_ops.h"
#undef NARROW

#define NAME(kernel) across_##kernel##_i32
#define TURN turn_eight_32
#define ELEMENT int32_t
#define VALUES i64x8
#define LOAD_VALUES load_i64_i32
#define ADD(a, b) ((i64_part)((u64_part)(a) + (u64_part)(b)))
#define NOT_A_NUMBER(v) 0
#define LEAST INT64_MIN
#define MOST INT64_MAX
#define LOAD_REAL load_f64_i32
#define JOIN_ADD join_add_int
#define JOIN_VALUE(kernel) join_##kernel##_i64
#include "cpu/fold/across/across_ops.h"
#define NAME(kernel) across_##kernel##_i64
#define TURN turn_eight_64
#define ELEMENT int64_t
#define VALUES i64x8
#define LOAD_VALUES load_i64_i64
#define ADD(a, b) ((i64_part)((u64_part)(a) + (u64_part)(b)))
#define NOT_A_NUMBER(v) 0
#define LEAST INT64_MIN
#define MOST INT64_MAX
#define LOAD_REAL load_f64_i64
#define JOIN_ADD join_add_int
#define JOIN_VALUE(kernel) join_##kernel##_i64
#include "cpu/fold/across/across_ops.h"
#define NAME(kernel) across_##kernel##_u32
#define TURN turn_eight_32
#define ELEMENT uint32_t
#define VALUES u64x8
#define LOAD_VALUES load_u64_u32
#define ADD(a, b) ((a) + (b))
#define NOT_A_NUMBER(v) 0
#define LEAST 0
#define MOST UINT64_MAX
#define LOAD_REAL load_f64_u32
#define JOIN_ADD join_add_int
#define JOIN_VALUE(kernel) join_##kernel##_u64
#include "cpu/fold/across/across_ops.h"
#define NAME(kernel) across_##kernel##_u64
#define TURN turn_eight_64
#define ELEMENT uint64_t
#define VALUES u64x8
#define LOAD_VALUES load_u64_u64
#define ADD(a, b) ((a) + (b))
#define NOT_A_NUMBER(v) 0
#define LEAST 0
#define MOST UINT64_MAX
#define LOAD_REAL load_f64_u64
#define JOIN_ADD join_add_int
#define JOIN_VALUE(kernel) join_##kernel##_u64
#include "cpu/fold/across/across_ops.h"
#define NAME(kernel) across_##kernel##_f16
#define TURN turn_eight_16
#define ELEMENT ndr_f16
#define VALUES f64x8
#define LOAD_VALUES load_f64_f16
#define ADD(a, b) ((a) + (b))
#define NOT_A_NUMBER(v) ((v) != (v))
#define LEAST -(double)INFINITY
#define MOST (double)INFINITY
#define LOAD_REAL load_f64_f16
#define JOIN_ADD join_add
#define JOIN_VALUE(kernel) join_##kernel##_f64
#include "cpu/fold/across/across_ops.h"
#define NAME(kernel) across_##kernel##_bf16
#define TURN turn_eight_16
#define ELEMENT ndr_bf16
#define VALUES f64x8
#define LOAD_VALUES load_f64_bf16
#define ADD(a, b) ((a) + (b))
#define NOT_A_NUMBER(v) ((v) != (v))
#define LEAST -(double)INFINITY
#define MOST (double)INFINITY
#define LOAD_REAL load_f64_bf16
#define JOIN_ADD join_add
#define JOIN_VALUE(kernel) join_##kernel##_f64
#include "cpu/fold/across/across_ops.h"
#define NAME(kernel) across_##kernel##_f32
#define TURN turn_eight_32
#define ELEMENT float
#define VALUES f64x8
#define LOAD_VALUES load_f64_f32
#define ADD(a, b) ((a) + (b))
#define NOT_A_NUMBER(v) ((v) != (v))
#define LEAST -(double)INFINITY
#define MOST (double)INFINITY
#define LOAD_REAL load_f64_f32
#define JOIN_ADD join_add
#define JOIN_VALUE(kernel) join_##kernel##_f64
#include "cpu/fold/across/across_ops.h"
#define NAME(kernel) across_##kernel##_f64
#define TURN turn_eight_64
#define ELEMENT double
#define VALUES f64x8
#define LOAD_VALUES load_f64_f64
#define ADD(a, b) ((a) + (b))
#define NOT_A_NUMBER(v) ((v) != (v))
#define LEAST -(double)INFINITY
#define MOST (double)INFINITY
#define LOAD_REAL load_f64_f64
#define JOIN_ADD join_add
#define JOIN_VALUE(kernel) join_##kernel##_f64
#include "cpu/fold/across/across_ops.h"

#define NAME(kernel) across_##kernel##_c64
#define PART float
#define NORM2_OF_PARTS across_norm2_f32
#define LOAD_REAL load_f64_f32
#include "cpu/fold/across/across_complex.h"
#define NAME(kernel) across_##kernel##_c128
#define PART double
#define NORM2_OF_PARTS across_norm2_f64
#define LOAD_REAL load_f64_f64
#include "cpu/fold/across/across_complex.h"
