/* What every kernel family shares: from item numbers to addresses, from elements to accumulators, and from these to
 * results. join.cuh joins them. */
#ifndef NDR_WALK_CUH
#define NDR_WALK_CUH

#include "facts.cuh"
#include "kernels.h"
#include "ops.cuh"
#include "params.h"

/* Blocks of a kernel that a multiprocessor holds: the number in kernels.def, unless the operator's accumulator takes
 * more registers than that leaves. */
template <ndr_kernel KERNEL, class Op> struct residency {
  static constexpr int blocks(int light) { return light; }
};

/* ---- decoding ---- */

struct quotient {
  i64 whole, rest;
};

/* n / axis.size and the remainder. The size must be at least 2. */
NDR_DEVICE quotient divide(const ndr_params &p, const ndr_param_axis &axis, i64 n) {
  i64 whole = is_small(p) ? (i64)(machine::multiply_high((u32)n, axis.magic) >> axis.shift) : n / axis.size;
  return {whole, n - whole * axis.size};
}

NDR_DEVICE u32 divide(const ndr_param_divisor &by, u32 n) {
  return by.magic ? machine::multiply_high(n, by.magic) >> by.shift : n;
}

/* Offsets of an output in elements: in the data and in the result. */
struct output_spot {
  i64 offset, result;
  NDR_DEVICE void step(const ndr_param_axis &axis, i64 n) {
    offset += n * axis.stride;
    result += n * axis.result_stride;
  }
};

/* Offsets of a reduced element: in the data, in elements, and in the flattened index. */
struct element_spot {
  i64 offset, index;
  NDR_DEVICE void step(const ndr_param_axis &axis, i64 n) {
    offset += n * axis.stride;
    index += n * axis.index_step;
  }
};

/* Locates number n of a walk over `count` axes from axes[first] on, innermost first. */
template <class Spot> NDR_DEVICE Spot locate(const ndr_params &p, int first, int count, i64 n) {
  Spot s = {0, 0};
  if (count <= 1) {
    if (count == 1) s.step(p.axes[first], n);
    return s;
  }
#pragma unroll 1
  for (int a = first; a < first + count; a++) {
    quotient q = {0, n};
    if (a + 1 < first + count) q = divide(p, p.axes[a], n);
    s.step(p.axes[a], q.rest);
    n = q.whole;
  }
  return s;
}

/* Locates number n of a walk over the kept axes, leaving out the first `skipped`. */
NDR_DEVICE output_spot locate_kept(const ndr_params &p, int skipped, i64 n) {
  return locate<output_spot>(p, skipped, kept_count(p) - skipped, n);
}

NDR_DEVICE output_spot locate_output(const ndr_params &p, i64 output) {
  return locate_kept(p, 0, output);
}

/* Locates number n of a walk over the reduced axes, leaving out the first `skipped`. */
NDR_DEVICE element_spot locate_reduced(const ndr_params &p, int skipped, i64 n) {
  return locate<element_spot>(p, kept_count(p) + skipped, reduced_count(p) - skipped, n);
}

/* The first reduced axis, which the threads of most kernels walk. */
NDR_DEVICE const ndr_param_axis &walked_axis(const ndr_params &p) {
  return p.axes[kept_count(p)];
}

/* The tile of an item, and the number of the item's split in it. */
struct tile_split {
  i64 tile;
  int split;
};

NDR_DEVICE tile_split split_of(const ndr_params &p, i64 item) {
  u32 split = knows(NDR_FACT_WHOLE_TILES) ? 0 : divide(p.tiles, (u32)item);
  return {(u32)item - split * (u32)p.tile_count, (int)split};
}

/* From `begin` to before `end`: units of a split, or outputs of a tile. */
struct range {
  i64 begin, end;
};

NDR_DEVICE range units_of(const ndr_params &p, u32 split) {
  i64 begin = split * p.split_units, end = begin + p.split_units;
  return {begin, end < p.units ? end : p.units};
}

/* The outputs of a tile (ndr_params.turned). */
NDR_DEVICE range outputs_of(const ndr_params &p, i64 tile) {
  i64 begin = tile * p.tile_outputs, end = p.outputs;
  if (p.turned > 1) {
    u32 size = (u32)p.axes[0].size, most = p.turned, along = (size + p.tile_outputs - 1) / p.tile_outputs;
    u32 group = (u32)tile / (along * most), inside = (u32)tile - group * along * most;
    u32 left = (u32)p.outputs / size - group * most, others = left < most ? left : most;
    u32 place = inside / others, other = group * most + inside - place * others;
    begin = (i64)other * size + place * p.tile_outputs, end = (i64)(other + 1) * size;
  }
  return {begin, begin + p.tile_outputs < end ? begin + p.tile_outputs : end};
}

