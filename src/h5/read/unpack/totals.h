/* Sums and counts of packed integers, as they are stored: the elements are added up as integers, and only their sum is
 * unpacked. So a sum of elements * scale + offset is rounded three times, however many elements there are. All
 * instruction sets give the same bits. */
#ifndef NDR_H5_READ_TOTALS_H
#define NDR_H5_READ_TOTALS_H

#include "h5/read/unpack/unpack.h"

/* The most lanes that are added up at a time: their accumulators stay in the first-level cache. */
#define NDR_TOTALS_LANES 1024

/* Whether elements are integers of up to 16 bits that are unpacked to f64, with no more missing values than there are
 * loops for, and with a scale and an offset that are finite and so small that no sum overflows. */
bool ndr_unpack_has_totals(const ndr_unpack *unpack);

/* Adds up each lane of `rows` rows, which are `step` elements apart and have up to NDR_TOTALS_LANES lanes. The first
 * row begins at `from`, which needs no alignment. Adds the stored integers that are not missing to sums[lane], and
 * their number to counts[lane]. Exact while both are below 2^53. */
void ndr_totals_add_rows(const ndr_unpack *unpack, const void *from, int64_t step, int64_t rows, int64_t lanes,
                         double *sums, double *counts);

/* The same for one lane, whose `count` elements are neighbours. */
void ndr_totals_add_run(const ndr_unpack *unpack, const void *from, int64_t count, double *sum, double *counted);

/* Makes sums of stored integers sums of what these stand for: sums[lane] * scale + counts[lane] * offset. */
void ndr_totals_unpack(const ndr_unpack *unpack, int64_t lanes, double *sums, const double *counts);

#endif
