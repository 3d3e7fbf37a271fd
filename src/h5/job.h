/* One reduction of one dataset, checked and planned: what ndr_h5_reduce does and ndr_h5_explain prints. */
#ifndef NDR_H5_JOB_H
#define NDR_H5_JOB_H

#include "h5/dataset.h"
#include "h5/slabs.h"

typedef struct ndr_job {
  ndr_h5_dataset *dataset;
  int dim_count, dims[NDR_MAX_DIMS]; /* ascending */
  int op_count;
  const ndr_op *ops;
  ndr_h5_options options;
  ndr_options reduce;
  DLDevice device;
  bool never_written;
  ndr_slabs slabs;
} ndr_job;

/* Checks the arguments; results may be NULL. Every sentence starts with the dataset's FILE:/PATH. */
ndr_status ndr_job_make(ndr_job *job, ndr_h5_dataset *dataset, int dim_count, const int *dims, int op_count,
                        const ndr_op *ops, DLTensor *const *results, const ndr_h5_options *options);

/* Puts the dataset's FILE:/PATH before the sentence of a failure that knows nothing of files; returns status. */
ndr_status ndr_job_blame(const ndr_h5_dataset *dataset, ndr_status status);

/* Writes the results of a dataset of which every element is its fill value, reading none. */
ndr_status ndr_job_fill(const ndr_job *job, DLTensor *const *results);

#endif
