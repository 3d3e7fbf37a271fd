/* Numbers of attributes as numbers of a packed dtype, which elements are compared with. Pure arithmetic. */
#ifndef NDR_H5_CF_PACKED_H
#define NDR_H5_CF_PACKED_H

#include "h5/read/unpack/unpack.h"

/* A number in the widest dtype of its class: NDR_I64, NDR_U64 or NDR_F64. */
typedef struct ndr_number {
  ndr_dtype dtype;
  ndr_packed value;
} ndr_number;

double ndr_number_real(ndr_number number);

/* Converts the number to dtype, an integer or a float. False if an integer cannot hold it exactly: 1e20, 0.5 and NaN
 * are no i16. Floats round it to the nearest, because real files have 1e20 in f64 beside data in f32; but a finite
 * number must stay finite. */
bool ndr_number_pack(ndr_number number, ndr_dtype dtype, ndr_packed *packed);

/* The same where signed integers stand for the unsigned ones of `dtype` that have the same bits: -1 is the largest. A
 * number beyond the signed integers of that width stands for itself. */
bool ndr_number_pack_bits(ndr_number number, ndr_dtype dtype, ndr_packed *packed);

/* The smallest and the largest number of a dtype, infinities of floats. */
ndr_packed ndr_packed_least(ndr_dtype dtype);
ndr_packed ndr_packed_most(ndr_dtype dtype);

/* Which of two numbers of dtype is the larger: < 0, 0 or > 0, as strcmp. No NaN. */
int ndr_packed_compare(ndr_dtype dtype, ndr_packed a, ndr_packed b);

#endif
