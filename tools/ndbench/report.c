/* ndbench's table and its JSON. Measures nothing. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void bench_progress(int done, int count) {
  if (!isatty(STDERR_FILENO)) return;
  if (done < count)
    fprintf(stderr, "\r%d of %d", done, count);
  else
    fprintf(stderr, "\r%*s\r", 24, "");
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

static void json_machine(const bench_options *options, json *j) {
  char text[160];
  json_line(j, 2);
  json_open(j, "machine", '{');
  bench_machine_cpu(text, sizeof text);
  json_text(j, "cpu", text);
  json_integer(j, "cores", bench_machine_cores());
  json_integer(j, "threads", bench_threads(options));
  bench_machine_kernel(text, sizeof text);
  json_text(j, "kernel", text);
  json_text(j, "compiler", COMPILER);
  const char *name;
  for (int i = 0; options->device->fact && options->device->fact(i, &name, text, sizeof text); i++)
    json_text(j, name, text);
  json_close(j, '}');
}

static void json_peers(const bench_row *row, json *j) {
  json_open(j, "peers", '{');
  for (int i = 0; i < MOST_PEERS && row->peers[i].peer; i++) {
    json_open(j, row->peers[i].peer->name, '{');
    json_number(j, "median_seconds", row->peers[i].median);
    json_number(j, "gbps", row->bytes / row->peers[i].median / 1e9);
    if (row->peers[i].back_to_back > 0) json_number(j, "back_to_back_seconds", row->peers[i].back_to_back);
    json_close(j, '}');
  }
  json_close(j, '}');
}

static void json_row(const bench_row *row, json *j) {
  json_line(j, 4);
  json_open(j, NULL, '{');
  json_text(j, "set", row->problem->set);
  json_text(j, "name", row->problem->name);
  json_text(j, "problem", row->problem->text);
  int64_t groups = ndr_groups_count(row->problem->reduction.groups);
  if (groups) json_integer(j, "groups", groups);
  if (row->problem->offset) json_integer(j, "offset", row->problem->offset);
  json_text(j, "family", row->family);
  json_integer(j, "bytes", (long long)row->bytes);
  json_integer(j, "samples", row->samples);
  json_integer(j, "batch", row->batch);
  json_number(j, "seconds", row->seconds);
  json_number(j, "median_seconds", row->median);
  json_number(j, "gbps", rate(row) / 1e9);
  json_number(j, "ceiling_gbps", row->ceiling / 1e9);
  json_number(j, "of_ceiling", share(row));
  if (row->back_to_back > 0) json_number(j, "back_to_back_seconds", row->back_to_back);
  if (row->peers[0].peer) json_peers(row, j);
  json_bool(j, "verified", row->verified);
  if (row->complaint[0]) json_text(j, "failed", row->complaint);
  json_close(j, '}');
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

/* The bytes of the record that is being made. */
static char *record;
static size_t record_length;

bool bench_json_open(const bench_options *options, json *j) {
  char date[40];
  FILE *to = open_memstream(&record, &record_length);
  if (!to) {
    fputs("ndbench: out of memory for the record\n", stderr);
    return false;
  }
  bench_machine_date(date, sizeof date);
  *j = json_begin(to, true);
  json_open(j, NULL, '{');
  json_line(j, 2);
  json_text(j, "library", ndr_version());
  json_text(j, "commit", NDR_COMMIT);
  json_text(j, "date", date);
  json_text(j, "device", options->device->name);
  json_machine(options, j);
  json_line(j, 2);
  return true;
}

bool bench_json_close(const bench_options *options, json *j) {
  json_line(j, 0);
  json_close(j, '}');
  fputc('\n', j->to);
  bool written = !ferror(j->to);
  written = fclose(j->to) == 0 && written;
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
  json j;
  if (!bench_json_open(options, &j)) return false;
  json_open(&j, "rows", '[');
  for (int i = 0; i < count; i++) json_row(&rows[i], &j);
  json_line(&j, 2);
  json_close(&j, ']');
  return bench_json_close(options, &j);
}
