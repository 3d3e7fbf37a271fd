/* What the nodes of programs compute: against values that NumPy computed, and against values written by hand. */
#include <math.h>
#include <stdio.h>

#include "lang/emit.h"
#include "lang/evaluate.h"
#include "ndreduce/operator.h"
#include "support/cases.h"
#include "support/suite.h"

static const int arrays[NDR_MOST_ARRAYS] = {0, 1, 2, 3, 4};

static const double parameters[] = {0.1, 2, -3, 0.5}; /* t and c[3] */

static void make(const char *text, ndr_dtype x, ndr_dtype y, ndr_program *program) {
  const ndr_dtype dtypes[NDR_MOST_ARRAYS] = {x, y, y, y, y};
  ndr_op op;
  assert_ok(ndr_operator_create(&op, text, parameters, 4));
  ck_assert_msg(ndr_emit_program(op, dtypes, arrays, false, program) == NDR_OK, "%s", ndr_last_error());
  ndr_operator_destroy(op);
}

/* The value of an expression for elements x and y at the place (5, 7). */
static ndr_scalar value_of(const char *expression, ndr_scalar x, ndr_scalar y) {
  const int64_t places[] = {5, 7};
  ndr_scalar elements[] = {x, y}, values[NDR_MOST_NODES];
  ndr_program program;
  char text[256];
  snprintf(text, sizeof text, "f(x, y; t, c[3]): s += %s -> s", expression);
  make(text, x.dtype, y.dtype, &program);
  ndr_program_evaluate(&program, elements, places, values);
  return values[program.parts[0].value];
}

static ndr_scalar real(ndr_dtype dtype, double value) {
  return (ndr_scalar){.dtype = dtype, .re = value};
}

static ndr_scalar whole(ndr_dtype dtype, int64_t value) {
  return (ndr_scalar){.dtype = dtype, .i = value};
}

static ndr_scalar complex(ndr_dtype dtype, double re, double im) {
  return (ndr_scalar){.dtype = dtype, .re = re, .im = im};
}

static bool same(double a, double b) {
  return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}

