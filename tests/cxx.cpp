/* What the header has for C++, in C++17 and C++20. Returns 0 where the results are right. */
#include "ndreduce/ndreduce.h"

int main() {
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, sums[3], mean = 0;
  int64_t shape[] = {2, 3};
  DLTensor array = ndr_tensor(x, NDR_F32, 2, shape), result = ndr_tensor(sums, NDR_F32, 1, &shape[1]);
  DLTensor scalar = ndr_tensor(&mean, NDR_F32, 0, nullptr);
  if (ndreduce(&array, NDR_DIMS(0), NDR_SUM, &result, nullptr) != NDR_OK) return 1;
  ndr_options options;
  options.threads = 1;
  if (ndreduce(&array, NDR_ALL_DIMS, NDR_MEAN, &scalar, &options) != NDR_OK) return 2;
  if (sums[0] != 5 || sums[1] != 7 || sums[2] != 9 || mean != 3.5f) return 3;
#if __cplusplus >= 202002L
  if (ndreduce(&array, NDR_DIMS(0, 1), NDR_VAR, &scalar, NDR_OPTIONS(.ddof = 1, .threads = 2)) != NDR_OK) return 4;
  if (mean != 3.5f) return 5;
#endif
  return 0;
}
