/* See sorted.h. */
#include "api/parts/sorted.h"

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

/* The dim beside those of the labels that is not cut to single elements yet and has the largest stride; -1: there is
 * none. */
static int outermost(const ndr_sorted *s) {
  const ndr_problem *problem = &s->whole->problem;
  int found = -1;
  for (int d = 0; d < problem->ndim; d++)
    if (!is_label_dim(problem, d) && s->each[d] > 1 &&
        (found < 0 || llabs(problem->strides[d]) > llabs(problem->strides[found])))
      found = d;
  return found;
}

/* Elements for each label of a block. */
static int64_t elements_beside(const ndr_sorted *s) {
  const ndr_problem *problem = &s->whole->problem;
  int64_t beside = 1;
  for (int d = 0; d < problem->ndim; d++)
    if (!is_label_dim(problem, d) && __builtin_mul_overflow(beside, s->each[d], &beside)) beside = INT64_MAX;
  return beside;
}

static int64_t pieces_of(int64_t size, int64_t each) {
  return size / each + (size % each != 0);
}

/* Cuts a dim so that a block has at most `most` elements beside its labels, if the other dims allow that. */
static void cut(ndr_sorted *s, int d, int64_t most) {
  int64_t size = s->each[d];
  s->each[d] = 1;
  int64_t others = elements_beside(s);
  if (others < most) s->each[d] = pieces_of(size, pieces_of(size, most / others));
}

static void choose_blocks(ndr_sorted *s) {
  const ndr_problem *problem = &s->whole->problem;
  int64_t wanted = problem->groups->count * RUN_ELEMENTS, labels = 1;
  int64_t room = wanted < BLOCK_ELEMENTS ? BLOCK_ELEMENTS : wanted > MOST_ELEMENTS ? MOST_ELEMENTS : wanted;
  s->size = s->row_length < room ? s->row_length : room;
  for (int d = 0; d < problem->ndim; d++) {
    if (is_label_dim(problem, d))
      labels *= problem->shape[d];
    else
      s->each[d] = problem->shape[d];
  }
  for (int d; elements_beside(s) > room / s->size && (d = outermost(s)) >= 0;) cut(s, d, room / s->size);
  s->elements = (s->size + 1) * elements_beside(s);
  s->blocks = labels / s->row_length * pieces_of(s->row_length, s->size);
  s->disjoint = s->blocks == 1;
  for (int d = 0; d < problem->ndim; d++) {
    if (is_label_dim(problem, d)) continue;
    s->disjoint = s->disjoint && (s->each[d] == problem->shape[d] || !s->whole->reduced[d]);
    s->blocks *= pieces_of(problem->shape[d], s->each[d]);
  }
}

/* ---- the order of labels ---- */

static int64_t sorted_labels(const ndr_sorted *s) {
  const ndr_sorted_run *last = s->run_count ? &s->runs[s->run_count - 1] : NULL;
  return last ? last->begin + last->count : 0;
}

/* Sorts a section's labels by group and lists the runs. */
static void sort(ndr_sorted *s, int64_t section) {
  const ndr_groups *groups = s->whole->problem.groups;
  int64_t of_row = pieces_of(s->row_length, s->size);
  s->section = section;
  s->row = section / of_row * s->row_length;
  s->first = section % of_row * s->size;
  int64_t left = s->row_length - s->first;
  s->count = left < s->size ? left : s->size;
  ndr_groups_sort(groups, ndr_request_first_label(s->whole, s->row) + s->first, s->count, s->ends, s->order);
  s->run_count = 0;
  for (int64_t g = 0, begin = 0; g < groups->count; begin = s->ends[g++])
    if (s->ends[g] > begin) s->runs[s->run_count++] = (ndr_sorted_run){g, begin, s->ends[g] - begin};
  int64_t sorted = sorted_labels(s);
  for (int64_t at = 0; at < s->count; at++) s->place[at] = (int32_t)sorted; /* those of no group */
  for (int64_t i = 0; i < sorted; i++) s->place[s->order[i]] = (int32_t)i;
}

