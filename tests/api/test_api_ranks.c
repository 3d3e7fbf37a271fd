/* ndreduce_parts and ndr_comm_agree: the result is that of the whole array, its bits do not depend on who is ready
 * first, and a rank that fails makes all fail. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ndreduce/comm.h"
#include "support/cuts.h"
#include "support/oracle.h"
#include "support/reduce.h"
#include "support/suite.h"
#include "support/threads_comm.h"

enum { MOST_RANKS = 7 };

/* A rank's arguments, and the outcome. */
typedef struct share {
  const ndr_problem *problem;
  const DLTensor *part; /* may be NULL */
  const int64_t *offset;
  DLTensor *const *results;
  ndr_options options;
  ndr_status status;
  char sentence[512];
} share;

static void parts_body(ndr_comm *comm, void *user) {
  share *own = (share *)user + comm->rank;
  own->status = ndreduce_parts(comm, own->problem, own->part, own->offset, own->results, &own->options);
  snprintf(own->sentence, sizeof own->sentence, "%s", own->status == NDR_OK ? "" : ndr_last_error());
}

static void assert_shares(const share *shares, int ranks, ndr_status status, const char *word) {
  for (int r = 0; r < ranks; r++) {
    ck_assert_msg(shares[r].status == status, "rank %d of %d: %s (%s)", r, ranks, ndr_status_name(shares[r].status),
                  shares[r].sentence);
    ck_assert_msg(strstr(shares[r].sentence, word) != NULL, "'%s' does not name '%s'", shares[r].sentence, word);
    ck_assert_str_eq(shares[r].sentence, shares[0].sentence);
  }
}

/* ---- random parts ---- */

typedef struct outcome {
  test_array of[NDR_MAX_OPS];
} outcome;

static void free_outcome(outcome *o, int count) {
  for (int i = 0; i < count; i++) array_free(&o->of[i]);
}

/* Reduces the parts by one rank each, with random numbers of threads. */
static void reduce_cut(rng *random, const ndr_problem *c, const test_array *array, int ranks, box *boxes,
                       outcome *made) {
  share shares[MOST_RANKS];
  DLTensor views[MOST_RANKS], *results[NDR_MAX_OPS];
  ndr_options options = case_options(c);
  for (int i = 0; i < c->op_count; i++) {
    assert_ok(array_result(&made->of[i], &array->tensor, c->dim_count, c->dims, c->ops[i], &options, NULL));
    results[i] = &made->of[i].tensor;
  }
  for (int r = 0; r < ranks; r++) {
    views[r] = tensor_part(&array->tensor, &boxes[r]);
    shares[r] = (share){.problem = c, .part = &views[r], .offset = boxes[r].offset, .options = NDR_OPTIONS_INIT};
    shares[r].results = r == 0 ? results : NULL;
    shares[r].options.threads = (int)rng_between(random, 1, 3);
  }
  ck_assert_int_eq(threads_run(ranks, rng_next(random), parts_body, shares, NULL), 0);
  assert_shares(shares, ranks, NDR_OK, "");
}

static void compare_with_whole(const ndr_problem *c, const test_array *array, const outcome *got, int ranks) {
  char message[512];
  test_array whole;
  ndr_options options = case_options(c);
  for (int i = 0; i < c->op_count; i++) {
    bool right = oracle_accepts(c, c->ops[i], &array->tensor, &got->of[i].tensor, message, sizeof message);
    ck_assert_msg(right, "%s, %d ranks, seed %llu: %s", case_text(c), ranks, (unsigned long long)test_seed(), message);
    if (!op_exact(c->ops[i], c->dtype, false)) continue;
    assert_ok(case_reduce(c, i, &array->tensor, &options, &whole, NULL));
    ck_assert_msg(same_elements(&whole.tensor, &got->of[i].tensor), "%s, %d ranks: %s differs from the whole's",
                  case_text(c), ranks, ndr_op_name(c->ops[i]));
    array_free(&whole);
  }
}

static void check_case(rng *random) {
  ndr_problem c = NDR_PROBLEM_INIT;
  test_array array;
  box boxes[MOST_RANKS];
  outcome first, second;
  random_case(random, 3000, &c);
  random_ops(random, &c);
  array_of_case(&array, &c);
  array_fill(&array, random, random_filling_of(random, &c));
  int ranks = random_parts(random, &c, MOST_RANKS, boxes);
  reduce_cut(random, &c, &array, ranks, boxes, &first);
  compare_with_whole(&c, &array, &first, ranks);
  reduce_cut(random, &c, &array, ranks, boxes, &second);
  for (int i = 0; i < c.op_count; i++)
    ck_assert_msg(memcmp(first.of[i].memory, second.of[i].memory, first.of[i].bytes) == 0,
                  "%s, %d ranks: bits of %s depend on threads or on who is first", case_text(&c), ranks,
                  ndr_op_name(c.ops[i]));
  free_outcome(&first, c.op_count);
  free_outcome(&second, c.op_count);
  array_free(&array);
}

