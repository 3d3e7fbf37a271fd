/* The expressions of operators, read into the syntax tree by precedence climbing. */
#include "lang/expression.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/number.h"
#include "lang/words.h"

enum { MOST_DEPTH = 64 /* hostile text must not overflow the stack */, HEAD_TEXT = 256 };

static int read_unary(ndr_reader *r);

static int add_node(ndr_reader *r, const char *place, ndr_syntax_node node) {
  ndr_syntax *syntax = r->syntax;
  if (syntax->node_count == NDR_MOST_NODES)
    return NDR_READ_FAIL(r, place, "an operator has at most %d terms", NDR_MOST_NODES);
  node.column = (int)(place - syntax->text);
  syntax->nodes[syntax->node_count] = node;
  return syntax->node_count++;
}

static int add_operands(ndr_reader *r, const char *place, int kind, int a, int b, int c) {
  return add_node(r, place, (ndr_syntax_node){.kind = kind, .a = a, .b = b, .c = c});
}

/* ---- numbers and names ---- */

static int read_number(ndr_reader *r, size_t length, bool integer) {
  ndr_syntax_node node = {.kind = integer ? NDR_NODE_INTEGER : NDR_NODE_REAL, .a = -1, .b = -1, .c = -1};
  const char *place = r->at;
  if (integer && !ndr_digits_value((ndr_span){place, (int)length}, &node.integer))
    return NDR_READ_FAIL(r, place, "%.*s is 2^63 or more; as a float it is written with a point",
                         NDR_NUMBER_SHOWN(length), place);
  const char *why = integer ? NULL : ndr_number_parse(place, length, &node.real);
  if (why) return NDR_READ_FAIL(r, place, "%.*s is %s", NDR_NUMBER_SHOWN(length), place, why);
  r->at += length;
  if (ndr_is_letter(*r->at)) return NDR_READ_FAIL(r, r->at, "expected an operator after the %s", "number");
  return add_node(r, place, node);
}

static const ndr_syntax_parameter *parameter_of(const ndr_syntax *syntax, ndr_span name) {
  for (int i = 0; i < syntax->parameter_count; i++)
    if (ndr_span_same(syntax->parameters[i].name, name)) return &syntax->parameters[i];
  return NULL;
}

/* A number of a parameter: t, or c[2]. */
static int read_parameter(ndr_reader *r, ndr_span name, const ndr_syntax_parameter *parameter) {
  int which = 0;
  const char *bracket = r->at;
  bool indexed = ndr_take(r, "[");
  if (indexed != parameter->vector) {
    if (indexed) return NDR_READ_FAIL(r, bracket, "'%.*s' is one number, not a vector", name.length, name.at);
    return NDR_READ_FAIL(r, name.at, "'%.*s' is a vector: write %.*s[0], or poly(x, %.*s)", name.length, name.at,
                         name.length, name.at, name.length, name.at);
  }
  if (indexed) {
    which = ndr_read_count(r, parameter->count - 1, "the number of an element");
    if (which < 0 || !ndr_expect(r, "]")) return -1;
  }
  return add_operands(r, name.at, NDR_NODE_PARAMETER, parameter->first + which, -1, -1);
}

/* The operator's head with one more array, or with one more parameter: "f(x, lat; t)". */
static void write_head(const ndr_syntax *syntax, ndr_span name, bool array, char text[HEAD_TEXT]) {
  const ndr_span *last = &syntax->arrays[syntax->array_count - 1];
  const int arrays = (int)(last->at + last->length - syntax->name.at);
  const char *parameters = syntax->parameter_count ? syntax->parameters[0].name.at : "";
  const int length = (int)strcspn(parameters, ")");
  if (array)
    snprintf(text, HEAD_TEXT, "%.*s, %.*s%s%.*s)", arrays, syntax->name.at, name.length, name.at, length ? "; " : "",
             length, parameters);
  else
    snprintf(text, HEAD_TEXT, "%.*s; %.*s%s%.*s)", arrays, syntax->name.at, length, parameters, length ? ", " : "",
             name.length, name.at);
}

