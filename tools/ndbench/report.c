/* ndbench's table and its JSON. Measures nothing. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ndbench/ndbench.h"

#ifndef NDR_COMMIT
#define NDR_COMMIT "unknown"
#endif

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

static double rate(const bench_row *row) {
  return row->typical > 0 ? row->bytes / row->typical : 0;
}

static double share(const bench_row *row) {
  return row->ceiling > 0 ? rate(row) / row->ceiling : 0;
}

void bench_banner(const bench_options *options, FILE *to) {
  const bench_device *device = options->device;
  const char *name;
  char text[128];
  fprintf(to, "ndreduce %s (%s) on %s", ndr_version(), NDR_COMMIT, device->name);
  if (device->fact) {
    for (int i = 0; device->fact(i, &name, text, sizeof text); i++) fprintf(to, ", %s %s", name, text);
  } else {
    bench_machine_cpu(text, sizeof text);
    fprintf(to, ", %s, %d threads", text, bench_threads(options));
  }
  fputc('\n', to);
}

void bench_table_head(const bench_options *options, FILE *to) {
  const bench_device *device = options->device;
  bench_banner(options, to);
  fprintf(to, "%-42s %-8s %10s %12s %12s %8s %6s", "problem", "family", "MB", "least us", "median us", "GB/s", "% max");
  for (int p = 0; device->peers && device->peers[p]; p++) fprintf(to, " %8s", device->peers[p]->name);
  fprintf(to, "%s\n", device->back_to_back ? "  us a call" : "");
}

static void print_peers(const bench_device *device, const bench_row *row, FILE *to) {
  for (int p = 0; device->peers && device->peers[p]; p++) {
    double median = 0;
    for (int i = 0; i < MOST_PEERS; i++)
      if (row->peers[i].peer == device->peers[p]) median = row->peers[i].median;
    if (median > 0)
      fprintf(to, " %8.2f", row->bytes / median / 1e9);
    else
      fprintf(to, " %8s", "-");
  }
  if (row->back_to_back > 0) fprintf(to, " %10.2f", row->back_to_back * 1e6);
}

void bench_table_row(const bench_options *options, const bench_row *row, FILE *to) {
  fprintf(to, "%-42s ", row->problem->text);
  if (row->typical > 0) {
    fprintf(to, "%-8s %10.3f %12.2f %12.2f %8.2f %5.1f%%", row->family, row->bytes / 1e6, row->seconds * 1e6,
            row->median * 1e6, rate(row) / 1e9, 100 * share(row));
    print_peers(options->device, row, to);
  }
  fprintf(to, "%s%s\n", row->complaint[0] ? "  FAILED: " : "", row->complaint);
  fflush(to);
}

void bench_json_text(FILE *to, const char *name, const char *text) {
  fprintf(to, "\"%s\": \"", name);
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      fprintf(to, "\\%c", c);
    else if (c < 0x20)
      fprintf(to, "\\u%04x", c);
    else
      fputc(c, to);
  }
  fputc('"', to);
}

void bench_json_texts(FILE *to, ...) {
  va_list pairs;
  const char *name;
  va_start(pairs, to);
  while ((name = va_arg(pairs, const char *))) {
    bench_json_text(to, name, va_arg(pairs, const char *));
    fputs(", ", to);
  }
  va_end(pairs);
}

void bench_json_number(FILE *to, const char *name, double value) {
  if (isfinite(value))
    fprintf(to, "\"%s\": %.6g", name, value);
  else
    fprintf(to, "\"%s\": null", name);
}

static void json_machine(const bench_options *options, FILE *to) {
  char text[160];
  fputs("  \"machine\": {", to);
  bench_machine_cpu(text, sizeof text);
  bench_json_text(to, "cpu", text);
  fprintf(to, ", \"cores\": %d, \"threads\": %d, ", bench_machine_cores(), bench_threads(options));
  bench_machine_kernel(text, sizeof text);
  bench_json_text(to, "kernel", text);
  fputs(", ", to);
  bench_json_text(to, "compiler", COMPILER);
  const char *name;
  for (int i = 0; options->device->fact && options->device->fact(i, &name, text, sizeof text); i++) {
    fputs(", ", to);
    bench_json_text(to, name, text);
  }
  fputs("},\n", to);
}

static void json_peers(const bench_row *row, FILE *to) {
  fputs(", \"peers\": {", to);
  for (int i = 0; i < MOST_PEERS && row->peers[i].peer; i++) {
    fprintf(to, "%s\"%s\": {", i ? ", " : "", row->peers[i].peer->name);
    bench_json_number(to, "median_seconds", row->peers[i].median);
    fputs(", ", to);
    bench_json_number(to, "gbps", row->bytes / row->peers[i].median / 1e9);
    if (row->peers[i].back_to_back > 0) {
      fputs(", ", to);
      bench_json_number(to, "back_to_back_seconds", row->peers[i].back_to_back);
    }
    fputc('}', to);
  }
  fputc('}', to);
}

static void json_row(const bench_row *row, FILE *to) {
  fputs("    {", to);
  bench_json_texts(to, "set", row->problem->set, "name", row->problem->name, "problem", row->problem->text, NULL);
  if (row->problem->offset) fprintf(to, "\"offset\": %d, ", row->problem->offset);
  bench_json_text(to, "family", row->family);
  fprintf(to, ", \"bytes\": %.0f, \"samples\": %d, \"batch\": %lld, ", row->bytes, row->samples, (long long)row->batch);
  bench_json_number(to, "seconds", row->seconds);
  fputs(", ", to);
  bench_json_number(to, "median_seconds", row->median);
  fputs(", ", to);
  bench_json_number(to, "gbps", rate(row) / 1e9);
  fputs(", ", to);
  bench_json_number(to, "ceiling_gbps", row->ceiling / 1e9);
  fputs(", ", to);
  bench_json_number(to, "of_ceiling", share(row));
  if (row->back_to_back > 0) {
    fputs(", ", to);
    bench_json_number(to, "back_to_back_seconds", row->back_to_back);
  }
  if (row->peers[0].peer) json_peers(row, to);
  fprintf(to, ", \"verified\": %s", row->verified ? "true" : "false");
  if (row->complaint[0]) {
    fputs(", ", to);
    bench_json_text(to, "failed", row->complaint);
  }
  fputc('}', to);
}

static bool is_stdout(const bench_options *options) {
  return strcmp(options->json, "-") == 0;
}

static bool say_reason(void) {
  fprintf(stderr, "ndbench: %s\n", ndr_last_error());
  return false;
}

bool bench_json_check(const bench_options *options) {
  return !options->json || is_stdout(options) || cli_can_write(options->json) || say_reason();
}

/* The record that is being made. */
static char *record;
static size_t record_length;