START_TEST(parts_give_the_result_of_the_whole) {
  rng random = {test_seed()};
  for (int i = 0; i < test_case_count(1500); i++) check_case(&random);
}
END_TEST

/* ---- by hand ---- */

/* 12 numbers in equal parts along one dim. */
typedef struct twelve {
  float x[12];
  int64_t size[MOST_RANKS], offset[MOST_RANKS];
  DLTensor parts[MOST_RANKS];
  ndr_problem problem;
  share shares[MOST_RANKS];
} twelve;

static void make_twelve(twelve *t, int ranks, const char *problem, DLTensor *const *results) {
  static const float x[12] = {3, -1, 4, 1, -5, 9, 2, 6, -5, 9, 5, 8};
  memcpy(t->x, x, sizeof x);
  t->problem = (ndr_problem)NDR_PROBLEM_INIT;
  assert_ok(ndr_problem_parse(problem, &t->problem));
  for (int r = 0; r < ranks; r++) {
    t->offset[r] = 12 * r / ranks;
    t->size[r] = 12 * (r + 1) / ranks - t->offset[r];
    t->parts[r] = ndr_tensor(t->x + t->offset[r], NDR_F32, 1, &t->size[r]);
    t->shares[r] = (share){.problem = &t->problem,
                           .part = &t->parts[r],
                           .offset = &t->offset[r],
                           .results = r == 0 ? results : NULL,
                           .options = NDR_OPTIONS_INIT};
  }
}

static const char *const several = "sum,mean,var,argmin,argmax,min,max f32 [12] /0";

static DLTensor result_of(void *value, ndr_dtype dtype) {
  return ndr_tensor(value, dtype, 0, NULL);
}

START_TEST(several_statistics_of_numbers) {
  float sum, mean, var, min, max;
  int64_t at_min, at_max;
  DLTensor r[] = {result_of(&sum, NDR_F32),    result_of(&mean, NDR_F32),   result_of(&var, NDR_F32),
                  result_of(&at_min, NDR_I64), result_of(&at_max, NDR_I64), result_of(&min, NDR_F32),
                  result_of(&max, NDR_F32)};
  DLTensor *results[] = {&r[0], &r[1], &r[2], &r[3], &r[4], &r[5], &r[6]};
  for (int ranks = 1; ranks <= MOST_RANKS; ranks++) {
    twelve t;
    make_twelve(&t, ranks, several, results);
    sum = mean = var = min = max = -77, at_min = at_max = -77;
    ck_assert_int_eq(threads_run(ranks, 0, parts_body, t.shares, NULL), 0);
    assert_shares(t.shares, ranks, NDR_OK, "");
    ck_assert(sum == 36 && mean == 3 && min == -5 && max == 9);
    ck_assert(fabsf(var - 260.0F / 12) < 1e-4F);
    ck_assert(at_min == 4 && at_max == 5); /* in the whole array; of two equal ones the first */
  }
}
END_TEST

START_TEST(each_rank_but_the_first_sends_its_states_once) {
  float sum;
  DLTensor result = result_of(&sum, NDR_F32), *results[] = {&result};
  twelve t;
  threads_sent sent[MOST_RANKS];
  make_twelve(&t, 6, "sum f32 [12] /0", results);
  ck_assert_int_eq(threads_run(6, 0, parts_body, t.shares, sent), 0);
  assert_shares(t.shares, 6, NDR_OK, "");
  for (int r = 1; r < 6; r++) {
    ck_assert_int_le(sent[r].messages, 3); /* states, END, DONE */
    ck_assert_int_le(sent[r].bytes, 500);
  }
}
END_TEST

/* ---- errors ---- */

static float kept; /* the result, to which a call that fails writes nothing */

static void check_failure(void (*spoil)(twelve *, int rank), int who, ndr_status status, const char *word) {
  for (int ranks = who + 1; ranks <= MOST_RANKS; ranks++)
    for (uint64_t seed = 0; seed < 3; seed++) {
      twelve t;
      char at[64] = "";
      DLTensor result = result_of(&kept, NDR_F32), *results[] = {&result};
      make_twelve(&t, ranks, "sum f32 [12] /0", results);
      spoil(&t, who);
      kept = -7;
      ck_assert_int_eq(threads_run(ranks, seed, parts_body, t.shares, NULL), 0);
      assert_shares(t.shares, ranks, status, word);
      if (who > 0) snprintf(at, sizeof at, "(rank %d of %d)", who, ranks);
      assert_shares(t.shares, ranks, status, at);
      ck_assert(kept == -7);
    }
}

