/* The problem mini-language: what it accepts, what it says about the rest, and that printing and parsing agree. */
#include "support/cases.h"
#include "support/suite.h"

START_TEST(a_case_is_read_in_full) {
  ndr_problem c = NDR_PROBLEM_INIT;
  assert_ok(ndr_problem_parse("mean,var f64 [1000,64:-1,32] /0,-1 keepdims skipnan ddof=1.5 acc=f64", &c));
  ck_assert_int_eq(c.op_count, 2);
  ck_assert(c.ops[0] == NDR_MEAN && c.ops[1] == NDR_VAR && c.dtype == NDR_F64 && c.ndim == 3);
  ck_assert(c.shape[0] == 1000 && c.shape[1] == 64 && c.shape[2] == 32);
  ck_assert(c.strides[0] == 2048 && c.strides[1] == -1 && c.strides[2] == 1);
  ck_assert(c.dim_count == 2 && c.dims[0] == 0 && c.dims[1] == 2);
  ck_assert(c.keepdims && c.skip_nan && c.ddof == 1.5 && c.accumulate == NDR_ACCUMULATE_F64);
}
END_TEST

START_TEST(options_default_to_none) {
  ndr_problem c = NDR_PROBLEM_INIT;
  memset(&c, 0xff, sizeof c);
  c.size = sizeof c;
  assert_ok(ndr_problem_parse("sum f32 [4] /0", &c));
  ck_assert(!c.keepdims && !c.skip_nan && c.ddof == 0 && c.accumulate == NDR_ACCUMULATE_DEFAULT);
}
END_TEST

START_TEST(all_is_written_out) {
  ndr_problem c = NDR_PROBLEM_INIT;
  assert_ok(ndr_problem_parse("max i8 [2,3,4] /all", &c));
  ck_assert(c.dim_count == 3 && c.dims[0] == 0 && c.dims[1] == 1 && c.dims[2] == 2);
  assert_ok(ndr_problem_parse("max i8 [] /all", &c));
  ck_assert(c.ndim == 0 && c.dim_count == 0);
}
END_TEST

START_TEST(no_dims_and_no_axes_are_legal) {
  ndr_problem c = NDR_PROBLEM_INIT;
  assert_ok(ndr_problem_parse("sum f32 [2,3] /", &c));
  ck_assert_int_eq(c.dim_count, 0);
  assert_ok(ndr_problem_parse("sum f32 [] / keepdims", &c));
  ck_assert(c.ndim == 0 && c.dim_count == 0 && c.keepdims);
}
END_TEST

START_TEST(space_does_not_matter_between_words) {
  ndr_problem c = NDR_PROBLEM_INIT;
  assert_ok(ndr_problem_parse("  sum   f32\t[ 4 , 5:2 ]   /1   keepdims \n", &c));
  ck_assert(c.ndim == 2 && c.shape[1] == 5 && c.strides[1] == 2 && c.keepdims);
}
END_TEST

START_TEST(default_strides_pass_over_empty_dims) {
  ndr_problem c = NDR_PROBLEM_INIT;
  assert_ok(ndr_problem_parse("sum f32 [3,0,5] /1", &c));
  ck_assert(c.strides[0] == 5 && c.strides[1] == 5 && c.strides[2] == 1);
}
END_TEST

