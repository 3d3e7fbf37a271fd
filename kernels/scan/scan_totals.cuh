/* What stands before a tile: blocks post the totals of tiles and of groups of tiles, and prefixes; a tile waits for
 * those of smaller numbers. Scans and selections share this. */
#ifndef NDR_SCAN_TOTALS_CUH
#define NDR_SCAN_TOTALS_CUH

#include "scan_params.h"

#include "posted.cuh"
#include "types.cuh"

NDR_DEVICE int scan_divide(const ndr_scan_divisor &by, int n) {
  return by.size == 1 ? n : (int)(machine::multiply_high((u32)n, by.magic) >> by.shift);
}
NDR_DEVICE i64 scan_divide_far(const ndr_scan_divisor &by, i64 n) {
  return n >> 31 == 0 && by.magic != 0 ? (i64)scan_divide(by, (int)n) : n / by.size;
}

/* What stands before a tile, from the nearest to the first, by level, or unless OP is chained as one level. */
template <class State, int COLUMNS> struct scan_tiles {
  State levels[NDR_SCAN_LEVELS][COLUMNS];
  int count;
  /* Adds what stands before the `before` levels so far: as a level, or unless OP is chained joined to the only one.
   * Returns how many there are then. */
  template <class OP> NDR_DEVICE int add(int before, int column, const State &level) {
    const int at = OP::chained ? before : 0;
    levels[at][column] = at < before ? OP::joined(level, levels[at][column]) : level;
    return at + 1;
  }
};

/* Where the nodes of a line, or of a column, are posted: word w of node n is at[(n * words + w) * pitch]. */
struct scan_slots {
  ndr_posted *at;
  i64 pitch;
};

template <class OP> NDR_DEVICE void scan_post(const scan_slots &slots, i64 node, const typename OP::State &state) {
  ndr_word w[OP::words];
  OP::save(state, w);
#pragma unroll
  for (int i = 0; i < OP::words; i++) machine::set_slot(slots.at + (node * OP::words + i) * slots.pitch, posted(w[i]));
}

/* A total that may not have been posted yet. */
template <class OP> struct scan_seen {
  ndr_posted slot[OP::words];
  NDR_DEVICE void look(const scan_slots &slots, i64 node) {
#pragma unroll
    for (int i = 0; i < OP::words; i++) slot[i] = machine::look_at(slots.at + (node * OP::words + i) * slots.pitch);
  }
  NDR_DEVICE bool is_here() const {
    bool here = true;
#pragma unroll
    for (int i = 0; i < OP::words; i++) here = here && is_posted(slot[i]);
    return here;
  }
  NDR_DEVICE typename OP::State state() const {
    ndr_word w[OP::words];
#pragma unroll
    for (int i = 0; i < OP::words; i++) w[i] = word_of(slot[i]);
    return OP::load(w);
  }
  NDR_DEVICE typename OP::State await(const scan_slots &slots, i64 node) {
    while (!is_here() && machine::wait()) look(slots, node);
    return state();
  }
};

/* Waits until the first `count` of several nodes, from `first` on, have been posted. */
template <class OP, int N>
NDR_DEVICE void scan_await_all(scan_seen<OP> (&seen)[N], const scan_slots &slots, i64 first, int count) {
  bool here;
  do {
    here = true;
#pragma unroll
    for (int i = 0; i < N; i++)
      if (i < count) seen[i].look(slots, first + i);
#pragma unroll
    for (int i = 0; i < N; i++) here = here && (i >= count || seen[i].is_here());
  } while (!here && machine::wait());
}

template <class OP> NDR_DEVICE typename OP::State scan_await(const scan_slots &slots, i64 node) {
  scan_seen<OP> seen;
  seen.look(slots, node);
  return seen.await(slots, node);
}

/* The nodes that a tile reads and posts; scan_params.h has their numbers. Groups have GROUP tiles. Groups of groups
 * have UPPER groups; an UPPER of 1: there are none. A GROUP of 1: tiles themselves have prefixes. */
template <int GROUP, int UPPER> struct scan_nodes {
  u32 tile, tiles; /* the tile's number in its line; tiles of the line */
  NDR_DEVICE scan_nodes(int n, int count) : tile((u32)n), tiles((u32)count) {}
  NDR_DEVICE u32 group() const { return tile / GROUP; }
  NDR_DEVICE u32 top() const { return tile / (GROUP * UPPER); }
  NDR_DEVICE int before_in_group() const { return (int)(tile % GROUP); }
  NDR_DEVICE int groups_before() const { return (int)(group() % UPPER); }
  NDR_DEVICE bool ends_group() const { return before_in_group() == GROUP - 1; }
  /* Whether the largest group ends with this tile, and others follow. */
  NDR_DEVICE bool leads_on() const { return ends_group() && groups_before() == UPPER - 1 && tile + 1 < tiles; }
  NDR_DEVICE i64 group_node(u32 number) const { return (i64)(GROUP > 1 ? tiles : 0) + number; }
  NDR_DEVICE i64 prefix_node(u32 number) const {
    return group_node(UPPER > 1 ? (tiles + GROUP - 1) / GROUP : 0) + (i64)number;
  }
};

