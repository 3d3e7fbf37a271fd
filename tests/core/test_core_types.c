/* Facts about dtypes and operators, and the 16-bit float conversions over every value there is. */
#include <math.h>

#include "core/types.h"
#include "support/cases.h"
#include "support/suite.h"

typedef struct half_format {
  ndr_dtype dtype;
  float (*to_float)(uint16_t bits);
  uint16_t (*from_double)(double value);
  uint16_t infinity;
} half_format;

static const half_format halves[] = {{NDR_F16, ndr_f16_to_float, ndr_f16_from_double, 0x7c00},
                                     {NDR_BF16, ndr_bf16_to_float, ndr_bf16_from_double, 0x7f80}};

static double value_of(const half_format *half, uint16_t bits) {
  return (double)element_load(half->dtype, &bits).re;
}

START_TEST(every_half_widens_exactly) {
  const half_format *half = &halves[_i];
  for (unsigned bits = 0; bits <= 0xffff; bits++) {
    double expected = value_of(half, (uint16_t)bits), got = (double)half->to_float((uint16_t)bits);
    ck_assert_msg(isnan(expected) ? isnan(got) : got == expected, "%04x gives %a, expected %a", bits, got, expected);
    ck_assert_msg(isnan(got) || !signbit(got) == !(bits & 0x8000), "%04x loses its sign", bits);
  }
}
END_TEST

START_TEST(every_half_survives_a_round_trip) {
  const half_format *half = &halves[_i];
  for (unsigned bits = 0; bits <= 0xffff; bits++) {
    uint16_t got = half->from_double((double)half->to_float((uint16_t)bits));
    if ((bits & 0x7fff) > half->infinity)
      ck_assert_msg((got & 0x7fff) > half->infinity, "NaN %04x became %04x", bits, got);
    else
      ck_assert_msg(got == bits, "%04x became %04x", bits, got);
  }
}
END_TEST

/* Between two neighbours the midpoint goes to the even one, and the doubles next to it to the nearer one: rounding to
 * f32 first would lose that difference. The neighbour of the largest finite value is the power of two beyond it. */
START_TEST(every_midpoint_rounds_to_even) {
  const half_format *half = &halves[_i];
  for (unsigned bits = 0; bits < half->infinity; bits++) {
    uint16_t low = (uint16_t)bits, high = (uint16_t)(bits + 1);
    double below = value_of(half, low);
    double above = high == half->infinity ? ldexp(1, format_of(half->dtype).top) : value_of(half, high);
    double middle = below + (above - below) / 2;
    for (int sign = 0; sign <= 1; sign++) {
      double direction = sign ? -1 : 1;
      uint16_t mark = sign ? 0x8000 : 0;
      ck_assert_uint_eq(half->from_double(direction * middle), mark | (low & 1 ? high : low));
      ck_assert_uint_eq(half->from_double(direction * nextafter(middle, INFINITY)), mark | high);
      ck_assert_uint_eq(half->from_double(direction * nextafter(middle, 0)), mark | low);
    }
  }
}
END_TEST

START_TEST(doubles_of_any_size_round_as_the_definition_says) {
  const half_format *half = &halves[_i];
  rng random = {test_seed()};
  for (int i = 0; i < 200000; i++) {
    double value = ldexp(rng_unit(&random) - 0.5, (int)rng_between(&random, -160, 160));
    uint16_t expected;
    element_store(half->dtype, &expected, (element){value, 0});
    ck_assert_msg(half->from_double(value) == expected, "%a gives %04x, expected %04x", value, half->from_double(value),
                  expected);
  }
}
END_TEST

START_TEST(extreme_doubles_become_halves) {
  const half_format *half = &halves[_i];
  ck_assert_uint_eq(half->from_double(INFINITY), half->infinity);
  ck_assert_uint_eq(half->from_double(-INFINITY), 0x8000 | half->infinity);
  ck_assert_uint_eq(half->from_double(1e300), half->infinity);
  ck_assert_uint_eq(half->from_double(-1e-300), 0x8000);
  ck_assert_uint_eq(half->from_double(0x1p-1074), 0);
  ck_assert_uint_gt(half->from_double(NAN) & 0x7fff, half->infinity);
}
END_TEST

START_TEST(dtypes_have_their_pinned_names_and_sizes) {
  static const struct {
    ndr_dtype dtype;
    const char *name;
    size_t bytes, alignment;
    ndr_class class;
  } expected[] = {{NDR_BOOL, "bool", 1, 1, NDR_CLASS_BOOL},    {NDR_I8, "i8", 1, 1, NDR_CLASS_INT},
                  {NDR_I16, "i16", 2, 2, NDR_CLASS_INT},       {NDR_I32, "i32", 4, 4, NDR_CLASS_INT},
                  {NDR_I64, "i64", 8, 8, NDR_CLASS_INT},       {NDR_U8, "u8", 1, 1, NDR_CLASS_UINT},
                  {NDR_U16, "u16", 2, 2, NDR_CLASS_UINT},      {NDR_U32, "u32", 4, 4, NDR_CLASS_UINT},
                  {NDR_U64, "u64", 8, 8, NDR_CLASS_UINT},      {NDR_F16, "f16", 2, 2, NDR_CLASS_FLOAT},
                  {NDR_BF16, "bf16", 2, 2, NDR_CLASS_FLOAT},   {NDR_F32, "f32", 4, 4, NDR_CLASS_FLOAT},
                  {NDR_F64, "f64", 8, 8, NDR_CLASS_FLOAT},     {NDR_C64, "c64", 8, 4, NDR_CLASS_COMPLEX},
                  {NDR_C128, "c128", 16, 8, NDR_CLASS_COMPLEX}};
  ck_assert_uint_eq(sizeof expected / sizeof *expected, NDR_DTYPE_COUNT);
  for (int i = 0; i < NDR_DTYPE_COUNT; i++) {
    ck_assert_int_eq(expected[i].dtype, i);
    ck_assert_str_eq(ndr_dtype_name((ndr_dtype)i), expected[i].name);
    ck_assert_uint_eq(ndr_dtype_bytes((ndr_dtype)i), expected[i].bytes);
    ck_assert_uint_eq(ndr_dtype_alignment((ndr_dtype)i), expected[i].alignment);
    ck_assert_int_eq(ndr_dtype_class((ndr_dtype)i), expected[i].class);
    ck_assert(ndr_dtype_valid((ndr_dtype)i));
  }
  ck_assert(!ndr_dtype_valid((ndr_dtype)-1) && !ndr_dtype_valid((ndr_dtype)NDR_DTYPE_COUNT));
}
END_TEST

