/* One problem: sets it up, checks its results against the reference, and has it timed. The clock is in
 * time.c. */
#include <stdlib.h>
#include <string.h>

#include "ndbench/ndbench.h"

/* A problem with its data: host memory, the same on the device, and one result an op. */
typedef struct bench_setup {
  const bench_options *options;
  const ndr_problem *reduction;
  ndr_options call;
  void *host, *placed;
  size_t bytes;
  int offset; /* as in bench_problem */
  DLTensor array;
  bench_operands operands;
  int64_t outputs;
  struct {
    int64_t shape[NDR_MAX_DIMS];
    DLTensor tensor;
    size_t bytes;
    void *host, *placed;
  } results[NDR_MAX_OPS];
  void *other; /* like results[0].placed, for peers; NULL where there are none */
} bench_setup;

ndr_options bench_plan_options(const bench_options *options, const char *family) {
  ndr_options how = NDR_OPTIONS_INIT;
  how.threads = options->threads;
  how.force_family = family;
  how.planning = options->measure ? NDR_MEASURE : NDR_ESTIMATE;
  return how;
}

ndr_options bench_call_options(const bench_options *options, const ndr_problem *reduction, const char *family) {
  ndr_options call = bench_plan_options(options, family);
  call.keepdims = reduction->keepdims;
  call.skip_nan = reduction->skip_nan;
  call.ddof = reduction->ddof;
  call.accumulate = reduction->accumulate;
  call.weighting = reduction->weighting;
  call.initial = reduction->has_initial ? &reduction->initial : NULL;
  call.groups = reduction->groups;
  call.group_dim = reduction->group_dim;
  return call;
}

static void complain(bench_row *row, const char *text) {
  snprintf(row->complaint, sizeof row->complaint, "%s", text);
}

DLTensor bench_tensor(const ndr_problem *reduction, DLDevice place) {
  return (DLTensor){.device = place,
                    .ndim = reduction->ndim,
                    .dtype = ndr_dtype_to_dlpack(reduction->dtype),
                    .shape = (int64_t *)(uintptr_t)reduction->shape, /* DLTensor has no const; nothing writes there */
                    .strides = (int64_t *)(uintptr_t)reduction->strides};
}

static double distinct_bytes(const ndr_problem *reduction, ndr_dtype dtype, const int64_t *strides) {
  double elements = 1;
  for (int d = 0; d < reduction->ndim; d++)
    if (reduction->shape[d] == 0 || strides[d] != 0) elements *= (double)reduction->shape[d];
  return elements * (double)ndr_dtype_bytes(dtype);
}

double bench_bytes_read(const ndr_problem *reduction) {
  double bytes = distinct_bytes(reduction, reduction->dtype, reduction->strides);
  for (int k = 0; k < reduction->operand_count; k++)
    bytes += distinct_bytes(reduction, reduction->operands[k].dtype, reduction->operands[k].strides);
  return bytes;
}

static bool set_up_data(bench_setup *setup) {
  const bench_device *device = setup->options->device;
  size_t size = ndr_dtype_bytes(setup->reduction->dtype);
  int64_t low, high;
  if (ndr_problem_extent(setup->reduction, &low, &high) != NDR_OK) return false;
  setup->bytes = high < low ? 0 : (size_t)(high - low + 1 + setup->offset) * size;
  setup->host = bench_allocate(setup->bytes);
  if (!setup->host) return false;
  bench_fill(setup->options, setup->reduction, setup->host, setup->bytes);
  setup->placed = device->place_data(setup->host, setup->bytes);
  setup->array.data = setup->placed;
  setup->array.byte_offset = high < low ? 0 : (uint64_t)(setup->offset - low) * size;
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
  if (i == 0 && device->peers) setup->other = device->place_data(setup->results[0].host, setup->results[0].bytes);
  return tensor->data != NULL && (!device->peers || setup->other);
}

static bool set_up(bench_setup *setup, const bench_options *options, const bench_problem *problem) {
  const ndr_problem *reduction = &problem->reduction;
  memset(setup, 0, sizeof *setup);
  setup->offset = problem->offset;
  setup->options = options;
  setup->reduction = reduction;
  setup->call = bench_call_options(options, reduction, options->family);
  setup->array = bench_tensor(reduction, options->device->place);
  if (!set_up_data(setup) || !bench_operands_make(&setup->operands, options, reduction)) return false;
  bench_operands_name(&setup->operands, reduction, false, &setup->call);
  for (int i = 0; i < reduction->op_count; i++)
    if (!set_up_result(setup, i)) return false;
  return true;
}

