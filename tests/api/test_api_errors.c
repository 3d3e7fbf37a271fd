/* Every error that the public header documents: its status, a sentence that names the thing, and an untouched result.
 */
#include <math.h>
#include <stdlib.h>

#include "support/reduce.h"
#include "support/suite.h"

/* A sound call that each test spoils in one way. */
typedef struct call {
  float data[6], out[3];
  int64_t shape[NDR_MAX_DIMS + 1], out_shape[NDR_MAX_DIMS + 1], strides[2], out_strides[1];
  DLTensor array, result;
  int dims[2], dim_count;
  ndr_op op;
  ndr_options options;
} call;

static void sound_call(call *c) {
  *c = (call){.data = {1, 2, 3, 4, 5, 6}, .out = {-7, -7, -7}, .shape = {2, 3}, .out_shape = {3}, .strides = {3, 1}};
  c->out_strides[0] = 1;
  c->array = (DLTensor){c->data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, c->shape, c->strides, 0};
  c->result = (DLTensor){c->out, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, c->out_shape, c->out_strides, 0};
  c->dim_count = 1;
  c->op = NDR_SUM;
  c->options = (ndr_options)NDR_OPTIONS_INIT;
}

static ndr_status run(call *c) {
  ndr_status status = ndreduce(&c->array, c->dim_count, c->dims, c->op, &c->result, &c->options);
  if (status != NDR_OK) ck_assert(c->out[0] == -7 && c->out[1] == -7 && c->out[2] == -7);
  return status;
}

START_TEST(the_call_that_is_spoiled_below_is_sound) {
  call c;
  sound_call(&c);
  assert_ok(run(&c));
  ck_assert(c.out[0] == 5 && c.out[1] == 7 && c.out[2] == 9);
}
END_TEST

START_TEST(null_array) {
  call c;
  sound_call(&c);
  assert_fails(ndreduce(NULL, c.dim_count, c.dims, c.op, &c.result, NULL), NDR_ERR_ARGUMENT, "array");
}
END_TEST

START_TEST(null_result) {
  call c;
  sound_call(&c);
  assert_fails(ndreduce(&c.array, c.dim_count, c.dims, c.op, NULL, NULL), NDR_ERR_ARGUMENT, "result");
}
END_TEST

START_TEST(null_data) {
  call c;
  sound_call(&c);
  c.array.data = NULL;
  assert_fails(run(&c), NDR_ERR_ARGUMENT, "array");
  sound_call(&c);
  c.result.data = NULL;
  assert_fails(run(&c), NDR_ERR_ARGUMENT, "result");
}
END_TEST

START_TEST(malformed_shapes) {
  call c;
  sound_call(&c);
  c.array.ndim = -1;
  assert_fails(run(&c), NDR_ERR_ARGUMENT, "-1");
  c.array.ndim = NDR_MAX_DIMS + 1;
  assert_fails(run(&c), NDR_ERR_ARGUMENT, "33");
  sound_call(&c);
  c.array.shape = NULL;
  assert_fails(run(&c), NDR_ERR_ARGUMENT, "shape");
  sound_call(&c);
  c.shape[1] = -3;
  assert_fails(run(&c), NDR_ERR_ARGUMENT, "dim 1");
}
END_TEST

START_TEST(misaligned_data) {
  call c;
  sound_call(&c);
  c.array.byte_offset = 2;
  assert_fails(run(&c), NDR_ERR_ARGUMENT, "array");
  assert_fails(run(&c), NDR_ERR_ARGUMENT, "multiple of 4");
  sound_call(&c);
  c.result.byte_offset = 1;
  assert_fails(run(&c), NDR_ERR_ARGUMENT, "result");
}
END_TEST

