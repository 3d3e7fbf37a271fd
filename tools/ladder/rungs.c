/* The ladder's rungs, and what there is to say of each. kernels/ladder*.cuh has the kernels themselves. */
#include <string.h>

#include "ladder/ladder.h"

const char *const ladder_kind_names[LADDER_KINDS] = {"reduce", "axes", "nd", "scan", "select"};
const char *const ladder_op_names[LADDER_OPS] = {"sum", "prod", "min", "max", "polynomial"};
const char *const ladder_dtype_names[LADDER_DTYPES] = {"i32", "f32", "f64"};

#define REDUCE LADDER_REDUCE
#define AXES LADDER_AXES
#define ND LADDER_ND
#define SCAN LADDER_SCAN
#define SELECT LADDER_SELECT
#define KERNEL(name)                                                                                                   \
  LADDER_BY_KERNEL, LADDER_##name, 1, {                                                                                \
    0                                                                                                                  \
  }
#define ROWS(name)                                                                                                     \
  LADDER_BY_KERNEL, LADDER_##name, 1, {                                                                                \
    1                                                                                                                  \
  }

/* B is the block's threads, V the elements a thread takes; counts are for f32. */
const ladder_rung ladder_rungs[] = {
    {REDUCE, "1", "one atomic an element", NULL, KERNEL(ATOMIC_EACH),
     "Every thread adds its element to the one result in global memory with an atomic.\n"
     "Reads: each element once, in whole lines. Barriers: none. Shared memory: none. Atomics: n, all on one\n"
     "address, which the second-level cache works off one after the other: that alone is the time it takes. (Of\n"
     "integers a compiler may first fold those of a warp into one. There is no atomic product: that is a loop of\n"
     "compare-and-swap.)"},
    {REDUCE, "2", "shared atomics, one a block", "1", KERNEL(ATOMIC_SHARED),
     "A block gathers its B elements in one word of shared memory with atomics, and adds that word to the result\n"
     "with one global atomic.\n"
     "Reads: each element once. Barriers: 2 a block. Atomics: n in shared memory, n/B in global memory. The queue\n"
     "has moved from the chip's one address to one address a block."},
    {REDUCE, "3", "thread 0 adds the block", "2", KERNEL(ONE_ADDS),
     "Each thread leaves its element in shared memory; thread 0 adds all B of them and makes the one global\n"
     "atomic.\n"
     "Reads: each element once. Barriers: 1 a block. Shared memory: B words written, then B reads by one lane,\n"
     "each an instruction of its own. Atomics: n/B. One thread works, B - 1 wait."},
    {REDUCE, "4", "tree, modulo", "3", KERNEL(TREE_MODULO),
     "A binary tree in shared memory: at stride 1, 2, 4 ... the threads whose number is a multiple of 2 * stride\n"
     "add.\n"
     "Barriers: 1 + log2(B) a block. Bank conflicts: none, the lanes that work lie in banks of their own.\n"
     "Divergence: at each of the first five steps every warp, later every warp that still has a worker: the\n"
     "instructions are issued for all 32 lanes and serve one in 2, 4, 8 ..."},
    {REDUCE, "5", "tree, strided index", "4", KERNEL(TREE_STRIDED),
     "The same additions, done by the first threads: thread t works at index 2 * stride * t.\n"
     "Divergence: the last five steps of one warp and its atomic, as fewer than 32 threads have work there.\n"
     "Bank conflicts: lanes are 2 * stride words apart, so at stride s up to 2s of those that work meet in a bank:\n"
     "2, 4, 8 turns instead of one. Barriers: as before."},
    {REDUCE, "6", "tree, sequential addressing", "5", KERNEL(TREE_SEQUENTIAL),
     "The upper half is added to the lower half, then the upper quarter to the lower one: stride B/2, B/4 ... 1.\n"
     "Bank conflicts: none, neighbouring lanes touch neighbouring words. Divergence: as in rung 5, the last five\n"
     "steps of one warp. Half of the threads have nothing to do after their load."},
    {REDUCE, "7", "two elements on load", "6", KERNEL(TWO_ON_LOAD),
     "A block takes 2B elements; each thread loads two and adds them before the tree begins.\n"
     "Reads: each element once, two loads in flight a thread. Blocks, barriers, tree steps and atomics: half of\n"
     "rung 6."},
    {REDUCE, "8", "OVERLAP elements on load", "7", KERNEL(OVERLAP),
     "As rung 7 with V = OVERLAP elements a thread (--overlap), B apart so that each load of a warp is one whole\n"
     "line.\n"
     "Reads: each element once, several loads in flight a thread, which is what hides the memory's latency.\n"
     "Barriers and atomics: those of n/(BV) blocks."},
    {REDUCE, "9", "last warp unrolled", "8", KERNEL(LAST_WARP),
     "The last six steps, 64 words to 1, are left to the first warp, without block barriers and without branches:\n"
     "all 32 lanes work, and what the upper ones compute is not used.\n"
     "Barriers: six a block fewer. Divergence: none but at the final atomic. Two __syncwarp a step are needed, one\n"
     "between reading and writing and one after, since a warp's threads no longer run in step (from Volta, 2017,\n"
     "on); code that relies on volatile instead is wrong on such hardware."},
    {REDUCE, "10", "completely unrolled", "9", KERNEL(UNROLLED),
     "The block size is a template argument, so the tree is straight code: no counter, no comparison with B.\n"
     "Reads, barriers, conflicts: as in rung 9. What is saved are the instructions in between."},
    {REDUCE, "11", "cascading, log2(n) a thread", "10", KERNEL(CASCADE),
     "Algorithm cascading: a grid of n/(B log2 n) blocks walks over the array, log2(n) elements a thread, then the\n"
     "tree.\n"
     "Brent: so many make the work of all threads O(n), that of one, at O(log n) time. Reads: each element once,\n"
     "in whole lines. Barriers, tree and atomics: those of the fewer blocks."},
    {REDUCE, "12", "shuffles, one barrier", "11", KERNEL(SHUFFLE),
     "Lanes exchange registers (__shfl_xor_sync): 5 steps a warp without memory; the warps' results cross shared\n"
     "memory once, and the first warp folds them in 5 more.\n"
     "Barriers: 1 a block. Shared memory: B/32 words. Bank conflicts: none."},
    {REDUCE, "13", "vector loads", "12", KERNEL(VECTOR),
     "Rung 12 with loads of 16 bytes: 4 elements an instruction.\n"
     "Reads: each element once; a quarter of the load instructions, each of 4 lines a warp, so that more bytes are\n"
     "in flight. What is left over at the end is read one by one."},
    {REDUCE, "14a", "launch again", "13", KERNEL(RELAUNCH),
     "Blocks leave their results in memory, and the same kernel is launched on those until one is left: the end of\n"
     "a launch is the barrier that all blocks share.\n"
     "Reads: n, then n/(B log2 n) and so on. Atomics: none, so floats come out the same at every run. A launch\n"
     "more costs about as much as reading several megabytes."},
    {REDUCE, "14b", "last block done", "14a", KERNEL(LAST_BLOCK),
     "One launch: each block that is done takes a ticket from a counter, and the one with the last ticket adds all\n"
     "blocks' results, in their order.\n"
     "Atomics: one a block, on the counter, behind a fence. The same result at every run. The counter has to be 0\n"
     "before; the last block puts it back."},
    {REDUCE, "15", "Thrust", NULL, KERNEL(THRUST),
     "thrust::transform_reduce. It allocates, launches CUB's kernels, and waits for the result on the host: what a\n"
     "line of code costs."},
    {REDUCE, "16", "CUB block + atomic", NULL, KERNEL(CUB_BLOCK),
     "Rung 11's loads, then cub::BlockReduce, then one atomic a block: the tree bought instead of built."},
    {REDUCE, "17", "CUB device", NULL, KERNEL(CUB_DEVICE),
     "cub::DeviceReduce with its workspace allocated before: two launches, tuned vector loads."},
    {REDUCE,
     "18",
     "ours",
     NULL,
     LADDER_BY_US,
     LADDER_KERNELS,
     1,
     {0},
     "ndreduce over the array: vector loads, a tree of shuffles, the last block done adds the blocks' states in a\n"
     "fixed order; `ndbench --explain` prints the plan. There is no polynomial among its operators."},

    {AXES, "a1", "thread a row", NULL, ROWS(THREAD_ROWS),
     "One thread adds one row, element after element.\n"
     "Reads: a warp's 32 loads are a row apart: 32 sectors of 32 bytes for 32 elements of 4, an eighth of what is\n"
     "moved is wanted; the rest helps only if the cache keeps it until the next columns are read. Barriers,\n"
     "atomics: none."},
    {AXES, "a2", "thread a column", NULL, KERNEL(THREAD_COLUMNS),
     "One thread adds one column. The loop is that of a1 along the other axis.\n"
     "Reads: a warp's 32 loads are neighbours, 4 sectors, all of it wanted. Threads: as many as columns."},
    {AXES, "a3", "block a row", NULL, ROWS(BLOCK_ROWS),
     "A block reads a row, B apart a thread, and folds it with shuffles.\n"
     "Reads: whole lines, where the row is aligned. Barriers: 2 a row. Rows shorter than B leave threads without\n"
     "work, and each still costs a tree."},
    {AXES, "a4", "32 x 32 tile", "a1", ROWS(TILE),
     "A block of 256 has 32 rows: its warps fetch 32 x 32 elements in whole lines into shared memory, then lane r\n"
     "adds row r from there.\n"
     "Reads: whole lines. Barriers: 2 a tile. Bank conflicts: rows of the tile are 32 words, so the 32 lanes that\n"
     "read down it are all in one bank: 32 turns instead of one."},
    {AXES, "a5", "32 x 33 tile, padded", "a4", ROWS(TILE_PADDED),
     "The same with rows of 33 words: element (r, c) is in bank (r + c) mod 32, so down the tile each lane has its\n"
     "own.\n"
     "Bank conflicts: none."},
    {AXES, "a6", "32 x 128 tile, padded", "a5", ROWS(TILE_WIDE),
     "The tile holds 128 columns of 32 rows.\n"
     "Reads: four lines of a row in flight a warp. Barriers: a quarter of a5's. Bank conflicts: none."},
    {AXES, "a7", "block a row, pitched", "a3", ROWS(BLOCK_PITCHED),
     "a3 over rows that are padded to a multiple of 512 bytes, as cudaMallocPitch does it.\n"
     "Reads: every row begins with a line, so a warp's read is 4 sectors and never 5. It matters for rows of an\n"
     "odd number of elements; 256 x 262144 is aligned either way."},
    {AXES, "a8", "CUB segmented", NULL, ROWS(CUB_SEGMENTED),
     "cub::DeviceSegmentedReduce, a segment a row, its workspace allocated before."},
    {AXES,
     "a9r",
     "cuBLAS gemv, rows",
     NULL,
     LADDER_BY_CUBLAS,
     LADDER_KERNELS,
     1,
     {1},
     "The matrix times a vector of ones: sums of f32 and f64 only."},
    {AXES,
     "a9c",
     "cuBLAS gemv, columns",
     NULL,
     LADDER_BY_CUBLAS,
     LADDER_KERNELS,
     1,
     {0},
     "The transposed matrix times a vector of ones: sums of f32 and f64 only."},
    {AXES,
     "a10r",
     "ours, rows",
     NULL,
     LADDER_BY_US,
     LADDER_KERNELS,
     1,
     {1},
     "ndreduce over dim 1: tree, tile or thread, as the planner finds; `ndbench --explain` says which and why."},
    {AXES,
     "a10c",
     "ours, columns",
     NULL,
     LADDER_BY_US,
     LADDER_KERNELS,
     1,
     {0},
     "ndreduce over dim 0, split among more blocks where there are few columns."},

    {ND,
     "n1a",
     "trailing dims, one kernel",
     NULL,
     LADDER_BY_US,
     LADDER_KERNELS,
     2,
     {3, 4},
     "The last two of five dims at once: each result is one contiguous run of D * E elements.\n"
     "Reads: each element once. Neighbouring dims merge, so this is a matrix reduced over its rows."},
    {ND,
     "n1b",
     "trailing dims, two calls",
     NULL,
     LADDER_BY_US_TWICE,
     LADDER_KERNELS,
     2,
     {3, 4},
     "First over the last dim into an array of A * B * C * D, then over the last dim of that.\n"
     "Reads: each element once, and 1/E of them again, after they were written: little, but a launch more."},
    {ND,
     "n2a",
     "leading dims, one kernel",
     NULL,
     LADDER_BY_US,
     LADDER_KERNELS,
     2,
     {0, 1},
     "The first two dims at once: results are C * D * E neighbours, each the sum of A * B elements that far apart.\n"
     "Reads: each element once, whole lines, as neighbouring threads have neighbouring results."},
    {ND,
     "n2b",
     "leading dims, two calls",
     NULL,
     LADDER_BY_US_TWICE,
     LADDER_KERNELS,
     2,
     {0, 1},
     "First over dim 1, then over dim 0: 1/B of the elements are written and read once more."},
    {ND,
     "n3a",
     "interior dims, one kernel",
     NULL,
     LADDER_BY_US,
     LADDER_KERNELS,
     2,
     {1, 2},
     "The second and third dim: results are D * E neighbours for each of A.\n"
     "Reads: each element once, whole lines where D * E is not small."},
    {ND,
     "n3b",
     "interior dims, two calls",
     NULL,
     LADDER_BY_US_TWICE,
     LADDER_KERNELS,
     2,
     {1, 2},
     "First over dim 2, then over dim 1: 1/C of the elements are written and read once more."},
    {ND,
     "n4a",
     "dims 2 and 4, one kernel",
     NULL,
     LADDER_BY_US,
     LADDER_KERNELS,
     2,
     {1, 3},
     "The second and fourth dim (counted from 1), with kept dims between and behind them: nothing merges.\n"
     "Reads: each element once, runs of E neighbours."},
    {ND,
     "n4b",
     "dims 2 and 4, two calls",
     NULL,
     LADDER_BY_US_TWICE,
     LADDER_KERNELS,
     2,
     {1, 3},
     "First over dim 4, then over dim 2: 1/D of the elements are written and read once more."},

    {SCAN, "s1", "Hillis and Steele", NULL, KERNEL(HILLIS_STEELE),
     "Inclusive prefix sums of a tile of B elements: log2(B) steps, in which each thread adds what lies 1, 2, 4 ...\n"
     "before its own. Two buffers take turns. The tiles' totals are scanned likewise, in further launches, and a last\n"
     "kernel adds to each tile what is before it.\n"
     "Additions: B log2(B) a tile. Barriers: 1 + log2(B). Bank conflicts: none. Divergence: the first warp, in the\n"
     "first five steps. Memory: the result is written, read and written again."},
    {SCAN, "s2", "up-sweep, down-sweep", "s1", KERNEL(SWEEPS),
     "Blelloch's two sweeps over a tile of 2B elements: up the tree of pairs as a reduction does, then down it again,\n"
     "each node handing to its left child what is before the node, and to the right one that and the left one's sum.\n"
     "What arrives is exclusive; each thread adds its own elements, which makes it inclusive as the other rungs are.\n"
     "Additions: about 2 an element. Barriers: 2 log2(2B) + 1 a tile. Bank conflicts: at stride s the threads that\n"
     "work are 2s words apart, so that up to 2s of them meet in a bank, as in rung 5 of reduce, and on both ways."},
    {SCAN, "s3", "sweeps, padded", "s2", KERNEL(SWEEPS_PADDED),
     "The same with a word left free after every 32 (of 4 bytes; 16 of 8), and one more after every 32 of these.\n"
     "Element i is at word i + i/32 + i/1024, so that elements a power of two apart are in different banks.\n"
     "Bank conflicts: none. All else as in s2."},
    {SCAN, "s4", "shuffles", "s3", KERNEL(SCAN_SHUFFLE),
     "A warp scans its 32 elements in registers (__shfl_up_sync, five steps), and the first warp the totals of the\n"
     "warps, with Hillis and Steele's steps: what lanes add in vain costs nothing.\n"
     "Barriers: 2 a tile of B elements. Shared memory: B/32 words. Bank conflicts: none."},
    {SCAN, "s5", "work per thread", "s4", KERNEL(SCAN_SERIAL),
     "64 bytes of neighbours a thread (16 elements of f32): it adds them one after the other, shuffles scan the\n"
     "threads' totals as in s4. The tile passes through padded shared memory, so that warps read and write memory in\n"
     "whole lines though each thread has neighbours.\n"
     "Reads: 16 in flight a thread. Barriers: 5 a tile of 16B elements. Bank conflicts: none. Memory: still read,\n"
     "written, read and written; the launches for totals and for totals of totals are fewer."},
    {SCAN, "s6", "three phases", "s5", KERNEL(SCAN_PHASES),
     "Reduce the tiles; scan their totals, by one block; then scan each tile with what is before it.\n"
     "Memory: three passes in place of four, as the result is written once. Launches: 3."},
    {SCAN, "s7", "one pass, look-back", "s6", KERNEL(LOOK_BACK),
     "Decoupled look-back: a block publishes its tile's total, looks at the 32 tiles before until one has its prefix\n"
     "and all after that have totals, adds these up, and publishes its own prefix. A counter gives out tiles in the\n"
     "order in which blocks begin, so that nobody waits for a block that has not begun.\n"
     "Memory: each element is read once and written once. Atomics: one a block. Order of additions: totals are always\n"
     "added to a prefix from left to right, as the prefix itself was formed, so that floats come out the same at "
     "every\n"
     "run, wherever the nearest prefix was found."},
    {SCAN, "s8", "one pass, tree of totals", "s7", KERNEL(LOOK_UP),
     "A tile's prefix comes from a tree: 32 tiles have a parent, 32 parents another. The last of 32 siblings adds up\n"
     "their total and publishes it for the parent. A block adds, level by level, the totals of the siblings before.\n"
     "Memory, atomics: as in s7. No chain of prefixes: with 2^14 tiles a block waits three times, each time for "
     "values\n"
     "that many blocks publish side by side. Order of additions: that of the tree, so the same at every run."},
    {SCAN, "s9", "CUB device", NULL, KERNEL(CUB_SCAN),
     "cub::DeviceScan, one pass with look-back, its workspace allocated before. Its sums of floats may differ from "
     "run\n"
     "to run."},
    {SCAN,
     "s10",
     "ours",
     NULL,
     LADDER_BY_US,
     LADDER_KERNELS,
     1,
     {0},
     "ndr_scan over the array: one pass, in which a tile reads the totals of its group, in a kernel compiled for the\n"
     "array's layout. While a block waits for those, it finds the total of its next tile.\n"
     "Running sums are f64 and rounded once at each place; those of integers are 64 bits wide, which is twice as much\n"
     "to write for i32. There is no polynomial among its operators."},

    {SELECT, "c1", "one atomic an element", NULL, KERNEL(SELECT_ATOMIC),
     "Each thread whose element is to be kept takes the next place in the result from a counter.\n"
     "Reads: each element once. Atomics: one for each element that is kept, all on one address. (A compiler may fold\n"
     "those of a warp into one, which is c3.) Order: lost, as warps come in any order; results are compared sorted."},
    {SELECT, "c2", "mark, scan, scatter", NULL, KERNEL(SELECT_SCATTER),
     "A kernel writes 1 for each element that is kept, else 0; s6 makes prefix sums of these, which are places; a "
     "last\n"
     "kernel writes each kept element to its place.\n"
     "Memory: x twice, and the marks, of 4 bytes an element, written, read twice, written and read. Launches: 5.\n"
     "Atomics: none. Order: kept."},
    {SELECT, "c3", "warp-aggregated atomics", "c1", KERNEL(SELECT_WARP),
     "The lanes of a warp vote (__ballot_sync); the first takes places for all of them with one atomic, and each "
     "counts\n"
     "the votes before its own.\n"
     "Atomics: at most one for 32 elements. Shuffles: 2 a warp. Writes: neighbours of a warp are neighbours in the\n"
     "result. Order: lost."},
    {SELECT, "c4", "one pass, tree of counts", "c2", KERNEL(SELECT_LOOK_UP),
     "As s8 with numbers of kept elements for totals; a tile's kept elements are first gathered in shared memory, "
     "then\n"
     "written as one run.\n"
     "Memory: each element read once, each kept one written once, in whole lines. Atomics: one a block. Order: kept.\n"
     "Bank conflicts: where threads that keep different numbers gather."},
    {SELECT, "c5", "CUB device", NULL, KERNEL(CUB_SELECT),
     "cub::DeviceSelect::If, one pass with look-back, its workspace allocated before."},
    {SELECT,
     "c6",
     "ours",
     NULL,
     LADDER_BY_US,
     LADDER_KERNELS,
     1,
     {0},
     "ndr_select with a mask, which says what is less than the limit and was made before. The mask is read twice,\n"
     "as 16 bytes a load: to count what each tile keeps, then to move it. A block lists the places that it keeps,\n"
     "and only sectors with such places are read.\n"
     "Memory: two bytes of mask more for each element; where little is kept, less of the elements. Order: kept."},
    {SELECT, "q1", "quicksort by partition", NULL, KERNEL(QUICKSORT),
     "Sorts the whole array. A block takes a segment from a queue and cuts it in three, less than a pivot (the median\n"
     "of three), equal to it and greater: a selection to both ends at once. While both ends are longer than 4B\n"
     "elements it leaves one to the queue and goes on with the other; shorter ones it sorts in shared memory by a\n"
     "bitonic network.\n"
     "Memory: each level reads and writes its segments twice; about log2(n / 4B) levels. Atomics: a few for each\n"
     "segment. The first cut is made by one block alone, and under emulation, where blocks run one after the other,\n"
     "the first block makes all."},
    {SELECT, "q2", "CUB radix sort", NULL, KERNEL(CUB_SORT),
     "cub::DeviceRadixSort: 8 bits of the keys a pass, its workspace allocated before."},
};
const int ladder_rung_count = sizeof ladder_rungs / sizeof *ladder_rungs;

