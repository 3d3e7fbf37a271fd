/* Laws that hold whatever the values: a reduction does not care how its array is laid out or how the work is split. */
#include <math.h>
#include <stdlib.h>

#include "support/oracle.h"
#include "support/reduce.h"
#include "support/suite.h"

#define assert_law(condition, c, law)                                                                                  \
  ck_assert_msg(condition, "%s (seed %llu): " law, case_text(c), (unsigned long long)test_seed())

/* What became of the cases of a law: compared to the bit, held against the oracle with its bound on the error, or not
 * compared, since the law does not hold for them when results are rounded. */
typedef enum outcome { EXACT, BOUNDED, SKIPPED, OUTCOMES } outcome;
typedef enum law { PERMUTED, REVERSED, MIRRORED, COMPACT, BROADCAST, TWO_STEPS, LAWS } law;
static const char *const law_names[LAWS] = {"reduced dims permuted",    "reduced dims reversed", "kept dims reversed",
                                            "copied to compact memory", "a broadcast dim kept",  "two steps"};
static int tally[LAWS][NDR_OP_COUNT][OUTCOMES];

static void count_case(law l, const ndr_problem *c, outcome what) {
  tally[l][c->ops[0]][what]++;
}

/* A random case over data whose sums are exact, and its result. */
typedef struct subject {
  ndr_problem problem;
  test_array array, result;
} subject;

static void make_subject(rng *random, subject *s) {
  ndr_options options;
  random_case(random, 3000, &s->problem);
  options = case_options(&s->problem);
  array_of_case(&s->array, &s->problem);
  array_fill(&s->array, random, s->problem.ops[0] == NDR_PROD ? FILL_SPARSE : FILL_SMALL);
  assert_ok(case_reduce(&s->problem, 0, &s->array.tensor, &options, &s->result, NULL));
}

static void free_subject(subject *s) {
  array_free(&s->array);
  array_free(&s->result);
}

static bool is_arg(ndr_op op) {
  return op == NDR_ARGMIN || op == NDR_ARGMAX;
}

/* The elements are small integers. */
static bool exact(const ndr_problem *c) {
  return op_exact(c->ops[0], c->dtype, true);
}

/* The result of the case, of which view is the array, is that of the subject. */
static void assert_result(law l, const subject *s, const ndr_problem *c, const DLTensor *view, const DLTensor *result) {
  char message[512] = "not the same";
  bool same = exact(c) ? same_elements(&s->result.tensor, result)
                       : oracle_accepts(c, c->ops[0], view, result, message, sizeof message);
  count_case(l, c, exact(c) ? EXACT : BOUNDED);
  ck_assert_msg(same, "%s (seed %llu), %s: %s", case_text(c), (unsigned long long)test_seed(), law_names[l], message);
}

static void assert_same(law l, const subject *s, const ndr_problem *c, const DLTensor *view) {
  test_array other;
  ndr_options options = case_options(c);
  assert_ok(case_reduce(c, 0, view, &options, &other, NULL));
  assert_result(l, s, c, view, &other.tensor);
  array_free(&other);
}

/* Moving reduced dims among each other changes nothing but the index of arg*. */
static void permute_reduced(rng *random, const subject *s) {
  ndr_problem c = s->problem;
  int order[NDR_MAX_DIMS], reduced[NDR_MAX_DIMS];
  rng_shuffle(random, c.dim_count, order);
  for (int i = 0; i < c.dim_count; i++) reduced[i] = c.dims[i] < 0 ? c.dims[i] + c.ndim : c.dims[i];
  for (int i = 0; i < c.dim_count; i++) {
    c.shape[reduced[i]] = s->problem.shape[reduced[order[i]]];
    c.strides[reduced[i]] = s->problem.strides[reduced[order[i]]];
  }
  DLTensor view = s->array.tensor;
  view.shape = c.shape;
  view.strides = c.strides;
  if (!is_arg(c.ops[0])) assert_same(PERMUTED, s, &c, &view);
}

