/* The common dtype of two operands. */
#ifndef NDR_LANG_PROMOTE_H
#define NDR_LANG_PROMOTE_H

#include "core/types.h"

/* NumPy's promotion of two dtypes; f16 and bf16 give f32. */
ndr_dtype ndr_dtype_promote(ndr_dtype a, ndr_dtype b);

#endif
