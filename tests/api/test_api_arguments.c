/* Every function of ndreduce.h, plan.h and device.h with every argument wrong, one at a time: a status and a sentence,
 * and no crash. What the sentence is about in detail is the matter of test_api_errors.c. */
#include <math.h>
#include <stdbool.h>

#include "ndreduce/device.h"
#include "ndreduce/plan.h"
#include "support/spoiled.h"

/* Sound arguments, which each row spoils in its own process. */
static float data[6] = {1, 2, 3, 4, 5, 6}, out[3];
static char bytes[64];
static int64_t shape[NDR_MAX_DIMS + 1] = {2, 3}, out_shape[NDR_MAX_DIMS + 1] = {3}, strides[2] = {3, 1},
                                    out_strides[1] = {1};
static DLTensor array = {data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, strides, 0};
static DLTensor result = {out, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, out_shape, out_strides, 0};
static DLTensor *results[1] = {&result}, *no_results[1] = {NULL};
static int dims[2] = {0, 0};
static ndr_op ops[1] = {NDR_SUM};
static ndr_options options = NDR_OPTIONS_INIT;
static ndr_device machine = {sizeof machine, kDLCPU, 0, 2, 1, 32768, 32768, 1 << 20, 1e10, 0, 0};
static const DLDevice cpu = {kDLCPU, 0}, nowhere = {kDLVulkan, 0};
static ndr_plan *plan;
static ndr_accumulator *sums, *other;
static int64_t offset[2];
static ndr_problem problem = {.size = sizeof problem,
                              .dtype = NDR_F32,
                              .ndim = 2,
                              .shape = {2, 3},
                              .strides = {3, 1},
                              .dim_count = 1,
                              .op_count = 1};
static ndr_stored stored = NDR_STORED_INIT(NDR_F32);
static void *memory;

static ndr_status reduce(void) {
  return ndreduce(&array, 1, dims, ops[0], &result, &options);
}

static ndr_status describe(void) {
  int64_t sizes[NDR_MAX_DIMS];
  DLTensor described = {.shape = sizes};
  return ndr_result_describe(&array, 1, dims, ops[0], &options, &described);
}

static ndr_status make_plan(void) {
  return ndr_plan_create(&plan, &problem, cpu, (const DLTensor *const *)results, &options);
}

static ndr_status accumulate(void) {
  return ndr_accumulator_create(&sums, &problem, cpu, &options);
}

static ndr_status execute(const void *from, void *to, void *workspace, size_t workspace_bytes) {
  return make_plan() == NDR_OK ? ndr_plan_execute(plan, from, &to, workspace, workspace_bytes, NULL) : NDR_OK;
}

static ndr_status add(void) {
  return accumulate() == NDR_OK ? ndr_accumulator_add(sums, &array, offset) : NDR_OK;
}

static ndr_status finish(void) {
  return accumulate() == NDR_OK ? ndr_accumulator_finish(sums, results) : NDR_OK;
}

static ndr_status merge(int64_t rows) {
  ndr_status status = accumulate();
  problem.shape[0] = rows;
  if (status == NDR_OK) status = ndr_accumulator_create(&other, &problem, cpu, NULL);
  return status == NDR_OK ? ndr_accumulator_merge(sums, other) : NDR_OK;
}

static ndr_status convert(DLDevice device) {
  stored.ndim = 1;
  stored.shape[0] = stored.chunk[0] = 6;
  return ndr_convert_stored(device, &stored, data, data, NULL);
}

