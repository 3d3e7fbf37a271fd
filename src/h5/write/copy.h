/* Which variables ndr_h5_writer_copy takes. */
#ifndef NDR_H5_WRITE_COPY_H
#define NDR_H5_WRITE_COPY_H

#include "h5/file/dataset.h"

/* Fails with NDR_ERR_MEMORY if twice the elements' bytes are not free: they are held as read, and in the image of the
 * file. */
ndr_status ndr_copy_check_memory(const ndr_h5_dataset *source);

/* Fails with NDR_ERR_DTYPE if elements are neither numbers nor texts. */
ndr_status ndr_copy_check_elements(const ndr_h5_dataset *source);

#endif
