/* What netCDF's and CF's attributes of a dataset say of its elements. */
#ifndef NDR_H5_CF_UNPACK_CF_H
#define NDR_H5_CF_UNPACK_CF_H

#include "h5/file/hdf.h"
#include "h5/read/unpack/unpack.h"

/* An attribute that is not what its name promises. It counts for nothing, or is an error if it scales. */
typedef struct ndr_misfit {
  const char *name;
  bool scales;   /* it is scale_factor or add_offset, without which all numbers are wrong */
  char what[96]; /* "is the text '0.01', not one number" */
} ndr_misfit;

typedef struct ndr_misfits {
  int count;
  ndr_misfit list[8]; /* one for each name that counts */
} ndr_misfits;

/* Fills in how the elements of `dataset` are unpacked; under `raw` only their byte order may change. `type` is theirs
 * in the file and `kind` its class; `stored` is the dtype that they are read as (ndr_hdf_dtype). Attributes that make
 * no sense are ignored, and noted. Returns the name of an attribute that cannot be read, else NULL. */
const char *ndr_hdf_find_unpack(hid_t dataset, hid_t type, H5T_class_t kind, ndr_dtype stored, bool raw,
                                ndr_unpack *unpack, ndr_misfits *misfits);

#endif
