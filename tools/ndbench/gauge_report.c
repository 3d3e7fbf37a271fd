/* The gauge's table and its record. Measures nothing. */
#include <math.h>
#include <stdlib.h>

#include "ndbench/gauge.h"

enum { WORST = 20, LARGE_BYTES = 32 << 20 };

typedef enum size_class { ANY_SIZE, SMALL, LARGE, SIZES } size_class;

static const char *const size_names[] = {"any", "below 32 MiB", "32 MiB and more"};

typedef struct digest {
  int count;
  double mean, p5, p25; /* of the shares; the mean is geometric */
} digest;

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The share that so many of the problems do not exceed. */
static double percentile(const double *shares, int count, double part) {
  int at = (int)ceil(part * count) - 1;
  return shares[at < 0 ? 0 : at];
}

/* Which of a problem's shares. */
typedef enum share_kind { SHARE, BURST_SHARE, PLAIN_SHARE } share_kind;

static double share_of(const gauge_row *row, share_kind which) {
  return which == SHARE ? row->share : which == BURST_SHARE ? row->burst_share : row->plain_share;
}

/* `kind` is GAUGE_KINDS for all kinds. */
static digest digest_of(const gauge_record *record, int kind, size_class size, share_kind which, double *shares) {
  digest d = {0};
  double logarithms = 0;
  for (int i = 0; i < record->count; i++) {
    const gauge_row *row = &record->rows[i];
    size_class its = row->read + row->written < LARGE_BYTES ? SMALL : LARGE;
    if (row->ceiling == 0) continue;
    if ((kind != GAUGE_KINDS && (int)row->kind != kind) || (size != ANY_SIZE && size != its)) continue;
    shares[d.count] = share_of(row, which);
    logarithms += log(shares[d.count++]);
  }
  if (d.count == 0) return d;
  qsort(shares, (size_t)d.count, sizeof *shares, compare);
  d.mean = exp(logarithms / d.count);
  d.p5 = percentile(shares, d.count, 0.05);
  d.p25 = percentile(shares, d.count, 0.25);
  return d;
}

static const char *kind_name(int kind) {
  return kind == GAUGE_KINDS ? "all" : gauge_kind_name((gauge_kind)kind);
}

static int compare_shares(const void *a, const void *b) {
  const gauge_row *x = *(const gauge_row *const *)a, *y = *(const gauge_row *const *)b;
  return (x->share > y->share) - (x->share < y->share);
}

/* How many problems have a share; `rows`, if not NULL, becomes these. */
static int rows_with_share(const gauge_record *record, const gauge_row **rows) {
  int count = 0;
  for (int i = 0; i < record->count; i++) {
    if (record->rows[i].ceiling == 0) continue;
    if (rows) rows[count] = &record->rows[i];
    count++;
  }
  return count;
}

static void print_worst(const gauge_record *record, const gauge_row **rows, FILE *to) {
  const int count = rows_with_share(record, rows);
  qsort(rows, (size_t)count, sizeof *rows, compare_shares);
  fprintf(to, "\n%6s  %-9s %-10s %10s %12s %8s  %s\n", "share", "kind", "family", "MB", "us", "max GB/s", "problem");
  for (int i = 0; i < WORST && i < count; i++) {
    const gauge_row *row = rows[i];
    fprintf(to, "%6.3f  %-9s %-10s %10.2f %12.2f %8.1f  %s%s\n", row->share, kind_name((int)row->kind), row->family,
            (row->read + row->written) / 1e6, row->seconds * 1e6, row->ceiling / 1e9, row->problem->text,
            row->copies ? " (copies)" : "");
  }
}

static void print_kind(const gauge_record *record, int kind, share_kind which, double *room, FILE *to) {
  for (size_class size = ANY_SIZE; size < SIZES; size++) {
    digest d = digest_of(record, kind, size, which, room);
    if (d.count == 0) continue;
    fprintf(to, "%-9s  %-15s %8d  %8.3f %8.3f %8.3f\n", kind_name(kind), size_names[size], d.count, d.mean, d.p5,
            d.p25);
  }
}

