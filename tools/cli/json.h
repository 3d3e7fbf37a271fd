/* Writes JSON: the commas, the quotes and the escapes. A member of an object has a key, an element of an array has NULL
 * in its place. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stdio.h>

typedef struct json {
  FILE *to;
  bool spaced;  /* a blank after each comma and colon */
  bool follows; /* the next entry stands behind another one */
  int indent;   /* the next entry or bracket begins a line, behind so many blanks; -1: it does not */
} json;

/* A writer that has written nothing yet. */
json json_begin(FILE *to, bool spaced);

/* Has the next entry or closing bracket begin a line. */
void json_line(json *j, int indent);

/* `bracket` is '{' or '['; its partner closes. */
void json_open(json *j, const char *key, char bracket);
void json_close(json *j, char bracket);

/* Bytes that are not UTF-8 become U+FFFD, control characters \u00XX. NULL is written as null. */
void json_text(json *j, const char *key, const char *text);

/* Six significant digits; null for what is not finite. */
void json_number(json *j, const char *key, double value);
void json_integer(json *j, const char *key, long long value);
void json_bool(json *j, const char *key, bool value);

/* For text that is JSON already: a number that was formatted by other rules, or null. */
void json_literal(json *j, const char *key, const char *text);

#endif