/* Reversing a reduced dim changes nothing but the index of arg*. */
static void negate_reduced(const subject *s) {
  ndr_problem c = s->problem;
  DLTensor view = s->array.tensor;
  if (is_arg(c.ops[0])) return;
  for (int i = 0; i < c.dim_count; i++) {
    int d = c.dims[i] < 0 ? c.dims[i] + c.ndim : c.dims[i];
    if (c.shape[d] > 0) view.byte_offset += (uint64_t)((c.shape[d] - 1) * c.strides[d]) * ndr_dtype_bytes(c.dtype);
    c.strides[d] = -c.strides[d];
  }
  view.shape = c.shape;
  view.strides = c.strides;
  assert_same(REVERSED, s, &c, &view);
}

static bool names(const ndr_problem *c, int d) {
  for (int i = 0; i < c->dim_count; i++)
    if (c->dims[i] == d || c->dims[i] + c->ndim == d) return true;
  return false;
}

/* Reversing all kept dims and the result with them changes nothing at all. */
static void negate_kept(const subject *s) {
  ndr_problem c = s->problem;
  DLTensor view = s->array.tensor;
  test_array mirrored;
  ndr_options options = case_options(&c);
  int64_t strides[NDR_MAX_DIMS];
  for (int d = 0; d < c.ndim; d++) {
    if (names(&c, d)) continue;
    if (c.shape[d] > 0) view.byte_offset += (uint64_t)((c.shape[d] - 1) * c.strides[d]) * ndr_dtype_bytes(c.dtype);
    c.strides[d] = -c.strides[d];
  }
  view.strides = c.strides;
  assert_ok(case_reduce(&c, 0, &view, &options, &mirrored, NULL));
  if (!exact(&c)) assert_result(MIRRORED, s, &c, &view, &mirrored.tensor);
  int64_t step = 1, last = array_count(&mirrored.tensor) - 1;
  for (int d = mirrored.tensor.ndim - 1; d >= 0; d--) {
    strides[d] = -step;
    step *= mirrored.tensor.shape[d];
  }
  mirrored.tensor.strides = strides;
  if (last > 0) mirrored.tensor.byte_offset = (uint64_t)last * ndr_dtype_bytes(mirrored.dtype);
  if (exact(&c)) assert_result(MIRRORED, s, &c, &view, &mirrored.tensor);
  array_free(&mirrored);
}

/* Copied to compact memory, the array gives the same bits. */
static void compact(const subject *s) {
  ndr_problem c = s->problem;
  test_array copy;
  int64_t index[NDR_MAX_DIMS] = {0};
  array_make(&copy, c.dtype, c.ndim, c.shape, NULL);
  if (array_count(&copy.tensor) > 0) do
      memcpy(element_at(&copy.tensor, index), element_at(&s->array.tensor, index), ndr_dtype_bytes(c.dtype));
    while (next_index(c.ndim, c.shape, index));
  memcpy(c.strides, copy.strides, sizeof c.strides);
  assert_same(COMPACT, s, &c, &copy.tensor);
  array_free(&copy);
}

/* What does to the results of one dim what op does to all at once; NDR_OP_COUNT: there is no such operator. */
static ndr_op second_step(ndr_op op) {
  switch (op) {
  case NDR_COUNT:
  case NDR_VALID: return NDR_SUM;
  case NDR_SUM:
  case NDR_PROD:
  case NDR_MIN:
  case NDR_MAX:
  case NDR_NORM1:
  case NDR_NORMINF:
  case NDR_ANY:
  case NDR_ALL: return op;
  default: return NDR_OP_COUNT;
  }
}

/* The results of the first step are rounded: sums of f16 and bf16 to fewer digits than they have. */
static bool composes(const ndr_problem *c) {
  bool half = c->dtype == NDR_F16 || c->dtype == NDR_BF16;
  return exact(c) && !(half && (c->ops[0] == NDR_SUM || c->ops[0] == NDR_NORM1));
}

