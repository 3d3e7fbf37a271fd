/* Reductions of a dataset by the ranks of a comm: the same bits as by one process, whatever the number of ranks, their
 * memory and threads, and the order in which letters come; and one sentence for all where one of them fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "h5/ranks/deal.h"
#include "h5/run/job/job.h"
#include "h5/run/job/stages.h"
#include "support/array.h"
#include "support/h5_any.h"
#include "support/suite.h"
#include "support/threads_comm.h"

enum { MOST_RANKS = 1024, SOME_RANKS = 64 };

/* ---- One reduction by all --------------------------------------------------------------------------------------- */

/* What the ranks do, and the status and sentence of each. */
typedef struct {
  const char *path;
  const ndr_problem *problem;
  const char *path_of_last; /* of the last rank, if not NULL */
  ndr_h5_options how;
  uint64_t seed;
  int failing;        /* the rank that fails; -1: none */
  int idle;           /* 1 + the rank that agrees in place of the reduction; 0: none */
  DLTensor **results; /* rank 0's */
  ndr_status statuses[MOST_RANKS];
  char sentences[MOST_RANKS][512];
} work;

/* Memory and threads are each rank's own. */
static ndr_status reduce_as(const work *w, ndr_comm *comm, int failing) {
  rng random = {w->seed + (uint64_t)comm->rank * 7919};
  ndr_h5_options how = w->how;
  ndr_h5_dataset *dataset;
  how.comm = comm;
  how.threads = (int)rng_between(&random, 1, 3);
  how.memory = (int64_t)1 << rng_between(&random, 20, 26);
  bool last = comm->rank == comm->ranks - 1;
  if (comm->rank != failing) how.on_progress = NULL;
  if (comm->rank == w->idle - 1) return ndr_comm_agree(comm, NDR_OK, NULL);
  ndr_status status = ndr_h5_open(&dataset, last && w->path_of_last ? w->path_of_last : w->path, NULL, NULL);
  if (status == NDR_OK && comm->rank == failing && !how.on_progress) {
    ndr_h5_close(dataset);
    return ndr_comm_agree(comm, NDR_ERR_FILE, "the disk is full of sand");
  }
  if (status == NDR_OK) status = ndr_h5_reduce(dataset, w->problem, comm->rank == 0 ? w->results : NULL, &how);
  ndr_h5_close(dataset);
  return status;
}

static void body(ndr_comm *comm, void *user) {
  work *w = user;
  w->statuses[comm->rank] = reduce_as(w, comm, w->failing);
  snprintf(w->sentences[comm->rank], sizeof w->sentences[0], "%s", ndr_last_error());
}

/* All ranks end with the status `wanted`, and no message is left. */
static void run_counted(work *w, int ranks, ndr_status wanted, threads_sent *sent) {
  int64_t left = threads_run(ranks, w->seed, body, w, sent);
  for (int i = 0; i < ranks; i++)
    ck_assert_msg(w->statuses[i] == wanted, "rank %d of %d: %d, %s", i, ranks, w->statuses[i], w->sentences[i]);
  ck_assert_int_eq(left, 0);
}

static void run(work *w, int ranks, ndr_status wanted) {
  run_counted(w, ranks, wanted, NULL);
}

/* ---- Any dataset ------------------------------------------------------------------------------------------------ */

static void assert_same(const test_array *one, const test_array *other, const ndr_problem *problem, int ranks) {
  const char *a = (const char *)one->tensor.data + one->tensor.byte_offset;
  const char *b = (const char *)other->tensor.data + other->tensor.byte_offset;
  int64_t bytes = array_count(&one->tensor) * (one->tensor.dtype.bits / 8);
  ck_assert_msg(bytes == 0 || memcmp(a, b, (size_t)bytes) == 0, "%s by %d ranks", case_text(problem), ranks);
}

/* One process and several numbers of ranks give the same bits. */
static void check_ranks(const char *path, const ndr_problem *problem, const ndr_h5_options *how, rng *random) {
  test_array alone[NDR_MAX_OPS], together[NDR_MAX_OPS];
  DLTensor *results[NDR_MAX_OPS];
  ndr_h5_dataset *dataset;
  h5_make_results(problem, alone, results);
  assert_ok(ndr_h5_open(&dataset, path, NULL, NULL));
  assert_ok(ndr_h5_reduce(dataset, problem, results, how));
  ndr_h5_close(dataset);
  for (int i = 0; i < 3; i++) {
    int ranks = rng_once_in(random, 8) ? SOME_RANKS : (int)rng_between(random, 2, 7);
    work w = {path, problem, NULL, *how, rng_next(random), -1, 0, results, {0}, {""}};
    h5_make_results(problem, together, results);
    run(&w, ranks, NDR_OK);
    for (int k = 0; k < problem->op_count; k++) {
      assert_same(&alone[k], &together[k], problem, ranks);
      array_free(&together[k]);
    }
  }
  for (int k = 0; k < problem->op_count; k++) array_free(&alone[k]);
}

