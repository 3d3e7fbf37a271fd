/* The text of ndr_h5_explain and ndr_h5_scan_explain: how the work would be done. Plans the job and reads no element.
 */
#include <stdarg.h>
#include <string.h>

#include "common/totals.h"
#include "h5/group/groups.h"
#include "h5/ranks/deal.h"
#include "h5/run/scan/scan_dataset.h"
#include "ndreduce/scan.h"

/* A bounded text that counts on past its capacity, as snprintf does. */
typedef struct {
  char *text;
  size_t capacity, length;
} sheet;

__attribute__((format(printf, 2, 3))) static void append(sheet *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  bool fits = s->length < s->capacity;
  int added = vsnprintf(fits ? s->text + s->length : NULL, fits ? s->capacity - s->length : 0, format, arguments);
  va_end(arguments);
  if (added > 0) s->length += (size_t)added;
}

/* What a file calls something; a line break in it would begin another line of the sheet. */
static void append_name(sheet *s, const char *name) {
  for (; *name; name++) append(s, (unsigned char)*name < 32 || *name == 127 ? "\\x%02x" : "%c", (unsigned char)*name);
}

static void append_shape(sheet *s, int ndim, const int64_t *shape) {
  if (ndim == 0) append(s, "1 element");
  for (int d = 0; d < ndim; d++) append(s, "%s%lld", d ? "x" : "", (long long)shape[d]);
}

static void append_bytes(sheet *s, int64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = (double)bytes;
  int unit = 0;
  for (; value >= 1024 && unit < 6; unit++) value /= 1024;
  append(s, "%.4g %s", value, units[unit]);
}

static void append_layout(sheet *s, const ndr_h5_info *info) {
  static const char *const layouts[] = {"compact", "contiguous", "chunked", "virtual"};
  append(s, "layout   %s", layouts[info->layout]);
  if (info->layout == NDR_H5_CHUNKED) {
    append(s, " ");
    append_shape(s, info->ndim, info->chunk);
  }
  append(s, ", filters ");
  append_name(s, info->filters[0] ? info->filters : "none");
  append(s, ", ");
  if (info->stored_bytes >= 0) append_bytes(s, info->stored_bytes);
  append(s, info->stored_bytes >= 0 ? " in the file\n" : "elsewhere\n");
}

static void append_meaning(sheet *s, const ndr_unpack *u, ndr_dtype stored) {
  if (!u->masked && !u->scaled && u->to == stored) return;
  append(s, "values   stored as %s", ndr_dtype_name(stored));
  if (u->from != stored) append(s, ", meant as %s", ndr_dtype_name(u->from));
  if (u->scaled) append(s, ", * %.9g + %.9g", u->scale, u->offset);
  if (u->masked)
    append(s, ", skipping NaN, missing values: %d%s", u->missing_count, u->ranged ? ", a valid range" : "");
  append(s, "\n");
}

/* The arrays beside the dataset. */
static void append_besides(sheet *s, const ndr_besides *besides) {
  for (int i = 0; besides && i < besides->array_count; i++) {
    const ndr_beside *array = &besides->arrays[i];
    const char *name = besides->names[i], *source = array->dataset ? array->dataset->where : name ? NULL : "an array";
    append(s, "beside   ");
    if (name) append_name(s, name);
    if (name && source) append(s, ": ");
    if (source) append_name(s, source);
    append(s, " %s [", ndr_dtype_name(array->dtype));
    for (int d = 0; d < array->ndim; d++) append(s, "%s%lld", d ? "," : "", (long long)array->shape[d]);
    append(s, "], ");
    if (array->steps) append_name(s, array->grouped_by);
    append(s, "%s%s\n", array->steps ? ", " : "",
           !array->dataset ? "in memory"
           : array->once   ? "read once"
                           : "read with each slab");
  }
}

static void append_groups(sheet *s, const ndr_h5_groups *groups) {
  if (!groups) return;
  ndr_group_layout layout = ndr_h5_groups_layout(groups);
  append(s, "groups   %lld by ", (long long)groups->count);
  append_name(s, groups->by);
  append(s, ", of %lld", (long long)layout.least);
  if (layout.most > layout.least) append(s, " to %lld", (long long)layout.most);
  append(s, " steps, ");
  if (layout.period)
    append(s, "repeating every %lld steps\n", (long long)layout.period);
  else if (groups->along[0])
    append(s, "each a box\n");
  else if (layout.runs <= groups->count)
    append(s, "each in one run\n");
  else
    append(s, "scattered: %lld runs\n", (long long)layout.runs);
}