/* ---- copies ---- */

typedef struct unit16 {
  uint64_t words[2];
} unit16;

/* Rows of elements to be put in the order of their labels: elements from one row to the next, and along a row. */
typedef struct rows {
  const char *from;
  int64_t count, apart, stride;
  const int32_t *place; /* where each element of a row goes */
  int64_t length, pitch;
} rows;

/* Reads along memory, so that the groups' ends, which are written, are what must stay in the first-level cache. Four
 * rows share the look at their elements' places. */
#define PUT(unit, step)                                                                                                \
  do {                                                                                                                 \
    const unit *from = (const unit *)(const void *)r->from + row * apart;                                              \
    unit *out = (unit *)to + row * pitch;                                                                              \
    for (int64_t i = 0; four && i < r->length; i++) {                                                                  \
      unit *at = out + place[i];                                                                                       \
      at[0] = from[i * (step)];                                                                                        \
      at[pitch] = from[i * (step) + apart];                                                                            \
      at[2 * pitch] = from[i * (step) + 2 * apart];                                                                    \
      at[3 * pitch] = from[i * (step) + 3 * apart];                                                                    \
    }                                                                                                                  \
    for (int64_t i = 0; !four && i < r->length; i++) out[place[i]] = from[i * (step)];                                 \
  } while (0)

#define PUT_ANY(unit)                                                                                                  \
  if (r->stride == 1)                                                                                                  \
    PUT(unit, 1);                                                                                                      \
  else                                                                                                                 \
    PUT(unit, r->stride);                                                                                              \
  break

static void put_rows(const rows *r, int64_t bytes, void *to) {
  const int64_t apart = r->apart, pitch = r->pitch;
  const int32_t *place = r->place;
  for (int64_t row = 0; row < r->count;) {
    const bool four = row + 4 <= r->count;
    switch (bytes) {
    case 1: PUT_ANY(uint8_t);
    case 2: PUT_ANY(uint16_t);
    case 4: PUT_ANY(uint32_t);
    case 8: PUT_ANY(uint64_t);
    default: PUT_ANY(unit16);
    }
    row += four ? 4 : 1;
  }
}
#undef PUT
#undef PUT_ANY

/* Where the block's first element of array k is. */
static const char *first_of(const ndr_sorted *s, int k, const int64_t *from, int64_t bytes) {
  const ndr_problem *whole = &s->whole->problem;
  int last = last_label_dim(whole);
  int64_t element = s->first * from[last], row = s->row;
  for (int d = last; d >= whole->group_dim; row /= whole->shape[d--]) element += row % whole->shape[d] * from[d];
  for (int d = 0; d < whole->ndim; d++) element += s->index[d] * from[d];
  return (const char *)s->from[k] + element * bytes;
}

/* Copies array k of the block, labels fastest; dims along which it repeats stay so. Sets its strides in the copy. */
static void copy_array(ndr_sorted *s, int k, const int64_t *from, int64_t *to, int64_t bytes) {
  static const int32_t first_place[] = {0};
  const ndr_problem *whole = &s->whole->problem, *block = &s->request.problem;
  int last = last_label_dim(whole), rows_along = -1; /* the last dim of those beside the labels' */
  int64_t index[NDR_MAX_DIMS] = {0}, at = 0;
  rows r = {.count = 1, .stride = 1, .place = first_place, .length = 1, .pitch = 1};
  if (from[last]) r = (rows){.count = 1, .stride = from[last], .place = s->place, .length = s->count};
  if (from[last]) r.pitch = sorted_labels(s) + 1;
  int64_t step = r.pitch;
  for (int d = whole->ndim - 1; d >= 0; d--) {
    to[d] = from[d] && block->shape[d] > 1 && !is_label_dim(whole, d) ? step : 0;
    if (to[d]) step *= block->shape[d];
    if (to[d] && rows_along < 0) rows_along = d;
  }
  to[last] = from[last] ? 1 : 0;
  if (rows_along >= 0) {
    r.count = block->shape[rows_along];
    r.apart = from[rows_along];
  }
  const char *first = first_of(s, k, from, bytes);
  for (;; at += r.count * r.pitch) {
    int64_t element = 0;
    for (int d = 0; d < whole->ndim; d++) element += index[d] * from[d];
    r.from = first + element * bytes;
    put_rows(&r, bytes, (char *)s->copies[k] + at * bytes);
    int d = rows_along - 1;
    for (; d >= 0; index[d--] = 0)
      if (!is_label_dim(whole, d) && to[d] && ++index[d] < block->shape[d]) break;
    if (d < 0) return;
  }
}