/* text, the status, and a piece of the sentence. */
static const struct {
  const char *text;
  ndr_status status;
  const char *word;
} refused[] = {
    {"", NDR_ERR_PARSE, "column 1"},
    {"median f32 [4] /0", NDR_ERR_PARSE,
     "column 1 of 'median f32 [4] /0': expected an operator, not 'median': sum, prod, "},
    {"sum,median f32 [4] /0", NDR_ERR_PARSE, "column 5"},
    {"sum, f32 [4] /0", NDR_ERR_PARSE, "column 5"},
    {"sum", NDR_ERR_PARSE, "dtype"},
    {"sum float [4] /0", NDR_ERR_PARSE, "expected a dtype, not 'float': bool, i8, "},
    {"sum f32 4 /0", NDR_ERR_PARSE, "'['"},
    {"sum f32 [4", NDR_ERR_PARSE, "']'"},
    {"sum f32 [4,", NDR_ERR_PARSE, "size"},
    {"sum f32 [4 5] /0", NDR_ERR_PARSE, "column 12"},
    {"sum f32 [-4] /0", NDR_ERR_PARSE, "size"},
    {"sum f32 [x] /0", NDR_ERR_PARSE, "size"},
    {"sum f32 [4:] /0", NDR_ERR_PARSE, "stride"},
    {"sum f32 [4:--1] /0", NDR_ERR_PARSE, "stride"},
    {"sum f32 [4]", NDR_ERR_PARSE, "'/'"},
    {"sum f32 [4] /x", NDR_ERR_PARSE, "column 14"},
    {"sum f32 [4] /0,", NDR_ERR_PARSE, "dim"},
    {"sum f32 [4] /0 axis=1", NDR_ERR_PARSE, "keepdims"},
    {"sum f32 [4] /0 ddof=", NDR_ERR_PARSE, "0 or more"},
    {"sum f32 [4] /0 ddof=-1", NDR_ERR_PARSE, "0 or more"},
    {"sum f32 [4] /0 ddof=nan", NDR_ERR_PARSE, "0 or more"},
    {"sum f32 [4] /0 acc=f32", NDR_ERR_PARSE, "acc=f64"},
    {"sum f32 [9223372036854775808] /0", NDR_ERR_PARSE, "2^63"},
    {"sum f32 [4:99999999999999999999] /0", NDR_ERR_PARSE, "2^63"},
    {"sum f32 [4] /1", NDR_ERR_DIMS, "dim 1"},
    {"sum f32 [4] /-2", NDR_ERR_DIMS, "dim -2"},
    {"sum f32 [] /0", NDR_ERR_DIMS, "dim 0"},
    {"sum f32 [4] /99999999999", NDR_ERR_DIMS, "99999999999"},
    {"sum f32 [4,5] /0,0", NDR_ERR_DIMS, "twice"},
    {"sum f32 [4,5] /1,-1", NDR_ERR_DIMS, "dim 1"},
    {"min c64 [4] /0", NDR_ERR_OP, "min"},
    {"sum f32 [4294967296,4294967296] /0", NDR_ERR_OVERFLOW, "62 bits"},
    {"sum f32 [0,4294967296,4294967296] /0", NDR_ERR_OVERFLOW, "62 bits"},
};

START_TEST(other_text_is_refused_with_its_place) {
  ndr_problem c, before;
  memset(&c, 0x5a, sizeof c);
  c.size = sizeof c;
  before = c;
  assert_fails(ndr_problem_parse(refused[_i].text, &c), refused[_i].status, refused[_i].word);
  ck_assert_msg(memcmp(&c, &before, sizeof c) == 0, "'%s' was refused and still written", refused[_i].text);
}
END_TEST

START_TEST(null_pointers_are_refused) {
  ndr_problem c = NDR_PROBLEM_INIT;
  int64_t low, high;
  char text[8];
  assert_fails(ndr_problem_parse(NULL, &c), NDR_ERR_ARGUMENT, "ndr_problem_parse");
  assert_fails(ndr_problem_parse("sum f32 [] /", NULL), NDR_ERR_ARGUMENT, "ndr_problem_parse");
  assert_fails(ndr_problem_extent(NULL, &low, &high), NDR_ERR_ARGUMENT, "problem");
  ck_assert_uint_eq(ndr_problem_print(NULL, text, sizeof text), 0);
}
END_TEST

START_TEST(limits_are_32_dims_and_20_ops) {
  ndr_problem c = NDR_PROBLEM_INIT;
  assert_ok(ndr_problem_parse("sum f32 [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] /all", &c));
  ck_assert_int_eq(c.dim_count, 32);
  assert_fails(ndr_problem_parse("sum f32 [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] /", &c),
               NDR_ERR_PARSE, "32 dims");
  assert_ok(ndr_problem_parse(
      "sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum f32 [] /", &c));
  assert_fails(ndr_problem_parse(
                   "sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum,sum f32 [] /", &c),
               NDR_ERR_PARSE, "20");
}
END_TEST

static void assert_prints(const char *text, const char *expected) {
  ndr_problem c = NDR_PROBLEM_INIT;
  assert_ok(ndr_problem_parse(text, &c));
  ck_assert_str_eq(case_text(&c), expected);
}

START_TEST(printing_leaves_defaults_out) {
  assert_prints("sum f32 [128:2048,64:-1,32:1] /0,2", "sum f32 [128,64:-1,32] /0,2");
  assert_prints("sum f32 [4,5] /all", "sum f32 [4,5] /0,1");
  assert_prints("sum f32 [4,5] /-1 ddof=0", "sum f32 [4,5] /1");
  assert_prints("var,std c64 [] /  acc=f64 skipnan keepdims ddof=2",
                "var,std c64 [] / keepdims skipnan ddof=2 acc=f64");
}
END_TEST

