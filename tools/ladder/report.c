/* The ladder's table and its JSON. Measures nothing. */
#include <math.h>

#include "ladder/ladder.h"

static double rate(const ladder_record *record) {
  return record->time.typical > 0 ? record->time.bytes / record->time.typical : 0;
}

static double share(const ladder_record *record) {
  return record->time.ceiling > 0 ? rate(record) / record->time.ceiling : 0;
}

static bool is_timed(const ladder_options *options) {
  return options->bench.device != &bench_cpu;
}

static const char *op_name(const ladder_options *options, ladder_kind kind) {
  return kind == LADDER_SELECT ? "select" : ladder_op_names[options->op];
}

void ladder_table_head(const ladder_options *options, const ladder_data *data, FILE *to) {
  fprintf(to, "%s%s of %s ", data->kind == LADDER_SCAN ? "prefix " : "", op_name(options, data->kind),
          ladder_dtype_names[options->dtype]);
  for (int d = 0; d < data->ndim; d++) fprintf(to, d ? " x %lld" : "%lld", (long long)data->shape[d]);
  if (data->kind == LADDER_SELECT) fprintf(to, ", %d %% kept", data->keep);
  fprintf(to, ", blocks of %d", options->block);
  if (data->kind == LADDER_REDUCE) fprintf(to, ", OVERLAP %d", options->overlap);
  fputs(is_timed(options) ? "\n" : ", counted under emulation\n", to);
  fprintf(to, "%-4s %-30s ", "rung", "");
  if (is_timed(options))
    fprintf(to, "%12s %9s %7s %8s\n", "median us", "GB/s", "% max", "gain");
  else
    fprintf(to, "%8s %8s %5s %9s %9s %9s %9s %9s %9s %9s %9s\n", "launches", "blocks", "loads", "accesses", "sectors",
            "conflicts", "divergent", "barriers", "shuffles", "atomics", "in shared");
}

void ladder_table_legend(const ladder_options *options, FILE *to) {
  fputs("\nloads      that a thread has in flight together before it uses the first\n"
        "accesses   of warps to global memory; sectors: the 32-byte pieces of it that they touch\n"
        "conflicts  turns that lanes wait for a bank of shared memory\n"
        "divergent  branches that some lanes of a warp take and some do not\n"
        "barriers   a block's; shuffles: a warp's; atomics: a thread's, in global and in shared memory\n",
        to);
  if (!options->kinds[LADDER_REDUCE] || options->rung) return;
  fputs("Counts are not times. On an H200 rung 4 is slower than 3: one thread adds there while the loads of other "
        "blocks\n"
        "go on, where the steps of 4 keep every warp busy for a few of its lanes. Rung 12 is as fast as 11: its "
        "barriers\n"
        "are fewer, but both wait for memory. Rungs 7, 8 and 13 gain by the bytes that they have in flight.\n",
        to);
}

static void print_times(const ladder_record *record, FILE *to) {
  fprintf(to, "%12.2f %9.2f %6.1f%%", record->time.median * 1e6, rate(record) / 1e9, 100 * share(record));
  if (record->gain > 0)
    fprintf(to, " %7.2fx", record->gain);
  else
    fprintf(to, " %8s", "");
}

static void print_counts(const ladder_options *options, const ladder_record *record, FILE *to) {
  const simt_counts *c = &record->counts;
  fprintf(to, "%8lld %8lld %5d %9lld %9lld %9lld %9lld %9lld %9lld %9lld %9lld", c->launches, c->blocks,
          ladder_loads(record->rung, options), c->accesses, c->sectors, c->conflicts, c->divergent, c->barriers,
          c->shuffles, c->global_atomics, c->shared_atomics);
}

void ladder_table_row(const ladder_options *options, const ladder_record *record, FILE *to) {
  fprintf(to, "%-4s %-30s ", record->rung->number, record->rung->name);
  if (record->left_out)
    fprintf(to, "-  %s", record->complaint);
  else if (is_timed(options) && record->time.typical > 0)
    print_times(record, to);
  else if (!is_timed(options) && record->counts.launches > 0)
    print_counts(options, record, to);
  if (!record->left_out && !record->correct) fprintf(to, "  FAILED: %s", record->complaint);
  fputc('\n', to);
  fflush(to);
}

static void json_counts(const ladder_options *options, const ladder_record *record, json *j) {
  const simt_counts *c = &record->counts;
  const struct {
    const char *name;
    long long value;
  } facts[] = {{"launches", c->launches},
               {"blocks", c->blocks},
               {"loads_in_flight", ladder_loads(record->rung, options)},
               {"global_accesses", c->accesses},
               {"global_sectors", c->sectors},
               {"global_lines", c->lines},
               {"global_bytes", c->bytes},
               {"shared_accesses", c->shared_accesses},
               {"bank_conflicts", c->conflicts},
               {"branches", c->branches},
               {"divergent_branches", c->divergent},
               {"barriers", c->barriers},
               {"shuffles", c->shuffles},
               {"global_atomics", c->global_atomics},
               {"shared_atomics", c->shared_atomics}};
  json_open(j, "counts", '{');
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) json_integer(j, facts[i].name, facts[i].value);
  json_close(j, '}');
}

static void json_times(const ladder_record *record, json *j) {
  json_integer(j, "bytes", (long long)record->time.bytes);
  json_integer(j, "samples", record->time.samples);
  json_number(j, "seconds", record->time.seconds);
  json_number(j, "median_seconds", record->time.median);
  json_number(j, "gbps", rate(record) / 1e9);
  json_number(j, "ceiling_gbps", record->time.ceiling / 1e9);
  json_number(j, "of_ceiling", share(record));
  json_number(j, "gain", record->gain > 0 ? record->gain : NAN);
}

static void json_row(const ladder_options *options, const ladder_record *record, json *j) {
  json_line(j, 4);
  json_open(j, NULL, '{');
  json_text(j, "ladder", ladder_kind_names[record->rung->kind]);
  json_text(j, "rung", record->rung->number);
  json_text(j, "name", record->rung->name);
  json_text(j, "op", op_name(options, record->rung->kind));
  json_text(j, "dtype", ladder_dtype_names[options->dtype]);
  json_text(j, "shape", record->shape);
  if (record->rung->kind == LADDER_SELECT) json_integer(j, "keep", record->keep);
  json_open(j, "dims", '[');
  for (int i = 0; i < record->rung->dim_count; i++) json_integer(j, NULL, record->rung->dims[i]);
  json_close(j, ']');
  json_integer(j, "block", options->block);
  json_integer(j, "overlap", options->overlap);
  if (record->time.typical > 0) json_times(record, j);
  if (record->counts.launches > 0) json_counts(options, record, j);
  json_bool(j, "verified", record->correct);
  if (record->complaint[0]) json_text(j, record->left_out ? "left_out" : "failed", record->complaint);
  json_close(j, '}');
}

bool ladder_json(const ladder_options *options, const ladder_record *records, int count) {
  json j;
  double ceiling = 0;
  if (!bench_json_open(&options->bench, &j)) return false;
  for (int i = 0; i < count; i++)
    if (records[i].time.ceiling > ceiling) ceiling = records[i].time.ceiling;
  if (ceiling > 0) json_number(&j, "ceiling_gbps", ceiling / 1e9);
  json_line(&j, 2);
  json_open(&j, "rows", '[');
  for (int i = 0; i < count; i++) json_row(options, &records[i], &j);
  json_line(&j, 2);
  json_close(&j, ']');
  return bench_json_close(&options->bench, &j);
}
