/* How many days each step of a time axis stands for, as weights. Knows nothing of HDF5. */
#ifndef NDR_H5_TIME_TIME_DAYS_H
#define NDR_H5_TIME_TIME_DAYS_H

#include "h5/time/group_by.h"

/* Fills days[count]:
 *
 *   - if there are bounds, what lies between them;
 *   - else, if steps are months, the days of the month. They are if each is of a month of its own, at least two follow
 *     each other, and all are on the same day and hour of their months, in the middle, or on the last day;
 *   - else from the middle between a step and the one before to the middle between it and the one after; at the ends as
 *     far as to the neighbour. Steps must go up or down and be about equally far apart: no more than 1.5 to 1.
 *
 * Fails with NDR_ERR_ARGUMENT, and a sentence that begins with `name`, the dim's, if none of that is so or a time is
 * missing. */
ndr_status ndr_time_days(const ndr_time_steps *steps, const char *name, double *days);

#endif
