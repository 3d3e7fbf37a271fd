/* The text of an operator, NAME(ARRAYS; PARAMETERS): UPDATES -> RESULT, read into a syntax tree. */
#include "lang/parse.h"

#include <stdlib.h>

#include "lang/expression.h"
#include "lang/print.h"
#include "lang/words.h"
#include "ndreduce/operator.h"

static bool is_reserved(ndr_span name) {
  for (int i = 0; i < ndr_word_count; i++)
    if (ndr_words[i].binding == NDR_BIND_PRIMARY && ndr_span_is(name, ndr_words[i].text)) return true;
  return ndr_span_is(name, "inf") || ndr_span_is(name, "nan");
}

/* What a name stands for already, or NULL. */
static const char *taken_by(const ndr_syntax *syntax, ndr_span name) {
  for (int i = 0; i < syntax->array_count; i++)
    if (ndr_span_same(syntax->arrays[i], name)) return "an array";
  for (int i = 0; i < syntax->parameter_count; i++)
    if (ndr_span_same(syntax->parameters[i].name, name)) return "a parameter";
  for (int i = 0; i < syntax->update_count; i++)
    if (ndr_span_same(syntax->updates[i].name, name)) return "a state";
  return NULL;
}

/* Reads the name of something new. */
static bool read_new_name(ndr_reader *r, const char *what, ndr_span *name) {
  *name = ndr_take_name(r);
  if (name->length == 0) {
    NDR_READ_FAIL(r, name->at, "expected the name of %s", what);
    return false;
  }
  const char *taken = taken_by(r->syntax, *name);
  if (taken)
    NDR_READ_FAIL(r, name->at, "'%.*s' is already %s", name->length, name->at, taken);
  else if (is_reserved(*name))
    NDR_READ_FAIL(r, name->at, "'%.*s' is a word of the language, and not the name of %s", name->length, name->at,
                  what);
  return r->status == NDR_OK;
}

/* n is the number of elements: a state may replace it, but an array or a parameter of that name would confuse. */
static bool read_argument_name(ndr_reader *r, const char *what, ndr_span *name) {
  if (!read_new_name(r, what, name)) return false;
  if (!ndr_span_is(*name, "n")) return true;
  NDR_READ_FAIL(r, name->at, "'n' is the number of elements, and not the name of %s", what);
  return false;
}

static void read_arrays(ndr_reader *r) {
  ndr_syntax *syntax = r->syntax;
  do {
    ndr_span name;
    if (!read_argument_name(r, "an array", &name)) return;
    if (syntax->array_count == NDR_MOST_ARRAYS) {
      NDR_READ_FAIL(r, name.at, "an operator has at most %d arrays", NDR_MOST_ARRAYS);
      return;
    }
    syntax->arrays[syntax->array_count++] = name;
  } while (ndr_take(r, ","));
}

static void read_parameters(ndr_reader *r) {
  ndr_syntax *syntax = r->syntax;
  do {
    ndr_syntax_parameter parameter = {.first = syntax->number_count, .count = 1};
    if (!read_argument_name(r, "a parameter", &parameter.name)) return;
    parameter.vector = ndr_take(r, "[");
    if (parameter.vector) {
      const char *place = r->at;
      parameter.count = ndr_read_count(r, NDR_MOST_PARAMETERS, "how many numbers it has");
      if (parameter.count == 0) NDR_READ_FAIL(r, place, "a vector has at least %s", "one number");
      if (r->status != NDR_OK || !ndr_expect(r, "]")) return;
    }
    if (syntax->number_count + parameter.count > NDR_MOST_PARAMETERS) {
      NDR_READ_FAIL(r, parameter.name.at, "parameters have at most %d numbers in all", NDR_MOST_PARAMETERS);
      return;
    }
    syntax->number_count += parameter.count;
    syntax->parameters[syntax->parameter_count++] = parameter;
  } while (ndr_take(r, ","));
}

static const ndr_update_word *take_update_word(ndr_reader *r) {
  for (int i = 0; i < NDR_UPDATE_WORDS; i++)
    if (ndr_take(r, ndr_update_words[i].text)) return &ndr_update_words[i];
  NDR_READ_FAIL(r, r->at, "expected %s", "+=, *=, min=, max=, &= or |=");
  return NULL;
}