START_TEST(dims_out_of_range) {
  call c;
  sound_call(&c);
  c.dims[0] = 2;
  assert_fails(run(&c), NDR_ERR_DIMS, "dim 2");
  c.dims[0] = -3;
  assert_fails(run(&c), NDR_ERR_DIMS, "dim -3");
  c.dims[0] = INT32_MIN;
  assert_fails(run(&c), NDR_ERR_DIMS, "2 dims");
}
END_TEST

START_TEST(dims_named_twice) {
  call c;
  sound_call(&c);
  c.dim_count = 2;
  c.dims[0] = 1;
  c.dims[1] = -1;
  assert_fails(run(&c), NDR_ERR_DIMS, "dim 1 is named twice");
}
END_TEST

START_TEST(malformed_dims) {
  call c;
  sound_call(&c);
  c.dim_count = -2;
  assert_fails(run(&c), NDR_ERR_DIMS, "-2");
  c.dim_count = NDR_MAX_DIMS + 1;
  assert_fails(run(&c), NDR_ERR_DIMS, "33");
  assert_fails(ndreduce(&c.array, 1, NULL, c.op, &c.result, NULL), NDR_ERR_DIMS, "dims");
  assert_fails(ndreduce(&c.array, -1, c.dims, c.op, &c.result, NULL), NDR_ERR_DIMS, "dims");
}
END_TEST

/* A plan that is kept from a sound call serves no other. */
START_TEST(all_dims_and_a_list_stay_refused) {
  call c;
  sound_call(&c);
  c.result.ndim = 0;
  assert_ok(ndreduce(&c.array, NDR_ALL_DIMS, c.op, &c.result, NULL));
  assert_fails(ndreduce(&c.array, -1, c.dims, c.op, &c.result, NULL), NDR_ERR_DIMS, "not NULL");
}
END_TEST

START_TEST(unknown_dtypes) {
  call c;
  sound_call(&c);
  c.array.dtype.bits = 24;
  assert_fails(run(&c), NDR_ERR_DTYPE, "24 bits");
  c.array.dtype = (DLDataType){kDLFloat, 32, 4};
  assert_fails(run(&c), NDR_ERR_DTYPE, "4 lanes");
}
END_TEST

START_TEST(unknown_ops) {
  call c;
  sound_call(&c);
  c.op = (ndr_op)NDR_OP_COUNT;
  assert_fails(run(&c), NDR_ERR_OP, "18");
  c.op = (ndr_op)-1;
  assert_fails(run(&c), NDR_ERR_OP, "-1");
}
END_TEST

START_TEST(ops_not_defined_for_complex) {
  static const ndr_op ops[] = {NDR_MIN, NDR_MAX, NDR_ARGMIN, NDR_ARGMAX, NDR_LOGSUMEXP};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    call c;
    sound_call(&c);
    c.op = ops[i];
    c.array.dtype = ndr_dtype_to_dlpack(NDR_C64);
    c.shape[1] = 1;
    assert_fails(run(&c), NDR_ERR_OP, ndr_op_name(ops[i]));
    assert_fails(run(&c), NDR_ERR_OP, "c64");
  }
}
END_TEST

START_TEST(results_of_another_dtype) {
  call c;
  sound_call(&c);
  c.result.dtype = ndr_dtype_to_dlpack(NDR_I32);
  assert_fails(run(&c), NDR_ERR_RESULT, "i32, must be f32");
  c.op = NDR_ARGMAX;
  c.result.dtype = ndr_dtype_to_dlpack(NDR_F32);
  assert_fails(run(&c), NDR_ERR_RESULT, "must be i64");
  c.result.dtype = (DLDataType){kDLFloat, 7, 1};
  assert_fails(run(&c), NDR_ERR_RESULT, "unknown");
}
END_TEST

