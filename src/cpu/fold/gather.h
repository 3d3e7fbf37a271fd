/* Template: gathers elements of one size into dense rows, given
 *   GATHER(function)    how its functions are called
 *   BITS                an unsigned type of the elements' size
 *   SIDE                elements in 16 bytes
 *   LOW, HIGH           the shuffle that interleaves the first halves of two 16-byte vectors, and that for the last
 *   UNPACK(half)        the instruction that interleaves the halves `lo` or `hi` of each 16 bytes of two wider vectors
 */

typedef BITS __attribute__((may_alias)) GATHER(element);
typedef BITS __attribute__((vector_size(16))) GATHER(vector);

/* With a stride that the compiler knows, it uses shuffles instead of a load for each element. */
#define GATHER_ROW(stride)                                                                                             \
  for (int64_t l = 0; l < lanes; l++) to[l] = from[l * (stride)]

/* Copies every second element, eight at a time, and returns how many it has copied. Two vectors hold 15 elements: they
 * overlap by one, so that nothing behind the last element is read. The first gives the elements in its even places, the
 * second those in its odd places. The loop that GCC 12 makes takes three times as long. */
static int64_t GATHER(every_second)(const GATHER(element) *restrict from, GATHER(element) *restrict to, int64_t lanes) {
  typedef BITS __attribute__((vector_size(8 * sizeof(BITS)))) eight;
  int64_t l = 0;
  for (; sizeof(BITS) <= 8 && l + 8 <= lanes; l += 8) {
    eight a, b;
    prefetch_row(from + 2 * l, 2 * sizeof a);
    LOAD_VECTOR(a, from + 2 * l);
    LOAD_VECTOR(b, from + 2 * l + 7);
    a = __builtin_shufflevector(a, b, 0, 2, 4, 6, 9, 11, 13, 15);
    STORE_VECTOR(to + l, a);
  }
  return l;
}

/* Copies elements one by one, four at a time with one prefetch: they lie in a line or two, or have lines of their own,
 * which processors find by themselves. */
static void GATHER(far_row)(const GATHER(element) *restrict from, int64_t lane_stride, GATHER(element) *restrict to,
                            int64_t lanes) {
  int64_t l = 0;
  for (; l + 4 <= lanes; l += 4) {
    prefetch_row(from + l * lane_stride, 1);
    for (int64_t i = 0; i < 4; i++) to[l + i] = from[(l + i) * lane_stride];
  }
  for (; l < lanes; l++) to[l] = from[l * lane_stride];
}

static void GATHER(row)(const GATHER(element) *restrict from, int64_t lane_stride, GATHER(element) *restrict to,
                        int64_t lanes) {
  switch (lane_stride) {
  case 1: GATHER_ROW(1); break;
  case 2:
    for (int64_t l = GATHER(every_second)(from, to, lanes); l < lanes; l++) to[l] = from[l * 2];
    break;
  case 3: GATHER_ROW(3); break;
  case 4: GATHER_ROW(4); break;
  default: GATHER(far_row)(from, lane_stride, to, lanes);
  }
}
#undef GATHER_ROW

/* Gathers rows, and prefetches what a later tile has in their place. Where lanes' rows are close together, several rows
 * share the cache lines that one prefetch of every lane loads. */
static void GATHER(far_rows)(const GATHER(element) * from, int64_t row_stride, int64_t lane_stride,
                             GATHER(element) * to, int64_t rows, int64_t lanes, int64_t ahead) {
  const int64_t size = (int64_t)sizeof *to, apart = (row_stride < 0 ? -row_stride : row_stride) * size;
  int64_t left = 0; /* bytes of the lines that the last prefetches load */
  for (int64_t row = 0; row < rows; row++, left -= apart) {
    GATHER(row)(from + row * row_stride, lane_stride, to + row * lanes, lanes);
    if (left > 0) continue;
    left += 64;
    prefetch_lanes(from + row * row_stride, lane_stride * size, lanes, ahead);
  }
}

/* Transposes SIDE vectors of SIDE elements each: interleaves those of the first half with those of the second, log2
 * SIDE times. */
