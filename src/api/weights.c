/* See weights.h. */
#include "api/weights.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct weight_axis {
  int64_t size, stride;
} weight_axis;

/* Collects the axes along which operand k does not repeat, smallest strides first, and merges them: at least one. */
static int weight_axes(const ndr_canonical *problem, int k, weight_axis *axes) {
  int count = 0, last = 0;
  for (int a = 0; a < problem->kept_count + problem->reduced_count; a++) {
    bool kept = a < problem->kept_count;
    const ndr_axis *axis = kept ? &problem->kept[a] : &problem->reduced[a - problem->kept_count];
    int at = count;
    if (axis->operand[k] == 0) continue;
    for (; at > 0 && llabs(axes[at - 1].stride) > llabs(axis->operand[k]); at--) axes[at] = axes[at - 1];
    axes[at] = (weight_axis){axis->size, axis->operand[k]};
    count++;
  }
  if (count == 0) axes[count++] = (weight_axis){1, 1};
  for (int a = 1; a < count; a++) {
    if (axes[a].stride == axes[last].stride * axes[last].size)
      axes[last].size *= axes[a].size;
    else
      axes[++last] = axes[a];
  }
  return last + 1;
}

/* Weights of a thread's piece at least: it takes no longer to start. */
#define PIECE_WEIGHTS INT64_C(32768)

/* The weights, and how they are cut along their outermost axis. */
typedef struct weights {
  ndr_dtype dtype;
  const void *first;
  int64_t at; /* of the first weight */
  weight_axis axes[2 * NDR_MAX_DIMS];
  int count;
  int64_t each; /* elements of the outermost axis in a piece */
  _Atomic bool nan;
} weights;

#define HAS_NAN(type)                                                                                                  \
  do {                                                                                                                 \
    const type *x = (const type *)w->first + at;                                                                       \
    unsigned found = 0;                                                                                                \
    if (stride == 1)                                                                                                   \
      for (int64_t i = 0; i < size; i++) found |= x[i] != x[i];                                                        \
    else                                                                                                               \
      for (int64_t i = 0; i < size; i++) found |= x[i * stride] != x[i * stride];                                      \
    return found != 0;                                                                                                 \
  } while (0)

static bool has_nan(const weights *w, int64_t at, int64_t size, int64_t stride) {
  if (w->dtype == NDR_F32) HAS_NAN(float);
  HAS_NAN(double);
}

/* Moves to the next place outside the first axis; false after the last. */
static bool next(const weight_axis *axes, int count, int64_t *index, int64_t *at) {
  for (int a = 1; a < count; a++) {
    *at += axes[a].stride;
    if (++index[a] < axes[a].size) return true;
    *at -= axes[a].size * axes[a].stride;
    index[a] = 0;
  }
  return false;
}

static void look(void *context, int64_t piece) {
  weights *w = context;
  weight_axis axes[2 * NDR_MAX_DIMS];
  int64_t index[2 * NDR_MAX_DIMS] = {0}, begin = piece * w->each;
  memcpy(axes, w->axes, sizeof axes);
  weight_axis *outermost = &axes[w->count - 1];
  int64_t at = w->at + begin * outermost->stride, left = outermost->size - begin;
  outermost->size = left < w->each ? left : w->each;
  do {
    if (has_nan(w, at, axes[0].size, axes[0].stride)) atomic_store(&w->nan, true);
  } while (!atomic_load(&w->nan) && next(axes, w->count, index, &at));
}

ndr_status ndr_weights_check(const ndr_backend *backend, int threads, const ndr_canonical *problem,
                             const void *const *data) {
  int k = 0;
  while (k < problem->operand_count && problem->operand_roles[k] != NDR_WEIGHTS) k++;
  if (k == problem->operand_count || problem->length == 0) return NDR_OK;
  weights w = {.dtype = problem->operand_dtypes[k], .first = data[k + 1], .at = problem->operand_origin[k]};
  int64_t all = 1;
  w.count = weight_axes(problem, k, w.axes);
  for (int a = 0; a < w.count; a++) all *= w.axes[a].size;
  if (all == 0) return NDR_OK;
  int64_t size = w.axes[w.count - 1].size, of_one = all / size;
  w.each = of_one < PIECE_WEIGHTS ? PIECE_WEIGHTS / of_one : 1;
  int64_t pieces = size / w.each + (size % w.each != 0);
  if (pieces == 1)
    look(&w, 0);
  else
    backend->run_tasks(pieces, threads, all / 8, look, &w);
  if (!atomic_load(&w.nan)) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "weights have NaN among them; use 0 and a mask that is false there");
}
