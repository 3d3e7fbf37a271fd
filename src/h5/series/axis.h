/* The coordinates of one dim of a dataset, to be compared with those of another: numbers, times in any units, angles.
 * Called inside the lock. */
#ifndef NDR_H5_SERIES_AXIS_H
#define NDR_H5_SERIES_AXIS_H

#include "h5/cf/scale_units.h"

/* values is NULL where the dim has no coordinates. */
typedef struct ndr_axis {
  const ndr_h5_dataset *dataset;
  int d;
  ndr_scale_units units;
  double turn; /* of longitudes: 360 degrees, or 2 pi radians; else 0 */
  double *values;
} ndr_axis;

/* Reads the coordinates of dim d and their units. They are unpacked as CF has it, even if the dataset was opened raw.
 * Free the axis even if that fails. */
ndr_status ndr_axis_read(const ndr_h5_dataset *dataset, int d, ndr_axis *axis);
void ndr_axis_free(ndr_axis *axis);

/* The instant of a time; false if it is none. */
bool ndr_axis_decode(const ndr_axis *axis, int64_t i, ndr_instant *instant);

/* A coordinate as a number that can be compared with those of other axes: of a time, days, whatever its units are.
 * False if it is no finite number or no instant. */
bool ndr_axis_place(const ndr_axis *axis, int64_t i, double *at);

/* Whether both are times. */
bool ndr_axis_are_timed(const ndr_axis *a, const ndr_axis *b);

/* Whether coordinates in these units can be compared: both are times, or angles of one unit, or have the same text. An
 * axis without units can be compared with any but times. */
bool ndr_axis_same_units(const ndr_axis *a, const ndr_axis *b);

/* Whether two axes of times, one or both of which cannot be decoded, count in the same way: they have the same units
 * and calendar, or one has no units. True if both can be decoded, and if neither is of times. */
bool ndr_axis_counts_alike(const ndr_axis *a, const ndr_axis *b);

/* Whether time i of a has one date in both calendars. */
bool ndr_axis_dates_alike(const ndr_axis *a, const ndr_axis *b, int64_t i);

/* Whether coordinate i of a and coordinate k of b are the same place. Times must be the same instant, as exactly as
 * they are stored, or if neither can be decoded, the same number of the same units. Other numbers may differ by a
 * thousandth of a step of a, as files write degrees with more or fewer digits, or by what their dtypes round off, and
 * longitudes by whole turns as well. Does not compare calendars and units. */
bool ndr_axis_same_place(const ndr_axis *a, int64_t i, const ndr_axis *b, int64_t k);

/* If b has the longitudes of a, in the same order, but begins at another one: the index in b of the first one of a.
 * Else 0. */
int64_t ndr_axis_find_rotation(const ndr_axis *a, const ndr_axis *b);

/* Writes a coordinate: a time as a date. */
void ndr_axis_write(const ndr_axis *axis, int64_t i, char text[NDR_TIME_CHARS]);

#endif
