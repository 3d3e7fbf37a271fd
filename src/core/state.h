/* Partial states: what an operator remembers of the elements it has seen.
 *
 * A state is 1 to NDR_MAX_WORDS words of 8 bytes, the same for every backend, so that states from slabs, devices and
 * nodes merge:
 *
 *   sum prod                  value (i64 | u64 | f64); complex: re, im
 *   min max                   value (i64 | u64 | f64, widened exactly; bool is u64)
 *   argmin argmax             value, index (i64)
 *   ptp                       the value of min, that of max
 *   mean                      sum (f64; complex: re, im), n (f64)
 *   var std                   n (f64), mean (f64; complex: re, im), M2 (f64): sum of squared distances from the mean
 *   norm1 norm2 norminf       sum of |x|, sum of |x|^2, max of |x| (f64)
 *   logsumexp                 max (f64), sum of exp(x - max) (f64)
 *   any all count valid       i64: 0 or 1, 0 or 1, how many, how many
 *
 * With weights, values are floats or complex, and sums are of weighted values, in f64. n is the sum of the weights. If
 * weights are reliabilities, var and std have one word more, behind M2: the sum of squared weights. A place of weight 0
 * counts if its value is NaN or infinite, as 0 times that is NaN: M2 becomes NaN.
 *
 * The total of a part (ndr_program_finish) is its result before rounding, as f64, a pair of f64, i64 or u64 (u64 for
 * any and all, too). Over no elements, that of min and max is the limit of its dtype.
 *
 * Arrays of states are word-major: word w of state j is states[w * pitch + j], so that loops over j vectorise.
 *
 * Identities: 0 for sums, 1 for products; min and max start at +inf and -inf (integers: the widest word's limits), or
 * at NaN for floats under skip_nan, where NaN means "nothing seen" and loses to everything; argmin and argmax likewise
 * with index INT64_MAX, or -1 where the value is that NaN; ptp as both; logsumexp starts at (-inf, 0); all at 1.
 * Ties of argmin and argmax go to the lower index; without skip_nan the NaN with the lowest index wins. */
#ifndef NDR_CORE_STATE_H
#define NDR_CORE_STATE_H

#include "lang/program.h"

#define NDR_MAX_WORDS 5 /* var of complex numbers with reliability weights */
/* Of a program: those of all its parts. */
#define NDR_MAX_PROGRAM_WORDS (NDR_MOST_PARTS * NDR_MAX_WORDS)

typedef struct ndr_state {
  ndr_op op;
  ndr_dtype dtype; /* of the elements */
  bool skip_nan;
  double ddof;
  /* Not NULL: the states of a program's parts, one after the other, in place of op, dtype and skip_nan. */
  const ndr_program *program;
  bool weighted, reliability; /* of a part: its weights replace the count; var and std have one word more for
                                 reliability, the sum of squared weights, at the end */
} ndr_state;

/* Words of a built-in operator's state without weights, and of any state. */
int ndr_state_words(ndr_op op, ndr_dtype dtype);
int ndr_state_size(const ndr_state *state);

/* The state of one part of a state's program, and the words before it. */
ndr_state ndr_state_part(const ndr_state *state, int part, int *words_before);

/* The dtype of the results of a state. */
ndr_dtype ndr_state_result(const ndr_state *state);

/* Fills count states with the identity. */
void ndr_state_identity(const ndr_state *state, uint64_t *states, int64_t pitch, int64_t count);

/* into[j * into_step] = combine(into[j * into_step], from[j * from_step]) for j < count. */
void ndr_state_merge(const ndr_state *state, uint64_t *into, int64_t into_pitch, int64_t into_step,
                     const uint64_t *from, int64_t from_pitch, int64_t from_step, int64_t count);

/* Writes count results of dtype ndr_state_result(), result_step elements apart, from states that are `step` apart. */
void ndr_state_finish(const ndr_state *state, const uint64_t *states, int64_t pitch, int64_t step, int64_t count,
                      void *result, int64_t result_step);

#endif
