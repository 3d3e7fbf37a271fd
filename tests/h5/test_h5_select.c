/* Parts of datasets as they are written between brackets; what coordinates select is tested in test_h5_value_range.c.
 */
#include "h5/file/select.h"
#include "support/cases.h"
#include "support/suite.h"

static const int64_t shape[] = {10, 1, 25};

static void check(const char *text, int d, int64_t from, int64_t step, int64_t count) {
  ndr_selection parts[3];
  assert_ok(ndr_select_parse(text, 3, shape, NULL, parts));
  ck_assert_msg(parts[d].from == from && parts[d].step == step && parts[d].count == count, "%s: %lld, %lld, %lld", text,
                (long long)parts[d].from, (long long)parts[d].step, (long long)parts[d].count);
}

START_TEST(ranges_are_pythons) {
  check(":", 0, 0, 1, 10);
  check("2:", 0, 2, 1, 8);
  check(":3", 0, 0, 1, 3);
  check("::4", 0, 0, 4, 3);
  check("1:10:3", 0, 1, 3, 3);
  check("-3:", 0, 7, 1, 3);
  check(":-3", 0, 0, 1, 7);
  check("-100:100", 0, 0, 1, 10);
  check("5:5", 0, 5, 1, 0);
  check("7:2", 0, 7, 1, 0);
  check(" 1 : 4 : 2 ", 0, 1, 2, 2);
}
END_TEST

START_TEST(an_index_keeps_its_dim) {
  check("3", 0, 3, 1, 1);
  check("-1", 0, 9, 1, 1);
  check("0, 0, 24", 2, 24, 1, 1);
}
END_TEST

START_TEST(a_step_past_the_end_is_one) {
  check("::9223372036854775807", 0, 0, 1, 1);
  check("3::4611686018427387904", 0, 3, 1, 1);
  check("10::9223372036854775807", 0, 10, 1, 0);
  check("::9", 0, 0, 9, 2);
}
END_TEST

START_TEST(dims_not_mentioned_are_whole) {
  check("3", 2, 0, 1, 25);
  check("..., 5:7", 2, 5, 1, 2);
  check("..., 5:7", 0, 0, 1, 10);
  check("2, ..., 5:7", 0, 2, 1, 1);
  check("2, 0, ..., 5:7", 2, 5, 1, 2);
  check("...", 1, 0, 1, 1);
}
END_TEST

START_TEST(what_is_no_part_is_refused) {
  static const char *const nonsense[] = {
      "", "a", "1,", ",", "1 2", "0:1:2:3", "0:5:0", "0:5:-1", "...,...", "... 1", "99999999999999999999"};
  ndr_selection parts[3];
  for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++)
    ck_assert_msg(ndr_select_parse(nonsense[i], 3, shape, NULL, parts) == NDR_ERR_PARSE, "'%s'", nonsense[i]);
  assert_fails(ndr_select_parse("10", 3, shape, NULL, parts), NDR_ERR_DIMS, "out of range");
  assert_fails(ndr_select_parse("-11", 3, shape, NULL, parts), NDR_ERR_DIMS, "out of range");
  assert_fails(ndr_select_parse("0,0,0,0", 3, shape, NULL, parts), NDR_ERR_DIMS, "4 entries");
}
END_TEST

static const char *const names[] = {"time", "lat", "lon"};

static void check_named(const char *text, int d, const char *values) {
  ndr_selection parts[3];
  assert_ok(ndr_select_parse(text, 3, shape, names, parts));
  if (!values) {
    ck_assert_msg(!parts[d].values, "%s", text);
    return;
  }
  ck_assert_msg(parts[d].values && parts[d].length == (int)strlen(values) &&
                    strncmp(parts[d].values, values, strlen(values)) == 0,
                "%s: '%.*s'", text, parts[d].length, parts[d].values ? parts[d].values : "");
  ck_assert(parts[d].from == 0 && parts[d].step == 1 && parts[d].count == shape[d]);
}

START_TEST(a_name_stands_before_values) {
  check_named("lon=350:10", 2, "350:10");
  check_named("lon=350:10", 0, NULL);
  check_named("lon=350:10, time = 2001-01:2001-03", 0, " 2001-01:2001-03");
  check_named("2=:,-3=4", 2, ":");
  check_named("2=:,-3=4", 0, "4");
  check_named("1:3,lon=a=b", 2, "a=b");
  check_named("..., 0, time=5:", 0, "5:");
  check_named("lat=", 1, "");
  check("2:4, 2=5:7", 0, 2, 1, 2);
}
END_TEST

START_TEST(what_names_no_dim_is_refused) {
  ndr_selection parts[3];
  assert_fails(ndr_select_parse("lev=1", 3, shape, names, parts), NDR_ERR_DIMS, "no dim is named 'lev'");
  assert_fails(ndr_select_parse("all=1", 3, shape, names, parts), NDR_ERR_DIMS, "no dim is named 'all'");
  assert_fails(ndr_select_parse("3=1", 3, shape, names, parts), NDR_ERR_DIMS, "out of range");
  assert_fails(ndr_select_parse("=1", 3, shape, names, parts), NDR_ERR_PARSE, "lacks the name");
  assert_fails(ndr_select_parse("lat=1,1=2", 3, shape, names, parts), NDR_ERR_PARSE, "dim 1 (lat) is selected twice");
  assert_fails(ndr_select_parse("time=1:,0", 3, shape, names, parts), NDR_ERR_PARSE, "dim 0 (time) is selected twice");
  assert_fails(ndr_select_parse("0,time=1", 3, shape, names, parts), NDR_ERR_PARSE, "dim 0 (time) is selected twice");
  assert_fails(ndr_select_parse("lat=1,", 3, shape, names, parts), NDR_ERR_PARSE, "not a part");
  assert_fails(ndr_select_parse("...=1", 3, shape, names, parts), NDR_ERR_PARSE, "not a part");
}
END_TEST

START_TEST(a_range_with_a_comma_is_refused) {
  ndr_selection parts[3];
  assert_fails(ndr_select_parse("lat=30,60", 3, shape, names, parts), NDR_ERR_PARSE,
               "'lat=30,60' is no range: write lat=30:60");
  assert_fails(ndr_select_parse("..., lat = -30 , -9", 3, shape, names, parts), NDR_ERR_PARSE, "write lat = -30:-9");
  check_named("lat=30:60,9", 1, "30:60");
  check_named("lat=30,3:5", 1, "30");
  check_named("lat=30,lon=5:6,3", 1, "30");
  check_named("9,lat=30", 1, "30");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 select");
  suite_case(suite, "parts", 10, ranges_are_pythons, an_index_keeps_its_dim, a_step_past_the_end_is_one,
             dims_not_mentioned_are_whole, what_is_no_part_is_refused, a_name_stands_before_values,
             what_names_no_dim_is_refused, a_range_with_a_comma_is_refused, NULL);
  return suite_run(suite);
}
