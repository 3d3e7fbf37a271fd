/* A scan of a dataset, checked: what ndr_h5_scan_to and the writer do. */
#ifndef NDR_H5_RUN_SCAN_DATASET_H
#define NDR_H5_RUN_SCAN_DATASET_H

#include "h5/run/work.h"

typedef struct ndr_scan_request {
  ndr_running running;
  ndr_problem problem;         /* the reduction over the scanned dim by the same operator */
  int64_t shape[NDR_MAX_DIMS]; /* of the result, as of the dataset */
  DLTensor result;             /* without data */
  bool empty;                  /* there are no elements */
} ndr_scan_request;

/* Checks the arguments and fills in the request, which points to itself. A failure names the dataset. */
ndr_status ndr_scan_request_make(ndr_scan_request *request, const ndr_h5_dataset *dataset, const ndr_h5_scan *given,
                                 const ndr_h5_options *options);

/* Scans the dataset into the sink. */
ndr_status ndr_scan_request_run(const ndr_scan_request *request, ndr_h5_dataset *dataset, const ndr_sink *sink,
                                const ndr_h5_options *options);

#endif
