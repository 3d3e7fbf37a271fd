/* Reading the text of an operator, token by token. A function that fails sets `status`, and returns -1 or false. */
#ifndef NDR_CORE_OPERATOR_READ_H
#define NDR_CORE_OPERATOR_READ_H

#include <string.h>

#include "core/syntax.h"

typedef struct ndr_reader {
  ndr_syntax *syntax;
  const char *at;
  int depth;      /* of nested expressions */
  bool in_result; /* of RESULT, which reads states, rather than of UPDATES, which read arrays */
  ndr_status status;
} ndr_reader;

static inline int ndr_read_failed(ndr_reader *r, ndr_status status) {
  r->status = status;
  return -1;
}

#define NDR_READ_FAIL(reader, place, ...)                                                                              \
  ndr_read_failed(reader,                                                                                              \
                  NDR_FAIL_AT(NDR_ERR_PARSE, (reader)->syntax->text, (place) - (reader)->syntax->text, __VA_ARGS__))

static inline bool ndr_is_letter(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

static inline bool ndr_is_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

static inline void ndr_skip_space(ndr_reader *r) {
  while (*r->at == ' ' || (*r->at >= '\t' && *r->at <= '\r')) r->at++;
}

/* Takes the token if it comes next. */
static inline bool ndr_take(ndr_reader *r, const char *token) {
  ndr_skip_space(r);
  size_t length = strlen(token);
  if (strncmp(r->at, token, length) != 0) return false;
  r->at += length;
  return true;
}

static inline bool ndr_expect(ndr_reader *r, const char *token) {
  if (ndr_take(r, token)) return true;
  NDR_READ_FAIL(r, r->at, "expected '%s'", token);
  return false;
}

/* A name; of length 0 if none comes next. */
static inline ndr_span ndr_take_name(ndr_reader *r) {
  ndr_skip_space(r);
  ndr_span name = {r->at, 0};
  if (ndr_is_letter(*r->at))
    while (ndr_is_letter(*r->at) || ndr_is_digit(*r->at)) r->at++;
  name.length = (int)(r->at - name.at);
  return name;
}

/* Reads an integer from 0 to `most`; -1 if none comes next. `what` names it in errors. */
int ndr_read_count(ndr_reader *r, int most, const char *what);

/* Reads an expression; returns its node, or -1. */
int ndr_read_expression(ndr_reader *r);

#endif