static int reduce_rows(int row) {
  int at = 0;
  REFUSED(ARGUMENT, "array", ndreduce(NULL, 1, dims, NDR_SUM, &result, NULL));
  REFUSED(ARGUMENT, "result", ndreduce(&array, 1, dims, NDR_SUM, NULL, NULL));
  REFUSED(DIMS, "dims", ndreduce(&array, 1, NULL, NDR_SUM, &result, NULL));
  REFUSED(DIMS, "-2", ndreduce(&array, -2, dims, NDR_SUM, &result, NULL));
  REFUSED(DIMS, "33", ndreduce(&array, NDR_MAX_DIMS + 1, dims, NDR_SUM, &result, NULL));
  REFUSED(DIMS, "2147483647", ndreduce(&array, INT32_MAX, dims, NDR_SUM, &result, NULL));
  REFUSED(DIMS, "dim 0", ndreduce(&array, 2, dims, NDR_SUM, &result, NULL));
  REFUSED(DIMS, "-3", dims[0] = -3, reduce());
  REFUSED(OP, "-1", ndreduce(&array, 1, dims, (ndr_op)-1, &result, NULL));
  REFUSED(OP, "18", ndreduce(&array, 1, dims, (ndr_op)NDR_OP_COUNT, &result, NULL));
  REFUSED(ARGUMENT, "op_count", ndreduce_many(&array, 1, dims, 0, ops, results, NULL));
  REFUSED(ARGUMENT, "-1", ndreduce_many(&array, 1, dims, -1, ops, results, NULL));
  REFUSED(ARGUMENT, "21", ndreduce_many(&array, 1, dims, NDR_MAX_OPS + 1, ops, results, NULL));
  REFUSED(ARGUMENT, "ops", ndreduce_many(&array, 1, dims, 1, NULL, results, NULL));
  REFUSED(ARGUMENT, "results", ndreduce_many(&array, 1, dims, 1, ops, NULL, NULL));
  REFUSED(ARGUMENT, "result", ndreduce_many(&array, 1, dims, 1, ops, no_results, NULL));
  REFUSED(ARGUMENT, "array", ndr_result_describe(NULL, 1, dims, NDR_SUM, NULL, &result));
  REFUSED(ARGUMENT, "result", ndr_result_describe(&array, 1, dims, NDR_SUM, NULL, NULL));
  REFUSED(ARGUMENT, "room", result.shape = NULL, ndr_result_describe(&array, 1, dims, NDR_SUM, NULL, &result));
  REFUSED(DIMS, "dims", ndr_result_describe(&array, 1, NULL, NDR_SUM, NULL, &result));
  return at;
}

static int array_rows(int row) {
  int at = 0;
  REFUSED(ARGUMENT, "-1", array.ndim = -1, reduce());
  REFUSED(ARGUMENT, "33", array.ndim = NDR_MAX_DIMS + 1, reduce());
  REFUSED(ARGUMENT, "-1", array.ndim = -1, describe());
  REFUSED(ARGUMENT, "shape", array.shape = NULL, reduce());
  REFUSED(ARGUMENT, "shape", array.shape = NULL, describe());
  REFUSED(ARGUMENT, "size -3", shape[1] = -3, reduce());
  REFUSED(ARGUMENT, "no data", array.data = NULL, reduce());
  REFUSED(ARGUMENT, "multiple of 4", array.byte_offset = 2, reduce());
  REFUSED(ARGUMENT, "the array's byte_offset -9223372036854775808 leads out", array.byte_offset = (uint64_t)1 << 63,
          reduce());
  REFUSED(ARGUMENT, "byte_offset 9223372036854775804", array.byte_offset = INT64_MAX - 3, reduce());
  REFUSED(ARGUMENT, "byte_offset", array.byte_offset = -(uint64_t)(uintptr_t)data, reduce());
  REFUSED(ARGUMENT, "multiple of 4", array.data = (char *)data + 1, reduce());
  REFUSED(OVERFLOW, "dim 0", strides[0] = INT64_MIN, reduce());
  REFUSED(OVERFLOW, "size", shape[0] = INT64_MAX, reduce());
  REFUSED(DTYPE, "3 lanes", array.dtype.lanes = 3, reduce());
  REFUSED(DTYPE, "0 bits", array.dtype.bits = 0, reduce());
  REFUSED(DTYPE, "code 77", array.dtype.code = 77, describe());
  REFUSED(NO_DEVICE, "vulkan", array.device.device_type = kDLVulkan, reduce());
  REFUSED(NO_DEVICE, "type -5", array.device.device_type = (DLDeviceType)-5, reduce());
  return at;
}

