/* Template: folds contiguous labels into the states of their groups, of eight lanes at a time, which are outputs
 * (ndr_fold_turned). Eight labels that `group` marks as of one group are folded along each lane, as in across.h. Other
 * eights are transposed, and what is left over is copied: each label then has a row of eight lanes, which is added to
 * the states of its group. From
 *   TURNED                                     the name of the function
 *   TURN                                       the function of turn.h for the elements
 *   ELEMENT, WORDS, LOAD, START, GROW, MEET    see across.h */

/* Adds row k of `turned`, label i + k, to the states of its group. */
#define ADD_LABEL(k)                                                                                                   \
  do {                                                                                                                 \
    uint64_t *const state = of_lane + group[i + (k)] * apart;                                                          \
    LOAD(&v, turned + 8 * (k), 8);                                                                                     \
    LOAD_VECTOR(s, state);                                                                                             \
    EACH_PART(s.part[p] = GROW(s.part[p], v.part[p]))                                                                  \
    STORE_VECTOR(state, s);                                                                                            \
  } while (0)

static void TURNED(const ndr_tile *tile, const int32_t *group, int64_t apart, uint64_t *states) {
  const int64_t lanes = tile->lanes, labels = tile->rows, whole = labels / 8 * 8;
  for (int64_t l = 0; l < lanes; l += 8) {
    uint64_t *const of_lane = states + l;
    const ELEMENT *lane[8];
    ALIGNED ELEMENT turned[64];
    WORDS s, v, row[8];
    for (int64_t r = 0; r < 8; r++) lane[r] = (const ELEMENT *)tile->data + lower(l + r, lanes - 1) * tile->lane_stride;
    for (int64_t i = 0; i < whole; i += 8) {
      if (i * (int64_t)sizeof(ELEMENT) % 64 == 0)
        for (int r = 0; r < 8; r++) __builtin_prefetch((const char *)(lane[r] + i) + TURNED_AHEAD);
      if (group[i] >= 0) {
        TURN((const void *const *)lane, i, (void *)turned);
#pragma GCC unroll 8
        for (int64_t k = 0; k < 8; k++) ADD_LABEL(k);
        continue;
      }
      uint64_t *const state = of_lane + ~group[i] * apart;
#pragma GCC unroll 8
      for (int r = 0; r < 8; r++) {
        LOAD(&v, lane[r] + i, 8);
        EACH_PART(row[r].part[p] = GROW((__typeof__(v.part[p])){0} + START, v.part[p]))
      }
      FOLD_EIGHT(MEET, row);
      LOAD_VECTOR(s, state);
      EACH_PART(s.part[p] = MEET(s.part[p], row[0].part[p]))
      STORE_VECTOR(state, s);
    }
    for (int64_t i = whole; i < labels; i++) {
      for (int r = 0; r < 8; r++) turned[r] = lane[r][i];
      ADD_LABEL(0);
    }
  }
}
#undef ADD_LABEL
