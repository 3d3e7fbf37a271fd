/* What the dims of a dataset are by the CF conventions, as far as the attributes of their coordinates tell. */
#ifndef NDR_H5_CF_AXES_H
#define NDR_H5_CF_AXES_H

#include "h5/file/dataset.h"

typedef enum ndr_cf_axis { NDR_AXIS_UNKNOWN = 0, NDR_AXIS_TIME, NDR_AXIS_VERTICAL, NDR_AXIS_HORIZONTAL } ndr_cf_axis;

/* Sets axes[d] for every dim. Where no dim is known to be horizontal, the last two of unknown kind are taken to be, as
 * CF has them. Fails where attributes cannot be read. */
ndr_status ndr_cf_axes(const ndr_h5_dataset *dataset, ndr_cf_axis axes[NDR_MAX_DIMS]);

#endif
