/* Adds results block by block, as they are finished, so that none is held in memory as a whole. */
#include <stdlib.h>
#include <string.h>

#include "h5/read/route/route.h"
#include "h5/run/scan/scan_dataset.h"
#include "h5/write/addition.h"
#include "h5/write/storage/deflate_chunks.h"

/* A file is put together in memory if its results take no more than this part of the memory there is, and no more
 * bytes.
 */
#define IMAGE_SHARE 8
#define MOST_IMAGE ((int64_t)64 << 20)

/* The part of the memory there is for chunks of which blocks have parts. */
#define CACHE_SHARE 4

/* Bytes between two looks whether writing is to be stopped. */
#define STEP ((int64_t)4 << 20)

/* The results of one reduction or scan on their way. */
typedef struct {
  ndr_h5_writer *writer;
  int count;
  ndr_addition *all;
  ndr_addition_blocks blocks;
  int64_t cells[NDR_MAX_DIMS];
  int64_t bytes, total_bytes, told; /* of elements; told: when on_progress was called last */
  ndr_sink sink;
  double seconds; /* that writing has taken */
  bool clashes;   /* an element is equal to the value that marks missing ones */
} stream;

static bool write_box(const stream *s, const ndr_addition *a, const int64_t *begin, const int64_t *size,
                      const void *data) {
  int ndim = a->result->ndim;
  hsize_t extent[NDR_MAX_DIMS];
  int deflated = ndr_deflate_box(a->variable, a->memory, begin, size, data, s->writer->threads);
  if (deflated != 0) return deflated > 0;
  for (int d = 0; d < ndim; d++) extent[d] = (hsize_t)size[d];
  hid_t there = H5Dget_space(a->variable), here = ndim ? H5Screate_simple(ndim, extent, NULL) : H5Screate(H5S_SCALAR);
  bool good = here >= 0 && ndr_hdf_select(there, ndim, begin, NULL, size) &&
              H5Dwrite(a->variable, a->memory, here, there, H5P_DEFAULT, data) >= 0;
  if (here >= 0) H5Sclose(here);
  if (there >= 0) H5Sclose(there);
  return good;
}

static ndr_status tell(stream *s) {
  ndr_h5_writer *writer = s->writer;
  if (!writer->on_progress || s->bytes - s->told < STEP) return NDR_OK;
  s->told = s->bytes;
  if (!writer->on_progress(writer->remarks.user, s->bytes, s->total_bytes)) return NDR_OK;
  writer->ended = writer->stopped = true;
  return ndr_fail(NDR_ERR_CANCELLED, "%s: stopped before it was written", writer->file.path);
}

/* Finds a box in the result. Windows over several dims lie along one dim of the box, and in the result along a dim
 * each. Those of a box are then a range along one of these dims, all there are along the dims inside of it, and one
 * along each dim outside. */
static void unfold(const ndr_addition *a, const int64_t *begin, const int64_t *size, int64_t *low, int64_t *extent) {
  const ndr_h5_groups *groups = a->label.groups;
  const int64_t *shape = a->result->shape;
  for (int d = 0, end = 0, folded = -1; d < a->result->ndim; d++) {
    bool windows = groups && groups->along[0] && a->from[d] == groups->dim + NDR_OF_GROUPS;
    int64_t inner = 1;
    if (d == end) {
      folded++;
      end = windows ? d + groups->ndim : d + 1;
    }
    for (int i = d + 1; i < end; i++) inner *= shape[i];
    int64_t count = size[folded] / inner > 0 ? size[folded] / inner : size[folded] > 0;
    low[d] = shape[d] > 0 ? begin[folded] / inner % shape[d] : 0;
    extent[d] = count < shape[d] ? count : shape[d];
  }
}

static ndr_status put_box(stream *s, ndr_addition *a, const int64_t *begin, const int64_t *size, void *data) {
  ndr_hdf_scope scope;
  int64_t count = 1, low[NDR_MAX_DIMS] = {0}, extent[NDR_MAX_DIMS] = {0};
  unfold(a, begin, size, low, extent);
  for (int d = 0; d < a->result->ndim; d++) count *= extent[d];
  if (count == 0) return NDR_OK;
  ndr_fill_value_mark(&a->fill, &a->label, data, count, &s->clashes);
  if (s->clashes) return ndr_fail(NDR_WORK_CLASH, "a result is equal to the fill value");
  ndr_hdf_enter(&scope, false);
  ndr_status status = write_box(s, a, low, extent, data) ? NDR_OK : ndr_addition_fail(s->writer, a);
  if (s->writer->spilled && s->writer->driver.status != NDR_OK) status = ndr_file_driver_check(&s->writer->driver);
  ndr_hdf_leave(&scope);
  s->bytes += count * (a->result->dtype.bits / 8);
  return status == NDR_OK ? tell(s) : status;
}

