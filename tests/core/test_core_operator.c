/* The language of operators: what its texts are printed as, which sentences refuse others, and operators in braces. */
#include <stdio.h>
#include <stdlib.h>

#include "lang/braced.h"
#include "ndreduce/operator.h"
#include "support/suite.h"

typedef struct spelling {
  const char *given, *printed; /* NULL: as given */
} spelling;

/* E stands for an expression in `f(x, y; t, c[3]): s += E -> s`. */
static const spelling expressions[] = {
    {"x", NULL},
    {"x + y + 1", NULL},
    {"x - (y - 1)", NULL},
    {"(x - y) - 1", "x - y - 1"},
    {"x * (y / 2) / (x / y)", "x * (y / 2) / (x / y)"},
    {"(x * y) + 1", "x * y + 1"},
    {"x*(y+1)", "x * (y + 1)"},
    {"-x**2", NULL},
    {"(-x)**2", NULL},
    {"-(x**2)", "-x**2"},
    {"x**-y", NULL},
    {"x**y**2", NULL},
    {"x**(y**2)", "x**y**2"},
    {"(x**y)**2", NULL},
    {"2 * -x", NULL},
    {"(-x) * 2", "-x * 2"},
    {"-(x * 2)", NULL},
    {"--x", NULL},
    {"-(-x)", "--x"},
    {"!x == y", NULL},
    {"!(x == y)", NULL},
    {"!!x", NULL},
    {"x < y", NULL},
    {"x>=y", "x >= y"},
    {"(x < y) == (y < 2)", NULL},
    {"x < y && y != 2 || x", NULL},
    {"x && (y || x)", NULL},
    {"(x && y) || x", "x && y || x"},
    {"x && y && x", NULL},
    {"x && (y && x)", NULL},
    {"x ? y : 1", NULL},
    {"x ? y : t ? 1 : 2", NULL},
    {"(x ? y : 1) ? 2 : 3", NULL},
    {"x ? (y ? 1 : 2) : 3", "x ? y ? 1 : 2 : 3"},
    {"(x ? 1 : 2) + 3", NULL},
    {"x || y ? 1 : 2", NULL},
    {"(x)", "x"},
    {"((x + (y)))", "x + y"},
    {"sqrt(exp(log(sin(cos(floor(abs(x)))))))", NULL},
    {"isnan(x) + real(x) + imag(x) + conj(x)", NULL},
    {"min(x, y) + max(x ? 1 : 2, t)", NULL},
    {"index(0) + index( 31 )", "index(0) + index(31)"},
    {"poly(x + 1, c) + c[0] * c[ 2 ]", "poly(x + 1, c) + c[0] * c[2]"},
    {"007 + 0.50 + .5 + 5. + 1e3 + 1.5E-7", "7 + 0.5 + 0.5 + 5.0 + 1000.0 + 1.5e-07"},
    {"1e300 * 1e22 + 0.1 + 0.30000000000000004", "1e+300 * 1e+22 + 0.1 + 0.30000000000000004"},
    {"inf + nan - 9223372036854775807", NULL},
    {"x\t+\n\r\v\fy", "x + y"},
};

static void print_of(const char *text, char *printed, size_t capacity) {
  ndr_op op;
  assert_ok(ndr_operator_create(&op, text, NULL, 0));
  ck_assert_uint_lt(ndr_operator_print(op, printed, capacity), capacity);
  ndr_operator_destroy(op);
}

START_TEST(expressions_are_printed_in_one_form) {
  const spelling *each = &expressions[_i];
  char text[512], wanted[512], printed[512], again[512];
  snprintf(text, sizeof text, "f(x, y; t, c[3]): s += %s -> s", each->given);
  snprintf(wanted, sizeof wanted, "f(x, y; t, c[3]): s += %s -> s", each->printed ? each->printed : each->given);
  print_of(text, printed, sizeof printed);
  ck_assert_str_eq(printed, wanted);
  print_of(printed, again, sizeof again);
  ck_assert_str_eq(again, printed);
}
END_TEST

static const spelling operators[] = {
    {"rmse(x,y):s+=(x-y)**2,n+=1->sqrt(s/n)", "rmse(x, y): s += (x - y)**2, n += 1 -> sqrt(s / n)"},
    {"poly(x; c[4]):  s += poly(x, c) -> s", "poly(x; c[4]): s += poly(x, c) -> s"},
    {"a(b;c,d[1],e):f+=1,g*=b,h min=b,i max=b,j&=b,k|=b->n", //
     "a(b; c, d[1], e): f += 1, g *= b, h min= b, i max= b, j &= b, k |= b -> n"},
    {" _1 ( x_ , Y9 ) : s += x_ ->s-(-s) ", "_1(x_, Y9): s += x_ -> s - -s"},
    {"f(a, b, c, d, e): s += a -> s", "f(a, b, c, d, e): s += a -> s"},
    {"sum(x): minimum min= x -> minimum", "sum(x): minimum min= x -> minimum"},
    {"f(x; c[64]): s += c[63] -> s", "f(x; c[64]): s += c[63] -> s"},
    {"f(x): n += x -> n", "f(x): n += x -> n"},
};

