/* The canonical form of an operator's text: one blank around operators between terms, and no parenthesis too many. */
#include "lang/print.h"

#include <string.h>

#include "core/number.h"
#include "core/text.h"
#include "lang/words.h"

typedef struct page {
  const ndr_syntax *syntax;
  char *text;
  size_t capacity, *length;
} page;

#define PRINT(page, ...) ndr_text_append((page)->text, (page)->capacity, (page)->length, __VA_ARGS__)

static void print_span(const page *p, ndr_span span) {
  PRINT(p, "%.*s", span.length, span.at);
}

/* A real number must not look like an integer. */
static void print_real(const page *p, double value) {
  char text[NDR_NUMBER_TEXT];
  ndr_number_print(value, text);
  PRINT(p, "%s%s", text, text[strcspn(text, ".en")] ? "" : ".0");
}

static void print_parameter(const page *p, int number) {
  const ndr_syntax_parameter *parameter = p->syntax->parameters;
  while (number >= parameter->first + parameter->count) parameter++;
  print_span(p, parameter->name);
  if (parameter->vector) PRINT(p, "[%d]", number - parameter->first);
}

static void print_expression(const page *p, int number, ndr_binding loosest);

static ndr_binding binding_of(const ndr_syntax_node *node) {
  const ndr_word *word = ndr_word_of(node->kind);
  return node->kind == NDR_NODE_SELECT ? NDR_BIND_SELECT : word ? word->binding : NDR_BIND_PRIMARY;
}

static void print_function(const page *p, const ndr_syntax_node *node, const ndr_word *word) {
  PRINT(p, "%s(", word->text);
  if (node->kind == NDR_NODE_INDEX)
    PRINT(p, "%d", node->a);
  else
    print_expression(p, node->a, NDR_BIND_SELECT);
  if (word->operands == 2) PRINT(p, ", ");
  if (node->kind == NDR_SYNTAX_POLY)
    print_span(p, p->syntax->parameters[node->b].name);
  else if (word->operands == 2)
    print_expression(p, node->b, NDR_BIND_SELECT);
  PRINT(p, ")");
}

static void print_operator(const page *p, const ndr_syntax_node *node, const ndr_word *word) {
  ndr_binding binding = word->binding;
  if (binding == NDR_BIND_UNARY) {
    PRINT(p, "%s", word->text);
    print_expression(p, node->a, NDR_BIND_UNARY);
  } else if (binding == NDR_BIND_POWER) { /* groups from the right, and lets -x stand there */
    print_expression(p, node->a, NDR_BIND_PRIMARY);
    PRINT(p, "**");
    print_expression(p, node->b, NDR_BIND_UNARY);
  } else { /* from the left; comparisons do not chain */
    print_expression(p, node->a, binding == NDR_BIND_COMPARISON ? binding + 1 : binding);
    PRINT(p, " %s ", word->text);
    print_expression(p, node->b, binding + 1);
  }
}

static void print_node(const page *p, const ndr_syntax_node *node) {
  const ndr_word *word = ndr_word_of(node->kind);
  switch (node->kind) {
  case NDR_NODE_ARRAY: print_span(p, p->syntax->arrays[node->a]); return;
  case NDR_NODE_TOTAL: print_span(p, p->syntax->updates[node->a].name); return;
  case NDR_NODE_PARAMETER: print_parameter(p, node->a); return;
  case NDR_SYNTAX_LENGTH: PRINT(p, "n"); return;
  case NDR_NODE_INTEGER: PRINT(p, "%lld", (long long)node->integer); return;
  case NDR_NODE_REAL: print_real(p, node->real); return;
  case NDR_NODE_SELECT:
    print_expression(p, node->a, NDR_BIND_OR);
    PRINT(p, " ? ");
    print_expression(p, node->b, NDR_BIND_SELECT);
    PRINT(p, " : ");
    print_expression(p, node->c, NDR_BIND_SELECT);
    return;
  default: break;
  }
  if (word->binding == NDR_BIND_PRIMARY)
    print_function(p, node, word);
  else
    print_operator(p, node, word);
}

/* Prints a node, in parentheses if it binds more loosely than its place allows. */
static void print_expression(const page *p, int number, ndr_binding loosest) {
  const ndr_syntax_node *node = &p->syntax->nodes[number];
  bool enclosed = binding_of(node) < loosest;
  if (enclosed) PRINT(p, "(");
  print_node(p, node);
  if (enclosed) PRINT(p, ")");
}

static void print_parameters(const page *p) {
  for (int i = 0; i < p->syntax->parameter_count; i++) {
    const ndr_syntax_parameter *parameter = &p->syntax->parameters[i];
    PRINT(p, i ? ", " : "; ");
    print_span(p, parameter->name);
    if (parameter->vector) PRINT(p, "[%d]", parameter->count);
  }
}

void ndr_syntax_print(const ndr_syntax *syntax, char *text, size_t capacity, size_t *length) {
  const page p = {syntax, text, capacity, length};
  print_span(&p, syntax->name);
  PRINT(&p, "(");
  for (int i = 0; i < syntax->array_count; i++) {
    if (i) PRINT(&p, ", ");
    print_span(&p, syntax->arrays[i]);
  }
  print_parameters(&p);
  PRINT(&p, "): ");
  for (int i = 0; i < syntax->update_count; i++) {
    if (i) PRINT(&p, ", ");
    print_span(&p, syntax->updates[i].name);
    for (int word = 0; word < NDR_UPDATE_WORDS; word++)
      if (ndr_update_words[word].op == syntax->updates[i].op) PRINT(&p, " %s ", ndr_update_words[word].text);
    print_expression(&p, syntax->updates[i].value, NDR_BIND_SELECT);
  }
  PRINT(&p, " -> ");
  print_expression(&p, syntax->result, NDR_BIND_SELECT);
}
