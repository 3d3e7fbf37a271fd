/* Template: folds rows of contiguous elements, an output each, with the accumulators in registers: eight elements of a
 * row at a time, and then eight rows to a vector of eight results. Its association depends on the row's length alone.
 *   ACROSS            the name of the function
 *   ELEMENT, WORDS    the element type, and the vector that accumulates eight of them
 *   LOAD              how they are loaded (eight.h)
 *   START             an accumulator before the first element
 *   GROW(s, v)        a register of accumulators s with the elements v added
 *   MEET(a, b)        registers of accumulators joined
 *   MERGE             the join of states
 *   COUNTED           1: a second word of the state counts the elements, as f64
 *   LISTED, TURNED    if defined, the names of kernels of listed.h and turned.h that are made of the same */
static void ACROSS(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = tile->lanes, tail = tile->rows % 8, whole = tile->rows - tail;
  i64x8 present;
  first_of_eight(&present, tail);
  const int64_t full = lanes_with(8, tile, (int64_t)sizeof(ELEMENT));
  ALIGNED uint64_t words[2 * NDR_LANES];
  for (int64_t first = 0; first < lanes; first += 8) {
    WORDS row[8], v;
    for (int64_t r = 0; r < 8; r++) {
      /* Where there are no eight rows left, the last one is folded again. */
      const ELEMENT *at = (const ELEMENT *)tile->data + lower(first + r, lanes - 1) * tile->lane_stride;
      WORDS s, t;
      EACH_PART(s.part[p] = t.part[p] = (__typeof__(s.part[p])){0} + START)
      int64_t i = 0;
      __builtin_prefetch((const char *)at + AHEAD);
      for (; i + 16 <= whole; i += 16) {
        ndr_prefetch((const char *)(at + i) + AHEAD, 16 * sizeof(ELEMENT));
        LOAD(&v, at + i, 8);
        EACH_PART(s.part[p] = GROW(s.part[p], v.part[p]))
        LOAD(&v, at + i + 8, 8);
        EACH_PART(t.part[p] = GROW(t.part[p], v.part[p]))
      }
      if (__builtin_expect(i < whole, 1)) {
        LOAD(&v, at + i, 8);
        EACH_PART(s.part[p] = GROW(s.part[p], v.part[p]))
      }
      if (__builtin_expect(tail != 0, 1)) {
        if (first + r < full)
          LOAD(&v, at + whole, 8);
        else
          LOAD(&v, at + whole, tail);
        EACH_PART(v.part[p] = GROW(t.part[p], v.part[p]); t.part[p] = PICK_PART(present.part[p], v.part[p], t.part[p]))
      }
      EACH_PART(row[r].part[p] = MEET(s.part[p], t.part[p]))
    }
    FOLD_EIGHT(MEET, row);
    memcpy(words + first, &row[0], sizeof row[0]);
  }
#if COUNTED
  EACH_LANE(WORD(1)[l] = word_of((double)tile->rows))
#endif
  deposit(MERGE, 1 + COUNTED, tile, words, states, pitch);
}
#ifdef LISTED
#include "cpu/fold/across/listed.h"
#include "cpu/fold/across/turned.h"
#endif
#undef ACROSS
#undef LISTED
#undef TURNED
#undef WORDS
#undef LOAD
#undef START
#undef GROW
#undef MEET
#undef MERGE
#undef COUNTED