START_TEST(results_of_another_shape) {
  call c;
  sound_call(&c);
  c.out_shape[0] = 2;
  assert_fails(run(&c), NDR_ERR_RESULT, "[2], must be [3]");
  sound_call(&c);
  c.result.ndim = 0;
  assert_fails(run(&c), NDR_ERR_RESULT, "[], must be [3]");
  sound_call(&c);
  c.result.shape = NULL;
  assert_fails(run(&c), NDR_ERR_RESULT, "must be [3]");
  sound_call(&c);
  c.options.keepdims = 1;
  assert_fails(run(&c), NDR_ERR_RESULT, "must be [1,3]");
  sound_call(&c);
  c.result.ndim = 1000;
  assert_fails(run(&c), NDR_ERR_RESULT, "must be [3]");
}
END_TEST

START_TEST(results_that_overlap_themselves) {
  call c;
  sound_call(&c);
  c.out_strides[0] = 0;
  assert_fails(run(&c), NDR_ERR_RESULT, "stride 0");
}
END_TEST

START_TEST(results_elsewhere) {
  call c;
  sound_call(&c);
  c.result.device.device_type = kDLCUDA;
  assert_fails(run(&c), NDR_ERR_RESULT, "result");
}
END_TEST

START_TEST(sizes_that_overflow) {
  call c;
  sound_call(&c);
  c.shape[0] = c.shape[1] = INT64_C(1) << 31;
  c.array.strides = NULL;
  assert_fails(run(&c), NDR_ERR_OVERFLOW, "62 bits");
  c.shape[0] = INT64_MAX;
  assert_fails(run(&c), NDR_ERR_OVERFLOW, "62 bits");
}
END_TEST

START_TEST(strides_that_overflow) {
  static const int64_t strides[] = {INT64_MAX, INT64_MIN, INT64_C(1) << 61, -(INT64_C(1) << 62)};
  for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
    call c;
    sound_call(&c);
    c.strides[0] = strides[i];
    assert_fails(run(&c), NDR_ERR_OVERFLOW, "dim 0");
  }
}
END_TEST

START_TEST(result_strides_that_overflow) {
  static const int64_t strides[] = {INT64_MAX, INT64_MIN, INT64_C(1) << 61};
  for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
    call c;
    sound_call(&c);
    c.out_strides[0] = strides[i];
    assert_fails(run(&c), NDR_ERR_OVERFLOW, "dim 0 of the result");
  }
}
END_TEST

START_TEST(spans_that_overflow_together) {
  call c;
  sound_call(&c);
  c.strides[0] = INT64_C(1) << 60;
  c.strides[1] = INT64_C(1) << 60;
  assert_fails(run(&c), NDR_ERR_OVERFLOW, "62 bits");
}
END_TEST

/* Planners compute with whole axes: the last that is taken leaves them room, and no result is larger than memory. */
START_TEST(sizes_are_refused_before_planners_overflow) {
  static const struct {
    const char *text;
    ndr_status status;
  } cases[] = {{"sum i8 [254775807,2:-9223372036854775808] /0", NDR_ERR_OVERFLOW},
               {"sum i8 [2:2305843009213693952] /0", NDR_ERR_OVERFLOW},
               {"sum i8 [2:2305843009213693951] /0", NDR_OK},
               {"sum i8 [1:-9223372036854775808] /0", NDR_OK},
               {"sum i8 [4611686018427387904:0] /0", NDR_ERR_OVERFLOW},
               {"sum i8 [4611686018427387903:0] /0", NDR_OK},
               {"sum i8 [576460752303423488:0] /", NDR_ERR_OVERFLOW},
               {"sum i8 [576460752303423487:0] /", NDR_OK}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ndr_problem c = NDR_PROBLEM_INIT;
    ndr_plan *plan = NULL;
    ndr_status status = ndr_problem_parse(cases[i].text, &c);
    DLTensor array = {NULL, {kDLCPU, 0}, c.ndim, {kDLInt, 8, 1}, c.shape, c.strides, 0};
    if (status == NDR_OK) status = plan_array(&plan, &array, c.dim_count, c.dims, 1, c.ops, NULL, NULL);
    ck_assert_msg(status == cases[i].status, "%s: %s", cases[i].text, ndr_last_error());
    ndr_plan_destroy(plan);
  }
}
END_TEST