/* Small cells make many pieces. A piece has 64 elements of each output, so that cases with few outputs have most. */
START_TEST(any_number_of_ranks_gives_the_same_bits) {
  rng random = {test_seed()};
  const ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  h5_make_folder();
  for (int i = 0; i < test_case_count(120); i++) {
    ndr_problem problem = NDR_PROBLEM_INIT;
    ndr_first_shift = (int)rng_between(&random, 8, 16);
    h5_write_any(&random, h5_input, 40000, &problem);
    check_ranks(h5_input, &problem, &how, &random);
  }
  ndr_first_shift = 0;
  unlink(h5_input);
  h5_remove_folder();
}
END_TEST

/* ---- Groups ----------------------------------------------------------------------------------------------------- */

/* Groups of packed elements, some missing: in few stages, which are divided, and in many, which are not. */
START_TEST(stages_give_the_same_bits) {
  rng random = {test_seed()};
  ndr_h5_dataset *dataset;
  h5_make_folder();
  h5_write_packed(h5_input);
  assert_ok(ndr_h5_open(&dataset, h5_input, NULL, NULL));
  for (int i = 0; i < test_case_count(24); i++) {
    ndr_h5_options how = NDR_H5_OPTIONS_INIT;
    ndr_h5_groups *groups;
    const ndr_op ops[] = {NDR_MEAN, NDR_VAR};
    ndr_first_shift = (int)rng_between(&random, 10, 16);
    ndr_stage_bytes = rng_once_in(&random, 3) ? 4000 : 1;
    assert_ok(ndr_h5_groups_windows(&groups, dataset, 0, rng_between(&random, 1, 12), NDR_REST_PAD));
    how.groups = groups;
    ndr_problem problem = *h5_problem(dataset, 1, (int[]){(int)rng_between(&random, 0, 2)}, 2, ops);
    assert_ok(ndr_h5_problem_operands(&problem, dataset, &how));
    check_ranks(h5_input, &problem, &how, &random);
    ndr_h5_groups_destroy(groups);
  }
  ndr_first_shift = 0;
  ndr_stage_bytes = -1;
  ndr_h5_close(dataset);
  h5_remove_folder();
}
END_TEST

/* ---- Many ranks ------------------------------------------------------------------------------------------------- */

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* How many messages many-machines.md lets the ranks of one stage send. For each rank but 0: job, last report, END,
 * OUTCOME, a last question, and the answer that no range is left; COUNT and DONE, if it ends before all letters to it
 * have come. One more report for each quarter of a second. A question and an answer for each range that is handed out,
 * unless it is rank 0's. The states of each piece, unless its rank owns the output. */
START_TEST(a_thousand_ranks_send_what_the_model_says) {
  enum { RANKS = 1024, PIECES = 4096, HANDED_OUT = PIECES / 2, ELEMENTS = PIECES * 64 };
  static double numbers[ELEMENTS];
  static threads_sent sent[RANKS];
  double sum;
  const ndr_op op = NDR_SUM;
  DLTensor tensor = ndr_tensor(numbers, NDR_F64, NDR_SHAPE(ELEMENTS)), result = ndr_tensor(&sum, NDR_F64, 0, NULL);
  for (int i = 0; i < ELEMENTS; i++) numbers[i] = i;
  h5_make_folder();
  ndr_h5_dataset *dataset = h5_open_written(h5_input, &tensor, NDR_F64, NULL);
  ndr_problem problem = *h5_problem(dataset, 1, (int[]){0}, 1, &op);
  ndr_h5_close(dataset);
  work w = {.path = h5_input, .problem = &problem, .how = NDR_H5_OPTIONS_INIT, .failing = -1};
  w.results = (DLTensor *[]){&result};
  ndr_first_shift = 14;
  double begin = seconds();
  run_counted(&w, RANKS, NDR_OK, sent);
  double took = seconds() - begin;
  ndr_first_shift = 0;
  int64_t messages = 0, bytes = 0, reports = (int64_t)(took / 0.25) + 1;
  for (int i = 0; i < RANKS; i++) messages += sent[i].messages, bytes += sent[i].bytes;
  int64_t least = (int64_t)(RANKS - 1) * 6 + PIECES / 2;
  int64_t most = (int64_t)(RANKS - 1) * (8 + reports) + (int64_t)2 * HANDED_OUT + PIECES;
  ck_assert_msg(least <= messages && messages <= most, "%lld messages, not %lld to %lld", (long long)messages,
                (long long)least, (long long)most);
  ck_assert(sum == (double)ELEMENTS * (ELEMENTS - 1) / 2);
  printf("%d ranks: %lld messages of %lld bytes in %.1f s\n", RANKS, (long long)messages, (long long)bytes, took);
  h5_remove_folder();
}
END_TEST