/* An unknown name is most likely one that is not declared: the sentence says how it is. A result cannot read arrays. */
static int refuse_name(ndr_reader *r, ndr_span name) {
  static const char none[] = "is neither an array, a parameter nor a state";
  const ndr_syntax *syntax = r->syntax;
  char array[HEAD_TEXT], parameter[HEAD_TEXT];
  if (!syntax->array_count || !syntax->name.at)
    return NDR_READ_FAIL(r, name.at, "'%.*s' %s", name.length, name.at, none);
  write_head(syntax, name, true, array);
  write_head(syntax, name, false, parameter);
  if (r->in_result || syntax->array_count == NDR_MOST_ARRAYS)
    return NDR_READ_FAIL(r, name.at, "'%.*s' %s; %s declares it a parameter", name.length, name.at, none, parameter);
  return NDR_READ_FAIL(r, name.at, "'%.*s' %s; %s declares it an array, %s a parameter", name.length, name.at, none,
                       array, parameter);
}

static int read_name(ndr_reader *r, ndr_span name) {
  const ndr_syntax *syntax = r->syntax;
  const ndr_syntax_parameter *parameter = parameter_of(syntax, name);
  if (parameter) return read_parameter(r, name, parameter);
  for (int i = 0; i < syntax->array_count; i++) {
    if (!ndr_span_same(syntax->arrays[i], name)) continue;
    if (!r->in_result) return add_operands(r, name.at, NDR_NODE_ARRAY, i, -1, -1);
    return NDR_READ_FAIL(r, name.at, "'%.*s' is an array, which only updates can read", name.length, name.at);
  }
  for (int i = 0; i < syntax->update_count + !r->in_result; i++) { /* with the state that is being read */
    if (!ndr_span_same(syntax->updates[i].name, name)) continue;
    if (r->in_result) return add_operands(r, name.at, NDR_NODE_TOTAL, i, -1, -1);
    return NDR_READ_FAIL(r, name.at, "'%.*s' is a state, which only the result can read", name.length, name.at);
  }
  if (ndr_span_is(name, "n")) {
    if (!r->in_result) return NDR_READ_FAIL(r, name.at, "'%s' is known in the result only", "n");
    r->syntax->counts = true;
    return add_operands(r, name.at, NDR_SYNTAX_LENGTH, -1, -1, -1);
  }
  const char *next = name.at + name.length;
  while (*next == ' ') next++;
  if (*next == '(')
    return NDR_READ_FAIL(r, name.at,
                         "there is no function '%.*s'; there are sqrt, exp, log, sin, cos, floor, abs, isnan, "
                         "min, max, real, imag, conj, f64, index and poly",
                         name.length, name.at);
  return refuse_name(r, name);
}

/* ---- functions ---- */

static int read_poly(ndr_reader *r, const char *place) {
  int x = ndr_read_expression(r);
  if (x < 0 || !ndr_expect(r, ",")) return -1;
  ndr_span name = ndr_take_name(r);
  const ndr_syntax_parameter *parameter = parameter_of(r->syntax, name);
  if (!parameter || !parameter->vector) return NDR_READ_FAIL(r, name.at, "expected a parameter that is a %s", "vector");
  if (!ndr_expect(r, ")")) return -1;
  return add_operands(r, place, NDR_SYNTAX_POLY, x, (int)(parameter - r->syntax->parameters), -1);
}

static int read_index(ndr_reader *r, const char *place) {
  int dim = ndr_read_count(r, NDR_MAX_DIMS - 1, "the number of a dim");
  if (dim < 0 || !ndr_expect(r, ")")) return -1;
  if (r->in_result) return NDR_READ_FAIL(r, place, "only updates can read the %s of an element", "index");
  return add_operands(r, place, NDR_NODE_INDEX, dim, -1, -1);
}

static int read_function(ndr_reader *r, const ndr_word *word, const char *place) {
  if (!ndr_expect(r, "(")) return -1;
  if (word->kind == NDR_SYNTAX_POLY) return read_poly(r, place);
  if (word->kind == NDR_NODE_INDEX) return read_index(r, place);
  int a = ndr_read_expression(r), b = -1;
  if (a < 0) return -1;
  if (word->operands == 2) {
    if (!ndr_expect(r, ",")) return -1;
    b = ndr_read_expression(r);
    if (b < 0) return -1;
  }
  return ndr_expect(r, ")") ? add_operands(r, place, word->kind, a, b, -1) : -1;
}

