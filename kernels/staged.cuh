/* Family tile where outputs lie close together, whatever their elements mean: short rows, narrow columns over few rows,
 * the same with steps and gaps. A block copies contiguous memory to shared memory with vector loads and takes the
 * elements of each output from there. No row has to begin on a 16-byte boundary, and a sector is read once. */
#ifndef NDR_STAGED_CUH
#define NDR_STAGED_CUH

#include "groups.cuh"
#include "stage.cuh"
#include "tile.cuh"

/* While one block folds, others copy: two blocks of large accumulators are too few, four spill. */
template <class Op> struct residency<NDR_KERNEL_TILE_STAGED, Op> : residency<NDR_KERNEL_TILE_COLUMNS, Op> {};

/* A stage is the elements that a block reads at a time: a piece of each of a tile's outputs, or of one reduced run of
 * them. Units are such pieces. A thread is member `member` of those that share output `slot`, and the outputs behind it
 * that lie `slots` apart. Members of an output are neighbours, and in one warp, or else the block is all members of
 * one. */
template <class Op> struct staged : groups {
  typedef typename Op::element T;
  typedef typename Op::Accumulator Accumulator;
  static const int elements = 16 / sizeof(T);
  const ndr_param_tile_staged &own;
  int slot, member, slots;

  NDR_DEVICE staged(const ndr_params &p) : groups(p, p.tile_staged.groups), own(p.tile_staged) {
    int thread = (int)machine::opaque(machine::thread());
    slot = thread >> own.members.log;
    member = thread & (own.members.count - 1);
    slots = NDR_BLOCK >> own.members.log;
  }

  /* Whether all rows of a stage begin with a vector. */
  NDR_DEVICE bool rows_aligned(const T *tile) const {
    return own.pitch % elements == 0 && (unsigned long long)tile % 16 == 0;
  }

  /* Whether dense rows of this many elements are read in vectors wherever they begin. */
  static NDR_DEVICE bool rows_are_long(int length) {
    return sizeof(T) <= 2 && length >= NDR_LONG_ROW_VECTORS * elements;
  }

  /* Folds this thread's elements of an output of the stage, which has `length` of them. */
  NDR_DEVICE void fold(const ndr_params &p, Accumulator &a, const T *tile, int output, i64 index, int length) const {
    int group = group_of(p, output), members = own.members.count, step = members * own.element_step;
    const T *from = tile + group * own.pitch + (output - group * NDR_GROUP_OUTPUTS(g)) * own.column_step;
    if (NDR_GROUP_OUTPUTS(g) == 1 && own.element_step == 1) {
      if (rows_aligned(tile)) {
        fold_row_vectors<Op, true>(p, a, from, index, length, member, members);
        return;
      }
      if (rows_are_long(length)) {
        fold_row_vectors<Op, false>(p, a, from, index, length, member, members);
        return;
      }
    }
    i64 apart = walked_axis(p).index_step;
    fold_spread<Op>(p, a, from + member * own.element_step, (length - member + members - 1) >> own.members.log, step,
                    index + member * apart, members * apart);
  }

  /* The stage of a unit. */
  struct unit {
    i64 offset, index;
    int length; /* elements of each output */
  };
  NDR_DEVICE unit find_unit(const ndr_params &p, i64 number) const {
    i64 run = own.pieces.size == 1 ? number : divide(p, own.pieces, number).whole;
    i64 first = (number - run * own.pieces.size) * own.piece, rest = walked_axis(p).size - first;
    element_spot s = locate_reduced(p, 1, run);
    s.step(walked_axis(p), first);
    return {s.offset, p.index_origin + s.index, rest < own.piece ? (int)rest : own.piece};
  }

  NDR_DEVICE copying<T> copy_unit(const ndr_params &p, const where &at, const unit &u, int room) const {
    int span = (at.to.outputs / NDR_GROUP_OUTPUTS(g) - 1) * own.pitch + (NDR_GROUP_OUTPUTS(g) - 1) * own.column_step +
               (u.length - 1) * own.element_step + 1;
    return start_copy((const T *)p.data + at.offset + u.offset, span, machine::shared_bytes() + room);
  }

  /* Joins the members of this thread's output. Member 0 gets the total. */
  NDR_DEVICE void join(Accumulator &a) const {
    NDR_SHARED Accumulator accumulators[NDR_BLOCK / NDR_WARP];
    if (own.members.count == NDR_BLOCK)
      a = join_block<Op>(a, accumulators);
    else
      join_lanes<Op>(a, own.members.count);
  }
};

