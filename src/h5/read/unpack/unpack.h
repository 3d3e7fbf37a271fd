/* How elements as a file stores them become those that are reduced: byte order, missing values, packing. Knows nothing
 * of HDF5. */
#ifndef NDR_H5_READ_UNPACK_H
#define NDR_H5_READ_UNPACK_H

#include <stdbool.h>
#include <stdint.h>

#include "ndreduce/device.h"

/* Real files have one or two. */
#define NDR_UNPACK_MISSING NDR_STORED_MISSING

typedef struct ndr_unpack {
  /* The dtype whose bits are stored, and the one that is reduced: the same, or f64. Under masked or scaled, `from` is a
   * real number and `to` f64 or the same float. */
  ndr_dtype from, to;
  /* Stored bytes are elements of `from`, byte order apart, so that they may be unpacked as they are. Else only H5Dread
   * makes elements of `from` out of them: odd widths and offsets, floats wider than f64, VAX order. What H5Dread has
   * delivered is in native order, whatever `swap` says. */
  bool direct;
  bool swap; /* the file's byte order is not the machine's */
  /* Missing elements, and so every NaN, come out as NaN, to be left out: those equal to one of missing[], and under
   * `ranged` those outside least..most. */
  bool masked;
  bool ranged;
  ndr_packed least, most;
  int missing_count;
  ndr_packed missing[NDR_UNPACK_MISSING];
  bool scaled;
  double scale, offset; /* element * scale + offset, two roundings in f64; 1 and 0 where not scaled */
} ndr_unpack;

/* Elements of dtype that are reduced as stored. */
#define NDR_UNPACK_INIT(dtype)                                                                                         \
  { .from = (dtype), .to = (dtype), .direct = true, .scale = 1 }

/* Whether a mask leaves out more than the NaN that are in the data anyway. */
bool ndr_unpack_marks(const ndr_unpack *unpack);

/* Whether the bytes are taken as they are: no byte order, mask or scale to apply. */
bool ndr_unpack_copies(const ndr_unpack *unpack);

/* The same after H5Dread, which has set the byte order right. */
ndr_unpack ndr_unpack_native(const ndr_unpack *unpack);

/* Unpacks `count` elements that are `step` elements apart (any number), the first at `from`, into compact `to`. `from`
 * needs no alignment, `to` that of its dtype. They must not overlap, except that for step 1 the elements may lie at the
 * end of the room that they are unpacked into: from + count * bytes of `from` = to + count * bytes of `to`. */
void ndr_unpack_run(const ndr_unpack *unpack, const void *from, int64_t step, void *to, int64_t count);

#endif
