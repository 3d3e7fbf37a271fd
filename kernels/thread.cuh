/* Family thread: the fastest axis is kept and wide. Neighbouring threads own neighbouring columns of it and walk the
 * reduced axes. A thread owns as many columns as a vector holds where they lie side by side, or some that lie a warp
 * apart, and otherwise one.
 *
 * A team of threads, up to a block, reads neighbouring columns of one combination of the other kept axes. Its threads
 * are `lanes` along the columns times `rows` along the rows. */
#ifndef NDR_THREAD_CUH
#define NDR_THREAD_CUH

#include "arg.cuh"
#include "column.cuh"
#include "emit.cuh"
#include "join.cuh"

/* fold_batch_of for sums of bytes: adds two columns at a time, in the 16-bit halves of a word. 257 rows fit. */
template <class Op, int UNROLL> NDR_DEVICE void fold_bytes(typename Op::Accumulator *a, const ndr_vector *vector) {
  typedef unsigned_bytes<typename Op::element> bytes;
#pragma unroll
  for (int w = 0; w < 4; w++) {
    u32 even = 0, odd = 0;
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
      u32 four = bytes::of(vector[u].word[w]);
      even += four & 0x00ff00ffu, odd += four >> 8 & 0x00ff00ffu;
    }
#pragma unroll
    for (int c = 0; c < 4; c++)
      Op::fold_sum(a[4 * w + c], (int)((c % 2 ? odd : even) >> 8 * (c & 2) & 0xffff) - UNROLL * bytes::bias, UNROLL);
  }
}

/* Folds UNROLL rows column by column. */
template <class Op, reading HOW, int UNROLL, class LOADED>
NDR_DEVICE void fold_batch_of(const ndr_params &p, typename Op::Accumulator *a, const LOADED *loaded, i64 index,
                              i64 step) {
  typedef column<Op, HOW> C;
  if constexpr (Op::sums_bytes && !C::singly) {
    fold_bytes<Op, UNROLL>(a, loaded);
  } else if constexpr (folds_byte_columns<Op>::yes && !C::singly) {
    Op::template fold_byte_columns<UNROLL>(a, loaded, index, step);
  } else {
    typename Op::value x[UNROLL][C::count];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) C::open(loaded[u], x[u]);
#pragma unroll
    for (int c = 0; c < C::count; c++) {
      typename Op::value y[UNROLL];
#pragma unroll
      for (int u = 0; u < UNROLL; u++) y[u] = x[u][c];
      Op::template fold<UNROLL>(a[c], y, index, step, p);
    }
  }
}

template <class Op, reading HOW, class LOADED>
NDR_DEVICE void fold_row(const ndr_params &p, typename Op::Accumulator *a, const LOADED &loaded, i64 index) {
  typedef column<Op, HOW> C;
  typename Op::value x[C::count];
  C::open(loaded, x);
#pragma unroll
  for (int c = 0; c < C::count; c++) fold_value<Op>(p, a[c], x[c], index);
}

/* Folds N of this thread's rows. */
template <class Op, reading HOW, int N>
NDR_DEVICE void fold_loaded(const ndr_params &p, typename Op::Accumulator *a, const typename Op::element *at,
                            i64 stride, i64 index, i64 step) {
  typename column<Op, HOW>::loaded loaded[N];
#pragma unroll
  for (int u = 0; u < N; u++, at += stride) loaded[u] = column<Op, HOW>::load(at);
  fold_batch_of<Op, HOW, N>(p, a, loaded, index, step);
}

/* Folds fewer than 2 N of this thread's rows, of which `left` follow: N if there are as many, then half as many, and so
 * on, the last three together. */
