/* See words.h. */
#include "lang/words.h"

const ndr_word ndr_words[] = {
    {"||", NDR_NODE_OR, 2, NDR_BIND_OR},
    {"&&", NDR_NODE_AND, 2, NDR_BIND_AND},
    {"<=", NDR_NODE_LESS_EQUAL, 2, NDR_BIND_COMPARISON},
    {">=", NDR_SYNTAX_GREATER_EQUAL, 2, NDR_BIND_COMPARISON},
    {"==", NDR_NODE_EQUAL, 2, NDR_BIND_COMPARISON},
    {"!=", NDR_NODE_UNEQUAL, 2, NDR_BIND_COMPARISON},
    {"<", NDR_NODE_LESS, 2, NDR_BIND_COMPARISON},
    {">", NDR_SYNTAX_GREATER, 2, NDR_BIND_COMPARISON},
    {"**", NDR_NODE_POWER, 2, NDR_BIND_POWER},
    {"+", NDR_NODE_ADD, 2, NDR_BIND_SUM},
    {"-", NDR_NODE_SUBTRACT, 2, NDR_BIND_SUM},
    {"*", NDR_NODE_MULTIPLY, 2, NDR_BIND_PRODUCT},
    {"/", NDR_NODE_DIVIDE, 2, NDR_BIND_PRODUCT},
    {"-", NDR_NODE_NEGATE, 1, NDR_BIND_UNARY},
    {"!", NDR_NODE_NOT, 1, NDR_BIND_UNARY},
    {"sqrt", NDR_NODE_SQRT, 1, NDR_BIND_PRIMARY},
    {"exp", NDR_NODE_EXP, 1, NDR_BIND_PRIMARY},
    {"log", NDR_NODE_LOG, 1, NDR_BIND_PRIMARY},
    {"sin", NDR_NODE_SIN, 1, NDR_BIND_PRIMARY},
    {"cos", NDR_NODE_COS, 1, NDR_BIND_PRIMARY},
    {"floor", NDR_NODE_FLOOR, 1, NDR_BIND_PRIMARY},
    {"abs", NDR_NODE_ABS, 1, NDR_BIND_PRIMARY},
    {"isnan", NDR_NODE_ISNAN, 1, NDR_BIND_PRIMARY},
    {"real", NDR_NODE_REAL_PART, 1, NDR_BIND_PRIMARY},
    {"imag", NDR_NODE_IMAGINARY_PART, 1, NDR_BIND_PRIMARY},
    {"conj", NDR_NODE_CONJUGATE, 1, NDR_BIND_PRIMARY},
    {"f64", NDR_SYNTAX_F64, 1, NDR_BIND_PRIMARY},
    {"min", NDR_NODE_MINIMUM, 2, NDR_BIND_PRIMARY},
    {"max", NDR_NODE_MAXIMUM, 2, NDR_BIND_PRIMARY},
    {"index", NDR_NODE_INDEX, 1, NDR_BIND_PRIMARY},
    {"poly", NDR_SYNTAX_POLY, 2, NDR_BIND_PRIMARY},
};
const int ndr_word_count = sizeof ndr_words / sizeof *ndr_words;

const ndr_update_word ndr_update_words[NDR_UPDATE_WORDS] = {{"+=", NDR_SUM},   {"*=", NDR_PROD}, {"min=", NDR_MIN},
                                                            {"max=", NDR_MAX}, {"&=", NDR_ALL},  {"|=", NDR_ANY}};

const ndr_word *ndr_word_of(int kind) {
  for (int i = 0; i < ndr_word_count; i++)
    if (ndr_words[i].kind == kind) return &ndr_words[i];
  return NULL;
}
