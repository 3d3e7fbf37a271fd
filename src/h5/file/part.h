/* The part of an open dataset that is reduced, by indices and by coordinates. */
#ifndef NDR_H5_FILE_PART_H
#define NDR_H5_FILE_PART_H

#include "h5/file/dataset.h"

/* Cuts a whole dataset to what is written between brackets. Inside the lock. */
ndr_status ndr_part_select(ndr_h5_dataset *dataset, const char *part);

#endif
