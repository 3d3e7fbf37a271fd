/* The syntax tree of an operator of one's own: what its text says, without dtypes. It never changes once it is parsed.
 */
#ifndef NDR_LANG_SYNTAX_H
#define NDR_LANG_SYNTAX_H

#include <string.h>

#include "lang/program.h"

/* The kinds of nodes are ndr_node_kind and these. Nodes of the tree use
 *   ARRAY      a: which of the operator's arrays
 *   PARAMETER  a: which number of its parameters
 *   TOTAL      a: which update
 *   POLY       a: the argument, b: which parameter
 *   INTEGER, REAL, INDEX as nodes of programs do
 *   F64        a: what becomes f64, or c128
 *   LENGTH     n, the number of elements that count; nothing else
 * and a, b, c for their operands otherwise. */
enum {
  NDR_SYNTAX_GREATER = NDR_NODE_SELECT + 1,
  NDR_SYNTAX_GREATER_EQUAL,
  NDR_SYNTAX_POLY,
  NDR_SYNTAX_F64,
  NDR_SYNTAX_LENGTH
};

typedef struct ndr_span {
  const char *at; /* in the tree's text */
  int length;
} ndr_span;

static inline bool ndr_span_is(ndr_span span, const char *text) {
  for (int i = 0; i < span.length; i++)
    if (text[i] != span.at[i]) return false; /* also where text ends */
  return text[span.length] == 0;
}

static inline bool ndr_span_same(ndr_span a, ndr_span b) {
  return a.length == b.length && memcmp(a.at, b.at, (size_t)a.length) == 0;
}

typedef struct ndr_syntax_node {
  int kind, column; /* of the operator, the function or the name, from 0 */
  int a, b, c;
  union {
    int64_t integer;
    double real;
  };
} ndr_syntax_node;

typedef struct ndr_syntax_parameter {
  ndr_span name;
  int first, count; /* of its numbers */
  bool vector;      /* declared with [COUNT] */
} ndr_syntax_parameter;

typedef struct ndr_syntax_update {
  ndr_span name;
  ndr_op op;
  int value, column;
} ndr_syntax_update;

/* Operands stand before what uses them; the nodes of updates before those of the result. */
struct ndr_syntax {
  ndr_span name;
  int array_count, parameter_count, number_count, update_count, node_count, result;
  bool counts; /* the result reads n, and no state has that name */
  ndr_span arrays[NDR_MOST_ARRAYS];
  ndr_syntax_parameter parameters[NDR_MOST_PARAMETERS];
  ndr_syntax_update updates[NDR_MOST_PARTS];
  ndr_syntax_node nodes[NDR_MOST_NODES];
  char text[]; /* columns count from its beginning */
};

/* What the table of operators keeps of a tree, which it takes over. */
static inline ndr_definition ndr_syntax_definition(ndr_syntax *syntax) {
  return (ndr_definition){.syntax = syntax,
                          .name = syntax->name.at,
                          .name_length = (size_t)syntax->name.length,
                          .value_count = syntax->number_count};
}

/* Fails with a sentence that shows the beginning of the text. `format` has at least one argument. */
enum { NDR_SYNTAX_SHOWN = 60 };
#define NDR_FAIL_AT(status, text, column, format, ...)                                                                 \
  ndr_fail((status), "column %d of '%.*s%s': " format, (int)(column) + 1, NDR_SYNTAX_SHOWN, (text),                    \
           strlen(text) > NDR_SYNTAX_SHOWN ? "..." : "", __VA_ARGS__)

/* Whether an expression reads array number `array`. */
static inline bool ndr_syntax_reads(const ndr_syntax *syntax, int array) {
  for (int n = 0; n < syntax->node_count; n++)
    if (syntax->nodes[n].kind == NDR_NODE_ARRAY && syntax->nodes[n].a == array) return true;
  return false;
}

#endif