START_TEST(operators_are_printed_in_one_form) {
  const spelling *each = &operators[_i];
  char printed[512], again[512];
  print_of(each->given, printed, sizeof printed);
  ck_assert_str_eq(printed, each->printed);
  print_of(printed, again, sizeof again);
  ck_assert_str_eq(again, printed);
}
END_TEST

static const struct {
  const char *text;
  int column;
  const char *cause;
} mistakes[] = {
    {"", 1, "expected the name of the operator"},
    {"9f(x): s += x -> s", 1, "expected the name of the operator"},
    {"f x", 3, "expected '('"},
    {"f()", 3, "expected the name of an array"},
    {"f(x", 4, "expected ')'"},
    {"f(x;", 5, "expected the name of a parameter"},
    {"f(x,)", 5, "expected the name of an array"},
    {"f(x) s", 6, "expected ':'"},
    {"f(x): -> 1", 7, "expected the name of a state"},
    {"f(x): s = x -> s", 9, "expected +=, *=, min=, max=, &= or |="},
    {"f(x): s max = x -> s", 9, "expected +=, *=, min=, max=, &= or |="},
    {"f(x): s += -> s", 12, "expected a number, a name or '('"},
    {"f(x): s += x", 13, "expected '->'"},
    {"f(x): s += x -> ", 17, "expected a number, a name or '('"},
    {"f(x): s += x -> s s", 19, "expected an operator or the end"},
    {"f(x): s += x -> s, t", 18, "expected an operator or the end"},
    {"f(x): s += (x -> s", 15, "expected ')'"},
    {"f(x): s += x ? 1 -> s", 18, "expected ':'"},
    {"f(x): s += x = 1 -> s", 14, "expected '->'; == compares"},
    {"f(x): s += x & x -> s", 14, "expected '->'; and is written &&"},
    {"f(x): s += x ^ 2 -> s", 14, "expected '->'; powers are written **"},
    {"f(x): s += 2x -> s", 13, "expected an operator after the number"},
    {"f(x): s += $ -> s", 12, "expected a number, a name or '('"},
    {"f(x): s += x + 9223372036854775808 -> s", 16,
     "9223372036854775808 is 2^63 or more; as a float it is written with a point"},
    {"f(x): s += 1e999 -> s", 12, "1e999 is too large for f64; infinity is written inf"},
    {"f(x): s += x < 1 < 2 -> s", 18, "comparisons do not chain: write a < b && b < c"},
    {"f(x): s += x == 1 != 2 -> s", 19, "comparisons do not chain"},
    {"f(x): s += z -> s", 12,
     "'z' is neither an array, a parameter nor a state; f(x, z) declares it an array, f(x; z) a parameter"},
    {"f(x, y; t, c[2]): s += z -> s", 24,
     "'z' is neither an array, a parameter nor a state; f(x, y, z; t, c[2]) declares it an array, f(x, y; t, c[2], z) "
     "a "
     "parameter"},
    {"f(x): s += x -> s * z", 21, "'z' is neither an array, a parameter nor a state; f(x; z) declares it a parameter"},
    {"f(x): s += x, t += s -> s", 20, "'s' is a state, which only the result can read"},
    {"f(x): s += s * x -> s", 12, "'s' is a state, which only the result can read"},
    {"f(x): s += x -> x", 17, "'x' is an array, which only updates can read"},
    {"f(x): s += n -> s", 12, "'n' is known in the result only"},
    {"f(x): s += x -> index(0)", 17, "only updates can read the index of an element"},
    {"f(x, x): s += x -> s", 6, "'x' is already an array"},
    {"f(x; x): s += x -> s", 6, "'x' is already an array"},
    {"f(x; t, t): s += x -> s", 9, "'t' is already a parameter"},
    {"f(x; t): t += x -> t", 10, "'t' is already a parameter"},
    {"f(x): s += x, s += x -> s", 15, "'s' is already a state"},
    {"f(sqrt): s += 1 -> s", 3, "'sqrt' is a word of the language, and not the name of an array"},
    {"f(x; inf): s += 1 -> s", 6, "'inf' is a word of the language, and not the name of a parameter"},
    {"f(x): min += 1 -> s", 7, "'min' is a word of the language, and not the name of a state"},
    {"f(n): s += 1 -> s", 3, "'n' is the number of elements, and not the name of an array"},
    {"f(x; n): s += 1 -> s", 6, "'n' is the number of elements, and not the name of a parameter"},
    {"f(a, b, c, d, e, g): s += a -> s", 18, "an operator has at most 5 arrays"},
    {"f(x; c[65]): s += x -> s", 8, "expected how many numbers it has, at most 64"},
    {"f(x; c[0]): s += x -> s", 8, "a vector has at least one number"},
    {"f(x; c[60], d[5]): s += x -> s", 13, "parameters have at most 64 numbers in all"},
    {"f(x; c[2): s += x -> s", 9, "expected ']'"},
    {"f(x; c[2]): s += c * x -> s", 18, "'c' is a vector: write c[0], or poly(x, c)"},
    {"f(x; t): s += t[0] -> s", 16, "'t' is one number, not a vector"},
    {"f(x; c[2]): s += c[2] -> s", 20, "expected the number of an element, at most 1"},
    {"f(x; t): s += poly(x, t) -> s", 23, "expected a parameter that is a vector"},
    {"f(x): s += poly(x, 1) -> s", 20, "expected a parameter that is a vector"},
    {"f(x): s += sqrt x -> s", 17, "expected '('"},
    {"f(x): s += min(x) -> s", 17, "expected ','"},
    {"f(x): s += sqrt(x, x) -> s", 18, "expected ')'"},
    {"f(x): s += index(32) -> s", 18, "expected the number of a dim, at most 31"},
    {"f(x): s += index(x) -> s", 18, "expected the number of a dim, at most 31"},
    {"f(x): a+=x,b+=x,c+=x,d+=x,e+=x,g+=x,h+=x,i+=x,j+=x -> a", 47, "an operator has at most 8 updates"},
    {"f(x): a+=x,b+=x,c+=x,d+=x,e+=x,g+=x,h+=x,i+=x->a/n", 48, "beside n there are at most 7 updates"},
    {"{f(x): s += x -> s}", 1, "expected the name of the operator"},
};

