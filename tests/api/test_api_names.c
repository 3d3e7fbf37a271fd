/* Names, numbers and text that callers of other languages rely on. */
#include <pthread.h>
#include <stdio.h>

#include "support/cases.h"
#include "support/suite.h"

START_TEST(versions_agree) {
  char expected[32];
  snprintf(expected, sizeof expected, "%d.%d.%d", NDR_VERSION_MAJOR, NDR_VERSION_MINOR, NDR_VERSION_PATCH);
  ck_assert_str_eq(ndr_version(), expected);
}
END_TEST

START_TEST(op_names_parse_back) {
  for (int i = 0; i < NDR_OP_COUNT; i++) {
    ndr_op op = (ndr_op)-1;
    assert_ok(ndr_op_parse(ndr_op_name((ndr_op)i), &op));
    ck_assert_int_eq(op, i);
    ck_assert(ndr_op_help((ndr_op)i) && strlen(ndr_op_help((ndr_op)i)) > 5);
  }
}
END_TEST

START_TEST(five_ops_have_a_weighted_form) {
  char names[128] = "";
  for (int i = -1; i <= NDR_OP_COUNT; i++)
    if (ndr_op_is_weighted((ndr_op)i)) strcat(strcat(names, " "), ndr_op_name((ndr_op)i));
  ck_assert_str_eq(names, " sum mean var std norm2");
}
END_TEST

START_TEST(unknown_ops_are_refused) {
  ndr_op op = NDR_STD;
  assert_fails(ndr_op_parse("median", &op), NDR_ERR_OP, "'median'");
  assert_fails(ndr_op_parse("", &op), NDR_ERR_OP, "''");
  assert_fails(ndr_op_parse("SUM", &op), NDR_ERR_OP, "'SUM'");
  assert_fails(ndr_op_parse("sum ", &op), NDR_ERR_OP, "'sum '");
  ck_assert_int_eq(op, NDR_STD);
  assert_fails(ndr_op_parse(NULL, &op), NDR_ERR_ARGUMENT, "ndr_op_parse");
  assert_fails(ndr_op_parse("sum", NULL), NDR_ERR_ARGUMENT, "ndr_op_parse");
  ck_assert_ptr_null(ndr_op_name((ndr_op)NDR_OP_COUNT));
  ck_assert_ptr_null(ndr_op_name((ndr_op)-1));
  ck_assert_ptr_null(ndr_op_help((ndr_op)99));
}
END_TEST

START_TEST(dtype_names_parse_back) {
  for (int i = 0; i < NDR_DTYPE_COUNT; i++) {
    ndr_dtype dtype = (ndr_dtype)-1;
    assert_ok(ndr_dtype_parse(ndr_dtype_name((ndr_dtype)i), &dtype));
    ck_assert_int_eq(dtype, i);
  }
}
END_TEST

START_TEST(unknown_dtypes_are_refused) {
  ndr_dtype dtype = NDR_F64;
  assert_fails(ndr_dtype_parse("float", &dtype), NDR_ERR_DTYPE, "'float'");
  assert_fails(ndr_dtype_parse("f128", &dtype), NDR_ERR_DTYPE, "'f128'");
  ck_assert_int_eq(dtype, NDR_F64);
  assert_fails(ndr_dtype_parse(NULL, &dtype), NDR_ERR_ARGUMENT, "ndr_dtype_parse");
  assert_fails(ndr_dtype_parse("f32", NULL), NDR_ERR_ARGUMENT, "ndr_dtype_parse");
  ck_assert_ptr_null(ndr_dtype_name((ndr_dtype)15));
  ck_assert_uint_eq(ndr_dtype_bytes((ndr_dtype)-1), 0);
}
END_TEST

/* The codes are DLPack's ABI: 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool. */
START_TEST(dlpack_codes_are_those_of_the_abi) {
  static const uint8_t codes[NDR_DTYPE_COUNT] = {6, 0, 0, 0, 0, 1, 1, 1, 1, 2, 4, 2, 2, 5, 5};
  for (int i = 0; i < NDR_DTYPE_COUNT; i++) {
    DLDataType type = ndr_dtype_to_dlpack((ndr_dtype)i);
    ndr_dtype back = (ndr_dtype)-1;
    ck_assert_uint_eq(type.code, codes[i]);
    ck_assert_uint_eq(type.bits, 8 * ndr_dtype_bytes((ndr_dtype)i));
    ck_assert_uint_eq(type.lanes, 1);
    assert_ok(ndr_dtype_from_dlpack(type, &back));
    ck_assert_int_eq(back, i);
  }
}
END_TEST