/* A tile of one unit has no splits: the block's number is the tile's. */
template <class Op> NDR_DEVICE void reduce_tiles(const ndr_params &p) {
  staged<Op> block(p);
  typename staged<Op>::where at = block.find(p, machine::block());
  const typename Op::element *stage = await_copy<0>(block.copy_unit(p, at, {0, p.index_origin, block.own.piece}, 0));
#pragma unroll 1
  for (int first = 0; first < at.to.outputs; first += block.slots) {
    typename Op::Accumulator a = Op::identity();
    int output = first + block.slot;
    if (output < at.to.outputs) block.fold(p, a, stage, output, p.index_origin, block.own.piece);
    block.join(a);
    if (block.member == 0 && output < at.to.outputs)
      emit_total<Op>(p, block.element_of(p, at.to, block.group_of(p, output), output), a);
  }
}

/* Splits of tiles; a thread has an output of the tile at most. */
template <class Op> NDR_DEVICE void reduce_units(const ndr_params &p) {
  staged<Op> block(p);
  typename Op::Accumulator a = Op::identity();
  {
    tile_split whose = split_of(p, machine::block());
    typename staged<Op>::where at = block.find(p, whose.tile);
    range units = units_of(p, whose.split);
    /* A unit is copied while the one before it is folded: there is room for two. */
    typename staged<Op>::unit next = block.find_unit(p, units.begin);
    copying<typename Op::element> coming = block.copy_unit(p, at, next, 0);
    int room = block.own.smem_bytes / 2;
#pragma unroll 1
    for (i64 number = units.begin; number < units.end; number++) {
      typename staged<Op>::unit u = next;
      copying<typename Op::element> current = coming;
      const typename Op::element *stage;
      if (number + 1 < units.end) {
        next = block.find_unit(p, number + 1);
        coming = block.copy_unit(p, at, next, room);
        room = block.own.smem_bytes / 2 - room;
        stage = await_copy<1>(current);
      } else {
        stage = await_copy<0>(current);
      }
      if (block.slot < at.to.outputs) block.fold(p, a, stage, block.slot, u.index, u.length);
      machine::barrier();
    }
  }
  block.join(a);
  tile_split whose = split_of(p, machine::opaque(machine::block())); /* located again: kept, it would take registers */
  typename staged<Op>::place to = block.find(p, whose.tile).to;
  auto result = [&](int k) { return block.element_of(p, to, block.group_of(p, k), k); };
  if (block.member == 0 && block.slot < to.outputs) {
    if (splits_of(p) == 1)
      emit_total<Op>(p, result(block.slot), a);
    else
      save_partial<Op>(p, whose.split, whose.tile * p.tile_outputs + block.slot, Op::widen(a));
  }
  if (splits_of(p) > 1) join_splits<Op, false>(p, whose, whose.tile * p.tile_outputs, to.outputs, result);
}

template <class Op> NDR_DEVICE void tile_staged(const ndr_params &p) {
  if constexpr (knows(NDR_FACT_ONE_UNIT))
    reduce_tiles<Op>(p);
  else if constexpr (knows(NDR_FACT_UNITS))
    reduce_units<Op>(p);
  else if (p.units == 1)
    reduce_tiles<Op>(p);
  else
    reduce_units<Op>(p);
}

#endif
