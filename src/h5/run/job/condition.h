/* Conditions: the text of ndr_h5_options.where, and masks that are not bool. Both become an operator of one's own that
 * has each element as an output. */
#ifndef NDR_H5_RUN_CONDITION_H
#define NDR_H5_RUN_CONDITION_H

#include "h5/run/job/besides.h"

/* Makes the condition of the text. Numbers of places, index(d), become arrays of their own. */
ndr_status ndr_condition_parse(ndr_besides *operands, const char *text, const ndr_h5_info *info);

/* Makes that of a mask, the array `array`: elements that are not 0, not NaN and not missing are true. */
ndr_status ndr_condition_of_mask(ndr_besides *operands, int array);

/* Computes the mask of a slab or leaf, compact bool, to the place's `mask`. */
ndr_status ndr_condition_compute(const ndr_besides *operands, const ndr_beside_place *at);

#endif
