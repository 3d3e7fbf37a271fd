#include <stdlib.h>
#include <string.h>

#include "ndbench.h"

/* Timing and read loop take turns, so that a slow spell of the machine meets both. */
enum { ROUNDS = 5 };

/* A problem with its data: host memory, the same on the device, and one result an op. */
typedef struct bench_setup {
  const bench_options *options;
  const ndr_case *reduction;
  ndr_options call;
  void *host, *placed;
  size_t bytes;
  int64_t shape[NDR_MAX_DIMS], strides[NDR_MAX_DIMS];
  DLTensor array;
  int64_t outputs;
  struct {
    int64_t shape[NDR_MAX_DIMS];
    DLTensor tensor;
    size_t bytes;
    void *host, *placed;
  } results[NDR_MAX_OPS];
} bench_setup;

ndr_options bench_call_options(const bench_options *options, const ndr_case *reduction, const char *family) {
  ndr_options call = NDR_OPTIONS_INIT;
  call.keepdims = reduction->keepdims;
  call.skip_nan = reduction->skip_nan;
  call.ddof = reduction->ddof;
  call.accumulate = reduction->accumulate;
  call.threads = options->threads;
  call.force_family = family;
  return call;
}

static void complain(bench_row *row, const char *text) {
  snprintf(row->complaint, sizeof row->complaint, "%s", text);
}

static void describe_array(bench_setup *setup) {
  const ndr_case *reduction = setup->reduction;
  memcpy(setup->shape, reduction->shape, sizeof setup->shape);
  memcpy(setup->strides, reduction->strides, sizeof setup->strides);
  setup->array = (DLTensor){.device = setup->options->device->place,
                            .ndim = reduction->ndim,
                            .dtype = ndr_dtype_to_dlpack(reduction->dtype),
                            .shape = setup->shape,
                            .strides = setup->strides};
}

static bool set_up_data(bench_setup *setup) {
  const bench_device *device = setup->options->device;
  size_t size = ndr_dtype_bytes(setup->reduction->dtype);
  int64_t low, high;
  if (ndr_case_extent(setup->reduction, &low, &high) != NDR_OK) return false;
  setup->bytes = high < low ? 0 : (size_t)(high - low + 1) * size;
  setup->host = bench_allocate(setup->bytes);
  if (!setup->host) return false;
  bench_fill(setup->options, setup->reduction, setup->host, setup->bytes);
  setup->placed = device->place_data(setup->host, setup->bytes);
  setup->array.data = setup->placed;
  setup->array.byte_offset = high < low ? 0 : (uint64_t)-low * size;
  return setup->placed != NULL;
}

static bool set_up_result(bench_setup *setup, int i) {
  const bench_device *device = setup->options->device;
  DLTensor *tensor = &setup->results[i].tensor;
  tensor->shape = setup->results[i].shape;
  if (ndr_result_describe(&setup->array, setup->reduction->dim_count, setup->reduction->dims, setup->reduction->ops[i],
                          &setup->call, tensor) != NDR_OK)
    return false;
  setup->outputs = 1;
  for (int d = 0; d < tensor->ndim; d++) setup->outputs *= tensor->shape[d];
  setup->results[i].bytes = (size_t)setup->outputs * tensor->dtype.bits / 8;
  setup->results[i].host = bench_allocate(setup->results[i].bytes);
  if (!setup->results[i].host) return false;
  memset(setup->results[i].host, 0xa5, setup->results[i].bytes);
  setup->results[i].placed = device->place_data(setup->results[i].host, setup->results[i].bytes);
  tensor->data = setup->results[i].placed;
  return tensor->data != NULL;
}

static bool set_up(bench_setup *setup, const bench_options *options, const ndr_case *reduction) {
  memset(setup, 0, sizeof *setup);
  setup->options = options;
  setup->reduction = reduction;
  setup->call = bench_call_options(options, reduction, options->family);
  describe_array(setup);
  if (!set_up_data(setup)) return false;
  for (int i = 0; i < reduction->op_count; i++)
    if (!set_up_result(setup, i)) return false;
  return true;
}

static void tear_down(bench_setup *setup) {
  const bench_device *device = setup->options->device;
  for (int i = 0; i < NDR_MAX_OPS; i++) {
    if (setup->results[i].placed) device->drop_data(setup->results[i].placed, setup->results[i].host);
    free(setup->results[i].host);
  }
  if (setup->placed) device->drop_data(setup->placed, setup->host);
  free(setup->host);
}

static ndr_status reduce(const bench_setup *setup, const DLTensor *array, DLTensor *const *results,
                         const ndr_options *call) {
  return ndreduce_many(array, setup->reduction->dim_count, setup->reduction->dims, setup->reduction->op_count,
                       setup->reduction->ops, results, call);
}

static bool call_once(void *context) {
  bench_setup *setup = context;
  DLTensor *results[NDR_MAX_OPS];
  for (int i = 0; i < setup->reduction->op_count; i++) results[i] = &setup->results[i].tensor;
  return reduce(setup, &setup->array, results, &setup->call) == NDR_OK;
}

/* ---- the family's name, from the plan's description: its second line starts with it ---- */

static bool plan_text(const bench_setup *setup, char *text, size_t capacity) {
  ndr_plan *plan;
  if (ndr_plan_create(&plan, &setup->array, setup->reduction->dim_count, setup->reduction->dims,
                      setup->reduction->op_count, setup->reduction->ops, NULL, &setup->call) != NDR_OK)
    return false;
  ndr_plan_describe(plan, text, capacity);
  ndr_plan_destroy(plan);
  return true;
}

