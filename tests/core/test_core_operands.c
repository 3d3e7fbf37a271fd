/* Problems with operands and programs inside the library: that the canonical form changes no meeting of elements,
 * operands, places and outputs, what the mini-language makes of them, and the states of programs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/request/canonical.h"
#include "ndreduce/operator.h"
#include "support/cases.h"
#include "support/suite.h"

static void request_of(const char *text, ndr_request *request) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  assert_ok(ndr_problem_parse(text, &problem));
  assert_ok(ndr_request_make(request, &problem));
}

static ndr_canonical canonical_of(const char *text) {
  ndr_request request;
  ndr_canonical problem;
  request_of(text, &request);
  assert_ok(ndr_canonical_make(&problem, &request));
  ndr_request_free(&request);
  return problem;
}

/* ---- canonical problems ---- */

START_TEST(axes_merge_only_where_operands_do) {
  ndr_canonical both = canonical_of("sum f32 [4,6] /all where=bool[6,1]");
  ck_assert_int_eq(both.reduced_count, 1);
  ck_assert_int_eq(both.reduced[0].operand[0], 1);
  ndr_canonical column = canonical_of("sum f32 [4,6] /all where=bool[1,0]");
  ck_assert_int_eq(column.reduced_count, 2);
  ck_assert_int_eq(column.reduced[0].operand[0], 0);
  ck_assert_int_eq(column.reduced[1].operand[0], 1);
  ndr_canonical_free(&both);
  ndr_canonical_free(&column);
}
END_TEST

START_TEST(the_larger_operand_decides_the_order) {
  ndr_canonical p = canonical_of("sum f32 [8:0,6:1] /all weights=f64[1,8]");
  ck_assert_int_eq(p.reduced[0].size, 8);
  ck_assert_int_eq(p.reduced[0].operand[0], 1);
  ndr_canonical_free(&p);
  p = canonical_of("sum f32 [8,6] /all where=bool[1,8]");
  ck_assert_int_eq(p.reduced[0].size, 6); /* fewer bytes than the array */
  ndr_canonical_free(&p);
}
END_TEST

START_TEST(operands_are_walked_as_the_array_is) {
  ndr_canonical p = canonical_of("sum f32 [5:-2] /0 where=bool[3]");
  ck_assert_int_eq(p.origin, -8);
  ck_assert_int_eq(p.operand_origin[0], 12);
  ck_assert_int_eq(p.reduced[0].operand[0], -3);
  ndr_canonical_free(&p);
  p = canonical_of("sum f32 [5:0] /0 where=bool[-3]"); /* the array has no direction */
  ck_assert_int_eq(p.operand_origin[0], -12);
  ck_assert_int_eq(p.reduced[0].operand[0], 3);
  ndr_canonical_free(&p);
}
END_TEST

START_TEST(dims_of_size_one_have_a_place) {
  ndr_request request;
  ndr_canonical p;
  request_of("{at(x): s += x * index(0) -> s} f32 [1,4] /all", &request);
  request.whole_shape[0] = 9;
  request.offset[0] = 7;
  assert_ok(ndr_canonical_make(&p, &request));
  ck_assert_int_eq(p.place_count, 1);
  ck_assert_int_eq(p.place_origin[0], 7);
  ck_assert_int_eq(p.reduced[0].place[0], 0);
  ndr_request_free(&request);
  ndr_canonical_free(&p);
}
END_TEST

START_TEST(places_are_numbered_as_they_come) {
  ndr_canonical p =
      canonical_of("{a(x): s += x * index(2) -> s},{b(x): s += index(2) - index(0) * x -> s} f32 [3,4,5] /1");
  ck_assert_int_eq(p.place_count, 2);
  ck_assert_int_eq(p.kept_count, 2);
  ck_assert_int_eq(p.kept[0].place[0], 1);
  ck_assert_int_eq(p.kept[1].place[1], 1);
  ndr_canonical_free(&p);
}
END_TEST

typedef struct meeting {
  int64_t array[NDR_MOST_ARRAYS], place[NDR_MOST_PLACES], result;
} meeting;

static int compare(const void *a, const void *b) {
  return memcmp(a, b, sizeof(meeting));
}

