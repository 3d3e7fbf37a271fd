/* Every function of h5.h with every argument wrong, one at a time: a status and a sentence, and no crash. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ndreduce/h5.h"
#include "support/h5_any.h"
#include "support/spoiled.h"

/* Sound arguments, which each row spoils in its own process. The file has /x [2,3] of f64. */
static char folder[] = "/tmp/ndreduce-test-XXXXXX", input[64], output[64];
static const char *inputs[1] = {input}, *nothing[1] = {NULL}, *paths[1] = {"/x"};
static double elements[6] = {1, 2, 3, 4, 5, 6}, out[6];
static int64_t shape[2] = {2, 3}, sizes[NDR_MAX_DIMS + 1] = {3}, steps[1] = {1}, found[3];
static DLTensor array = {elements, {kDLCPU, 0}, 2, {kDLFloat, 64, 1}, shape, NULL, 0};
static DLTensor result = {out, {kDLCPU, 0}, 1, {kDLFloat, 64, 1}, sizes, NULL, 0};
static DLTensor indices = {found, {kDLCPU, 0}, 1, {kDLInt, 64, 1}, sizes, NULL, 0};
static DLTensor weights = {elements, {kDLCPU, 0}, 1, {kDLFloat, 64, 1}, sizes, NULL, 0};
static DLTensor *results[1] = {&result}, *no_results[1] = {NULL};
static int dims[2] = {0, 0}, weight_dims[1] = {1}, count = 1;
static ndr_op ops[1] = {NDR_SUM};
static ndr_h5_options options = NDR_H5_OPTIONS_INIT;
static ndr_options reduce_options = NDR_OPTIONS_INIT;
static ndr_h5_access access_options = NDR_H5_ACCESS_INIT;
static ndr_h5_writer_options writer_options = NDR_H5_WRITER_OPTIONS_INIT;
static ndr_h5_dataset *dataset;
static ndr_h5_writer *writer;
static char text[64];
static size_t length;

static int visit(void *user, const char *path, const ndr_h5_info *info, const char *reason) {
  (void)user, (void)path, (void)info, (void)reason;
  return 0;
}

/* A callback may fork: neither side waits for a lock that this thread has. */
static int visit_and_fork(void *user, const char *path, const ndr_h5_info *info, const char *reason) {
  int status = -1;
  pid_t child = fork();
  if (child == 0) _exit(0);
  *(bool *)user = child > 0 && waitpid(child, &status, 0) == child && status == 0;
  return visit(NULL, path, info, reason);
}

static bool lists_and_forks(void) {
  bool forked = false;
  return ndr_h5_list(input, NULL, visit_and_fork, &forked) == NDR_OK && forked;
}

static ndr_status reduce(void) {
  return ndr_h5_reduce(dataset, 1, dims, 1, ops, results, &options);
}

static ndr_status reduce_weighted(void) {
  options.weights = &weights;
  options.weight_dims = options.weight_dims ? options.weight_dims : weight_dims;
  return reduce();
}

static ndr_status create(void) {
  return ndr_h5_writer_create(&writer, output, 1, inputs, &writer_options);
}

static ndr_status add(void) {
  return create() == NDR_OK ? ndr_h5_writer_add(writer, dataset, 1, dims, NDR_SUM, "y", &result) : NDR_OK;
}

static ndr_status add_over(int dim_count, const int *over, ndr_op op, const char *name) {
  return create() == NDR_OK ? ndr_h5_writer_add(writer, dataset, dim_count, over, op, name, &result) : NDR_OK;
}