static bool find_family(const bench_setup *setup, char *family, size_t capacity) {
  char text[4096];
  if (!plan_text(setup, text, sizeof text)) return false;
  const char *line = strchr(text, '\n');
  line = line ? line + 1 : text;
  snprintf(family, capacity, "%.*s", (int)strcspn(line, " \n"), line);
  return true;
}

bool bench_explain(const bench_options *options, const bench_problem *problem) {
  char text[4096];
  bench_setup setup = {.options = options, .reduction = &problem->reduction};
  setup.call = bench_call_options(options, &problem->reduction, options->family);
  describe_array(&setup);
  if (!plan_text(&setup, text, sizeof text)) {
    printf("%s\n", problem->text);
    fprintf(stderr, "ndbench: %s\n", ndr_last_error());
    return false;
  }
  fputs(text, stdout);
  return true;
}

/* ---- verification: the scalar family of the CPU over the same data ---- */

static bool check_results(const bench_setup *setup, DLTensor *const *expected, bench_row *row) {
  const bench_device *device = setup->options->device;
  bool same = true;
  for (int i = 0; same && i < setup->reduction->op_count; i++) {
    ndr_dtype dtype = NDR_BOOL;
    (void)ndr_dtype_from_dlpack(setup->results[i].tensor.dtype, &dtype);
    device->fetch(setup->results[i].host, setup->results[i].placed, setup->results[i].bytes);
    same = bench_same(setup->reduction, setup->reduction->ops[i], dtype, setup->outputs, setup->results[i].host,
                      expected[i]->data, row->complaint, sizeof row->complaint);
  }
  return same;
}

static bool verify(const bench_setup *setup, bench_row *row) {
  DLTensor tensors[NDR_MAX_OPS], *expected[NDR_MAX_OPS], array = setup->array;
  ndr_options call = bench_call_options(setup->options, setup->reduction, "scalar");
  bool fine = true;
  array.device = (DLDevice){kDLCPU, 0};
  array.data = setup->host;
  for (int i = 0; i < setup->reduction->op_count; i++) {
    tensors[i] = setup->results[i].tensor;
    tensors[i].device = array.device;
    tensors[i].data = bench_allocate(setup->results[i].bytes);
    fine = fine && tensors[i].data;
    expected[i] = &tensors[i];
  }
  if (!fine)
    complain(row, "out of memory to verify");
  else if (reduce(setup, &array, expected, &call) != NDR_OK)
    complain(row, ndr_last_error());
  else
    row->verified = check_results(setup, expected, row);
  for (int i = 0; i < setup->reduction->op_count; i++) free(tensors[i].data);
  return row->verified;
}

/* ---- timing ---- */

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Calls a sample so that one takes at least 100 us: short calls are timed back to back. */
static int64_t choose_batch(bench_setup *setup) {
  int64_t batch = 1;
  for (; batch < 1 << 20; batch *= 2) {
    double seconds = setup->options->device->sample(call_once, setup, batch);
    if (seconds < 0 || seconds * (double)batch >= 100e-6) break;
  }
  return batch;
}

static double bytes_moved(const bench_setup *setup) {
  double elements = 1, bytes = 0;
  for (int d = 0; d < setup->reduction->ndim; d++)
    if (setup->shape[d] == 0 || setup->strides[d] != 0) elements *= (double)setup->shape[d];
  for (int i = 0; i < setup->reduction->op_count; i++) bytes += (double)setup->results[i].bytes;
  return bytes + elements * (double)ndr_dtype_bytes(setup->reduction->dtype);
}

static bool measure(bench_setup *setup, bench_row *row) {
  const bench_device *device = setup->options->device;
  static bench_samples samples;
  row->bytes = bytes_moved(setup);
  size_t read = row->bytes < (double)setup->bytes ? (size_t)row->bytes : setup->bytes;
  samples.count = 0;
  row->batch = choose_batch(setup);
  for (int round = 0; round < ROUNDS; round++) {
    double ceiling = device->ceiling(setup->options, setup->placed, read, 2);
    row->ceiling = ceiling > row->ceiling ? ceiling : row->ceiling;
    int until = setup->options->repeat * (round + 1) / ROUNDS;
    while (samples.count < until) {
      double seconds = device->sample(call_once, setup, row->batch);
      if (seconds < 0) return false;
      samples.seconds[samples.count++] = seconds;
    }
  }
  qsort(samples.seconds, (size_t)samples.count, sizeof *samples.seconds, compare);
  row->samples = samples.count;
  row->seconds = samples.seconds[0];
  row->median = samples.seconds[samples.count / 2];
  return true;
}

bool bench_run(const bench_options *options, const bench_problem *problem, bench_row *row) {
  bench_setup setup;
  *row = (bench_row){.problem = problem};
  bool fine = set_up(&setup, options, &problem->reduction);
  if (!fine) complain(row, setup.host && ndr_last_error()[0] ? ndr_last_error() : "out of memory");
  if (fine) {
    fine = find_family(&setup, row->family, sizeof row->family) && call_once(&setup);
    if (!fine) complain(row, ndr_last_error());
  }
  if (fine && options->verify) fine = verify(&setup, row);
  if (fine) {
    fine = measure(&setup, row);
    if (!fine) complain(row, ndr_last_error());
  }
  tear_down(&setup);
  return fine;
}