static int64_t meetings_of_request(const ndr_request *request, meeting *out) {
  const ndr_problem *problem = &request->problem;
  int64_t index[NDR_MAX_DIMS] = {0}, count = 0;
  for (int d = 0; d < problem->ndim; d++)
    if (problem->shape[d] == 0) return 0;
  do {
    meeting m = {{0}, {0}, 0};
    for (int d = 0; d < problem->ndim; d++) {
      m.array[0] += index[d] * problem->strides[d];
      for (int k = 0; k < problem->operand_count; k++) m.array[k + 1] += index[d] * problem->operands[k].strides[d];
      if (!request->reduced[d]) m.result += index[d] * request->result_strides[0][d];
    }
    for (int p = 0; p < request->place_count; p++)
      m.place[p] = request->offset[request->place_dims[p]] + index[request->place_dims[p]];
    out[count++] = m;
  } while (next_index(problem->ndim, problem->shape, index));
  return count;
}

static int64_t meetings_of_canonical(const ndr_canonical *p, meeting *out) {
  int64_t shape[NDR_MAX_DIMS], index[NDR_MAX_DIMS] = {0}, count = 0;
  int axes = p->kept_count + p->reduced_count;
  if (p->outputs == 0 || p->length == 0) return 0;
  for (int a = 0; a < axes; a++) shape[a] = a < p->kept_count ? p->kept[a].size : p->reduced[a - p->kept_count].size;
  do {
    meeting m = {{p->origin}, {0}, p->result_origin[0]};
    for (int k = 0; k < p->operand_count; k++) m.array[k + 1] = p->operand_origin[k];
    for (int k = 0; k < p->place_count; k++) m.place[k] = p->place_origin[k];
    for (int a = 0; a < axes; a++) {
      const ndr_axis *axis = a < p->kept_count ? &p->kept[a] : &p->reduced[a - p->kept_count];
      m.array[0] += index[a] * axis->stride;
      for (int k = 0; k < p->operand_count; k++) m.array[k + 1] += index[a] * axis->operand[k];
      for (int k = 0; k < p->place_count; k++) m.place[k] += index[a] * axis->place[k];
      if (a < p->kept_count) m.result += index[a] * axis->result[0];
    }
    out[count++] = m;
  } while (next_index(axes, shape, index));
  return count;
}

/* An operator that reads three arrays, and the index along some dims. */
static ndr_op operator_of(rng *random, int ndim) {
  char text[200] = "walk(x, y, z): s += x + y * z";
  ndr_op op;
  for (int i = 0; ndim > 0 && i < rng_between(random, 0, 3); i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), " + index(%d)", (int)rng_between(random, 0, ndim - 1));
  strcat(text, " -> s");
  assert_ok(ndr_operator_create(&op, text, NULL, 0));
  return op;
}

static void add_operand(rng *random, ndr_problem *problem, ndr_role role) {
  ndr_operand *operand = &problem->operands[problem->operand_count++];
  int64_t step = 1;
  operand->role = role;
  operand->dtype = role == NDR_WHERE ? NDR_BOOL : NDR_F64;
  for (int d = problem->ndim - 1; d >= 0; d--) {
    int kind = (int)rng_between(random, 0, 5);
    operand->strides[d] = kind == 0 ? 0 : kind == 1 ? -step : kind == 2 ? rng_between(random, -9, 9) : step;
    step *= problem->shape[d] > 0 ? problem->shape[d] : 1;
  }
}

enum { MOST = 1500 };

static void check_view(ndr_problem *problem, rng *random) {
  static meeting expected[MOST], got[MOST];
  ndr_request request;
  ndr_canonical canonical;
  problem->op_count = 1;
  problem->ops[0] = operator_of(random, problem->ndim);
  problem->ddof = 0;
  add_operand(random, problem, NDR_WITH);
  if (rng_between(random, 0, 1)) add_operand(random, problem, NDR_WHERE);
  add_operand(random, problem, NDR_WITH);
  if (ndr_dtype_class(problem->dtype) == NDR_CLASS_COMPLEX) problem->dtype = NDR_F32;
  assert_ok(ndr_request_make(&request, problem));
  for (int d = 0; d < problem->ndim; d++) request.offset[d] = rng_between(random, 0, 50);
  request.partial = true;
  assert_ok(ndr_canonical_make(&canonical, &request));
  for (int a = 0; a < canonical.kept_count; a++) ck_assert(canonical.kept[a].stride >= 0 && canonical.kept[a].size > 1);
  int64_t count = meetings_of_request(&request, expected);
  ck_assert_msg(meetings_of_canonical(&canonical, got) == count, "%s: other elements", case_text(problem));
  qsort(expected, (size_t)count, sizeof *expected, compare);
  qsort(got, (size_t)count, sizeof *got, compare);
  ck_assert_msg(memcmp(expected, got, (size_t)count * sizeof *got) == 0, "%s: others meet", case_text(problem));
  ndr_operator_destroy(problem->ops[0]);
  ndr_request_free(&request);
  ndr_canonical_free(&canonical);
}

