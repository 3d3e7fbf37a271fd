/* Contiguous datasets, which threads read and reduce leaf by leaf: odd shapes, that threads and memory do not show in
 * the last bits, arrays beside them, progress, files that end while they are read, and what is read in slabs instead.
 * The bits of larger ones are compared in test_h5_bits.c. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "h5/run/job/job.h"
#include "support/h5_any.h"
#include "support/suite.h"

static ndr_h5_dataset *dataset;

static ndr_h5_options on_cpu(int threads) {
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  how.device = NDR_H5_CPU;
  how.threads = threads;
  return how;
}

/* The numbers 0, 1, 2 ... as f64, whose sums are exact. */
static void open_ramp(int ndim, const int64_t *shape, const hsize_t *chunk) {
  int64_t count = 1;
  h5_make_folder();
  for (int d = 0; d < ndim; d++) count *= shape[d];
  double *values = malloc((size_t)(count + 1) * sizeof *values);
  for (int64_t i = 0; i < count; i++) values[i] = (double)i;
  DLTensor tensor = {.data = values, .device = {kDLCPU, 0}, .ndim = ndim, .shape = (int64_t *)(uintptr_t)shape};
  tensor.dtype = ndr_dtype_to_dlpack(NDR_F64);
  dataset = h5_open_written(h5_input, &tensor, NDR_F64, chunk);
  free(values);
}

static void close_ramp(void) {
  ndr_h5_close(dataset);
  h5_remove_folder();
}

