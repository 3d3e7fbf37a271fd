/* The last bits of what a dataset comes to depend on how it is cut, and on neither the memory nor the threads there
 * are, nor on what else is asked for. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/h5_any.h"
#include "support/suite.h"

enum { TIMES = 24, ROWS = 250, COLUMNS = 260, OPS = 5 };

static const ndr_op ops[OPS] = {NDR_SUM, NDR_MEAN, NDR_VAR, NDR_LOGSUMEXP, NDR_NORM2};

static char path[64];

/* No chunks; a field a chunk, of more outputs than a cell otherwise has; small ones; one larger than a cell. */
static const hsize_t layouts[][3] = {{0}, {1, ROWS, COLUMNS}, {5, 50, 64}, {TIMES, ROWS, COLUMNS}};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static const struct {
  int count, dims[3];
} reductions[] = {{1, {0}}, {1, {2}}, {2, {1, 2}}, {2, {0, 2}}, {3, {0, 1, 2}}};
enum { REDUCTIONS = sizeof reductions / sizeof *reductions };

static ndr_h5_dataset *open_layout(const hsize_t *chunk) {
  rng random = {test_seed()};
  int64_t count = (int64_t)TIMES * ROWS * COLUMNS;
  double *values = malloc((size_t)count * sizeof *values);
  for (int64_t i = 0; i < count; i++) values[i] = 1 + (double)rng_between(&random, 0, 1 << 30) / 3e9;
  DLTensor tensor = ndr_tensor(values, NDR_F64, NDR_SHAPE(TIMES, ROWS, COLUMNS));
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  ndr_h5_dataset *dataset;
  if (chunk[0]) H5Pset_chunk(creation, 3, chunk);
  snprintf(path, sizeof path, "/tmp/ndreduce-bits-%ld.h5", (long)getpid());
  h5_write(path, &tensor, NDR_F64, creation);
  H5Pclose(creation);
  free(values);
  assert_ok(ndr_h5_open(&dataset, path, "/x", NULL));
  return dataset;
}

typedef struct {
  double *data[OPS];
  size_t bytes;
} answer;

static answer reduce(ndr_h5_dataset *dataset, int reduction, int op_count, const ndr_op *asked,
                     const ndr_h5_options *how) {
  answer a = {.bytes = (size_t)TIMES * ROWS * COLUMNS * sizeof(double)};
  int64_t shape[3] = {TIMES, ROWS, COLUMNS}, left[3], dims = 0, strides[3];
  DLTensor results[OPS], *pointers[OPS];
  for (int i = 0; i < reductions[reduction].count; i++) {
    a.bytes /= (size_t)shape[reductions[reduction].dims[i]];
    shape[reductions[reduction].dims[i]] = 0;
  }
  for (int d = 0; d < 3; d++)
    if (shape[d]) left[dims++] = shape[d];
  for (int64_t d = dims - 1, step = 1; d >= 0; d--) {
    strides[d] = step;
    step *= left[d];
  }
  for (int i = 0; i < op_count; i++) {
    a.data[i] = calloc(a.bytes, 1);
    results[i] = (DLTensor){.data = a.data[i], .device = {kDLCPU, 0}, .ndim = (int)dims, .shape = left};
    results[i].strides = strides;
    results[i].dtype = ndr_dtype_to_dlpack(NDR_F64);
    pointers[i] = &results[i];
  }
  const ndr_problem *problem =
      h5_problem(dataset, reductions[reduction].count, reductions[reduction].dims, op_count, asked);
  assert_ok(ndr_h5_reduce(dataset, problem, pointers, how));
  return a;
}

static void free_answer(answer *a) {
  for (int i = 0; i < OPS; i++) free(a->data[i]);
}

