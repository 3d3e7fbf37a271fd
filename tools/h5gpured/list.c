/* --list: the datasets of a file, as text or JSON. Reads no elements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "h5gpured/output.h"

/* Where the dtype starts behind a path that is not longer. */
enum { COLUMN = 22 };

/* At most this many bytes of units are shown, and of the reason why a dataset cannot be reduced. */
enum { UNITS = 32, REASON = 1024 };

typedef struct {
  const h5gpured_options *options;
  const char *file;
  int count;
} listing;

static void json_numbers(json *j, const char *key, int count, const int64_t *numbers) {
  json_open(j, key, '[');
  for (int i = 0; i < count; i++) json_integer(j, NULL, numbers[i]);
  json_close(j, ']');
}

static void json_facts(json *j, const ndr_h5_info *info) {
  json_text(j, "dtype", ndr_dtype_name(info->dtype));
  json_text(j, "stored_dtype", ndr_dtype_name(info->stored_dtype));
  json_bool(j, "scaled", info->scaled);
  json_bool(j, "masked", info->masked);
  json_numbers(j, "shape", info->ndim, info->shape);
  json_open(j, "dim_names", '[');
  for (int d = 0; d < info->ndim; d++) json_text(j, NULL, info->dim_names[d]);
  json_close(j, ']');
  if (info->units) json_text(j, "units", info->units);
  if (info->layout == NDR_H5_CHUNKED) json_numbers(j, "chunk", info->ndim, info->chunk);
  json_text(j, "filters", info->filters);
  if (info->stored_bytes < 0)
    json_literal(j, "stored_bytes", "null");
  else
    json_integer(j, "stored_bytes", info->stored_bytes);
  json_bool(j, "scale", info->is_scale);
}

static void list_json(const listing *l, const char *path, const ndr_h5_info *info, const char *reason) {
  json j = json_begin(stdout, false);
  json_open(&j, NULL, '{');
  json_text(&j, "file", l->file);
  json_text(&j, "dataset", path);
  if (info)
    json_facts(&j, info);
  else
    json_text(&j, "reason", reason);
  json_close(&j, '}');
  putchar('\n');
}

static void print_units(const char *units) {
  char text[UNITS + 1];
  size_t length = strnlen(units, sizeof text);
  if (length == 0) return;
  if (length > UNITS) length = UNITS - 3;
  while (length > 0 && ((unsigned char)units[length] & 0xc0) == 0x80) length--; /* not inside of a letter */
  snprintf(text, sizeof text, "%.*s%s", (int)length, units, units[length] ? "..." : "");
  fputs("  ", stdout);
  cli_print_visible(text, stdout);
}

static void list_text(const char *path, const ndr_h5_info *info, const char *reason) {
  static const char *const layouts[] = {"compact", "contiguous", "chunks", "virtual"};
  fputs("  ", stdout);
  cli_print_visible(path, stdout);
  printf("%*s", strlen(path) < COLUMN ? COLUMN - (int)strlen(path) : 2, "");
  if (info) {
    print_type(info->dtype, info->ndim, info->shape, info->dim_names, stdout);
    if (info->units) print_units(info->units);
    printf("  %s", layouts[info->layout]);
    for (int d = 0; d < info->ndim && info->layout == NDR_H5_CHUNKED; d++)
      printf("%s%lld", d ? "x" : " ", (long long)info->chunk[d]);
    if (info->filters[0]) {
      fputs(", ", stdout);
      cli_print_visible(info->filters, stdout);
    }
    if (info->stored_dtype != info->dtype) printf(", stored as %s", ndr_dtype_name(info->stored_dtype));
    if (info->scaled) fputs(", scaled", stdout);
    if (info->masked) fputs(", masked", stdout);
    if (info->stored_bytes == 0) fputs(", never written", stdout);
    if (info->stored_bytes < 0 && info->layout != NDR_H5_VIRTUAL) fputs(", in other files", stdout);
    if (info->is_scale) fputs(", scale", stdout);
  } else {
    cli_print_visible(reason, stdout);
  }
  putchar('\n');
}

static void print_file(const char *file) {
  cli_print_visible(file, stdout);
  putchar('\n');
}

static int visit(void *user, const char *path, const ndr_h5_info *info, const char *reason) {
  listing *l = user;
  char text[REASON] = "";
  if (!info) snprintf(text, sizeof text, "%s", reason);
  name_options(text);
  if (l->options->json) {
    list_json(l, path, info, text);
  } else {
    if (l->count == 0) print_file(l->file);
    list_text(path, info, text);
  }
  l->count++;
  return 0;
}

/* Whether the name is of a dataset in a file that exists: FILE:/DATASET, FILE[PART]. */
static bool refuse_dataset(const char *name) {
  struct stat found;
  char *file = NULL, *path = NULL;
  bool is_file = stat(name, &found) == 0;
  bool refused = !is_file && ndr_h5_split(name, &file, &path) == NDR_OK && path;
  if (refused) complain("%s: --list takes a whole file: name %s", name, file);
  free(file);
  free(path);
  return refused;
}

int list_file(const h5gpured_options *options, const char *file) {
  listing l = {options, file, 0};
  crash_while_reading(file);
  const ndr_h5_access access = input_access(options);
  if (ndr_h5_list(file, &access, visit, &l) != NDR_OK) {
    if (!refuse_dataset(file)) complain("%s", ndr_last_error());
    return EXIT_INPUT;
  }
  if (l.count == 0 && !options->json) {
    print_file(file);
    puts("  no datasets");
  }
  return 0;
}