START_TEST(operators_are_pinned) {
  static const char *const names[] = {"sum",       "prod", "min", "max",   "argmin", "argmax",
                                      "mean",      "var",  "std", "norm1", "norm2",  "norminf",
                                      "logsumexp", "any",  "all", "count", "valid",  "ptp"};
  ck_assert_uint_eq(sizeof names / sizeof *names, NDR_OP_COUNT);
  for (int i = 0; i < NDR_OP_COUNT; i++) {
    ck_assert_str_eq(ndr_op_name((ndr_op)i), names[i]);
    ck_assert(ndr_op_valid((ndr_op)i));
    ck_assert_int_eq(ndr_op_has_empty((ndr_op)i), op_has_empty((ndr_op)i));
    ck_assert_int_eq(ndr_op_is_index((ndr_op)i), i == NDR_ARGMIN || i == NDR_ARGMAX);
  }
  ck_assert(!ndr_op_valid((ndr_op)-1) && !ndr_op_valid((ndr_op)NDR_OP_COUNT));
}
END_TEST

START_TEST(complex_numbers_have_no_order) {
  for (int op = 0; op < NDR_OP_COUNT; op++) {
    for (int dtype = 0; dtype < NDR_DTYPE_COUNT; dtype++) {
      if (op_defined((ndr_op)op, (ndr_dtype)dtype))
        assert_ok(ndr_op_check((ndr_op)op, (ndr_dtype)dtype));
      else
        assert_fails(ndr_op_check((ndr_op)op, (ndr_dtype)dtype), NDR_ERR_OP, ndr_op_name((ndr_op)op));
    }
  }
  assert_fails(ndr_op_check((ndr_op)NDR_OP_COUNT, NDR_F32), NDR_ERR_OP, "18");
}
END_TEST

/* The result dtypes as the public header words them, one letter a rule. */
START_TEST(result_dtypes_follow_the_rules) {
  static const char rules[NDR_OP_COUNT + 1] = "ssmmiimrrrrrmbbiim";
  static const ndr_dtype real_of[NDR_DTYPE_COUNT] = {NDR_F64,  NDR_F64, NDR_F64, NDR_F64, NDR_F64,
                                                     NDR_F64,  NDR_F64, NDR_F64, NDR_F64, NDR_F16,
                                                     NDR_BF16, NDR_F32, NDR_F64, NDR_F32, NDR_F64};
  for (int op = 0; op < NDR_OP_COUNT; op++) {
    for (int d = 0; d < NDR_DTYPE_COUNT; d++) {
      ndr_dtype dtype = (ndr_dtype)d, expected = dtype;
      bool same = op == NDR_MIN || op == NDR_MAX || op == NDR_PTP;
      if (!op_defined((ndr_op)op, dtype)) continue;
      if (rules[op] == 's' && is_integer(dtype)) expected = is_signed(dtype) ? NDR_I64 : NDR_U64;
      if (rules[op] == 'i') expected = NDR_I64;
      if (rules[op] == 'm' && !same && is_integer(dtype)) expected = NDR_F64;
      if (rules[op] == 'r') expected = real_of[dtype];
      if (rules[op] == 'b') expected = NDR_BOOL;
      ck_assert_msg(ndr_op_result((ndr_op)op, dtype) == expected, "%s of %s gives %s, expected %s",
                    ndr_op_name((ndr_op)op), ndr_dtype_name(dtype), ndr_dtype_name(ndr_op_result((ndr_op)op, dtype)),
                    ndr_dtype_name(expected));
    }
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("core types");
  TCase *conversions = tcase_create("conversions");
  int formats = sizeof halves / sizeof *halves;
  tcase_set_timeout(conversions, 60);
  tcase_add_loop_test(conversions, every_half_widens_exactly, 0, formats);
  tcase_add_loop_test(conversions, every_half_survives_a_round_trip, 0, formats);
  tcase_add_loop_test(conversions, every_midpoint_rounds_to_even, 0, formats);
  tcase_add_loop_test(conversions, doubles_of_any_size_round_as_the_definition_says, 0, formats);
  tcase_add_loop_test(conversions, extreme_doubles_become_halves, 0, formats);
  suite_add_tcase(suite, conversions);
  suite_case(suite, "tables", 10, dtypes_have_their_pinned_names_and_sizes, operators_are_pinned,
             complex_numbers_have_no_order, result_dtypes_follow_the_rules, NULL);
  return suite_run(suite);
}
