/* Answers as JSON, for --format json and --json, and the JSON strings of --list. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "h5gpured/h5gpured.h"

/* Overlong forms, surrogates and what is above U+10FFFF are none. */
int utf8_length(const unsigned char *text) {
  unsigned char c = text[0], low = 0x80, high = 0xbf;
  int length = c < 0x80 ? 1 : c >= 0xc2 && c <= 0xdf ? 2 : c >= 0xe0 && c <= 0xef ? 3 : c >= 0xf0 && c <= 0xf4 ? 4 : 0;
  if (c == 0xe0) low = 0xa0;
  if (c == 0xed) high = 0x9f;
  if (c == 0xf0) low = 0x90;
  if (c == 0xf4) high = 0x8f;
  for (int i = 1; i < length; i++) {
    if (text[i] < low || text[i] > high) return 0;
    low = 0x80;
    high = 0xbf;
  }
  return length;
}

void print_json_string(const char *text, FILE *stream) {
  if (!text) {
    fputs("null", stream);
    return;
  }
  fputc('"', stream);
  for (const unsigned char *c = (const unsigned char *)text; *c;) {
    int length = utf8_length(c);
    if (length == 0)
      fputs("\\ufffd", stream);
    else if (*c < 32 || *c == 127)
      fprintf(stream, "\\u%04x", *c);
    else if (*c == 0xc2 && c[1] < 0xa0)
      fprintf(stream, "\\u%04x", c[1]);
    else if (*c == '"' || *c == '\\')
      fprintf(stream, "\\%c", *c);
    else
      fprintf(stream, "%.*s", length, (const char *)c);
    c += length ? length : 1;
  }
  fputc('"', stream);
}

/* JSON has no infinity, but any number's digits: 1e999 is read as infinity by what reads numbers as doubles. */
static void print_real(double value, int digits, FILE *stream) {
  char text[NUMBER_CHARS];
  number_shortest(value, digits, text);
  fputs(isnan(value) ? "null" : isinf(value) ? (value < 0 ? "-1e999" : "1e999") : text, stream);
}

static void print_element(number n, FILE *stream) {
  char text[NUMBER_CHARS];
  if (n.kind == REAL) {
    print_real(n.re, n.digits, stream);
  } else if (n.kind == COMPLEX) {
    fputc('[', stream);
    print_real(n.re, n.digits, stream);
    fputc(',', stream);
    print_real(n.im, n.digits, stream);
    fputc(']', stream);
  } else {
    number_text(n, 0, text);
    fputs(text, stream);
  }
}

/* The places that one operator has found, by dim. */
static void print_found(const answer *a, int op, FILE *stream) {
  bool any = false;
  int64_t count = tensor_count(&a->results[op]);
  for (int i = 0; i < a->found_count; i++) {
    if (a->found[i].op != op) continue;
    fputs(any ? "," : ",\"coords\":{", stream);
    print_json_string(a->found[i].name, stream);
    fputs(":[", stream);
    for (int64_t e = 0; e < count; e++) {
      if (e) fputc(',', stream);
      print_real(a->found[i].values[e], 17, stream);
    }
    fputc(']', stream);
    any = true;
  }
  if (any) fputc('}', stream);
}

static void print_result(const answer *a, int i, FILE *stream) {
  const DLTensor *result = &a->results[i];
  ndr_dtype dtype = tensor_dtype(result);
  size_t bytes = ndr_dtype_bytes(dtype);
  int64_t count = tensor_count(result);
  fputs(",\"shape\":[", stream);
  for (int d = 0; d < result->ndim; d++) fprintf(stream, "%s%lld", d ? "," : "", (long long)result->shape[d]);
  fprintf(stream, "],\"dtype\":\"%s\",\"data\":[", ndr_dtype_name(dtype));
  for (int64_t e = 0; e < count; e++) {
    if (e) fputc(',', stream);
    print_element(number_read(dtype, (const char *)result->data + (size_t)e * bytes), stream);
  }
  fputc(']', stream);
  print_found(a, i, stream);
  fputs("}\n", stream);
}

void print_json(const answer *a, FILE *stream) {
  for (int i = 0; i < a->options->op_count; i++) {
    fputs("{\"file\":", stream);
    print_json_string(a->info->file, stream);
    fputs(",\"dataset\":", stream);
    print_json_string(a->info->dataset, stream);
    fprintf(stream, ",\"op\":\"%s\",\"dims\":[", ndr_op_name(a->options->ops[i]));
    for (int d = 0; d < a->dim_count; d++) fprintf(stream, "%s%d", d ? "," : "", a->dims[d]);
    fputs("],\"dim_names\":[", stream);
    for (int d = 0; d < a->dim_count; d++) {
      if (d) fputc(',', stream);
      print_json_string(a->info->dim_names[a->dims[d]], stream);
    }
    fputc(']', stream);
    print_result(a, i, stream);
  }
}