START_TEST(canonical_form_changes_no_meeting) {
  rng random = {test_seed()};
  for (int i = 0; i < test_case_count(4000); i++) {
    ndr_problem problem = NDR_PROBLEM_INIT;
    random_case(&random, MOST, &problem);
    check_view(&problem, &random);
  }
}
END_TEST

START_TEST(copies_hold_the_programs) {
  ndr_canonical problem = canonical_of("sum,mean f32 [4] /0 where=bool[1]"), copy = problem;
  ndr_canonical_share(&copy);
  ndr_canonical_free(&problem);
  ck_assert(!problem.programs_owner);
  ck_assert_int_eq(copy.programs[1]->parts[0].op, NDR_MEAN);
  ndr_canonical_free(&copy);
}
END_TEST

/* ---- the mini-language ---- */

static const char *const round_trips[] = {
    "mean f32 [128,64] /0 where=bool[1,0] weights=f64[0,1]",
    "var f64 [5] /0 skipnan ddof=1 weights=f32[-1] weighting=reliability",
    "sum,min i32 [3,4] /0,1 initial=-7",
    "max f64 [3] /0 initial=inf",
    "sum f64 [3] /0 initial=0.1",
    "sum f64 [3] /0 initial=0.30000000000000004",
    "min f64 [3] /0 initial=-inf",
    "max f64 [3] /0 initial=nan",
    "std f64 [3] /0 ddof=0.5",
    "any bool [] / where=bool[]",
    "{rmse(x, y): s += (x - y)**2, n += 1 -> sqrt(s / n)} f32 [128,64] /0 with=f32[64,1]",
    "sum,{hot(x; t): n += x > t -> n}(303.14999999999998) f32 [128,64] /0",
    "{three(x, y, z): s += x * y * z -> s} f64 [2,2] /0 with=i8[0,0] where=bool[2,1] with=f32[1,2]",
};

START_TEST(problems_are_printed_as_they_are_read) {
  char text[512], again[512];
  ndr_problem problem = NDR_PROBLEM_INIT, read = NDR_PROBLEM_INIT;
  assert_ok(ndr_problem_parse(round_trips[_i], &problem));
  ck_assert_uint_gt(ndr_problem_print(&problem, text, sizeof text), 0);
  assert_ok(ndr_problem_parse(text, &read));
  ndr_problem_print(&read, again, sizeof again);
  ck_assert_str_eq(text, again);
  if (!strchr(text, '{')) ck_assert_str_eq(text, round_trips[_i]);
  ck_assert_int_eq(read.ops[0], problem.ops[0]);
}
END_TEST