START_TEST(devices_without_a_backend) {
  call c;
  sound_call(&c);
  c.array.device.device_type = c.result.device.device_type = kDLVulkan;
  assert_fails(run(&c), NDR_ERR_NO_DEVICE, "no backend for the vulkan devices");
  sound_call(&c);
  c.result.device = (DLDevice){kDLROCM, 1};
  assert_fails(run(&c), NDR_ERR_RESULT, "the result is on rocm:1, the array on cpu:0");
}
END_TEST

/* Sanitizers see what the look-up of kept plans makes of these numbers. */
START_TEST(devices_of_any_number_are_refused) {
  static const int numbers[] = {-1, INT32_MIN, INT32_MAX, kDLCPU | 1 << 16};
  call c;
  sound_call(&c);
  assert_ok(run(&c));
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    sound_call(&c);
    c.array.device.device_type = c.result.device.device_type = (DLDeviceType)numbers[i];
    assert_fails(run(&c), NDR_ERR_NO_DEVICE, "no backend");
    sound_call(&c);
    c.array.device.device_id = c.result.device.device_id = numbers[i];
    assert_fails(run(&c), NDR_ERR_NO_DEVICE, "CPU device");
  }
}
END_TEST

START_TEST(spoiled_options) {
  call c;
#define SPOIL(field, value, word)                                                                                      \
  sound_call(&c);                                                                                                      \
  c.options.field = value;                                                                                             \
  assert_fails(run(&c), NDR_ERR_ARGUMENT, word)
  SPOIL(size, 0, "size");
  SPOIL(size, 3, "size");
  SPOIL(size, (size_t)1 << 40, "size");
  SPOIL(ddof, -1, "ddof");
  SPOIL(ddof, (double)NAN, "ddof");
  SPOIL(accumulate, (ndr_accumulate)2, "accumulate");
  SPOIL(accumulate, (ndr_accumulate)-1, "accumulate");
  SPOIL(planning, (ndr_planning)7, "planning");
  SPOIL(threads, -1, "threads");
#undef SPOIL
}
END_TEST

START_TEST(unknown_families) {
  call c;
  sound_call(&c);
  c.options.force_family = "warp";
  assert_fails(run(&c), NDR_ERR_UNSUPPORTED, "'warp'");
  c.options.force_family = "";
  assert_fails(run(&c), NDR_ERR_UNSUPPORTED, "''");
  c.options.force_family = "a_name_longer_than_any_family_has_and_than_a_buffer_of_sixteen_bytes";
  assert_fails(run(&c), NDR_ERR_UNSUPPORTED, "a_name_longer");
}
END_TEST

START_TEST(devices_that_are_none) {
  call c;
  ndr_device device = {.size = sizeof device, .type = kDLCPU, .units = 0};
  sound_call(&c);
  c.options.device = &device;
  assert_fails(run(&c), NDR_ERR_ARGUMENT, "device");
  device.units = 2;
  device.size = 8;
  assert_fails(run(&c), NDR_ERR_ARGUMENT, "device");
  device.size = sizeof device;
  device.type = kDLVulkan;
  assert_fails(run(&c), NDR_ERR_ARGUMENT, "device");
}
END_TEST

/* ---- option structs of other sizes ---- */

/* A caller compiled against an older header passes fewer bytes; what it does not have takes its default. */
START_TEST(smaller_options_are_defaulted) {
  call c;
  sound_call(&c);
  size_t size = offsetof(ndr_options, ddof);
  ndr_options *old = malloc(size);
  ck_assert_ptr_nonnull(old);
  memcpy(old, &(size_t){size}, sizeof size);
  memset((char *)old + sizeof size, 0, size - sizeof size);
  assert_ok(ndreduce(&c.array, c.dim_count, c.dims, c.op, &c.result, old));
  ck_assert(c.out[0] == 5);
  free(old);
}
END_TEST

