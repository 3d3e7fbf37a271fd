/* Elements of the input on their way to the output, as they are stored there: numbers or texts. */
#ifndef NDR_H5_WRITE_ELEMENTS_H
#define NDR_H5_WRITE_ELEMENTS_H

#include "h5/file/hdf.h"

typedef struct ndr_elements {
  hid_t type; /* negative: there are none */
  hsize_t count;
  size_t bytes; /* of all of them, without what texts of variable length lead to */
  void *data;
} ndr_elements;

/* Allocates `count` zeroed elements of the dataset's type, or of the type that netCDF has for it. `where` names the
 * dataset in the error. To be freed even after a failure. */
ndr_status ndr_elements_reserve(ndr_elements *elements, hid_t dataset, hsize_t count, const char *where);

/* The same of f64. */
ndr_status ndr_elements_reserve_values(ndr_elements *elements, hsize_t count, const char *where);

/* Frees elements, and what those of variable length lead to. */
void ndr_elements_free(ndr_elements *elements);

/* Whether two have the same elements of the same type; negative where HDF5 cannot tell. */
htri_t ndr_elements_same(const ndr_elements *elements, const ndr_elements *other);

/* Whether a dataset has the same elements; negative where it cannot be read. */
htri_t ndr_elements_equal(const ndr_elements *elements, hid_t dataset);

#endif
