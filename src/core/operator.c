/* The public calls for operators of one's own, and operators in braces, as the mini-language writes them. */
#include "core/operator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/number.h"
#include "core/own_ops.h"
#include "core/text.h"

static ndr_status check_values(const ndr_syntax *syntax, const double *values, int value_count) {
  if (!values && value_count == 0) return NDR_OK;
  if (!values || value_count != syntax->number_count)
    return ndr_fail(NDR_ERR_ARGUMENT, "operator '%.*s' has %d numbers as parameters, %d values were given",
                    syntax->name.length, syntax->name.at, syntax->number_count, values ? value_count : 0);
  return NDR_OK;
}

/* Parses; the printed form must not be too long either, so that it can be parsed. */
static ndr_status parse(const char *text, size_t begin, size_t end, ndr_syntax **syntax) {
  size_t length = 0;
  NDR_TRY(ndr_syntax_parse(text, begin, end, syntax));
  ndr_syntax_print(*syntax, NULL, 0, &length);
  if (length <= NDR_MAX_OPERATOR_TEXT) return NDR_OK;
  free(*syntax);
  return NDR_FAIL_AT(NDR_ERR_PARSE, text, end, "an operator has at most %d bytes of text, and is printed with %zu",
                     NDR_MAX_OPERATOR_TEXT, length);
}

ndr_status ndr_operator_create(ndr_op *op, const char *text, const double *values, int value_count) {
  if (!op || !text) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_operator_create: null pointer");
  ndr_syntax *syntax;
  NDR_TRY(parse(text, 0, strlen(text), &syntax));
  ndr_status status = check_values(syntax, values, value_count);
  if (status != NDR_OK) {
    free(syntax);
    return status;
  }
  return ndr_own_op_add(syntax, values, NULL, op);
}

ndr_status ndr_operator_bind(ndr_op *bound, ndr_op op, const double *values, int value_count) {
  if (!bound) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_operator_bind: null pointer");
  ndr_own_op *own = ndr_own_op_hold(op);
  if (!own) return ndr_fail(NDR_ERR_OP, "operator number %d is not one of one's own", (int)op);
  ndr_status status = check_values(own->definition->syntax, values, value_count);
  if (status == NDR_OK) status = ndr_own_op_bind(own, values, bound);
  ndr_own_op_release(own);
  return status;
}

int ndr_operator_arrays(ndr_op op) {
  ndr_own_op *own = ndr_own_op_hold(op);
  int count = own ? own->definition->syntax->array_count : ndr_op_valid(op);
  ndr_own_op_release(own);
  return count;
}

int ndr_operator_parameters(ndr_op op) {
  ndr_own_op *own = ndr_own_op_hold(op);
  int count = own ? own->definition->syntax->number_count : 0;
  ndr_own_op_release(own);
  return count;
}

int ndr_operator_parameter(ndr_op op, const char *name, int *count) {
  ndr_own_op *own = name ? ndr_own_op_hold(op) : NULL;
  int first = -1;
  for (int i = 0; own && i < own->definition->syntax->parameter_count; i++) {
    const ndr_syntax_parameter *parameter = &own->definition->syntax->parameters[i];
    if (!ndr_span_is(parameter->name, name)) continue;
    first = parameter->first;
    if (count) *count = parameter->count;
  }
  ndr_own_op_release(own);
  return first;
}

size_t ndr_operator_print(ndr_op op, char *text, size_t capacity) {
  size_t length = 0;
  if (!text) capacity = 0;
  if (capacity) text[0] = 0;
  ndr_own_op *own = ndr_own_op_hold(op);
  if (own) ndr_syntax_print(own->definition->syntax, text, capacity, &length);
  ndr_own_op_release(own);
  return length;
}

void ndr_operator_destroy(ndr_op op) {
  ndr_own_op_remove(op);
}

void ndr_operator_hold(ndr_op op) {
  ndr_own_op_hold(op);
}

void ndr_operator_release(ndr_op op) {
  ndr_own_op *own = ndr_own_op_hold(op);
  ndr_own_op_release(own);
  ndr_own_op_release(own);
}

/* ---- in braces ---- */

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

size_t ndr_operator_print_braced(ndr_op op, char *text, size_t capacity) {
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
  bool integer, negative = text[*at] == '-';
  size_t begin = *at + negative, length = ndr_number_length(text + begin, &integer);
  if (strncmp(text + begin, "inf", 3) == 0 || strncmp(text + begin, "nan", 3) == 0) {
    *value = text[begin] == 'i' ? (double)INFINITY : (double)NAN;
    length = 3;
  } else if (length == 0 || !ndr_number_parse(text + begin, length, value)) {
    return NDR_FAIL_AT(NDR_ERR_PARSE, text, *at, "expected the %s of a parameter", "value");
  }
  if (negative) *value = -*value;
  *at = begin + length;
  return NDR_OK;
}

/* Parses (VALUE, ...). */
static ndr_status parse_values(const ndr_syntax *syntax, const char *text, size_t *at, double *values) {
  if (text[*at] != '(')
    return NDR_FAIL_AT(NDR_ERR_PARSE, text, *at, "expected '(' and the values of %d parameters", syntax->number_count);
  for (int i = 0; i < syntax->number_count; i++) {
    *at = skip_space(text, *at + 1);
    NDR_TRY(parse_value(text, at, &values[i]));
    *at = skip_space(text, *at);
    char expected = i + 1 < syntax->number_count ? ',' : ')';
    if (text[*at] != expected)
      return NDR_FAIL_AT(NDR_ERR_PARSE, text, *at, "expected '%c': the parameters are %d numbers", expected,
                         syntax->number_count);
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
  ndr_status status = ndr_own_op_add(syntax, values, key, op);
  free(key);
  return status;
}

ndr_status ndr_operator_parse_braced(const char **text, ndr_op *op) {
  const char *begin = *text;
  if (*begin != '{') return NDR_FAIL_AT(NDR_ERR_PARSE, begin, 0, "expected '%s'", "{");
  size_t end = strcspn(begin, "}");
  if (!begin[end]) return NDR_FAIL_AT(NDR_ERR_PARSE, begin, end, "expected '%s'", "}");
  ndr_syntax *syntax;
  double values[NDR_MOST_PARAMETERS] = {0};
  NDR_TRY(parse(begin, 1, end, &syntax));
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