typedef struct newer_options {
  ndr_options known;
  int64_t unknown;
} newer_options;

START_TEST(larger_options_are_read_if_the_rest_is_zero) {
  call c;
  newer_options newer = {.known = NDR_OPTIONS_INIT};
  sound_call(&c);
  newer.known.size = sizeof newer;
  assert_ok(ndreduce(&c.array, c.dim_count, c.dims, c.op, &c.result, &newer.known));
  ck_assert(c.out[0] == 5);
}
END_TEST

START_TEST(larger_options_that_ask_for_the_unknown_are_refused) {
  call c;
  newer_options newer = {.known = NDR_OPTIONS_INIT, .unknown = 1};
  sound_call(&c);
  newer.known.size = sizeof newer;
  assert_fails(ndreduce(&c.array, c.dim_count, c.dims, c.op, &c.result, &newer.known), NDR_ERR_ARGUMENT, "know");
  ck_assert(c.out[0] == -7);
}
END_TEST

/* ---- ndr_result_describe ---- */

START_TEST(describe_needs_room) {
  call c;
  DLTensor no_shape = {.shape = NULL};
  sound_call(&c);
  assert_fails(ndr_result_describe(&c.array, 1, c.dims, c.op, NULL, NULL), NDR_ERR_ARGUMENT, "result");
  assert_fails(ndr_result_describe(&c.array, 1, c.dims, c.op, NULL, &no_shape), NDR_ERR_ARGUMENT, "shape");
}
END_TEST

START_TEST(describe_fails_as_ndreduce_does) {
  call c;
  int64_t shape[NDR_MAX_DIMS];
  DLTensor result = {.shape = shape};
  sound_call(&c);
  assert_fails(ndr_result_describe(NULL, 1, c.dims, c.op, NULL, &result), NDR_ERR_ARGUMENT, "array");
  assert_fails(ndr_result_describe(&c.array, 1, (int[]){5}, c.op, NULL, &result), NDR_ERR_DIMS, "dim 5");
  assert_fails(ndr_result_describe(&c.array, 1, c.dims, (ndr_op)40, NULL, &result), NDR_ERR_OP, "40");
  c.options.ddof = -2;
  assert_fails(ndr_result_describe(&c.array, 1, c.dims, c.op, &c.options, &result), NDR_ERR_ARGUMENT, "ddof");
}
END_TEST

START_TEST(a_failure_leaves_the_library_usable) {
  call c;
  sound_call(&c);
  c.dims[0] = 9;
  for (int i = 0; i < 1000; i++) ck_assert_int_eq(run(&c), NDR_ERR_DIMS);
  sound_call(&c);
  assert_ok(run(&c));
  ck_assert(c.out[2] == 9);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("api errors");
  suite_case(suite, "array", 10, the_call_that_is_spoiled_below_is_sound, null_array, null_data, malformed_shapes,
             misaligned_data, unknown_dtypes, sizes_that_overflow, strides_that_overflow, spans_that_overflow_together,
             sizes_are_refused_before_planners_overflow, devices_without_a_backend, NULL);
  suite_case(suite, "dims and ops", 10, dims_out_of_range, dims_named_twice, malformed_dims,
             all_dims_and_a_list_stay_refused, unknown_ops, ops_not_defined_for_complex, NULL);
  suite_case(suite, "result", 10, null_result, results_of_another_dtype, results_of_another_shape,
             results_that_overlap_themselves, results_elsewhere, result_strides_that_overflow, describe_needs_room,
             describe_fails_as_ndreduce_does, NULL);
  suite_case(suite, "options", 10, devices_of_any_number_are_refused, spoiled_options, unknown_families,
             devices_that_are_none, smaller_options_are_defaulted, larger_options_are_read_if_the_rest_is_zero,
             larger_options_that_ask_for_the_unknown_are_refused, a_failure_leaves_the_library_usable, NULL);
  return suite_run(suite);
}