static int result_rows(int row) {
  int at = 0;
  REFUSED(RESULT, "shape", result.ndim = -1, reduce());
  REFUSED(RESULT, "shape", result.ndim = NDR_MAX_DIMS + 1, reduce());
  REFUSED(RESULT, "shape", result.shape = NULL, reduce());
  REFUSED(RESULT, "[-3]", out_shape[0] = -3, reduce());
  REFUSED(ARGUMENT, "no data", result.data = NULL, reduce());
  REFUSED(ARGUMENT, "multiple of 4", result.byte_offset = 3, reduce());
  REFUSED(ARGUMENT, "the result's byte_offset", result.byte_offset = (uint64_t)1 << 63, reduce());
  REFUSED(RESULT, "overlap", out_strides[0] = 0, reduce());
  REFUSED(OVERFLOW, "result", out_strides[0] = INT64_MIN, reduce());
  REFUSED(RESULT, "unknown", result.dtype.bits = 7, reduce());
  REFUSED(RESULT, "i32", result.dtype.code = kDLInt, reduce());
  REFUSED(RESULT, "cuda:3", result.device = (DLDevice){kDLCUDA, 3}, reduce());
  REFUSED(RESULT, "unknown:0", result.device.device_type = (DLDeviceType)1000, reduce());
  return at;
}

static int options_rows(int row) {
  int at = 0;
  options.device = &machine;
  if (row < 0) options.device = NULL;
  REFUSED(ARGUMENT, "options.size is 0", options.size = 0, reduce());
  REFUSED(ARGUMENT, "options.size is 4", options.size = 4, describe());
  REFUSED(ARGUMENT, "which no version", options.size = offsetof(ndr_options, threads) + 3, reduce());
  REFUSED(ARGUMENT, "options.size", options.size = SIZE_MAX, make_plan());
  REFUSED(ARGUMENT, "options.size", options.size = 3, accumulate());
  REFUSED(ARGUMENT, "accumulate", options.accumulate = (ndr_accumulate)2, reduce());
  REFUSED(ARGUMENT, "planning", options.planning = (ndr_planning)-1, make_plan());
  REFUSED(ARGUMENT, "threads", options.threads = -1, reduce());
  REFUSED(ARGUMENT, "ddof", options.ddof = -1, reduce());
  REFUSED(ARGUMENT, "ddof", options.ddof = NAN, accumulate());
  REFUSED(UNSUPPORTED, "family", options.force_family = "", reduce());
  REFUSED(UNSUPPORTED, "family", options.force_family = "a family with a name that is far too long", accumulate());
  REFUSED(ARGUMENT, "device.size", machine.size = 0, reduce());
  REFUSED(ARGUMENT, "device.units", machine.size = 8, accumulate());
  REFUSED(ARGUMENT, "device.size", machine.size = SIZE_MAX, make_plan());
  REFUSED(ARGUMENT, "vulkan", machine.type = kDLVulkan, reduce());
  REFUSED(ARGUMENT, "units", machine.units = 0, reduce());
  REFUSED(ARGUMENT, "units", machine.units = INT32_MIN, accumulate());
  REFUSED(ARGUMENT, "bandwidth", machine.bandwidth = 0, make_plan());
  REFUSED(ARGUMENT, "bandwidth", machine.bandwidth = NAN, reduce());
  REFUSED(ARGUMENT, "negative", machine.l2_bytes = -1, reduce());
  return at;
}

