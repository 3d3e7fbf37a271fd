/* The part of an open dataset that is reduced, by indices and by coordinates. */
#ifndef NDR_H5_FILE_PART_H
#define NDR_H5_FILE_PART_H

#include "h5/cf/value_range.h"
#include "h5/file/dataset.h"

/* What a part has beside what lies together in the file: of dim `dim`, which is negative if there is none, a run that
 * follows the selected one. */
typedef struct ndr_part_rest {
  int dim;
  ndr_index_run run;
} ndr_part_rest;

/* Cuts a whole dataset to what is written between brackets. Inside the lock. */
ndr_status ndr_part_select(ndr_h5_dataset *dataset, const char *part, ndr_part_rest *rest);

/* Cuts a dim to a run of it. */
void ndr_part_cut(ndr_h5_dataset *dataset, int d, const ndr_index_run *run);

#endif
