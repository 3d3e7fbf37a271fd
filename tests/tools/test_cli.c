/* What the tools share: JSON, and texts made visible. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../tools/cli/json.c"    /* NOLINT(bugprone-suspicious-include): the tools are no library */
#include "../../tools/cli/visible.c" /* NOLINT(bugprone-suspicious-include) */
#include "support/suite.h"

static char *written;
static size_t length;

static FILE *begin(void) {
  FILE *to = open_memstream(&written, &length);
  ck_assert_ptr_nonnull(to);
  return to;
}

static void assert_written(FILE *to, const char *expected) {
  ck_assert_int_eq(fclose(to), 0);
  ck_assert_str_eq(written, expected);
  free(written);
}

START_TEST(commas_stand_between_entries) {
  FILE *to = begin();
  json j = json_begin(to, false);
  json_open(&j, NULL, '{');
  json_open(&j, "none", '[');
  json_close(&j, ']');
  json_open(&j, "pairs", '[');
  for (int i = 0; i < 2; i++) {
    json_open(&j, NULL, '[');
    json_integer(&j, NULL, i);
    json_bool(&j, NULL, i == 0);
    json_close(&j, ']');
  }
  json_close(&j, ']');
  json_text(&j, "name", NULL);
  json_close(&j, '}');
  assert_written(to, "{\"none\":[],\"pairs\":[[0,true],[1,false]],\"name\":null}");
}
END_TEST

START_TEST(lines_begin_where_they_are_told_to) {
  FILE *to = begin();
  json j = json_begin(to, true);
  json_open(&j, NULL, '{');
  json_line(&j, 2);
  json_number(&j, "a", 0.1);
  json_number(&j, "b", NAN);
  json_line(&j, 2);
  json_literal(&j, "c", "1e999");
  json_line(&j, 0);
  json_close(&j, '}');
  assert_written(to, "{\n  \"a\": 0.1, \"b\": null,\n  \"c\": 1e999\n}");
}
END_TEST

START_TEST(json_texts_are_escaped) {
  FILE *to = begin();
  json j = json_begin(to, false);
  json_text(&j, NULL, "a\"\\\n\x7f\xc2\x9b\xc3\xa9\xff");
  assert_written(to, "\"a\\\"\\\\\\u000a\\u007f\\u009b\xc3\xa9\\ufffd\"");
}
END_TEST

START_TEST(visible_texts_cannot_steer_a_terminal) {
  FILE *to = begin();
  cli_print_visible("a\x1b[m\x7f\xc2\x9b\xc3\xa9\x9b\xff\xed\xa0\x80", to);
  assert_written(to, "a\\x1b[m\\x7f\\xc2\\x9b\xc3\xa9\\x9b\\xff\\xed\\xa0\\x80");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cli");
  suite_case(suite, "texts", 60, commas_stand_between_entries, lines_begin_where_they_are_told_to,
             json_texts_are_escaped, visible_texts_cannot_steer_a_terminal, NULL);
  return suite_run(suite);
}
