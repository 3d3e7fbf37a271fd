/* Template: all loops of totals.c for one instruction set. Needs ISA, the attribute that chooses it, and IN(name),
 * which makes names of their own. */

#define NAME(loop) IN(loop##_i8)
#define ELEMENT int8_t
#define STORED uint8_t
#define NATIVE(bits) (bits)
#define MEMBER i
#include "h5/read/unpack/totals_loops.h"
#define NAME(loop) IN(loop##_u8)
#define ELEMENT uint8_t
#define STORED uint8_t
#define NATIVE(bits) (bits)
#define MEMBER u
#include "h5/read/unpack/totals_loops.h"
#define NAME(loop) IN(loop##_i16)
#define ELEMENT int16_t
#define STORED stored16
#define NATIVE(bits) (bits)
#define MEMBER i
#include "h5/read/unpack/totals_loops.h"
#define NAME(loop) IN(loop##_u16)
#define ELEMENT uint16_t
#define STORED stored16
#define NATIVE(bits) (bits)
#define MEMBER u
#include "h5/read/unpack/totals_loops.h"
#define NAME(loop) IN(loop##_i16_swapped)
#define ELEMENT int16_t
#define STORED stored16
#define NATIVE(bits) __builtin_bswap16(bits)
#define MEMBER i
#include "h5/read/unpack/totals_loops.h"
#define NAME(loop) IN(loop##_u16_swapped)
#define ELEMENT uint16_t
#define STORED stored16
#define NATIVE(bits) __builtin_bswap16(bits)
#define MEMBER u
#include "h5/read/unpack/totals_loops.h"

static const loops IN(loops)[NDR_DTYPE_COUNT][2] = {
    [NDR_I8] = {{IN(rows_i8), IN(run_i8)}, {IN(rows_i8), IN(run_i8)}},
    [NDR_U8] = {{IN(rows_u8), IN(run_u8)}, {IN(rows_u8), IN(run_u8)}},
    [NDR_I16] = {{IN(rows_i16), IN(run_i16)}, {IN(rows_i16_swapped), IN(run_i16_swapped)}},
    [NDR_U16] = {{IN(rows_u16), IN(run_u16)}, {IN(rows_u16_swapped), IN(run_u16_swapped)}},
};

#undef ISA
#undef IN