void gauge_print(const gauge_record *record, FILE *to) {
  size_t count = (size_t)record->count;
  void *room = malloc(count * (sizeof(double) > sizeof(void *) ? sizeof(double) : sizeof(void *)));
  if (!room) {
    fputs("ndbench: out of memory for the table\n", stderr);
    return;
  }
  fprintf(to, "%d problem%s, each against the least time to move its bytes", record->count,
          record->count == 1 ? "" : "s");
  if (record->launch > 0) fprintf(to, ", with a launch of %.2f us", record->launch * 1e6);
  const int unknown = record->count - rows_with_share(record, NULL);
  if (unknown) fprintf(to, ", of which %d move%s too little to say", unknown, unknown == 1 ? "s" : "");
  fprintf(to, "\n%-9s  %-15s %8s  %8s %8s %8s\n", "kind", "bytes moved", "problems", "mean", "5 %", "25 %");
  for (int kind = GAUGE_COMPACT; kind <= GAUGE_KINDS; kind++) print_kind(record, kind, SHARE, room, to);
  if (record->options->device->cold) {
    fputs("\nplain reads and copies of as many bytes\n", to);
    print_kind(record, GAUGE_KINDS, PLAIN_SHARE, room, to);
  }
  if (record->burst > record->options->device->line) {
    fprintf(to, "\nthe same in bursts of %d bytes: every other line alone takes %.0f%% of the time to read all\n",
            record->burst, 100 * record->alternate);
    print_kind(record, GAUGE_KINDS, BURST_SHARE, room, to);
  }
  print_worst(record, room, to);
  free(room);
}

/* ---- JSON ---- */

static void json_kind(const gauge_record *record, int kind, share_kind which, double *room, json *j) {
  for (size_class size = ANY_SIZE; size < SIZES; size++) {
    digest d = digest_of(record, kind, size, which, room);
    if (d.count == 0) continue;
    json_line(j, 4);
    json_open(j, NULL, '{');
    json_text(j, "kind", kind_name(kind));
    json_text(j, "size", size_names[size]);
    json_integer(j, "problems", d.count);
    json_number(j, "mean", d.mean);
    json_number(j, "p5", d.p5);
    json_number(j, "p25", d.p25);
    json_close(j, '}');
  }
}

static void json_digests(const gauge_record *record, double *room, json *j) {
  json_line(j, 2);
  json_open(j, "gauge", '[');
  for (int kind = GAUGE_COMPACT; kind <= GAUGE_KINDS; kind++) json_kind(record, kind, SHARE, room, j);
  json_line(j, 2);
  json_close(j, ']');
  if (record->options->device->cold) {
    json_open(j, "plain", '[');
    json_kind(record, GAUGE_KINDS, PLAIN_SHARE, room, j);
    json_line(j, 2);
    json_close(j, ']');
  }
  if (record->alternate == 0) return;
  json_integer(j, "burst_bytes", record->burst);
  json_number(j, "alternate", record->alternate);
  json_open(j, "bursts", '[');
  json_kind(record, GAUGE_KINDS, BURST_SHARE, room, j);
  json_line(j, 2);
  json_close(j, ']');
}

static void json_row(const gauge_row *row, json *j) {
  json_line(j, 4);
  json_open(j, NULL, '{');
  json_text(j, "set", row->problem->set);
  json_text(j, "name", row->problem->name);
  json_text(j, "problem", row->problem->text);
  json_text(j, "kind", gauge_kind_name(row->kind));
  json_text(j, "family", row->family);
  json_integer(j, "bytes_read", (long long)row->read);
  json_integer(j, "bytes_written", (long long)row->written);
  json_number(j, "seconds", row->seconds);
  json_text(j, "ceiling", row->copies ? "copy" : "read");
  json_number(j, "ceiling_gbps", row->ceiling / 1e9);
  json_number(j, "share", row->share);
  json_number(j, "burst_share", row->burst_share);
  json_number(j, "plain_share", row->plain_share);
  json_close(j, '}');
}

bool gauge_write_json(const gauge_record *record) {
  json j;
  char seed[24];
  double *room = malloc((size_t)record->count * sizeof *room);
  if (!room || !bench_json_open(record->options, &j)) {
    if (!room) fputs("ndbench: out of memory for the record\n", stderr);
    free(room);
    return false;
  }
  snprintf(seed, sizeof seed, "%llu", (unsigned long long)record->options->seed);
  json_literal(&j, "seed", seed);
  json_integer(&j, "largest", (long long)record->options->largest);
  json_text(&j, "planning", record->options->measure ? "measure" : "estimate");
  json_integer(&j, "failed", record->failed);
  json_number(&j, "launch_seconds", record->launch);
  json_digests(record, room, &j);
  json_line(&j, 2);
  json_open(&j, "rows", '[');
  for (int i = 0; i < record->count; i++) json_row(&record->rows[i], &j);
  json_line(&j, 2);
  json_close(&j, ']');
  free(room);
  return bench_json_close(record->options, &j);
}
