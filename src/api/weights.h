/* NaN among weights is refused: before anything is written, or where the results show it, afterwards. */
#ifndef NDR_API_WEIGHTS_H
#define NDR_API_WEIGHTS_H

#include "core/plan.h"

/* Refuses NaN among the weights of a problem on the host, in at most `threads` threads; 0: any number. A weight that is
 * repeated is looked at once. */
ndr_status ndr_weights_check(const ndr_backend *backend, int threads, const ndr_canonical *problem,
                             const void *const *data);

/* Whether a result is NaN wherever one of its weights is, and the weights are so many that reading them twice would
 * take long: they are then looked at only if there is such a result, after it was written. */
bool ndr_weights_show(const ndr_canonical *problem);
ndr_status ndr_weights_check_shown(const ndr_backend *backend, int threads, const ndr_canonical *problem,
                                   const void *const *data, void *const *results);

#endif
