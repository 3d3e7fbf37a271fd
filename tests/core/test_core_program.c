/* Programs of operators over given dtypes: NumPy's promotion, what becomes of numbers, parts and results, and what is
 * refused. */
#include <stdio.h>

#include "lang/emit.h"
#include "lang/promote.h"
#include "ndreduce/operator.h"
#include "support/program.h"
#include "support/suite.h"

static const int arrays[NDR_MOST_ARRAYS] = {0, 1, 2, 3, 4};

static ndr_status try_program(const char *text, ndr_dtype x, ndr_dtype y, bool skip_nan, ndr_program *program) {
  const ndr_dtype dtypes[NDR_MOST_ARRAYS] = {x, y, y, y, y};
  ndr_op op;
  assert_ok(ndr_operator_create(&op, text, NULL, 0));
  ndr_status status = ndr_emit_program(op, dtypes, arrays, skip_nan, program);
  program->array_count = ndr_operator_arrays(op);
  memcpy(program->arrays, dtypes, sizeof dtypes);
  ndr_operator_destroy(op);
  return status;
}

static void make_program(const char *text, ndr_dtype x, ndr_dtype y, bool skip_nan, ndr_program *program) {
  int node;
  ck_assert_msg(try_program(text, x, y, skip_nan, program) == NDR_OK, "'%s' of %s and %s: %s", text, ndr_dtype_name(x),
                ndr_dtype_name(y), ndr_last_error());
  const char *fault = program_fault(program, &node);
  ck_assert_msg(fault == NULL, "'%s' of %s and %s: node %d breaks %s", text, ndr_dtype_name(x), ndr_dtype_name(y), node,
                fault);
}

/* The program that sums an expression over x, y and the parameters t and c. */
static void make_values(const char *expression, ndr_dtype x, ndr_dtype y, ndr_program *program) {
  char text[256];
  snprintf(text, sizeof text, "f(x, y; t, c[3]): s += %s -> s", expression);
  make_program(text, x, y, false, program);
}

static ndr_dtype value_dtype(const ndr_program *program) {
  return program->nodes[program->parts[0].value].dtype;
}

/* ---- NaN ---- */

static int isnan_count(const char *text) {
  ndr_program program;
  int count = 0;
  make_program(text, NDR_F32, NDR_F32, true, &program);
  for (int n = 0; n < program.node_count; n++) count += program.nodes[n].kind == NDR_NODE_ISNAN;
  return count;
}

START_TEST(nan_is_tested_in_arrays_that_are_read) {
  ck_assert_int_eq(isnan_count("f(x, y): s += x * y -> s"), 2);
  ck_assert_int_eq(isnan_count("f(x, y): n += 1, m max= y -> n + m"), 2);
  ck_assert_int_eq(isnan_count("f(x, y): n += 1 -> n"), 1);
  ck_assert_int_eq(isnan_count("f(x, y): s += 2 * x -> s"), 1);
  ndr_program program;
  make_program("f(x, y): s += x -> s", NDR_F32, NDR_F32, true, &program);
  ck_assert(program.parts[0].skip_nan && program.parts[0].mask < 0); /* as the built-in sum */
}
END_TEST

/* ---- dtypes ---- */

#define BOOL NDR_BOOL
#define I8 NDR_I8
#define I16 NDR_I16
#define I32 NDR_I32
#define I64 NDR_I64
#define U8 NDR_U8
#define U16 NDR_U16
#define U32 NDR_U32
#define U64 NDR_U64
#define F16 NDR_F16
#define BF16 NDR_BF16
#define F32 NDR_F32
#define F64 NDR_F64
#define C64 NDR_C64
#define C128 NDR_C128