/* ---- Failures --------------------------------------------------------------------------------------------------- */

enum { ROWS = 4000, COLUMNS = 4 };

static double values[ROWS][COLUMNS];

/* chunk: NULL for a contiguous dataset. */
static void write_rows(const char *path, const hsize_t *chunk) {
  DLTensor tensor = ndr_tensor(values, NDR_F64, NDR_SHAPE(ROWS, COLUMNS));
  h5_make_folder();
  ndr_h5_close(h5_open_written(path, &tensor, NDR_F64, chunk));
}

static void write_deflated_rows(const char *path) {
  DLTensor tensor = ndr_tensor(values, NDR_F64, NDR_SHAPE(ROWS, COLUMNS));
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  h5_make_folder();
  H5Pset_chunk(creation, 2, (const hsize_t[]){50, COLUMNS});
  H5Pset_deflate(creation, 1);
  h5_write(path, &tensor, NDR_F64, creation);
  H5Pclose(creation);
}

/* Where in the file the chunk begins that has this row. */
static long chunk_offset(const char *path, hsize_t row) {
  haddr_t at;
  hsize_t bytes;
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), data = H5Dopen2(file, "x", H5P_DEFAULT);
  ck_assert_int_ge(H5Dget_chunk_info_by_coord(data, (const hsize_t[]){row, 0}, NULL, &at, &bytes), 0);
  H5Dclose(data);
  H5Fclose(file);
  return (long)at;
}

/* Writes 8 bytes, and keeps those that were there. */
static void swap_bytes(const char *path, long at, char *bytes) {
  char before[8];
  FILE *bare = fopen(path, "r+b");
  fseek(bare, at, SEEK_SET);
  ck_assert_uint_eq(fread(before, 1, sizeof before, bare), sizeof before);
  fseek(bare, at, SEEK_SET);
  fwrite(bytes, 1, sizeof before, bare);
  fclose(bare);
  memcpy(bytes, before, sizeof before);
}

/* Sums of the columns fail on all ranks with one sentence, which has these words. */
static void check_failure(work *w, int ranks, ndr_status wanted, const char *words) {
  ndr_h5_dataset *dataset;
  double sums[COLUMNS];
  DLTensor result = ndr_tensor(sums, NDR_F64, NDR_SHAPE(COLUMNS));
  assert_ok(ndr_h5_open(&dataset, w->path, NULL, NULL));
  const ndr_op op = NDR_SUM;
  ndr_problem problem = *h5_problem(dataset, 1, (int[]){0}, 1, &op);
  w->problem = &problem;
  w->results = (DLTensor *[]){&result};
  ndr_first_shift = 14;
  run(w, ranks, wanted);
  ndr_first_shift = 0;
  for (int i = 0; i < ranks; i++) ck_assert_str_eq(w->sentences[i], w->sentences[0]);
  ck_assert_msg(strstr(w->sentences[0], words) != NULL, "%s", w->sentences[0]);
  ndr_h5_close(dataset);
}

START_TEST(a_rank_that_fails_ends_it_for_all) {
  write_rows(h5_input, NULL);
  for (int failing = 0; failing < 5; failing++) {
    work w = {.path = h5_input, .how = NDR_H5_OPTIONS_INIT, .seed = 7, .failing = failing};
    check_failure(&w, 5, NDR_ERR_FILE, "the disk is full of sand");
  }
  h5_remove_folder();
}
END_TEST

static int cancel(void *user, const ndr_h5_progress *progress) {
  (void)user, (void)progress;
  return 1;
}

START_TEST(a_rank_that_is_stopped_ends_it_for_all) {
  write_rows(h5_input, (const hsize_t[]){50, COLUMNS});
  for (int failing = 0; failing < 5; failing++) {
    work w = {.path = h5_input, .how = NDR_H5_OPTIONS_INIT, .seed = 7 + (uint64_t)failing, .failing = failing};
    w.how.on_progress = cancel;
    check_failure(&w, 5, NDR_ERR_CANCELLED, "stopped by on_progress");
  }
  h5_remove_folder();
}
END_TEST

START_TEST(a_rank_that_is_in_another_call_ends_it_for_all) {
  write_rows(h5_input, NULL);
  for (int idle = 0; idle < 5; idle++) {
    work w = {.path = h5_input, .how = NDR_H5_OPTIONS_INIT, .seed = 7, .failing = -1, .idle = 1 + idle};
    check_failure(&w, 5, NDR_ERR_ARGUMENT, "is in another call than rank 0");
  }
  h5_remove_folder();
}
END_TEST

