/* The words of expressions (common/operator_text.h), as conditions are read by them. */
#include <stdio.h>
#include <stdlib.h>

#include "common/operator_text.h"
#include "support/suite.h"

/* Finds the words, with a blank behind each, and "+" behind those that are builtin. The text is in memory of its own
 * size, so that a sanitizer sees a byte that is read behind it. */
static void assert_words(const char *given, const char *wanted) {
  char *text = strdup(given), found[256] = "";
  const char *rest = text, *word;
  size_t used = 0;
  for (int length; (length = ndr_expression_word(&rest, &word)) > 0;)
    used += (size_t)snprintf(found + used, sizeof found - used, "%.*s%s ", length, word,
                             ndr_expression_is_builtin(word, length) ? "+" : "");
  ck_assert_str_eq(found, wanted);
  ck_assert_ptr_eq(rest, text + strlen(text));
  free(text);
}

START_TEST(letters_of_numbers_are_no_words) {
  assert_words("", "");
  assert_words("x > 273.15 && land", "x land ");
  assert_words("x>1e-3*y_2", "x y_2 ");
  assert_words("1.5E+3 - e", "e ");
  assert_words(".5e3-y", "y ");
  assert_words("2-y", "y ");
  assert_words("x > 1e", "x ");
  assert_words("x > 1e-", "x ");
  assert_words("_a+0x1f", "_a ");
}
END_TEST

START_TEST(functions_and_values_are_builtin) {
  assert_words("sqrt (x) < inf || index(0) == nan", "sqrt+ x inf+ index+ nan+ ");
  assert_words("info > sqrt", "info sqrt ");
}
END_TEST

START_TEST(names_are_whole_words) {
  ck_assert(ndr_expression_has_name("x > land", "land"));
  ck_assert(!ndr_expression_has_name("x > land", "lan"));
  ck_assert(!ndr_expression_has_name("x > lan", "land"));
  ck_assert(!ndr_expression_has_name("index(0) > 1e3", "index"));
  ck_assert(!ndr_expression_has_name("1e3", "e3"));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 expression");
  suite_case(suite, "words", 10, letters_of_numbers_are_no_words, functions_and_values_are_builtin,
             names_are_whole_words, NULL);
  return suite_run(suite);
}
