// A C++ program that knows only what is installed: the headers serve it, and so do both libraries.
#include <cstdio>
#include <ndreduce/device.h>
#include <ndreduce/ndreduce.h>
#include <ndreduce/plan.h>

#if __has_include(<ndreduce/h5.h>)
#include <ndreduce/h5.h>

// There is no such file; but linking this takes the libraries that reading files takes.
static bool h5_is_there() {
  ndr_h5_dataset *dataset;
  ndr_h5_access access = NDR_H5_ACCESS_INIT;
  ndr_problem problem = NDR_PROBLEM_INIT;
  return ndr_h5_open(&dataset, "missing.h5", "/x", &access) == NDR_ERR_FILE &&
         ndr_h5_problem(&problem, nullptr, NDR_ALL_DIMS, 0, nullptr) == NDR_ERR_ARGUMENT;
}
#else
static bool h5_is_there() {
  return true;
}
#endif

static bool headers_are_there() {
  ndr_problem problem = NDR_PROBLEM_INIT;
  return ndr_problem_parse("sum f32 [2,3] /0", &problem) == NDR_OK && ndr_device_supported(kDLCPU) && h5_is_there();
}

int main() {
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, sums[3] = {};
  int64_t shape[2] = {2, 3};
  DLTensor array = ndr_tensor(x, NDR_F32, 2, shape), result = ndr_tensor(sums, NDR_F32, 1, shape + 1);
  if (ndreduce(&array, NDR_DIMS(0), NDR_SUM, &result, nullptr) != NDR_OK) {
    std::fprintf(stderr, "%s\n", ndr_last_error());
    return 1;
  }
  std::printf("%g %g %g\n", sums[0], sums[1], sums[2]);
  return sums[0] == 5 && sums[1] == 7 && sums[2] == 9 && headers_are_there() ? 0 : 1;
}
