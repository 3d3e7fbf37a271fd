/* See braced.h. */
#include "lang/braced.h"

#include <stdlib.h>
#include <string.h>

#include "core/number.h"
#include "core/text.h"
#include "lang/parse.h"
#include "lang/print.h"

static size_t print_braced(const ndr_syntax *syntax, const double *values, char *text, size_t capacity) {
  size_t length = 0;
  ndr_text_append(text, capacity, &length, "{");
  ndr_syntax_print(syntax, text, capacity, &length);
  ndr_text_append(text, capacity, &length, "}");
  for (int i = 0; i < syntax->number_count; i++) {
    char number[NDR_NUMBER_TEXT];
    ndr_number_print(values[i], number);
    ndr_text_append(text, capacity, &length, "%s%s", i ? "," : "(", number);
  }
  if (syntax->number_count > 0) ndr_text_append(text, capacity, &length, ")");
  return length;
}

size_t ndr_braced_print(ndr_op op, char *text, size_t capacity) {
  if (!text) capacity = 0;
  if (capacity) text[0] = 0;
  ndr_own_op *own = ndr_own_op_hold(op);
  size_t length = own ? print_braced(own->definition->syntax, own->values, text, capacity) : 0;
  ndr_own_op_release(own);
  return length;
}

static size_t skip_space(const char *text, size_t at) {
  while (text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r')) at++;
  return at;
}

static ndr_status parse_value(const char *text, size_t *at, double *value) {
  const char *why;
  size_t length = ndr_number_take(text + *at, value, &why);
  if (length == 0) return NDR_FAIL_AT(NDR_ERR_PARSE, text, *at, "expected the %s of a parameter", "value");
  if (why) return NDR_FAIL_AT(NDR_ERR_PARSE, text, *at, "%.*s is %s", NDR_NUMBER_SHOWN(length), text + *at, why);
  *at += length;
  return NDR_OK;
}

/* Parses (VALUE, ...). */
static ndr_status parse_values(const ndr_syntax *syntax, const char *text, size_t *at, double *values) {
  if (text[*at] != '(')
    return NDR_FAIL_AT(NDR_ERR_PARSE, text, *at, "expected '(' and the %d number%s of the parameters",
                       syntax->number_count, NDR_PLURAL(syntax->number_count));
  for (int i = 0; i < syntax->number_count; i++) {
    *at = skip_space(text, *at + 1);
    NDR_TRY(parse_value(text, at, &values[i]));
    *at = skip_space(text, *at);
    char expected = i + 1 < syntax->number_count ? ',' : ')';
    if (text[*at] != expected)
      return NDR_FAIL_AT(NDR_ERR_PARSE, text, *at, "expected '%c': the parameters take %d number%s", expected,
                         syntax->number_count, NDR_PLURAL(syntax->number_count));
  }
  ++*at;
  return NDR_OK;
}

/* Gives the syntax with its values its number, and takes it over. */
static ndr_status intern(ndr_syntax *syntax, const double *values, ndr_op *op) {
  size_t length = print_braced(syntax, values, NULL, 0);
  char *key = malloc(length + 1);
  if (!key) {
    free(syntax);
    return ndr_fail(NDR_ERR_MEMORY, "no memory for the text of an operator, %zu bytes", length);
  }
  print_braced(syntax, values, key, length + 1);
  const ndr_definition definition = ndr_syntax_definition(syntax);
  ndr_status status = ndr_own_op_add(&definition, values, key, op);
  free(key);
  return status;
}

ndr_status ndr_braced_parse(const char **text, ndr_op *op) {
  const char *begin = *text;
  if (*begin != '{') return NDR_FAIL_AT(NDR_ERR_PARSE, begin, 0, "expected '%s'", "{");
  size_t end = strcspn(begin, "}");
  if (!begin[end]) return NDR_FAIL_AT(NDR_ERR_PARSE, begin, end, "expected '%s'", "}");
  ndr_syntax *syntax;
  double values[NDR_MOST_PARAMETERS] = {0};
  NDR_TRY(ndr_syntax_parse(begin, 1, end, &syntax));
  size_t at = end + 1;
  ndr_status status = syntax->number_count > 0 ? parse_values(syntax, begin, &at, values) : NDR_OK;
  if (status != NDR_OK) {
    free(syntax);
    return status;
  }
  NDR_TRY(intern(syntax, values, op));
  *text = begin + at;
  return NDR_OK;
}
