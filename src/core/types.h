/* Facts about dtypes and operators, from src/spec. No function here fails for a valid enumerator. */
#ifndef NDR_CORE_TYPES_H
#define NDR_CORE_TYPES_H

#include <stdbool.h>

#include "core/status.h"

typedef uint16_t ndr_f16;
typedef uint16_t ndr_bf16;
typedef struct ndr_c64 {
  float re, im;
} ndr_c64;
typedef struct ndr_c128 {
  double re, im;
} ndr_c128;

typedef enum ndr_class { NDR_CLASS_BOOL, NDR_CLASS_INT, NDR_CLASS_UINT, NDR_CLASS_FLOAT, NDR_CLASS_COMPLEX } ndr_class;

/* A DLPack device type as messages name it, "cuda"; "unknown" for a number that DLPack does not know. */
const char *ndr_device_type_name(DLDeviceType type);

/* What merging two states of an operator does: the column `combine` of ops.def. */
typedef enum ndr_combine {
  NDR_COMBINE_ADD,
  NDR_COMBINE_ADD_REAL,
  NDR_COMBINE_COUNT,
  NDR_COMBINE_MULTIPLY,
  NDR_COMBINE_EXTREME,
  NDR_COMBINE_EXTREMES,
  NDR_COMBINE_MOMENTS,
  NDR_COMBINE_LOGSUMEXP,
  NDR_COMBINE_OR,
  NDR_COMBINE_AND
} ndr_combine;

bool ndr_dtype_valid(ndr_dtype dtype);
ndr_class ndr_dtype_class(ndr_dtype dtype);
/* Whether elements may be NaN: floats and complex. The others are integers, bool too. */
bool ndr_dtype_is_float(ndr_dtype dtype);
bool ndr_dtype_is_integer(ndr_dtype dtype);
bool ndr_dtype_is_signed(ndr_dtype dtype); /* of integers */
bool ndr_dtype_is_complex(ndr_dtype dtype);
/* The dtype of a complex dtype's parts; others stay. */
ndr_dtype ndr_dtype_real(ndr_dtype dtype);
/* The dtype of the most bits of its kind, in which totals are computed: i64, u64 (of bool, too), f64, c128. */
ndr_dtype ndr_dtype_widest(ndr_dtype dtype);

/* All names, for errors: "sum, prod, min". */
const char *ndr_dtype_names(void);
const char *ndr_op_names(void);

/* Bytes that an element's address must be a multiple of: its size, or half of it for complex. */
size_t ndr_dtype_alignment(ndr_dtype dtype);

/* Whether op is a built-in operator, or one of one's own that has not been destroyed. */
bool ndr_op_valid(ndr_op op);
/* Whether a number is one of those that operators of one's own have. */
static inline bool ndr_op_is_own(ndr_op op) {
  return (int)op >= NDR_OWN_OPS && (int)op < NDR_OWN_OPS_END;
}

/* NDR_OK, or NDR_ERR_OP with the reason: op is not defined for dtype. */
ndr_status ndr_op_check(ndr_op op, ndr_dtype dtype);
ndr_dtype ndr_op_result(ndr_op op, ndr_dtype dtype);
/* Whether op has a value over no elements, as operators of one's own have. */
bool ndr_op_has_empty(ndr_op op);
ndr_combine ndr_op_combine(ndr_op op);
/* Whether the result is the index of an element (argmin, argmax). */
bool ndr_op_is_index(ndr_op op);
/* Whether only counts that elements are nonzero, or NaN. */
bool ndr_op_is_truth(ndr_op op);
/* Whether it has a scan, as all operators of one's own have. */
bool ndr_op_scans(ndr_op op);
/* Whether integers are reduced to floats. */
bool ndr_op_is_real(ndr_op op);
/* Whether the result depends on how sums are rounded while accumulating. */
bool ndr_op_rounds(ndr_op op);

/* IEEE binary16 and bfloat16 to and from f32/f64, round to nearest even; NaN stays NaN. */
float ndr_f16_to_float(ndr_f16 bits);
ndr_f16 ndr_f16_from_double(double value);
float ndr_bf16_to_float(ndr_bf16 bits);
ndr_bf16 ndr_bf16_from_double(double value);

#endif
