/* The period that a time axis covers. A result that was reduced over the axis has it as its time (CF, section 7.3). */
#ifndef NDR_H5_TIME_PERIOD_H
#define NDR_H5_TIME_PERIOD_H

#include "h5/cf/variable.h"

typedef struct ndr_period {
  bool found;
  double bounds[2];      /* in the units of the axis */
  int64_t gap;           /* as ndr_period_read_bounds says it */
  const char *attribute; /* by which the axis names its bounds, "bounds" or "climatology" */
  char *name;            /* of those, NULL where there are none */
} ndr_period;

/* Finds the least and the greatest bound of dim d's coordinates, or the least and the greatest coordinate if no bounds
 * hold them. `found` only if the coordinates are times and there is at least one. To be freed even after a failure. */
ndr_status ndr_period_find(const ndr_h5_dataset *source, int d, ndr_period *period);

/* Looks whether the coordinates are times, as `found` says, and what names their bounds, but reads none. To be freed
 * even after a failure. */
ndr_status ndr_period_name_bounds(const ndr_h5_dataset *source, int d, ndr_period *period);
void ndr_period_free(ndr_period *period);

double ndr_period_middle(const ndr_period *period);

/* Opens the bounds of the axis as if no dim had been reduced; bounds->fits says whether they are two for each time. To
 * be closed even after a failure. */
ndr_status ndr_period_open_bounds(const ndr_h5_dataset *source, int d, const ndr_period *period,
                                  ndr_cf_variable *bounds);

/* Reads the bounds of dim d, two for each coordinate. *found: the axis names such bounds, and some of them are numbers:
 * none is where they were never written. *misfit: it names a variable that cannot be read as bounds of this dim. *gap:
 * the first coordinate whose bounds are not both finite, where those of others are; -1 if there is none.
 * attribute: only bounds that it names, "bounds" or "climatology"; NULL for either. */
ndr_status ndr_period_read_bounds(const ndr_h5_dataset *source, int d, const char *attribute, double *bounds,
                                  bool *found, bool *misfit, int64_t *gap);

/* Says that no bounds of dim d are used because of a gap; nothing if that is -1. */
void ndr_period_tell_gap(ndr_remarks *remarks, const ndr_h5_dataset *source, int d, int64_t gap);

/* Whether an attribute of the axis holds for a period, too; `user` is ignored. */
bool ndr_period_keeps(void *user, const char *name);

#endif
