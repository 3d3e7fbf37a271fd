/* Stored elements converted on the emulated GPU: to the bit what the host makes of them, in every dtype, byte order and
 * layout; what is refused, and calls that fail. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "ndreduce/device.h"
#include "runtime/control.h"
#include "support/cases.h"
#include "support/h5_stored.h"
#include "support/suite.h"

static const DLDevice gpu = {kDLCUDA, 1};

static void set_up(void) {
  simt_controls.lazy = simt_controls.sticky = false;
  simt_controls.failing_call = 0;
}

static ndr_status convert(const h5_stored *made, void *result) {
  void *from, *to, *stream;
  assert_ok(ndr_stream_create(gpu, &stream));
  assert_ok(ndr_memory_allocate(gpu, made->bytes, &from));
  assert_ok(ndr_memory_allocate(gpu, made->result_bytes, &to));
  assert_ok(ndr_copy(gpu, from, made->data, made->bytes, stream));
  ndr_status status = ndr_convert_stored(gpu, &made->stored, from, to, stream);
  assert_ok(ndr_copy(gpu, result, to, made->result_bytes, stream));
  assert_ok(ndr_stream_wait(gpu, stream));
  ndr_memory_free(gpu, from);
  ndr_memory_free(gpu, to);
  ndr_stream_destroy(gpu, stream);
  return status;
}

START_TEST(stored_elements_become_what_the_host_makes_of_them) {
  rng random = {test_seed() + (uint64_t)_i};
  for (int i = 0; i < test_case_count(60); i++) {
    h5_stored made;
    h5_stored_make(&made, (ndr_dtype)_i, 3000, &random);
    unsigned char *result = malloc(made.result_bytes);
    simt_controls.lazy = i % 2;
    simt_controls.order = rng_next(&random);
    assert_ok(convert(&made, result));
    for (size_t b = 0; b < made.result_bytes; b++)
      ck_assert_msg(result[b] == made.expected[b], "%s: byte %zu of %zu", h5_stored_text(&made), b, made.result_bytes);
    ck_assert(!simt_guards_broken());
    free(result);
    h5_stored_free(&made);
  }
}
END_TEST

/* ---- What is refused -------------------------------------------------------------------------------------------- */

static ndr_stored plain(ndr_dtype dtype) {
  ndr_stored stored = NDR_STORED_INIT(dtype);
  stored.ndim = 1;
  stored.shape[0] = stored.chunk[0] = 4;
  return stored;
}

static void refuse(const ndr_stored *stored, ndr_status status, const char *why) {
  static double from[8], to[8];
  assert_fails(ndr_convert_stored(gpu, stored, from, to, NULL), status, why);
}

START_TEST(dtypes_that_do_not_go_together_are_refused) {
  ndr_stored s = plain(NDR_C64);
  s.result = NDR_F64;
  refuse(&s, NDR_ERR_DTYPE, "c64 is not converted to f64");
  s = plain(NDR_I16);
  s.result = NDR_I32;
  refuse(&s, NDR_ERR_DTYPE, "i16 is not converted to i32");
  s = plain(NDR_I16);
  s.scaled = 1;
  refuse(&s, NDR_ERR_DTYPE, "not scaled");
  s = plain(NDR_U8);
  s.ranged = 1;
  refuse(&s, NDR_ERR_DTYPE, "no NaN");
  s = plain((ndr_dtype)77);
  refuse(&s, NDR_ERR_DTYPE, "77");
}
END_TEST

START_TEST(descriptions_that_are_wrong_are_refused) {
  ndr_stored s = plain(NDR_F32);
  s.size = 4;
  refuse(&s, NDR_ERR_ARGUMENT, "NDR_STORED_INIT");
  s = plain(NDR_F32);
  s.ndim = NDR_MAX_DIMS + 1;
  refuse(&s, NDR_ERR_ARGUMENT, "ndim");
  s = plain(NDR_F32);
  s.missing_count = NDR_STORED_MISSING + 1;
  refuse(&s, NDR_ERR_ARGUMENT, "missing_count");
  s = plain(NDR_F32);
  s.lead[0] = 4;
  refuse(&s, NDR_ERR_ARGUMENT, "dim 0");
  s = plain(NDR_F32);
  s.chunk[0] = (int64_t)1 << 31;
  refuse(&s, NDR_ERR_UNSUPPORTED, "2^31");
  s = plain(NDR_F32);
  assert_fails(ndr_convert_stored(gpu, NULL, &s, &s, NULL), NDR_ERR_ARGUMENT, "stored");
  assert_fails(ndr_convert_stored(gpu, &s, NULL, &s, NULL), NDR_ERR_ARGUMENT, "two places");
  assert_fails(ndr_convert_stored(gpu, &s, (char *)&s + 1, &s, NULL), NDR_ERR_ARGUMENT, "alignment");
  assert_fails(ndr_convert_stored((DLDevice){kDLCPU, 0}, &s, &s, &s, NULL), NDR_ERR_UNSUPPORTED, "GPUs");
  s.shape[0] = 0;
  assert_ok(ndr_convert_stored(gpu, &s, NULL, NULL, NULL));
}
END_TEST

START_TEST(every_call_that_fails_is_a_clean_error) {
  rng random = {test_seed()};
  h5_stored made;
  unsigned char result[64 * 16];
  double to[64];
  h5_stored_make(&made, NDR_I16, 60, &random);
  assert_ok(convert(&made, result));
  for (int failed = 1, k = 1; failed; k++) {
    simt_controls.calls = 0;
    simt_controls.failing_call = k;
    ndr_status status = ndr_convert_stored(gpu, &made.stored, made.data, to, NULL);
    failed = status != NDR_OK;
    ck_assert(status == NDR_OK ? k > 1 : status == NDR_ERR_DEVICE && *ndr_last_error());
  }
  h5_stored_free(&made);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("stored elements on the emulated GPU");
  TCase *cases = tcase_create("convert");
  tcase_set_timeout(cases, 120);
  tcase_add_checked_fixture(cases, set_up, NULL);
  tcase_add_loop_test(cases, stored_elements_become_what_the_host_makes_of_them, 0, NDR_DTYPE_COUNT);
  tcase_add_test(cases, dtypes_that_do_not_go_together_are_refused);
  tcase_add_test(cases, descriptions_that_are_wrong_are_refused);
  tcase_add_test(cases, every_call_that_fails_is_a_clean_error);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
