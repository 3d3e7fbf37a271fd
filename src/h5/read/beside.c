/* See beside.h. The files of a series follow each other in a slot as they do along their dim, the box of each compact.
 * The begin of a box counts from the same end of a dim as the dataset's slabs; box_in_file counts from the other end
 * where the file has the dim in reverse.
 *
 * Of an array with `steps`, a slot has the steps that the slab needs, run by run, as next_run finds them. In a run
 * steps of the array follow each other, and several steps of the dataset may share one: it is stored once, and
 * gathering repeats it. */
#include "h5/read/beside.h"

#include <stdlib.h>
#include <string.h>

#include "h5/read/route/gather.h"

static int64_t times(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

int64_t ndr_beside_elements(const ndr_beside *beside, const ndr_beside_box *box) {
  int64_t count = 1;
  for (int i = 0; i < beside->ndim; i++) count = times(count, box->size[i]);
  return count;
}

int64_t ndr_beside_count(const ndr_beside *beside) {
  ndr_beside_box all;
  memcpy(all.size, beside->shape, sizeof all.size);
  return ndr_beside_elements(beside, &all);
}

ndr_beside_box ndr_beside_find(const ndr_beside *beside, const ndr_slab *slab) {
  ndr_beside_box box = {{0}, {0}};
  for (int i = 0; i < beside->ndim; i++) {
    int d = beside->dims[i];
    box.begin[i] = d < 0 ? 0 : slab->whole[d];
    box.size[i] = d < 0 ? 1 : slab->size[d];
  }
  return box;
}

bool ndr_beside_is_turned(const ndr_beside *beside) {
  bool turned = false;
  for (int i = 0; i < beside->ndim; i++) turned |= beside->turned[i];
  return turned;
}

/* The box as it lies in the file. */
static ndr_beside_box box_in_file(const ndr_beside *beside, ndr_beside_box box) {
  for (int i = 0; i < beside->ndim; i++)
    if (beside->turned[i]) box.begin[i] = beside->shape[i] - box.begin[i] - box.size[i];
  return box;
}

/* ---- Readers ----------------------------------------------------------------------------------------------------- */

static const ndr_h5_dataset *part_of(const ndr_beside *beside, int part) {
  return beside->dataset->part_count ? beside->dataset->parts[part] : beside->dataset;
}

ndr_status ndr_beside_open(ndr_beside *beside, bool as_f64, bool defer, int64_t memory) {
  int count = beside->dataset->part_count ? beside->dataset->part_count : 1;
  beside->readers = calloc((size_t)count, sizeof *beside->readers);
  if (!beside->readers) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  while (beside->part_count < count) {
    int i = beside->part_count++;
    NDR_TRY(ndr_reader_open(&beside->readers[i], part_of(beside, i), as_f64, defer, memory));
  }
  return NDR_OK;
}

void ndr_beside_close(ndr_beside *beside) {
  for (int i = 0; i < beside->part_count; i++) ndr_reader_close(&beside->readers[i]);
  free(beside->readers);
  free(beside->owned);
  free(beside->cut);
  free(beside->steps);
  *beside = (ndr_beside){.dataset = NULL};
}

int64_t ndr_beside_scratch_bytes(const ndr_beside *beside, int threads) {
  int64_t most = 0;
  for (int i = 0; i < beside->part_count; i++) {
    int64_t bytes = ndr_reader_scratch_bytes(&beside->readers[i], threads);
    if (bytes > most) most = bytes;
  }
  return most;
}

/* ---- The runs and files that a box lies in ----------------------------------------------------------------------- */

/* The part of a slab's box that lies in one run of steps, and there in one file. An array without `steps` has one run,
 * all of the box. */
typedef struct {
  const ndr_beside *beside;
  ndr_beside_box box; /* of the slab */
  bool in_file;       /* boxes count from the end of the dims that the file has in reverse */
  int64_t from,
      to; /* the run: these steps of the dataset. From one to the next the array's step stays or goes up by 1 */
  ndr_beside_box run;          /* the run's box, in steps of the array */
  int64_t runs;                /* runs so far */
  int part;                    /* number of the file */
  int64_t offset;              /* of the file along the dim of the series */
  int64_t done, count;         /* elements of the parts before, and of this one */
  ndr_beside_box here;         /* in the whole array */
  int64_t begin[NDR_MAX_DIMS]; /* in the file */
} walk;

static walk walk_over(const ndr_beside *beside, const ndr_slab *slab, bool in_file) {
  return (walk){.beside = beside, .box = ndr_beside_find(beside, slab), .in_file = in_file, .part = beside->part_count};
}

/* Sets the run's box along step_dim; false behind the last run. */
static bool find_steps(walk *w) {
  const int d = w->beside->step_dim;
  const int64_t *steps = w->beside->steps, last = w->box.begin[d] + w->box.size[d];
  int64_t at = w->from = w->runs ? w->to : w->box.begin[d];
  if (at == last) return false;
  while (++at < last && (steps[at] == steps[at - 1] || steps[at] == steps[at - 1] + 1)) continue;
  w->to = at;
  w->run.begin[d] = steps[w->from];
  w->run.size[d] = steps[at - 1] - steps[w->from] + 1;
  return true;
}

static bool next_run(walk *w) {
  w->part = 0;
  w->offset = 0;
  w->run = w->in_file ? box_in_file(w->beside, w->box) : w->box;
  bool found = w->beside->steps ? find_steps(w) : w->runs == 0;
  w->runs++;
  return found;
}

/* The next file, of this run. */
static bool next_file(walk *w) {
  if (w->part + 1 >= w->beside->part_count) return false;
  w->offset += part_of(w->beside, w->part++)->info.shape[w->beside->dataset->series_dim];
  return true;
}

/* The part of the run that the file has, if there is one. */
static bool clip(walk *w) {
  int dim = w->beside->dataset->series_dim;
  int64_t length = part_of(w->beside, w->part)->info.shape[dim];
  int64_t low = w->run.begin[dim], high = low + w->run.size[dim];
  if (low < w->offset) low = w->offset;
  if (high > w->offset + length) high = w->offset + length;
  if (low >= high) return false;
  w->here.begin[dim] = low;
  w->here.size[dim] = high - low;
  w->begin[dim] = low - w->offset;
  return true;
}

static bool next_part(walk *w) {
  w->done += w->count;
  w->count = 0;
  while (next_file(w) || next_run(w)) {
    w->here = w->run;
    memcpy(w->begin, w->run.begin, sizeof w->begin);
    if (w->beside->dataset->part_count && !clip(w)) continue;
    w->count = ndr_beside_elements(w->beside, &w->here);
    return true;
  }
  return false;
}

static ndr_box box_of(const walk *w) {
  return (ndr_box){w->begin, w->here.size};
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static int64_t pieces_of(const walk *w) {
  int64_t task;
  return ndr_reader_pieces(&w->beside->readers[w->part], box_of(w), &task);
}

int64_t ndr_beside_slot_bytes(const ndr_beside *beside) {
  int64_t most = 1;
  for (int i = 0; i < beside->part_count; i++) {
    int64_t bytes = (int64_t)ndr_dtype_bytes(beside->readers[i].unpack.to);
    if (bytes > most) most = bytes;
  }
  return most;
}

int64_t ndr_beside_pieces(const ndr_beside *beside, const ndr_slab *slab) {
  int64_t count = 0;
  for (walk w = walk_over(beside, slab, true); next_part(&w);) count += pieces_of(&w);
  return count;
}

ndr_status ndr_beside_read(const ndr_beside *beside, ndr_reader_scratch *scratch, const ndr_slab *slab, int64_t piece,
                           void *data) {
  for (walk w = walk_over(beside, slab, true); next_part(&w);) {
    int64_t count = pieces_of(&w);
    char *to = (char *)data + beside->place + w.done * ndr_beside_slot_bytes(beside);
    if (piece < count) return ndr_reader_read(&beside->readers[w.part], scratch, box_of(&w), piece, to);
    piece -= count;
  }
  return NDR_OK;
}

/* ---- Gathering --------------------------------------------------------------------------------------------------- */

/* A compact box of elements as they are stored. */
typedef struct {
  const ndr_beside_box *box;
  const char *elements;
  const ndr_unpack *unpack;
  const bool *turned; /* the dims along which they lie in reverse */
  int64_t begin, end; /* of an array with `steps`: only steps begin .. end - 1 of step_dim are copied */
} stored_box;

/* Copies what `from` has of the box `wanted` to its place there, or only finds it: returns where it lies if that is
 * compact and needs no unpacking. */
static const char *copy(const ndr_beside *beside, const stored_box *from, const ndr_beside_box *wanted, char *buffer) {
  int64_t from_step = (int64_t)ndr_dtype_bytes(from->unpack->from),
          to_step = (int64_t)ndr_dtype_bytes(from->unpack->to);
  const int64_t in = from_step, out = to_step;
  int64_t froms[NDR_MAX_DIMS], tos[NDR_MAX_DIMS], sizes[NDR_MAX_DIMS], start = 0, target = 0;
  bool whole = true;
  ndr_gather gather = {0};
  for (int i = beside->ndim - 1; i >= 0; i--) {
    int64_t low = wanted->begin[i], high = low + wanted->size[i];
    int64_t first = from->box->begin[i], last = first + from->box->size[i];
    whole &= low >= first && high <= last;
    if (low < first) low = first;
    if (high > last) high = last;
    if (beside->steps && i == beside->step_dim) {
      whole &= low >= from->begin && high <= from->end;
      if (low < from->begin) low = from->begin;
      if (high > from->end) high = from->end;
    }
    if (low >= high) return NULL;
    sizes[i] = high - low;
    froms[i] = from->turned[i] ? -from_step : from_step;
    tos[i] = to_step;
    start += (from->turned[i] ? last - 1 - low : low - first) * from_step;
    target += (low - wanted->begin[i]) * to_step;
    from_step *= from->box->size[i];
    to_step *= wanted->size[i];
  }
  for (int i = 0; i < beside->ndim; i++) ndr_gather_add(&gather, sizes[i], froms[i], tos[i]);
  if (whole && ndr_unpack_copies(from->unpack) && ndr_gather_is_run(&gather, in, out)) return from->elements + start;
  if (buffer) ndr_gather_run(&gather, from->unpack, from->elements + start, buffer + target);
  return NULL;
}

/* The same of an array with `steps`, where `from` has what steps begin .. end - 1 of the dataset are paired with.
 * Stretches along which the array's steps go up by 1 are copied at once. */
static const char *copy_steps(const ndr_beside *beside, stored_box *from, int64_t begin, int64_t end,
                              const ndr_beside_box *wanted, char *buffer) {
  const int d = beside->step_dim;
  const int64_t *steps = beside->steps;
  const char *found = NULL;
  if (begin < wanted->begin[d]) begin = wanted->begin[d];
  if (end > wanted->begin[d] + wanted->size[d]) end = wanted->begin[d] + wanted->size[d];
  for (int64_t at = begin, next; at < end && !found; at = next) {
    ndr_beside_box moved = *wanted; /* so that step `at` of the dataset is steps[at] of the array */
    moved.begin[d] += steps[at] - at;
    for (next = at + 1; next < end && steps[next] == steps[next - 1] + 1;) next++;
    from->begin = steps[at];
    from->end = steps[next - 1] + 1;
    found = copy(beside, from, &moved, buffer);
  }
  return found;
}

static const char *gather_from_memory(const ndr_beside *beside, const ndr_beside_box *wanted, char *buffer) {
  static const bool turned[NDR_MAX_DIMS]; /* none: ndr_beside_load has turned it */
  const ndr_unpack as_it_is = NDR_UNPACK_INIT(beside->dtype);
  ndr_beside_box all = {{0}, {0}};
  memcpy(all.size, beside->shape, sizeof all.size);
  stored_box from = {&all, beside->memory, &as_it_is, turned, 0, 0};
  return beside->steps ? copy_steps(beside, &from, 0, INT64_MAX, wanted, buffer) : copy(beside, &from, wanted, buffer);
}

bool ndr_beside_gather(const ndr_beside *beside, const ndr_slab *slab, const ndr_slab *leaf, void *data, void *buffer,
                       void **elements) {
  ndr_beside_box wanted = ndr_beside_find(beside, leaf);
  const char *found = NULL;
  if (beside->memory) {
    found = gather_from_memory(beside, &wanted, buffer);
  } else {
    for (walk w = walk_over(beside, slab, false); !found && next_part(&w);) {
      const char *here = (char *)data + beside->place + w.done * ndr_beside_slot_bytes(beside);
      stored_box from = {&w.here, here, &beside->readers[w.part].deferred, beside->turned, 0, 0};
      found = beside->steps ? copy_steps(beside, &from, w.from, w.to, &wanted, buffer)
                            : copy(beside, &from, &wanted, buffer);
    }
  }
  *elements = found ? (void *)(uintptr_t)found : buffer;
  return found || buffer;
}

ndr_status ndr_beside_load(ndr_beside *beside) {
  int64_t count = ndr_beside_count(beside), bytes = times(count, (int64_t)ndr_dtype_bytes(beside->dtype));
  ndr_reader_scratch scratch = {0};
  ndr_slab all = {.part = 0};
  char *memory = malloc((size_t)bytes + 1), *parts = NULL;
  bool gathers = beside->part_count > 1 || ndr_beside_is_turned(beside);
  if (gathers) parts = malloc((size_t)bytes + 1);
  ndr_status status = memory && (parts || !gathers) ? NDR_OK
                                                    : ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for %lld bytes",
                                                               beside->dataset->where, (long long)bytes);
  ndr_beside whole = *beside;
  whole.place = 0;
  whole.steps = NULL;
  for (int i = 0; i < whole.ndim; i++) {
    whole.dims[i] = i;
    all.size[i] = whole.shape[i];
  }
  for (int64_t i = 0, pieces = ndr_beside_pieces(&whole, &all); status == NDR_OK && i < pieces; i++)
    status = ndr_beside_read(&whole, &scratch, &all, i, parts ? parts : memory);
  void *found;
  if (status == NDR_OK && parts && count > 0 && ndr_beside_gather(&whole, &all, &all, parts, memory, &found) &&
      found != memory)
    memcpy(memory, found, (size_t)bytes);
  ndr_reader_scratch_clear(&scratch);
  free(parts);
  if (status == NDR_OK)
    beside->memory = beside->owned = memory;
  else
    free(memory);
  return status;
}

/* ---- As a tensor ------------------------------------------------------------------------------------------------- */

DLTensor ndr_beside_tensor(const ndr_beside *beside, ndr_slab *slab, int ndim, void *elements, bool whole,
                           int64_t *strides) {
  DLTensor tensor = {.data = elements, .device = {kDLCPU, 0}, .ndim = ndim, .shape = slab->size, .strides = strides};
  int64_t step = 1;
  tensor.dtype = ndr_dtype_to_dlpack(beside->dtype);
  for (int d = 0; d < ndim; d++) strides[d] = 0;
  for (int i = beside->ndim - 1; i >= 0; i--) {
    if (beside->dims[i] < 0) continue;
    int d = beside->dims[i];
    strides[d] = step;
    if (whole) tensor.byte_offset += (uint64_t)(slab->whole[d] * step * (tensor.dtype.bits / 8));
    step *= whole ? beside->shape[i] : slab->size[d];
  }
  return tensor;
}
