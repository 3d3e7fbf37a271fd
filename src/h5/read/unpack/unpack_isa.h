/* Template: all loops of unpack.c for one instruction set. Needs ISA, the attribute that chooses it, and IN(name),
 * which makes names of their own. */

#define VALUE(x) ((x) != 0)
#define NAME(loop) IN(loop##_bool)
#define ELEMENT uint8_t
#define NUMBER uint8_t
#define MEMBER u
#include "h5/read/unpack/unpack_loops.h"
#define VALUE(x) (x)
#define NAME(loop) IN(loop##_i8)
#define ELEMENT int8_t
#define NUMBER int8_t
#define MEMBER i
#include "h5/read/unpack/unpack_loops.h"
#define VALUE(x) (x)
#define NAME(loop) IN(loop##_i16)
#define ELEMENT int16_t
#define NUMBER int16_t
#define MEMBER i
#include "h5/read/unpack/unpack_loops.h"
#define VALUE(x) (x)
#define NAME(loop) IN(loop##_i32)
#define ELEMENT int32_t
#define NUMBER int32_t
#define MEMBER i
#include "h5/read/unpack/unpack_loops.h"
#define VALUE(x) (x)
#define NAME(loop) IN(loop##_i64)
#define ELEMENT int64_t
#define NUMBER int64_t
#define MEMBER i
#include "h5/read/unpack/unpack_loops.h"
#define VALUE(x) (x)
#define NAME(loop) IN(loop##_u8)
#define ELEMENT uint8_t
#define NUMBER uint8_t
#define MEMBER u
#include "h5/read/unpack/unpack_loops.h"
#define VALUE(x) (x)
#define NAME(loop) IN(loop##_u16)
#define ELEMENT uint16_t
#define NUMBER uint16_t
#define MEMBER u
#include "h5/read/unpack/unpack_loops.h"
#define VALUE(x) (x)
#define NAME(loop) IN(loop##_u32)
#define ELEMENT uint32_t
#define NUMBER uint32_t
#define MEMBER u
#include "h5/read/unpack/unpack_loops.h"
#define VALUE(x) (x)
#define NAME(loop) IN(loop##_u64)
#define ELEMENT uint64_t
#define NUMBER uint64_t
#define MEMBER u
#include "h5/read/unpack/unpack_loops.h"
#define VALUE(x) f16_value(x)
#define NAME(loop) IN(loop##_f16)
#define ELEMENT uint16_t
#define NUMBER float
#define MEMBER f
#define SAME (uint16_t)0x7e00
#include "h5/read/unpack/unpack_loops.h"
#define VALUE(x) bf16_value(x)
#define NAME(loop) IN(loop##_bf16)
#define ELEMENT uint16_t
#define NUMBER float
#define MEMBER f
#define SAME (uint16_t)0x7fc0
#include "h5/read/unpack/unpack_loops.h"
#define VALUE(x) (x)
#define NAME(loop) IN(loop##_f32)
#define ELEMENT float
#define NUMBER float
#define MEMBER f
#define SAME (float)NAN
#include "h5/read/unpack/unpack_loops.h"
#define VALUE(x) (x)
#define NAME(loop) IN(loop##_f64)
#define ELEMENT double
#define NUMBER double
#define MEMBER f
#define SAME (double)NAN
#include "h5/read/unpack/unpack_loops.h"

static const widener IN(wideners)[NDR_DTYPE_COUNT] = {
    [NDR_BOOL] = IN(widen_bool), [NDR_I8] = IN(widen_i8),   [NDR_I16] = IN(widen_i16), [NDR_I32] = IN(widen_i32),
    [NDR_I64] = IN(widen_i64),   [NDR_U8] = IN(widen_u8),   [NDR_U16] = IN(widen_u16), [NDR_U32] = IN(widen_u32),
    [NDR_U64] = IN(widen_u64),   [NDR_F16] = IN(widen_f16), [NDR_F32] = IN(widen_f32), [NDR_BF16] = IN(widen_bf16),
    [NDR_F64] = IN(widen_f64),
};

static const masker IN(maskers)[NDR_DTYPE_COUNT] = {
    [NDR_F16] = IN(mask_f16), [NDR_BF16] = IN(mask_bf16), [NDR_F32] = IN(mask_f32), [NDR_F64] = IN(mask_f64)};

#define SWAP(bytes, type, swapped)                                                                                     \
  case bytes:                                                                                                          \
    for (int i = 0; i < count; i++) {                                                                                  \
      type bits;                                                                                                       \
      memcpy(&bits, data + (bytes)*i, bytes);                                                                          \
      bits = swapped(bits);                                                                                            \
      memcpy(data + (bytes)*i, &bits, bytes);                                                                          \
    }                                                                                                                  \
    break;

static ISA void IN(swap)(size_t bytes, unsigned char *data, int count) {
  switch (bytes) {
    SWAP(2, uint16_t, __builtin_bswap16)
    SWAP(4, uint32_t, __builtin_bswap32)
    SWAP(8, uint64_t, __builtin_bswap64)
  default: break;
  }
}

#undef SWAP
#undef ISA
#undef IN
