/* Sums and counts of packed integers, as they are stored: the elements are added up as integers, and their sum is
 * unpacked, not each of them. So a sum of elements * scale + offset is rounded three times, however many there are. */
#ifndef NDR_H5_READ_TOTALS_H
#define NDR_H5_READ_TOTALS_H

#include "h5/read/unpack/unpack.h"

/* The most lanes that are added up at a time: their accumulators stay in the first-level cache. */
#define NDR_TOTALS_LANES 1024

/* Whether elements are such integers, of up to 16 bits, and no sum of them overflows as an f64. */
bool ndr_unpack_has_totals(const ndr_unpack *unpack);

/* Adds rows of up to NDR_TOTALS_LANES lanes, `step` elements apart, of which the first begins at `from`, which needs no
 * alignment: to sums[] the stored integers that are not missing, to counts[] how many these are. Exact below 2^53. */
void ndr_totals_add_rows(const ndr_unpack *unpack, const void *from, int64_t step, int64_t rows, int64_t lanes,
                         double *sums, double *counts);

/* The same of one lane, whose elements are neighbours. */
void ndr_totals_add_run(const ndr_unpack *unpack, const void *from, int64_t count, double *sum, double *counted);

/* Makes sums of what was stored those of what it stands for. */
void ndr_totals_unpack(const ndr_unpack *unpack, int64_t lanes, double *sums, const double *counts);

#endif
