/* Reading the text of an operator, token by token. A function that fails sets `status`, and returns -1 or false. */
#ifndef NDR_LANG_READER_H
#define NDR_LANG_READER_H

#include "lang/syntax.h"

typedef struct ndr_reader {
  ndr_syntax *syntax;
  const char *at;
  int depth;      /* of nested expressions */
  bool in_result; /* of RESULT, which reads states, rather than of UPDATES, which read arrays */
  ndr_status status;
} ndr_reader;

int ndr_read_failed(ndr_reader *r, ndr_status status);

#define NDR_READ_FAIL(reader, place, ...)                                                                              \
  ndr_read_failed(reader,                                                                                              \
                  NDR_FAIL_AT(NDR_ERR_PARSE, (reader)->syntax->text, (place) - (reader)->syntax->text, __VA_ARGS__))

static inline bool ndr_is_letter(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

static inline bool ndr_is_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

void ndr_skip_space(ndr_reader *r);

/* Takes the token if it comes next. */
bool ndr_take(ndr_reader *r, const char *token);

bool ndr_expect(ndr_reader *r, const char *token);

/* A name; of length 0 if none comes next. */
ndr_span ndr_take_name(ndr_reader *r);

/* The value of digits; false if it is 2^63 or more. */
bool ndr_digits_value(ndr_span digits, int64_t *value);

/* Reads an integer from 0 to `most`; -1 if none comes next. `what` names it in errors. */
int ndr_read_count(ndr_reader *r, int most, const char *what);

#endif
