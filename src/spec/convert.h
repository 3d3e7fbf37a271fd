/* The argument of the kernels that convert stored elements. C code fills it in, and CUDA code reads it. */
#ifndef NDR_SPEC_CONVERT_H
#define NDR_SPEC_CONVERT_H

#define NDR_CONVERT_AXES 32
#define NDR_CONVERT_MISSING 16

#define NDR_CONVERT_THREADS 256 /* of a block */

/* The values of `way`: what becomes of an element. */
#define NDR_CONVERT_COPY 0  /* it keeps its bits */
#define NDR_CONVERT_MARK 1  /* it becomes NaN if it is missing */
#define NDR_CONVERT_WIDEN 2 /* it becomes the f64 that it means, NaN if it is missing */

/* A divisor: n / by is (n * magic) >> (32 + shift) for n < 2^31, as in params.h. magic is 0 where `by` is 1. */
typedef struct ndr_convert_divisor {
  unsigned by, magic, shift;
} ndr_convert_divisor;

/* One axis of the array. */
typedef struct ndr_convert_axis {
  ndr_convert_divisor size, chunk;
  unsigned lead;   /* elements of the first chunk before the array begins */
  unsigned stride; /* elements from one index to the next inside a chunk */
  unsigned grid;   /* elements from one chunk to the next */
} ndr_convert_axis;

/* missing[], least and most hold the bits of i64 for signed integers, of u64 for unsigned ones, of f64 for floats. */
typedef struct ndr_convert_params {
  const void *from;
  void *to;
  unsigned count; /* elements of the array */
  unsigned plane; /* elements of a chunk if chunks are shuffled: each byte's plane has so many; else 0 */
  int flip;       /* byte b of an element is stored as byte b ^ flip */
  int way;        /* NDR_CONVERT_... */
  int missing_count, ranged;
  unsigned long long missing[NDR_CONVERT_MISSING], least, most;
  double scale, offset;
  int axis_count;
  ndr_convert_axis axes[NDR_CONVERT_AXES]; /* innermost first */
} ndr_convert_params;

#endif