FILE *bench_json_open(const bench_options *options) {
  char date[40];
  FILE *to = open_memstream(&record, &record_length);
  if (!to) {
    fputs("ndbench: out of memory for the record\n", stderr);
    return NULL;
  }
  bench_machine_date(date, sizeof date);
  fputs("{\n  ", to);
  bench_json_texts(to, "library", ndr_version(), "commit", NDR_COMMIT, "date", date, NULL);
  bench_json_text(to, "device", options->device->name);
  fputs(",\n", to);
  json_machine(options, to);
  return to;
}

bool bench_json_close(const bench_options *options, FILE *to) {
  fputs("}\n", to);
  bool written = !ferror(to);
  written = fclose(to) == 0 && written;
  if (!written)
    fputs("ndbench: out of memory for the record\n", stderr);
  else if (is_stdout(options))
    fwrite(record, 1, record_length, stdout);
  else
    written = cli_write_file(options->json, record, record_length) || say_reason();
  free(record);
  return written;
}

bool bench_json(const bench_options *options, const bench_row *rows, int count) {
  FILE *to = bench_json_open(options);
  if (!to) return false;
  fputs("  \"rows\": [\n", to);
  for (int i = 0; i < count; i++) {
    json_row(&rows[i], to);
    fputs(i + 1 < count ? ",\n" : "\n", to);
  }
  fputs("  ]\n", to);
  return bench_json_close(options, to);
}
