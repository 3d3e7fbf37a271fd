#include <ndreduce/device.h>
#include <ndreduce/ndreduce.h>
#include <ndreduce/plan.h>
#include <stdio.h>
#include <string.h>

#if __has_include(<ndreduce/h5.h>)
#include <ndreduce/h5.h>

/* There is no such file; but linking this takes the libraries that reading files takes. */
static int check_h5(void) {
  ndr_h5_dataset *dataset;
  double sum = 0;
  DLTensor result = ndr_tensor(&sum, NDR_F64, 0, NULL);
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_status status = ndr_h5_open(&dataset, "missing.h5", "/x", NULL);
  if (status == NDR_OK) {
    ndr_h5_problem(&problem, dataset, NDR_ALL_DIMS, 1, (ndr_op[]){NDR_SUM});
    ndr_h5_reduce(dataset, &problem, (DLTensor *[]){&result}, NULL);
    ndr_h5_close(dataset);
  }
  return status == NDR_ERR_FILE ? 0 : 1;
}
#else
static int check_h5(void) {
  return 0;
}
#endif

static int check_headers(void) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_status status = ndr_problem_parse("sum f32 [2,3] /0", &problem);
  return status == NDR_OK && ndr_device_supported(kDLCPU) ? check_h5() : 1;
}

int main(void) {
  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d", NDR_VERSION_MAJOR, NDR_VERSION_MINOR, NDR_VERSION_PATCH);
  if (strcmp(version, ndr_version()) != 0) {
    fprintf(stderr, "header says %s, library says %s\n", version, ndr_version());
    return 1;
  }

  float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, sums[3] = {0};
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(2, 3)), result = ndr_tensor(sums, NDR_F32, NDR_SHAPE(3));
  if (ndreduce(&array, NDR_DIMS(0), NDR_SUM, &result, NULL) != NDR_OK) {
    fprintf(stderr, "%s\n", ndr_last_error());
    return 1;
  }
  printf("%g %g %g\n", sums[0], sums[1], sums[2]);
  return sums[0] == 5 && sums[1] == 7 && sums[2] == 9 ? check_headers() : 1;
}
