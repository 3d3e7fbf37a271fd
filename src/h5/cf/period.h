/* The period that a time axis covers: what the time of a result is that has been reduced over the axis (CF, section
 * 7.3). */
#ifndef NDR_H5_CF_PERIOD_H
#define NDR_H5_CF_PERIOD_H

#include "h5/cf/variable.h"

typedef struct ndr_period {
  bool found;
  double bounds[2];      /* in the units of the axis */
  const char *attribute; /* by which the axis names its bounds, "bounds" or "climatology" */
  char *name;            /* of those, NULL where there are none */
} ndr_period;

/* The least and the greatest of the bounds of dim d's coordinates, or of these themselves where they have no bounds
 * that hold them. Found where the coordinates are times, and there is one at least. To be freed even after a failure.
 */
ndr_status ndr_period_find(const ndr_h5_dataset *source, int d, ndr_period *period);
void ndr_period_free(ndr_period *period);

double ndr_period_middle(const ndr_period *period);

/* Opens the bounds of the axis as if no dim had been reduced; bounds->fits says whether they are two for each time. To
 * be closed even after a failure. */
ndr_status ndr_period_open_bounds(const ndr_h5_dataset *source, int d, const ndr_period *period,
                                  ndr_cf_variable *bounds);

/* Whether an attribute of the axis holds for a period, too; user is not looked at. */
bool ndr_period_keeps(void *user, const char *name);

#endif