/* ---- elements ---- */

template <class T> struct vector_traits { static const int elements = 16 / sizeof(T); };

/* Converts the elements of a vector to values. */
template <class Op> NDR_DEVICE void unpack(const ndr_vector &vector, typename Op::value *x) {
  typedef typename Op::element T;
  union {
    ndr_vector vector;
    T element[16 / sizeof(T)];
  } view;
  view.vector = vector;
#pragma unroll
  for (int i = 0; i < (int)(16 / sizeof(T)); i++) x[i] = value_of<typename Op::value>(view.element[i]);
}

template <class Op>
NDR_DEVICE void fold_value(const ndr_params &p, typename Op::Accumulator &a, typename Op::value value, i64 index) {
  typename Op::value x[1] = {value};
  Op::template fold<1>(a, x, index, 0, p);
}
template <class Op>
NDR_DEVICE void fold_one(const ndr_params &p, typename Op::Accumulator &a, typename Op::element e, i64 index) {
  fold_value<Op>(p, a, value_of<typename Op::value>(e), index);
}

/* Folds a vector whose elements all belong to one output. */
template <class Op>
NDR_DEVICE void fold_vector_of(const ndr_params &p, typename Op::Accumulator &a, const ndr_vector &vector, i64 index,
                               i64 step) {
  const int n = 16 / sizeof(typename Op::element);
  if constexpr (Op::packed) {
    Op::fold_vector(a, vector);
  } else {
    typename Op::value x[n];
    unpack<Op>(vector, x);
    Op::template fold<n>(a, x, index, step, p);
  }
}

/* Folds several vectors of one output, up to 16 elements at once. Vectors start `between` indices apart. */
template <class Op, int COUNT>
NDR_DEVICE void fold_batch(const ndr_params &p, typename Op::Accumulator &a, const ndr_vector *vector, i64 index,
                           i64 between, i64 step) {
  const int n = 16 / sizeof(typename Op::element), group = n >= 16 ? 1 : n * COUNT <= 16 ? COUNT : 16 / n;
  if constexpr (Op::packed || group == 1) {
#pragma unroll
    for (int u = 0; u < COUNT; u++) fold_vector_of<Op>(p, a, vector[u], index + u * between, step);
  } else {
#pragma unroll
    for (int first = 0; first < COUNT; first += group) {
      typename Op::value x[group * n];
#pragma unroll
      for (int u = 0; u < group; u++) unpack<Op>(vector[first + u], x + u * n);
      if constexpr (Op::indexed)
        Op::template fold_vectors<group * n, n>(a, x, index + first * between, between, step, p);
      else
        Op::template fold<group * n>(a, x, 0, 0, p);
    }
  }
}

/* ---- results ---- */

/* Finalizes a count as the launch says. */
NDR_DEVICE u64 end_count(const ndr_params &p, u64 count) {
  switch (p.finalize) {
  case NDR_FINALIZE_ANY: return count != 0;
  case NDR_FINALIZE_ALL: return count == (u64)p.length;
  case NDR_FINALIZE_VALID: return (u64)p.length - count;
  case NDR_FINALIZE_LENGTH: return (u64)p.length;
  default: return count;
  }
}

/* The value of a total. Programs (program.cuh) have a way of their own. */
template <class Op> struct finishing {
  static NDR_DEVICE auto of(const ndr_params &p, const typename Op::State &state) { return Op::finish(state, p.ddof); }
};

/* Finalizes a total as the launch says. The kernels of var also serve std; those of count also any, all and valid. */
template <class Op> NDR_DEVICE auto finish_total(const ndr_params &p, const typename Op::State &state) {
  auto x = finishing<Op>::of(p, state);
  if constexpr (Op::rooted)
    return p.finalize == NDR_FINALIZE_ROOT ? sqrt(x) : x;
  else if constexpr (Op::counting)
    return end_count(p, x);
  else
    return x;
}

/* Writes an output of an operator, or its state, to result number FIRST. `offset` counts elements of the result; for
 * states it is the row-major number of the output. */
