/* Reads the bytes of an HDF5 file without HDF5. No number in them is trusted. */
#ifndef NDR_H5_BYTES_RAW_H
#define NDR_H5_BYTES_RAW_H

#include "h5/file/hdf.h"

typedef struct ndr_raw {
  int fd;                            /* HDF5's own */
  const struct ndr_reading *reading; /* of a file that ranks share; else NULL */
  uint64_t base;                     /* where in the file address 0 is */
  size_t address_bytes, length_bytes;
  bool failed; /* the file could not be read, or memory ran out: what was not found may be there */
} ndr_raw;

/* HDF5's descriptor of the file that holds an object; -1 where the file has none. */
int ndr_raw_descriptor(hid_t object);

/* False if HDF5 has no descriptor for the object's file, as for one in memory. */
bool ndr_raw_open(hid_t object, ndr_raw *raw);

/* False if the file ends too early or cannot be read. */
bool ndr_raw_read(ndr_raw *raw, uint64_t address, void *bytes, size_t count);

/* A little-endian number of at most 8 bytes. */
uint64_t ndr_raw_number(const uint8_t *bytes, size_t count);

#endif
