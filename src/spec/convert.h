/* The argument of the kernels that convert stored elements: shared by the C that fills it in and the CUDA that reads
 * it.
 */
#ifndef NDR_SPEC_CONVERT_H
#define NDR_SPEC_CONVERT_H

#define NDR_CONVERT_AXES 32
#define NDR_CONVERT_MISSING 16

#define NDR_CONVERT_THREADS 256 /* a block */

/* What an element becomes: what it is; that, or NaN where it is missing; or the f64 that it means. */
#define NDR_CONVERT_COPY 0
#define NDR_CONVERT_MARK 1
#define NDR_CONVERT_WIDEN 2

/* n / by is (n * magic) >> (32 + shift) for n < 2^31 as in params.h, and n where magic is 0. */
typedef struct ndr_convert_divisor {
  unsigned by, magic, shift;
} ndr_convert_divisor;

/* One axis of the array. Strides count elements: along the axis inside a chunk, and from one chunk to the next. */
typedef struct ndr_convert_axis {
  ndr_convert_divisor size, chunk;
  unsigned lead, stride, grid;
} ndr_convert_axis;

/* Numbers that elements are compared with: i64 of signed integers, u64 of unsigned ones, f64 of floats, as bits. */
typedef struct ndr_convert_params {
  const void *from;
  void *to;
  unsigned count; /* elements of the array */
  unsigned plane; /* elements of a chunk, whose bytes lie in planes; 0: they do not */
  int flip;       /* byte b of an element is stored as byte b ^ flip */
  int way;        /* NDR_CONVERT_... */
  int missing_count, ranged;
  unsigned long long missing[NDR_CONVERT_MISSING], least, most;
  double scale, offset;
  int axis_count;
  ndr_convert_axis axes[NDR_CONVERT_AXES]; /* innermost first */
} ndr_convert_params;

#endif
