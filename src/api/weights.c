/* See weights.h. */
#include "api/weights.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct number_axis {
  int64_t size, stride;
} number_axis;

/* Leaves out axes along which numbers repeat, sorts the others, smallest strides first, and merges them: at least one.
 * Returns how many there are. */
static int merge_axes(number_axis *axes, int count) {
  int kept = 0, last = 0;
  for (int a = 0; a < count; a++) {
    const number_axis axis = axes[a];
    int at = kept;
    if (axis.stride == 0) continue;
    for (; at > 0 && llabs(axes[at - 1].stride) > llabs(axis.stride); at--) axes[at] = axes[at - 1];
    axes[at] = axis;
    kept++;
  }
  if (kept == 0) axes[kept++] = (number_axis){1, 1};
  for (int a = 1; a < kept; a++) {
    if (axes[a].stride == axes[last].stride * axes[last].size)
      axes[last].size *= axes[a].size;
    else
      axes[++last] = axes[a];
  }
  return last + 1;
}

/* Numbers of a thread's piece at least: it takes no longer to start. */
#define PIECE_NUMBERS INT64_C(32768)

/* Numbers that are looked at, weights or results, and how they are cut along their outermost axis. */
typedef struct numbers {
  ndr_dtype dtype; /* f32 or f64 */
  const void *first;
  int64_t at; /* of the first number */
  number_axis axes[2 * NDR_MAX_DIMS];
  int count;    /* axes */
  int64_t all;  /* how many numbers there are */
  int64_t each; /* elements of the outermost axis in a piece */
  _Atomic bool nan;
} numbers;

#define HAS_NAN(type)                                                                                                  \
  do {                                                                                                                 \
    const type *x = (const type *)n->first + at;                                                                       \
    unsigned found = 0;                                                                                                \
    if (stride == 1)                                                                                                   \
      for (int64_t i = 0; i < size; i++) found |= x[i] != x[i];                                                        \
    else                                                                                                               \
      for (int64_t i = 0; i < size; i++) found |= x[i * stride] != x[i * stride];                                      \
    return found != 0;                                                                                                 \
  } while (0)

static bool has_nan(const numbers *n, int64_t at, int64_t size, int64_t stride) {
  if (n->dtype == NDR_F32) HAS_NAN(float);
  HAS_NAN(double);
}

/* Moves to the next place outside the first axis; false after the last. */
static bool next(const number_axis *axes, int count, int64_t *index, int64_t *at) {
  for (int a = 1; a < count; a++) {
    *at += axes[a].stride;
    if (++index[a] < axes[a].size) return true;
    *at -= axes[a].size * axes[a].stride;
    index[a] = 0;
  }
  return false;
}

static void look(void *context, int64_t piece) {
  numbers *n = context;
  number_axis axes[2 * NDR_MAX_DIMS];
  int64_t index[2 * NDR_MAX_DIMS] = {0}, begin = piece * n->each;
  memcpy(axes, n->axes, sizeof axes);
  number_axis *outermost = &axes[n->count - 1];
  int64_t at = n->at + begin * outermost->stride, left = outermost->size - begin;
  outermost->size = left < n->each ? left : n->each;
  do {
    if (has_nan(n, at, axes[0].size, axes[0].stride)) atomic_store(&n->nan, true);
  } while (!atomic_load(&n->nan) && next(axes, n->count, index, &at));
}

static bool have_nan(numbers *n, const ndr_backend *backend, int threads) {
  if (n->all == 0) return false;
  int64_t size = n->axes[n->count - 1].size, of_one = n->all / size;
  n->each = of_one < PIECE_NUMBERS ? PIECE_NUMBERS / of_one : 1;
  int64_t pieces = size / n->each + (size % n->each != 0);
  if (pieces == 1)
    look(n, 0);
  else
    backend->run_tasks(pieces, threads, n->all / 8, look, n);
  return atomic_load(&n->nan);
}

static void count_numbers(numbers *n) {
  n->count = merge_axes(n->axes, n->count);
  n->all = 1;
  for (int a = 0; a < n->count; a++) n->all *= n->axes[a].size;
}

/* The operand that is the weights of a problem; -1: there is none, or there are no elements. Says how many they are and
 * how they lie, but not where. */
static int find_weights(const ndr_canonical *problem, numbers *n) {
  int k = 0;
  while (k < problem->operand_count && problem->operand_roles[k] != NDR_WEIGHTS) k++;
  if (k == problem->operand_count || problem->length == 0) return -1;
  *n = (numbers){.dtype = problem->operand_dtypes[k], .at = problem->operand_origin[k]};
  for (int a = 0; a < problem->kept_count; a++)
    n->axes[n->count++] = (number_axis){problem->kept[a].size, problem->kept[a].operand[k]};
  for (int a = 0; a < problem->reduced_count; a++)
    n->axes[n->count++] = (number_axis){problem->reduced[a].size, problem->reduced[a].operand[k]};
  count_numbers(n);
  return k;
}

ndr_status ndr_weights_check(const ndr_backend *backend, int threads, const ndr_canonical *problem,
                             const void *const *data) {
  numbers weights;
  int k = find_weights(problem, &weights);
  if (k < 0) return NDR_OK;
  weights.first = data[k + 1];
  if (!have_nan(&weights, backend, threads)) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "weights have NaN among them; use 0 and a mask that is false there");
}

/* ---- weights whose NaN show in the results ---- */

/* A result that is NaN wherever a weight of its output is; -1: there is none. Of complex ones, it is the real part. */
static int telling_result(const ndr_canonical *problem) {
  for (int i = 0; i < problem->op_count; i++) {
    ndr_dtype dtype = ndr_canonical_result(problem, i);
    bool weighted = problem->ops[i] == NDR_SUM || problem->ops[i] == NDR_MEAN || problem->ops[i] == NDR_VAR ||
                    problem->ops[i] == NDR_STD || problem->ops[i] == NDR_NORM2;
    if (weighted && (dtype == NDR_F32 || dtype == NDR_F64 || dtype == NDR_C64 || dtype == NDR_C128)) return i;
  }
  return -1;
}

bool ndr_weights_show(const ndr_canonical *problem) {
  numbers weights;
  if (find_weights(problem, &weights) < 0) return false;
  bool left_out = problem->skip_nan || problem->table || problem->partial;
  for (int k = 0; k < problem->operand_count; k++) left_out = left_out || problem->operand_roles[k] == NDR_WHERE;
  bool many = weights.all >= 2 * PIECE_NUMBERS && weights.all / 8 >= problem->outputs;
  return many && !left_out && telling_result(problem) >= 0;
}

ndr_status ndr_weights_check_shown(const ndr_backend *backend, int threads, const ndr_canonical *problem,
                                   const void *const *data, void *const *results) {
  int i = telling_result(problem);
  ndr_dtype dtype = ndr_canonical_result(problem, i);
  const int64_t parts = ndr_dtype_is_complex(dtype) ? 2 : 1;
  numbers told = {.dtype = dtype == NDR_F32 || dtype == NDR_C64 ? NDR_F32 : NDR_F64,
                  .first = results[i],
                  .at = problem->result_origin[i] * parts};
  for (int a = 0; a < problem->kept_count; a++)
    told.axes[told.count++] = (number_axis){problem->kept[a].size, problem->kept[a].result[i] * parts};
  count_numbers(&told);
  return have_nan(&told, backend, threads) ? ndr_weights_check(backend, threads, problem, data) : NDR_OK;
}