static int plan_rows(int row) {
  int at = 0;
  REFUSED(ARGUMENT, "plan", ndr_plan_create(NULL, &problem, cpu, NULL, NULL));
  REFUSED(ARGUMENT, "problem", ndr_plan_create(&plan, NULL, cpu, NULL, NULL));
  REFUSED(NO_DEVICE, "vulkan", ndr_plan_create(&plan, &problem, nowhere, NULL, NULL));
  REFUSED(ARGUMENT, "problem.size", problem.size = 0, make_plan());
  REFUSED(DTYPE, "-1", problem.dtype = (ndr_dtype)-1, make_plan());
  REFUSED(DIMS, "dim 7", problem.dims[0] = 7, make_plan());
  REFUSED(DIMS, "dim_count", problem.dim_count = -2, make_plan());
  REFUSED(ARGUMENT, "op_count", problem.op_count = -1, make_plan());
  REFUSED(ARGUMENT, "21", problem.op_count = NDR_MAX_OPS + 1, make_plan());
  REFUSED(OVERFLOW, "dim 0", problem.strides[0] = INT64_MIN, make_plan());
  REFUSED(ARGUMENT, "ddof", problem.ddof = NAN, make_plan());
  REFUSED(ARGUMENT, "accumulate", problem.accumulate = (ndr_accumulate)7, make_plan());
  REFUSED(ARGUMENT, "options.keepdims", options.keepdims = 1, make_plan());
  REFUSED(ARGUMENT, "options.skip_nan", options.skip_nan = 1, make_plan());
  REFUSED(ARGUMENT, "options.ddof", options.ddof = 1, accumulate());
  REFUSED(ARGUMENT, "options.accumulate", options.accumulate = NDR_ACCUMULATE_F64, accumulate());
  REFUSED(ARGUMENT, "result", results[0] = NULL, make_plan());
  REFUSED(RESULT, "shape", result.ndim = -1, make_plan());
  REFUSED(ARGUMENT, "null", ndr_plan_execute(NULL, data, (void *[]){out}, NULL, 0, NULL));
  REFUSED(ARGUMENT, "null", make_plan(), ndr_plan_execute(plan, data, NULL, NULL, 0, NULL));
  REFUSED(ARGUMENT, "data", execute(NULL, out, NULL, 0));
  REFUSED(ARGUMENT, "result 0", execute(data, NULL, NULL, 0));
  REFUSED(ARGUMENT, "data's address", execute((char *)data + 1, out, NULL, 0));
  REFUSED(ARGUMENT, "result 0's address", execute(data, (char *)out + 2, NULL, 0));
  REFUSED(ARGUMENT, "workspace's address", execute(data, out, bytes + 1, sizeof bytes - 1));
  REFUSED(ARGUMENT, "workspace", execute(data, out, NULL, 256));
  HARMLESS(ndr_plan_workspace(NULL) == 0);
  HARMLESS(ndr_plan_describe(NULL, NULL, 0) == 0);
  HARMLESS(ndr_plan_describe(NULL, bytes, sizeof bytes) == 0 && bytes[0] == 0);
  HARMLESS(make_plan() == NDR_OK && ndr_plan_describe(plan, NULL, 100) > 0);
  HARMLESS((ndr_plan_destroy(NULL), true));
  return at;
}