static const struct {
  const char *text, *word;
  ndr_status status;
} refused[] = {
    {"sum f32 [4] /0 where=f32[1]", "bool", NDR_ERR_DTYPE},
    {"sum f32 [4] /0 weights=i32[1]", "f32 or f64", NDR_ERR_DTYPE},
    {"sum f32 [4] /0 where=bool[1] where=bool[1]", "two operands", NDR_ERR_ARGUMENT},
    {"sum f32 [4,4] /0 where=bool[1]", "a stride for each dim", NDR_ERR_PARSE},
    {"sum f32 [4] /0 where=bool[1,1]", "']'", NDR_ERR_PARSE},
    {"sum f32 [4] /0 where=bool", "'['", NDR_ERR_PARSE},
    {"sum f32 [4] /0 where=boole[1]", "column 22", NDR_ERR_PARSE},
    {"sum f32 [4] /0 with=f32[1]", "'with' has 1 array,", NDR_ERR_ARGUMENT},
    {"{two(x, y): s += x * y -> s} f32 [4] /0", "two reads 2 arrays", NDR_ERR_ARGUMENT},
    {"sum f32 [4] /0 initial=", "a number", NDR_ERR_PARSE},
    {"sum f32 [4] /0 initial=1e999", "column 24 of", NDR_ERR_PARSE},
    {"sum f32 [4] /0 initial=-1e999", "-1e999 is too large for f64; infinity is written inf", NDR_ERR_PARSE},
    {"sum f32 [4] /0 initial=infinity", "a space", NDR_ERR_PARSE},
    {"sum f32 [4] /0 initial=0x1p3", "a space", NDR_ERR_PARSE},
    {"var f32 [4] /0 ddof=1e999", "1e999 is too large for f64; infinity is written inf", NDR_ERR_PARSE},
    {"var f32 [4] /0 ddof=nan", "a number of 0 or more", NDR_ERR_PARSE},
    {"{f(x): s += 1e999 * x -> s} f32 [4] /0", "1e999 is too large for f64; infinity is written inf", NDR_ERR_PARSE},
    {"{f(x; t): s += t * x -> s}(1e999) f32 [4] /0", "1e999 is too large", NDR_ERR_PARSE},
    {"sum f32 [4] /0 weighting=both", "weighting=reliability", NDR_ERR_PARSE},
    {"sum f32 [4] /0 keepdimsskipnan", "a space", NDR_ERR_PARSE},
    {"sum f32 [4] /0 where=bool[9223372036854775807]", "where", NDR_ERR_OVERFLOW},
};

START_TEST(other_text_is_refused) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  assert_fails(ndr_problem_parse(refused[_i].text, &problem), refused[_i].status, refused[_i].word);
}
END_TEST

/* ---- programs of built-in operators ---- */

START_TEST(plain_operators_stay_what_they_are) {
  ndr_canonical p = canonical_of("sum,{two(x, y): s += x * y -> s},argmin f32 [4] /0 with=f32[1]");
  ck_assert(!p.programs[0] && p.programs[1] && !p.programs[2]);
  ndr_canonical_free(&p);
  p = canonical_of("sum,argmin f32 [4] /0 ddof=1 skipnan weighting=reliability");
  ck_assert(!p.programs[0] && !p.programs_owner);
}
END_TEST

static const struct {
  const char *text;
  ndr_dtype result;
} results[] = {
    {"sum i8 [4] /0 where=bool[1]", NDR_I64},        {"sum u8 [4] /0 where=bool[1]", NDR_U64},
    {"sum i8 [4] /0 weights=f32[1]", NDR_F64},       {"sum bf16 [4] /0 weights=f64[1]", NDR_BF16},
    {"mean f16 [4] /0 weights=f64[1]", NDR_F16},     {"mean u64 [4] /0 weights=f64[1]", NDR_F64},
    {"var c64 [4] /0 weights=f64[1]", NDR_F32},      {"norm2 i32 [4] /0 weights=f32[1]", NDR_F64},
    {"argmax f16 [4] /0 where=bool[1]", NDR_I64},    {"min f16 [4] /0 initial=2", NDR_F16},
    {"prod bool [4] /0 initial=2", NDR_U64},         {"all f64 [4] /0 where=bool[1]", NDR_BOOL},
    {"{s(x): s += x > 1 -> s} f32 [4] /0", NDR_U64},
};

START_TEST(results_have_their_dtype) {
  ndr_canonical p = canonical_of(results[_i].text);
  ndr_state state = ndr_canonical_state(&p, 0);
  ck_assert_int_eq(ndr_canonical_result(&p, 0), results[_i].result);
  ck_assert_int_eq(ndr_state_result(&state), results[_i].result);
  ndr_canonical_free(&p);
}
END_TEST

