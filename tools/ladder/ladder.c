/* `ndbench ladder`: takes each rung of the ladder in turn, has it run or counted, and prints what it gained. The
 * kernels are in kernels/ladder/. */
#include "ladder/ladder.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RECORDS = 256 };

typedef struct climb {
  const ladder_options *options;
  FILE *table;
  bool fine;
  int count;
  ladder_record records[MOST_RECORDS];
} climb;

static bool run_rung(const ladder_options *options, ladder_data *data, ladder_record *record) {
#ifdef NDBENCH_WITH_CUDA
  if (options->bench.device == &bench_cuda) return ladder_time(options, data, record);
#endif
  return ladder_count(options, data, record);
}

/* A rung that sorts runs once, as it does not depend on how much is kept. */
static bool wanted(const ladder_options *options, const ladder_rung *rung, const ladder_data *data) {
  bool sorts = rung->kind == LADDER_SELECT && ladder_order_of(rung) == LADDER_SORTED;
  return rung->kind == data->kind && (!options->rung || ladder_rung_is(rung, options->rung)) &&
         (!sorts || data->keep == options->keeps[0]);
}

static void describe_shape(const ladder_data *data, ladder_record *record) {
  for (int d = 0, at = 0; d < data->ndim; d++)
    at += snprintf(record->shape + at, sizeof record->shape - (size_t)at, d ? "x%lld" : "%lld",
                   (long long)data->shape[d]);
}

/* The gain over the rung that this one mends, where that was timed on the same data, too. */
static void find_gain(const ladder_record *first, ladder_record *record) {
  for (const ladder_record *other = first; record->rung->mends && other < record; other++)
    if (strcmp(other->rung->number, record->rung->mends) == 0 && other->time.typical > 0 && record->time.typical > 0)
      record->gain = other->time.typical / record->time.typical;
}

/* One ceiling a table, the best that any rung's read loops came to: rungs are then as far apart in % as in GB/s. */
static void share_ceiling(ladder_record *first, const ladder_record *end) {
  double best = 0;
  for (const ladder_record *record = first; record < end; record++)
    if (record->time.ceiling > best) best = record->time.ceiling;
  for (ladder_record *record = first; record < end; record++)
    if (record->time.ceiling > 0) record->time.ceiling = best;
}

/* Counts are printed rung by rung, times when the ceiling is known. */
static void run_all(climb *c, ladder_data *data) {
  ladder_record *first = &c->records[c->count], *record;
  bool counted = c->options->bench.device == &bench_cpu;
  if (c->count > 0) fputc('\n', c->table);
  ladder_table_head(c->options, data, c->table);
  for (int i = 0; i < ladder_rung_count && c->count < MOST_RECORDS; i++) {
    if (!wanted(c->options, &ladder_rungs[i], data)) continue;
    record = &c->records[c->count++];
    *record = (ladder_record){.rung = &ladder_rungs[i]};
    describe_shape(data, record);
    record->keep = data->keep;
    bool fine = run_rung(c->options, data, record);
    find_gain(first, record);
    c->fine = c->fine && (fine || record->left_out);
    if (counted) ladder_table_row(c->options, record, c->table);
  }
  const ladder_record *end = &c->records[c->count];
  share_ceiling(first, end);
  for (record = first; !counted && record < end; record++) ladder_table_row(c->options, record, c->table);
}

static void climb_data(climb *c, ladder_data data) {
  const bench_device *device = c->options->bench.device;
  bool made = ladder_data_make(&data, c->options);
  if (made) data.placed = device->place_data(data.host, (size_t)data.elements * ladder_bytes(data.dtype));
  if (data.placed) {
    run_all(c, &data);
    device->drop_data(data.placed, data.host);
  } else {
    fprintf(stderr, "ndbench: %s memory is too short for %lld elements\n", made ? "the device's" : "the host's",
            (long long)data.elements);
    c->fine = false;
  }
  ladder_data_free(&data);
}