/* numpy.result_type, of NumPy 2.4, in the order of `order`. */
enum { DTYPES = 14 };
static const ndr_dtype order[DTYPES] = {BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64, C64, C128};
static const ndr_dtype numpy[DTYPES][DTYPES] = {
    {BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64, C64, C128},
    {I8, I8, I16, I32, I64, I16, I32, I64, F64, F16, F32, F64, C64, C128},
    {I16, I16, I16, I32, I64, I16, I32, I64, F64, F32, F32, F64, C64, C128},
    {I32, I32, I32, I32, I64, I32, I32, I64, F64, F64, F64, F64, C128, C128},
    {I64, I64, I64, I64, I64, I64, I64, I64, F64, F64, F64, F64, C128, C128},
    {U8, I16, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64, C64, C128},
    {U16, I32, I32, I32, I64, U16, U16, U32, U64, F32, F32, F64, C64, C128},
    {U32, I64, I64, I64, I64, U32, U32, U32, U64, F64, F64, F64, C128, C128},
    {U64, F64, F64, F64, F64, U64, U64, U64, U64, F64, F64, F64, C128, C128},
    {F16, F16, F32, F64, F64, F16, F32, F64, F64, F16, F32, F64, C64, C128},
    {F32, F32, F32, F64, F64, F32, F32, F64, F64, F32, F32, F64, C64, C128},
    {F64, F64, F64, F64, F64, F64, F64, F64, F64, F64, F64, F64, C128, C128},
    {C64, C64, C64, C128, C128, C64, C64, C128, C128, C64, C64, C128, C64, C128},
    {C128, C128, C128, C128, C128, C128, C128, C128, C128, C128, C128, C128, C128, C128}};

START_TEST(dtypes_are_promoted_as_numpy_does) {
  for (int i = 0; i < DTYPES; i++) {
    for (int j = 0; j < DTYPES; j++) {
      ndr_program program;
      ndr_dtype expected = numpy[i][j] == F16 ? F32 : numpy[i][j];
      ck_assert_int_eq(ndr_dtype_promote(order[i], order[j]), expected);
      make_values("x + y", order[i], order[j], &program);
      ck_assert_int_eq(value_dtype(&program), expected == BOOL ? I64 : expected);
      make_values("x ? x : y", order[i], order[j], &program);
      ck_assert_int_eq(value_dtype(&program), expected);
    }
    ck_assert_int_eq(ndr_dtype_promote(order[i], BF16), ndr_dtype_promote(order[i], F16));
    ck_assert_int_eq(ndr_dtype_promote(BF16, order[i]), ndr_dtype_promote(F16, order[i]));
  }
  ck_assert_int_eq(ndr_dtype_promote(BF16, BF16), F32);
}
END_TEST

static const struct {
  const char *expression;
  ndr_dtype x, y, expected;
} dtypes_of[] = {
    {"x", F16, F16, F16},
    {"x", BF16, F16, BF16},
    {"x", BOOL, F16, BOOL},
    {"-x", BOOL, U8, I64},
    {"x * y", BOOL, BOOL, I64},
    {"x * y", BOOL, U8, U8},
    {"min(x, y)", BOOL, BOOL, BOOL},
    {"abs(x)", BOOL, U8, I64},
    {"x + 1", BOOL, U8, I64},
    {"x + 1", I8, U8, I8},
    {"x + 1", F32, U8, F32},
    {"x + 1", F16, U8, F32},
    {"x + 1", C64, U8, C64},
    {"x + 1.5", I8, U8, F64},
    {"x + 1.5", BOOL, U8, F64},
    {"x + t", F32, U8, F32},
    {"x + t", U8, U8, F64},
    {"x + t", C64, U8, C64},
    {"x * (t * 2 + 1)", F32, U8, F32},
    {"x / 2", I8, U8, F64},
    {"x / y", U64, U8, F64},
    {"x / y", F32, I8, F32},
    {"1 / 3", I8, U8, F64},
    {"1", I8, U8, I64},
    {"t", F32, U8, F64},
    {"t > 1", F32, U8, BOOL},
    {"sqrt(x)", U8, U8, F64},
    {"sqrt(x)", F16, U8, F32},
    {"floor(x)", U8, U8, U8},
    {"floor(x)", F32, U8, F32},
    {"isnan(x)", U8, U8, BOOL},
    {"isnan(x)", F16, U8, BOOL},
    {"x**2", I8, U8, I8},
    {"x**2", BOOL, U8, I64},
    {"x**2", C64, U8, C64},
    {"x**17", I8, U8, I8},
    {"x**-1", I8, U8, F64},
    {"x**y", I8, U8, F64},
    {"x**0.5", F32, U8, F32},
    {"x**t", I8, U8, F64},
    {"x**0", C64, U8, C64},
    {"2**x", I8, U8, F64},
    {"2**x", F32, U8, F32},
    {"abs(x)", C64, U8, F32},
    {"abs(x)", C128, U8, F64},
    {"abs(x)", U16, U8, U16},
    {"real(x)", C64, U8, F32},
    {"imag(x)", F32, U8, F32},
    {"conj(x)", C64, U8, C64},
    {"imag(x)", I8, U8, I8},
    {"index(1)", F32, U8, I64},
    {"index(1) * x", F32, U8, F64},
    {"poly(x, c)", I8, U8, F64},
    {"poly(x, c)", F32, U8, F32},
    {"poly(x, c)", C64, U8, C64},
    {"poly(2, c)", I8, U8, F64},
    {"x > 0 ? 1 : 0", F32, U8, I64},
    {"x > 0 ? 1.5 : 0", F32, U8, F64},
    {"x > 0 ? x : 0", F32, U8, F32},
    {"(t > 0 ? 300 : 0) + x", U8, U8, U64},
    {"(t > 0 ? 300 : 0) + x", I8, U8, I64},
    {"x && y", F32, U8, BOOL},
    {"!x", C64, U8, BOOL},
    {"x == y", C64, C128, BOOL},
    {"max(x, 1)", U8, U8, U8},
    {"x + max(2, 3)", U8, U8, U8},
    {"x + min(2, -3.5)", U8, U8, F64},
    {"x + abs(-3)", I8, I8, I8},
    {"x + (1 ? 2 : 3)", U8, U8, U8},
    {"x + real(2)", U8, U8, U8},
    {"x + imag(2)", U8, U8, U8},
    {"x + conj(2)", F32, F32, F32},
};