START_TEST(other_dlpack_types_are_refused) {
  static const DLDataType others[] = {{kDLFloat, 32, 4},  {kDLFloat, 32, 0}, {kDLInt, 4, 1},     {kDLUInt, 1, 1},
                                      {kDLFloat, 8, 1},   {3, 64, 1},        {kDLBfloat, 32, 1}, {6, 32, 1},
                                      {kDLFloat, 128, 1}, {17, 8, 1}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    ndr_dtype dtype = NDR_U16;
    char bits[16];
    snprintf(bits, sizeof bits, "%u bits", others[i].bits);
    assert_fails(ndr_dtype_from_dlpack(others[i], &dtype), NDR_ERR_DTYPE, bits);
    ck_assert_int_eq(dtype, NDR_U16);
  }
  assert_fails(ndr_dtype_from_dlpack((DLDataType){kDLInt, 8, 1}, NULL), NDR_ERR_ARGUMENT, "null");
}
END_TEST

START_TEST(status_numbers_and_names_are_pinned) {
  static const struct {
    ndr_status status;
    int number;
  } pinned[] = {{NDR_OK, 0},
                {NDR_ERR_ARGUMENT, 10},
                {NDR_ERR_DIMS, 20},
                {NDR_ERR_DTYPE, 30},
                {NDR_ERR_OP, 40},
                {NDR_ERR_RESULT, 50},
                {NDR_ERR_EMPTY, 60},
                {NDR_ERR_PARSE, 70},
                {NDR_ERR_OVERFLOW, 80},
                {NDR_ERR_UNSUPPORTED, 90},
                {NDR_ERR_MEMORY, 100},
                {NDR_ERR_NO_DEVICE, 110},
                {NDR_ERR_DEVICE, 120},
                {NDR_ERR_FILE, 200},
                {NDR_ERR_CANCELLED, 210}};
  size_t count = sizeof pinned / sizeof *pinned;
  for (size_t i = 0; i < count; i++) {
    ck_assert_int_eq(pinned[i].status, pinned[i].number);
    for (size_t j = 0; j < i; j++)
      ck_assert_str_ne(ndr_status_name(pinned[i].status), ndr_status_name(pinned[j].status));
  }
  ck_assert_str_eq(ndr_status_name(NDR_ERR_DTYPE), "bad dtype"); /* as of a mask of u8, which is known */
  ck_assert_ptr_nonnull(ndr_status_name((ndr_status)12345));
}
END_TEST

static void *look_at_error(void *sentence) {
  ndr_op op;
  strcpy(sentence, ndr_last_error());
  ndr_op_parse("elsewhere", &op);
  return NULL;
}

START_TEST(last_error_belongs_to_its_thread) {
  pthread_t thread;
  char seen[256] = "unset";
  ndr_op op;
  ndr_op_parse("here", &op);
  ck_assert_int_eq(pthread_create(&thread, NULL, look_at_error, seen), 0);
  pthread_join(thread, NULL);
  ck_assert_str_eq(seen, "");
  ck_assert_ptr_nonnull(strstr(ndr_last_error(), "'here'"));
}
END_TEST

START_TEST(long_names_do_not_overrun_the_sentence) {
  static char name[100000];
  ndr_op op;
  ndr_problem c = NDR_PROBLEM_INIT;
  memset(name, 'x', sizeof name - 1);
  assert_fails(ndr_op_parse(name, &op), NDR_ERR_OP, "xxx");
  assert_fails(ndr_problem_parse(name, &c), NDR_ERR_PARSE, "column 1");
  ck_assert_uint_lt(strlen(ndr_last_error()), 1024);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("api names");
  suite_case(suite, "names", 10, versions_agree, op_names_parse_back, five_ops_have_a_weighted_form,
             unknown_ops_are_refused, dtype_names_parse_back, unknown_dtypes_are_refused,
             dlpack_codes_are_those_of_the_abi, other_dlpack_types_are_refused, status_numbers_and_names_are_pinned,
             NULL);
  suite_case(suite, "errors", 10, last_error_belongs_to_its_thread, long_names_do_not_overrun_the_sentence, NULL);
  return suite_run(suite);
}
