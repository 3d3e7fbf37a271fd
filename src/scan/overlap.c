/* Two elements share a byte where
 *   a.address + sum(i_d * a.stride_d) + x = b.address + sum(j_d * b.stride_d) + y,   0 <= x < a.bytes, 0 <= y < b.bytes
 * which is an equation  sum(k_t * step_t) = target  with every k_t in 0..most_t, once all strides count bytes and go
 * up. Terms are tried from the largest step on; of each only those numbers that the smaller ones can make up for. For
 * arrays without entangled strides that is one or two. */
#include "scan/overlap.h"

#include <stdlib.h>

#include "ndreduce/ndreduce.h"

__extension__ typedef __int128 wide;

enum { MOST_TERMS = 2 * NDR_MAX_DIMS + 2, MOST_STEPS = 20000 };

typedef struct term {
  int64_t step, most;
} term;

typedef struct equation {
  int count, tries;
  term terms[MOST_TERMS];
  wide reach[MOST_TERMS + 1]; /* the most that the terms from t on make */
} equation;

/* Terms of one step are one. */
static void add_term(equation *all, int64_t step, int64_t most) {
  int t = 0;
  if (step == 0 || most == 0) return;
  while (t < all->count && all->terms[t].step != step) t++;
  if (t == all->count) all->terms[all->count++] = (term){step, 0};
  all->terms[t].most += most;
}

/* Adds an array's terms; returns the byte that the lowest of its elements begins at, from its element 0. */
static int64_t add_span(equation *all, const ndr_span *span) {
  int64_t lowest = 0;
  for (int d = 0; d < span->ndim; d++) {
    int64_t step = span->strides[d] * (int64_t)span->bytes, most = span->shape[d] - 1;
    if (most == 0) continue;
    if (step < 0) lowest += step * most;
    add_term(all, llabs(step), most);
  }
  return lowest;
}

static int by_step(const void *a, const void *b) {
  int64_t x = ((const term *)a)->step, y = ((const term *)b)->step;
  return x < y ? 1 : x > y ? -1 : 0;
}

/* Whether terms from t on make the target. */
static bool solves(equation *all, int t, wide target) {
  if (target < 0 || target > all->reach[t]) return false;
  if (t == all->count || target == 0) return target == 0;
  if (++all->tries > MOST_STEPS) return true;
  const term *own = &all->terms[t];
  wide high = target / own->step, rest = target - all->reach[t + 1];
  wide low = rest <= 0 ? 0 : (rest + own->step - 1) / own->step;
  if (high > own->most) high = own->most;
  for (wide k = high; k >= low; k--)
    if (solves(all, t + 1, target - k * own->step)) return true;
  return false;
}

/* With j counted from its end, b's terms have the sign of a's, and both lowest addresses go into the target. */
bool ndr_spans_overlap(const ndr_span *a, const ndr_span *b) {
  equation all = {0};
  int64_t low_a = add_span(&all, a), before = 0;
  for (int d = 0; d < a->ndim; d++)
    if (a->shape[d] == 0) return false;
  int64_t low_b = add_span(&all, b);
  for (int d = 0; d < b->ndim; d++) {
    if (b->shape[d] == 0) return false;
    before += llabs(b->strides[d] * (int64_t)b->bytes) * (b->shape[d] - 1);
  }
  add_term(&all, 1, (int64_t)a->bytes - 1);
  add_term(&all, 1, (int64_t)b->bytes - 1);
  qsort(all.terms, (size_t)all.count, sizeof *all.terms, by_step);
  for (int t = all.count - 1; t >= 0; t--)
    all.reach[t] = all.reach[t + 1] + (wide)all.terms[t].step * all.terms[t].most;
  wide first_a = (wide)(uintptr_t)a->address + low_a, first_b = (wide)(uintptr_t)b->address + low_b;
  return solves(&all, 0, first_b - first_a + before + (wide)b->bytes - 1);
}
