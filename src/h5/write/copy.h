/* What variables can be copied by themselves. */
#ifndef NDR_H5_WRITE_COPY_H
#define NDR_H5_WRITE_COPY_H

#include "h5/file/dataset.h"

/* Fails with NDR_ERR_MEMORY where there is too little for the elements twice. */
ndr_status ndr_copy_check_memory(const ndr_h5_dataset *source);

/* Fails with NDR_ERR_DTYPE on elements that are neither numbers nor texts. */
ndr_status ndr_copy_check_elements(const ndr_h5_dataset *source);

#endif