INLINE void GATHER(transpose)(GATHER(vector) * v) {
  GATHER(vector) w[SIDE];
  for (int round = 1; round < SIDE; round *= 2) {
    for (int i = 0; i < SIDE / 2; i++) {
      w[2 * i] = __builtin_shufflevector(v[i], v[i + SIDE / 2], LOW);
      w[2 * i + 1] = __builtin_shufflevector(v[i], v[i + SIDE / 2], HIGH);
    }
    for (int i = 0; i < SIDE; i++) v[i] = w[i];
  }
}

/* Transposes SIDE lanes of SIDE contiguous elements each. Stores the first `rows` of the SIDE rows. */
static inline void GATHER(square)(const GATHER(element) * from, int64_t lane_stride, GATHER(element) * to,
                                  int64_t to_stride, int64_t rows) {
  GATHER(vector) v[SIDE];
  for (int i = 0; i < SIDE; i++) LOAD_VECTOR(v[i], from + i * lane_stride);
  GATHER(transpose)(v);
  for (int i = 0; i < SIDE; i++)
    if (i < rows) STORE_VECTOR(to + i * to_stride, v[i]);
}

#if defined WIDE && SIDE < 16
/* Transposes WIDE squares at once, one in each 16 bytes of the registers. `ahead` is as in ndr_gather. */
static inline void GATHER(squares)(const GATHER(element) * from, int64_t lane_stride, GATHER(element) * to,
                                   int64_t to_stride, int64_t ahead) {
  wide_bits v[SIDE], w[SIDE];
  for (int i = 0; i < SIDE; i++) {
    LOAD_VECTOR(v[i], from + i * lane_stride);
    if (ahead) __builtin_prefetch((const char *)(from + i * lane_stride) + ahead);
  }
  for (int round = 1; round < SIDE; round *= 2) {
    for (int i = 0; i < SIDE / 2; i++) {
      w[2 * i] = UNPACK(lo)(v[i], v[i + SIDE / 2]);
      w[2 * i + 1] = UNPACK(hi)(v[i], v[i + SIDE / 2]);
    }
    for (int i = 0; i < SIDE; i++) v[i] = w[i];
  }
#define STORE(q)                                                                                                       \
  for (int i = 0; i < SIDE; i++)                                                                                       \
    _mm_storeu_si128((__m128i *)(void *)(to + ((q)*SIDE + i) * to_stride), WIDE_PART(v[i], q));
  WIDE_PARTS(STORE)
#undef STORE
}

/* Transposes SIDE lanes of `rows` contiguous elements each, at least WIDE * SIDE. */
static inline void GATHER(strip)(const GATHER(element) * from, int64_t lane_stride, GATHER(element) * to,
                                 int64_t to_stride, int64_t rows) {
  int64_t row = 0;
  for (; row + WIDE * SIDE <= rows; row += WIDE * SIDE)
    GATHER(squares)(from + row, lane_stride, to + row * to_stride, to_stride, AHEAD);
  /* The last step overlaps the one before. */
  if (row < rows) {
    row = rows - WIDE * SIDE;
    GATHER(squares)(from + row, lane_stride, to + row * to_stride, to_stride, AHEAD);
  }
}
#endif

/* Transposes lanes of fewer than SIDE contiguous elements. Each load reads 16 bytes, and so beyond its lane; the last
 * lanes, where that would leave the array, are gathered one by one. `ahead` is as in ndr_gather. */
static void GATHER(short_rows)(const GATHER(element) * from, int64_t lane_stride, GATHER(element) * to, int64_t rows,
                               int64_t lanes, int64_t ahead) {
  int64_t lane = 0;
  if (ahead) prefetch_lanes(from, lane_stride * (int64_t)sizeof *to, lanes, ahead);
  for (; (lane + SIDE - 1) * lane_stride + SIDE <= (lanes - 1) * lane_stride + rows; lane += SIDE)
    GATHER(square)(from + lane * lane_stride, lane_stride, to + lane, lanes, rows);
  for (int64_t row = 0; row < rows; row++)
    GATHER(row)(from + row + lane * lane_stride, lane_stride, to + row * lanes + lane, lanes - lane);
}

#define LEAST_ROWS NDR_LEAST_SQUARE_ROWS((int64_t)sizeof(BITS))