template <class Op, reading HOW, int N>
NDR_DEVICE void fold_last(const ndr_params &p, typename Op::Accumulator *a, const typename Op::element *at, i64 stride,
                          i64 index, i64 step, int left, int rows) {
  if (N == 2 && left > 2 * rows) {
    fold_loaded<Op, HOW, 3>(p, a, at, stride, index, step);
    return;
  }
  if (left > (N - 1) * rows) {
    fold_loaded<Op, HOW, N>(p, a, at, stride, index, step);
    at += N * stride, left -= N * rows, index += N * step;
  }
  if constexpr (N > 1) fold_last<Op, HOW, N / 2>(p, a, at, stride, index, step, left, rows);
}

/* Folds the first UNROLL of this thread's rows. `left` rows follow, and the thread has every rows-th: its rows are
 * `stride` elements and `step` indices apart. All are loaded at once. */
template <class Op, reading HOW, int UNROLL>
NDR_DEVICE void fold_rows(const ndr_params &p, typename Op::Accumulator *a, const typename Op::element *at, i64 stride,
                          i64 index, i64 step, int left, int rows) {
  typedef column<Op, HOW> C;
  typename C::loaded loaded[UNROLL];
  if (left > (UNROLL - 1) * rows) {
#pragma unroll
    for (int u = 0; u < UNROLL; u++, at += stride) loaded[u] = C::load(at);
    fold_batch_of<Op, HOW, UNROLL>(p, a, loaded, index, step);
    return;
  }
  if constexpr (HOW == READ_SPREAD) {
    fold_last<Op, HOW, UNROLL / 2>(p, a, at, stride, index, step, left, rows);
    return;
  }
  rows = (int)machine::opaque(rows); /* its multiples are not worth registers in the loop above */
#pragma unroll
  for (int u = 0; u < UNROLL - 1; u++, at += stride)
    if (left > u * rows) loaded[u] = C::load(at);
#pragma unroll
  for (int u = 0; u < UNROLL - 1; u++) {
    if (left <= u * rows) return;
    fold_row<Op, HOW>(p, a, loaded[u], index + u * step);
  }
}

/* Folds UNROLL rows whose vectors lie in the array. */
template <class Op, int UNROLL>
NDR_DEVICE void fold_shifted_batch(const ndr_params &p, typename Op::Accumulator *a, const typename Op::element *at,
                                   i64 stride, i64 index, i64 step) {
  vector_pair pair[UNROLL];
  ndr_vector vector[UNROLL];
#pragma unroll
  for (int u = 0; u < UNROLL; u++, at += stride) pair[u] = column<Op, READ_SHIFTED>::load(at);
#pragma unroll
  for (int u = 0; u < UNROLL; u++) vector[u] = shifted<sizeof(typename Op::element)>(pair[u]);
  fold_batch_of<Op, READ_SHIFTED, UNROLL>(p, a, vector, index, step);
}

/* Folds the last N or fewer of this thread's rows, of which `left` follow, all at once. For bytes, whose columns are
 * taken apart once a batch. */
template <class Op, int N>
NDR_DEVICE void fold_shifted_last(const ndr_params &p, typename Op::Accumulator *a, const typename Op::element *at,
                                  i64 stride, i64 index, i64 step, int left, int rows) {
  if constexpr (N > 1) {
    if (left <= (N - 1) * rows) {
      fold_shifted_last<Op, N - 1>(p, a, at, stride, index, step, left, rows);
      return;
    }
  }
  fold_shifted_batch<Op, N>(p, a, at, stride, index, step);
}

