/* What stands before a tile: the totals of tiles, posted by their blocks, as a tree. Blocks wait for those with smaller
 * numbers. Scans and selections share this. */
#ifndef NDR_SCAN_TREE_CUH
#define NDR_SCAN_TREE_CUH

#include "scan_params.h"

#include "posted.cuh"
#include "types.cuh"

NDR_DEVICE int scan_divide(const ndr_scan_divisor &by, int n) {
  return by.size == 1 ? n : (int)(machine::multiply_high((u32)n, by.magic) >> by.shift);
}
NDR_DEVICE i64 scan_divide_far(const ndr_scan_divisor &by, i64 n) {
  return n >> 31 == 0 && by.magic != 0 ? (i64)scan_divide(by, (int)n) : n / by.size;
}

/* What stands before a tile, by level of the tree, those without siblings left out. */
template <class State, int COLUMNS> struct scan_tiles {
  State levels[NDR_SCAN_LEVELS][COLUMNS];
  int count;
};

/* Where the totals of the nodes of a tile's line, or columns, are posted: word w of node n is n * words + w times
 * `pitch` behind. */
struct scan_slots {
  ndr_posted *at;
  i64 pitch;
};

template <class OP> NDR_DEVICE void scan_post(const scan_slots &slots, i64 node, const typename OP::State &state) {
  ndr_word w[OP::words];
  OP::all::save(state, w);
#pragma unroll
  for (int i = 0; i < OP::words; i++) machine::set_slot(slots.at + (node * OP::words + i) * slots.pitch, posted(w[i]));
}

template <class OP> NDR_DEVICE typename OP::State scan_await(const scan_slots &slots, i64 node) {
  ndr_posted slot[OP::words];
  ndr_word w[OP::words];
  bool here;
  do {
    here = true;
#pragma unroll
    for (int i = 0; i < OP::words; i++) slot[i] = machine::look_at(slots.at + (node * OP::words + i) * slots.pitch);
#pragma unroll
    for (int i = 0; i < OP::words; i++) here = here && is_posted(slot[i]);
  } while (!here && machine::wait());
#pragma unroll
  for (int i = 0; i < OP::words; i++) w[i] = word_of(slot[i]);
  return OP::all::load(w);
}

/* Number of a tile's ancestor in each level: digits of base 32 say how many siblings stand before. */
struct scan_node {
  i64 base, nodes, node; /* numbers of the level's first node, and of its nodes; the ancestor's, within the level */
  NDR_DEVICE scan_node(i64 tiles, i64 tile) : base(0), nodes(tiles), node(tile) {}
  NDR_DEVICE bool is_top() const { return nodes <= NDR_SCAN_SIBLINGS; }
  NDR_DEVICE int siblings() const { return (int)(node & (NDR_SCAN_SIBLINGS - 1)); }
  NDR_DEVICE bool is_last() const { return siblings() == NDR_SCAN_SIBLINGS - 1; }
  NDR_DEVICE i64 first() const { return base + node - siblings(); }
  NDR_DEVICE void rise() {
    base += nodes;
    nodes = (nodes + NDR_SCAN_SIBLINGS - 1) / NDR_SCAN_SIBLINGS;
    node /= NDR_SCAN_SIBLINGS;
  }
  /* Posts the total of the ancestor, which nobody needs of a level's last. */
  template <class OP> NDR_DEVICE void post(const scan_slots &slots, const typename OP::State &total) const {
    if (node + 1 < nodes) scan_post<OP>(slots, base + node, total);
  }
};

/* Finds what stands before a tile, whose total scan_node::post has posted: the totals of the tiles that have its
 * parent, of the parents before, and so on. Nobody waits for a prefix, only for totals: that of a parent is posted by
 * the tile that is its last child, as soon as that has those of the others. Each warp looks at one level. All threads
 * of the block call this; `room` has a state for each, and is free. What is found may be read behind a barrier. */
template <class OP>
NDR_DEVICE void scan_tiles_before(i64 tile_count, const scan_slots &slots, i64 tile, const typename OP::State &total,
                                  typename OP::State *room, scan_tiles<typename OP::State, 1> &tiles) {
  typedef typename OP::State State;
  const int thread = machine::thread(), warp = thread / NDR_WARP, lane = thread & (NDR_WARP - 1);
  scan_node own(tile_count, tile);
  int level = 0, place = 0; /* place: levels below that have siblings */
#pragma unroll 1
  for (; level < warp && !own.is_top(); level++) {
    place += own.siblings() > 0;
    own.rise();
  }
  const int siblings = level == warp ? own.siblings() : 0;
  if (lane < siblings) room[thread] = scan_await<OP>(slots, own.first() + lane);
  machine::warp_barrier();
  if (lane == 0 && siblings > 0) {
    State within = room[thread];
#pragma unroll 4
    for (int l = 1; l < siblings; l++) within = OP::joined(within, room[thread + l]);
    tiles.levels[place][0] = within;
    if (warp == 0 && own.is_last() && !own.is_top()) {
      own.rise();
      own.post<OP>(slots, OP::joined(within, total));
    }
  }
  machine::barrier();
  if (thread != 0) return;
  scan_node up(tile_count, tile);
  State run = total;
  bool last = true;
  place = 0;
#pragma unroll 1
  for (level = 0;; level++) {
    last = last && up.is_last();
    if (last) run = OP::joined(tiles.levels[level][0], run);
    place += up.siblings() > 0;
    if (up.is_top()) break;
    up.rise();
    if (last && level > 0) up.post<OP>(slots, run);
  }
  tiles.count = place;
}

#endif