static void GATHER(tile)(const void *source, int64_t row_stride, int64_t lane_stride, void *target, int64_t rows,
                         int64_t lanes, int64_t ahead) {
  const GATHER(element) *from = source;
  GATHER(element) *to = target;
  if (row_stride == 1 && lane_stride > 4 && rows < SIDE && (lane_stride <= SIDE || rows >= LEAST_ROWS)) {
    GATHER(short_rows)(from, lane_stride, to, rows, lanes, ahead);
    return;
  }
#if defined WIDE && SIDE < 16
  if (row_stride == 1 && lane_stride > 4 && rows >= WIDE * SIDE && lanes >= SIDE) {
    for (int64_t lane = 0; lane < lanes; lane += SIDE) {
      int64_t at = lane + SIDE <= lanes ? lane : lanes - SIDE;
      GATHER(strip)(from + at * lane_stride, lane_stride, to + at, lanes, rows);
    }
    return;
  }
#endif
  int64_t row = 0;
  for (; row_stride == 1 && lane_stride > 4 && lanes >= SIDE && row + LEAST_ROWS <= rows; row += SIDE) {
    /* The last squares overlap those before, along both axes; fewer rows than SIDE were short ones. */
    const int64_t r = row + SIDE <= rows ? row : rows - SIDE;
    if (ahead && row * (int64_t)sizeof *to % 64 == 0)
      prefetch_lanes(from + row, lane_stride * (int64_t)sizeof *to, lanes, ahead);
    for (int64_t lane = 0; lane < lanes; lane += SIDE) {
      const int64_t l = lane + SIDE <= lanes ? lane : lanes - SIDE;
      GATHER(square)(from + r + l * lane_stride, lane_stride, to + r * lanes + l, lanes, SIDE);
    }
  }
  if (row >= rows) return;
  if (ahead) {
    GATHER(far_rows)(from + row * row_stride, row_stride, lane_stride, to + row * lanes, rows - row, lanes, ahead);
    return;
  }
  if (row_stride == lanes * lane_stride) { /* one long row */
    GATHER(row)(from + row * row_stride, lane_stride, to + row * lanes, (rows - row) * lanes);
    return;
  }
  for (; row < rows; row++) GATHER(row)(from + row * row_stride, lane_stride, to + row * lanes, lanes);
}

#undef LEAST_ROWS

/* As many rows as a step of `turn` has, and the lanes whose rows are read side by side: they fill a line of the target,
 * and are streams that prefetchers follow. */
#if defined WIDE && SIDE < 16
#define TURN_ROWS (WIDE * SIDE)
#define TURN(from, to) GATHER(squares)(from, lane_stride, to, to_stride, TURN_AHEAD)
#else
#define TURN_ROWS SIDE
#define TURN(from, to) GATHER(square)(from, lane_stride, to, to_stride, SIDE)
#endif
#define TURN_LANES (64 / (int64_t)sizeof(BITS))
#define TURN_AHEAD 1024 /* on a Xeon core a tenth faster than 4096, or without */

static void GATHER(turn)(const void *source, int64_t lane_stride, void *target, int64_t rows, int64_t lanes) {
  const GATHER(element) *from = source;
  GATHER(element) *to = target;
  const int64_t to_stride = lanes;
  if (rows < TURN_ROWS || lanes < SIDE) {
    for (int64_t row = 0; row < rows; row++) GATHER(row)(from + row, lane_stride, to + row * lanes, lanes);
    return;
  }
  for (int64_t first = 0; first < lanes; first += TURN_LANES) {
    const int64_t end = first + TURN_LANES < lanes ? first + TURN_LANES : lanes;
    for (int64_t row = 0; row < rows; row += TURN_ROWS) {
      /* The last steps overlap those before. */
      const int64_t r = row + TURN_ROWS <= rows ? row : rows - TURN_ROWS;
      for (int64_t lane = first; lane < end; lane += SIDE) {
        const int64_t l = lane + SIDE <= lanes ? lane : lanes - SIDE;
        TURN(from + r + l * lane_stride, to + r * to_stride + l);
      }
    }
  }
}
#undef TURN_ROWS
#undef TURN_LANES
#undef TURN_AHEAD
#undef TURN

#undef GATHER
#undef BITS
#undef SIDE
#undef LOW
#undef HIGH
#undef UNPACK