/* As fold_rows. A batch that is not complete, or that reaches the array's end, is read two rows at a time, then one. */
template <class Op, int UNROLL>
NDR_DEVICE void fold_shifted_rows(const ndr_params &p, typename Op::Accumulator *a, const typename Op::element *at,
                                  i64 stride, i64 index, i64 step, int left, int rows) {
  typedef column<Op, READ_SHIFTED> C;
  if (left > (UNROLL - 1) * rows && C::within(p, at + (UNROLL - 1) * stride)) {
    fold_shifted_batch<Op, UNROLL>(p, a, at, stride, index, step);
    return;
  }
  if constexpr (Op::sums_bytes || folds_byte_columns<Op>::yes) {
    if (left <= (UNROLL - 1) * rows && C::within(p, at + (left - 1) / rows * stride)) {
      fold_shifted_last<Op, UNROLL - 1>(p, a, at, stride, index, step, left, rows);
      return;
    }
  }
  if (left > UNROLL * rows) left = UNROLL * rows;
#pragma unroll 1
  for (; left > rows && C::within(p, at + stride); left -= 2 * rows, at += 2 * stride, index += 2 * step)
    fold_shifted_batch<Op, 2>(p, a, at, stride, index, step);
#pragma unroll 1
  for (; left > 0; left -= rows, at += stride, index += step)
    fold_row<Op, READ_SHIFTED>(p, a, C::within(p, at) ? C::load(at) : C::load_last(p, at), index);
}

/* Walks rows from + row, from + row + rows and so on, below `end`, of a run. Calls fold(at, stride, index, step, left),
 * which folds the first UNROLL of them; `left` rows of the run follow. */
template <int UNROLL, class T, class Fold>
NDR_DEVICE void walk_run(const ndr_params &p, const T *base, i64 origin, i64 from, i64 end, int row, int rows,
                         const Fold &fold) {
  const ndr_param_axis &axis = walked_axis(p);
  i64 stride = rows * axis.stride, step = rows * axis.index_step;
  const T *at = base + (from + row) * axis.stride;
  i64 index = origin + (from + row) * axis.index_step;
  for (int left = (int)(end - from) - row; left > 0; left -= UNROLL * rows) {
    fold(at, stride, index, step, left);
    at += UNROLL * stride;
    index += UNROLL * step;
  }
}

/* Walks this thread's rows of a split, run by run. The walked axis is innermost: rows along it are reached by their
 * stride, and only the first one is decoded. TWICE: a single run has a loop of its own, which keeps nothing for the
 * next run. Not for single elements, of which so many are in flight that two loops would be spilled. */
template <int UNROLL, bool TWICE, class T, class Fold>
NDR_DEVICE void walk_rows(const ndr_params &p, const T *base, i64 origin, range split, int row, int rows,
                          const Fold &fold) {
  const ndr_param_axis &axis = walked_axis(p);
  i64 size = reduced_count(p) ? axis.size : 1;
  if (TWICE && reduced_count(p) <= 1) {
    walk_run<UNROLL>(p, base, origin, split.begin, split.end, row, rows, fold);
    return;
  }
  for (i64 first = split.begin; first < split.end; first = NDR_NEXT_RUN(first)) {
    i64 run = reduced_count(p) > 1 ? divide(p, axis, first).whole : 0, from = first - run * size;
    i64 end = from + (split.end - first) < size ? from + (split.end - first) : size;
    element_spot s = locate_reduced(p, 1, run);
    walk_run<UNROLL>(p, base + s.offset, origin + s.index, from, end, row, rows, fold);
    first += end - from;
  }
}

template <class Op, reading HOW>
NDR_DEVICE void fold_columns(const ndr_params &p, typename Op::Accumulator *a, const typename Op::element *base,
                             i64 origin, range split, int row, int rows) {
  typedef typename Op::element T;
  const int UNROLL = column<Op, HOW>::rows;
  auto fold = [&](const T *at, i64 stride, i64 index, i64 step, int left) {
    if constexpr (HOW == READ_SHIFTED)
      fold_shifted_rows<Op, UNROLL>(p, a, at, stride, index, step, left, rows);
    else
      fold_rows<Op, HOW, UNROLL>(p, a, at, stride, index, step, left, rows);
  };
  walk_rows<UNROLL, !column<Op, HOW>::singly>(p, base, origin, split, row, rows, fold);
}

/* What a team reads: `columns` columns from number `first` of the axis on, and from output number `output` on. The
 * first lies at at.offset in the data. It lies at at.result in the result, unless columns are mapped: then column 0 of
 * the axis does. */
