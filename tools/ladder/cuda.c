/* Rungs on a GPU: run, checked, timed. */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ladder/ladder.h"
#include "ndbench/cuda.h"
#include "ndreduce/scan.h"

/* Slow rungs get fewer samples: about as many as fit in this many seconds, at least one. */
#define PATIENCE 1.5

/* There is no atomic product, and n compare-and-swaps on one address take seconds for a million. */
enum { MOST_SWAPS = 1 << 20 };

typedef struct rung_run {
  const ladder_rung *rung;
  ladder_job job;
  void *copy, *workspace;
  size_t workspace_bytes;
  double value; /* where Thrust leaves its result */
  ndr_problem reduction;
  bench_job matrix;
  bool took; /* cuBLAS has been made ready */
  int64_t outputs, shape[5], between[5], kept[5];
  DLTensor array, half, result; /* of the library's calls; half is what one call of two leaves */
  DLTensor mask;                /* of SELECT */
  const char *sentence;         /* what a call failed with */
} rung_run;

static bool fine(rung_run *r, int error) {
  if (error != cudaSuccess)
    r->sentence = error == NDBENCH_NONE ? "there is no such kernel" : cudaGetErrorString((cudaError_t)error);
  return error == cudaSuccess;
}

static bool call_kernel(void *context) {
  rung_run *r = context;
  return fine(r, ndbench_ladder(r->rung->kernel, &r->job, NULL));
}

static bool call_others(void *context) {
  rung_run *r = context;
  return fine(r, ndbench_ladder_others(r->rung->kernel, &r->job, r->workspace, &r->workspace_bytes, &r->value, NULL));
}

static bool call_cublas(void *context) {
  rung_run *r = context;
  if (!bench_cublas.call(NULL)) r->sentence = "cuBLAS failed";
  return !r->sentence;
}

static ndr_op library_op(ladder_op op) {
  return op == LADDER_SUM ? NDR_SUM : op == LADDER_PROD ? NDR_PROD : op == LADDER_MIN ? NDR_MIN : NDR_MAX;
}

static ndr_status library_status(rung_run *r) {
  ndr_op op = library_op(r->job.op);
  if (r->rung->kind == LADDER_SCAN) return ndr_scan(&r->array, 0, op, &r->result, NULL);
  if (r->rung->kind == LADDER_SELECT)
    return ndr_select(&r->array, &r->mask, NDR_SCAN_ALL, &r->result, r->job.scratch, NULL);
  return ndreduce(&r->array, r->rung->dim_count, r->rung->dims, op, &r->result, NULL);
}

static bool call_library(void *context) {
  rung_run *r = context;
  bool done = library_status(r) == NDR_OK;
  if (!done) r->sentence = ndr_last_error();
  return done;
}

/* The later dim first: what is left of it is the smaller array, and the earlier dim keeps its number. */
static bool call_library_twice(void *context) {
  rung_run *r = context;
  ndr_op op = library_op(r->job.op);
  bool done = ndreduce(&r->array, 1, &r->rung->dims[1], op, &r->half, NULL) == NDR_OK &&
              ndreduce(&r->half, 1, &r->rung->dims[0], op, &r->result, NULL) == NDR_OK;
  if (!done) r->sentence = ndr_last_error();
  return done;
}

static bool (*call_of(const ladder_rung *rung))(void *context) {
  switch (rung->way) {
  case LADDER_BY_CUBLAS: return call_cublas;
  case LADDER_BY_US: return call_library;
  case LADDER_BY_US_TWICE: return call_library_twice;
  default: return rung->kernel < LADDER_THRUST ? call_kernel : call_others;
  }
}

/* ---- making ready ---- */

static bool take_pitched(rung_run *r, const ladder_data *data) {
  size_t row = (size_t)data->shape[1] * ladder_bytes(data->dtype), padded = ladder_padded_row(data);
  if (!fine(r, (int)cudaMalloc(&r->copy, (size_t)data->shape[0] * padded))) return false;
  r->job.data = r->copy;
  r->job.pitch = (long long)(padded / ladder_bytes(data->dtype));
  return fine(
      r, (int)cudaMemcpy2D(r->copy, padded, data->placed, row, row, (size_t)data->shape[0], cudaMemcpyDeviceToDevice));
}

static bool take_others(rung_run *r) {
  return call_others(r) && fine(r, (int)cudaMalloc(&r->workspace, r->workspace_bytes ? r->workspace_bytes : 1));
}

