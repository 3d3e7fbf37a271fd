/* Members of ndr_params that decide what code runs. Where a kernel is compiled at run time, NDR_FACTS says what they
 * are (NDR_FACT_... in params.h), and other code is left out: to compile it took most of the time. Ahead of time
 * nothing is known. */
#ifndef NDR_FACTS_CUH
#define NDR_FACTS_CUH

#include "machine.cuh"

#ifndef NDR_FACTS
#define NDR_FACTS 0
#endif

NDR_DEVICE constexpr bool knows(unsigned fact) {
  return (NDR_FACTS & fact) != 0;
}

NDR_DEVICE int splits_of(const ndr_params &p) {
  return knows(NDR_FACT_WHOLE_TILES) ? 1 : p.splits;
}
NDR_DEVICE int split_groups_of(const ndr_params &p) {
  return knows(NDR_FACT_ONE_STEP) ? 1 : p.split_groups;
}
NDR_DEVICE int is_partial(const ndr_params &p) {
  return knows(NDR_FACT_RESULTS) ? 0 : p.partial;
}
NDR_DEVICE int is_small(const ndr_params &p) {
  return knows(NDR_FACT_SMALL) ? 1 : p.small;
}
NDR_DEVICE int kept_count(const ndr_params &p) {
  return knows(NDR_FACT_NONE_KEPT) ? 0 : knows(NDR_FACT_ONE_KEPT) ? 1 : p.kept_count;
}
NDR_DEVICE int reduced_count(const ndr_params &p) {
  return knows(NDR_FACT_NONE_REDUCED) ? 0 : knows(NDR_FACT_ONE_REDUCED) ? 1 : p.reduced_count;
}
/* thread_few's rows. */
NDR_DEVICE int few_rows_of(const ndr_params &p) {
  const int known = NDR_FACTS / NDR_FACT_FEW_ROWS % 16;
  return known ? known : (int)p.length;
}

/* Lanes of a run of operands_rows. */
NDR_DEVICE ndr_param_threads row_lanes_of(const ndr_params &p) {
  const int known = NDR_FACTS / NDR_FACT_ROW_LANES % 8, log = known > 0 ? known - 1 : 0;
  return known > 0 ? ndr_param_threads{1 << log, log} : p.operand_short.lanes;
}

/* Kernels with teams. */
NDR_DEVICE bool is_mapped(const ndr_params &p) {
  return !knows(NDR_FACT_UNMAPPED) && p.thread.inner > 0;
}

/* Loops that are known to run once step to NDR_LAST: compilers spend much of their time on nested loops. */
#define NDR_LAST 0x7fffffffffffffffll
#define NDR_NEXT_RUN(run) (knows(NDR_FACT_NONE_REDUCED | NDR_FACT_ONE_REDUCED) ? NDR_LAST : (run))
#define NDR_NEXT_UNIT(unit) (knows(NDR_FACT_ONE_UNIT) ? NDR_LAST : (unit))

/* Columns of a chunk of `count` from number `first` on that a row of `columns` has; 0 or less: none. */
#define NDR_ROW_END(first, columns, count)                                                                             \
  (knows(NDR_FACT_WHOLE_CHUNKS) ? ((first) < (columns) ? (count) : 0)                                                  \
                                : (int)((columns) - (first) < (count) ? (columns) - (first) : (count)))

/* Threads of a team, and those of its lanes. */
#if NDR_FACTS & NDR_FACT_BLOCK_TEAMS
#define NDR_TEAM(threads) ((void)(threads), ndr_param_threads{256, 8})
#else
#define NDR_TEAM(threads) (threads)
#endif
#if NDR_FACTS & NDR_FACT_BLOCK_LANES
#define NDR_LANES(threads) ((void)(threads), ndr_param_threads{256, 8})
#elif NDR_FACTS & NDR_FACT_WARP_LANES
#define NDR_LANES(threads) ((void)(threads), ndr_param_threads{32, 5})
#else
#define NDR_LANES(threads) (threads)
#endif

/* The same of an ndr_param_thread and an ndr_param_groups. As functions these change what is compiled ahead of time. */
#if NDR_FACTS & NDR_FACT_FAR_OTHERS
#define NDR_NEAR_OTHERS(thread) 1
#else
#define NDR_NEAR_OTHERS(thread) (thread).near_others
#endif
#if NDR_FACTS & NDR_FACT_ROWS
#define NDR_GROUP_OUTPUTS(groups) 1
#else
#define NDR_GROUP_OUTPUTS(groups) (groups).outputs
#endif

#endif
