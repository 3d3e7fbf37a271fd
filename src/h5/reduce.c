#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "h5/dtype.h"
#include "h5/job.h"

#define BUFFER_ALIGNMENT 64

/* A job while it runs. */
typedef struct {
  const ndr_job *job;
  DLTensor *const *results;
  hid_t memory_type;
  void *buffer;
  ndr_h5_progress progress;
} run;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool cancelled(const ndr_job *job) {
  return job->options.cancel && *job->options.cancel;
}

/* A filter that is missing is known only once a chunk has needed it. */
static ndr_status fail_read(const ndr_h5_dataset *dataset) {
  ndr_status status = ndr_hdf_fail(NDR_ERR_FILE, dataset->where, "cannot be read");
  hid_t creation = H5Dget_create_plist(dataset->id);
  int count = H5Pget_nfilters(creation);
  for (int i = 0; i < count; i++) {
    char name[32] = "";
    size_t values = 0;
    unsigned flags, config;
    H5Z_filter_t filter = H5Pget_filter2(creation, (unsigned)i, &flags, &values, NULL, sizeof name, name, &config);
    name[sizeof name - 1] = 0;
    if (filter < 0 || H5Zfilter_avail(filter) > 0) continue;
    status = ndr_fail(NDR_ERR_FILE, "%s: needs filter %d%s%s%s, which HDF5 does not find (plugins: HDF5_PLUGIN_PATH%s)",
                      dataset->where, (int)filter, *name ? " (" : "", name, *name ? ")" : "",
                      dataset->no_plugins ? ", turned off" : "");
    break;
  }
  H5Pclose(creation);
  return status;
}

static ndr_status read_slab(run *r, const int64_t *start, const int64_t *size, void *elements) {
  const ndr_h5_dataset *dataset = r->job->dataset;
  hsize_t from[NDR_MAX_DIMS], count[NDR_MAX_DIMS];
  int ndim = dataset->info.ndim;
  for (int d = 0; d < ndim; d++) {
    from[d] = (hsize_t)start[d];
    count[d] = (hsize_t)size[d];
  }
  ndr_hdf_scope scope;
  ndr_hdf_enter(&scope, dataset->no_plugins);
  hid_t target = H5Screate_simple(ndim, count, NULL), source = H5Dget_space(dataset->id);
  bool good = target >= 0 && source >= 0;
  if (good && ndim > 0) good = H5Sselect_hyperslab(source, H5S_SELECT_SET, from, NULL, count, NULL) >= 0;
  if (good) good = H5Dread(dataset->id, r->memory_type, target, source, H5P_DEFAULT, elements) >= 0;
  ndr_status status = good ? NDR_OK : fail_read(dataset);
  H5Sclose(source);
  H5Sclose(target);
  ndr_hdf_leave(&scope);
  return status;
}

/* Elements are read into the end of the room that they are unpacked into. */
static ndr_status load_slab(run *r, const int64_t *start, const int64_t *size, int64_t count) {
  ndr_unpack unpack = ndr_unpack_native(&r->job->dataset->unpack);
  size_t growth = ndr_dtype_bytes(unpack.to) - ndr_dtype_bytes(unpack.from);
  char *elements = (char *)r->buffer + (size_t)count * growth;
  NDR_TRY(read_slab(r, start, size, elements));
  ndr_unpack_run(&unpack, elements, 1, r->buffer, count);
  return NDR_OK;
}

/* Reads the slab that starts at start[] of the dataset and adds it to the accumulator of its block. */
static ndr_status add_slab(run *r, const int64_t *start, const int64_t *size, ndr_accumulator *accumulator) {
  const ndr_job *job = r->job;
  int64_t offset[NDR_MAX_DIMS], shape[NDR_MAX_DIMS], count = 1;
  for (int d = 0; d < job->slabs.ndim; d++) {
    offset[d] = job->slabs.reduced[d] ? start[d] : 0;
    shape[d] = size[d];
    count *= size[d];
  }
  if (count == 0) return NDR_OK;
  if (cancelled(job)) return ndr_fail(NDR_ERR_CANCELLED, "%s: stopped", job->dataset->where);
  DLTensor slab = {.data = r->buffer, .device = job->device, .ndim = job->slabs.ndim, .shape = shape};
  slab.dtype = ndr_dtype_to_dlpack(job->dataset->info.dtype);
  double begin = seconds();
  NDR_TRY(load_slab(r, start, size, count));
  double middle = seconds();
  NDR_TRY(ndr_accumulator_add(accumulator, &slab, offset));
  r->progress.read_seconds += middle - begin;
  r->progress.reduce_seconds += seconds() - middle;
  r->progress.bytes += count * job->slabs.element_bytes;
  r->progress.slabs++;
  if (job->options.on_progress) job->options.on_progress(job->options.user, &r->progress);
  return NDR_OK;
}