template <class Op, int FIRST> struct emission {
  static const int results = 1;
  static NDR_DEVICE void of(const ndr_params &p, i64 offset, const typename Op::State &state) {
    if constexpr (Op::counting) {
      if (is_partial(p))
        ((ndr_word *)p.result[FIRST])[offset] = end_count(p, state);
      else if (p.finalize >= NDR_FINALIZE_ANY)
        ((u8 *)p.result[FIRST])[offset] = (u8)end_count(p, state);
      else
        ((i64 *)p.result[FIRST])[offset] = (i64)end_count(p, state);
      return;
    }
    if (is_partial(p)) {
      ndr_word w[Op::words];
      Op::save(state, w);
#pragma unroll
      for (int i = 0; i < Op::words; i++) ((ndr_word *)p.result[FIRST])[i * p.outputs + offset] = w[i];
    } else {
      store_value((typename Op::result *)p.result[FIRST] + offset, finish_total<Op>(p, state));
    }
  }
};

template <class Op> NDR_DEVICE void emit(const ndr_params &p, i64 offset, const typename Op::State &state) {
  emission<Op, 0>::of(p, offset, state);
}

/* Whether an accumulator is the total, and no more than rounds to the result: a state in f64 would round the same. */
template <class Op> struct totals_itself { static const bool yes = false; };
template <class T, bool W, bool S, class BATCH, class STATE, class RESULT, class MAP, class JOIN>
struct totals_itself<simple<T, W, S, BATCH, float, STATE, RESULT, MAP, JOIN, plain>> {
  static const bool yes = true;
};

/* The total to store, of an accumulator. */
template <class Op> NDR_DEVICE auto total_of(const ndr_params &p, const typename Op::Accumulator &a) {
  if constexpr (totals_itself<Op>::yes)
    return a;
  else
    return finish_total<Op>(p, Op::widen(a));
}

/* As emit, of an accumulator. */
template <class Op> NDR_DEVICE void emit_total(const ndr_params &p, i64 offset, const typename Op::Accumulator &a) {
  if constexpr (totals_itself<Op>::yes) {
    if (!is_partial(p)) {
      store_value((typename Op::result *)p.result[0] + offset, a);
      return;
    }
  }
  emit<Op>(p, offset, Op::widen(a));
}

/* The type with which a row of BYTES bytes is written. */
template <int BYTES> struct row_unit { typedef ndr_vector type; };
template <> struct row_unit<8> { typedef u64 type; };
template <> struct row_unit<4> { typedef u32 type; };

/* Writes COUNT neighbouring outputs with wide stores, so that a warp writes whole sectors. Returns false, and writes
 * nothing, unless they lie side by side in the result, `stride` being 1, and are aligned. */
template <class Op, int COUNT>
NDR_DEVICE bool emit_whole(const ndr_params &p, i64 offset, i64 stride, const typename Op::Accumulator *accumulators) {
  typedef typename Op::result result;
  const int bytes = sizeof(result) * COUNT;
  if constexpr (COUNT > 1 && (bytes % 16 == 0 || bytes == 8 || bytes == 4)) {
    typedef typename row_unit<bytes>::type unit;
    result *out = (result *)p.result[0] + offset;
    if (is_partial(p) || stride != 1 || (unsigned long long)out % sizeof(unit) ||
        (Op::counting && p.finalize >= NDR_FINALIZE_ANY))
      return false;
    union view {
      result value[COUNT];
      unit whole[bytes / sizeof(unit)];
      NDR_DEVICE view() {}
    } row;
#pragma unroll
    for (int c = 0; c < COUNT; c++) store_value(&row.value[c], total_of<Op>(p, accumulators[c]));
#pragma unroll
    for (int i = 0; i < (int)(bytes / sizeof(unit)); i++) ((unit *)out)[i] = row.whole[i];
    return true;
  }
  return false;
}

template <class Op, int COUNT>
NDR_DEVICE void emit_row(const ndr_params &p, i64 offset, i64 stride, const typename Op::Accumulator *accumulators) {
  if constexpr (Op::single) {
    if (emit_whole<Op, COUNT>(p, offset, stride, accumulators)) return;
  }
#pragma unroll
  for (int c = 0; c < COUNT; c++) emit_total<Op>(p, offset + c * stride, accumulators[c]);
}

/* Writes the first `some` of COUNT neighbouring outputs. */
template <class Op, int COUNT>
NDR_DEVICE void emit_some(const ndr_params &p, i64 offset, i64 stride, const typename Op::Accumulator *accumulators,
                          int some) {
#pragma unroll
  for (int c = 0; c < COUNT; c++)
    if (c < some) emit_total<Op>(p, offset + c * stride, accumulators[c]);
}

#endif
