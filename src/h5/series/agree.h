/* Whether the coordinates of a series' files agree: those of the dims that they share, all but the one along which they
 * follow each other; and whether the files overlap. */
#ifndef NDR_H5_SERIES_AGREE_H
#define NDR_H5_SERIES_AGREE_H

#include "h5/file/dataset.h"

/* Fails where the coordinates of a shared dim differ between the parts of a series, and names the first file that
 * differs. Times must be the same instants, in any units, of calendars that date them alike; others may differ by a
 * thousandth of a step. What has no coordinates agrees with anything. Members of a new dim must have the same units,
 * too; elsewhere units may be spelled in two ways. Inside the lock. */
ndr_status ndr_series_agree(const ndr_h5_dataset *series);

/* Remarks on the first coordinate along the dim of a series that two of its files have, and says how many coordinates
 * repeat others. What has no coordinates, or some that cannot be read, is passed over. Fails only if on_remark stops
 * the call, which it cannot under a comm. Inside the lock. */
ndr_status ndr_series_remark_overlap(const ndr_h5_dataset *series);

#endif
