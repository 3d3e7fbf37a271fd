/* Programs whose bits are known: the same as those of other arrays, or of C whose every operation rounds, on each
 * instruction set. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ndreduce/operator.h"
#include "support/cases.h"
#include "support/setting.h"
#include "support/suite.h"

/* Of two elements that are NaN the bits may differ. */
static bool is_same(const test_array *a, const test_array *b, int64_t i) {
  int64_t bytes = (int64_t)ndr_dtype_bytes(a->dtype);
  const char *x = (const char *)a->memory + i * bytes, *y = (const char *)b->memory + i * bytes;
  element value = element_load(a->dtype, x), other = element_load(a->dtype, y);
  return memcmp(x, y, (size_t)bytes) == 0 || (isnan(value.re) && isnan(other.re));
}

static void check_same(const ndr_problem *problem, const outcome *got, const outcome *expected) {
  for (int i = 0; i < got->count; i++)
    for (int64_t j = 0; j < array_count(&got->results[i].tensor); j++)
      ck_assert_msg(is_same(&got->results[i], &expected->results[i], j), "%s: output %lld of op %d differs",
                    case_text(problem), (long long)j, i);
}

/* ---- weights ---- */

/* A weight for each row has the bits of the same weights for each element, also where NaN are left out. */
static void check_weights_of_rows(rng *random, ndr_dtype dtype) {
  if (dtype != NDR_F32 && dtype != NDR_F64) return;
  setting s = {.array_count = 1, .how = FILL_WIDE};
  int64_t rows = rng_between(random, 1, 70), lanes = rng_between(random, 1, 150);
  ndr_dtype wide = rng_once_in(random, 2) ? NDR_F64 : dtype;
  int64_t bytes = (int64_t)ndr_dtype_bytes(dtype), weight_bytes = (int64_t)ndr_dtype_bytes(wide);
  char text[128];
  s.problem = (ndr_problem)NDR_PROBLEM_INIT;
  snprintf(text, sizeof text, "sum,mean,std,var,norm2 %s [%lld,%lld] /0 weighting=%s%s", ndr_dtype_name(dtype),
           (long long)rows, (long long)lanes, rng_once_in(random, 2) ? "reliability" : "frequency",
           rng_once_in(random, 2) ? " skipnan" : "");
  assert_ok(ndr_problem_parse(text, &s.problem));
  array_of_case(&s.arrays[0], &s.problem);
  array_fill(&s.arrays[0], random, s.how);
  for (int64_t i = rng_between(random, 0, 300); i < rows * lanes; i += rng_between(random, 1, 300))
    element_store(dtype, (char *)s.arrays[0].memory + i * bytes, (element){(long double)NAN, 0});
  test_array *weights = &s.arrays[s.array_count++];
  array_make(weights, wide, 2, s.problem.shape, NULL);
  for (int64_t i = 0; i < rows * lanes; i++) {
    char *at = (char *)weights->memory + i * weight_bytes;
    if (i % lanes == 0)
      element_store(wide, at, (element){(long double)rng_between(random, 1, 1000) / 7, 0});
    else
      memcpy(at, at - weight_bytes, (size_t)weight_bytes);
  }
  assert_ok(ndr_problem_add_operand(&s.problem, NDR_WEIGHTS, &weights->tensor));
  outcome each, shared;
  ck_assert(setting_run(&s, NULL, 1, &each));
  s.problem.operands[0].strides[0] = lanes;
  s.problem.operands[0].strides[1] = 0;
  ck_assert(setting_run(&s, NULL, 1, &shared));
  check_same(&s.problem, &shared, &each);
  outcome_free(&each);
  outcome_free(&shared);
  setting_free(&s);
}

/* ---- polynomials ---- */

/* Horner's rule with each product and each sum rounded to the dtype. */
static double value_by_steps(ndr_dtype dtype, const double *c, int count, double x) {
  volatile double value = c[count - 1];
  volatile float narrow = (float)value;
  for (int k = count - 2; k >= 0; k--) {
    if (dtype == NDR_F32) {
      narrow = narrow * (float)x;
      narrow = narrow + (float)c[k];
    } else {
      value = value * x;
      value = value + c[k];
    }
  }
  return dtype == NDR_F32 ? (double)narrow : value;
}

/* Each output is the polynomial of one element, with `count` coefficients. The steps are one instruction or several;
 * `written`: the text has the steps, not poly(). */