static const char *explain(const ndr_problem *problem, const ndr_h5_options *how) {
  static char text[8192];
  size_t length;
  assert_ok(ndr_h5_explain(dataset, problem, how, text, sizeof text, &length));
  return text;
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

typedef struct {
  int ndim;
  int64_t shape[3];
  int dim_count, dims[3];
} shape_case;

/* Rows of one element, and rows larger than a leaf, which are 2 MiB at most. */
static const shape_case shapes[] = {
    {1, {1}, 1, {0}},           {2, {300001, 1}, 1, {0}},         {2, {300001, 1}, 1, {1}},
    {2, {1, 700001}, 1, {1}},   {2, {1, 700001}, 1, {0}},         {2, {3, 300007}, 1, {0}},
    {2, {3, 300007}, 1, {1}},   {2, {500, 1021}, 1, {0}},         {3, {70, 3, 2017}, 2, {0, 2}},
    {3, {70, 3, 2017}, 1, {1}}, {3, {11, 500, 97}, 3, {0, 1, 2}}, {3, {40, 90, 101}, 2, {0, 1}},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static int64_t output_of(const shape_case *c, int64_t index) {
  bool reduced[3] = {false};
  int64_t output = 0, step = 1;
  for (int i = 0; i < c->dim_count; i++) reduced[c->dims[i]] = true;
  for (int d = c->ndim - 1; d >= 0; d--) {
    if (!reduced[d]) output += index % c->shape[d] * step, step *= c->shape[d];
    index /= c->shape[d];
  }
  return output;
}

static void check_sums(const shape_case *c) {
  ndr_op op = NDR_SUM;
  ndr_problem *problem = h5_problem(dataset, c->dim_count, c->dims, 1, &op);
  test_array result;
  DLTensor *pointer;
  h5_make_results(problem, &result, &pointer);
  const ndr_h5_options how = on_cpu(3);
  ck_assert_ptr_nonnull(strstr(explain(problem, &how), "each of which reduces the leaves that it reads"));
  assert_ok(ndr_h5_reduce(dataset, problem, &pointer, &how));
  int64_t elements = 1, outputs = 1;
  for (int d = 0; d < c->ndim; d++) elements *= c->shape[d];
  for (int d = 0; d < pointer->ndim; d++) outputs *= pointer->shape[d];
  double *expected = calloc((size_t)outputs, sizeof *expected);
  for (int64_t i = 0; i < elements; i++) expected[output_of(c, i)] += (double)i;
  ck_assert(memcmp(pointer->data, expected, (size_t)outputs * sizeof *expected) == 0);
  free(expected);
  array_free(&result);
}

/* Also with cells and leaves so small that there are many pieces of several slabs. */
START_TEST(odd_shapes_are_summed) {
  const shape_case *c = &shapes[_i / 3];
  static const int shifts[] = {0, 4, 9};
  static const ndr_op ops[] = {NDR_MEAN, NDR_VAR, NDR_ARGMAX};
  ndr_first_shift = shifts[_i % 3];
  open_ramp(c->ndim, c->shape, NULL);
  check_sums(c);
  const ndr_h5_options alone = on_cpu(1);
  for (int threads = 2; threads < 8; threads += 3) {
    ndr_h5_options several = on_cpu(threads);
    h5_check_bits(dataset, c->dim_count, c->dims, 3, ops, &alone, &several);
  }
  ndr_h5_options little = on_cpu(2);
  little.memory = (int64_t)6 << 20;
  h5_check_bits(dataset, c->dim_count, c->dims, 3, ops, &alone, &little);
  close_ramp();
  ndr_first_shift = 0;
}
END_TEST

START_TEST(dims_of_size_zero_have_empty_sums) {
  const int64_t shape[] = {4, 0, 5};
  double sums[20];
  memset(sums, 1, sizeof sums);
  DLTensor kept = ndr_tensor(sums, NDR_F64, NDR_SHAPE(4, 5)), none = ndr_tensor(sums, NDR_F64, NDR_SHAPE(0, 5));
  const ndr_op op = NDR_SUM;
  const ndr_h5_options how = on_cpu(2);
  open_ramp(3, shape, NULL);
  assert_ok(ndr_h5_reduce(dataset, h5_problem(dataset, NDR_DIMS(1), 1, &op), (DLTensor *[]){&kept}, &how));
  for (int i = 0; i < 20; i++) ck_assert(sums[i] == 0);
  assert_ok(ndr_h5_reduce(dataset, h5_problem(dataset, NDR_DIMS(0), 1, &op), (DLTensor *[]){&none}, &how));
  close_ramp();
}
END_TEST

/* ---- Progress ---------------------------------------------------------------------------------------------------- */

static int watch(void *user, const ndr_h5_progress *now) {
  usleep(500); /* the others go on meanwhile */
  return h5_watch(user, now);
}

static ndr_status reduce_watched(int threads, h5_watcher *w) {
  ndr_h5_options how = on_cpu(threads);
  const ndr_op op = NDR_SUM;
  double sum;
  DLTensor result = ndr_tensor(&sum, NDR_F64, 0, NULL);
  how.on_progress = watch;
  how.user = w;
  return ndr_h5_reduce(dataset, h5_problem(dataset, NDR_ALL_DIMS, 1, &op), (DLTensor *[]){&result}, &how);
}

START_TEST(progress_ends_at_the_total_and_stops_where_it_is_cancelled) {
  const int64_t shape[] = {1000, 1000};
  ndr_first_shift = 6;
  open_ramp(2, shape, NULL);
  for (int threads = 1; threads < 6; threads++) {
    h5_watcher w = {0}, stops = {.cancel_after = 2};
    assert_ok(reduce_watched(threads, &w));
    ck_assert_int_eq(w.last.bytes, 8000000);
    ck_assert_int_eq(w.last.total_bytes, 8000000);
    ck_assert_int_eq(w.last.slabs, w.last.total_slabs);
    ck_assert(w.last.read_seconds > 0 && w.last.reduce_seconds > 0);
    assert_fails(reduce_watched(threads, &stops), NDR_ERR_CANCELLED, "/x: stopped by on_progress");
    ck_assert_int_eq(stops.calls, 2);
  }
  close_ramp();
  ndr_first_shift = 0;
}
END_TEST

/* The file was whole when its dataset was opened, and when the reader looked. */
static int cut_off(void *user, const ndr_h5_progress *now) {
  (void)user;
  return now->slabs > 0 && truncate(h5_input, 4000000) != 0;
}

START_TEST(a_file_that_ends_while_it_is_read_is_an_error) {
  const int64_t shape[] = {1000, 1000};
  ndr_first_shift = 6;
  for (int threads = 1; threads < 6; threads++) {
    ndr_h5_options how = on_cpu(threads);
    const ndr_op op = NDR_SUM;
    double sum;
    DLTensor result = ndr_tensor(&sum, NDR_F64, 0, NULL);
    how.on_progress = cut_off;
    open_ramp(2, shape, NULL);
    assert_fails(ndr_h5_reduce(dataset, h5_problem(dataset, NDR_ALL_DIMS, 1, &op), (DLTensor *[]){&result}, &how),
                 NDR_ERR_FILE, "/x: cannot be read: the file ends before its data do");
    close_ramp();
  }
  ndr_first_shift = 0;
}
END_TEST

/* ---- Arrays beside it -------------------------------------------------------------------------------------------- */

/* The mean of x over dim 0 weighted by an array of its shape, in a second file. */
static void check_weighted(const hsize_t *chunk, const char *route) {
  enum { ROWS = 300, COLUMNS = 400 };
  const int64_t shape[] = {ROWS, COLUMNS};
  static double weights[ROWS][COLUMNS], means[COLUMNS];
  ndr_h5_dataset *second;
  ndr_h5_operand operand = NDR_H5_OPERAND_INIT;
  ndr_problem problem = NDR_PROBLEM_INIT;
  const ndr_op op = NDR_MEAN;
  open_ramp(2, shape, NULL);
  for (int i = 0; i < ROWS * COLUMNS; i++) (&weights[0][0])[i] = 1 + i % 3;
  DLTensor tensor = ndr_tensor(weights, NDR_F64, NDR_SHAPE(ROWS, COLUMNS));
  DLTensor result = ndr_tensor(means, NDR_F64, NDR_SHAPE(COLUMNS));
  second = h5_open_written(h5_output, &tensor, NDR_F64, chunk);
  operand.role = NDR_WEIGHTS;
  operand.dataset = second;
  ndr_h5_options how = on_cpu(3);
  how.operands = (const ndr_h5_operand *const[]){&operand};
  how.operand_count = 1;
  assert_ok(ndr_h5_problem(&problem, dataset, NDR_DIMS(0), 1, &op));
  assert_ok(ndr_h5_problem_operands(&problem, dataset, &how));
  ck_assert_ptr_nonnull(strstr(explain(&problem, &how), route));
  assert_ok(ndr_h5_reduce(dataset, &problem, (DLTensor *[]){&result}, &how));
  for (int c = 0; c < COLUMNS; c++) {
    double sum = 0, weight = 0;
    for (int r = 0; r < ROWS; r++) sum += weights[r][c] * (r * COLUMNS + c), weight += weights[r][c];
    ck_assert(means[c] == sum / weight);
  }
  ndr_h5_close(second);
  close_ramp();
}

START_TEST(what_belongs_to_a_leaf_comes_with_it) {
  for (ndr_first_shift = 0; ndr_first_shift < 12; ndr_first_shift += 4)
    check_weighted(NULL, "each of which reduces the leaves that it reads");
  check_weighted((const hsize_t[]){7, 100}, "in slabs (an array beside it is not contiguous)");
  ndr_first_shift = 0;
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 leafwise");
  TCase *odd = suite_case_empty(suite, "shapes", 120);
  tcase_add_loop_test(odd, odd_shapes_are_summed, 0, 3 * SHAPES);
  suite_case(suite, "by hand", 60, dims_of_size_zero_have_empty_sums,
             progress_ends_at_the_total_and_stops_where_it_is_cancelled, a_file_that_ends_while_it_is_read_is_an_error,
             what_belongs_to_a_leaf_comes_with_it, NULL);
  return suite_run(suite);
}