static int read_primary(ndr_reader *r) {
  bool integer;
  ndr_skip_space(r);
  size_t length = ndr_number_length(r->at, &integer);
  if (length > 0) return read_number(r, length, integer);
  if (ndr_take(r, "(")) {
    int inner = ndr_read_expression(r);
    return inner >= 0 && ndr_expect(r, ")") ? inner : -1;
  }
  ndr_span name = ndr_take_name(r);
  if (name.length == 0) return NDR_READ_FAIL(r, name.at, "expected a number, a name or '%s'", "(");
  if (ndr_span_is(name, "inf") || ndr_span_is(name, "nan"))
    return add_node(r, name.at,
                    (ndr_syntax_node){.kind = NDR_NODE_REAL,
                                      .a = -1,
                                      .b = -1,
                                      .c = -1,
                                      .real = *name.at == 'i' ? (double)INFINITY : (double)NAN});
  for (int i = 0; i < ndr_word_count; i++)
    if (ndr_words[i].binding == NDR_BIND_PRIMARY && ndr_span_is(name, ndr_words[i].text))
      return read_function(r, &ndr_words[i], name.at);
  return read_name(r, name);
}

/* ---- operators ---- */

/* Enters one level of nesting. */
static bool enter(ndr_reader *r, const char *place) {
  if (++r->depth <= MOST_DEPTH) return true;
  NDR_READ_FAIL(r, place, "expressions are nested at most %d deep", MOST_DEPTH);
  return false;
}

static int read_power(ndr_reader *r) {
  int left = read_primary(r);
  if (left < 0 || !ndr_take(r, "**")) return left;
  const char *place = r->at - 2;
  if (!enter(r, place)) return -1;
  int right = read_unary(r);
  r->depth--;
  return right < 0 ? -1 : add_operands(r, place, NDR_NODE_POWER, left, right, -1);
}

static int read_unary(ndr_reader *r) {
  ndr_skip_space(r);
  const char *place = r->at;
  bool arrow = strncmp(place, "->", 2) == 0;
  int kind = !arrow && ndr_take(r, "-") ? NDR_NODE_NEGATE : ndr_take(r, "!") ? NDR_NODE_NOT : -1;
  if (kind < 0) return read_power(r);
  if (!enter(r, place)) return -1;
  int inner = read_unary(r);
  r->depth--;
  return inner < 0 ? -1 : add_operands(r, place, kind, inner, -1, -1);
}

/* The operator between operands that comes next; NULL if there is none, or it is looser. */
static const ndr_word *next_operator(ndr_reader *r, ndr_binding loosest) {
  ndr_skip_space(r);
  if (strncmp(r->at, "->", 2) == 0) return NULL;
  for (int i = 0; i < ndr_word_count; i++) {
    const ndr_word *word = &ndr_words[i];
    if (word->operands == 2 && word->binding < NDR_BIND_UNARY && strncmp(r->at, word->text, strlen(word->text)) == 0)
      return word->binding >= loosest ? word : NULL;
  }
  return NULL;
}

static int read_binary(ndr_reader *r, ndr_binding loosest) {
  int left = read_unary(r);
  for (const ndr_word *word; left >= 0 && (word = next_operator(r, loosest));) {
    const char *place = r->at;
    r->at += strlen(word->text);
    int right = read_binary(r, word->binding + 1);
    left = right < 0 ? -1 : add_operands(r, place, word->kind, left, right, -1);
    if (left >= 0 && word->binding == NDR_BIND_COMPARISON && next_operator(r, NDR_BIND_COMPARISON))
      return NDR_READ_FAIL(r, r->at, "comparisons do not chain: write a < b %s b < c", "&&");
  }
  return left;
}

int ndr_read_expression(ndr_reader *r) {
  if (!enter(r, r->at)) return -1;
  int left = read_binary(r, NDR_BIND_OR);
  if (left >= 0 && ndr_take(r, "?")) {
    const char *place = r->at - 1;
    int yes = ndr_read_expression(r);
    int no = yes < 0 || !ndr_expect(r, ":") ? -1 : ndr_read_expression(r);
    left = no < 0 ? -1 : add_operands(r, place, NDR_NODE_SELECT, left, yes, no);
  }
  r->depth--;
  return left;
}
