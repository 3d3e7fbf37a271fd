/* Missing elements of a result, which are NaN in memory, marked in its file by _FillValue, and by
 * missing_value for older tools where the input has that, too. */
#ifndef NDR_H5_MISSING_H
#define NDR_H5_MISSING_H

#include "h5/label.h"

typedef struct ndr_missing {
  bool marked; /* the result may have missing elements: its file says by what value */
  double fill;
  void *data; /* a copy of the elements that holds fill for NaN, or NULL where they can be written as they are */
} ndr_missing;

/* Chooses the mark: the input's where the result's dtype holds it and no element is equal to it, else NaN; -1 for the
 * index where there is none. Free with ndr_missing_free. */
ndr_status ndr_missing_find(const ndr_label *label, const DLTensor *result, ndr_missing *missing);

/* Writes _FillValue, and beside it missing_value if the input has that; type is that of the variable. */
bool ndr_missing_put(const ndr_missing *missing, const ndr_h5_dataset *source, hid_t variable, hid_t type);

void ndr_missing_free(ndr_missing *missing);

#endif