static ndr_status put(void *user, int i, const int64_t *begin, const int64_t *size, void *data) {
  stream *s = user;
  double start = ndr_seconds();
  ndr_status status = put_box(s, &s->all[i], begin, size, data);
  s->seconds += ndr_seconds() - start;
  return status;
}

/* ---- Variables --------------------------------------------------------------------------------------------------- */

/* Bytes that the variable will at least take in the file: of a compressed one that is not known. */
static int64_t least_bytes(const ndr_addition *a) {
  int64_t bytes = (int64_t)H5Tget_size(a->type);
  hid_t creation = H5Dget_create_plist(a->variable);
  bool plain = creation >= 0 && H5Pget_nfilters(creation) == 0;
  if (creation >= 0) H5Pclose(creation);
  for (int d = 0; d < a->result->ndim; d++)
    if (__builtin_mul_overflow(bytes, a->result->shape[d], &bytes)) bytes = INT64_MAX;
  return plain ? bytes : 0;
}

static ndr_status check_space(const stream *s) {
  const ndr_h5_writer *writer = s->writer;
  int64_t need = 0;
  if (!writer->spilled) return NDR_OK;
  for (int i = 0; i < s->count; i++)
    if (__builtin_add_overflow(need, least_bytes(&s->all[i]), &need)) need = INT64_MAX;
  int64_t left = ndr_atomic_file_space(&writer->file);
  if (need <= left) return NDR_OK;
  return ndr_fail(NDR_ERR_FILE,
                  "%s: the results need %lld bytes on disk, of which %lld are left; compressed they may fit",
                  writer->file.path, (long long)need, (long long)left);
}

/* Variables that are created again take the place of those before. */
static ndr_status create_all(stream *s) {
  ndr_hdf_scope scope;
  ndr_status status = NDR_OK;
  ndr_hdf_enter(&scope, s->all[0].label.source->no_plugins);
  for (int i = 0; i < s->count && status == NDR_OK; i++)
    status = ndr_addition_create(s->writer, &s->all[i], &s->blocks);
  if (status == NDR_OK && !s->blocks.marks_nan) status = check_space(s);
  ndr_hdf_leave(&scope);
  return ndr_writer_heed(s->writer, status);
}

/* Closes the variables, described or, after a failure, as they are. */
static ndr_status end_all(stream *s, ndr_status status) {
  ndr_hdf_scope scope;
  bool good = status == NDR_OK;
  ndr_hdf_enter(&scope, s->all[0].label.source->no_plugins);
  for (int i = 0; i < s->count && good; i++) {
    status = ndr_addition_finish(s->writer, &s->all[i]);
    good = status == NDR_OK;
  }
  for (int i = 0; i < s->count; i++) ndr_addition_close(&s->all[i]);
  ndr_hdf_leave(&scope);
  return good ? NDR_OK : ndr_writer_heed(s->writer, status);
}

