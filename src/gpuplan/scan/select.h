/* Launches of the kernels of selections, kernels/scan/select*.cuh, which are compiled at run time. */
#ifndef NDR_GPUPLAN_SELECT_H
#define NDR_GPUPLAN_SELECT_H

#include "ndreduce/plan.h"
#include "scan/selection.h"
#include "spec/select_params.h"

typedef enum ndr_select_kernel {
  NDR_SELECT_ELEMENTS,
  NDR_SELECT_COUNT,
  NDR_SELECT_SUMS,
  NDR_SELECT_INDICES,
  NDR_SELECT_NUMBERS,
  NDR_SELECT_SLICES
} ndr_select_kernel;

/* A launch, and what its kernel is compiled for. */
typedef struct ndr_select_launch {
  ndr_select_kernel kernel;
  int bytes, unit; /* of what is moved as one, and of the words that it is moved in */
  ndr_dtype truth; /* of the mask */
  unsigned known;  /* NDR_SELECT_... */
  int residents;   /* blocks that a multiprocessor is to run at a time */
  int capability;  /* of the device */
  unsigned grid;
} ndr_select_launch;

typedef struct ndr_select_plan {
  int count; /* launches, one after the other; 0: there are no places */
  ndr_select_launch launches[3];
  size_t posted_bytes; /* which are to be 0 before the first launch, at the beginning of the workspace */
  size_t list_bytes;   /* of params.list where params.words are behind it */
  size_t workspace;    /* bytes */
  ndr_select_params params;
} ndr_select_plan;

/* Plans a selection of arrays that lie at these addresses. Fails with NDR_ERR_UNSUPPORTED where nothing can be
 * compiled, or where the selection has too many places. */
ndr_status ndr_select_plan_make(const ndr_selection *selection, const ndr_selection_addresses *addresses,
                                const ndr_device *device, ndr_select_plan *plan);

/* Completes plan->params for a workspace, which is aligned to 256. */
void ndr_select_plan_place(ndr_select_plan *plan, void *workspace);

#endif
