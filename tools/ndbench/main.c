/* ndbench: times reductions, and checks their results, on the CPU or a GPU. `ndbench ladder` is in ladder/ladder.c. */
#include <stdlib.h>
#include <string.h>

#include "cli/streams.h"
#include "ndbench/ndbench.h"

static const bench_device *const devices[] = {
#ifdef NDBENCH_WITH_CUDA
    &bench_cuda, /* before the CPU, which is always there: auto takes the first */
#endif
    &bench_cpu};

const bench_device *bench_device_find(const char *name) {
  bool any = strcmp(name, "auto") == 0;
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
    const bench_device *device = devices[i];
    if (any ? device == &bench_cpu || !device->open(NULL) : strcmp(device->name, name) == 0) return device;
  }
  return NULL;
}

static bool explain_all(const bench_options *options) {
  bool fine = true;
  for (int i = 0; i < options->list.count; i++) {
    if (i) putchar('\n');
    fine = bench_explain(options, &options->list.problems[i]) && fine;
  }
  return fine;
}

static bool run_all(const bench_options *options) {
  bool fine = true, json_only = options->json && strcmp(options->json, "-") == 0;
  FILE *table = json_only ? stderr : stdout;
  bench_row *rows = calloc((size_t)options->list.count, sizeof *rows);
  if (!rows) {
    fprintf(stderr, "ndbench: out of memory for %d rows\n", options->list.count);
    return false;
  }
  bench_table_head(options, table);
  for (int i = 0; i < options->list.count; i++) {
    fine = bench_run(options, &options->list.problems[i], &rows[i]) && fine;
    bench_table_row(options, &rows[i], table);
  }
  if (options->json) fine = bench_json(options, rows, options->list.count) && fine;
  free(rows);
  return fine;
}

int main(int argc, char **argv) {
  bench_options options;
  streams_open("ndbench", EXIT_RUN);
  if (argc > 1 && strcmp(argv[1], "ladder") == 0) return bench_ladder(argc - 1, argv + 1);
  bench_options_read(&options, argc, argv);
  const char *reason = options.device->open(&options);
  if (reason) fprintf(stderr, "ndbench: %s\n", reason);
  if (reason || !bench_json_check(&options)) {
    bench_list_free(&options.list);
    return EXIT_RUN;
  }
  bool fine = options.explain  ? explain_all(&options)
              : options.gauge  ? bench_gauge(&options)
              : options.regret ? bench_regret(&options)
                               : run_all(&options);
  bench_list_free(&options.list);
  return fine ? EXIT_SUCCESS : EXIT_RUN;
}
