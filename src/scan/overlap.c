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

static bool is_empty(const ndr_span *span) {
  for (int d = 0; d < span->ndim; d++)
    if (span->shape[d] == 0) return true;
  return false;
}

/* Adds an array's terms, and sets the bytes from its element 0 down to the lowest element and up to the highest. */
static void add_span(equation *all, const ndr_span *span, int64_t *down, int64_t *up) {
  *down = *up = 0;
  for (int d = 0; d < span->ndim; d++) {
    if (span->shape[d] == 1) continue;
    int64_t step = span->strides[d] * (int64_t)span->bytes, most = span->shape[d] - 1;
    *(step < 0 ? down : up) += llabs(step) * most;
    add_term(all, llabs(step), most);
  }
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

/* With j counted from its end, b's terms have the sign of a's, and the target is from a's lowest byte to b's highest.
 */
bool ndr_spans_overlap(const ndr_span *a, const ndr_span *b) {
  equation all = {0};
  int64_t down_a, up_a, down_b, up_b;
  if (is_empty(a) || is_empty(b)) return false;
  add_span(&all, a, &down_a, &up_a);
  add_span(&all, b, &down_b, &up_b);
  add_term(&all, 1, (int64_t)a->bytes - 1);
  add_term(&all, 1, (int64_t)b->bytes - 1);
  qsort(all.terms, (size_t)all.count, sizeof *all.terms, by_step);
  for (int t = all.count - 1; t >= 0; t--)
    all.reach[t] = all.reach[t + 1] + (wide)all.terms[t].step * all.terms[t].most;
  wide lowest_a = (wide)(uintptr_t)a->address - down_a, highest_b = (wide)(uintptr_t)b->address + up_b;
  return solves(&all, 0, highest_b + (wide)b->bytes - 1 - lowest_a);
}