static void without_part(twelve *t, int rank) {
  t->shares[rank].part = NULL;
}
static void without_offset(twelve *t, int rank) {
  t->shares[rank].offset = NULL;
}
static void beyond_the_end(twelve *t, int rank) {
  t->offset[rank] = 13 - t->size[rank];
}
static void before_the_begin(twelve *t, int rank) {
  t->offset[rank] = -1;
}
static void negative_size(twelve *t, int rank) {
  t->size[rank] = INT64_MIN;
}
static void of_integers(twelve *t, int rank) {
  t->parts[rank].dtype = ndr_dtype_to_dlpack(NDR_I32);
}
static void of_two_dims(twelve *t, int rank) {
  t->parts[rank] = ndr_tensor(t->x, NDR_F32, NDR_SHAPE(2, 2));
}
static void without_data(twelve *t, int rank) {
  t->parts[rank].data = NULL;
}
static void without_problem(twelve *t, int rank) {
  t->shares[rank].problem = NULL;
}
static void without_results(twelve *t, int rank) {
  t->shares[rank].results = NULL;
}
static void with_keepdims(twelve *t, int rank) {
  t->shares[rank].options.keepdims = 1;
}
static void on_no_device(twelve *t, int rank) {
  t->parts[rank].device.device_type = kDLVulkan;
}

START_TEST(who_is_given_nonsense_makes_all_fail) {
  for (int who = 0; who < 4; who += who + 1) {
    check_failure(without_part, who, NDR_ERR_ARGUMENT, "part is a null pointer");
    check_failure(without_offset, who, NDR_ERR_ARGUMENT, "offset is a null pointer");
    check_failure(beyond_the_end, who, NDR_ERR_ARGUMENT, "leaves dim 0 of size 12");
    check_failure(before_the_begin, who, NDR_ERR_ARGUMENT, "at -1 leaves dim 0 of size 12");
    check_failure(negative_size, who, NDR_ERR_ARGUMENT, "-9223372036854775808");
    check_failure(of_integers, who, NDR_ERR_ARGUMENT, "a part of 1 dim of i32");
    check_failure(without_data, who, NDR_ERR_ARGUMENT, "has no data");
    check_failure(of_two_dims, who, NDR_ERR_ARGUMENT, "a part of 2 dims of f32");
    check_failure(without_problem, who, NDR_ERR_ARGUMENT, "problem");
    check_failure(with_keepdims, who, NDR_ERR_ARGUMENT, "keepdims");
    check_failure(on_no_device, who, NDR_ERR_NO_DEVICE, "7");
  }
  check_failure(without_results, 0, NDR_ERR_ARGUMENT, "results");
}
END_TEST

START_TEST(different_problems_are_refused) {
  static const char *const others[] = {"sum f32 [12] /0 keepdims", "max f32 [12] /0", "sum f32 [13] /0",
                                       "sum f32 [12] /0 skipnan", "sum,max f32 [12] /0"};
  for (size_t o = 0; o < sizeof others / sizeof *others; o++)
    for (int who = 1; who < 5; who++) {
      twelve t;
      DLTensor result = result_of(&kept, NDR_F32), *results[] = {&result};
      ndr_problem other = NDR_PROBLEM_INIT;
      assert_ok(ndr_problem_parse(others[o], &other));
      make_twelve(&t, 5, "sum f32 [12] /0", results);
      t.shares[who].problem = &other;
      ck_assert_int_eq(threads_run(5, (uint64_t)who, parts_body, t.shares, NULL), 0);
      assert_shares(t.shares, 5, NDR_ERR_ARGUMENT, "problem");
    }
}
END_TEST

START_TEST(operands_are_refused) {
  twelve t;
  DLTensor result = result_of(&kept, NDR_F32), *results[] = {&result};
  make_twelve(&t, 3, "mean f32 [12] /0 weights=f32[1]", results);
  ck_assert_int_eq(threads_run(3, 0, parts_body, t.shares, NULL), 0);
  assert_shares(t.shares, 3, NDR_ERR_UNSUPPORTED, "operands");
}
END_TEST

START_TEST(no_elements_anywhere_are_as_they_are_to_ndreduce) {
  for (int ranks = 1; ranks <= 3; ranks++) {
    twelve t;
    DLTensor result = result_of(&kept, NDR_F32), *results[] = {&result};
    make_twelve(&t, ranks, "min f32 [0] /0", results);
    for (int r = 0; r < ranks; r++) t.size[r] = t.offset[r] = 0, t.parts[r].data = NULL;
    ck_assert_int_eq(threads_run(ranks, 0, parts_body, t.shares, NULL), 0);
    assert_shares(t.shares, ranks, NDR_ERR_EMPTY, "min");
    t.problem.ops[0] = NDR_SUM;
    kept = -7;
    ck_assert_int_eq(threads_run(ranks, 0, parts_body, t.shares, NULL), 0);
    assert_shares(t.shares, ranks, NDR_OK, "");
    ck_assert(kept == 0);
  }
}
END_TEST

