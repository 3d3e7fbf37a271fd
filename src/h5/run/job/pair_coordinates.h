/* Compares the coordinates of a dim of a dataset with those of an array beside it. Steps are paired by their numbers.
 * If their coordinates differ, the array is of other places or times, which the caller has hardly meant. */
#ifndef NDR_H5_RUN_PAIR_COORDINATES_H
#define NDR_H5_RUN_PAIR_COORDINATES_H

#include "h5/file/dataset.h"

typedef struct ndr_paired_dims {
  const ndr_h5_dataset *dataset;
  int d;
  const ndr_h5_dataset *array;
  int i;
  const int64_t *steps; /* step k of the dataset's dim d is paired with step steps[k] of the array's dim i; NULL: k */
} ndr_paired_dims;

/* Sets *agree to whether the coordinates agree. If `reverse`, the array's steps count from its end. Times must be the
 * same instants, in any units, of calendars that date them alike; others may differ by a thousandth of a step, and
 * longitudes by whole turns. What has no coordinates agrees with anything. Takes the lock. */
ndr_status ndr_coordinates_agree(const ndr_paired_dims *dims, bool reverse, bool *agree);

/* The step of an axis of `count` steps that is reached by going on around either end. */
static inline int64_t ndr_step_around(int64_t step, int64_t count) {
  return (step % count + count) % count;
}

/* Finds a part of longitudes in an array that has all of them. *start becomes the array's step at the place of the
 * dataset's first one; the dataset's next ones are then `by` array steps apart (backwards if `by` is negative),
 * and go on around the end of the array. -1: there is none. `near` is tried first. Takes the lock. */
ndr_status ndr_coordinates_find_start(const ndr_paired_dims *dims, int64_t near, int64_t by, int64_t *start);

/* Fails with a sentence that names the first step at which they do not agree, and what can be done about it. `what`
 * names the array. Takes the lock. */
ndr_status ndr_coordinates_fail(const ndr_paired_dims *dims, const char *what);

enum { NDR_PART_HINT = 256 };

/* For dims of different sizes: writes "; [time=2001-01-16:2001-12-16] of it is the part that both have", or that they
 * have nothing in common; "" where either has no coordinates, where these cannot be compared, or where their steps
 * within the common range are not the same. Takes the lock. */
void ndr_coordinates_hint_part(const ndr_paired_dims *dims, char text[NDR_PART_HINT]);

#endif
