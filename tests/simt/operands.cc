/* Kernels of several arrays for two operators made by hand, in enough ways of reading to run every piece of their code:
 * NAME_OPERATOR_ELEMENTS_STEPS_WAYS. */
#include "machine.cuh"

#include "operands.cuh"

/* Sums of integers, exact in any order. */
struct exact_sum {
  typedef i64 Accumulator, State, result;
  static const bool packed = false, sums_bytes = false, single = true, rooted = false, counting = false;
  static const int words = 1;
  static NDR_DEVICE i64 identity() { return 0; }
  static NDR_DEVICE i64 state_identity() { return 0; }
  static NDR_DEVICE void join(i64 &a, i64 b) { a += b; }
  static NDR_DEVICE void join_states(i64 &a, i64 b) { a += b; }
  static NDR_DEVICE i64 widen(i64 a) { return a; }
  static NDR_DEVICE void save(i64 a, ndr_word *w) { w[0] = (ndr_word)a; }
  static NDR_DEVICE i64 load(const ndr_word *w) { return (i64)w[0]; }
  static NDR_DEVICE i64 finish(i64 a, double /*ddof*/) { return a; }
};

/* The sum over true places of x * (1 + index % 7) + 3 * place 0 - 5 * place 1. */
typedef array_list<f32, boolean> masked_arrays;
struct masked : exact_sum {
  struct value {
    static const int places = 2;
    i64 x, place[2];
    bool live;
    template <int K, class E> NDR_DEVICE void set(const E &e) {
      if constexpr (K == 0)
        x = (i64)e;
      else
        live = e.byte != 0;
    }
    template <int K> NDR_DEVICE void set_place(i64 at) { place[K] = at; }
  };
  static const bool indexed = true;
  template <int N>
  static NDR_DEVICE void fold(i64 &a, const value (&x)[N], i64 index, i64 step, const ndr_params & /*p*/) {
    for (int i = 0; i < N; i++)
      if (x[i].live) a += x[i].x * (1 + (index + i * step) % 7) + 3 * x[i].place[0] - 5 * x[i].place[1];
  }
};

/* The sum of x * y + Re z - 2 Im z. */
typedef array_list<u8, f64, c64> triple_arrays;
struct triple : exact_sum {
  struct value {
    i64 x, y, z;
    template <int K, class E> NDR_DEVICE void set(const E &e) {
      if constexpr (K == 0)
        x = (i64)e;
      else if constexpr (K == 1)
        y = (i64)e;
      else
        z = (i64)(e.re - 2 * e.im);
    }
  };
  static const bool indexed = false;
  template <int N>
  static NDR_DEVICE void fold(i64 &a, const value (&x)[N], i64 /*index*/, i64 /*step*/, const ndr_params & /*p*/) {
    for (int i = 0; i < N; i++) a += x[i].x * x[i].y + x[i].z;
  }
};

#define ENTRY(kernel, op, elements, steps, ways)                                                                       \
  NDR_KERNEL kernel##_##op##_##elements##_##steps##_##ways(const ndr_program_params q) {                               \
    kernel<op, op##_arrays, elements, steps, 0x##ways>(q);                                                             \
  }
#define ROWS(op, elements, ways)                                                                                       \
  ENTRY(operands_rows, op, elements, 1, ways)                                                                          \
  ENTRY(operands_rows, op, elements, 2, ways)                                                                          \
  ENTRY(operands_rows, op, elements, 3, ways)                                                                          \
  ENTRY(operands_rows, op, elements, 4, ways)                                                                          \
  ENTRY(operands_rows, op, elements, 6, ways)                                                                          \
  ENTRY(operands_rows, op, elements, 8, ways)                                                                          \
  ENTRY(operands_rows, op, elements, 12, ways)
#define SHORT(op, elements, ways)                                                                                      \
  ENTRY(operands_short, op, elements, 1, ways)                                                                         \
  ENTRY(operands_short, op, elements, 2, ways)                                                                         \
  ENTRY(operands_short, op, elements, 3, ways)                                                                         \
  ENTRY(operands_short, op, elements, 4, ways)                                                                         \
  ROWS(op, elements, ways)
#define COLUMNS(op, elements, ways) ENTRY(operands_columns, op, elements, 1, ways)
#define SPREAD(op, steps, ways) ENTRY(operands_columns, op, 1, steps, ways)
#define RUNS(op, elements, ways) ENTRY(operands_runs, op, elements, 1, ways)

