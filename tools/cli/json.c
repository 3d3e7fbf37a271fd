/* See json.h. */
#include "cli/json.h"

#include <math.h>

#include "cli/cli.h"

json json_begin(FILE *to, bool spaced) {
  return (json){.to = to, .spaced = spaced, .indent = -1};
}

void json_line(json *j, int indent) {
  j->indent = indent;
}

static void begin_line(json *j) {
  fprintf(j->to, "\n%*s", j->indent, "");
  j->indent = -1;
}

static void print_string(const char *text, FILE *to) {
  fputc('"', to);
  for (const unsigned char *c = (const unsigned char *)text; *c;) {
    int length = cli_utf8_length(c);
    if (length == 0)
      fputs("\\ufffd", to);
    else if (*c < 32 || *c == 127)
      fprintf(to, "\\u%04x", *c);
    else if (*c == 0xc2 && c[1] < 0xa0)
      fprintf(to, "\\u%04x", c[1]);
    else if (*c == '"' || *c == '\\')
      fprintf(to, "\\%c", *c);
    else
      fprintf(to, "%.*s", length, (const char *)c);
    c += length ? length : 1;
  }
  fputc('"', to);
}

/* What stands before the value of an entry. */
static void begin_entry(json *j, const char *key) {
  if (j->follows) fputc(',', j->to);
  if (j->indent >= 0)
    begin_line(j);
  else if (j->follows && j->spaced)
    fputc(' ', j->to);
  j->follows = true;
  if (!key) return;
  print_string(key, j->to);
  fputs(j->spaced ? ": " : ":", j->to);
}

void json_open(json *j, const char *key, char bracket) {
  begin_entry(j, key);
  fputc(bracket, j->to);
  j->follows = false;
}

void json_close(json *j, char bracket) {
  if (j->indent >= 0) begin_line(j);
  fputc(bracket, j->to);
  j->follows = true;
}

void json_text(json *j, const char *key, const char *text) {
  begin_entry(j, key);
  if (text)
    print_string(text, j->to);
  else
    fputs("null", j->to);
}

void json_number(json *j, const char *key, double value) {
  begin_entry(j, key);
  if (isfinite(value))
    fprintf(j->to, "%.6g", value);
  else
    fputs("null", j->to);
}

void json_integer(json *j, const char *key, long long value) {
  begin_entry(j, key);
  fprintf(j->to, "%lld", value);
}

void json_bool(json *j, const char *key, bool value) {
  json_literal(j, key, value ? "true" : "false");
}

void json_literal(json *j, const char *key, const char *text) {
  begin_entry(j, key);
  fputs(text, j->to);
}
