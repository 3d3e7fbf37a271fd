/* See besides.h: what --weights LIST means for a dataset. */
#include "h5gpured/weights.h"

#include <stdlib.h>

bool weights_read(const h5gpured_options *options, const ndr_h5_dataset *dataset, const char *where, weights *w) {
  w->tensor = (DLTensor){.device = {kDLCPU, 0}, .dtype = ndr_dtype_to_dlpack(NDR_F64), .shape = w->shape};
  w->dataset = NULL;
  w->units = NULL;
  if (!weights_check_list(options, ndr_h5_describe(dataset), where)) return false;
  return weights_are_dataset(options->weights) ? weights_read_dataset(options, dataset, where, w)
                                               : weights_read_dims(options, dataset, where, w);
}

void weights_free(weights *w) {
  free(w->tensor.data);
  w->tensor.data = NULL;
  ndr_h5_close(w->dataset);
  w->dataset = NULL;
}