static void copy_block(ndr_sorted *s) {
  const ndr_problem *whole = &s->whole->problem;
  ndr_problem *block = &s->request.problem;
  copy_array(s, 0, whole->strides, block->strides, (int64_t)ndr_dtype_bytes(whole->dtype));
  for (int k = 0; k < whole->operand_count; k++)
    copy_array(s, k + 1, whole->operands[k].strides, block->operands[k].strides,
               (int64_t)ndr_dtype_bytes(whole->operands[k].dtype));
}

/* ---- the whole ---- */

void ndr_sorted_cut(ndr_sorted *s, const ndr_request *whole, const void *const *from) {
  memset(s, 0, sizeof *s);
  s->whole = whole;
  s->from = from;
  s->section = -1;
  s->row_length = ndr_request_label_row(whole);
  choose_blocks(s);
}

ndr_status ndr_sorted_open(ndr_sorted *s, const ndr_sorted *cut) {
  const ndr_problem *problem = &cut->whole->problem;
  int64_t groups = problem->groups->count;
  *s = *cut;
  s->order = malloc((size_t)s->size * sizeof *s->order);
  s->place = malloc((size_t)s->size * sizeof *s->place);
  s->ends = malloc((size_t)groups * sizeof *s->ends);
  s->runs = malloc((size_t)(groups < s->size ? groups : s->size) * sizeof *s->runs);
  bool there = s->order && s->place && s->ends && s->runs;
  for (int k = 0; k <= problem->operand_count; k++) {
    ndr_dtype dtype = k ? problem->operands[k - 1].dtype : problem->dtype;
    s->copies[k] = aligned_alloc(64, ((size_t)s->elements * ndr_dtype_bytes(dtype) + 63) / 64 * 64);
    s->data[k] = s->copies[k];
    there = there && s->copies[k];
  }
  return there ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "out of memory for copies of %lld elements", (long long)s->elements);
}

bool ndr_sorted_copy(ndr_sorted *s, int64_t number) {
  const ndr_problem *whole = &s->whole->problem;
  ndr_problem before = s->request.problem;
  int last = last_label_dim(whole);
  s->request = *s->whole;
  for (int d = whole->ndim - 1; d >= 0; d--) {
    if (is_label_dim(whole, d)) {
      s->request.problem.shape[d] = 1;
      continue;
    }
    int64_t pieces = pieces_of(whole->shape[d], s->each[d]), left;
    s->index[d] = number % pieces * s->each[d];
    left = whole->shape[d] - s->index[d];
    s->request.problem.shape[d] = left < s->each[d] ? left : s->each[d];
    s->request.offset[d] += s->index[d];
    number /= pieces;
  }
  bool same = s->section == number;
  if (!same) sort(s, number);
  s->request.problem.shape[last] = sorted_labels(s);
  copy_block(s);
  return same && memcmp(before.shape, s->request.problem.shape, sizeof before.shape) == 0;
}

void ndr_sorted_close(ndr_sorted *s) {
  free(s->order);
  free(s->place);
  free(s->ends);
  free(s->runs);
  for (int k = 0; k <= NDR_MAX_OPERANDS; k++) free(s->copies[k]);
}