struct team_spot {
  i64 output, columns, first;
  output_spot at;
};

/* Where column number k of a team lies in the result. */
NDR_DEVICE i64 place_of_column(const ndr_params &p, const team_spot &t, int k) {
  if (!is_mapped(p)) return t.at.result + k * p.axes[0].result_stride;
  u32 column = (u32)t.first + (u32)k, inner = (u32)p.thread.inner, outer = column / inner;
  return t.at.result + (i64)(column - outer * inner) * p.axes[0].result_stride + (i64)outer * p.thread.outer_stride;
}

/* A number past the last team has no columns: `columns` is 0 or less. */
NDR_DEVICE team_spot locate_team(const ndr_params &p, i64 number) {
  const ndr_param_thread &own = p.thread;
  i64 block = NDR_NEAR_OTHERS(own) > 1 ? number / NDR_NEAR_OTHERS(own) : number;
  i64 far = is_small(p) ? divide(own.teams, (u32)block) : block / own.axis_teams;
  i64 along = block - far * own.axis_teams, other = far;
  if (NDR_NEAR_OTHERS(own) > 1) other = far * NDR_NEAR_OTHERS(own) + number - block * NDR_NEAR_OTHERS(own);
  i64 first = along * own.team_columns;
  output_spot at = locate_kept(p, 1, other);
  at.offset += first * p.axes[0].stride;
  if (!is_mapped(p)) at.result += first * p.axes[0].result_stride;
  i64 columns = other < own.others ? p.axes[0].size - first : 0;
  return {number * own.team_columns, columns < own.team_columns ? columns : own.team_columns, first, at};
}

/* A thread's team within the block, and the thread's place in that team. */
struct column_team {
  int number, lane, row, rows;
  NDR_DEVICE column_team(const ndr_params &p) {
    const ndr_param_threads &team = NDR_TEAM(p.thread.team), &lanes = NDR_LANES(p.thread.lanes);
    int thread = machine::thread() & (team.count - 1);
    number = machine::thread() >> team.log;
    lane = thread & (lanes.count - 1);
    row = thread >> lanes.log;
    rows = team.count >> lanes.log;
  }
};

/* The spot of a block's team number `team`. */
NDR_DEVICE team_spot spot_of(const ndr_params &p, i64 tile, int team) {
  return locate_team(p, (tile << (NDR_BLOCK_LOG - NDR_TEAM(p.thread.team).log)) + team);
}

/* Folds what this thread reads of its team's columns in a split. */
template <class Op, reading HOW>
NDR_DEVICE void fold_team(const ndr_params &p, typename Op::Accumulator *a, const team_spot &t, const range &split,
                          const column_team &team) {
  int first = column<Op, HOW>::first_column(team.lane, (int)t.columns);
  if (first >= t.columns) return;
  const typename Op::element *base = (const typename Op::element *)p.data + t.at.offset + first * p.axes[0].stride;
  fold_columns<Op, HOW>(p, a, base, p.index_origin, split, team.row, team.rows);
}

/* Which team's outputs this thread writes, and its number among the threads that write them. */
struct team_writer {
  int team, number;
  NDR_DEVICE team_writer(const ndr_params &p, const column_team &own) {
    int log = NDR_BLOCK_LOG - NDR_TEAM(p.thread.team).log;
    team = NDR_NEAR_OTHERS(p.thread) > 1 ? machine::thread() & ((1 << log) - 1) : own.number;
    number = NDR_NEAR_OTHERS(p.thread) > 1 ? machine::thread() >> log
                                           : own.lane + (own.row << NDR_LANES(p.thread.lanes).log);
  }
};

/* Bytes of shared memory, at most, in which a block joins accumulators of some columns at a time. */
enum { NDR_JOIN_BYTES = 24 << 10 };