/* Whether h5_explain says that memory has cut leaves short, or that nothing fits at all. */
static bool is_short(ndr_h5_dataset *dataset, int reduction, const ndr_h5_options *how) {
  char text[4096];
  size_t length;
  const ndr_problem *problem = h5_problem(dataset, reductions[reduction].count, reductions[reduction].dims, OPS, ops);
  ndr_status status = ndr_h5_explain(dataset, problem, how, text, sizeof text, &length);
  ck_assert(status == NDR_OK || status == NDR_ERR_MEMORY);
  return status != NDR_OK || strstr(text, "short for lack of memory") != NULL;
}

static void check_same(const answer *expected, const answer *got, int op_count, const char *what, int64_t number) {
  for (int i = 0; i < op_count; i++)
    ck_assert_msg(memcmp(expected->data[i], got->data[i], expected->bytes) == 0, "%s differs with %s %lld",
                  ndr_op_name(ops[i]), what, (long long)number);
}

/* Returns how many budgets were tried. */
static int check_memory(ndr_h5_dataset *dataset, int reduction, const answer *expected) {
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  int tried = 0;
  how.device = NDR_H5_CPU;
  for (how.memory = (int64_t)1 << 20; how.memory <= (int64_t)1 << 30; how.memory += how.memory / 2) {
    how.threads = 1 + tried % 7;
    if (is_short(dataset, reduction, &how)) continue;
    answer got = reduce(dataset, reduction, OPS, ops, &how);
    check_same(expected, &got, OPS, "memory", how.memory);
    free_answer(&got);
    tried++;
  }
  return tried;
}

static void check_alone(ndr_h5_dataset *dataset, int reduction, const answer *expected, const ndr_h5_options *how) {
  for (int i = 0; i < OPS; i++) {
    answer got = reduce(dataset, reduction, 1, &ops[i], how);
    ck_assert_msg(memcmp(expected->data[i], got.data[0], expected->bytes) == 0, "%s alone differs",
                  ndr_op_name(ops[i]));
    free_answer(&got);
  }
}

START_TEST(memory_threads_and_other_operators_do_not_show) {
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  how.device = NDR_H5_CPU;
  ndr_h5_dataset *dataset = open_layout(layouts[_i / REDUCTIONS]);
  answer expected = reduce(dataset, _i % REDUCTIONS, OPS, ops, &how);
  ck_assert_int_gt(check_memory(dataset, _i % REDUCTIONS, &expected), 8);
  check_alone(dataset, _i % REDUCTIONS, &expected, &how);
  free_answer(&expected);
  ndr_h5_close(dataset);
  unlink(path);
}
END_TEST

/* A program that is told of no memory takes what the machine has; 1 MiB is little for a chunk of 12 MiB. */
START_TEST(a_chunk_that_does_not_fit_names_what_would) {
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  ndr_h5_dataset *dataset = open_layout(layouts[3]);
  static const char would[] = "ndr_h5_options.memory of ";
  double sum;
  DLTensor result = ndr_tensor(&sum, NDR_F64, 0, NULL);
  how.device = NDR_H5_CPU;
  how.memory = 1 << 20;
  const ndr_problem *problem = h5_problem(dataset, NDR_ALL_DIMS, 1, ops);
  assert_fails(ndr_h5_reduce(dataset, problem, (DLTensor *[]){&result}, &how), NDR_ERR_MEMORY, would);
  const char *said = strstr(ndr_last_error(), would);
  ck_assert_ptr_nonnull(strstr(said, "MiB would do"));
  how.memory = (int64_t)strtoll(said + strlen(would), NULL, 10) << 20;
  ck_assert_int_gt(how.memory, 1 << 20);
  assert_ok(ndr_h5_reduce(dataset, problem, (DLTensor *[]){&result}, &how));
  ndr_h5_close(dataset);
  unlink(path);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 bits");
  TCase *bits = tcase_create("bits");
  tcase_set_timeout(bits, 120);
  tcase_add_loop_test(bits, memory_threads_and_other_operators_do_not_show, 0, LAYOUTS * REDUCTIONS);
  suite_add_tcase(suite, bits);
  suite_case(suite, "refusals", 60, a_chunk_that_does_not_fit_names_what_would, NULL);
  return suite_run(suite);
}