COLUMNS(masked, 1, 00)
COLUMNS(masked, 1, 11)
COLUMNS(masked, 1, 51)
COLUMNS(masked, 2, 11)
COLUMNS(masked, 2, 00)
COLUMNS(masked, 4, 00)
COLUMNS(masked, 4, 01)
COLUMNS(masked, 4, 11)
COLUMNS(masked, 4, 21)
COLUMNS(masked, 4, 51)
COLUMNS(masked, 4, 12)
COLUMNS(masked, 4, 64)
COLUMNS(masked, 4, 33)
COLUMNS(masked, 4, 80000011)
COLUMNS(masked, 4, 80000000)
COLUMNS(masked, 1, 80000000)
COLUMNS(masked, 1, 40000000)
COLUMNS(masked, 1, 40000011)
COLUMNS(masked, 2, 40000011)
COLUMNS(masked, 4, 40000000)
COLUMNS(masked, 4, 40000011)
COLUMNS(masked, 4, c0000011)
COLUMNS(masked, 4, 40000033)
COLUMNS(masked, 4, 80000033)
COLUMNS(masked, 1, 80000011)
COLUMNS(masked, 4, 73)
COLUMNS(masked, 4, 23)
COLUMNS(masked, 4, 03)
COLUMNS(masked, 4, 31)
COLUMNS(masked, 2, 33)
SPREAD(masked, 2, 00)
SPREAD(masked, 2, 40000000)
SPREAD(masked, 2, 11)
SPREAD(masked, 2, 51)
SPREAD(masked, 4, 00)
SPREAD(masked, 4, 11)
SPREAD(masked, 4, 80000011)
SPREAD(masked, 2, 80000011)
SPREAD(masked, 4, 51)
SPREAD(masked, 4, 15)
SPREAD(masked, 4, 21)
SPREAD(masked, 4, 61)
RUNS(masked, 1, 00)
RUNS(masked, 4, 31)
RUNS(masked, 1, 11)
RUNS(masked, 4, 00)
RUNS(masked, 4, 01)
RUNS(masked, 4, 11)
RUNS(masked, 4, 61)
SHORT(masked, 1, 00)
SHORT(masked, 1, 11)
SHORT(masked, 2, 00)
SHORT(masked, 4, 00)
SHORT(masked, 4, 11)
SHORT(masked, 4, 21)
SHORT(masked, 4, 20000011)
SHORT(masked, 1, 20000011)
SHORT(masked, 1, 20000000)
ROWS(masked, 1, 51)
ROWS(masked, 4, 51)
ROWS(masked, 1, 20000051)
ROWS(masked, 4, 20000051)

COLUMNS(triple, 1, 000)
COLUMNS(triple, 1, 40000000)
COLUMNS(triple, 1, 40000111)
COLUMNS(triple, 2, 40000000)
COLUMNS(triple, 2, 40000111)
COLUMNS(triple, 1, 80000000)
COLUMNS(triple, 2, c0000111)
COLUMNS(triple, 2, 80000333)
COLUMNS(triple, 1, 80000111)
SPREAD(triple, 2, 80000111)
COLUMNS(triple, 1, 111)
COLUMNS(triple, 2, 000)
COLUMNS(triple, 2, 111)
COLUMNS(triple, 2, 521)
COLUMNS(triple, 2, 333)
COLUMNS(triple, 2, 331)
COLUMNS(triple, 2, 133)
COLUMNS(triple, 2, 311)
COLUMNS(triple, 2, 113)
COLUMNS(triple, 8, 223)
SPREAD(triple, 2, 000)
SPREAD(triple, 2, 111)
SPREAD(triple, 2, 121)
SPREAD(triple, 2, 511)
RUNS(triple, 1, 000)
RUNS(triple, 2, 331)
RUNS(triple, 2, 113)
RUNS(triple, 2, 000)
RUNS(triple, 2, 111)
RUNS(triple, 2, 161)
SHORT(triple, 1, 000)
SHORT(triple, 2, 000)
SHORT(triple, 2, 111)
ROWS(triple, 2, 511)
ROWS(triple, 2, 20000511)
ROWS(triple, 2, 20000111)
ROWS(triple, 1, 511)
ROWS(triple, 1, 20000111)