/* Columns of a thread, of COUNT, whose accumulators fit: a power of 2. */
template <class Accumulator, int COUNT> NDR_DEVICE constexpr int join_width() {
  const int most = NDR_JOIN_BYTES / (NDR_BLOCK * (int)sizeof(Accumulator));
  return most < 1 ? 1 : most > COUNT ? COUNT : most >= 8 ? 8 : most >= 4 ? 4 : most >= 2 ? 2 : 1;
}

/* Joins the rows of teams in shared memory, some of each thread's columns at a time. Where a warp holds several rows,
 * it has joined them already. One thread joins each output; `t` is the spot of its writer's team. */
template <class Op, reading HOW>
NDR_DEVICE void join_rows(const ndr_params &p, const team_spot &t, i64 split, const typename Op::Accumulator *a,
                          const column_team &team, const team_writer &writer) {
  typedef typename Op::Accumulator Accumulator;
  const int count = column<Op, HOW>::count, width = join_width<Accumulator, count>();
  const ndr_param_threads &lanes = NDR_LANES(p.thread.lanes);
  NDR_SHARED Accumulator accumulators[width][NDR_BLOCK + 32 + (width > 1 ? 32 / width : 0)];
  /* Neighbouring threads may read from neighbouring teams: an accumulator between teams of 8 threads or more puts what
   * they read in different banks. */
  int padding = NDR_NEAR_OTHERS(p.thread) > 1 && NDR_TEAM(p.thread.team).count >= NDR_BLOCK / 32;
  int pitch = NDR_TEAM(p.thread.team).count + padding, base = writer.team * pitch;
  const int AT_ONCE = sizeof(Accumulator) <= 8 ? 7 : 3; /* accumulators that are loaded before they are joined */
  int log = lanes.log < NDR_WARP_LOG ? NDR_WARP_LOG - lanes.log : 0, apart = lanes.count << log;
  int warps = team.rows >> log;
#pragma unroll
  for (int first = 0; first < count; first += width) {
#pragma unroll
    for (int c = 0; c < width; c++)
      accumulators[c][team.number * pitch + team.lane + (team.row << lanes.log)] = a[first + c];
    machine::barrier();
    for (int n = writer.number; n < lanes.count * width; n += NDR_TEAM(p.thread.team).count) {
      int lane = HOW == READ_SPREAD ? n & (lanes.count - 1) : n / width,
          c = HOW == READ_SPREAD ? n >> lanes.log : n % width;
      int k = column<Op, HOW>::team_column(lane, first + c, (int)t.columns);
      if (k >= t.columns) continue;
      const Accumulator *at = accumulators[c] + base + lane;
      Accumulator total = *at;
#pragma unroll 1
      for (int w = 1; w < warps; w += AT_ONCE) {
        Accumulator next[AT_ONCE];
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++)
          if (w + u < warps) next[u] = at[(w + u) * apart];
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++)
          if (w + u < warps) Op::join(total, next[u]);
      }
      if (splits_of(p) == 1)
        emit<Op>(p, place_of_column(p, t, k), Op::widen(total));
      else
        save_partial<Op>(p, split, t.output + k, Op::widen(total));
    }
    machine::barrier();
  }
}

/* As emit_team, where a thread's columns are mapped, or do not lie side by side. */
template <class Op, reading HOW>
NDR_DEVICE void emit_singly(const ndr_params &p, const team_spot &t, const typename Op::Accumulator *a,
                            const column_team &team) {
  if (team.row != 0) return;
#pragma unroll
  for (int c = 0; c < column<Op, HOW>::count; c++) {
    int k = column<Op, HOW>::team_column(team.lane, c, (int)t.columns);
    if (k < t.columns) emit_total<Op>(p, place_of_column(p, t, k), a[c]);
  }
}