bool ladder_overlaps(const ladder_rung *rung) {
  return rung->kernel == LADDER_OVERLAP || rung->kernel == LADDER_LAST_WARP || rung->kernel == LADDER_UNROLLED;
}

/* As the loops of the kernels are unrolled. */
int ladder_loads(const ladder_rung *rung, const ladder_options *options) {
  int overlap = options->overlap, tile = 64 / (int)ladder_bytes(options->dtype);
  if (ladder_overlaps(rung)) return overlap < 4 ? overlap : 4;
  switch (rung->kernel) {
  case LADDER_ATOMIC_EACH:
  case LADDER_ATOMIC_SHARED:
  case LADDER_ONE_ADDS:
  case LADDER_TREE_MODULO:
  case LADDER_TREE_STRIDED:
  case LADDER_TREE_SEQUENTIAL:
  case LADDER_HILLIS_STEELE:
  case LADDER_SCAN_SHUFFLE:
  case LADDER_SELECT_ATOMIC:
  case LADDER_SELECT_SCATTER:
  case LADDER_SELECT_WARP: return 1;
  case LADDER_TWO_ON_LOAD:
  case LADDER_SWEEPS:
  case LADDER_SWEEPS_PADDED: return 2;
  case LADDER_TILE_WIDE: return 16;
  case LADDER_SCAN_SERIAL:
  case LADDER_SCAN_PHASES:
  case LADDER_LOOK_BACK:
  case LADDER_LOOK_UP:
  case LADDER_SELECT_LOOK_UP: return tile;
  case LADDER_QUICKSORT: return 8;
  default: return 4;
  }
}

bool ladder_rung_is(const ladder_rung *rung, const char *text) {
  size_t length = strlen(text);
  const char *rest = rung->number + length;
  return length > 0 && strncmp(rung->number, text, length) == 0 && (!*rest || (*rest >= 'a' && *rest <= 'z'));
}
