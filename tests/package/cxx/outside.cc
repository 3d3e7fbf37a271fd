// A C++ program that knows only what is installed: the headers serve it, and so do both libraries.
#include <cstdio>
#include <ndreduce/ndreduce.h>

#if __has_include(<ndreduce/h5.h>)
#include <ndreduce/h5.h>

// There is no such file; but linking this takes the libraries that reading files takes.
static bool h5_is_there() {
  ndr_h5_dataset *dataset;
  return ndr_h5_open(&dataset, "missing.h5", "/x", nullptr) == NDR_ERR_FILE;
}
#else
static bool h5_is_there() { return true; }
#endif

int main() {
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, sums[3] = {};
  int64_t shape[2] = {2, 3};
  int dims[1] = {0};
  DLTensor array = {x, {kDLCPU, 0}, 2, ndr_dtype_to_dlpack(NDR_F32), shape, nullptr, 0};
  DLTensor result = {sums, {kDLCPU, 0}, 1, ndr_dtype_to_dlpack(NDR_F32), shape + 1, nullptr, 0};
  if (ndreduce(&array, 1, dims, NDR_SUM, &result, nullptr) != NDR_OK) {
    std::fprintf(stderr, "%s\n", ndr_last_error());
    return 1;
  }
  std::printf("%g %g %g\n", sums[0], sums[1], sums[2]);
  return sums[0] == 5 && sums[1] == 7 && sums[2] == 9 && h5_is_there() ? 0 : 1;
}