static void two_steps(const subject *s) {
  const ndr_problem *c = &s->problem;
  ndr_problem inner = *c, outer = *c;
  test_array first, second;
  ndr_options options = case_options(c);
  if (second_step(c->ops[0]) == NDR_OP_COUNT || c->dim_count < 2) return;
  count_case(TWO_STEPS, c, composes(c) ? EXACT : SKIPPED);
  if (!composes(c)) return;
  options.keepdims = 1;
  inner.dim_count = c->dim_count / 2;
  outer.dim_count = c->dim_count - inner.dim_count;
  outer.ops[0] = second_step(c->ops[0]);
  memcpy(outer.dims, c->dims + inner.dim_count, sizeof c->dims - (size_t)inner.dim_count * sizeof *c->dims);
  assert_ok(case_reduce(&inner, 0, &s->array.tensor, &options, &first, NULL));
  assert_ok(case_reduce(&outer, 0, &first.tensor, &options, &second, NULL));
  assert_law(same_elements(&s->result.tensor, &second.tensor), c, "two steps differ from one");
  array_free(&first);
  array_free(&second);
}

/* Results that lie one behind the other are each those of the subject. */
static void assert_copies(const subject *s, const ndr_problem *c, const DLTensor *view, const DLTensor *wide,
                          size_t times) {
  size_t count = (size_t)array_count(&s->result.tensor);
  if (!exact(c)) {
    assert_result(BROADCAST, s, c, view, wide);
    return;
  }
  element *once = array_elements(&s->result.tensor), *copies = array_elements(wide);
  for (size_t i = 0; i < times * count; i++)
    assert_law(copies[i].re == once[i % count].re || (once[i % count].re != once[i % count].re), c, "copies differ");
  count_case(BROADCAST, c, EXACT);
  free(once);
  free(copies);
}

/* A broadcast dim that is kept repeats every result. */
static void broadcast_kept(const subject *s) {
  ndr_problem c = s->problem;
  test_array wide;
  enum { COPIES = 3 };
  int dims[NDR_MAX_DIMS];
  ndr_options options = case_options(&c);
  if (c.ndim == NDR_MAX_DIMS) return;
  memmove(c.shape + 1, s->problem.shape, (size_t)c.ndim * sizeof *c.shape);
  memmove(c.strides + 1, s->problem.strides, (size_t)c.ndim * sizeof *c.strides);
  c.shape[0] = COPIES;
  c.strides[0] = 0;
  for (int i = 0; i < c.dim_count; i++) dims[i] = c.dims[i] < 0 ? c.dims[i] : c.dims[i] + 1;
  memcpy(c.dims, dims, sizeof dims);
  c.ndim++;
  DLTensor view = s->array.tensor;
  view.ndim = c.ndim;
  view.shape = c.shape;
  view.strides = c.strides;
  assert_ok(case_reduce(&c, 0, &view, &options, &wide, NULL));
  assert_copies(s, &c, &view, &wide.tensor, COPIES);
  array_free(&wide);
}

/* Of the cases of a law and an operator that there is any of, at least 30 % were compared; of each law, at least 30 %
 * to the bit. */
static void assert_compared(law first, law last) {
  for (law l = first; l <= last; l++) {
    int exact_ones = 0, all = 0;
    for (int op = 0; op < NDR_OP_COUNT; op++) {
      const int *of = tally[l][op];
      int compared = of[EXACT] + of[BOUNDED], cases = compared + of[SKIPPED];
      ck_assert_msg(compared * 10 >= cases * 3, "%s, %s: %d of %d cases were compared", law_names[l],
                    ndr_op_name((ndr_op)op), compared, cases);
      exact_ones += of[EXACT];
      all += cases;
    }
    ck_assert_msg(all > 0 && exact_ones * 10 >= all * 3, "%s: %d of %d cases were compared to the bit", law_names[l],
                  exact_ones, all);
  }
}

/* Every operator had cases of the law, but for these. */
static void assert_covered(law l, bool (*left_out)(ndr_op op)) {
  if (test_case_count(3000) < 3000) return;
  for (int op = 0; op < NDR_OP_COUNT; op++) {
    const int *of = tally[l][op];
    ck_assert_msg(left_out((ndr_op)op) || of[EXACT] + of[BOUNDED] >= 20, "%s: %d cases of %s were compared",
                  law_names[l], of[EXACT] + of[BOUNDED], ndr_op_name((ndr_op)op));
  }
}

static bool never(ndr_op op) {
  (void)op;
  return false;
}

static bool has_no_second_step(ndr_op op) {
  return second_step(op) == NDR_OP_COUNT;
}

