/* Selections on a GPU. */
#ifndef NDR_CUDA_SELECT_H
#define NDR_CUDA_SELECT_H

#include "scan/selection.h"

/* The `select` of ndr_scan_calls. The stream writes the count, too, and is not waited for.
 * `threads` is not used. */
ndr_status ndr_cuda_select(const ndr_selection *selection, const ndr_selection_addresses *addresses, int id,
                           int threads, void *stream);

#endif