START_TEST(mistakes_are_named_with_their_column) {
  ndr_op op = NDR_SUM;
  char begin[64], end[160];
  snprintf(begin, sizeof begin, "column %d of '%s", mistakes[_i].column, mistakes[_i].text[0] ? "" : "':");
  snprintf(end, sizeof end, "': %s", mistakes[_i].cause);
  assert_fails(ndr_operator_create(&op, mistakes[_i].text, NULL, 0), NDR_ERR_PARSE, begin);
  ck_assert_msg(strstr(ndr_last_error(), end) != NULL, "'%s' does not end with \"%s\"", ndr_last_error(), end);
  ck_assert_int_eq(op, NDR_SUM);
}
END_TEST

static char *repeated(const char *before, const char *each, int times, const char *after) {
  size_t length = strlen(before) + strlen(each) * (size_t)times + strlen(after);
  char *text = malloc(length + 1), *end = text;
  ck_assert_ptr_nonnull(text);
  end += sprintf(end, "%s", before);
  for (int i = 0; i < times; i++) end += sprintf(end, "%s", each);
  sprintf(end, "%s", after);
  return text;
}

static const struct {
  const char *before, *each, *middle, *after_each, *after;
  int most; /* times that it may be repeated */
  const char *cause;
} limits[] = {
    {"f(x): s += ", "(", "x", ")", " -> s", 63, "expressions are nested at most 64 deep"},
    {"f(x): s += ", "-", "x", "", " -> s", 63, "expressions are nested at most 64 deep"},
    {"f(x): s += ", "x**", "x", "", " -> s", 63, "expressions are nested at most 64 deep"},
    {"f(x): s += ", "x ? x : ", "x", "", " -> s", 63, "expressions are nested at most 64 deep"},
    {"f(x): s += ", "sqrt(", "x", ")", " -> s", 63, "expressions are nested at most 64 deep"},
    {"f(x): s += ", "x + ", "x", "", " -> s", 127, "an operator has at most 256 terms"},
    {"f(x): s += x -> s", "", "", " ", "", 4096 - 17, "an operator has at most 4096 bytes of text"},
};

START_TEST(texts_have_limits) {
  ndr_op op;
  for (int over = 0; over <= 1; over++) {
    char *front = repeated(limits[_i].before, limits[_i].each, limits[_i].most + over, limits[_i].middle);
    char *text = repeated(front, limits[_i].after_each, limits[_i].most + over, limits[_i].after);
    if (over) {
      assert_fails(ndr_operator_create(&op, text, NULL, 0), NDR_ERR_PARSE, limits[_i].cause);
    } else {
      assert_ok(ndr_operator_create(&op, text, NULL, 0));
      ndr_operator_destroy(op);
    }
    free(front);
    free(text);
  }
}
END_TEST

