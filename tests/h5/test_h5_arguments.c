/* Every function of h5.h with every argument wrong, one at a time: a status and a sentence, and no crash. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ndreduce/h5.h"
#include "support/h5_any.h"
#include "support/spoiled.h"

/* Sound arguments, which each row spoils in its own process. The file has /x [2,3] of f64. */
static const char *inputs[1] = {h5_input}, *nothing[1] = {NULL}, *paths[1] = {"/x"};
static double elements[6] = {1, 2, 3, 4, 5, 6}, out[6];
static int64_t shape[2] = {2, 3}, sizes[NDR_MAX_DIMS + 1] = {3}, steps[1] = {1}, found[3];
static DLTensor array = {elements, {kDLCPU, 0}, 2, {kDLFloat, 64, 1}, shape, NULL, 0};
static DLTensor result = {out, {kDLCPU, 0}, 1, {kDLFloat, 64, 1}, sizes, NULL, 0};
static DLTensor indices = {found, {kDLCPU, 0}, 1, {kDLInt, 64, 1}, sizes, NULL, 0};
static DLTensor weights = {elements, {kDLCPU, 0}, 1, {kDLFloat, 64, 1}, sizes, NULL, 0};
static DLTensor *results[1] = {&result}, *no_results[1] = {NULL};
static int dims[2] = {0, 0}, weight_dims[1] = {1}, count = 1;
static ndr_op ops[1] = {NDR_SUM};
static ndr_problem problem = NDR_PROBLEM_INIT;
static ndr_h5_options options = NDR_H5_OPTIONS_INIT;
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
  return ndr_h5_list(h5_input, NULL, visit_and_fork, &forked) == NDR_OK && forked;
}

static ndr_status reduce(void) {
  return ndr_h5_reduce(dataset, &problem, results, &options);
}

static ndr_status reduce_weighted(void) {
  options.weights = &weights;
  options.weight_dims = options.weight_dims ? options.weight_dims : weight_dims;
  return reduce();
}

static ndr_status create(void) {
  return ndr_h5_writer_create(&writer, h5_output, 1, inputs, &writer_options);
}

static ndr_status add(void) {
  return create() == NDR_OK ? ndr_h5_writer_add(writer, dataset, &problem, 0, "y", &result) : NDR_OK;
}

static ndr_status add_as(int i, const char *name) {
  return create() == NDR_OK ? ndr_h5_writer_add(writer, dataset, &problem, i, name, &result) : NDR_OK;
}

static ndr_status locate(void) {
  return ndr_h5_locate(dataset, &problem, 0, &indices, out);
}

/* Whoever destroys what a call has not made must find NULL there. */
static bool out_pointers_are_cleared(void) {
  ndr_h5_dataset *unset[3];
  ndr_h5_writer *unmade;
  memset(unset, 1, sizeof unset);
  memset((void *)&unmade, 1, sizeof unmade);
  ndr_h5_open_series(&unset[0], 0, inputs, paths, "0", NULL);
  ndr_h5_open_series(&unset[1], 1, inputs, paths, NULL, NULL);
  ndr_h5_open(&unset[2], NULL, "/x", NULL);
  ndr_h5_writer_create(&unmade, NULL, 0, NULL, NULL);
  return !unset[0] && !unset[1] && !unset[2] && !unmade;
}

