/* See operator_text.h. */
#include "common/operator_text.h"

#include <ctype.h>
#include <string.h>

void ndr_operator_text_drop_unread(char *text, ndr_op op) {
  char *at = text + strcspn(text, ",;)");
  for (int array = 1; *at == ','; array++) {
    size_t length = 1 + strcspn(at + 1, ",;)");
    if (ndr_operator_reads(op, array))
      at += length;
    else
      memmove(at, at + length, strlen(at + length) + 1);
  }
}

int ndr_expression_word(const char **text, const char **word) {
  const char *at = *text;
  while (*at && *at != '_' && !isalpha((unsigned char)*at))
    if (isdigit((unsigned char)*at++)) /* a number, and all of it */
      while (isalnum((unsigned char)*at) || *at == '.') at++;
  *word = at;
  while (isalnum((unsigned char)*at) || *at == '_') at++;
  *text = at;
  return (int)(at - *word);
}

bool ndr_expression_word_is(const char *word, int length, const char *name) {
  return (int)strlen(name) == length && strncmp(word, name, (size_t)length) == 0;
}

bool ndr_expression_is_builtin(const char *word, int length) {
  const char *behind = word + length;
  return behind[strspn(behind, " \t")] == '(' || ndr_expression_word_is(word, length, "inf") ||
         ndr_expression_word_is(word, length, "nan");
}

bool ndr_expression_has_name(const char *text, const char *name) {
  const char *word;
  for (int length; (length = ndr_expression_word(&text, &word)) > 0;)
    if (ndr_expression_word_is(word, length, name) && !ndr_expression_is_builtin(word, length)) return true;
  return false;
}
