/* See leaf_totals.h. The last axis is either kept, so that its elements are lanes with an output each, or a run of
 * elements of one output. The other kept axes are gone through in their order, and for each place all reduced ones. */
#include "h5/run/leaf/leaf_totals.h"

#include <string.h>

#include "h5/read/unpack/totals.h"

/* Neighbouring dims that are all kept or all reduced, as one; the step is in elements. */
typedef struct {
  int64_t size, step;
  bool reduced;
} axis;

typedef struct {
  const ndr_unpack *unpack;
  int64_t bytes; /* of a stored element */
  axis last;     /* its step is 1 */
  axis rows;     /* the innermost other reduced axis, of one step where there is none */
  axis kept[NDR_MAX_DIMS], reduced[NDR_MAX_DIMS];
  int kept_count, reduced_count;
} leaf_walk;

/* Totals that wait to be added to the states: those of outputs first .. first + held - 1. */
typedef struct {
  ndr_accumulator *to;
  int64_t first, held;
  double sums[NDR_TOTALS_LANES], counts[NDR_TOTALS_LANES];
} batch;

/* Finds the axes, innermost first, and returns how many there are. The first has a step of 1, if need be as an axis of
 * one element. */
static int find_axes(const ndr_job *job, const ndr_slab *slab, const ndr_slab *leaf, axis *axes) {
  int count = 0;
  int64_t step = 1;
  for (int d = job->dataset->info.ndim - 1; d >= 0; step *= slab->size[d], d--) {
    const axis a = {leaf->size[d], step, job->reduced[d]};
    if (a.size == 1) continue;
    if (count == 0 && step != 1) axes[count++] = (axis){1, 1, false};
    axis *inner = count > 0 ? &axes[count - 1] : NULL;
    if (inner && inner->reduced == a.reduced && inner->step * inner->size == a.step)
      inner->size *= a.size;
    else
      axes[count++] = a;
  }
  if (count == 0) axes[count++] = (axis){1, 1, false};
  return count;
}

static leaf_walk plan_walk(const ndr_job *job, const ndr_slab *slab, const ndr_slab *leaf) {
  axis axes[NDR_MAX_DIMS + 1];
  const ndr_unpack *unpack = &job->readers[leaf->part].deferred;
  const int count = find_axes(job, slab, leaf, axes);
  leaf_walk w = {
      .unpack = unpack, .bytes = (int64_t)ndr_dtype_bytes(unpack->from), .last = axes[0], .rows = {1, 0, true}};
  bool found = false;
  for (int i = 1; i < count; i++) {
    if (!axes[i].reduced)
      w.kept[w.kept_count++] = axes[i];
    else if (found)
      w.reduced[w.reduced_count++] = axes[i];
    else
      w.rows = axes[i], found = true;
  }
  return w;
}

/* Moves on to the next place along the axes, innermost first. After the last place goes back to the first, and returns
 * false. */
static bool step_on(const axis *axes, int count, int64_t *place, int64_t *offset) {
  for (int i = 0; i < count; i++) {
    *offset += axes[i].step;
    if (++place[i] < axes[i].size) return true;
    *offset -= axes[i].size * axes[i].step;
    place[i] = 0;
  }
  return false;
}

/* Adds up all elements of the one output of a run, or of the outputs of lanes. Their first elements are at `at`. */
static void add_up(const leaf_walk *w, const char *at, int64_t lanes, double *sums, double *counts) {
  int64_t place[NDR_MAX_DIMS] = {0}, offset = 0;
  do {
    const char *from = at + offset * w->bytes;
    if (!w->last.reduced) {
      ndr_totals_add_rows(w->unpack, from, w->rows.step, w->rows.size, lanes, sums, counts);
      continue;
    }
    for (int64_t row = 0; row < w->rows.size; row++)
      ndr_totals_add_run(w->unpack, from + row * w->rows.step * w->bytes, w->last.size, sums, counts);
  } while (step_on(w->reduced, w->reduced_count, place, &offset));
}

static ndr_status flush(const leaf_walk *w, batch *b) {
  ndr_totals_unpack(w->unpack, b->held, b->sums, b->counts);
  NDR_TRY(ndr_accumulator_add_totals(b->to, b->first, b->held, b->sums, b->counts));
  b->first += b->held;
  b->held = 0;
  return NDR_OK;
}

static ndr_status add_lanes(const leaf_walk *w, const char *at, int64_t lanes, batch *b) {
  if (b->held + lanes > NDR_TOTALS_LANES) NDR_TRY(flush(w, b));
  double *sums = b->sums + b->held, *counts = b->counts + b->held;
  memset(sums, 0, (size_t)lanes * sizeof *sums);
  memset(counts, 0, (size_t)lanes * sizeof *counts);
  add_up(w, at, lanes, sums, counts);
  b->held += lanes;
  return NDR_OK;
}

ndr_status ndr_leaf_add_totals(const ndr_job *job, const ndr_leaf_slab *from, const ndr_slab *leaf,
                               ndr_accumulator *to) {
  const leaf_walk w = plan_walk(job, from->slab, leaf);
  int64_t place[NDR_MAX_DIMS] = {0}, offset = 0, begin = 0, step = 1;
  batch b;
  b.to = to;
  b.first = b.held = 0;
  for (int d = job->dataset->info.ndim - 1; d >= 0; step *= from->slab->size[d], d--) {
    if (leaf->size[d] == 0) return NDR_OK;
    begin += (leaf->begin[d] - from->slab->begin[d]) * step;
  }
  const int64_t lanes = w.last.reduced ? 1 : w.last.size;
  do {
    for (int64_t l = 0, some; l < lanes; l += some) {
      some = lanes - l < NDR_TOTALS_LANES ? lanes - l : NDR_TOTALS_LANES;
      NDR_TRY(add_lanes(&w, from->data + (begin + offset + l) * w.bytes, some, &b));
    }
  } while (step_on(w.kept, w.kept_count, place, &offset));
  return flush(&w, &b);
}
