/* NaN among weights is refused before anything is written. */
#ifndef NDR_API_WEIGHTS_H
#define NDR_API_WEIGHTS_H

#include "core/plan.h"

/* Refuses NaN among the weights of a problem on the host, in at most `threads` threads; 0: any number. A weight that is
 * repeated is looked at once. */
ndr_status ndr_weights_check(const ndr_backend *backend, int threads, const ndr_canonical *problem,
                             const void *const *data);

#endif