static const struct {
  const char *text, *word;
  ndr_status status;
} undefined[] = {
    {"min f32 [4] /0 weights=f32[1]", "min has no weighted form", NDR_ERR_OP},
    {"count f32 [4] /0 weights=f32[1]", "count has no weighted form", NDR_ERR_OP},
    {"valid,max f32 [4] /0 weights=f32[1]", "max has no weighted form", NDR_ERR_OP},
    {"mean,{s(x): s += x -> s} f32 [4] /0 weights=f32[1]", "s has no weighted form", NDR_ERR_OP},
    {"sum,mean f32 [4] /0 initial=1", "mean has no initial value", NDR_ERR_OP},
    {"{s(x): s += x -> s} f32 [4] /0 initial=1", "s has no initial value", NDR_ERR_OP},
    {"{s(x): s += x -> s} f32 [4] /0 weights=f32[1]", "s has no weighted form", NDR_ERR_OP},
    {"sum i32 [4] /0 initial=0.5", "initial is 0.5", NDR_ERR_ARGUMENT},
    {"sum i32 [4] /0 initial=nan", "i64", NDR_ERR_ARGUMENT},
    {"min u8 [4] /0 initial=256", "u8", NDR_ERR_ARGUMENT},
    {"max i8 [4] /0 initial=-129", "i8", NDR_ERR_ARGUMENT},
    {"sum u8 [4] /0 initial=-1", "u64", NDR_ERR_ARGUMENT},
    {"max bool [4] /0 initial=2", "bool", NDR_ERR_ARGUMENT},
    {"sum i32 [4] /0 initial=9223372036854775808", "i64", NDR_ERR_ARGUMENT},
    {"{s(x): s += x * index(1) -> s} f32 [4] /0", "index(1)", NDR_ERR_DIMS},
    {"{s(x): s += index(0)+index(1)+index(2)+index(3)+index(4) -> s} f32 [1,1,1,1,1] /0", "4 dims", NDR_ERR_OP},
    {"{s(x): s += x < 1 -> s} c64 [4] /0", "s", NDR_ERR_OP},
};

START_TEST(what_is_not_defined_is_refused) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_request request;
  assert_ok(ndr_problem_parse(undefined[_i].text, &problem));
  assert_fails(ndr_request_make(&request, &problem), undefined[_i].status, undefined[_i].word);
}
END_TEST

/* ---- states ---- */

static double f64_at(const uint64_t *words, int at) {
  double value;
  memcpy(&value, &words[at], sizeof value);
  return value;
}

START_TEST(programs_have_the_words_of_their_parts) {
  ndr_canonical p = canonical_of("{m(x): s += x, a min= x, c &= x > 0 -> s + a} f32 [4] /0");
  ndr_state state = ndr_canonical_state(&p, 0);
  uint64_t words[3 * 2];
  int before;
  ck_assert_int_eq(ndr_state_size(&state), 3);
  ck_assert_int_eq(ndr_state_part(&state, 2, &before).op, NDR_ALL);
  ck_assert_int_eq(before, 2);
  ndr_state_identity(&state, words, 2, 2);
  ck_assert(f64_at(words, 0) == 0 && f64_at(words, 3) == (double)INFINITY && words[5] == 1);
  ndr_canonical_free(&p);
}
END_TEST

/* The moments of elements with weights, by their definitions: what a state must hold. */
static void moments_of(int count, const double (*x)[2], const double *w, uint64_t *words) {
  double n = 0, squares = 0, mean[2] = {0, 0}, spread = 0;
  for (int i = 0; i < count; i++) {
    n += w[i];
    squares += w[i] * w[i];
    for (int p = 0; p < 2; p++) mean[p] += w[i] * x[i][p];
  }
  for (int p = 0; p < 2 && n > 0; p++) mean[p] /= n;
  for (int i = 0; i < count; i++)
    for (int p = 0; p < 2; p++) spread += w[i] * (x[i][p] - mean[p]) * (x[i][p] - mean[p]);
  const double values[] = {n, mean[0], mean[1], spread, squares};
  memcpy(words, values, sizeof values);
}

