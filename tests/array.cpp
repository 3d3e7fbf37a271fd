/* ndr_array, as a C++ program uses it: tensors that outlive the statement that makes them. */
#include "ndreduce/ndreduce.h"

#ifdef OF_C /* must not compile: its shape would be gone after the statement */
DLTensor of_c(void *data) {
  return ndr_tensor(data, NDR_F32, 2, 3);
}
#endif

int main() {
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, one = 7;
  ndr_array<2> array(x, NDR_F32, 2, 3);
  ndr_array<0> scalar(&one, NDR_F32);
  const DLTensor &tensor = array.tensor;
  bool right = tensor.ndim == 2 && tensor.shape[0] == 2 && tensor.shape[1] == 3 && tensor.data == x;
  return right && tensor.dtype.bits == 32 && scalar.tensor.ndim == 0 ? 0 : 1;
}