static void append_route(sheet *s, const ndr_job *job) {
  static const char *const routes[] = {"pread from where the data are in the file",
                                       "stored chunks, decoded outside HDF5's lock", "H5Dread"};
  const ndr_reader *reader = &job->readers[0];
  append(s, "route    %s, %d thread%s", routes[reader->route], job->feed.threads, NDR_PLURAL(job->feed.threads));
  if (reader->reason[0]) append(s, " (%s)", reader->reason);
  if (job->leafwise) append(s, ", each of which reduces the leaves that it reads");
  if (job->why_slabs) append(s, ", in slabs (%s)", job->why_slabs);
  append(s, "\n");
}

/* Says who unpacks the stored elements, and how, unless they are only copied, or added up as they are (append_totals).
 */
static void append_conversion(sheet *s, const ndr_job *job) {
  const ndr_reader *reader = &job->readers[0];
  bool deferred = ndr_reader_defers(reader);
  const ndr_unpack *u = deferred ? &reader->deferred : &reader->unpack;
  const char *const done[] = {reader->whole ? "chunks" : NULL, reader->whole && reader->shuffled ? "shuffle" : NULL,
                              u->swap && u->direct ? "byte order" : NULL, ndr_unpack_marks(u) ? "missing values" : NULL,
                              u->scaled && (u->scale != 1 || u->offset != 0) ? "scale"
                              : u->from != u->to                             ? "dtype"
                                                                             : NULL};
  const char *before =
      deferred && job->device.device_type == kDLCUDA ? "convert  by the GPU: " : "convert  by the threads: ";
  if ((!deferred && ndr_unpack_copies(u)) || (job->totals && !job->beside_totals)) return;
  for (size_t i = 0; i < sizeof done / sizeof *done; i++) {
    if (!done[i]) continue;
    append(s, "%s%s", before, done[i]);
    before = ", ";
  }
  append(s, "\n");
}

/* Where the first leaf is: what the first slab begins with. */
static void first_leaf(const ndr_job *job, int64_t *begin, int64_t *size) {
  const ndr_slabs *slabs = &job->slabs[0];
  int64_t slab_begin[NDR_MAX_DIMS], slab_size[NDR_MAX_DIMS], start[NDR_MAX_DIMS] = {0};
  ndr_slabs_box(slabs, start, slab_begin, slab_size);
  memcpy(begin, slab_begin, sizeof slab_begin);
  memcpy(size, slab_size, sizeof slab_size);
  for (int reduced = 0; reduced < 2; reduced++)
    if (ndr_slabs_leaves(slabs, slab_begin, slab_size, reduced) > 0)
      ndr_slabs_leaf(slabs, slab_begin, slab_size, reduced, 0, begin, size);
}

static void append_slabs(sheet *s, const ndr_job *job) {
  const ndr_slabs *slabs = &job->slabs[0];
  int64_t begin[NDR_MAX_DIMS], size[NDR_MAX_DIMS], start[NDR_MAX_DIMS] = {0}, count = 0;
  ndr_slabs_box(slabs, start, begin, size);
  for (int i = 0; i < job->part_count; i++) count += ndr_slabs_count(&job->slabs[i]);
  append(s, "slabs    %lld of ", (long long)count);
  append_shape(s, slabs->ndim, size);
  if (job->stage_count > 1) append(s, " in the first of %d stages", job->stage_count);
  if (job->part_count > 1) append(s, " or so, from %d files", job->part_count);
  if (!slabs->on_gpu) {
    first_leaf(job, begin, size);
    append(s, ", in leaves of ");
    append_shape(s, slabs->ndim, size);
    if (job->cut_short) append(s, ", short for lack of memory: last digits may differ");
  }
  int slots = slabs->leafwise ? slabs->workers : slabs->slots;
  append(s, "\nmemory   %d %s%s of ", slots, slabs->leafwise ? "buffer" : "slab", NDR_PLURAL(slots));
  append_bytes(s, ndr_slabs_held(slabs) * slabs->element_bytes);
  append(s, " + states ");
  append_bytes(s, ndr_slabs_states_bytes(slabs));
  append(s, " + leaves ");
  append_bytes(s, ndr_slabs_leaves_bytes(slabs));
  if (slabs->result_bytes) {
    append(s, " + results ");
    append_bytes(s, ndr_slabs_elements(slabs) * slabs->result_bytes);
  }
  append(s, " + reading ");
  append_bytes(s, slabs->scratch_bytes);
  append(s, " = ");
  append_bytes(s, ndr_slabs_bytes(slabs));
  append(s, " of ");
  append_bytes(s, job->options.memory);
  append(s, "%s\n", job->memory_is_default ? ", a quarter of what is free" : "");
}