static int accumulator_rows(int row) {
  int at = 0;
  REFUSED(ARGUMENT, "accumulator", ndr_accumulator_create(NULL, &problem, cpu, NULL));
  REFUSED(ARGUMENT, "problem", ndr_accumulator_create(&sums, NULL, cpu, NULL));
  REFUSED(NO_DEVICE, "vulkan", ndr_accumulator_create(&sums, &problem, nowhere, NULL));
  REFUSED(DTYPE, "15", problem.dtype = (ndr_dtype)15, accumulate());
  REFUSED(ARGUMENT, "-1", problem.ndim = -1, accumulate());
  REFUSED(ARGUMENT, "33", problem.ndim = 33, accumulate());
  REFUSED(ARGUMENT, "size -3", problem.shape[1] = -3, accumulate());
  REFUSED(DIMS, "dim -3", problem.dims[0] = -3, accumulate());
  REFUSED(ARGUMENT, "op_count", problem.op_count = 0, accumulate());
  REFUSED(MEMORY, "memory", (problem.shape[1] = INT64_C(1) << 59, problem.shape[0] = 1), accumulate());
  REFUSED(ARGUMENT, "accumulator", ndr_accumulator_add(NULL, &array, offset));
  REFUSED(ARGUMENT, "slab", accumulate(), ndr_accumulator_add(sums, NULL, offset));
  REFUSED(ARGUMENT, "offset", accumulate(), ndr_accumulator_add(sums, &array, NULL));
  REFUSED(ARGUMENT, "dims", array.ndim = -1, add());
  REFUSED(ARGUMENT, "shape", array.shape = NULL, add());
  REFUSED(ARGUMENT, "no data", array.data = NULL, add());
  REFUSED(ARGUMENT, "multiple of 4", array.byte_offset = 1, add());
  REFUSED(ARGUMENT, "f64", array.dtype.bits = 64, add());
  REFUSED(ARGUMENT, "cuda:1", array.device = (DLDevice){kDLCUDA, 1}, add());
  REFUSED(ARGUMENT, "at -1", offset[0] = -1, add());
  REFUSED(ARGUMENT, "leaves dim 1", offset[1] = INT64_MAX, add());
  REFUSED(ARGUMENT, "two", accumulate(), ndr_accumulator_merge(sums, sums));
  REFUSED(ARGUMENT, "two", accumulate(), ndr_accumulator_merge(sums, NULL));
  REFUSED(ARGUMENT, "two", accumulate(), ndr_accumulator_merge(NULL, sums));
  REFUSED(ARGUMENT, "alike", merge(5));
  REFUSED(ARGUMENT, "accumulator", ndr_accumulator_finish(NULL, results));
  REFUSED(ARGUMENT, "results", accumulate(), ndr_accumulator_finish(sums, NULL));
  REFUSED(ARGUMENT, "result", results[0] = NULL, finish());
  REFUSED(ARGUMENT, "no data", result.data = NULL, finish());
  REFUSED(ARGUMENT, "multiple of 4", result.byte_offset = 2, finish());
  REFUSED(RESULT, "shape", result.shape = NULL, finish());
  REFUSED(RESULT, "cuda:0", result.device.device_type = kDLCUDA, finish());
  HARMLESS(ndr_accumulator_bytes(NULL) == 0);
  HARMLESS((ndr_accumulator_destroy(NULL), true));
  return at;
}

