/* Numbers of a small dataset, such as coordinates and their bounds, as f64 that mean what CF's attributes say. */
#ifndef NDR_H5_CF_VALUES_H
#define NDR_H5_CF_VALUES_H

#include "h5/cf/unpack_cf.h"

/* Reads the `count` selected elements of a dataset of integers or floats: unpacked, or under `raw` as stored.
 * Missing ones are NaN. False where they cannot be read; if the reason is an attribute that scales, *misfit is that.
 * misfit may be NULL. Inside the lock. */
bool ndr_values_read(hid_t dataset, bool raw, hid_t selected, int64_t count, double *values, ndr_misfit *misfit);

#endif
