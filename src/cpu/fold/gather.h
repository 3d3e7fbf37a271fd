/* Template, part 7: gathers elements of one size into dense rows, given
 *   GATHER(function)    how its functions are called
 *   BITS                an unsigned type of the elements' size
 *   SIDE                elements in 16 bytes
 *   LOW, HIGH           shuffles that interleave the first and the last halves of two vectors */

typedef BITS __attribute__((may_alias)) GATHER(element);
typedef BITS __attribute__((vector_size(16))) GATHER(vector);

/* With a stride that the compiler knows, it uses shuffles instead of a load for each element. */
#define GATHER_ROW(stride)                                                                                             \
  for (int64_t l = 0; l < lanes; l++) to[l] = from[l * (stride)]

static void GATHER(row)(const GATHER(element) *restrict from, int64_t lane_stride, GATHER(element) *restrict to,
                        int64_t lanes) {
  switch (lane_stride) {
  case 1: GATHER_ROW(1); break;
  case 2: GATHER_ROW(2); break;
  case 3: GATHER_ROW(3); break;
  case 4: GATHER_ROW(4); break;
  default: GATHER_ROW(lane_stride); break;
  }
}
#undef GATHER_ROW

/* Transposes SIDE lanes of SIDE contiguous elements into SIDE rows, by interleaving the halves log2 SIDE times. */
static inline void GATHER(square)(const GATHER(element) * from, int64_t lane_stride, GATHER(element) * to,
                                  int64_t lanes) {
  GATHER(vector) v[SIDE], w[SIDE];
  for (int i = 0; i < SIDE; i++) memcpy(&v[i], from + i * lane_stride, 16);
  for (int round = 1; round < SIDE; round *= 2) {
    for (int i = 0; i < SIDE / 2; i++) {
      w[2 * i] = __builtin_shufflevector(v[i], v[i + SIDE / 2], LOW);
      w[2 * i + 1] = __builtin_shufflevector(v[i], v[i + SIDE / 2], HIGH);
    }
    for (int i = 0; i < SIDE; i++) v[i] = w[i];
  }
  for (int i = 0; i < SIDE; i++) memcpy(to + i * lanes, &v[i], 16);
}

static void GATHER(tile)(const void *source, int64_t row_stride, int64_t lane_stride, void *target, int64_t rows,
                         int64_t lanes) {
  const GATHER(element) *from = source;
  GATHER(element) *to = target;
  int64_t row = 0, squares = lanes / SIDE * SIDE;
  for (; row_stride == 1 && lane_stride > 4 && row + SIDE <= rows; row += SIDE) {
    for (int64_t lane = 0; lane < squares; lane += SIDE)
      GATHER(square)(from + row + lane * lane_stride, lane_stride, to + row * lanes + lane, lanes);
    for (int64_t r = row; r < row + SIDE && squares < lanes; r++)
      GATHER(row)(from + r + squares * lane_stride, lane_stride, to + r * lanes + squares, lanes - squares);
  }
  for (; row < rows; row++) GATHER(row)(from + row * row_stride, lane_stride, to + row * lanes, lanes);
}

#undef GATHER
#undef BITS
#undef SIDE
#undef LOW
#undef HIGH
