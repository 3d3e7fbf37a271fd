/* A range of coordinates, as a user types it behind NAME=, found on an axis: 30:60, 850, 350:10, 2001-03:2001-05. Knows
 * nothing of HDF5. */
#ifndef NDR_H5_CF_VALUE_RANGE_H
#define NDR_H5_CF_VALUE_RANGE_H

#include "h5/time/time.h"
#include "ndreduce/ndreduce.h"

typedef struct ndr_value_axis {
  const char *name; /* for messages */
  int64_t count;
  const double *values;       /* in any order, as long as what is found lies together; NaN is never found */
  double precision;           /* how far a value may be off, relative to it */
  const ndr_time_units *time; /* NULL where the values are no times */
  double turn;                /* of longitudes 360, or 2 pi; else 0 */
  const char *units;          /* of what is neither time nor angle, for messages; NULL: none */
  const char *other_units; /* without a turn: the units of what is called longitudes and has none of theirs, or NULL */
} ndr_value_axis;

/* Elements that lie together. `shift` is to be added to their values, whole turns of longitudes. */
typedef struct ndr_index_run {
  int64_t from, count;
  double shift;
} ndr_index_run;

enum { NDR_RANGE_DOUBT = 160 }; /* characters, with the 0 */

/* What is found: a run, or two of a longitude axis whose seam is within the range, in the order that makes one axis of
 * them. */
typedef struct ndr_index_runs {
  int count;
  ndr_index_run run[2];
  /* Why turns do not count for a range of longitudes that reaches beyond the axis, or goes from a greater number to a
   * smaller one; else "". The end of a sentence: "turns do not count, as ...". */
  char doubt[NDR_RANGE_DOUBT];
} ndr_index_runs;

/* Reads text[length] and finds what it means, at least one element:
 *
 *   FROM:TO   all values from one to the other, both included, in either order; either end may be left out. Of
 *             longitudes from FROM eastwards to TO, over the seam of the axis if need be; shifts make the values lie
 *             between FROM and FROM + turn. Turns count neither on an axis that goes more than once round, nor for
 *             ends of more than two turns: runs->doubt then says so
 *   VALUE     of numbers the nearest one, the greater one of two, of longitudes the eastern one; it must be no further
 *             away than its neighbour is. Turns do not count on an axis that goes more than once round
 *
 * Ends on a time axis, and VALUE there, are dates (ndr_date_read) that stand for the whole period that they name. Fails
 * with NDR_ERR_PARSE on text that is none of that, and with NDR_ERR_DIMS if nothing is found, or more than a run. Where
 * no value is in a range, runs->count is 0, after other failures -1. */
ndr_status ndr_value_range_find(const ndr_value_axis *axis, const char *text, int length, ndr_index_runs *runs);

#endif