/* ---- ndr_comm_agree ---- */

static const char *const no_file = "no file";

static void agree_body(ndr_comm *comm, void *user) {
  share *own = (share *)user + comm->rank;
  ndr_status mine = NDR_OK;
  own->status = ndr_comm_agree(comm, NDR_OK, "not read");
  if (own->status != NDR_OK) return;
  if (comm->rank == 2) {
    ndr_explain_failure("%s", "said before");
    mine = NDR_ERR_FILE;
  }
  own->status = ndr_comm_agree(comm, mine, own->part ? no_file : NULL); /* part: with a sentence */
  snprintf(own->sentence, sizeof own->sentence, "%s", ndr_last_error());
}

START_TEST(ranks_agree_on_a_status_and_its_sentence) {
  const DLTensor given = {0};
  for (int ranks = 1; ranks <= MOST_RANKS; ranks++) {
    share shares[MOST_RANKS] = {{0}};
    ck_assert_int_eq(threads_run(ranks, 5, agree_body, shares, NULL), 0);
    for (int r = 0; r < ranks; r++) ck_assert_int_eq(shares[r].status, ranks > 2 ? NDR_ERR_FILE : NDR_OK);
    if (ranks > 2) assert_shares(shares, ranks, NDR_ERR_FILE, "said before (rank 2 of");
    for (int r = 0; r < ranks; r++) shares[r].part = &given;
    ck_assert_int_eq(threads_run(ranks, 6, agree_body, shares, NULL), 0);
    if (ranks > 2) assert_shares(shares, ranks, NDR_ERR_FILE, "no file (rank 2 of");
  }
}
END_TEST

/* Rank 3 cannot make the call; the next one it can. */
static void absent_body(ndr_comm *comm, void *user) {
  share *own = (share *)user + comm->rank;
  if (comm->rank == 3)
    own->status = ndr_comm_agree(comm, NDR_ERR_FILE, no_file);
  else
    own->status = ndreduce_parts(comm, own->problem, own->part, own->offset, own->results, &own->options);
  if (own->status != NDR_ERR_FILE || !strstr(ndr_last_error(), "no file (rank 3 of 7)")) {
    snprintf(own->sentence, sizeof own->sentence, "'%s'", ndr_last_error());
    own->status = NDR_ERR_CANCELLED;
    return;
  }
  parts_body(comm, user);
}

START_TEST(who_cannot_make_a_call_agrees_in_its_place) {
  for (uint64_t seed = 0; seed < 20; seed++) {
    twelve t;
    DLTensor result = result_of(&kept, NDR_F32), *results[] = {&result};
    make_twelve(&t, MOST_RANKS, "sum f32 [12] /0", results);
    ck_assert_int_eq(threads_run(MOST_RANKS, seed, absent_body, t.shares, NULL), 0);
    assert_shares(t.shares, MOST_RANKS, NDR_OK, "");
    ck_assert(kept == 36);
  }
}
END_TEST

START_TEST(comms_that_are_none_are_refused) {
  twelve t;
  ndr_comm comm = NDR_COMM_INIT;
  DLTensor result = result_of(&kept, NDR_F32), *results[] = {&result};
  make_twelve(&t, 1, "sum f32 [12] /0", results);
  assert_fails(ndreduce_parts(NULL, &t.problem, &t.parts[0], t.offset, results, NULL), NDR_ERR_ARGUMENT, "comm");
  assert_fails(ndr_comm_agree(NULL, NDR_OK, NULL), NDR_ERR_ARGUMENT, "comm");
  comm.ranks = 2;
  assert_fails(ndreduce_parts(&comm, &t.problem, &t.parts[0], t.offset, results, NULL), NDR_ERR_ARGUMENT, "comm.send");
  comm.ranks = 1, comm.rank = 1;
  assert_fails(ndr_comm_agree(&comm, NDR_OK, NULL), NDR_ERR_ARGUMENT, "rank 1 of 1");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("api ranks");
  suite_case(suite, "parts", 300, parts_give_the_result_of_the_whole, NULL);
  suite_case(suite, "by hand", 60, several_statistics_of_numbers, each_rank_but_the_first_sends_its_states_once,
             no_elements_anywhere_are_as_they_are_to_ndreduce, NULL);
  suite_case(suite, "errors", 120, who_is_given_nonsense_makes_all_fail, different_problems_are_refused,
             operands_are_refused, comms_that_are_none_are_refused, NULL);
  suite_case(suite, "agreement", 60, ranks_agree_on_a_status_and_its_sentence,
             who_cannot_make_a_call_agrees_in_its_place, NULL);
  return suite_run(suite);
}