/* Names of 30 bytes, which blanks then come between. */
START_TEST(a_text_that_is_printed_too_long_is_refused) {
  ndr_op op;
  char *text = repeated("f(x23456789012345678901234567890): s+=x23456789012345678901234567890",
                        "+x23456789012345678901234567890", 126, "->s");
  ck_assert_uint_le(strlen(text), NDR_MAX_OPERATOR_TEXT);
  assert_fails(ndr_operator_create(&op, text, NULL, 0), NDR_ERR_PARSE, "and is printed with");
  free(text);
}
END_TEST

/* ---- braces ---- */

static ndr_op braced(const char *text, const char *rest) {
  ndr_op op;
  const char *end = text;
  assert_ok(ndr_braced_parse(&end, &op));
  ck_assert_str_eq(end, rest);
  return op;
}

START_TEST(equal_texts_in_braces_have_one_number) {
  char text[256];
  ndr_op hot = braced("{hot(x; t): n += x > t -> n}(303.15) f32 [4] /0", " f32 [4] /0");
  ck_assert_int_eq(hot, braced("{hot(x;t):n+=(x>t)->n}( 3.0315e2 ),sum", ",sum"));
  ck_assert_int_ne(hot, braced("{hot(x; t): n += x > t -> n}(303.25)", ""));
  ck_assert_int_ne(hot, braced("{hut(x; t): n += x > t -> n}(303.15)", ""));
  ck_assert_uint_eq(ndr_braced_print(hot, text, sizeof text), 36);
  ck_assert_str_eq(text, "{hot(x; t): n += x > t -> n}(303.15)");
  ndr_operator_destroy(hot);
  ck_assert_int_lt(hot, braced("{hot(x; t): n += x > t -> n}(303.15)", ""));
}
END_TEST

START_TEST(every_value_survives_braces) {
  char text[256];
  ndr_op op = braced("{f(x; c[7]): s += c[0] -> s}(0,-0,inf,-inf,-nan,0.1,-5e-324)", "");
  ndr_braced_print(op, text, sizeof text);
  ck_assert_str_eq(text, "{f(x; c[7]): s += c[0] -> s}(0,-0,inf,-inf,nan,0.1,-4.94065645841247e-324)");
  ck_assert_int_eq(op, braced(text, ""));
}
END_TEST

START_TEST(operators_without_parameters_have_no_values) {
  ndr_op op = braced("{f(x): s += x -> s}(1)", "(1)");
  char text[64];
  ck_assert_uint_eq(ndr_braced_print(op, text, 8), 19);
  ck_assert_str_eq(text, "{f(x): ");
}
END_TEST

static const struct {
  const char *text;
  int column;
  const char *cause;
} wrong_braces[] = {
    {"f(x): s += x -> s", 1, "expected '{'"},
    {"{f(x): s += x -> s", 19, "expected '}'"},
    {"{f(x): s += z -> s} f32", 13, "'z' is neither"},
    {"{f(x; t): s += t -> s}", 23, "expected '(' and the 1 number of the parameters"},
    {"{f(x; t): s += t -> s}()", 24, "expected the value of a parameter"},
    {"{f(x; t): s += t -> s}(1,2)", 25, "expected ')': the parameters take 1 number"},
    {"{f(x; t, u): s += t -> s}(1)", 28, "expected ','"},
    {"{f(x; t): s += t -> s}(1e999)", 24, "1e999 is too large for f64; infinity is written inf"},
    {"{f(x; t): s += t -> s}(-1e999)", 24, "-1e999 is too large for f64; infinity is written inf"},
};

START_TEST(mistakes_in_braces_are_named_with_their_column) {
  ndr_op op;
  char column[64];
  const char *end = wrong_braces[_i].text;
  snprintf(column, sizeof column, "column %d of '", wrong_braces[_i].column);
  assert_fails(ndr_braced_parse(&end, &op), NDR_ERR_PARSE, column);
  ck_assert_msg(strstr(ndr_last_error(), wrong_braces[_i].cause) != NULL, "%s", ndr_last_error());
  ck_assert_ptr_eq(end, wrong_braces[_i].text);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

int main(void) {
  Suite *suite = suite_create("core operator");
  TCase *texts = tcase_create("texts");
  tcase_add_loop_test(texts, expressions_are_printed_in_one_form, 0, COUNT(expressions));
  tcase_add_loop_test(texts, operators_are_printed_in_one_form, 0, COUNT(operators));
  tcase_add_loop_test(texts, mistakes_are_named_with_their_column, 0, COUNT(mistakes));
  tcase_add_loop_test(texts, texts_have_limits, 0, COUNT(limits));
  tcase_add_loop_test(texts, mistakes_in_braces_are_named_with_their_column, 0, COUNT(wrong_braces));
  suite_add_tcase(suite, texts);
  suite_case(suite, "braces", 60, a_text_that_is_printed_too_long_is_refused, equal_texts_in_braces_have_one_number,
             every_value_survives_braces, operators_without_parameters_have_no_values, NULL);
  return suite_run(suite);
}