/* How many blocks of outputs have pieces in several ranges; *blocks: of how many. */
static int64_t count_split(const ndr_slab_iterator *iterator, const ndr_deal *deal, int64_t *blocks) {
  int64_t split = 0, pieces = ndr_slab_iterator_pieces(iterator);
  *blocks = 0;
  for (int64_t begin = 0, end; begin < pieces; begin = end, ++*blocks) {
    ndr_slab_iterator_alike(iterator, begin, &begin, &end);
    split += ndr_deal_splits(deal, begin, end);
  }
  return split;
}

/* How the first stage is dealt to ranks. */
static ndr_status append_ranks(sheet *s, const ndr_job *job) {
  const ndr_comm *comm = job->options.comm;
  const ndr_slab_iterator *iterator = &job->feed.iterator;
  ndr_deal deal = {.begins = NULL};
  if (!comm) return NDR_OK;
  NDR_TRY(ndr_deal_make(&deal, iterator, comm->ranks, 0, job->stage_count));
  int64_t pieces = ndr_slab_iterator_pieces(iterator),
          late = deal.count > comm->ranks ? pieces - deal.begins[comm->ranks] : 0;
  int64_t blocks, split = count_split(iterator, &deal, &blocks);
  append(s, "ranks    %d, of this machine %d: %lld piece%s, ", comm->ranks, comm->node_ranks, (long long)pieces,
         NDR_PLURAL(pieces));
  if (pieces < comm->ranks && deal.count > 1) append(s, "so that no more ranks have anything to do, ");
  if (deal.count == 1)
    append(s, "each of %d stages one rank's\n", job->stage_count);
  else if (split == 0)
    append(s, "%lld handed out as ranks are ready; outputs are divided\n", (long long)late);
  else
    append(s, "%lld handed out as ranks are ready; partial states of %lld of %lld blocks of outputs go to owners\n",
           (long long)late, (long long)split, (long long)blocks);
  ndr_deal_clear(&deal);
  return NDR_OK;
}

static void append_device(sheet *s, const ndr_job *job) {
  if (job->device.device_type == kDLCPU)
    append(s, "device   cpu");
  else
    append(s, "device   cuda:%d", job->device.device_id);
  if (job->gpu_count > 1) append(s, " to cuda:%d, slabs in turn", job->device.device_id + job->gpu_count - 1);
  append(s, " (%s)\n", job->why);
}

/* Names the ops that are made of totals, and takes them out of the problem. */
static void append_totals(sheet *s, ndr_problem *part) {
  int others = 0;
  const char *before = "totals   of integers as they are stored, and then unpacked: ";
  for (int i = 0; i < part->op_count; i++) {
    if (!ndr_op_is_made_of_totals(part->ops[i])) {
      part->ops[others++] = part->ops[i];
      continue;
    }
    append(s, "%s%s", before, ndr_op_name(part->ops[i]));
    before = ", ";
  }
  append(s, "\n");
  part->op_count = others;
}

/* What the core does with a leaf, or on a GPU with a slab, in its own words. */
static ndr_status append_plan(sheet *s, const ndr_job *job) {
  int64_t begin[NDR_MAX_DIMS], size[NDR_MAX_DIMS], start[NDR_MAX_DIMS] = {0};
  ndr_problem part = job->fold;
  part.groups = NULL;
  part.group_dim = 0;
  ndr_options options = NDR_OPTIONS_INIT;
  ndr_plan *plan;
  if (job->totals) append_totals(s, &part);
  if (job->totals && !job->beside_totals) return NDR_OK;
  if (job->slabs[0].on_gpu)
    ndr_slabs_box(&job->slabs[0], start, begin, size);
  else
    first_leaf(job, begin, size);
  for (int64_t d = part.ndim - 1, step = 1; d >= 0; d--) {
    part.shape[d] = size[d];
    part.strides[d] = step;
    step *= size[d] > 0 ? size[d] : 1;
  }
  ndr_besides_lay(job->operands, &part);
  options.threads = job->fold_threads;
  NDR_TRY(ndr_plan_create(&plan, &part, job->device, NULL, &options));
  append(s, job->slabs[0].on_gpu ? "a slab   " : "a leaf   ");
  bool fits = s->length < s->capacity;
  s->length += ndr_plan_describe(plan, fits ? s->text + s->length : NULL, fits ? s->capacity - s->length : 0);
  ndr_plan_destroy(plan);
  return NDR_OK;
}

