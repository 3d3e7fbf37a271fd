/* What a user types for files, datasets and dims. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "h5/find/path.h"
#include "ndreduce/h5.h"
#include "support/suite.h"

/* The files that are said to exist, one after another in a text, each with a blank behind it. */
static bool is_listed(void *user, const char *text, size_t length) {
  const char *list = user;
  for (const char *at = list; *at;) {
    size_t entry = strcspn(at, " ");
    if (entry == length && memcmp(at, text, length) == 0) return true;
    at += entry + (at[entry] == ' ');
  }
  return false;
}

static void assert_split(const char *files, const char *text, const char *file, const char *dataset) {
  const char *rest = "untouched";
  char list[64];
  snprintf(list, sizeof list, "%s", files);
  size_t length = ndr_path_split(text, is_listed, list, &rest);
  if (!file) {
    ck_assert_uint_eq(length, 0);
    return;
  }
  ck_assert_uint_eq(length, strlen(file));
  ck_assert_int_eq(strncmp(text, file, length), 0);
  ck_assert_pstr_eq(rest, dataset);
}

START_TEST(the_longest_file_wins) {
  assert_split("a.nc ", "a.nc", "a.nc", NULL);
  assert_split("a.nc ", "a.nc:/x/y", "a.nc", "/x/y");
  assert_split("a.nc ", "a.nc/x/y", "a.nc", "/x/y");
  assert_split("a.nc ", "a.nc:x", "a.nc", "x");
  assert_split("a.nc ", "a.nc:", "a.nc", NULL);
  assert_split("a.nc ", "a.nc/", "a.nc", "/");
  assert_split("d/a.nc ", "d/a.nc/x", "d/a.nc", "/x");
  assert_split("a a:b ", "a:b:/x", "a:b", "/x");
  assert_split("a a:b a:b/c ", "a:b/c/d:e", "a:b/c", "/d:e");
  assert_split("a ", "a:b:/x", "a", "b:/x");
  assert_split("a ", "a://x", "a", "//x");
  assert_split("a ", "b:/x", NULL, NULL);
  assert_split("a ", "ab/x", NULL, NULL);
  assert_split("a ", "/a", NULL, NULL);
  assert_split("a ", ":", NULL, NULL);
}
END_TEST

START_TEST(a_missing_file_is_named_as_meant) {
  ck_assert_uint_eq(ndr_path_guess("a.nc:/x"), 4);
  ck_assert_uint_eq(ndr_path_guess("d/a.nc/x"), 8);
  ck_assert_uint_eq(ndr_path_guess("a:b"), 3);
  ck_assert_uint_eq(ndr_path_guess(":/x"), 3);
}
END_TEST

START_TEST(files_are_looked_up) {
  char name[] = "/tmp/ndreduce-test-XXXXXX", text[64], *file, *dataset;
  close(mkstemp(name));
  snprintf(text, sizeof text, "%s:group/x", name);
  assert_ok(ndr_h5_split(text, &file, &dataset));
  ck_assert_str_eq(file, name);
  ck_assert_str_eq(dataset, "/group/x");
  free(file);
  free(dataset);
  unlink(name);
  assert_fails(ndr_h5_split(text, &file, &dataset), NDR_ERR_FILE, "No such file");
  ck_assert_ptr_null(file);
  assert_fails(ndr_h5_split("/tmp", &file, &dataset), NDR_ERR_FILE, "folder");
  assert_fails(ndr_h5_split("", &file, &dataset), NDR_ERR_ARGUMENT, "empty");
  assert_fails(ndr_h5_split(NULL, &file, &dataset), NDR_ERR_ARGUMENT, "empty");
}
END_TEST

static const char *const names[] = {"time", "lat", "lon", NULL};

static void assert_dims(const char *text, int count, const int *expected) {
  int dims[4], dim_count = -1;
  assert_ok(ndr_h5_dims_parse(text, 4, names, &dim_count, dims));
  ck_assert_int_eq(dim_count, count);
  for (int i = 0; i < count; i++) ck_assert_int_eq(dims[i], expected[i]);
}

START_TEST(dims_by_number_and_name) {
  assert_dims("all", NDR_DIMS(0, 1, 2, 3));
  assert_dims("0", NDR_DIMS(0));
  assert_dims("-1,0", NDR_DIMS(3, 0));
  assert_dims("+2", NDR_DIMS(2));
  assert_dims("lon,time", NDR_DIMS(2, 0));
  assert_dims(" lat ,\t3 ", NDR_DIMS(1, 3));
  assert_dims("3,2,1,0", NDR_DIMS(3, 2, 1, 0));
}
END_TEST

START_TEST(bad_dims_are_refused) {
  static const char *const twins[] = {"n", "n"};
  int dims[4], count = -1;
  assert_fails(ndr_h5_dims_parse("4", 4, names, &count, dims), NDR_ERR_DIMS, "dim 4 ");
  assert_fails(ndr_h5_dims_parse("-5", 4, names, &count, dims), NDR_ERR_DIMS, "dim -5 ");
  assert_fails(ndr_h5_dims_parse("99999999999999999999", 4, names, &count, dims), NDR_ERR_DIMS, "99999");
  assert_fails(ndr_h5_dims_parse("depth", 4, names, &count, dims), NDR_ERR_DIMS, "time, lat, lon");
  assert_fails(ndr_h5_dims_parse("1x", 4, names, &count, dims), NDR_ERR_DIMS, "'1x'");
  assert_fails(ndr_h5_dims_parse("-", 4, names, &count, dims), NDR_ERR_DIMS, "'-'");
  assert_fails(ndr_h5_dims_parse("lat,1", 4, names, &count, dims), NDR_ERR_DIMS, "twice");
  assert_fails(ndr_h5_dims_parse("0,-4", 4, names, &count, dims), NDR_ERR_DIMS, "twice");
  assert_fails(ndr_h5_dims_parse("0,0,0,0,0,0", 4, names, &count, dims), NDR_ERR_DIMS, "twice");
  assert_fails(ndr_h5_dims_parse("n", 2, twins, &count, dims), NDR_ERR_DIMS, "both");
  assert_fails(ndr_h5_dims_parse("0", 0, NULL, &count, NULL), NDR_ERR_DIMS, "has no dim 0: it is a single element");
  assert_fails(ndr_h5_dims_parse("x", 4, NULL, &count, dims), NDR_ERR_DIMS, "no names");
  ck_assert_int_eq(count, -1);
}
END_TEST

START_TEST(text_that_is_no_list_is_refused) {
  static const char *const texts[] = {"", ",", "0,", ",0", "0,,1", " ", "time, ,lat"};
  int dims[4], count;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    assert_fails(ndr_h5_dims_parse(texts[i], 4, names, &count, dims), NDR_ERR_PARSE, "empty");
    assert_fails(ndr_h5_dims_parse(texts[i], 0, NULL, &count, NULL), NDR_ERR_PARSE, "empty");
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 names");
  suite_case(suite, "paths", 10, the_longest_file_wins, a_missing_file_is_named_as_meant, files_are_looked_up, NULL);
  suite_case(suite, "dims", 10, dims_by_number_and_name, bad_dims_are_refused, text_that_is_no_list_is_refused, NULL);
  return suite_run(suite);
}