static void check_polynomial(rng *random, ndr_dtype dtype, int count, bool written) {
  enum { ELEMENTS = 1100 };
  double c[24];
  char text[1024], *end = text;
  setting s = {.array_count = 1, .how = FILL_WIDE};
  outcome made;
  s.problem = (ndr_problem)NDR_PROBLEM_INIT;
  assert_ok(ndr_problem_parse(dtype == NDR_F32 ? "sum f32 [1100,1] /1" : "sum f64 [1100,1] /1", &s.problem));
  array_of_case(&s.arrays[0], &s.problem);
  array_fill(&s.arrays[0], random, FILL_WIDE);
  for (int k = 0; k < count; k++) c[k] = (double)rng_between(random, -8, 8) / 7;
  end += sprintf(end, "p(x; c[%d]): s += ", count);
  for (int k = 0; written && k < count - 1; k++) end += sprintf(end, k % 2 ? "(c[%d] + x * " : "(x * ", k);
  if (written) end += sprintf(end, "c[%d]", count - 1);
  for (int k = count - 2; written && k >= 0; k--) end += k % 2 ? sprintf(end, ")") : sprintf(end, " + c[%d])", k);
  sprintf(end, written ? " -> s" : "poly(x, c) -> s");
  ndr_op bare;
  assert_ok(ndr_operator_create(&bare, text, NULL, 0));
  assert_ok(ndr_operator_bind(&s.own, bare, c, count));
  ndr_operator_destroy(bare);
  s.problem.ops[0] = s.own;
  ck_assert(setting_run(&s, NULL, 1, &made));
  element *x = array_elements(&s.arrays[0].tensor), *got = array_elements(&made.results[0].tensor);
  for (int i = 0; i < ELEMENTS; i++) {
    double expected = value_by_steps(dtype, c, count, (double)x[i].re);
    ck_assert_msg((double)got[i].re == expected, "%s, x = %.17g: %.17g, not %.17g", text, (double)x[i].re,
                  (double)got[i].re, expected);
  }
  free(x);
  free(got);
  outcome_free(&made);
  setting_free(&s);
}

static void check_polynomials(rng *random, ndr_dtype dtype) {
  if (dtype != NDR_F32 && dtype != NDR_F64) return;
  for (int count = 2; count <= 20; count++) {
    check_polynomial(random, dtype, count, false);
    check_polynomial(random, dtype, count, true);
  }
}

/* ---- products of complex numbers ---- */

static double part_of(ndr_dtype dtype, double value) {
  volatile float narrow = (float)value;
  return dtype == NDR_C64 ? (double)narrow : value;
}

/* The product of two floats is exact in f64, the sum of two such is rounded twice, which changes nothing: f64 has more
 * than twice the digits of f32. */
static element rounded_product(ndr_dtype dtype, element a, element b) {
  volatile double re_re = part_of(dtype, (double)a.re * (double)b.re),
                  im_im = part_of(dtype, (double)a.im * (double)b.im);
  volatile double re_im = part_of(dtype, (double)a.re * (double)b.im),
                  im_re = part_of(dtype, (double)a.im * (double)b.re);
  return (element){part_of(dtype, re_re - im_im), part_of(dtype, re_im + im_re)};
}

/* Each output is one product; its parts are a difference and a sum of two products that are rounded. */
static void check_complex_products(rng *random, ndr_dtype dtype) {
  if (!is_complex(dtype)) return;
  setting s = {.array_count = 2};
  outcome made;
  char text[64];
  int64_t elements = rng_between(random, 1, 1100);
  s.problem = (ndr_problem)NDR_PROBLEM_INIT;
  snprintf(text, sizeof text, "sum %s [%lld,1] /1", ndr_dtype_name(dtype), (long long)elements);
  assert_ok(ndr_problem_parse(text, &s.problem));
  array_of_case(&s.arrays[0], &s.problem);
  array_make(&s.arrays[1], dtype, 2, s.problem.shape, NULL);
  for (int a = 0; a < 2; a++) array_fill(&s.arrays[a], random, FILL_WIDE);
  assert_ok(ndr_problem_add_operand(&s.problem, NDR_WITH, &s.arrays[1].tensor));
  assert_ok(ndr_operator_create(&s.own, "dot(x, y): s += x * y -> s", NULL, 0));
  s.problem.ops[0] = s.own;
  ck_assert(setting_run(&s, NULL, 1, &made));
  element *x = array_elements(&s.arrays[0].tensor), *y = array_elements(&s.arrays[1].tensor);
  element *got = array_elements(&made.results[0].tensor);
  for (int64_t i = 0; i < elements; i++) {
    element expected = rounded_product(dtype, x[i], y[i]);
    ck_assert_msg(got[i].re == expected.re && got[i].im == expected.im,
                  "%s, product %lld: %.17Lg%+.17Lgi, not %.17Lg%+.17Lgi", text, (long long)i, got[i].re, got[i].im,
                  expected.re, expected.im);
  }
  free(x);
  free(y);
  free(got);
  outcome_free(&made);
  setting_free(&s);
}

/* ---- the tests ---- */

static void check_many_weights_of_rows(rng *random, ndr_dtype dtype) {
  for (int i = 0; i < 20; i++) check_weights_of_rows(random, dtype);
}

TESTS_OF_ISAS(weights_of_rows, check_many_weights_of_rows)

TESTS_OF_ISAS(polynomials, check_polynomials)

TESTS_OF_ISAS(complex_products, check_complex_products)

int main(void) {
  Suite *suite = suite_create("cpu program bits");
  suite_case(suite, "weights of rows", 300, NAMES_OF_ISAS(weights_of_rows), NULL);
  suite_case(suite, "polynomials", 300, NAMES_OF_ISAS(polynomials), NULL);
  suite_case(suite, "complex products", 60, NAMES_OF_ISAS(complex_products), NULL);
  return suite_run(suite);
}
