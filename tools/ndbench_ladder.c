#include "ndbench_ladder.h"

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

static bool wanted(const ladder_options *options, const ladder_rung *rung, ladder_kind kind) {
  return rung->kind == kind && (!options->rung || ladder_rung_is(rung, options->rung));
}

static void describe_shape(const ladder_data *data, ladder_record *record) {
  for (int d = 0, at = 0; d < data->ndim; d++)
    at += snprintf(record->shape + at, sizeof record->shape - (size_t)at, d ? "x%lld" : "%lld",
                   (long long)data->shape[d]);
}

/* The gain is over the last rung before that was timed over the same dims of the same data. */
static void find_gain(const ladder_data *data, const ladder_record *first, ladder_record *record) {
  for (const ladder_record *before = record; record->time.typical > 0 && before > first;) {
    before--;
    if (before->time.typical <= 0 || ladder_reduced(data, before->rung) != ladder_reduced(data, record->rung)) continue;
    record->gain = before->time.typical / record->time.typical;
    return;
  }
}

static void run_all(climb *c, ladder_data *data) {
  const ladder_record *first = &c->records[c->count];
  if (c->count > 0) fputc('\n', c->table);
  ladder_table_head(c->options, data, c->table);
  for (int i = 0; i < ladder_rung_count && c->count < MOST_RECORDS; i++) {
    ladder_record *record = &c->records[c->count];
    if (!wanted(c->options, &ladder_rungs[i], data->kind)) continue;
    *record = (ladder_record){.rung = &ladder_rungs[i]};
    describe_shape(data, record);
    bool fine = run_rung(c->options, data, record);
    find_gain(data, first, record);
    ladder_table_row(c->options, record, c->table);
    c->fine = c->fine && (fine || record->left_out);
    c->count++;
  }
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
}

static int explain(const char *number) {
  for (int i = 0; i < ladder_rung_count; i++) {
    const ladder_rung *rung = &ladder_rungs[i];
    if (ladder_rung_is(rung, number)) printf("%s. %s\n%s\n", rung->number, rung->name, rung->idea);
  }
  return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_RUN;
}

int bench_ladder(int argc, char **argv) {
  ladder_options options;
  ladder_options_read(&options, argc, argv);
  if (options.explain) return explain(options.explain);
  const char *reason = options.bench.device->open(&options.bench);
#ifndef NDBENCH_WITH_SIMT
  if (!reason && options.bench.device == &bench_cpu)
    reason = "ladder --device cpu emulates a GPU, and this build lacks that part: no C++ compiler was found";
#endif
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
  if (options.bench.json) fine = ladder_json(&options, c->records, c->count) && fine;
  free(c);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fputs("ndbench: cannot write to standard output\n", stderr);
    fine = false;
  }
  return fine ? EXIT_SUCCESS : EXIT_RUN;
}