START_TEST(expressions_have_dtypes) {
  ndr_program program;
  make_values(dtypes_of[_i].expression, dtypes_of[_i].x, dtypes_of[_i].y, &program);
  ck_assert_msg(value_dtype(&program) == dtypes_of[_i].expected, "'%s' of %s and %s is %s", dtypes_of[_i].expression,
                ndr_dtype_name(dtypes_of[_i].x), ndr_dtype_name(dtypes_of[_i].y),
                ndr_dtype_name(value_dtype(&program)));
}
END_TEST

static const struct {
  const char *text;
  ndr_dtype x, expected;
} results_of[] = {
    {"f(x): s += x -> s", I8, I64},
    {"f(x): s += x -> s", U8, U64},
    {"f(x): s += x -> s", BOOL, U64},
    {"f(x): s += x -> s", F16, F16},
    {"f(x): s += x -> s / n", F16, F32},
    {"f(x): s += x -> s / n", F32, F32},
    {"f(x): s += x, k += 1 -> s / k", F32, F32},
    {"f(x): s += x -> s / n", I8, F64},
    {"f(x): s += x -> n", F32, I64},
    {"f(x): m max= x -> m", I8, I8},
    {"f(x): m max= x -> m + n", I8, I64},
    {"f(x): m max= x -> m + n", U8, U64},
    {"f(x): m max= x -> m + 1", I8, I8},
    {"f(x): m max= x, k min= x -> m - k", I8, I8},
    {"f(x): a &= x -> a", F32, BOOL},
    {"f(x): a |= x -> !a", C64, BOOL},
    {"f(x): s += x -> 1", F32, I64},
    {"f(x; t): s += x -> s * t", F32, F32},
    {"f(x; t): s += x -> s * t", I8, F64},
    {"f(x; t): s += t -> s", F32, F64},
    {"f(x; t): s += x, w += t -> s / w", F32, F32},
    {"f(x): s += x -> abs(s)", C64, F32},
    {"f(x): k += x > 0 -> k", F32, U64},
    {"f(x): k += x > 0 -> k / n", F32, F64},
    {"f(x): s += x -> n > 0 ? s / n : 0", F32, F32},
    {"f(x): p *= x -> sqrt(p)", BF16, F32},
};

START_TEST(results_have_dtypes) {
  ndr_program program;
  make_program(results_of[_i].text, results_of[_i].x, F32, true, &program);
  ck_assert_msg(program.result_dtype == results_of[_i].expected, "'%s' of %s is %s", results_of[_i].text,
                ndr_dtype_name(results_of[_i].x), ndr_dtype_name(program.result_dtype));
}
END_TEST