/* Shared memory of the warp that finds what stands before a tile. */
template <class OP> struct scan_room { typename OP::State sums[NDR_WARP], parts[NDR_WARP / NDR_SCAN_GROUP]; };

/* What that warp has found so far. */
template <class OP> struct scan_finder {
  typedef typename OP::State State;
  scan_room<OP> &room;
  scan_tiles<State, 1> &tiles;
  const scan_slots &slots;
  State run;  /* the total of what has been found and of the tile */
  int levels; /* of `tiles`; the first lane alone knows */

  static NDR_DEVICE int lane() { return machine::thread() & (NDR_WARP - 1); }
  NDR_DEVICE void add(const State &level) {
    if (lane() == 0) levels = tiles.template add<OP>(levels, 0, level);
    run = OP::joined(level, run);
  }
  /* Of up to eight states. */
  static NDR_DEVICE State sum(const State *states, int count) {
    State s = states[0];
#pragma unroll
    for (int i = 1; i < NDR_SCAN_GROUP; i++)
      if (i < count) s = OP::joined(s, states[i]);
    return s;
  }
  /* Adds the first `count` of room.sums: those of the last eight, then the eights before. */
  NDR_DEVICE void add_eights(int count) {
    const int eights = count / NDR_SCAN_GROUP, rest = count % NDR_SCAN_GROUP, first = lane() * NDR_SCAN_GROUP;
    if (first < count) room.parts[lane()] = sum(room.sums + first, count - first);
    machine::warp_barrier();
    if (rest > 0) add(room.parts[eights]);
    if (eights > 0) add(sum(room.parts, eights));
  }
  /* The same of up to 32 * EACH nodes from `first` on: each lane has EACH of them. */
  template <int EACH> NDR_DEVICE void add_nodes(i64 first, int count) {
    const int own = count - lane() * EACH;
    scan_seen<OP> seen[EACH];
    machine::warp_barrier();
    scan_await_all(seen, slots, first + lane() * EACH, own);
    if (own > 0) {
      State s = seen[0].state();
#pragma unroll
      for (int i = 1; i < EACH; i++)
        if (i < own) s = OP::joined(s, seen[i].state());
      room.sums[lane()] = s;
    }
    machine::warp_barrier();
    if (count % EACH > 0) add(room.sums[count / EACH]);
    add_eights(count / EACH);
  }
};

/* How the tiles of scan_lines are grouped. */
template <class OP, bool CHAIN> struct scan_groups {
  static const int size = CHAIN ? 1 : NDR_SCAN_LINE_GROUP(OP::words);
  static const int upper = CHAIN || OP::words <= NDR_SCAN_FEW_WORDS ? 1 : NDR_SCAN_UPPER_GROUP;
  typedef scan_nodes<size, upper> nodes;
};

/* Finds what stands before a tile: the tiles before it in its group, the groups before that in the group of groups, and
 * the prefix of the largest group. If it `posts`, it also posts the group's total, or the next prefix, where the tile
 * is the last of a group. The tile's own total is posted by the caller, except under CHAIN, where none is. A warp calls
 * this. */
template <class OP, bool CHAIN>
NDR_DEVICE void scan_tiles_before(int tile_count, const scan_slots &slots, int tile, bool posts,
                                  const typename OP::State &total, scan_room<OP> &room,
                                  scan_tiles<typename OP::State, 1> &tiles) {
  typedef scan_groups<OP, CHAIN> groups;
  const bool first_lane = (machine::thread() & (NDR_WARP - 1)) == 0;
  const int GROUP = groups::size, UPPER = groups::upper;
  const typename groups::nodes nodes(tile, tile_count);
  scan_finder<OP> finder = {room, tiles, slots, total, 0};
  scan_seen<OP> prefix; /* looked at first: mostly it is there by the time that the rest is known */
  if (nodes.top() > 0) prefix.look(slots, nodes.prefix_node(nodes.top()));
  if constexpr (GROUP > 1) {
    const int before = nodes.before_in_group();
    finder.template add_nodes<GROUP / NDR_WARP>(tile - before, before);
  }
  if constexpr (UPPER > 1) {
    const int before = nodes.groups_before();
    if (posts && nodes.ends_group() && first_lane) scan_post<OP>(slots, nodes.group_node(nodes.group()), finder.run);
    finder.template add_nodes<1>(nodes.group_node(nodes.group() - (u32)before), before);
  }
  if (nodes.top() > 0) finder.add(prefix.await(slots, nodes.prefix_node(nodes.top())));
  if (posts && nodes.leads_on() && first_lane) scan_post<OP>(slots, nodes.prefix_node(nodes.top() + 1), finder.run);
  if (first_lane) tiles.count = finder.levels;
}

#endif