/* Removes the variables, whose place in the file is used again. */
static ndr_status remove_all(stream *s) {
  ndr_hdf_scope scope;
  ndr_status status = NDR_OK;
  ndr_hdf_enter(&scope, false);
  for (int i = 0; i < s->count; i++) {
    ndr_addition *a = &s->all[i];
    H5Dclose(a->variable);
    a->variable = H5I_INVALID_HID;
    if (status == NDR_OK && H5Ldelete(s->writer->image, a->name, H5P_DEFAULT) < 0)
      status = ndr_addition_fail(s->writer, a);
    H5Tclose(a->type);
    H5Tclose(a->memory);
    a->type = a->memory = H5I_INVALID_HID;
  }
  ndr_hdf_leave(&scope);
  return status;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static ndr_status run_once(stream *s, ndr_work *work, const ndr_h5_options *options) {
  bool empty = false;
  s->bytes = s->told = 0;
  for (int d = 0; work->output.running && d < work->dataset->info.ndim; d++) empty |= work->dataset->info.shape[d] == 0;
  NDR_TRY(create_all(s));
  return empty ? NDR_OK : ndr_work_run(work, options);
}

static ndr_status run(stream *s, ndr_work *work, const ndr_h5_options *options) {
  ndr_status status = run_once(s, work, options);
  if (!s->clashes || status != NDR_WORK_CLASH) return status;
  ndr_work_begin_anew(options);
  s->clashes = false;
  s->blocks.marks_nan = true;
  NDR_TRY(remove_all(s));
  return run_once(s, work, options);
}

/* The additions are prepared. */
static ndr_status add(stream *s, ndr_work *work, const ndr_h5_options *given) {
  ndr_h5_options options;
  NDR_TRY(ndr_job_options(&options, given));
  int64_t memory = options.memory ? options.memory : ndr_default_memory(options.comm ? options.comm->node_ranks : 1);
  if (options.threads == 0) options.threads = s->writer->threads;
  s->blocks.cells = s->cells;
  s->blocks.cache_bytes = (size_t)(memory / CACHE_SHARE / s->count);
  for (int i = 0; i < s->count; i++) {
    int64_t bytes = s->all[i].result->dtype.bits / 8;
    for (int d = 0; d < s->all[i].result->ndim; d++) bytes *= s->all[i].result->shape[d];
    s->total_bytes += bytes;
  }
  s->sink = (ndr_sink){put, s, CACHE_SHARE, &s->seconds};
  work->output.sink = &s->sink;
  int64_t image = memory / IMAGE_SHARE < MOST_IMAGE ? memory / IMAGE_SHARE : MOST_IMAGE;
  NDR_TRY(ndr_work_cells(work, &options, s->cells));
  s->writer->streamed_bytes += s->total_bytes;
  if (!s->writer->spilled && s->writer->streamed_bytes > image) NDR_TRY(ndr_writer_spill(s->writer));
  NDR_TRY(end_all(s, run(s, work, &options)));
  return ndr_h5_writer_protect(s->writer, work->dataset);
}

ndr_status ndr_h5_writer_add_reduced(ndr_h5_writer *writer, ndr_h5_dataset *source, const ndr_problem *problem,
                                     const char *const *names, const ndr_h5_options *options) {
  if (!writer || !source || !problem || !names)
    return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_writer_add_reduced: null pointer");
  int count = problem->op_count;
  if (count < 1 || count > NDR_MAX_OPS) return ndr_fail(NDR_ERR_ARGUMENT, "the problem has %d operators", count);
  ndr_addition *all = calloc((size_t)count, sizeof *all);
  if (!all) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", writer->file.path);
  stream s = {.writer = writer, .count = count, .all = all};
  ndr_work work = {source, problem, {.results = NULL}};
  ndr_status status = NDR_OK;
  for (int i = 0; i < count && status == NDR_OK; i++) {
    all[i] = (ndr_addition){.label = {.source = source}, .located = -1, .running = -1, .name = names[i]};
    status = names[i] ? ndr_addition_prepare(writer, &all[i], problem, i)
                      : ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_writer_add_reduced: name %d is a null pointer", i);
  }
  if (status == NDR_OK) status = add(&s, &work, options);
  free(all);
  return status;
}

/* ---- Scans ------------------------------------------------------------------------------------------------------- */

/* What cell_methods says of running values in brackets; to be freed. */
static char *make_comment(const ndr_running *r, const char *before) {
  size_t capacity = (before ? strlen(before) : 0) + 64;
  char *text = malloc(capacity);
  if (text)
    snprintf(text, capacity, "running%s%s%s%s", r->reverse ? " from the last" : "", r->exclusive ? ", exclusive" : "",
             before ? ", " : "", before ? before : "");
  return text;
}

/* A scan's result is described as that of a problem that reduces no dim. */
static void describe(ndr_addition *a, ndr_scan_request *request, const ndr_h5_options *options) {
  a->problem = request->problem;
  a->problem.dim_count = 0;
  if (request->running.marks) a->problem.skip_nan = true;
  if (options && (options->where || options->operand_count)) {
    a->problem.operand_count = 1;
    a->problem.operands[0] = (ndr_operand){.role = NDR_WHERE, .dtype = NDR_BOOL};
  }
  a->label.op = request->running.op;
  a->label.problem = &a->problem;
  a->label.dtype = request->running.to;
  a->running = request->running.dim;
  a->unfolded = request->result;
  a->result = &a->unfolded;
}

static ndr_status add_scan(ndr_h5_writer *writer, ndr_addition *a, ndr_scan_request *request,
                           const ndr_h5_options *options) {
  ndr_h5_dataset *source = (ndr_h5_dataset *)(uintptr_t)a->label.source;
  stream s = {.writer = writer, .count = 1, .all = a};
  ndr_work work = {source, &request->problem, {.running = &request->running}};
  describe(a, request, options);
  ndr_addition_settle(writer, a);
  char *comment = make_comment(&request->running, writer->condition);
  if (!comment) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", writer->file.path);
  a->label.comment = comment;
  ndr_status status = add(&s, &work, options);
  free(comment);
  return status;
}

ndr_status ndr_h5_writer_add_scan(ndr_h5_writer *writer, ndr_h5_dataset *source, const ndr_h5_scan *scan,
                                  const char *name, const ndr_h5_options *options) {
  ndr_scan_request request;
  if (!writer || !source || !name) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_writer_add_scan: null pointer");
  NDR_TRY(ndr_writer_check(writer));
  NDR_TRY(ndr_writer_check_name(writer, name));
  NDR_TRY(ndr_scan_request_make(&request, source, scan, options));
  ndr_addition a = {.label = {.source = source}, .located = -1, .name = name};
  return add_scan(writer, &a, &request, options);
}