static const struct {
  const char *text;
  ndr_dtype x;
  int column;
  const char *cause;
} refused[] = {
    {"f(x): m min= x -> m", C64, 7, "min= is not defined for complex numbers (c64)"},
    {"f(x): m max= x * 2.5 -> m", C128, 7, "max= is not defined for complex numbers (c128)"},
    {"f(x): s += x < 1 -> s", C64, 14, "< is not defined for complex numbers (c64)"},
    {"f(x): s += 1 >= x -> s", C64, 14, ">= is not defined"},
    {"f(x): s += min(x, 1) -> s", C64, 12, "min is not defined"},
    {"f(x): s += sqrt(x) -> s", C128, 12, "sqrt is not defined for complex numbers (c128)"},
    {"f(x): s += floor(x) -> s", C64, 12, "floor is not defined"},
    {"f(x): s += x**17 -> s", C64, 13, "complex numbers (c64) have whole powers from 0 to 16 only"},
    {"f(x): s += x**0.5 -> s", C64, 13, "whole powers"},
    {"f(x): s += x -> s**-1", C64, 18, "whole powers"},
    {"f(x): s += x + 256 -> s", U8, 16, "256 does not fit in u8"},
    {"f(x): s += x * -1 -> s", U64, 16, "-1 does not fit in u64"},
    {"f(x): s += x + (100 + 28) -> s", I8, 21, "128 does not fit in i8"},
    {"f(x): s += x > 0 ? x : 70000 -> s", U16, 24, "70000 does not fit in u16"},
    {"f(x): s += max(x, -129) -> s", I8, 19, "-129 does not fit in i8"},
    {"f(x): s += 9223372036854775807 + 1 -> s", I8, 32, "the result of '+' does not fit in 64 bits"},
    {"f(x): s += 10**19 -> s", I8, 14, "the result of '**' does not fit in 64 bits"},
    {"f(x): s += x -> s < 1", C64, 19, "< is not defined"},
};

START_TEST(what_has_no_meaning_is_refused) {
  ndr_program program;
  char column[64];
  snprintf(column, sizeof column, "column %d of '", refused[_i].column);
  assert_fails(try_program(refused[_i].text, refused[_i].x, F32, false, &program), NDR_ERR_OP, column);
  ck_assert_msg(strstr(ndr_last_error(), refused[_i].cause) != NULL, "%s", ndr_last_error());
}
END_TEST

START_TEST(an_operator_may_have_too_many_nodes) {
  ndr_program program;
  make_program("f(x; c[64]): s += poly(x, c) -> s", F32, F32, false, &program);
  assert_fails(try_program("f(x; c[64]): s += poly(x, c) + poly(x + 1, c) -> s", F32, F32, false, &program), NDR_ERR_OP,
               "operator 'f' has more than 256 nodes");
}
END_TEST

/* ---- parts and results ---- */

START_TEST(a_result_that_is_a_state_is_its_total) {
  ndr_program program;
  make_program("f(x): s += x -> s", F32, F32, false, &program);
  ck_assert_int_eq(program.part_count, 1);
  ck_assert_int_eq(program.parts[0].op, NDR_SUM);
  ck_assert_int_eq(program.nodes[program.parts[0].value].kind, NDR_NODE_ARRAY);
  ck_assert_int_eq(program.parts[0].mask, -1);
  ck_assert_int_eq(program.parts[0].weight, -1);
  ck_assert_int_eq(program.nodes[program.result].kind, NDR_NODE_TOTAL);
  ck_assert_int_eq(program.node_count, 2);
}
END_TEST

START_TEST(every_update_is_its_operator) {
  static const ndr_op ops[] = {NDR_SUM, NDR_PROD, NDR_MIN, NDR_MAX, NDR_ALL, NDR_ANY};
  ndr_program program;
  make_program("f(x): a += x, b *= x, c min= x, d max= x, e &= x, g |= x -> a", I32, F32, false, &program);
  ck_assert_int_eq(program.part_count, 6);
  for (int i = 0; i < 6; i++) ck_assert_int_eq(program.parts[i].op, ops[i]);
  ck_assert_int_eq(program.nodes[program.parts[4].value].dtype, NDR_BOOL);
  ck_assert_int_eq(program.parts[4].value, program.parts[5].value);
}
END_TEST

START_TEST(n_is_a_part_of_its_own) {
  ndr_program program;
  make_program("f(x): s += x -> s / n", F32, F32, false, &program);
  ck_assert_int_eq(program.part_count, 2);
  ck_assert_int_eq(program.parts[1].op, NDR_SUM);
  ck_assert_int_eq(program.nodes[program.parts[1].value].integer, 1);
  make_program("f(x): s += x, k += 1 -> s / (n - k)", F32, F32, false, &program);
  ck_assert_int_eq(program.part_count, 2); /* equal parts are one */
  make_program("f(x): s += x, n += 2 -> s / n", F32, F32, false, &program);
  ck_assert_int_eq(program.part_count, 2);
  ck_assert_int_eq(program.nodes[program.parts[1].value].integer, 2);
}
END_TEST

