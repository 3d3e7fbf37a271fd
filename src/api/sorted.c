/* See sorted.h. */
#include "api/sorted.h"

#include <stdlib.h>
#include <string.h>

/* Elements of a block: they fit in a second-level cache; or, where there are many groups, as many as make a run of each
 * worth its plan. */
#define BLOCK_ELEMENTS (INT64_C(1) << 18)
#define MOST_ELEMENTS (INT64_C(1) << 22)
#define RUN_ELEMENTS 64

static int last_label_dim(const ndr_problem *problem) {
  return problem->group_dim + problem->groups->ndim - 1;
}

static bool is_label_dim(const ndr_problem *problem, int d) {
  return d >= problem->group_dim && d <= last_label_dim(problem);
}

/* ---- the size of blocks ---- */

/* The dim beside those of the labels that is not peeled yet and has the largest stride; -1: there is none. */
static int outermost(const ndr_sorted *s) {
  const ndr_problem *problem = &s->whole->problem;
  int found = -1;
  for (int d = 0; d < problem->ndim; d++)
    if (!is_label_dim(problem, d) && !s->peeled[d] && problem->shape[d] > 1 &&
        (found < 0 || llabs(problem->strides[d]) > llabs(problem->strides[found])))
      found = d;
  return found;
}

/* Elements for each label of a block: of the dims beside the labels' that are not peeled. */
static int64_t elements_beside(const ndr_sorted *s) {
  const ndr_problem *problem = &s->whole->problem;
  int64_t beside = 1;
  for (int d = 0; d < problem->ndim; d++)
    if (!is_label_dim(problem, d) && !s->peeled[d] && __builtin_mul_overflow(beside, problem->shape[d], &beside))
      beside = INT64_MAX;
  return beside;
}

static void choose_block(ndr_sorted *s) {
  int64_t wanted = s->whole->problem.groups->count * RUN_ELEMENTS;
  int64_t room = wanted < BLOCK_ELEMENTS ? BLOCK_ELEMENTS : wanted > MOST_ELEMENTS ? MOST_ELEMENTS : wanted;
  s->size = s->row_length < room ? s->row_length : room;
  for (int d; elements_beside(s) > room / s->size && (d = outermost(s)) >= 0;) s->peeled[d] = true;
  s->elements = s->size * elements_beside(s);
}

/* ---- the order of labels ---- */

/* Sorts the block's labels by group and lists the runs. */
static void sort(ndr_sorted *s, int64_t count) {
  const ndr_groups *groups = s->whole->problem.groups;
  ndr_groups_sort(groups, ndr_request_first_label(s->whole, s->row) + s->first, count, s->ends, s->order);
  s->run_count = 0;
  for (int64_t g = 0, begin = 0; g < groups->count; begin = s->ends[g++])
    if (s->ends[g] > begin) s->runs[s->run_count++] = (ndr_sorted_run){g, begin, s->ends[g] - begin};
}

static int64_t sorted_labels(const ndr_sorted *s) {
  const ndr_sorted_run *last = s->run_count ? &s->runs[s->run_count - 1] : NULL;
  return last ? last->begin + last->count : 0;
}

/* ---- copies ---- */

typedef struct unit16 {
  uint64_t words[2];
} unit16;

static void take_row(const char *from, int64_t stride, int64_t bytes, const int32_t *order, int64_t count, char *to) {
#define TAKE(unit)                                                                                                     \
  for (int64_t i = 0; i < count; i++) ((unit *)(void *)to)[i] = ((const unit *)(const void *)from)[order[i] * stride]; \
  break
  switch (bytes) {
  case 1: TAKE(uint8_t);
  case 2: TAKE(uint16_t);
  case 4: TAKE(uint32_t);
  case 8: TAKE(uint64_t);
  default: TAKE(unit16);
  }
#undef TAKE
}