START_TEST(layouts_do_not_show) {
  rng random = {test_seed() + 2};
  for (int i = 0; i < test_case_count(3000); i++) {
    subject s;
    make_subject(&random, &s);
    permute_reduced(&random, &s);
    negate_reduced(&s);
    negate_kept(&s);
    compact(&s);
    broadcast_kept(&s);
    free_subject(&s);
  }
  assert_compared(PERMUTED, BROADCAST);
  assert_covered(PERMUTED, is_arg);
  assert_covered(REVERSED, is_arg);
  for (law l = MIRRORED; l <= BROADCAST; l++) assert_covered(l, never);
}
END_TEST

START_TEST(two_steps_are_one) {
  rng random = {test_seed() + 3};
  for (int i = 0; i < test_case_count(3000); i++) {
    subject s;
    make_subject(&random, &s);
    two_steps(&s);
    free_subject(&s);
  }
  assert_compared(TWO_STEPS, TWO_STEPS);
  assert_covered(TWO_STEPS, has_no_second_step);
}
END_TEST

/* The same call 100 times, on changing numbers of threads, gives the same bits: floats that do round. */
START_TEST(runs_do_not_show) {
  rng random = {test_seed() + 4};
  for (int i = 0; i < test_case_count(3000) / 200; i++) {
    ndr_problem c = NDR_PROBLEM_INIT;
    test_array array, first, again;
    random_case(&random, 200000, &c);
    array_of_case(&array, &c);
    array_fill(&array, &random, c.ops[0] == NDR_PROD ? FILL_UNIT : FILL_WIDE);
    ndr_options options = case_options(&c);
    assert_ok(case_reduce(&c, 0, &array.tensor, &options, &first, NULL));
    for (int round = 0; round < 100; round++) {
      options.threads = round % 7;
      assert_ok(case_reduce(&c, 0, &array.tensor, &options, &again, NULL));
      assert_law(memcmp(first.memory, again.memory, first.bytes) == 0, &c, "runs differ");
      array_free(&again);
    }
    array_free(&first);
    array_free(&array);
  }
}
END_TEST

/* ---- accuracy ---- */

/* Sums of positive numbers in blocks: a relative error of at most one rounding a level of the tree, where a plain f32
 * loop over 2^22 of them, each below half a unit of the sum it is added to, is off by percents. */
static void assert_accurate(const char *text) {
  ndr_problem c = NDR_PROBLEM_INIT;
  test_array array, result;
  rng random = {test_seed()};
  assert_ok(ndr_problem_parse(text, &c));
  ndr_options options = case_options(&c);
  array_of_case(&array, &c);
  for (size_t i = 0; i < array.bytes / 4; i++) ((float *)array.memory)[i] = (float)(0.1 + 0.01 * rng_unit(&random));
  assert_ok(case_reduce(&c, 0, &array.tensor, &options, &result, NULL));
  int64_t outputs;
  answer *exact_sums = oracle_reduce(&c, NDR_SUM, &array.tensor, &outputs);
  for (int64_t j = 0; j < outputs; j++) {
    long double sum = (exact_sums[j].low.re + exact_sums[j].high.re) / 2;
    long double error = fabsl((long double)((float *)result.memory)[j] - sum) / sum;
    long double levels = log2l((long double)array_count(&array.tensor) / (long double)outputs) + 2;
    ck_assert_msg(error <= levels * rounding_of(NDR_F32), "%s: output %lld is off by %Lg", text, (long long)j, error);
  }
  free(exact_sums);
  array_free(&array);
  array_free(&result);
}

START_TEST(long_sums_stay_accurate_on_every_axis) {
  assert_accurate("sum f32 [4194304] /0");
  assert_accurate("sum f32 [1048576,4] /0");
  assert_accurate("sum f32 [4,1048576] /1");
  assert_accurate("sum f32 [2,2048,512,2] /1,2");
  assert_accurate("sum f32 [3:1,1048576:3] /1");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("property laws");
  suite_case(suite, "laws", 900, layouts_do_not_show, two_steps_are_one, runs_do_not_show, NULL);
  suite_case(suite, "accuracy", 120, long_sums_stay_accurate_on_every_axis, NULL);
  return suite_run(suite);
}