START_TEST(printing_is_cut_like_snprintf) {
  ndr_problem c = NDR_PROBLEM_INIT;
  char cut[64];
  assert_ok(ndr_problem_parse("sum f32 [128,64:-1,32] /0,2", &c));
  size_t length = ndr_problem_print(&c, NULL, 0);
  ck_assert_uint_eq(length, strlen("sum f32 [128,64:-1,32] /0,2"));
  memset(cut, '#', sizeof cut);
  ck_assert_uint_eq(ndr_problem_print(&c, cut, 9), length);
  ck_assert_str_eq(cut, "sum f32 ");
  ck_assert_int_eq(cut[9], '#');
}
END_TEST

START_TEST(random_cases_survive_printing) {
  rng random = {test_seed()};
  for (int i = 0; i < test_case_count(20000); i++) {
    ndr_problem c, back = NDR_PROBLEM_INIT;
    random_case(&random, 1000000, &c);
    char text[CASE_TEXT];
    ck_assert_uint_lt(ndr_problem_print(&c, text, sizeof text), sizeof text);
    assert_ok(ndr_problem_parse(text, &back));
    for (int d = 0; d < c.dim_count; d++) c.dims[d] += c.dims[d] < 0 ? c.ndim : 0;
    ck_assert_msg(memcmp(&c, &back, sizeof c) == 0, "%s came back as %s", text, case_text(&back));
  }
}
END_TEST

static void assert_extent(const char *text, int64_t expected_low, int64_t expected_high) {
  ndr_problem c = NDR_PROBLEM_INIT;
  int64_t low, high;
  assert_ok(ndr_problem_parse(text, &c));
  assert_ok(ndr_problem_extent(&c, &low, &high));
  ck_assert_msg(low == expected_low && high == expected_high, "%s: %lld..%lld", text, (long long)low, (long long)high);
}

START_TEST(extents_reach_both_ways) {
  assert_extent("sum f32 [] /", 0, 0);
  assert_extent("sum f32 [4,5] /0", 0, 19);
  assert_extent("sum f32 [4:-5,5] /0", -15, 4);
  assert_extent("sum f32 [4:0,5:3] /0", 0, 12);
  assert_extent("sum f32 [1:1000000000000,5] /0", 0, 4);
  assert_extent("sum f32 [7,0:-100000] /0", 0, -1);
}
END_TEST

static const struct {
  const char *text;
  ndr_dtype dtype;
  int64_t size, strides[2];
} far[] = {{"sum f32 [3:4611686018427387904] /0", NDR_F32, 3, {INT64_C(1) << 62}},
           {"sum f32 [3:-4611686018427387904] /0", NDR_F32, 3, {-(INT64_C(1) << 62)}},
           {"sum f64 [2:1152921504606846976] /0", NDR_F64, 2, {INT64_C(1) << 60}},
           {"sum i8 [2:9223372036854775807,2:-9223372036854775807] /0", NDR_I8, 2, {INT64_MAX, -INT64_MAX}},
           {"sum i8 [2:9223372036854775807,2:9223372036854775807] /0", NDR_I8, 2, {INT64_MAX, INT64_MAX}},
           {"sum i8 [2:9223372036854775807] /0", NDR_I8, 2, {INT64_MAX}},
           {"sum i8 [2:-9223372036854775808] /0", NDR_I8, 2, {INT64_MIN}}};

START_TEST(extents_that_overflow_are_refused) {
  for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
    ndr_problem c = NDR_PROBLEM_INIT;
    int64_t low = 77, high = 78;
    assert_fails(ndr_problem_parse(far[i].text, &c), NDR_ERR_OVERFLOW, "62 bits");
    c.dtype = far[i].dtype;
    c.ndim = far[i].strides[1] ? 2 : 1;
    c.shape[0] = c.shape[1] = far[i].size;
    memcpy(c.strides, far[i].strides, sizeof far[i].strides);
    assert_fails(ndr_problem_extent(&c, &low, &high), NDR_ERR_OVERFLOW, "63 bits");
    ck_assert(low == 77 && high == 78);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("api problem");
  suite_case(suite, "parse", 10, a_case_is_read_in_full, options_default_to_none, all_is_written_out,
             no_dims_and_no_axes_are_legal, space_does_not_matter_between_words, default_strides_pass_over_empty_dims,
             null_pointers_are_refused, limits_are_32_dims_and_20_ops, NULL);
  TCase *errors = tcase_create("refused");
  tcase_add_loop_test(errors, other_text_is_refused_with_its_place, 0, sizeof refused / sizeof *refused);
  suite_add_tcase(suite, errors);
  suite_case(suite, "print", 60, printing_leaves_defaults_out, printing_is_cut_like_snprintf,
             random_cases_survive_printing, NULL);
  suite_case(suite, "extent", 10, extents_reach_both_ways, extents_that_overflow_are_refused, NULL);
  return suite_run(suite);
}