static void climb_all(climb *c) {
  const ladder_options *options = c->options;
  if (options->kinds[LADDER_REDUCE])
    climb_data(c, (ladder_data){.kind = LADDER_REDUCE, .ndim = 1, .shape = {options->length}});
  for (int i = 0; options->kinds[LADDER_AXES] && i < options->shape_count; i++)
    climb_data(c,
               (ladder_data){.kind = LADDER_AXES, .ndim = 2, .shape = {options->shapes[i][0], options->shapes[i][1]}});
  if (options->kinds[LADDER_ND] && options->bench.device == &bench_cpu) {
    fputs("nd: these rungs are calls of the library, whose kernels are not counted; a GPU times them\n", c->table);
  } else if (options->kinds[LADDER_ND]) {
    ladder_data data = {.kind = LADDER_ND, .ndim = 5};
    memcpy(data.shape, options->dims, sizeof options->dims);
    climb_data(c, data);
  }
  if (options->kinds[LADDER_SCAN])
    climb_data(c, (ladder_data){.kind = LADDER_SCAN, .ndim = 1, .shape = {options->length}});
  for (int i = 0; options->kinds[LADDER_SELECT] && i < options->keep_count; i++)
    climb_data(c,
               (ladder_data){.kind = LADDER_SELECT, .ndim = 1, .shape = {options->length}, .keep = options->keeps[i]});
}

static int explain(const char *number) {
  bool any = false;
  for (int i = 0; i < ladder_rung_count; i++) {
    const ladder_rung *rung = &ladder_rungs[i];
    if (strcmp(number, "all") != 0 && !ladder_rung_is(rung, number)) continue;
    printf("%s%s. %s\n%s\n", any ? "\n" : "", rung->number, rung->name, rung->idea);
    any = true;
  }
  return EXIT_SUCCESS;
}

static int print_source(const char *number) {
  bool any = false, whole = true, all = strcmp(number, "all") == 0;
  for (int i = 0; i < ladder_rung_count; i++) {
    const ladder_rung *rung = &ladder_rungs[i];
    if (all ? !ladder_has_source(rung) : !ladder_rung_is(rung, number)) continue;
    if (any) putchar('\n');
    any = ladder_source_print(rung, stdout);
    whole = whole && any;
    if (!any)
      fprintf(stderr, "ndbench: rung %s, %s, has no text of its own: a library does its work\n", rung->number,
              rung->name);
  }
  return whole ? EXIT_SUCCESS : EXIT_RUN;
}

int bench_ladder(int argc, char **argv) {
  ladder_options options;
  ladder_options_read(&options, argc, argv);
  if (options.explain) return explain(options.explain);
  if (options.source) return print_source(options.source);
  const char *reason = options.bench.device->open(&options.bench);
#ifndef NDBENCH_WITH_SIMT
  if (!reason && options.bench.device == &bench_cpu)
    reason = "ladder --device cpu emulates a GPU, and this build lacks that part: no C++ compiler was found";
#endif
  if (!reason && !bench_json_check(&options.bench)) return EXIT_RUN;
  climb *c = reason ? NULL : calloc(1, sizeof *c);
  if (!c) {
    fprintf(stderr, "ndbench: %s\n", reason ? reason : "out of memory");
    return EXIT_RUN;
  }
  bool json_only = options.bench.json && strcmp(options.bench.json, "-") == 0;
  c->options = &options;
  c->fine = true;
  c->table = json_only ? stderr : stdout;
  bench_banner(&options.bench, c->table);
  climb_all(c);
  bool fine = c->fine;
  if (options.bench.device == &bench_cpu && c->count > 0) ladder_table_legend(&options, c->table);
  if (options.bench.json) fine = ladder_json(&options, c->records, c->count) && fine;
  free(c);
  return fine ? EXIT_SUCCESS : EXIT_RUN;
}