START_TEST(weighted_moments_merge) {
  const double x[][2] = {{1, 2}, {3, -1}, {-2, 0}, {5, 5}, {0, 7}}, w[] = {1, 0.5, 2, 0, 3};
  ndr_canonical p = canonical_of("var c128 [5] /0 ddof=1 weights=f64[1] weighting=reliability");
  ndr_state state = ndr_canonical_state(&p, 0);
  uint64_t all[NDR_MAX_WORDS], first[NDR_MAX_WORDS], second[NDR_MAX_WORDS];
  double got, expected;
  ck_assert_int_eq(ndr_state_size(&state), 5);
  moments_of(5, x, w, all);
  for (int cut = 0; cut <= 5; cut++) {
    moments_of(cut, x, w, first);
    moments_of(5 - cut, x + cut, w + cut, second);
    ndr_state_merge(&state, first, 1, 1, second, 1, 1, 1);
    for (int i = 0; i < 5; i++) ck_assert_double_eq_tol(f64_at(first, i), f64_at(all, i), 1e-12);
  }
  ndr_state_finish(&state, all, 1, 1, 1, &got, 1);
  expected = f64_at(all, 3) / (6.5 - (1 + 0.25 + 4 + 9) / 6.5);
  ck_assert_double_eq_tol(got, expected, 1e-12);
  ndr_canonical_free(&p);
}
END_TEST

START_TEST(no_weight_gives_nan) {
  const char *const texts[] = {"mean f64 [2] /0 weights=f64[1]", "var f64 [2] /0 weights=f64[1]",
                               "std f64 [2] /0 weights=f64[1] weighting=reliability"};
  ndr_canonical p = canonical_of(texts[_i]);
  ndr_state state = ndr_canonical_state(&p, 0);
  uint64_t words[NDR_MAX_WORDS];
  double got = 0;
  ndr_state_identity(&state, words, 1, 1);
  ndr_state_finish(&state, words, 1, 1, 1, &got, 1);
  ck_assert_double_nan(got);
  ndr_canonical_free(&p);
}
END_TEST

/* A place of weight 0 counts if 0 times its value is NaN, wherever states are cut. */
START_TEST(what_has_no_weight_may_still_be_nan) {
  const double nothing[] = {0, NAN, NAN}, something[] = {2, 1, 0.5};
  ndr_canonical p = canonical_of("var f64 [2] /0 weights=f64[1]");
  ndr_state state = ndr_canonical_state(&p, 0);
  for (int order = 0; order < 2; order++) {
    uint64_t into[3], from[3];
    memcpy(into, order ? nothing : something, sizeof into);
    memcpy(from, order ? something : nothing, sizeof from);
    ndr_state_merge(&state, into, 1, 1, from, 1, 1, 1);
    ck_assert(f64_at(into, 0) == 2 && isnan(f64_at(into, 2)));
  }
  ndr_canonical_free(&p);
}
END_TEST

START_TEST(results_are_computed_from_totals) {
  ndr_canonical p = canonical_of("{r(x): s += x, m max= x -> m > 2 ? s / m : -s} i32 [4] /0");
  ndr_state state = ndr_canonical_state(&p, 0);
  const int64_t states[] = {7, 9, 2, 4}; /* sums, then maxima */
  double got[4] = {-1, -1, -1, -1};
  ndr_state_finish(&state, (const uint64_t *)states, 2, 1, 2, got, 2);
  ck_assert(got[0] == -7 && got[1] == -1 && got[2] == 2.25 && got[3] == -1);
  ck_assert_int_eq(ndr_program_result_part(state.program), -1);
  ndr_canonical_free(&p);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("core operands");
  TCase *texts = tcase_create("texts");
  tcase_add_loop_test(texts, problems_are_printed_as_they_are_read, 0, sizeof round_trips / sizeof *round_trips);
  tcase_add_loop_test(texts, other_text_is_refused, 0, sizeof refused / sizeof *refused);
  tcase_add_loop_test(texts, results_have_their_dtype, 0, sizeof results / sizeof *results);
  tcase_add_loop_test(texts, what_is_not_defined_is_refused, 0, sizeof undefined / sizeof *undefined);
  tcase_add_loop_test(texts, no_weight_gives_nan, 0, 3);
  suite_add_tcase(suite, texts);
  suite_case(suite, "axes", 10, axes_merge_only_where_operands_do, the_larger_operand_decides_the_order,
             operands_are_walked_as_the_array_is, dims_of_size_one_have_a_place, places_are_numbered_as_they_come,
             copies_hold_the_programs, plain_operators_stay_what_they_are, NULL);
  suite_case(suite, "states", 10, programs_have_the_words_of_their_parts, weighted_moments_merge,
             what_has_no_weight_may_still_be_nan, results_are_computed_from_totals, NULL);
  suite_case(suite, "random views", 300, canonical_form_changes_no_meeting, NULL);
  return suite_run(suite);
}
