/* The units of a dim's scale, and what they mean. Called inside the lock, but for the two functions on dims. */
#ifndef NDR_H5_CF_SCALE_UNITS_H
#define NDR_H5_CF_SCALE_UNITS_H

#include "h5/cf/coordinates.h"
#include "h5/time/time.h"

/* What a scale's attributes say of its numbers. */
typedef struct ndr_scale_units {
  char *units, *calendar; /* NULL where it has none */
  double precision;       /* how exactly a number is stored, relative to it: as f32 or f64 is, packing included */
  bool timed;
  ndr_time_units time;
} ndr_scale_units;

ndr_status ndr_scale_units_read(const ndr_h5_dataset *dataset, hid_t scale, ndr_scale_units *units);

/* Whether the calendar is one of CF's. A scale without the attribute has one; an attribute that is not text is none. */
bool ndr_scale_units_has_calendar(const ndr_scale_units *units);

/* Whether units and calendars are written alike, or neither has them. */
bool ndr_scale_units_same_words(const ndr_scale_units *a, const ndr_scale_units *b);

void ndr_scale_units_free(ndr_scale_units *units);

/* Opens the scale of dim d as ndr_hdf_open_coordinates does; fails where there is none. Close with H5Dclose. */
ndr_status ndr_scale_open(const ndr_h5_dataset *dataset, int d, hid_t *scale);

/* *d is the dim that a caller's `dim` means, which counts from the end if it is negative. */
ndr_status ndr_scale_check_dim(const ndr_h5_dataset *dataset, int dim, int *d);

enum { NDR_SCALE_DIM_TEXT = 128 };

/* What messages about coordinates call a dim: "lat", or "dim 0" where it has no name. */
void ndr_scale_name_dim(const ndr_h5_dataset *dataset, int d, char text[NDR_SCALE_DIM_TEXT]);

/* "... has no coordinates" with `what` behind it, which may be "". */
ndr_status ndr_scale_fail(const ndr_h5_dataset *dataset, int d, const char *what);

#endif
