/* Facts about dtypes and operators, expanded from src/spec. Asking never fails for a valid enumerator. */
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

bool ndr_dtype_valid(ndr_dtype dtype);
bool ndr_op_valid(ndr_op op);
ndr_class ndr_dtype_class(ndr_dtype dtype);

/* Bytes that an element's address must be a multiple of: its size, or half of it for complex. */
size_t ndr_dtype_alignment(ndr_dtype dtype);

/* NDR_OK, or NDR_ERR_OP with the reason: op is not defined for dtype. */
ndr_status ndr_op_check(ndr_op op, ndr_dtype dtype);
ndr_dtype ndr_op_result(ndr_op op, ndr_dtype dtype);
/* Whether op has a value over no elements. */
bool ndr_op_has_empty(ndr_op op);
bool ndr_op_is_index(ndr_op op);

/* IEEE binary16 and bfloat16 to and from f32/f64, round to nearest even; NaN stays NaN. */
float ndr_f16_to_float(ndr_f16 bits);
ndr_f16 ndr_f16_from_double(double value);
float ndr_bf16_to_float(ndr_bf16 bits);
ndr_bf16 ndr_bf16_from_double(double value);

#endif