/* A row-major matrix of the library's, to be summed over one dim. */
static bool take_cublas(rung_run *r, const ladder_data *data, ladder_record *record) {
  char text[PROBLEM_TEXT];
  snprintf(text, sizeof text, "%s %s [%lld,%lld] /%d", ladder_op_names[data->op], ladder_dtype_names[data->dtype],
           (long long)data->shape[0], (long long)data->shape[1], r->rung->dims[0]);
  record->left_out = true;
  snprintf(record->complaint, sizeof record->complaint, "cuBLAS sums f32 and f64, and its library has to be found");
  if (data->op != LADDER_SUM || data->dtype == LADDER_I32 || ndr_problem_parse(text, &r->reduction) != NDR_OK)
    return false;
  r->matrix = (bench_job){&r->reduction, data->placed, r->job.results, r->outputs};
  r->took = bench_cublas.take(&r->matrix);
  record->left_out = !r->took;
  if (r->took) record->complaint[0] = 0;
  return r->took;
}

static const ndr_dtype library_dtypes[LADDER_DTYPES] = {NDR_I32, NDR_F32, NDR_F64};

static DLTensor tensor_of(void *data, int ndim, int64_t *shape, ndr_dtype dtype) {
  return (DLTensor){
      .data = data, .device = {kDLCUDA, 0}, .ndim = ndim, .dtype = ndr_dtype_to_dlpack(dtype), .shape = shape};
}

/* The dtype of the library's result: sums and products of integers are of 64 bits. */
static ndr_dtype result_dtype(const ladder_rung *rung, const ladder_job *job) {
  bool grows = rung->kind != LADDER_SELECT && (job->op == LADDER_SUM || job->op == LADDER_PROD);
  return job->dtype == LADDER_F32 ? NDR_F32 : job->dtype == LADDER_F64 ? NDR_F64 : grows ? NDR_I64 : NDR_I32;
}

/* A byte for each element: whether it is less than the limit. */
static bool take_mask(rung_run *r, const ladder_data *data) {
  unsigned char *less = bench_allocate((size_t)data->elements);
  if (!less) r->sentence = "out of memory";
  for (int64_t i = 0; less && i < data->elements; i++)
    less[i] = data->dtype == LADDER_I32   ? ((const int32_t *)data->host)[i] < r->job.limit
              : data->dtype == LADDER_F32 ? ((const float *)data->host)[i] < (float)r->job.limit
                                          : ((const double *)data->host)[i] < r->job.limit;
  bool placed = less && fine(r, (int)cudaMalloc(&r->workspace, (size_t)data->elements)) &&
                fine(r, (int)cudaMemcpy(r->workspace, less, (size_t)data->elements, cudaMemcpyHostToDevice));
  free(less);
  r->mask = tensor_of(r->workspace, 1, r->shape, NDR_BOOL);
  return placed;
}

/* Of rungs that make an array. */
static bool take_library_array(rung_run *r, const ladder_data *data) {
  r->shape[0] = r->kept[0] = data->elements;
  r->array = tensor_of(data->placed, 1, r->shape, library_dtypes[data->dtype]);
  r->result = tensor_of(r->job.results, 1, r->kept, result_dtype(r->rung, &r->job));
  return data->kind == LADDER_SCAN || take_mask(r, data);
}

static bool take_library(rung_run *r, const ladder_data *data) {
  int between = 0, kept = 0;
  size_t half = 8;
  if (data->kind >= LADDER_SCAN) return take_library_array(r, data);
  for (int d = 0; d < data->ndim; d++) {
    bool late = r->rung->dims[r->rung->dim_count - 1] == d, early = r->rung->dims[0] == d;
    r->shape[d] = data->shape[d];
    if (!late) r->between[between++] = data->shape[d];
    if (!late) half *= (size_t)data->shape[d];
    if (!late && !early) r->kept[kept++] = data->shape[d];
  }
  r->array = tensor_of(data->placed, data->ndim, r->shape, library_dtypes[data->dtype]);
  r->result = tensor_of(r->job.results, kept, r->kept, result_dtype(r->rung, &r->job));
  if (r->rung->way == LADDER_BY_US) return true;
  if (!fine(r, (int)cudaMalloc(&r->workspace, half))) return false;
  r->half = tensor_of(r->workspace, between, r->between, result_dtype(r->rung, &r->job));
  return true;
}

static bool leave_out(ladder_record *record, const char *reason) {
  record->left_out = true;
  snprintf(record->complaint, sizeof record->complaint, "%s", reason);
  return false;
}