/* Copies array k of the block, labels fastest; dims along which it repeats stay so. Sets its strides in the copy. */
static void copy_array(ndr_sorted *s, int k, const int64_t *from, int64_t *to, int64_t bytes) {
  const ndr_problem *whole = &s->whole->problem, *block = &s->request.problem;
  int last = last_label_dim(whole);
  int64_t index[NDR_MAX_DIMS] = {0}, count = from[last] ? sorted_labels(s) : 1, step = count, at = 0, row = s->row;
  const char *base = (const char *)s->from[k] + s->first * from[last] * bytes;
  for (int d = last; d >= whole->group_dim; row /= whole->shape[d--]) base += row % whole->shape[d] * from[d] * bytes;
  for (int d = whole->ndim - 1; d >= 0; d--) {
    base += s->index[d] * from[d] * bytes;
    to[d] = from[d] && block->shape[d] > 1 && !is_label_dim(whole, d) ? step : 0;
    if (to[d]) step *= block->shape[d];
  }
  to[last] = from[last] ? 1 : 0;
  for (;; at += count) {
    int64_t element = 0;
    for (int d = 0; d < whole->ndim; d++) element += index[d] * from[d];
    take_row(base + element * bytes, from[last], bytes, from[last] ? s->order : &(int32_t){0}, count,
             (char *)s->copies[k] + at * bytes);
    int d = whole->ndim - 1;
    for (; d >= 0; index[d--] = 0)
      if (!is_label_dim(whole, d) && to[d] && ++index[d] < block->shape[d]) break;
    if (d < 0) return;
  }
}

static void copy_block(ndr_sorted *s) {
  const ndr_problem *whole = &s->whole->problem;
  ndr_problem *block = &s->request.problem;
  s->request = *s->whole;
  for (int d = 0; d < whole->ndim; d++) {
    if (s->peeled[d] || is_label_dim(whole, d)) block->shape[d] = 1;
    s->request.offset[d] += s->index[d];
  }
  block->shape[last_label_dim(whole)] = sorted_labels(s);
  copy_array(s, 0, whole->strides, block->strides, (int64_t)ndr_dtype_bytes(whole->dtype));
  for (int k = 0; k < whole->operand_count; k++)
    copy_array(s, k + 1, whole->operands[k].strides, block->operands[k].strides,
               (int64_t)ndr_dtype_bytes(whole->operands[k].dtype));
}

/* ---- the whole ---- */

ndr_status ndr_sorted_open(ndr_sorted *s, const ndr_request *whole, const void *const *from) {
  const ndr_problem *problem = &whole->problem;
  int64_t groups = problem->groups->count;
  memset(s, 0, sizeof *s);
  s->whole = whole;
  s->from = from;
  s->row_length = ndr_request_label_row(whole);
  choose_block(s);
  s->order = malloc((size_t)s->size * sizeof *s->order);
  s->ends = malloc((size_t)groups * sizeof *s->ends);
  s->runs = malloc((size_t)(groups < s->size ? groups : s->size) * sizeof *s->runs);
  bool there = s->order && s->ends && s->runs;
  for (int k = 0; k <= problem->operand_count; k++) {
    ndr_dtype dtype = k ? problem->operands[k - 1].dtype : problem->dtype;
    s->copies[k] = aligned_alloc(64, ((size_t)s->elements * ndr_dtype_bytes(dtype) + 63) / 64 * 64);
    s->data[k] = s->copies[k];
    there = there && s->copies[k];
  }
  s->first = -s->size;
  return there ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "out of memory for copies of %lld elements", (long long)s->elements);
}

/* Moves to the next index of peeled dims; false after the last. */
static bool next_index(ndr_sorted *s) {
  const ndr_problem *problem = &s->whole->problem;
  for (int d = problem->ndim - 1; d >= 0; d--) {
    if (!s->peeled[d]) continue;
    if (++s->index[d] < problem->shape[d]) return true;
    s->index[d] = 0;
  }
  return false;
}

bool ndr_sorted_next(ndr_sorted *s) {
  const ndr_problem *problem = &s->whole->problem;
  int64_t length = 1;
  for (int d = problem->group_dim; d <= last_label_dim(problem); d++) length *= problem->shape[d];
  bool same_labels = s->first >= 0 && next_index(s);
  if (!same_labels) {
    s->first += s->size;
    if (s->first >= s->row_length) {
      s->first = 0;
      s->row += s->row_length;
    }
    if (s->row >= length) return false;
    int64_t left = s->row_length - s->first;
    sort(s, left < s->size ? left : s->size);
  }
  copy_block(s);
  return true;
}

void ndr_sorted_close(ndr_sorted *s) {
  free(s->order);
  free(s->ends);
  free(s->runs);
  for (int k = 0; k <= NDR_MAX_OPERANDS; k++) free(s->copies[k]);
}