/* The part of a result that belongs to the block at start[]. shape and strides receive what the view points to. */
static DLTensor block_view(const ndr_job *job, const DLTensor *result, const int64_t *start, const int64_t *size,
                           int64_t *shape, int64_t *strides) {
  DLTensor view = *result;
  int64_t step = 1;
  for (int d = job->slabs.ndim - 1, r = result->ndim - 1; d >= 0; d--) {
    if (job->slabs.reduced[d] && !job->reduce.keepdims) continue;
    shape[r] = job->slabs.reduced[d] ? 1 : size[d];
    strides[r] = result->strides ? result->strides[r] : step;
    step *= result->shape[r];
    if (!job->slabs.reduced[d]) view.byte_offset += (uint64_t)(start[d] * strides[r] * (result->dtype.bits / 8));
    r--;
  }
  view.shape = shape;
  view.strides = strides;
  return view;
}

static ndr_status finish_block(const run *r, const int64_t *start, const int64_t *size,
                               const ndr_accumulator *accumulator) {
  DLTensor views[NDR_MAX_OPS], *pointers[NDR_MAX_OPS];
  int64_t shapes[NDR_MAX_OPS][NDR_MAX_DIMS], strides[NDR_MAX_OPS][NDR_MAX_DIMS];
  for (int i = 0; i < r->job->op_count; i++) {
    views[i] = block_view(r->job, r->results[i], start, size, shapes[i], strides[i]);
    pointers[i] = &views[i];
  }
  return ndr_job_finish(r->job, accumulator, pointers);
}

/* Reduces all slabs over one range of the kept dims, which start[] says, and writes that range of the results. */
static ndr_status reduce_block(run *r, int64_t *start) {
  const ndr_job *job = r->job;
  ndr_accumulator *accumulator;
  int64_t block[NDR_MAX_DIMS], size[NDR_MAX_DIMS];
  ndr_slabs_size(&job->slabs, start, size);
  for (int d = 0; d < job->slabs.ndim; d++) block[d] = job->slabs.reduced[d] ? job->slabs.shape[d] : size[d];
  NDR_TRY(ndr_job_accumulate(job, job->slabs.ndim, block, job->dim_count, job->dims, &accumulator));
  ndr_status status;
  do {
    ndr_slabs_size(&job->slabs, start, size);
    status = add_slab(r, start, size, accumulator);
  } while (status == NDR_OK && ndr_slabs_next(&job->slabs, true, start));
  if (status == NDR_OK) status = finish_block(r, start, size, accumulator);
  ndr_accumulator_destroy(accumulator);
  return status;
}

static ndr_status prepare(run *r) {
  const ndr_job *job = r->job;
  int64_t bytes = ndr_slabs_elements(&job->slabs) * job->slabs.element_bytes;
  ndr_hdf_scope scope;
  ndr_hdf_enter(&scope, job->dataset->no_plugins);
  r->memory_type = ndr_hdf_memory_type(job->dataset->info.stored_dtype, job->dataset->type_class);
  ndr_hdf_leave(&scope);
  if (r->memory_type < 0) return ndr_fail(NDR_ERR_FILE, "HDF5 lacks a type for its elements");
  r->progress.total_slabs = ndr_slabs_count(&job->slabs);
  r->progress.total_bytes = job->slabs.element_bytes;
  for (int d = 0; d < job->slabs.ndim; d++) r->progress.total_bytes *= job->slabs.shape[d];
  r->buffer = aligned_alloc(BUFFER_ALIGNMENT, (size_t)bytes / BUFFER_ALIGNMENT * BUFFER_ALIGNMENT + BUFFER_ALIGNMENT);
  return r->buffer ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "out of memory for a buffer of %lld bytes", (long long)bytes);
}

static ndr_status reduce_slabs(const ndr_job *job, DLTensor *const *results) {
  run r = {.job = job, .results = results, .memory_type = H5I_INVALID_HID};
  int64_t start[NDR_MAX_DIMS] = {0};
  ndr_status status = prepare(&r);
  if (status == NDR_OK) {
    do status = reduce_block(&r, start);
    while (status == NDR_OK && ndr_slabs_next(&job->slabs, false, start));
  }
  free(r.buffer);
  ndr_hdf_scope scope;
  ndr_hdf_enter(&scope, false);
  if (r.memory_type >= 0) H5Tclose(r.memory_type);
  ndr_hdf_leave(&scope);
  return status;
}

ndr_status ndr_h5_reduce(ndr_h5_dataset *dataset, int dim_count, const int *dims, int op_count, const ndr_op *ops,
                         DLTensor *const *results, const ndr_h5_options *options) {
  ndr_job job;
  if (!results) return ndr_fail(NDR_ERR_ARGUMENT, "results is a null pointer");
  NDR_TRY(ndr_job_make(&job, dataset, dim_count, dims, op_count, ops, results, options));
  return ndr_job_blame(dataset, job.never_written ? ndr_job_fill(&job, results) : reduce_slabs(&job, results));
}