/* The same of the words that a leaf of a scan becomes. */
static ndr_status append_scan(sheet *s, const ndr_job *job) {
  const ndr_running *r = job->running;
  int64_t begin[NDR_MAX_DIMS], size[NDR_MAX_DIMS], shape[3] = {1, 1, 1};
  DLTensor words = {.device = {kDLCPU, 0}, .ndim = 3, .dtype = ndr_dtype_to_dlpack(r->word), .shape = shape};
  ndr_scan_options options = NDR_SCAN_OPTIONS_INIT;
  ndr_scan_plan *plan;
  first_leaf(job, begin, size);
  for (int d = 0; d < job->dataset->info.ndim; d++) shape[d < r->dim ? 0 : d > r->dim ? 2 : 1] *= size[d];
  shape[1]++;
  options.reverse = r->reverse;
  options.threads = 1;
  NDR_TRY(ndr_scan_plan_create(&plan, &words, 1, r->op, NULL, &options));
  append(s, "a leaf   with what stands before it: ");
  bool fits = s->length < s->capacity;
  s->length += ndr_scan_plan_describe(plan, fits ? s->text + s->length : NULL, fits ? s->capacity - s->length : 0);
  ndr_scan_plan_destroy(plan);
  return NDR_OK;
}

static ndr_status describe(const ndr_job *job, sheet *s) {
  const ndr_h5_dataset *dataset = job->dataset;
  append(s, "dataset  ");
  append_name(s, dataset->where);
  append(s, " %s [", ndr_dtype_name(dataset->info.dtype));
  for (int d = 0; d < dataset->info.ndim; d++) append(s, "%s%lld", d ? "," : "", (long long)dataset->info.shape[d]);
  append(s, "]\n");
  append_layout(s, &dataset->info);
  append_meaning(s, &dataset->unpack, dataset->info.stored_dtype);
  if (job->never_written) {
    append(s, "route    never written: nothing is read, every element is the fill value\n");
    return NDR_OK;
  }
  append_device(s, job);
  append_route(s, job);
  append_conversion(s, job);
  append_besides(s, job->operands);
  append_groups(s, job->options.groups);
  append_slabs(s, job);
  NDR_TRY(append_ranks(s, job));
  return job->running ? append_scan(s, job) : append_plan(s, job);
}

static ndr_status explain(const ndr_work *work, const ndr_h5_options *options, sheet *s) {
  ndr_job job;
  ndr_status status = ndr_job_make(&job, work->dataset, work->problem, &work->output, options);
  if (status == NDR_OK) status = describe(&job, s);
  if (work->dataset) status = ndr_job_blame(work->dataset, status);
  ndr_job_clear(&job);
  return status;
}

ndr_status ndr_h5_explain(ndr_h5_dataset *dataset, const ndr_problem *problem, const ndr_h5_options *options,
                          char *text, size_t capacity, size_t *length) {
  const ndr_work work = {dataset, problem, {.results = NULL}};
  sheet s = {text, text ? capacity : 0, 0};
  if (!length) return ndr_fail(NDR_ERR_ARGUMENT, "length is a null pointer");
  if (s.capacity) text[0] = 0;
  ndr_status status = explain(&work, options, &s);
  *length = s.length;
  return status;
}

ndr_status ndr_h5_scan_explain(ndr_h5_dataset *dataset, const ndr_h5_scan *scan, const ndr_h5_options *options,
                               char *text, size_t capacity, size_t *length) {
  ndr_scan_request request;
  sheet s = {text, text ? capacity : 0, 0};
  if (!dataset || !length) return ndr_fail(NDR_ERR_ARGUMENT, "dataset or length is a null pointer");
  if (s.capacity) text[0] = 0;
  NDR_TRY(ndr_scan_request_make(&request, dataset, scan, options));
  const ndr_work work = {dataset, &request.problem, {.running = &request.running}};
  ndr_status status = request.empty ? NDR_OK : explain(&work, options, &s);
  *length = s.length;
  return status;
}
