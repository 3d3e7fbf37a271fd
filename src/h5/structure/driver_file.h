/* What our drivers of HDF5 have alike: an open file's sizes, and the answers to HDF5's questions about them. */
#ifndef NDR_H5_STRUCTURE_DRIVER_FILE_H
#define NDR_H5_STRUCTURE_DRIVER_FILE_H

#include "h5/file/hdf.h"
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

/* An open file of a driver begins with this. HDF5's part comes first. */
typedef struct ndr_driver_file {
  H5FD_t base;
  haddr_t end_allocated, end;
} ndr_driver_file;

static inline herr_t ndr_driver_query(const H5FD_t *base, unsigned long *flags) {
  (void)base;
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

static inline haddr_t ndr_driver_get_allocated(const H5FD_t *base, H5FD_mem_t type) {
  (void)type;
  return ((const ndr_driver_file *)(const void *)base)->end_allocated;
}

static inline herr_t ndr_driver_set_allocated(H5FD_t *base, H5FD_mem_t type, haddr_t address) {
  (void)type;
  ((ndr_driver_file *)(void *)base)->end_allocated = address;
  return 0;
}

static inline haddr_t ndr_driver_get_end(const H5FD_t *base, H5FD_mem_t type) {
  (void)type;
  return ((const ndr_driver_file *)(const void *)base)->end;
}

#endif
