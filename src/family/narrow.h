/* Tiles of short groups of outputs, for the tile family: tile_narrow and tile_runs. */
#ifndef NDR_FAMILY_NARROW_H
#define NDR_FAMILY_NARROW_H

#include "family/launch.h"

/* Whether the lane axis, of step 1, is kept. */
bool ndr_tile_kept_lane(const ndr_problem *problem);

/* Whether these kernels can run the problem, whose lane axis has step 1 and which reduces something. */
bool ndr_narrow_runs(const ndr_problem *problem);

/* Why they can't where the lane axis is reduced: text, filled, or a constant; NULL if they can. */
const char *ndr_narrow_reject(const ndr_problem *problem, char *text);

/* Makes the launch of a problem that they can run. */
void ndr_narrow_configure(const ndr_problem *problem, const ndr_device *device, ndr_launch *launch);

#endif