static int memory_rows(int row) {
  int at = 0, count;
  const DLDevice odd = {(DLDeviceType)-1, -1};
  REFUSED(ARGUMENT, "count", ndr_device_count(kDLCPU, NULL));
  REFUSED(NO_DEVICE, "vulkan", ndr_device_count(kDLVulkan, &count));
  REFUSED(NO_DEVICE, "type 99", ndr_device_count((DLDeviceType)99, &count));
  REFUSED(ARGUMENT, "memory", ndr_memory_allocate(cpu, 8, NULL));
  REFUSED(NO_DEVICE, "vulkan", ndr_memory_allocate(nowhere, 8, &memory));
  REFUSED(MEMORY, "bytes", ndr_memory_allocate(cpu, SIZE_MAX, &memory));
  REFUSED(MEMORY, "bytes", ndr_memory_allocate(cpu, PTRDIFF_MAX, &memory));
  REFUSED(ARGUMENT, "stream", ndr_stream_create(cpu, NULL));
  REFUSED(NO_DEVICE, "type -1", ndr_stream_create(odd, &memory));
  REFUSED(NO_DEVICE, "type -1", ndr_stream_follow(odd, NULL, NULL));
  REFUSED(NO_DEVICE, "type -1", ndr_stream_wait(odd, NULL));
  REFUSED(ARGUMENT, "two places", ndr_copy(cpu, NULL, data, 4, NULL));
  REFUSED(ARGUMENT, "two places", ndr_copy(cpu, out, NULL, 4, NULL));
  REFUSED(NO_DEVICE, "type -1", ndr_copy(odd, out, data, 4, NULL));
  HARMLESS((ndr_memory_free(cpu, NULL), ndr_memory_free(odd, data), true));
  HARMLESS((ndr_stream_destroy(cpu, NULL), ndr_stream_destroy(odd, data), true));
  REFUSED(ARGUMENT, "stored", ndr_convert_stored(cpu, NULL, data, data, NULL));
  REFUSED(UNSUPPORTED, "GPU", convert(cpu));
  REFUSED(NO_DEVICE, "vulkan", convert(nowhere));
  REFUSED(ARGUMENT, "size", stored.size = 0, convert(cpu));
  REFUSED(ARGUMENT, "size", stored.size = SIZE_MAX, convert(cpu));
  REFUSED(ARGUMENT, "ndim", stored.ndim = -1, ndr_convert_stored(cpu, &stored, data, data, NULL));
  REFUSED(ARGUMENT, "ndim", stored.ndim = 33, ndr_convert_stored(cpu, &stored, data, data, NULL));
  REFUSED(ARGUMENT, "missing_count", stored.missing_count = 17, convert(cpu));
  REFUSED(ARGUMENT, "missing_count", stored.missing_count = -1, convert(cpu));
  REFUSED(DTYPE, "99", stored.dtype = (ndr_dtype)99, convert(cpu));
  REFUSED(DTYPE, "-1", stored.result = (ndr_dtype)-1, convert(cpu));
  REFUSED(ARGUMENT, "dim 0", stored.ndim = 2, ndr_convert_stored(cpu, &stored, data, data, NULL));
  return at;
}

static int text_rows(int row) {
  int at = 0;
  ndr_dtype dtype;
  int64_t low, high;
  REFUSED(ARGUMENT, "null", ndr_op_parse(NULL, ops));
  REFUSED(ARGUMENT, "null", ndr_op_parse("sum", NULL));
  REFUSED(OP, "''", ndr_op_parse("", ops));
  REFUSED(ARGUMENT, "null", ndr_dtype_parse(NULL, &dtype));
  REFUSED(ARGUMENT, "null", ndr_dtype_parse("f32", NULL));
  REFUSED(ARGUMENT, "null", ndr_dtype_from_dlpack(array.dtype, NULL));
  REFUSED(ARGUMENT, "null", ndr_problem_parse(NULL, &problem));
  REFUSED(ARGUMENT, "null", ndr_problem_parse("sum f32 [2] /0", NULL));
  REFUSED(ARGUMENT, "null", ndr_problem_extent(NULL, &low, &high));
  REFUSED(ARGUMENT, "problem.size", problem.size = offsetof(ndr_problem, ddof) + 4,
          ndr_problem_parse("sum f32 [2] /0", &problem));
  REFUSED(ARGUMENT, "problem.size", problem.size = 7, ndr_problem_parse("sum f32 [2] /0", &problem));
  REFUSED(ARGUMENT, "null", ndr_problem_make(NULL, &array, 1, dims, 1, ops));
  REFUSED(ARGUMENT, "array", ndr_problem_make(&problem, NULL, 1, dims, 1, ops));
  REFUSED(DIMS, "dims", ndr_problem_make(&problem, &array, 1, NULL, 1, ops));
  REFUSED(ARGUMENT, "ops", ndr_problem_make(&problem, &array, 1, dims, 1, NULL));
  REFUSED(ARGUMENT, "op_count", ndr_problem_make(&problem, &array, 1, dims, 0, ops));
  REFUSED(ARGUMENT, "null", ndr_problem_result(NULL, 0, &result));
  REFUSED(ARGUMENT, "room", ndr_problem_result(&problem, 0, NULL));
  REFUSED(ARGUMENT, "1 is none", ndr_problem_result(&problem, 1, &result));
  REFUSED(ARGUMENT, "null", ndr_problem_extent(&problem, NULL, &high));
  REFUSED(ARGUMENT, "null", ndr_problem_extent(&problem, &low, NULL));
  REFUSED(ARGUMENT, "-1 dims", problem.ndim = -1, ndr_problem_extent(&problem, &low, &high));
  REFUSED(ARGUMENT, "33 dims", problem.ndim = 33, ndr_problem_extent(&problem, &low, &high));
  REFUSED(ARGUMENT, "size -2", problem.shape[0] = -2, ndr_problem_extent(&problem, &low, &high));
  REFUSED(DTYPE, "99", problem.dtype = (ndr_dtype)99, ndr_problem_extent(&problem, &low, &high));
  REFUSED(ARGUMENT, "null", ndr_measurements_import(NULL));
  HARMLESS(ndr_measurements_export(NULL, 100) == 0);
  HARMLESS(ndr_problem_print(NULL, bytes, sizeof bytes) == 0 && bytes[0] == 0);
  HARMLESS(ndr_problem_print(&problem, NULL, 100) > 0);
  HARMLESS((problem.ndim = 33, ndr_problem_print(&problem, bytes, sizeof bytes)) == 0);
  HARMLESS((problem.op_count = 1000, ndr_problem_print(&problem, bytes, sizeof bytes)) == 0);
  HARMLESS((problem.ops[0] = (ndr_op)-1, ndr_problem_print(&problem, bytes, sizeof bytes)) == 0);
  HARMLESS((problem.dtype = (ndr_dtype)-1, ndr_problem_print(&problem, bytes, sizeof bytes)) == 0);
  HARMLESS((problem.dim_count = 99, ndr_problem_print(&problem, bytes, sizeof bytes)) == 0);
  HARMLESS(!ndr_op_name((ndr_op)-1) && !ndr_op_name((ndr_op)99) && !ndr_op_help((ndr_op)-1));
  HARMLESS(!ndr_dtype_name((ndr_dtype)-1) && !ndr_dtype_name((ndr_dtype)99));
  HARMLESS(ndr_dtype_bytes((ndr_dtype)-1) == 0 && ndr_dtype_to_dlpack((ndr_dtype)99).bits == 0);
  HARMLESS(strcmp(ndr_status_name((ndr_status)-1), "unknown status") == 0);
  return at;
}

