/* Template: folds rows that lists name, whose lanes are outputs, eight lanes at a time. A list is folded in registers,
 * every second row in other ones; without runs each row is added to the state of its group. One call folds all of a
 * tile, because lists of scattered labels are short. What the loops read is copied to locals, because compilers take
 * it for memory that stores may change. From
 *   LISTED                                              the name of the function
 *   ELEMENT, WORDS, LOAD, START, GROW, MEET, COUNTED    see across.h */
static void LISTED(const ndr_tile *tile, const ndr_row_lists *lists, uint64_t *states, int64_t pitch) {
  const int64_t stride = tile->row_stride, lanes = tile->lanes, apart = lists->apart, count = lists->count;
  const int32_t *const order = lists->order, *const group = lists->group;
  const ndr_label_run *const runs = lists->runs;
  const ELEMENT *const data = tile->data;
  (void)pitch;
  for (int64_t l = 0; l < lanes; l += 8) {
    const ELEMENT *const lane = data + l;
    uint64_t *const of_lane = states + l;
    WORDS s, t, v;
#if COUNTED
    f64x8 n;
#endif
    for (int64_t r = 0; !runs && r < count; r++) {
      uint64_t *state = of_lane + group[r] * apart;
      LOAD(&v, lane + order[r] * stride, 8);
      LOAD_VECTOR(s, state);
      EACH_PART(s.part[p] = GROW(s.part[p], v.part[p]))
      STORE_VECTOR(state, s);
#if COUNTED
      LOAD_VECTOR(n, state + pitch);
      EACH_PART(n.part[p] = n.part[p] + 1)
      STORE_VECTOR(state + pitch, n);
#endif
    }
    const int32_t *row = order;
    for (int64_t r = 0; runs && r < count; r++) {
      const ndr_label_run run = runs[r];
      uint64_t *state = of_lane + run.group * apart;
      EACH_PART(s.part[p] = t.part[p] = (__typeof__(s.part[p])){0} + START)
      int64_t i = 0;
      for (; i + 2 <= run.count; i += 2) {
        LOAD(&v, lane + row[i] * stride, 8);
        EACH_PART(s.part[p] = GROW(s.part[p], v.part[p]))
        LOAD(&v, lane + row[i + 1] * stride, 8);
        EACH_PART(t.part[p] = GROW(t.part[p], v.part[p]))
      }
      if (i < run.count) {
        LOAD(&v, lane + row[i] * stride, 8);
        EACH_PART(s.part[p] = GROW(s.part[p], v.part[p]))
      }
      row += run.count;
      LOAD_VECTOR(v, state);
      EACH_PART(v.part[p] = MEET(v.part[p], MEET(s.part[p], t.part[p])))
      STORE_VECTOR(state, v);
#if COUNTED
      LOAD_VECTOR(n, state + pitch);
      EACH_PART(n.part[p] = n.part[p] + (double)run.count)
      STORE_VECTOR(state + pitch, n);
#endif
    }
  }
}
