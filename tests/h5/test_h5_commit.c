/* A writer ends with its first commit, and takes no name that a file of results cannot have. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/h5_any.h"
#include "support/suite.h"

static ndr_h5_dataset *source; /* /x, [3] of i64 */
static ndr_h5_writer *writer;
static ndr_h5_writer_options how;
static int64_t sums[3] = {5, 7, 9};
static const ndr_op sum = NDR_SUM;

static void set_up(void) {
  DLTensor x = ndr_tensor(sums, NDR_I64, NDR_SHAPE(3));
  h5_make_folder();
  h5_write(h5_input, &x, NDR_I64, H5P_DEFAULT);
  assert_ok(ndr_h5_open(&source, h5_input, "/x", NULL));
  how = (ndr_h5_writer_options)NDR_H5_WRITER_OPTIONS_INIT;
}

static void tear_down(void) {
  ndr_h5_close(source);
  h5_remove_folder();
}

static ndr_status add(const char *name) {
  DLTensor result = ndr_tensor(sums, NDR_I64, NDR_SHAPE(3));
  return ndr_h5_writer_add(writer, source, h5_problem(source, 0, NULL, 1, &sum), 0, name, &result);
}

static ndr_status add_located(void) {
  double places[3] = {0, 1, 2};
  DLTensor located = ndr_tensor(places, NDR_F64, NDR_SHAPE(3));
  return ndr_h5_writer_add_located(writer, source, h5_problem(source, 0, NULL, 1, &sum), 0, "late", &located);
}

/* Every call fails so, in a sentence that names the output, and leaves it as it is. */
static void assert_ended(ndr_status status) {
  assert_fails(add("late"), status, h5_output);
  assert_fails(add_located(), status, h5_output);
  assert_fails(ndr_h5_writer_commit(writer), status, h5_output);
  assert_fails(ndr_h5_writer_commit_bytes(writer, "more", 4), status, h5_output);
}

/* Its descriptor is then that of the published file: a second commit would write there. */
START_TEST(a_writer_commits_once) {
  set_up();
  for (how.overwrite = 0; how.overwrite < 2; how.overwrite++) {
    assert_ok(ndr_h5_writer_create(&writer, h5_output, 0, NULL, &how));
    assert_ok(ndr_h5_writer_commit_bytes(writer, "text", 4));
    assert_ended(NDR_ERR_ARGUMENT);
    assert_holds(h5_output, "text");
    ndr_h5_writer_destroy(writer);
  }
  tear_down();
}
END_TEST

START_TEST(a_commit_that_fails_is_not_tried_again) {
  set_up();
  assert_ok(ndr_h5_writer_create(&writer, h5_output, 0, NULL, NULL));
  assert_ok(add("x"));
  put_text(h5_output, "theirs");
  assert_fails(ndr_h5_writer_commit(writer), NDR_ERR_FILE, "exists");
  unlink(h5_output);
  assert_ended(NDR_ERR_ARGUMENT);
  ndr_h5_writer_destroy(writer);
  ck_assert_int_ne(access(h5_output, F_OK), 0);
  tear_down();
}
END_TEST

static int stop_at_once(void *user, int64_t bytes, int64_t total_bytes) {
  ck_assert(bytes > 0 && bytes <= total_bytes);
  ++*(int *)user;
  return 1;
}

START_TEST(writing_can_be_stopped) {
  set_up();
  int calls = 0;
  how.on_progress = stop_at_once;
  how.user = &calls;
  assert_ok(ndr_h5_writer_create(&writer, h5_output, 0, NULL, &how));
  assert_fails(ndr_h5_writer_commit_bytes(writer, "text", 4), NDR_ERR_CANCELLED, h5_output);
  assert_ended(NDR_ERR_CANCELLED);
  ck_assert_int_eq(calls, 1);
  ndr_h5_writer_destroy(writer);
  ck_assert_int_ne(access(h5_output, F_OK), 0);
  tear_down();
}
END_TEST

START_TEST(names_that_are_no_names_are_refused) {
  set_up();
  assert_ok(ndr_h5_writer_create(&writer, h5_output, 0, NULL, NULL));
  assert_fails(add(""), NDR_ERR_ARGUMENT, h5_output);
  assert_fails(add("."), NDR_ERR_ARGUMENT, "'.'");
  assert_fails(add("a/"), NDR_ERR_ARGUMENT, "'a/'");
  assert_fails(add("/a"), NDR_ERR_ARGUMENT, "'/a'");
  assert_fails(add("a/./b"), NDR_ERR_ARGUMENT, "'a/./b'");
  assert_ok(add("a/b"));
  assert_ok(add("a.b"));
  ndr_h5_writer_destroy(writer);
  tear_down();
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 commit");
  suite_case(suite, "commit", 10, a_writer_commits_once, a_commit_that_fails_is_not_tried_again, writing_can_be_stopped,
             names_that_are_no_names_are_refused, NULL);
  return suite_run(suite);
}
