/* The fill value of a result. In the file it stands for missing elements, which are NaN in memory. It is written as
 * _FillValue, and also as missing_value if the input has that. */
#ifndef NDR_H5_WRITE_FILL_VALUE_H
#define NDR_H5_WRITE_FILL_VALUE_H

#include "h5/write/scale/label.h"

typedef struct ndr_fill_value {
  bool marked; /* the result may have missing elements, so its file names the value */
  double value;
  void *data; /* a copy of the elements with the value in place of NaN, or NULL where they can be written as they are */
} ndr_fill_value;

/* Chooses the value: the input's where the result's dtype holds it and no element is equal to it, else NaN; for argmin
 * and argmax -1. Free with ndr_fill_value_free. */
ndr_status ndr_fill_value_choose(const ndr_label *label, const DLTensor *result, ndr_fill_value *fill);

/* The same before there are elements: the input's value if the dtype holds it, else NaN. */
ndr_status ndr_fill_value_expect(const ndr_label *label, ndr_fill_value *fill);

/* Puts the value in place of NaN in `count` elements of the label's dtype. *clashes becomes true if one of them was
 * equal to it. */
void ndr_fill_value_mark(const ndr_fill_value *fill, const ndr_label *label, void *data, int64_t count, bool *clashes);

/* Writes _FillValue, and beside it missing_value if the input has that; type is that of the variable. */
bool ndr_fill_value_put(const ndr_fill_value *fill, const ndr_h5_dataset *source, hid_t variable, hid_t type);

void ndr_fill_value_free(ndr_fill_value *fill);

#endif