#define assert_value(expression, expected)                                                                             \
  do {                                                                                                                 \
    ndr_scalar got_ = (expression), wanted_ = (expected);                                                              \
    ck_assert_msg(got_.dtype == wanted_.dtype, "%s: %s, not %s", #expression, ndr_dtype_name(got_.dtype),              \
                  ndr_dtype_name(wanted_.dtype));                                                                      \
    if (ndr_dtype_is_float(got_.dtype))                                                                                \
      ck_assert_msg(same(got_.re, wanted_.re) && same(got_.im, wanted_.im), "%s: %.17g %.17g, not %.17g %.17g",        \
                    #expression, got_.re, got_.im, wanted_.re, wanted_.im);                                            \
    else                                                                                                               \
      ck_assert_msg(got_.i == wanted_.i, "%s: %lld, not %lld", #expression, (long long)got_.i, (long long)wanted_.i);  \
  } while (0)

/* ---- NumPy ---- */

static const struct {
  const char *text;
  ndr_dtype x;
  uint64_t x_bits[2];
  ndr_dtype y;
  uint64_t y_bits[2];
  ndr_dtype result;
  uint64_t result_bits[2];
} rows[] = {
#define ROW(text, x, x_bits, y, y_bits, result, ...)                                                                   \
  {text, NDR_##x, x_bits, NDR_##y, y_bits, NDR_##result, __VA_ARGS__},
#define W(...)                                                                                                         \
  { __VA_ARGS__ }
#include "operator_table.inc"
#undef ROW
};

START_TEST(numpy_computes_the_same) {
  ndr_scalar x = ndr_scalar_load(rows[_i].x, rows[_i].x_bits, 0), y = ndr_scalar_load(rows[_i].y, rows[_i].y_bits, 0);
  ndr_scalar got = value_of(rows[_i].text, x, y), wanted = ndr_scalar_load(rows[_i].result, rows[_i].result_bits, 0);
  ck_assert_msg(got.dtype == wanted.dtype, "'%s' of %s and %s is %s, not %s", rows[_i].text, ndr_dtype_name(x.dtype),
                ndr_dtype_name(y.dtype), ndr_dtype_name(got.dtype), ndr_dtype_name(wanted.dtype));
  if (ndr_dtype_is_float(got.dtype)) /* the sign of 0 is NumPy's own where it is asked for the smaller one */
    ck_assert_msg((got.re == wanted.re || same(got.re, wanted.re)) && (got.im == wanted.im || same(got.im, wanted.im)),
                  "'%s' of %s %.17g and %s %.17g is %.17g %.17g, not %.17g %.17g", rows[_i].text,
                  ndr_dtype_name(x.dtype), x.re, ndr_dtype_name(y.dtype), y.re, got.re, got.im, wanted.re, wanted.im);
  else
    ck_assert_msg(got.u == wanted.u, "'%s' of %s and %s is %lld, not %lld", rows[_i].text, ndr_dtype_name(x.dtype),
                  ndr_dtype_name(y.dtype), (long long)got.i, (long long)wanted.i);
}
END_TEST

/* ---- by hand ---- */

START_TEST(floats_are_rounded_after_every_node) {
  ndr_scalar x = real(NDR_F32, 16777216), y = real(NDR_F32, 0x1p-30);
  assert_value(value_of("x + 1 - x", x, y), real(NDR_F32, 0));
  assert_value(value_of("x * t", real(NDR_F32, 1), y), real(NDR_F32, (double)0.1f));
  assert_value(value_of("x * t", real(NDR_F64, 1), y), real(NDR_F64, 0.1));
  assert_value(value_of("x * (t * 3)", real(NDR_F32, 1), y), real(NDR_F32, (double)(float)(0.1 * 3)));
  assert_value(value_of("(1 + y) * (1 + y) - 1", x, real(NDR_F32, 0x1p-12)), real(NDR_F32, 0x1p-11)); /* not fused */
  assert_value(value_of("sqrt(x)", real(NDR_F32, 2), y), real(NDR_F32, (double)sqrtf(2)));
  assert_value(value_of("x * 2", real(NDR_F32, 3e38), y), real(NDR_F32, INFINITY));
  assert_value(value_of("x * 2 / 2", real(NDR_F16, 65504), y), real(NDR_F32, 65504)); /* as f32 */
  assert_value(value_of("x", real(NDR_BF16, 1.5), y), real(NDR_BF16, 1.5));
}
END_TEST

START_TEST(functions_are_those_of_c) {
  ndr_scalar x = real(NDR_F64, 0.7), y = real(NDR_F64, -2.5), nan = real(NDR_F64, NAN);
  assert_value(value_of("exp(x)", x, y), real(NDR_F64, exp(0.7)));
  assert_value(value_of("log(x)", x, y), real(NDR_F64, log(0.7)));
  assert_value(value_of("sin(x)", x, y), real(NDR_F64, sin(0.7)));
  assert_value(value_of("cos(x)", x, y), real(NDR_F64, cos(0.7)));
  assert_value(value_of("floor(y)", x, y), real(NDR_F64, -3));
  assert_value(value_of("abs(y)", x, y), real(NDR_F64, 2.5));
  assert_value(value_of("x**y", x, y), real(NDR_F64, pow(0.7, -2.5)));
  assert_value(value_of("sqrt(x)", whole(NDR_U8, 2), y), real(NDR_F64, sqrt(2)));
  assert_value(value_of("exp(1)", x, y), real(NDR_F64, exp(1)));
  assert_value(value_of("10**-3", x, y), real(NDR_F64, pow(10, -3)));
  assert_value(value_of("1 / 0", x, y), real(NDR_F64, INFINITY));
  assert_value(value_of("x ? inf : 0", x, y), real(NDR_F64, INFINITY));
  assert_value(value_of("isnan(x)", nan, y), whole(NDR_BOOL, 1));
  assert_value(value_of("min(x, y)", nan, y), real(NDR_F64, NAN));
  assert_value(value_of("min(y, x)", nan, y), real(NDR_F64, NAN));
  assert_value(value_of("max(x, y)", nan, y), real(NDR_F64, NAN));
  assert_value(value_of("max(y, x)", nan, y), real(NDR_F64, NAN));
  assert_value(value_of("!x", nan, y), whole(NDR_BOOL, 0));
  assert_value(value_of("x != x", nan, y), whole(NDR_BOOL, 1));
  assert_value(value_of("x <= x", nan, y), whole(NDR_BOOL, 0));
}
END_TEST

START_TEST(powers_and_polynomials_are_multiplications) {
  ndr_scalar x = real(NDR_F64, 1.1), i = whole(NDR_I8, -3), z = complex(NDR_C128, 1, 2);
  assert_value(value_of("x**2", x, x), real(NDR_F64, 1.1 * 1.1));
  assert_value(value_of("x**3", x, x), real(NDR_F64, 1.1 * 1.1 * 1.1));
  assert_value(value_of("x**0", real(NDR_F64, NAN), x), real(NDR_F64, 1));
  assert_value(value_of("x**1", x, x), x);
  assert_value(value_of("x**5", i, i), whole(NDR_I8, (int8_t)-243));
  assert_value(value_of("x**9223372036854775807", i, i), whole(NDR_I8, 85)); /* 1 / -3 mod 256 */
  assert_value(value_of("x**2", z, z), complex(NDR_C128, -3, 4));
  assert_value(value_of("x**3", z, z), complex(NDR_C128, -11, -2));
  assert_value(value_of("poly(x, c)", real(NDR_F64, 3), x), real(NDR_F64, 2 - 9 + 4.5));
  assert_value(value_of("poly(x, c)", whole(NDR_I8, 3), x), real(NDR_F64, -2.5));
  assert_value(value_of("poly(x, c)", complex(NDR_C64, 0, 1), x), complex(NDR_C64, 1.5, -3));
  assert_value(value_of("c[0] + c[2]", x, x), real(NDR_F64, 2.5));
}
END_TEST

START_TEST(integers_wrap) {
  ndr_scalar low = whole(NDR_I8, -128), high = whole(NDR_U16, 65535), most = whole(NDR_I64, INT64_MAX);
  assert_value(value_of("-x", low, low), whole(NDR_I8, -128));
  assert_value(value_of("abs(x)", low, low), whole(NDR_I8, -128));
  assert_value(value_of("x - 1", low, low), whole(NDR_I8, 127));
  assert_value(value_of("x + 1 > x", high, low), whole(NDR_BOOL, 0));
  assert_value(value_of("-x", high, low), whole(NDR_U16, 1));
  assert_value(value_of("x * x", most, low), whole(NDR_I64, 1));
  assert_value(value_of("x + y", whole(NDR_U64, -1), whole(NDR_U64, 2)), whole(NDR_U64, 1));
  assert_value(value_of("x * y", low, high), whole(NDR_I32, -128 * 65535));
  assert_value(value_of("x > y", whole(NDR_U64, -1), whole(NDR_U8, 2)), whole(NDR_BOOL, 1));
  assert_value(value_of("max(x, y)", whole(NDR_U64, -1), whole(NDR_U64, 2)), whole(NDR_U64, -1));
}
END_TEST

START_TEST(comparisons_know_numbers_beyond_a_dtype) {
  ndr_scalar x = whole(NDR_U8, 255), y = whole(NDR_I8, -128);
  static const struct {
    const char *expression;
    int expected;
  } cases[] = {{"x < 256", 1},  {"x <= 256", 1}, {"x > 256", 0},   {"x >= 256", 0}, {"x == 256", 0},
               {"x != 256", 1}, {"256 < x", 0},  {"256 <= x", 0},  {"256 > x", 1},  {"256 >= x", 1},
               {"256 == x", 0}, {"256 != x", 1}, {"x > -1", 1},    {"x >= -1", 1},  {"x < -1", 0},
               {"-1 < x", 1},   {"-1 == x", 0},  {"y > -129", 1},  {"y < 128", 1},  {"128 <= y", 0},
               {"x >= 255", 1}, {"x > 255", 0},  {"y <= -128", 1}, {"y < -128", 0}, {"x < 255.5", 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ndr_scalar got = value_of(cases[i].expression, x, y);
    ck_assert_msg(got.dtype == NDR_BOOL && (int)got.u == cases[i].expected, "%s", cases[i].expression);
  }
}
END_TEST

START_TEST(complex_numbers_are_computed) {
  ndr_scalar z = complex(NDR_C64, 3, -4), w = complex(NDR_C128, 1, 2), zero = complex(NDR_C128, 0, 0);
  assert_value(value_of("x * y", z, w), complex(NDR_C128, 11, 2));
  assert_value(value_of("x / y", z, w), complex(NDR_C128, -1, -2));
  assert_value(value_of("x / y", w, z), complex(NDR_C128, -0.2, 0.4));
  assert_value(value_of("x / y", complex(NDR_C128, 1e300, 1e300), complex(NDR_C128, 1e300, 1e300)),
               complex(NDR_C128, 1, 0));
  assert_value(value_of("x / y", w, zero), complex(NDR_C128, INFINITY, INFINITY));
  assert_value(value_of("-x + 1", z, w), complex(NDR_C64, -2, 4));
  assert_value(value_of("abs(x)", z, w), real(NDR_F32, 5));
  assert_value(value_of("real(x) - imag(x)", z, w), real(NDR_F32, 7));
  assert_value(value_of("conj(x)", z, w), complex(NDR_C64, 3, 4));
  assert_value(value_of("x == y", z, z), whole(NDR_BOOL, 1));
  assert_value(value_of("x != conj(x)", z, z), whole(NDR_BOOL, 1));
  assert_value(value_of("isnan(x)", complex(NDR_C64, 0, NAN), z), whole(NDR_BOOL, 1));
  assert_value(value_of("!y", z, zero), whole(NDR_BOOL, 1));
  assert_value(value_of("x && 1", complex(NDR_C64, 0, 1), z), whole(NDR_BOOL, 1));
  assert_value(value_of("imag(x)", real(NDR_F64, 3), z), real(NDR_F64, 0));
}
END_TEST

START_TEST(places_have_indices) {
  ndr_scalar x = real(NDR_F64, 2);
  assert_value(value_of("index(0)", x, x), whole(NDR_I64, 5));
  assert_value(value_of("index(1) * x", x, x), real(NDR_F64, 14));
}
END_TEST

/* ---- results ---- */

static ndr_scalar result_of(const char *text, ndr_dtype x, ndr_scalar first, ndr_scalar second) {
  const ndr_scalar totals[] = {first, second};
  ndr_program program;
  ndr_op op;
  const ndr_dtype dtypes[] = {x};
  assert_ok(ndr_operator_create(&op, text, NULL, 0));
  assert_ok(ndr_emit_program(op, dtypes, arrays, false, &program));
  ndr_operator_destroy(op);
  if (strchr(text, ';')) program.parameters[0] = 0.1;
  return ndr_program_finish(&program, totals);
}

START_TEST(results_are_computed_in_the_types_of_totals) {
  ndr_scalar third = real(NDR_F64, 1.0 / 3), three = whole(NDR_I64, 3), large = whole(NDR_I64, 100);
  assert_value(result_of("f(x): s += x -> s", NDR_F16, third, three), real(NDR_F64, 1.0 / 3));
  assert_value(result_of("f(x): s += x -> s / n", NDR_F32, third, three), real(NDR_F64, 1.0 / 3 / 3));
  assert_value(result_of("f(x): s += x -> s * 0.1", NDR_F32, third, three), real(NDR_F64, 1.0 / 3 * 0.1));
  assert_value(result_of("f(x; t): s += x -> s * t", NDR_F32, third, three), real(NDR_F64, 1.0 / 3 * 0.1));
  assert_value(result_of("f(x): m max= x -> m + m", NDR_I8, large, three), whole(NDR_I64, 200));
  assert_value(result_of("f(x): m max= x -> m * n", NDR_I8, large, three), whole(NDR_I64, 300));
  assert_value(result_of("f(x): m max= x -> m > 0 ? m / 3 : 0", NDR_U8, whole(NDR_U64, 1), three),
               real(NDR_F64, 1.0 / 3));
  assert_value(result_of("f(x): a &= x -> !a", NDR_F32, whole(NDR_BOOL, 0), three), whole(NDR_U64, 1));
  assert_value(result_of("f(x): s += x -> s * s", NDR_C64, complex(NDR_C128, 0.1, 0), three),
               complex(NDR_C128, 0.1 * 0.1, 0));
}
END_TEST

START_TEST(elements_are_loaded_and_stored) {
  ndr_dtype dtype = (ndr_dtype)_i;
  rng random = {test_seed()};
  for (int i = 0; i < 2000; i++) {
    unsigned char bytes[64], back[64];
    size_t size = ndr_dtype_bytes(dtype);
    for (size_t b = 0; b < sizeof bytes; b++) bytes[b] = (unsigned char)rng_next(&random);
    if (dtype == NDR_BOOL) bytes[1 + 2 * size] &= 1;
    memcpy(back, bytes, sizeof bytes);
    ndr_scalar value = ndr_scalar_load(dtype, bytes + 1, 2);
    if (ndr_dtype_is_float(dtype) && (isnan(value.re) || isnan(value.im))) continue;
    ck_assert_int_eq(value.dtype, dtype);
    memset(back + 1 + 2 * size, 0x55, size);
    ndr_scalar_store(value, dtype, back + 1, 2);
    ck_assert_mem_eq(bytes, back, sizeof bytes);
    element expected = element_load(dtype, memcpy(back, bytes + 1 + 2 * size, size));
    long double got = ndr_dtype_is_float(dtype)                 ? (long double)value.re
                      : ndr_dtype_class(dtype) == NDR_CLASS_INT ? (long double)value.i
                                                                : (long double)value.u;
    ck_assert(got == expected.re && (!ndr_dtype_is_float(dtype) || (long double)value.im == expected.im));
  }
}
END_TEST

START_TEST(stores_round_once) {
  uint16_t half;
  float single;
  int8_t small;
  uint8_t byte;
  bool truth;
  ndr_scalar_store(real(NDR_F64, 1 + 0x1p-11 + 0x1p-40), NDR_F16, &half, 0);
  ck_assert_uint_eq(half, 0x3c01); /* 1 by way of f32 */
  ndr_scalar_store(whole(NDR_I64, (INT64_C(1) << 60) + (INT64_C(1) << 36) + 1), NDR_F32, &single, 0);
  ck_assert(single == 0x1p60f + 0x1p37f); /* 2^60 by way of f64 */
  ndr_scalar_store(whole(NDR_I64, 200), NDR_I8, &small, 0);
  ck_assert_int_eq(small, -56);
  ndr_scalar_store(real(NDR_F64, 300.7), NDR_U8, &byte, 0);
  ck_assert_int_eq(byte, 44);
  ndr_scalar_store(real(NDR_F64, NAN), NDR_U8, &byte, 0);
  ck_assert_int_eq(byte, 0);
  ndr_scalar_store(real(NDR_F64, -1e300), NDR_U8, &byte, 0);
  ck_assert_int_eq(byte, 0);
  ndr_scalar_store(complex(NDR_C128, 0, 1e-300), NDR_BOOL, &truth, 0);
  ck_assert(truth);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

int main(void) {
  Suite *suite = suite_create("core evaluate");
  TCase *tables = tcase_create("tables");
  tcase_add_loop_test(tables, numpy_computes_the_same, 0, COUNT(rows));
  tcase_add_loop_test(tables, elements_are_loaded_and_stored, 0, NDR_DTYPE_COUNT);
  suite_add_tcase(suite, tables);
  suite_case(suite, "values", 60, floats_are_rounded_after_every_node, functions_are_those_of_c,
             powers_and_polynomials_are_multiplications, integers_wrap, comparisons_know_numbers_beyond_a_dtype,
             complex_numbers_are_computed, places_have_indices, NULL);
  suite_case(suite, "results", 60, results_are_computed_in_the_types_of_totals, stores_round_once, NULL);
  return suite_run(suite);
}
