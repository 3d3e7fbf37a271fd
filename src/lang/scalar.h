/* Single values of any dtype. */
#ifndef NDR_LANG_SCALAR_H
#define NDR_LANG_SCALAR_H

#include "core/types.h"

/* bool and unsigned integers are in u, signed ones in i, floats in re, complex in re and im. */
typedef struct ndr_scalar {
  ndr_dtype dtype;
  union {
    int64_t i;
    uint64_t u;
  };
  double re, im;
} ndr_scalar;

ndr_scalar ndr_scalar_load(ndr_dtype dtype, const void *data, int64_t element);
void ndr_scalar_store(ndr_scalar value, ndr_dtype dtype, void *data, int64_t element); /* rounds once */

/* An integer cut to the bits of its dtype, as its 64 bits; bool: whether it is not 0. */
int64_t ndr_integer_cut(int64_t value, ndr_dtype dtype);

/* Gives a computed value its dtype: rounds floats, and cuts integers to their bits. Not if `wide`: integers then keep
 * 64 bits, and floats f64. */
ndr_scalar ndr_scalar_settle(ndr_scalar value, ndr_dtype dtype, bool wide);
/* Converts as C does; to bool: whether it is not 0; of NaN and beyond an integer's limits: 0 and the limit. */
ndr_scalar ndr_scalar_convert(ndr_scalar value, ndr_dtype dtype, bool wide);

#endif