static void tear_down(bench_setup *setup) {
  const bench_device *device = setup->options->device;
  if (setup->other) device->drop_data(setup->other, setup->results[0].host);
  for (int i = 0; i < NDR_MAX_OPS; i++) {
    if (setup->results[i].placed) device->drop_data(setup->results[i].placed, setup->results[i].host);
    free(setup->results[i].host);
  }
  bench_operands_drop(&setup->operands);
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

/* ---- the family's name, from the plan's description ---- */

/* The description, to be freed; NULL on failure. */
static char *plan_text(const bench_setup *setup) {
  ndr_plan *plan;
  ndr_options how = bench_plan_options(setup->options, setup->options->family);
  if (ndr_plan_create(&plan, setup->reduction, setup->options->device->place, NULL, &how) != NDR_OK) return NULL;
  size_t capacity = ndr_plan_describe(plan, NULL, 0) + 1;
  char *text = malloc(capacity);
  if (text) ndr_plan_describe(plan, text, capacity);
  ndr_plan_destroy(plan);
  return text;
}

/* The first word of the second line. With groups that line is about them, and the family of the largest piece follows;
 * where labels are sorted there is no such piece. */
static bool find_family(const bench_setup *setup, char *family, size_t capacity) {
  char *text = plan_text(setup);
  if (!text) return false;
  const char *line = strchr(text, '\n');
  if (line && setup->reduction->groups) line = strchr(line + 1, '\n');
  line = line && line[1] ? line + 1 : "sorted";
  snprintf(family, capacity, "%.*s", (int)strcspn(line, " \n"), line);
  free(text);
  return true;
}

bool bench_explain(const bench_options *options, const bench_problem *problem) {
  bench_setup setup = {.options = options, .reduction = &problem->reduction};
  setup.call = bench_call_options(options, &problem->reduction, options->family);
  setup.array = bench_tensor(&problem->reduction, options->device->place);
  char *text = plan_text(&setup);
  if (!text) {
    printf("%s\n", problem->text);
    fprintf(stderr, "ndbench: %s\n", ndr_last_error());
    return false;
  }
  fputs(text, stdout);
  free(text);
  return true;
}

/* ---- verification: the CPU over the same data, in the family that the device names ---- */

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

static bool verify(bench_setup *setup, bench_row *row) {
  DLTensor tensors[NDR_MAX_OPS] = {{0}}, *expected[NDR_MAX_OPS], array = setup->array;
  ndr_options call = bench_call_options(setup->options, setup->reduction, setup->options->device->reference);
  bool fine = true;
  array.device = (DLDevice){kDLCPU, 0};
  array.data = setup->host;
  bench_operands_name(&setup->operands, setup->reduction, true, &call);
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

static double bytes_moved(const bench_setup *setup) {
  double bytes = bench_bytes_read(setup->reduction);
  for (int i = 0; i < setup->reduction->op_count; i++) bytes += (double)setup->results[i].bytes;
  return bytes;
}

/* Other libraries know whole arrays without options. */
static bool plain(const bench_setup *setup) {
  const ndr_problem *r = setup->reduction;
  int64_t stride = 1;
  for (int d = r->ndim - 1; d >= 0; d--) {
    if (r->strides[d] != stride && r->shape[d] != 1) return false;
    stride *= r->shape[d];
  }
  return stride > 0 && r->op_count == 1 && r->ops[0] < NDR_OP_COUNT && !r->skip_nan &&
         r->accumulate == NDR_ACCUMULATE_DEFAULT && r->operand_count == 0 && !r->has_initial && !r->groups;
}

/* Whether what a peer has left in the other result is what ours holds. */
static bool accept(void *context) {
  bench_setup *setup = context;
  const bench_device *device = setup->options->device;
  char complaint[160];
  ndr_dtype dtype = NDR_BOOL;
  void *theirs = bench_allocate(setup->results[0].bytes);
  if (!theirs) return false;
  (void)ndr_dtype_from_dlpack(setup->results[0].tensor.dtype, &dtype);
  device->fetch(theirs, setup->other, setup->results[0].bytes);
  device->fetch(setup->results[0].host, setup->results[0].placed, setup->results[0].bytes);
  bool same = bench_same(setup->reduction, setup->reduction->ops[0], dtype, setup->outputs, theirs,
                         setup->results[0].host, complaint, sizeof complaint);
  free(theirs);
  return same || !setup->options->verify;
}

static bool measure(bench_setup *setup, bench_row *row) {
  row->bytes = bytes_moved(setup);
  const char *first = (const char *)setup->placed + setup->array.byte_offset;
  bench_job job = {setup->reduction, first, setup->other, setup->outputs};
  bench_subject subject = {.call = call_once,
                           .context = setup,
                           .placed = setup->placed,
                           .read = row->bytes < (double)setup->bytes ? (size_t)row->bytes : setup->bytes,
                           .job = setup->other && plain(setup) ? &job : NULL,
                           .accept = accept};
  return bench_time(setup->options, &subject, row);
}

bool bench_run(const bench_options *options, const bench_problem *problem, bench_row *row) {
  bench_setup setup;
  *row = (bench_row){.problem = problem};
  bool fine = set_up(&setup, options, problem);
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