static int name_rows(int row) {
  int at = 0;
  char *file, *path;
  REFUSED(ARGUMENT, "empty", ndr_h5_split(NULL, &file, &path));
  REFUSED(ARGUMENT, "empty", ndr_h5_split("", &file, &path));
  REFUSED(ARGUMENT, "null", ndr_h5_split(h5_input, NULL, &path));
  REFUSED(ARGUMENT, "null", ndr_h5_split(h5_input, &file, NULL));
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
  REFUSED(ARGUMENT, "null", ndr_h5_open(NULL, h5_input, "/x", NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_open(&opened, NULL, "/x", NULL));
  REFUSED(FILE, "No such", ndr_h5_open(&opened, "", "/x", NULL));
  REFUSED(FILE, "is empty", ndr_h5_open(&opened, h5_input, "", NULL));
  REFUSED(ARGUMENT, "size is 0", access_options.size = 0, ndr_h5_open(&opened, h5_input, "/x", &access_options));
  REFUSED(ARGUMENT, "size", access_options.size = SIZE_MAX, ndr_h5_list(h5_input, &access_options, visit, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_open_series(NULL, 1, inputs, paths, "0", NULL));
  REFUSED(ARGUMENT, "count is 0", ndr_h5_open_series(&opened, 0, inputs, paths, "0", NULL));
  REFUSED(ARGUMENT, "count is -1", ndr_h5_open_series(&opened, -1, inputs, paths, "0", NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_open_series(&opened, 1, NULL, paths, "0", NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_open_series(&opened, 1, nothing, paths, "0", NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_open_series(&opened, 1, inputs, NULL, "0", NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_open_series(&opened, 1, inputs, paths, NULL, NULL));
  REFUSED(DIMS, "dim 2", ndr_h5_open_series(&opened, 1, inputs, paths, "2", NULL));
  HARMLESS(out_pointers_are_cleared());
  REFUSED(ARGUMENT, "null", ndr_h5_list(NULL, NULL, visit, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_list(h5_input, NULL, NULL, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_coordinate(NULL, 0, out));
  REFUSED(DIMS, "dim 2", ndr_h5_coordinate(dataset, 2, out));
  REFUSED(DIMS, "dim -3", ndr_h5_coordinate(dataset, -3, out));
  REFUSED(ARGUMENT, "null", ndr_h5_coordinate_weights(dataset, 0, 1, NULL));
  REFUSED(DIMS, "no coordinates", ndr_h5_coordinate_weights(dataset, 1, 1, out));
  REFUSED(ARGUMENT, "null", ndr_h5_time_weights(dataset, 0, NULL));
  REFUSED(DIMS, "no coordinates", ndr_h5_time_weights(dataset, 1, out));
  HARMLESS(lists_and_forks());
  HARMLESS((ndr_h5_close(NULL), true));
  HARMLESS(!ndr_h5_describe(NULL));
  return at;
}

static int problem_rows(int row) {
  int at = 0;
  REFUSED(ARGUMENT, "null", ndr_h5_problem(&problem, NULL, 1, dims, 1, ops));
  REFUSED(ARGUMENT, "problem is a null", ndr_h5_problem(NULL, dataset, 1, dims, 1, ops));
  REFUSED(ARGUMENT, "in.h5:/x: problem.size is 3", problem.size = 3,
          ndr_h5_problem(&problem, dataset, 1, dims, 1, ops));
  REFUSED(ARGUMENT, "in.h5:/x: ops", ndr_h5_problem(&problem, dataset, 1, dims, 1, NULL));
  REFUSED(ARGUMENT, "op_count", ndr_h5_problem(&problem, dataset, 1, dims, -1, ops));
  REFUSED(ARGUMENT, "op_count", ndr_h5_problem(&problem, dataset, 1, dims, 1000, ops));
  REFUSED(OP, "99", ops[0] = (ndr_op)99, ndr_h5_problem(&problem, dataset, 1, dims, 1, ops));
  REFUSED(DIMS, "null", ndr_h5_problem(&problem, dataset, 1, NULL, 1, ops));
  REFUSED(DIMS, "-7", ndr_h5_problem(&problem, dataset, -7, dims, 1, ops));
  REFUSED(DIMS, "dim 2", dims[0] = 2, ndr_h5_problem(&problem, dataset, 1, dims, 1, ops));
  return at;
}

static int reduce_rows(int row) {
  int at = 0;
  REFUSED(ARGUMENT, "null", ndr_h5_reduce(NULL, &problem, results, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_reduce(dataset, NULL, results, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_reduce(dataset, &problem, NULL, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_reduce(dataset, &problem, no_results, NULL));
  REFUSED(ARGUMENT, "problem.size", problem.size = 0, reduce());
  REFUSED(ARGUMENT, "op_count", problem.op_count = -1, reduce());
  REFUSED(ARGUMENT, "op_count", problem.op_count = 1000, reduce());
  REFUSED(OP, "99", problem.ops[0] = (ndr_op)99, reduce());
  REFUSED(DIMS, "-7", problem.dim_count = -7, reduce());
  REFUSED(DIMS, "1000", problem.dim_count = 1000, reduce());
  REFUSED(DIMS, "dim 2", problem.dims[0] = 2, reduce());
  REFUSED(ARGUMENT, "ddof", problem.ddof = -1, reduce());
  REFUSED(ARGUMENT, "accumulate", problem.accumulate = (ndr_accumulate)7, reduce());
  REFUSED(ARGUMENT, "in.h5:/x: the problem is of f64 [2,4], the dataset of f64 [2,3]", problem.shape[1] = 4, reduce());
  REFUSED(ARGUMENT, "the problem is of f64 [2], the", problem.ndim = 1, reduce());
  REFUSED(ARGUMENT, "the dataset of f64 [2,3]", problem.ndim = 1000, reduce());
  REFUSED(ARGUMENT, "the dataset of f64 [2,3]", problem.ndim = -1, reduce());
  REFUSED(ARGUMENT, "in.h5:/x: the problem is of f32 [2,3], the", problem.dtype = NDR_F32, reduce());
  REFUSED(ARGUMENT, "an unknown dtype", problem.dtype = (ndr_dtype)99, reduce());
  REFUSED(RESULT, "shape", result.ndim = -1, reduce());
  REFUSED(RESULT, "shape", result.shape = NULL, reduce());
  REFUSED(ARGUMENT, "no data", result.data = NULL, reduce());
  REFUSED(ARGUMENT, "multiple of 8", result.byte_offset = 4, reduce());
  REFUSED(ARGUMENT, "byte_offset", result.byte_offset = (uint64_t)1 << 63, reduce());
  REFUSED(RESULT, "cuda", result.device.device_type = kDLCUDA, reduce());
  REFUSED(RESULT, "f32", result.dtype.bits = 32, reduce());
  REFUSED(ARGUMENT, "options.size", options.size = 0, reduce());
  REFUSED(ARGUMENT, "options.size", options.size = SIZE_MAX, reduce());
  REFUSED(ARGUMENT, "threads", options.threads = -1, reduce());
  REFUSED(ARGUMENT, "memory", options.memory = -1, reduce());
  REFUSED(MEMORY, "", options.memory = 1, reduce());
  REFUSED(ARGUMENT, "device", options.device = (ndr_h5_device)99, reduce());
  REFUSED(NO_DEVICE, "cuda:-1", (options.device = NDR_H5_CUDA, options.device_id = -1), reduce());
  REFUSED(ARGUMENT, "length", ndr_h5_explain(dataset, &problem, NULL, text, sizeof text, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_explain(NULL, &problem, NULL, text, sizeof text, &length));
  REFUSED(ARGUMENT, "null", ndr_h5_explain(dataset, NULL, NULL, text, sizeof text, &length));
  HARMLESS(ndr_h5_explain(dataset, &problem, NULL, NULL, 99, &length) == NDR_OK && length > 0);
  HARMLESS((memset(problem.strides, 0xff, sizeof problem.strides), reduce() == NDR_OK && out[2] == 9));
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
  REFUSED(OP, "weighted form", problem.ops[0] = NDR_MAX, reduce_weighted());
  REFUSED(ARGUMENT, "op_count", problem.op_count = 1000, reduce_weighted());
  return at;
}

static int locate_rows(int row) {
  int at = 0;
  REFUSED(ARGUMENT, "null", ndr_h5_locate(NULL, &problem, 0, &indices, out));
  REFUSED(ARGUMENT, "null", ndr_h5_locate(dataset, NULL, 0, &indices, out));
  REFUSED(ARGUMENT, "null", ndr_h5_locate(dataset, &problem, 0, NULL, out));
  REFUSED(ARGUMENT, "null", ndr_h5_locate(dataset, &problem, 0, &indices, NULL));
  REFUSED(ARGUMENT, "the dataset of f64 [2,3]", problem.shape[0] = 3, locate());
  REFUSED(DIMS, "-2", problem.dim_count = -2, locate());
  REFUSED(DIMS, "1000", problem.dim_count = 1000, locate());
  REFUSED(DIMS, "dim 5", problem.dims[0] = 5, locate());
  REFUSED(DIMS, "dim 9", ndr_h5_locate(dataset, &problem, 9, &indices, out));
  REFUSED(ARGUMENT, "i64", ndr_h5_locate(dataset, &problem, 0, &result, out));
  REFUSED(ARGUMENT, "i64", indices.strides = steps, locate());
  REFUSED(ARGUMENT, "-1 dims", indices.ndim = -1, locate());
  REFUSED(ARGUMENT, "no shape", indices.shape = NULL, locate());
  REFUSED(ARGUMENT, "no data", indices.data = NULL, locate());
  REFUSED(ARGUMENT, "multiple of 8", indices.byte_offset = 2, locate());
  return at;
}

static int writer_rows(int row) {
  int at = 0;
  REFUSED(ARGUMENT, "null", ndr_h5_writer_create(NULL, h5_output, 1, inputs, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_writer_create(&writer, NULL, 1, inputs, NULL));
  REFUSED(FILE, "", ndr_h5_writer_create(&writer, "", 1, inputs, NULL));
  REFUSED(ARGUMENT, "-1", ndr_h5_writer_create(&writer, h5_output, -1, inputs, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_writer_create(&writer, h5_output, 1, NULL, NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_writer_create(&writer, h5_output, 1, nothing, NULL));
  REFUSED(ARGUMENT, "size is 0", writer_options.size = 0, create());
  REFUSED(ARGUMENT, "deflate", writer_options.deflate = 10, create());
  REFUSED(ARGUMENT, "deflate", writer_options.deflate = -2, create());
  REFUSED(ARGUMENT, "null", ndr_h5_writer_array_sources(NULL, 0, NULL, NULL));
  REFUSED(ARGUMENT, "null", create(), ndr_h5_writer_array_sources(writer, 1, NULL, paths));
  REFUSED(ARGUMENT, "null", create(), ndr_h5_writer_array_sources(writer, 1, paths, NULL));
  REFUSED(ARGUMENT, "-1", create(), ndr_h5_writer_array_sources(writer, -1, paths, paths));
  REFUSED(ARGUMENT, "source 0 is a null", create(), ndr_h5_writer_array_sources(writer, 1, paths, nothing));
  REFUSED(ARGUMENT, "null", ndr_h5_writer_weight_units(NULL, "m2"));
  REFUSED(ARGUMENT, "null", ndr_h5_writer_add(NULL, dataset, &problem, 0, "y", &result));
  REFUSED(ARGUMENT, "null", create(), ndr_h5_writer_add(writer, NULL, &problem, 0, "y", &result));
  REFUSED(ARGUMENT, "null", create(), ndr_h5_writer_add(writer, dataset, NULL, 0, "y", &result));
  REFUSED(ARGUMENT, "null", create(), ndr_h5_writer_add(writer, dataset, &problem, 0, "y", NULL));
  REFUSED(ARGUMENT, "null", add_as(0, NULL));
  REFUSED(ARGUMENT, "no name", add_as(0, ""));
  REFUSED(ARGUMENT, "no name", add_as(0, "/y"));
  REFUSED(ARGUMENT, "no name", add_as(0, "group//y"));
  REFUSED(ARGUMENT, "no name", add_as(0, "group/."));
  REFUSED(ARGUMENT, "null", ndr_h5_writer_copy(NULL, dataset, paths));
  REFUSED(ARGUMENT, "null", create(), ndr_h5_writer_copy(writer, NULL, paths));
  REFUSED(ARGUMENT, "null", create(), ndr_h5_writer_copy(writer, dataset, NULL));
  REFUSED(ARGUMENT, "1 is none of the problem's 1", add_as(1, "y"));
  REFUSED(ARGUMENT, "-1 is none", add_as(-1, "y"));
  REFUSED(OP, "99", problem.ops[0] = (ndr_op)99, add());
  REFUSED(DIMS, "-2", problem.dim_count = -2, add());
  REFUSED(DIMS, "1000", problem.dim_count = 1000, add());
  REFUSED(DIMS, "dim 7", problem.dims[0] = 7, add());
  REFUSED(DIMS, "dim -9", problem.dims[0] = -9, add());
  REFUSED(ARGUMENT, "in.h5:/x: the problem is of", problem.shape[0] = 7, add());
  REFUSED(ARGUMENT, "the dataset of f64 [2,3]", problem.dtype = NDR_I32, add());
  REFUSED(RESULT, "f32, which", result.dtype.bits = 32, add());
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
  REFUSED(ARGUMENT, "null", ndr_h5_writer_add_located(NULL, dataset, &problem, 0, "y", &result));
  REFUSED(ARGUMENT, "null", create(), ndr_h5_writer_add_located(writer, NULL, &problem, 0, "y", &result));
  REFUSED(DIMS, "dim 9", create(), ndr_h5_writer_add_located(writer, dataset, &problem, 9, "y", &result));
  REFUSED(ARGUMENT, "null", ndr_h5_writer_commit(NULL));
  REFUSED(ARGUMENT, "null", ndr_h5_writer_commit_bytes(NULL, text, 1));
  REFUSED(ARGUMENT, "null", create(), ndr_h5_writer_commit_bytes(writer, NULL, 1));
  HARMLESS((ndr_h5_writer_destroy(NULL), true));
  return at;
}

static spoiled_rows *const tables[] = {name_rows,    open_rows,   problem_rows, reduce_rows,
                                       weights_rows, locate_rows, writer_rows};
enum { TABLES = sizeof tables / sizeof *tables };

static void start(void) {
  h5_make_folder();
  h5_write(h5_input, &array, NDR_F64, H5P_DEFAULT);
  assert_ok(ndr_h5_open(&dataset, h5_input, "/x", NULL));
  assert_ok(ndr_h5_problem(&problem, dataset, 1, dims, 1, ops));
}

static void finish(void) {
  ndr_h5_writer_destroy(writer);
  ndr_h5_close(dataset);
  ck_assert_int_ne(access(h5_output, F_OK), 0);
  h5_remove_folder();
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
