/* A driver of HDF5 for the temporary file of a writer: it reads and writes by our own calls, and remembers the first
 * one that failed. HDF5 is not told of failed writes: it reports success on closing a file whose last writes have
 * failed on a full disk, and 1.10 crashes where others have. So who writes asks the driver afterwards. */
#ifndef NDR_H5_WRITE_FILE_DRIVER_H
#define NDR_H5_WRITE_FILE_DRIVER_H

#include "common/atomic_file.h"
#include "h5/file/hdf.h"

typedef struct ndr_file_driver {
  ndr_atomic_file *file;
  hid_t id;
  ndr_status status; /* of the first call that failed */
  char reason[512];
} ndr_file_driver;

/* Opens the HDF5 file that has been written to driver->file, to be read and written; negative where that fails. The
 * driver must outlive it. Called inside the lock, as the others. */
hid_t ndr_file_driver_open(ndr_file_driver *driver);

/* Fails as the first call that failed did. */
ndr_status ndr_file_driver_check(const ndr_file_driver *driver);

/* After the file has been closed. */
void ndr_file_driver_close(ndr_file_driver *driver);

#endif