/* All fail in the first call, and then the comm is as good as new. */
static void body_again(ndr_comm *comm, void *user) {
  if (reduce_as(user, comm, comm->ranks / 2) == NDR_ERR_FILE && comm->last == NDR_ERR_FILE) body(comm, user);
}

START_TEST(a_comm_is_good_after_a_failure) {
  ndr_h5_dataset *dataset;
  double sums[COLUMNS];
  const ndr_op op = NDR_SUM;
  DLTensor result = ndr_tensor(sums, NDR_F64, NDR_SHAPE(COLUMNS));
  write_rows(h5_input, (const hsize_t[]){50, COLUMNS});
  assert_ok(ndr_h5_open(&dataset, h5_input, NULL, NULL));
  ndr_problem problem = *h5_problem(dataset, 1, (int[]){0}, 1, &op);
  ndr_h5_close(dataset);
  ndr_first_shift = 14;
  for (uint64_t seed = 0; seed < 8; seed++) {
    work w = {.path = h5_input, .problem = &problem, .how = NDR_H5_OPTIONS_INIT, .seed = seed, .failing = -1};
    w.results = (DLTensor *[]){&result};
    memset(sums, 1, sizeof sums);
    for (int i = 0; i < 5; i++) w.statuses[i] = NDR_ERR_RESULT;
    ck_assert_int_eq(threads_run(5, seed, body_again, &w, NULL), 0);
    for (int i = 0; i < 5; i++) ck_assert_msg(w.statuses[i] == NDR_OK, "rank %d: %s", i, w.sentences[i]);
    for (int i = 0; i < COLUMNS; i++) ck_assert(sums[i] == 0);
  }
  ndr_first_shift = 0;
  h5_remove_folder();
}
END_TEST

/* One chunk of 80 is no stream of deflate: the rank that has it fails, and the others hear of it. */
START_TEST(a_damaged_chunk_is_everyones) {
  write_deflated_rows(h5_input);
  for (hsize_t row = 0; row < ROWS; row += 950) {
    long at = chunk_offset(h5_input, row);
    char bytes[] = "no zlib!";
    swap_bytes(h5_input, at, bytes);
    work w = {.path = h5_input, .how = NDR_H5_OPTIONS_INIT, .seed = row + 1, .failing = -1};
    check_failure(&w, 6, NDR_ERR_FILE, "in.h5:/x: ");
    swap_bytes(h5_input, at, bytes);
  }
  h5_remove_folder();
}
END_TEST

START_TEST(other_files_are_noticed) {
  char other[128];
  write_rows(h5_input, (const hsize_t[]){50, COLUMNS});
  snprintf(other, sizeof other, "%s", h5_output);
  DLTensor tensor = ndr_tensor(values, NDR_F64, NDR_SHAPE(ROWS, COLUMNS));
  ndr_h5_close(h5_open_written(other, &tensor, NDR_F64, (const hsize_t[]){100, COLUMNS}));
  work w = {.path = h5_input, .path_of_last = other, .how = NDR_H5_OPTIONS_INIT, .seed = 5, .failing = -1};
  check_failure(&w, 3, NDR_ERR_ARGUMENT, "rank 2 has another file or another job");
  values[0][0] = 1; /* of the same size and with the same cuts */
  ndr_h5_close(h5_open_written(other, &tensor, NDR_F64, (const hsize_t[]){50, COLUMNS}));
  values[0][0] = 0;
  check_failure(&w, 3, NDR_ERR_ARGUMENT, "rank 2 has another file or another job");
  unlink(other);
  h5_remove_folder();
}
END_TEST

START_TEST(parts_are_refused) {
  write_rows(h5_input, NULL);
  work w = {.path = h5_input, .how = NDR_H5_OPTIONS_INIT, .seed = 5, .failing = -1};
  w.how.part = w.how.part_count = 1;
  check_failure(&w, 2, NDR_ERR_ARGUMENT, "options have both a comm and a part");
  h5_remove_folder();
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 ranks");
  suite_case(suite, "datasets", 120, any_number_of_ranks_gives_the_same_bits, stages_give_the_same_bits, NULL);
  suite_case(suite, "many", 120, a_thousand_ranks_send_what_the_model_says, NULL);
  suite_case(suite, "failures", 30, a_rank_that_fails_ends_it_for_all, a_damaged_chunk_is_everyones,
             other_files_are_noticed, a_rank_that_is_stopped_ends_it_for_all,
             a_rank_that_is_in_another_call_ends_it_for_all, a_comm_is_good_after_a_failure, parts_are_refused, NULL);
  return suite_run(suite);
}
