/* The words of the language, and how tightly they bind. */
#ifndef NDR_LANG_WORDS_H
#define NDR_LANG_WORDS_H

#include "lang/syntax.h"

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

#endif