/* Writes the outputs of a team whose rows are joined: those of the threads in its first row. */
template <class Op, reading HOW>
NDR_DEVICE void emit_team(const ndr_params &p, const team_spot &t, const typename Op::Accumulator *a,
                          const column_team &team) {
  const int count = column<Op, HOW>::count;
  i64 stride = p.axes[0].result_stride;
  if (HOW == READ_SPREAD || is_mapped(p)) {
    emit_singly<Op, HOW>(p, t, a, team);
    return;
  }
  if constexpr (HOW != READ_SPREAD && warp_emission<Op, count>::possible) {
    if (NDR_TEAM(p.thread.team).count >= NDR_WARP && warp_emission<Op, count>::here(p)) {
      int lanes = NDR_LANES(p.thread.lanes).count < NDR_WARP ? NDR_LANES(p.thread.lanes).count : NDR_WARP;
      int first = team.lane / NDR_WARP * NDR_WARP * count;
      emit_warp<Op, count>(p, t.at.result + first * stride, stride, (int)t.columns - first, lanes, a);
      return;
    }
  }
  int first = team.lane * count;
  i64 at = t.at.result + first * stride;
  if (team.row != 0 || first >= t.columns) return;
  if (HOW != READ_SHIFTED || t.columns - first >= count)
    emit_row<Op, count>(p, at, stride, a);
  else
    emit_some<Op, count>(p, at, stride, a, (int)t.columns - first);
}

template <class Op, reading HOW> NDR_DEVICE void thread_columns(const ndr_params &p) {
  const int count = column<Op, HOW>::count;
  const int threads = NDR_TEAM(p.thread.team).count;
  column_team team(p);
  typename Op::Accumulator a[count];
#pragma unroll
  for (int c = 0; c < count; c++) a[c] = Op::identity();
  tile_split whose = split_of(p, machine::block());
  team_spot t = spot_of(p, whose.tile, team.number);
  fold_team<Op, HOW>(p, a, t, units_of(p, whose.split), team);
  if (HOW == READ_ELEMENT || HOW == READ_SHIFTED) { /* located again: kept, it would be spilled */
    whose = split_of(p, machine::opaque(machine::block()));
    t = spot_of(p, whose.tile, team.number);
  }
  /* Joins the rows of a warp. */
  for (int mask = (threads < NDR_WARP ? threads : NDR_WARP) >> 1; mask >= NDR_LANES(p.thread.lanes).count; mask >>= 1) {
#pragma unroll
    for (int c = 0; c < count; c++) Op::join(a[c], shuffle_state(a[c], mask));
  }
  if (splits_of(p) == 1 && NDR_NEAR_OTHERS(p.thread) == 1 && (threads <= NDR_WARP || team.rows == 1)) {
    emit_team<Op, HOW>(p, t, a, team);
    return;
  }
  team_writer writer(p, team);
  if (NDR_NEAR_OTHERS(p.thread) > 1) t = spot_of(p, whose.tile, writer.team);
  join_rows<Op, HOW>(p, t, whose.split, a, team, writer);
  if (splits_of(p) == 1) return;
  join_splits<Op, false, column<Op, HOW>::singly ? 2 : NDR_JOIN_LOADS>(p, whose, t.output, (int)t.columns,
                                                                       [&](int k) { return place_of_column(p, t, k); });
}

template <class Op> NDR_DEVICE void thread_vectors(const ndr_params &p) {
  thread_columns<typename narrowed<Op>::type, READ_VECTOR>(p);
}

template <class Op> NDR_DEVICE void thread_shifted(const ndr_params &p) {
  thread_columns<typename narrowed<Op>::type, READ_SHIFTED>(p);
}

template <class Op> NDR_DEVICE void thread_spread(const ndr_params &p) {
  if constexpr (NDR_CAN_SPREAD(sizeof(typename Op::element))) thread_columns<Op, READ_SPREAD>(p);
}

template <class Op> NDR_DEVICE void thread_elements(const ndr_params &p) {
  thread_columns<typename narrowed<Op>::type, READ_ELEMENT>(p);
}

#endif