static void read_updates(ndr_reader *r) {
  ndr_syntax *syntax = r->syntax;
  do {
    ndr_syntax_update update = {.value = -1};
    if (!read_new_name(r, "a state", &update.name)) return;
    update.column = (int)(update.name.at - syntax->text);
    if (syntax->update_count == NDR_MOST_PARTS) {
      NDR_READ_FAIL(r, update.name.at, "an operator has at most %d updates", NDR_MOST_PARTS);
      return;
    }
    const ndr_update_word *word = take_update_word(r);
    if (!word) return;
    update.op = word->op;
    syntax->updates[syntax->update_count] = update;
    update.value = ndr_read_expression(r);
    if (update.value < 0) return;
    syntax->updates[syntax->update_count++] = update;
  } while (ndr_take(r, ","));
}

static void read_result(ndr_reader *r) {
  ndr_syntax *syntax = r->syntax;
  const char *place = r->at;
  r->in_result = true;
  syntax->result = ndr_read_expression(r);
  if (syntax->result < 0) return;
  if (syntax->counts && syntax->update_count == NDR_MOST_PARTS)
    NDR_READ_FAIL(r, place, "beside n there are at most %d updates", NDR_MOST_PARTS - 1);
  ndr_skip_space(r);
  if (r->status == NDR_OK && *r->at) NDR_READ_FAIL(r, r->at, "expected an operator or the %s", "end");
}

/* For those who write expressions as in other languages. */
static const char *hint_at(const char *at) {
  switch (*at) {
  case '&': return "; and is written &&";
  case '|': return "; or is written ||";
  case '^': return "; powers are written **";
  case '=': return "; == compares";
  default: return "";
  }
}

static bool expect_result(ndr_reader *r) {
  if (ndr_take(r, "->")) return true;
  NDR_READ_FAIL(r, r->at, "expected '->'%s", hint_at(r->at));
  return false;
}

/* The mark that its head needs next. */
static bool expect_in_head(ndr_reader *r, const char *mark) {
  if (ndr_take(r, mark)) return true;
  NDR_READ_FAIL(r, r->at, "expected '%s': an operator is NAME(ARRAYS): STATE += VALUE -> RESULT", mark);
  return false;
}

static void read_operator(ndr_reader *r) {
  r->syntax->name = ndr_take_name(r);
  if (r->syntax->name.length == 0) {
    NDR_READ_FAIL(r, r->at, "expected the name of the %s", "operator");
    return;
  }
  if (!expect_in_head(r, "(")) return;
  read_arrays(r);
  if (r->status == NDR_OK && ndr_take(r, ";")) read_parameters(r);
  if (r->status != NDR_OK || !expect_in_head(r, ")") || !expect_in_head(r, ":")) return;
  read_updates(r);
  if (r->status == NDR_OK && expect_result(r)) read_result(r);
}

static ndr_status check_printed(const ndr_syntax *syntax, const char *text, size_t end) {
  size_t length = 0;
  ndr_syntax_print(syntax, NULL, 0, &length);
  if (length <= NDR_MAX_OPERATOR_TEXT) return NDR_OK;
  return NDR_FAIL_AT(NDR_ERR_PARSE, text, end, "an operator has at most %d bytes of text, and is printed with %zu",
                     NDR_MAX_OPERATOR_TEXT, length);
}

ndr_status ndr_syntax_parse(const char *text, size_t begin, size_t end, ndr_syntax **out) {
  *out = NULL;
  if (end - begin > NDR_MAX_OPERATOR_TEXT)
    return NDR_FAIL_AT(NDR_ERR_PARSE, text, begin + NDR_MAX_OPERATOR_TEXT, "an operator has at most %d bytes of text",
                       NDR_MAX_OPERATOR_TEXT);
  ndr_syntax *syntax = calloc(1, sizeof *syntax + end + 1);
  if (!syntax) return ndr_fail(NDR_ERR_MEMORY, "no memory for an operator of %zu bytes", end - begin);
  memcpy(syntax->text, text, end);
  ndr_reader reader = {syntax, syntax->text + begin, 0, false, NDR_OK};
  read_operator(&reader);
  if (reader.status == NDR_OK) reader.status = check_printed(syntax, text, end);
  if (reader.status == NDR_OK)
    *out = syntax;
  else
    free(syntax);
  return reader.status;
}