static spoiled_rows *const tables[] = {reduce_rows, array_rows,       result_rows, options_rows,
                                       plan_rows,   accumulator_rows, memory_rows, text_rows};
enum { TABLES = sizeof tables / sizeof *tables };

/* Rows of all tables, numbered through. */
START_TEST(a_wrong_argument_is_refused) {
  int row = _i, table = 0;
  for (; row >= ROW_COUNT(tables[table]); table++) row -= ROW_COUNT(tables[table]);
  tables[table](row);
  ndr_plan_destroy(plan);
  ndr_accumulator_destroy(sums);
  ndr_accumulator_destroy(other);
}
END_TEST

START_TEST(the_calls_that_are_spoiled_are_sound) {
  assert_ok(reduce());
  assert_ok(describe());
  assert_ok(execute(data, out, NULL, 0));
  assert_ok(add());
  assert_ok(ndr_accumulator_finish(sums, results));
  ck_assert(out[0] == 5 && out[1] == 7 && out[2] == 9);
  ndr_plan_destroy(plan);
  ndr_accumulator_destroy(sums);
  sums = NULL;
  options.device = &machine;
  assert_ok(reduce());
  assert_ok(merge(2));
  ndr_accumulator_destroy(sums);
  ndr_accumulator_destroy(other);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("api arguments");
  suite_case(suite, "sound", 10, the_calls_that_are_spoiled_are_sound, NULL);
  TCase *spoiled = tcase_create("spoiled");
  int count = 0;
  for (int t = 0; t < TABLES; t++) count += ROW_COUNT(tables[t]);
  tcase_add_loop_test(spoiled, a_wrong_argument_is_refused, 0, count);
  suite_add_tcase(suite, spoiled);
  return suite_run(suite);
}
