#include "support/small.h"

float small_x[2][3] = {{1, 2, 3}, {4, 5, 6}};
uint8_t small_live[2][3] = {{1, 0, 1}, {0, 1, 1}};
double small_w[3] = {0.5, 1, 2};

DLTensor small_array(void) {
  static int64_t shape[] = {2, 3};
  return ndr_tensor(small_x, NDR_F32, 2, shape);
}

DLTensor small_mask(void) {
  static int64_t shape[] = {2, 3};
  return ndr_tensor(small_live, NDR_BOOL, 2, shape);
}

DLTensor small_weights(void) {
  static int64_t shape[] = {3};
  return ndr_tensor(small_w, NDR_F64, 1, shape);
}