static int name_rows(int row) {
  int at = 0;
  char *file, *path;
  REFUSED(ARGUMENT, "empty", ndr_h5_split(NULL, &file, &path));
  REFUSED(ARGUMENT, "empty", ndr_h5_split("", &file, &path));
  REFUSED(ARGUMENT, "null", ndr_h5_split(input, NULL, &path));
  REFUSED(ARGUMENT, "null", ndr_h5_split(input, &file, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_dims_parse(NULL, 2, NULL, &count, dims));
  REFUSED(ARGUMENT, "null", ndr_h5_dims_parse("0", 2, NULL, NULL, dims));
  REFUSED(ARGUMENT, "null", ndr_h5_dims_parse("0", 2, NULL, &count, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_dims_parse("all", 2, NULL, &count, NULL));
  REFUSED(ARGUMENT, "-1", ndr_h5_dims_parse("all", -1, NULL, &count, dims));
  REFUSED(ARGUMENT, "33", ndr_h5_dims_parse("all", 33, NULL, &count, dims));
  REFUSED(DIMS, "no names", ndr_h5_dims_parse("lat", 2, NULL, &count, dims));
  return at;
}

static int open_rows(int row) {
  int at = 0;
  ndr_h5_dataset *opened;
  REFUSED(ARGUMENT, "null", ndr_h5_open(NULL, input, "/x", NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_open(&opened, NULL, "/x", NULL));
  REFUSED(FILE, "No such", ndr_h5_open(&opened, "", "/x", NULL));
  REFUSED(FILE, "in.h5", ndr_h5_open(&opened, input, "", NULL));
  REFUSED(ARGUMENT, "size is 0", access_options.size = 0, ndr_h5_open(&opened, input, "/x", &access_options));
  REFUSED(ARGUMENT, "size", access_options.size = SIZE_MAX, ndr_h5_list(input, &access_options, visit, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_open_series(NULL, 1, inputs, paths, "0", NULL));
  REFUSED(ARGUMENT, "no file", ndr_h5_open_series(&opened, 0, inputs, paths, "0", NULL));
  REFUSED(ARGUMENT, "no file", ndr_h5_open_series(&opened, -1, inputs, paths, "0", NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_open_series(&opened, 1, NULL, paths, "0", NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_open_series(&opened, 1, nothing, paths, "0", NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_open_series(&opened, 1, inputs, NULL, "0", NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_open_series(&opened, 1, inputs, paths, NULL, NULL));
  REFUSED(DIMS, "dim 2", ndr_h5_open_series(&opened, 1, inputs, paths, "2", NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_list(NULL, NULL, visit, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_list(input, NULL, NULL, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_coordinate(NULL, 0, out));
  REFUSED(DIMS, "dim 2", ndr_h5_coordinate(dataset, 2, out));
  REFUSED(DIMS, "dim -3", ndr_h5_coordinate(dataset, -3, out));
  REFUSED(ARGUMENT, "null", ndr_h5_coordinate_weights(dataset, 0, 1, NULL));
  REFUSED(DIMS, "no coordinates", ndr_h5_coordinate_weights(dataset, 1, 1, out));
  HARMLESS(lists_and_forks());
  HARMLESS((ndr_h5_close(NULL), true));
  HARMLESS(!ndr_h5_describe(NULL) && ndr_h5_tensor(NULL).ndim == -1);
  return at;
}

static int reduce_rows(int row) {
  int at = 0;
  options.reduce = &reduce_options;
  REFUSED(ARGUMENT, "null", ndr_h5_reduce(NULL, 1, dims, 1, ops, results, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_reduce(dataset, 1, dims, 1, ops, NULL, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_reduce(dataset, 1, dims, 1, ops, no_results, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_reduce(dataset, 1, dims, 1, NULL, results, NULL));
  REFUSED(ARGUMENT, "op_count", ndr_h5_reduce(dataset, 1, dims, -1, ops, results, NULL));
  REFUSED(ARGUMENT, "op_count", ndr_h5_reduce(dataset, 1, dims, 1000, ops, results, NULL));
  REFUSED(OP, "99", ops[0] = (ndr_op)99, reduce());
  REFUSED(DIMS, "null", ndr_h5_reduce(dataset, 1, NULL, 1, ops, results, NULL));
  REFUSED(DIMS, "-7", ndr_h5_reduce(dataset, -7, dims, 1, ops, results, NULL));
  REFUSED(DIMS, "dim 2", dims[0] = 2, reduce());
  REFUSED(RESULT, "shape", result.ndim = -1, reduce());
  REFUSED(RESULT, "shape", result.shape = NULL, reduce());
  REFUSED(ARGUMENT, "no data", result.data = NULL, reduce());
  REFUSED(ARGUMENT, "multiple of 8", result.byte_offset = 4, reduce());
  REFUSED(RESULT, "cuda", result.device.device_type = kDLCUDA, reduce());
  REFUSED(RESULT, "f32", result.dtype.bits = 32, reduce());
  REFUSED(ARGUMENT, "options.size", options.size = 0, reduce());
  REFUSED(ARGUMENT, "options.size", options.size = SIZE_MAX, reduce());
  REFUSED(ARGUMENT, "options.reduce.size", reduce_options.size = 4, reduce());
  REFUSED(ARGUMENT, "options.reduce.size", reduce_options.size = 4000, reduce());
  REFUSED(ARGUMENT, "threads", reduce_options.threads = -1, reduce());
  REFUSED(ARGUMENT, "memory", options.memory = -1, reduce());
  REFUSED(MEMORY, "", options.memory = 1, reduce());
  REFUSED(ARGUMENT, "device", options.device = (ndr_h5_device)99, reduce());
  REFUSED(NO_DEVICE, "cuda:-1", (options.device = NDR_H5_CUDA, options.device_id = -1), reduce());
  REFUSED(ARGUMENT, "length", ndr_h5_explain(dataset, 1, dims, 1, ops, NULL, text, sizeof text, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_explain(NULL, 1, dims, 1, ops, NULL, text, sizeof text, &length));
  REFUSED(ARGUMENT, "ops", ndr_h5_explain(dataset, 1, dims, 1, NULL, NULL, text, sizeof text, &length));
  HARMLESS(ndr_h5_explain(dataset, 1, dims, 1, ops, NULL, NULL, 99, &length) == NDR_OK && length > 0);
  return at;
}

static int weights_rows(int row) {
  int at = 0;
  REFUSED(ARGUMENT, "weights", weights.ndim = -1, reduce_weighted());
  REFUSED(ARGUMENT, "weights", weights.ndim = 33, reduce_weighted());
  REFUSED(ARGUMENT, "no shape", weights.shape = NULL, reduce_weighted());
  REFUSED(ARGUMENT, "no data", weights.data = NULL, reduce_weighted());
  REFUSED(ARGUMENT, "multiple of 8", weights.byte_offset = 1, reduce_weighted());
  REFUSED(ARGUMENT, "compact f64", weights.strides = steps, reduce_weighted());
  REFUSED(ARGUMENT, "compact f64", weights.dtype.bits = 32, reduce_weighted());
  REFUSED(DTYPE, "lanes", weights.dtype.lanes = 2, reduce_weighted());
  REFUSED(ARGUMENT, "host", weights.device.device_type = kDLCUDA, reduce_weighted());
  REFUSED(DIMS, "weights", options.weights = &weights, reduce());
  REFUSED(DIMS, "weights", weight_dims[0] = -1, reduce_weighted());
  REFUSED(DIMS, "weights", weight_dims[0] = 2, reduce_weighted());
  REFUSED(DIMS, "size", weights.shape = shape, reduce_weighted());
  REFUSED(ARGUMENT, "weight 1 is -1", elements[1] = -1, reduce_weighted());
  REFUSED(ARGUMENT, "weight 0 is nan", elements[0] = NAN, reduce_weighted());
  REFUSED(ARGUMENT, "weight 2 is inf", elements[2] = INFINITY, reduce_weighted());
  REFUSED(ARGUMENT, "all weights are 0", elements[0] = elements[1] = elements[2] = 0, reduce_weighted());
  REFUSED(ARGUMENT, "null", options.weights = &weights, ndr_h5_reduce(dataset, 1, dims, 1, NULL, results, &options));
  REFUSED(ARGUMENT, "op_count", options.weights = &weights,
          ndr_h5_reduce(dataset, 1, dims, 1000, ops, results, &options));
  return at;
}

static int locate_rows(int row) {
  int at = 0;
  REFUSED(ARGUMENT, "null", ndr_h5_locate(NULL, 1, dims, 0, &indices, out));
  REFUSED(ARGUMENT, "null", ndr_h5_locate(dataset, 1, dims, 0, NULL, out));
  REFUSED(ARGUMENT, "null", ndr_h5_locate(dataset, 1, dims, 0, &indices, NULL));
  REFUSED(DIMS, "null", ndr_h5_locate(dataset, 1, NULL, 0, &indices, out));
  REFUSED(DIMS, "-2", ndr_h5_locate(dataset, -2, dims, 0, &indices, out));
  REFUSED(DIMS, "1000", ndr_h5_locate(dataset, 1000, dims, 0, &indices, out));
  REFUSED(DIMS, "dim 5", dims[0] = 5, ndr_h5_locate(dataset, 1, dims, 0, &indices, out));
  REFUSED(DIMS, "dim 9", ndr_h5_locate(dataset, 1, dims, 9, &indices, out));
  REFUSED(ARGUMENT, "i64", ndr_h5_locate(dataset, 1, dims, 0, &result, out));
  REFUSED(ARGUMENT, "i64", indices.strides = steps, ndr_h5_locate(dataset, 1, dims, 0, &indices, out));
  REFUSED(ARGUMENT, "-1 dims", indices.ndim = -1, ndr_h5_locate(dataset, 1, dims, 0, &indices, out));
  REFUSED(ARGUMENT, "no shape", indices.shape = NULL, ndr_h5_locate(dataset, 1, dims, 0, &indices, out));
  REFUSED(ARGUMENT, "no data", indices.data = NULL, ndr_h5_locate(dataset, 1, dims, 0, &indices, out));
  REFUSED(ARGUMENT, "multiple of 8", indices.byte_offset = 2, ndr_h5_locate(dataset, 1, dims, 0, &indices, out));
  return at;
}

static int writer_rows(int row) {
  int at = 0;
  REFUSED(ARGUMENT, "null", ndr_h5_writer_create(NULL, output, 1, inputs, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_writer_create(&writer, NULL, 1, inputs, NULL));
  REFUSED(FILE, "", ndr_h5_writer_create(&writer, "", 1, inputs, NULL));
  REFUSED(ARGUMENT, "-1", ndr_h5_writer_create(&writer, output, -1, inputs, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_writer_create(&writer, output, 1, NULL, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_writer_create(&writer, output, 1, nothing, NULL));
  REFUSED(ARGUMENT, "size is 0", writer_options.size = 0, create());
  REFUSED(ARGUMENT, "deflate", writer_options.deflate = 10, create());
  REFUSED(ARGUMENT, "deflate", writer_options.deflate = -2, create());
  REFUSED(ARGUMENT, "null", ndr_h5_writer_add(NULL, dataset, 1, dims, NDR_SUM, "y", &result));
  REFUSED(ARGUMENT, "null", create(), ndr_h5_writer_add(writer, NULL, 1, dims, NDR_SUM, "y", &result));
  REFUSED(ARGUMENT, "null", create(), ndr_h5_writer_add(writer, dataset, 1, dims, NDR_SUM, "y", NULL));
  REFUSED(ARGUMENT, "null", add_over(1, dims, NDR_SUM, NULL));
  REFUSED(FILE, "", add_over(1, dims, NDR_SUM, ""));
  REFUSED(FILE, "written", add_over(1, dims, NDR_SUM, "no/folder"));
  REFUSED(OP, "99", add_over(1, dims, (ndr_op)99, "y"));
  REFUSED(DIMS, "null", add_over(1, NULL, NDR_SUM, "y"));
  REFUSED(DIMS, "-2", add_over(-2, dims, NDR_SUM, "y"));
  REFUSED(DIMS, "1000", add_over(1000, dims, NDR_SUM, "y"));
  REFUSED(DIMS, "dim 7", dims[0] = 7, add());
  REFUSED(DIMS, "dim -9", dims[0] = -9, add());
  REFUSED(ARGUMENT, "-1 dims", result.ndim = -1, add());
  REFUSED(ARGUMENT, "33 dims", result.ndim = 33, add());
  REFUSED(ARGUMENT, "no shape", result.shape = NULL, add());
  REFUSED(ARGUMENT, "no data", result.data = NULL, add());
  REFUSED(ARGUMENT, "multiple of 8", result.byte_offset = 1, add());
  REFUSED(ARGUMENT, "compact", result.strides = steps, add());
  REFUSED(ARGUMENT, "host", result.device.device_type = kDLCUDA, add());
  REFUSED(RESULT, "shape", sizes[0] = 2, add());
  REFUSED(ARGUMENT, "size -3", sizes[0] = -3, add());
  REFUSED(DTYPE, "lanes", result.dtype.lanes = 2, add());
  REFUSED(ARGUMENT, "null", ndr_h5_writer_add_located(NULL, dataset, 1, dims, 0, "y", &result));
  REFUSED(ARGUMENT, "null", create(), ndr_h5_writer_add_located(writer, NULL, 1, dims, 0, "y", &result));
  REFUSED(DIMS, "dim 9", create(), ndr_h5_writer_add_located(writer, dataset, 1, dims, 9, "y", &result));
  REFUSED(ARGUMENT, "null", ndr_h5_writer_commit(NULL, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_writer_commit_bytes(NULL, text, 1, NULL));
  REFUSED(ARGUMENT, "null", create(), ndr_h5_writer_commit_bytes(writer, NULL, 1, NULL));
  HARMLESS((ndr_h5_writer_destroy(NULL), true));
  return at;
}

static spoiled_rows *const tables[] = {name_rows, open_rows, reduce_rows, weights_rows, locate_rows, writer_rows};
enum { TABLES = sizeof tables / sizeof *tables };

static void start(void) {
  ck_assert(mkdtemp(folder) != NULL);
  snprintf(input, sizeof input, "%s/in.h5", folder);
  snprintf(output, sizeof output, "%s/out.h5", folder);
  h5_write(input, &array, NDR_F64, H5P_DEFAULT);
  assert_ok(ndr_h5_open(&dataset, input, "/x", NULL));
}

static void finish(void) {
  ndr_h5_writer_destroy(writer);
  ndr_h5_close(dataset);
  unlink(input);
  ck_assert_msg(rmdir(folder) == 0, "%s is not empty", folder);
}

/* Rows of all tables, numbered through. */
START_TEST(a_wrong_argument_is_refused) {
  int row = _i, table = 0;
  for (; row >= ROW_COUNT(tables[table]); table++) row -= ROW_COUNT(tables[table]);
  tables[table](row);
}
END_TEST

START_TEST(the_calls_that_are_spoiled_are_sound) {
  assert_ok(reduce());
  ck_assert(out[0] == 5 && out[1] == 7 && out[2] == 9);
  assert_ok(add());
  assert_ok(reduce_weighted());
  ck_assert(out[0] == 5 && out[1] == 14 && out[2] == 27);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 arguments");
  TCase *spoiled = tcase_create("spoiled");
  int count_of_rows = 0;
  for (int t = 0; t < TABLES; t++) count_of_rows += ROW_COUNT(tables[t]);
  tcase_add_checked_fixture(spoiled, start, finish);
  tcase_set_timeout(spoiled, 30);
  tcase_add_test(spoiled, the_calls_that_are_spoiled_are_sound);
  tcase_add_loop_test(spoiled, a_wrong_argument_is_refused, 0, count_of_rows);
  suite_add_tcase(suite, spoiled);
  return suite_run(suite);
}
