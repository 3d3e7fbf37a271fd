/* Counts the cache lines, or the sectors, that an array touches, without a walk over its elements. */
#include <stdlib.h>

#include "ndbench/gauge.h"

enum { MOST_LINE = 64 };

typedef struct axis {
  int64_t size, step; /* in bytes */
} axis;

/* Of a block of elements, by the place in a line, in bytes, where its first one lies. */
typedef struct lines {
  int64_t span; /* from its first byte to behind its last one */
  double touched[MOST_LINE];
} lines;

static int compare_steps(const void *a, const void *b) {
  const axis *x = a, *y = b;
  return (x->step > y->step) - (x->step < y->step);
}

/* The dims that lead to other addresses, the fastest first. A dim walked backwards touches what it does forwards. */
static int collect(const ndr_problem *reduction, axis *axes) {
  int count = 0;
  int64_t size = (int64_t)ndr_dtype_bytes(reduction->dtype);
  for (int d = 0; d < reduction->ndim; d++) {
    if (reduction->shape[d] == 1 || reduction->strides[d] == 0) continue;
    axes[count++] = (axis){reduction->shape[d], llabs(reduction->strides[d]) * size};
  }
  qsort(axes, (size_t)count, sizeof *axes, compare_steps);
  return count;
}

/* Copies of a block, `step` bytes apart, touch the sum of what each touches, less one wherever the last line of a copy
 * is the first of the next. Both follow from the copy's place in its first line, which repeats after at most `line`
 * copies. */
static double count_copies(const lines *block, const axis *along, int64_t place, int line) {
  double sums[MOST_LINE + 1] = {0}, shared[MOST_LINE + 1] = {0};
  int64_t last = along->size - 1, at = place;
  int period = 0;
  do {
    bool joint = (at + block->span - 1) / line == (at + along->step) / line;
    sums[period + 1] = sums[period] + block->touched[at];
    shared[period + 1] = shared[period] + joint;
    at = (at + along->step) % line;
    period++;
  } while (at != place);
  int64_t periods = along->size / period, joint_periods = last / period;
  double copies = (double)periods * sums[period] + sums[along->size % period];
  return copies - (double)joint_periods * shared[period] - shared[last % period];
}

static double bound(const ndr_problem *reduction, const axis *axes, int count, int line) {
  double bytes = (double)ndr_dtype_bytes(reduction->dtype);
  for (int i = 0; i < count; i++) bytes += (double)(axes[i].size - 1) * (double)axes[i].step;
  return bytes > 0 ? (double)(int64_t)((bytes + line - 1) / line) : 0;
}

double gauge_lines(const ndr_problem *reduction, int line) {
  axis axes[NDR_MAX_DIMS];
  int size = (int)ndr_dtype_bytes(reduction->dtype), count = collect(reduction, axes);
  for (int d = 0; d < reduction->ndim; d++)
    if (reduction->shape[d] == 0) return 0;
  lines block = {.span = size};
  for (int place = 0; place < line; place += size) block.touched[place] = 1;
  for (int i = 0; i < count; i++) {
    lines next = {.span = block.span + (axes[i].size - 1) * axes[i].step};
    if (axes[i].step < block.span) return bound(reduction, axes, count, line);
    for (int place = 0; place < line; place += size) next.touched[place] = count_copies(&block, &axes[i], place, line);
    block = next;
  }
  return block.touched[0];
}
