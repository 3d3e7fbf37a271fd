/* A driver of HDF5 for files that several ranks read: what one of them has read of a file, the others need not. It is
 * otherwise like HDF5's own driver sec2. */
#ifndef NDR_H5_STRUCTURE_READING_DRIVER_H
#define NDR_H5_STRUCTURE_READING_DRIVER_H

#include "h5/file/hdf.h"
#include "h5/structure/structure.h"

/* The handle of a file that is open (H5Fget_vfd_handle). Begins with the descriptor, as that of sec2 is one. */
typedef struct ndr_reading {
  int fd;
  ndr_h5_structure *structure;
  ndr_structure_file *file; /* NULL: all is read from fd */
} ndr_reading;

/* Makes `access` open files by this driver. The structure must outlive them. False if HDF5 lacks memory. */
bool ndr_reading_driver_set(hid_t access, ndr_h5_structure *structure);

/* Whether files of that access were opened by it. */
bool ndr_reading_driver_is(hid_t access);

/* Reads bytes of a file as HDF5 would have them read, zeros beyond its end. `elements`: they are not the structure of
 * the file. On failure errno says why. */
bool ndr_reading_read(const ndr_reading *reading, bool elements, int64_t begin, int64_t size, void *to);

#endif