START_TEST(places_with_nan_are_left_out) {
  ndr_program program;
  make_program("f(x, y, z): s += x, t += y, u += z -> (s + real(t) + real(u)) / n", F32, C64, true, &program);
  const ndr_node *mask = &program.nodes[program.parts[0].mask];
  ck_assert_int_eq(program.parts[0].mask, program.parts[1].mask);
  ck_assert_int_eq(mask->kind, NDR_NODE_AND);
  int tests = 0;
  for (int i = 0; i < program.node_count; i++) tests += program.nodes[i].kind == NDR_NODE_ISNAN;
  ck_assert_int_eq(tests, 3);
  make_program("f(x, y): s += x, t += y -> s + t", I8, F16, true, &program);
  ck_assert_int_eq(program.nodes[program.parts[0].mask].kind, NDR_NODE_NOT);
  make_program("f(x, y): s += x * y -> s", I8, U8, true, &program);
  ck_assert_int_eq(program.parts[0].mask, -1);
}
END_TEST

START_TEST(arrays_have_the_numbers_that_the_problem_gives) {
  const ndr_dtype dtypes[] = {F32, U8};
  const int numbers[] = {0, 3};
  ndr_program program;
  ndr_op op;
  assert_ok(ndr_operator_create(&op, "f(x, y): s += y -> s", NULL, 0));
  assert_ok(ndr_emit_program(op, dtypes, numbers, false, &program));
  ck_assert_int_eq(program.nodes[program.parts[0].value].a, 3);
  ck_assert_int_eq(program.nodes[program.parts[0].value].dtype, U8);
  ndr_operator_destroy(op);
  assert_fails(ndr_emit_program(op, dtypes, numbers, false, &program), NDR_ERR_OP, "no operator");
}
END_TEST

START_TEST(equal_terms_are_computed_once) {
  ndr_program program;
  make_values("(x - y)**2 + (x - y)**2 * 2", F32, F32, &program);
  int differences = 0;
  for (int i = 0; i < program.node_count; i++) differences += program.nodes[i].kind == NDR_NODE_SUBTRACT;
  ck_assert_int_eq(differences, 1);
}
END_TEST

/* ---- the builders ---- */

START_TEST(builders_run_out_of_room) {
  ndr_program program = {0};
  int first = -1, last = -1;
  for (int i = 0; i < NDR_MOST_NODES; i++) {
    last = ndr_program_node(
        &program, (ndr_node){.kind = NDR_NODE_INTEGER, .dtype = I64, .a = -1, .b = -1, .c = -1, .integer = i});
    if (i == 0) first = last;
  }
  ck_assert_int_eq(first, 0);
  ck_assert_int_eq(last, NDR_MOST_NODES - 1);
  ck_assert_int_eq(ndr_program_convert(&program, 1, I64), 1);
  ck_assert_int_eq(ndr_program_convert(&program, 1, F32), -1);
  ck_assert_int_eq(ndr_program_binary(&program, NDR_NODE_ADD, 0, 1), -1);
  ck_assert_int_eq(ndr_program_binary(&program, NDR_NODE_ADD, -1, 1), -1);
  ck_assert_int_eq(ndr_program_unary(&program, NDR_NODE_NEGATE, 1), -1);
  ck_assert_int_eq(ndr_program_unary(&program, NDR_NODE_SQRT, -1), -1);
  ck_assert_int_eq(ndr_program_convert(&program, -1, F32), -1);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

int main(void) {
  Suite *suite = suite_create("core program");
  TCase *tables = tcase_create("dtypes");
  tcase_add_test(tables, dtypes_are_promoted_as_numpy_does);
  tcase_add_loop_test(tables, expressions_have_dtypes, 0, COUNT(dtypes_of));
  tcase_add_loop_test(tables, results_have_dtypes, 0, COUNT(results_of));
  tcase_add_loop_test(tables, what_has_no_meaning_is_refused, 0, COUNT(refused));
  suite_add_tcase(suite, tables);
  suite_case(suite, "parts", 60, nan_is_tested_in_arrays_that_are_read, a_result_that_is_a_state_is_its_total,
             every_update_is_its_operator, n_is_a_part_of_its_own, places_with_nan_are_left_out,
             arrays_have_the_numbers_that_the_problem_gives, equal_terms_are_computed_once, builders_run_out_of_room,
             an_operator_may_have_too_many_nodes, NULL);
  return suite_run(suite);
}
