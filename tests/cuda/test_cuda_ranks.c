/* Ranks, as threads, whose parts of arrays and datasets are on GPUs, one each where there are several: results against
 * the oracle, and the same bits whichever rank is first, by export and import, and in parts of a dataset. */
#include <stdio.h>
#include <unistd.h>

#include "device.h"
#include "support/gpu_ranks.h"

START_TEST(parts_of_arrays_give_the_whole) {
  static const ndr_dtype dtypes[] = {NDR_F32, NDR_F64, NDR_I8, NDR_C64};
  rng random = {test_seed()};
  double until = test_clock() + test_seconds(gpu_subset() ? 0 : 8);
  int cases = 0;
  for (; cases < test_case_count(8) || test_clock() < until; cases++)
    if (test_has_dtype(dtypes[cases % 4])) gpu_ranks_check_arrays(&random, dtypes[cases % 4], 20000);
  printf("arrays: %d cases\n", cases);
}
END_TEST

START_TEST(ranks_and_parts_of_files_give_the_bits_of_one_gpu) {
  char path[64];
  rng random = {test_seed()};
  double until = test_clock() + test_seconds(gpu_subset() ? 0 : 8);
  int cases = 0;
  snprintf(path, sizeof path, "/tmp/ndreduce-cuda-%ld.h5", (long)getpid());
  for (; cases < test_case_count(8) || test_clock() < until; cases++) gpu_ranks_check_files(&random, path, 40000);
  gpu_ranks_check_stretches(&random, NDR_F32, path);
  printf("datasets: %d cases\n", cases);
  unlink(path);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("ranks on GPUs");
  suite_case(suite, "ranks", 300, parts_of_arrays_give_the_whole, ranks_and_parts_of_files_give_the_bits_of_one_gpu,
             NULL);
  return gpu_suite_run(suite);
}
