/* The syntax tree of an operator of one's own: what its text says, without dtypes. It never changes once it is parsed.
 */
#ifndef NDR_CORE_SYNTAX_H
#define NDR_CORE_SYNTAX_H

#include "core/program.h"

/* The kinds of nodes are ndr_node_kind and these. Nodes of the tree use
 *   ARRAY      a: which of the operator's arrays
 *   PARAMETER  a: which number of its parameters
 *   TOTAL      a: which update
 *   POLY       a: the argument, b: which parameter
 *   INTEGER, REAL, INDEX, LENGTH as nodes of programs do
 * and a, b, c for their operands otherwise. */
enum { NDR_SYNTAX_GREATER = NDR_NODE_SELECT + 1, NDR_SYNTAX_GREATER_EQUAL, NDR_SYNTAX_POLY };

/* How tightly a kind binds, from loosest to tightest. */
typedef enum ndr_binding {
  NDR_BIND_SELECT,
  NDR_BIND_OR,
  NDR_BIND_AND,
  NDR_BIND_COMPARISON,
  NDR_BIND_SUM,
  NDR_BIND_PRODUCT,
  NDR_BIND_UNARY,
  NDR_BIND_POWER,
  NDR_BIND_PRIMARY
} ndr_binding;

/* How a kind is written: between its operands, or, if it binds as PRIMARY, as a function of `operands` arguments. */
typedef struct ndr_word {
  const char *text;
  int kind, operands;
  ndr_binding binding;
} ndr_word;

/* All words; a longer one stands before those that it begins with. */
extern const ndr_word ndr_words[];
extern const int ndr_word_count;
/* The word of a kind; NULL if it has none. */
const ndr_word *ndr_word_of(int kind);

/* How an update is written, STATE TEXT EXPRESSION. */
typedef struct ndr_update_word {
  const char *text;
  ndr_op op;
} ndr_update_word;

enum { NDR_UPDATE_WORDS = 6 };
extern const ndr_update_word ndr_update_words[NDR_UPDATE_WORDS];

typedef struct ndr_span {
  const char *at; /* in the tree's text */
  int length;
} ndr_span;

static inline bool ndr_span_is(ndr_span span, const char *text) {
  for (int i = 0; i < span.length; i++)
    if (text[i] != span.at[i]) return false; /* also where text ends */
  return text[span.length] == 0;
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
typedef struct ndr_syntax {
  ndr_span name;
  int array_count, parameter_count, number_count, update_count, node_count, result;
  bool counts; /* the result reads n, and no state has that name */
  ndr_span arrays[NDR_MOST_ARRAYS];
  ndr_syntax_parameter parameters[NDR_MOST_PARAMETERS];
  ndr_syntax_update updates[NDR_MOST_PARTS];
  ndr_syntax_node nodes[NDR_MOST_NODES];
  char text[]; /* columns count from its beginning */
} ndr_syntax;

/* Fails with a sentence that shows the beginning of the text. `format` has at least one argument. */
enum { NDR_SYNTAX_SHOWN = 60 };
#define NDR_FAIL_AT(status, text, column, format, ...)                                                                 \
  ndr_fail((status), "column %d of '%.*s%s': " format, (int)(column) + 1, NDR_SYNTAX_SHOWN, (text),                    \
           strlen(text) > NDR_SYNTAX_SHOWN ? "..." : "", __VA_ARGS__)

/* Parses the bytes from `begin` to before `end` of text; columns count from the text's beginning. The tree is freed
 * with free(). */
ndr_status ndr_syntax_parse(const char *text, size_t begin, size_t end, ndr_syntax **out);

/* Appends the canonical form, as ndr_text_append does. */
void ndr_syntax_print(const ndr_syntax *syntax, char *text, size_t capacity, size_t *length);

#endif
