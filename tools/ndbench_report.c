#include <math.h>
#include <string.h>

#include "ndbench.h"

#ifndef NDR_COMMIT
#define NDR_COMMIT "unknown"
#endif

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

static double rate(const bench_row *row) {
  return row->seconds > 0 ? row->bytes / row->seconds : 0;
}

static double share(const bench_row *row) {
  return row->ceiling > 0 ? rate(row) / row->ceiling : 0;
}

void bench_table_head(const bench_options *options, FILE *to) {
  char cpu[128];
  bench_machine_cpu(cpu, sizeof cpu);
  fprintf(to, "ndreduce %s (%s) on %s, %s, %d threads\n", ndr_version(), NDR_COMMIT, options->device->name, cpu,
          bench_threads(options));
  fprintf(to, "%-42s %-8s %10s %12s %12s %8s %6s\n", "problem", "family", "MB", "least us", "median us", "GB/s",
          "% max");
}

void bench_table_row(const bench_row *row, FILE *to) {
  fprintf(to, "%-42s ", row->problem->text);
  if (row->seconds > 0)
    fprintf(to, "%-8s %10.3f %12.2f %12.2f %8.2f %5.1f%%", row->family, row->bytes / 1e6, row->seconds * 1e6,
            row->median * 1e6, rate(row) / 1e9, 100 * share(row));
  fprintf(to, "%s%s\n", row->complaint[0] ? "  FAILED: " : "", row->complaint);
  fflush(to);
}

static void json_text(FILE *to, const char *name, const char *text) {
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

static void json_number(FILE *to, const char *name, double value) {
  if (isfinite(value))
    fprintf(to, "\"%s\": %.6g", name, value);
  else
    fprintf(to, "\"%s\": null", name);
}

static void json_machine(const bench_options *options, FILE *to) {
  char text[160];
  fputs("  \"machine\": {", to);
  bench_machine_cpu(text, sizeof text);
  json_text(to, "cpu", text);
  fprintf(to, ", \"cores\": %d, \"threads\": %d, ", bench_machine_cores(), bench_threads(options));
  bench_machine_kernel(text, sizeof text);
  json_text(to, "kernel", text);
  fputs(", ", to);
  json_text(to, "compiler", COMPILER);
  fputs("},\n", to);
}

static void json_row(const bench_row *row, FILE *to) {
  fputs("    {", to);
  json_text(to, "set", row->problem->set);
  fputs(", ", to);
  json_text(to, "name", row->problem->name);
  fputs(", ", to);
  json_text(to, "problem", row->problem->text);
  fputs(", ", to);
  json_text(to, "family", row->family);
  fprintf(to, ", \"bytes\": %.0f, \"samples\": %d, \"batch\": %lld, ", row->bytes, row->samples, (long long)row->batch);
  json_number(to, "seconds", row->seconds);
  fputs(", ", to);
  json_number(to, "median_seconds", row->median);
  fputs(", ", to);
  json_number(to, "gbps", rate(row) / 1e9);
  fputs(", ", to);
  json_number(to, "ceiling_gbps", row->ceiling / 1e9);
  fputs(", ", to);
  json_number(to, "of_ceiling", share(row));
  fprintf(to, ", \"verified\": %s", row->verified ? "true" : "false");
  if (row->complaint[0]) {
    fputs(", ", to);
    json_text(to, "failed", row->complaint);
  }
  fputc('}', to);
}

bool bench_json(const bench_options *options, const bench_row *rows, int count) {
  bool to_stdout = strcmp(options->json, "-") == 0;
  char date[40];
  FILE *to = to_stdout ? stdout : fopen(options->json, "w");
  if (!to) {
    fprintf(stderr, "ndbench: cannot write %s\n", options->json);
    return false;
  }
  bench_machine_date(date, sizeof date);
  fputs("{\n  ", to);
  json_text(to, "library", ndr_version());
  fputs(", ", to);
  json_text(to, "commit", NDR_COMMIT);
  fputs(", ", to);
  json_text(to, "date", date);
  fputs(", ", to);
  json_text(to, "device", options->device->name);
  fputs(",\n", to);
  json_machine(options, to);
  fputs("  \"rows\": [\n", to);
  for (int i = 0; i < count; i++) {
    json_row(&rows[i], to);
    fputs(i + 1 < count ? ",\n" : "\n", to);
  }
  fputs("  ]\n}\n", to);
  bool written = !ferror(to);
  written = (to_stdout ? fflush(to) : fclose(to)) == 0 && written;
  if (!written) fprintf(stderr, "ndbench: cannot write %s\n", options->json);
  return written;
}