static bool take(rung_run *r, const ladder_data *data, ladder_record *record) {
  bool ours = r->rung->way == LADDER_BY_US || r->rung->way == LADDER_BY_US_TWICE;
  size_t scratch = (size_t)ladder_scratch_bytes(r->rung->kernel, &r->job);
  if (ours && data->op == LADDER_POLYNOMIAL && data->kind != LADDER_SELECT)
    return leave_out(record, "the library has no polynomial");
  if (r->rung->way == LADDER_BY_KERNEL && r->rung->kernel == LADDER_ATOMIC_EACH && data->op == LADDER_PROD &&
      data->elements > MOST_SWAPS)
    return leave_out(record,
                     "there is no atomic product: more than 2^20 compare-and-swaps on one address take too long");
  if (!fine(r, (int)cudaMalloc(&r->job.results, (size_t)r->outputs * 8)) ||
      !fine(r, (int)cudaMemset(r->job.results, 0xa5, (size_t)r->outputs * 8)) ||
      !fine(r, (int)cudaMalloc(&r->job.scratch, scratch)) || !fine(r, (int)cudaMemset(r->job.scratch, 0, scratch)))
    return false;
  if (ours) return take_library(r, data);
  if (r->rung->way == LADDER_BY_CUBLAS) return take_cublas(r, data, record);
  if (r->rung->kernel == LADDER_BLOCK_PITCHED) return take_pitched(r, data);
  return r->rung->kernel < LADDER_THRUST || take_others(r);
}

static void leave(rung_run *r) {
  if (r->took) bench_cublas.leave();
  (void)cudaFree(r->copy);
  (void)cudaFree(r->workspace);
  (void)cudaFree(r->job.results);
  (void)cudaFree(r->job.scratch);
}

/* ---- checking and timing ---- */

/* The library's 64-bit results, modulo 2^32 as the ladder's are. */
static void narrow(int64_t outputs, void *results) {
  for (int64_t i = 0; i < outputs; i++) {
    int64_t wide;
    memcpy(&wide, (const char *)results + i * 8, sizeof wide);
    uint32_t low = (uint32_t)wide;
    memcpy((char *)results + i * 4, &low, sizeof low);
  }
}

static bool check(rung_run *r, ladder_data *data, ladder_record *record) {
  bool ours = r->rung->way == LADDER_BY_US || r->rung->way == LADDER_BY_US_TWICE;
  size_t bytes = (size_t)r->outputs * (ours ? 8 : ladder_bytes(data->dtype));
  int selected;
  void *got = bench_allocate((size_t)r->outputs * 8);
  if (!got) r->sentence = "out of memory";
  if (got && fine(r, (int)cudaMemcpy(got, r->job.results, bytes, cudaMemcpyDeviceToHost)) &&
      fine(r, (int)cudaMemcpy(&selected, r->job.scratch, sizeof selected, cudaMemcpyDeviceToHost))) {
    if (r->rung->way == LADDER_BY_KERNEL && r->rung->kernel == LADDER_THRUST) memcpy(got, &r->value, sizeof r->value);
    if (ours && result_dtype(r->rung, &r->job) == NDR_I64) narrow(r->outputs, got);
    record->correct = ladder_check(data, r->rung, got, selected, record->complaint, sizeof record->complaint);
  }
  free(got);
  return record->correct;
}

/* Rungs that make an array are held against copies. These may write over the results, as calls follow before the next
 * check. */
static bool measure(rung_run *r, const ladder_options *options, const ladder_data *data, ladder_record *record) {
  bench_options patient = options->bench;
  size_t size = ladder_bytes(data->dtype);
  bench_subject subject = {
      .call = call_of(r->rung), .context = r, .placed = data->placed, .read = (size_t)data->elements * size};
  double seconds = patient.device->sample(subject.call, r, 1);
  if (data->kind >= LADDER_SCAN) subject.copied = r->job.results;
  record->time.bytes = (double)(data->elements + data->expected_count) * (double)size;
  if (seconds > 0) patient.repeat = (int)fmin(patient.repeat, fmax(1, PATIENCE / seconds));
  return seconds >= 0 && bench_time(&patient, &subject, &record->time);
}

/* Once to see that it works, then for the record, then once more: what a call leaves behind must not disturb the next.
 */
static bool run(rung_run *r, const ladder_options *options, ladder_data *data, ladder_record *record) {
  return call_of(r->rung)(r) && fine(r, (int)cudaDeviceSynchronize()) && check(r, data, record) &&
         measure(r, options, data, record) && check(r, data, record);
}

bool ladder_time(const ladder_options *options, ladder_data *data, ladder_record *record) {
  rung_run r = {.rung = record->rung, .job = ladder_job_of(options, data)};
  r.outputs = ladder_outputs(data, ladder_goal(data, r.rung));
  (void)cudaGetLastError(); /* what an earlier rung has left behind is not this one's */
  bool done = take(&r, data, record) && run(&r, options, data, record);
  if (!done && !record->left_out) {
    record->correct = false;
    if (!record->complaint[0])
      snprintf(record->complaint, sizeof record->complaint, "%s",
               r.sentence ? r.sentence : cudaGetErrorString(cudaGetLastError()));
  }
  leave(&r);
  return done;
}
