/* What the three kernel families share: the launch that configure fills in, and the arithmetic of splitting. Pure C. */
#ifndef NDR_GPUPLAN_LAUNCH_H
#define NDR_GPUPLAN_LAUNCH_H

#include "core/plan.h"
#include "spec/kernels.h"
#include "spec/params.h"

enum {
  NDR_THREADS = 256,
  NDR_WARP_THREADS = 32,
  NDR_BLOCK_WARPS = NDR_THREADS / NDR_WARP_THREADS,
  NDR_VECTOR_BYTES = 16,          /* of a vector load */
  NDR_MOST_SPLITS = 1 << 20,      /* of an output */
  NDR_SECTOR_BYTES = 32,          /* what caches hand out */
  NDR_LINE_BYTES = 128,           /* of a line of the second-level cache */
  NDR_MOST_THREAD_ELEMENTS = 4096 /* that a thread accumulates: rounding errors stay bounded */
};

/* How a kernel of several arrays reads them: its template arguments, and the order of axes. */
typedef struct ndr_launch_operands {
  int elements;  /* of a chunk */
  int steps;     /* chunks of a run, or of a row of columns, that a lane reads; 1 where the kernel does not use it */
  unsigned ways; /* NDR_WAY_..., for arrays that begin on boundaries */
  int walked;    /* the problem's reduced axis that is walked: it and number 0 have changed places in params.axes */
} ndr_launch_operands;

/* A kernel launch, all but its pointers. */
typedef struct ndr_launch {
  ndr_kernel kernel;
  unsigned grid;
  unsigned threads;
  unsigned shared_bytes; /* dynamic */
  int blocks;            /* that a multiprocessor runs at a time */
  int words;             /* that a state counts for where splits are chosen; 1 where states cost next to nothing */
  double block_bytes;    /* ndr_tiles.block_bytes */
  ndr_launch_operands operands;
  ndr_params params;
} ndr_launch;

/* A family's config: a launch for each way in which the array's first element may lie. */
typedef struct ndr_launches {
  ndr_launch aligned;   /* on a 16-byte boundary */
  ndr_launch unaligned; /* on a multiple of the element's size */
  ndr_launch odd;       /* complex elements on a multiple of their parts' size: no element begins a vector */
} ndr_launches;
_Static_assert(sizeof(ndr_launches) <= NDR_CONFIG_BYTES, "a plan has room for its launches");

/* The name of a kernel that plans name, and how many of its blocks a multiprocessor runs at a time; of those compiled
 * at run time at most, ndr_launch.blocks is what they are compiled for. */
const char *ndr_kernel_name(ndr_kernel kernel);
int ndr_kernel_blocks(ndr_kernel kernel);

/* Whether a load of the kernel is a vector rather than one element. */
bool ndr_kernel_loads_vectors(ndr_kernel kernel);

/* Whether the kernel reads several arrays (kernels/program/operands.cuh). */
static inline bool ndr_kernel_has_operands(ndr_kernel kernel) {
  return kernel > NDR_KERNEL_BEFORE_OPERANDS;
}

/* Whether it reads a table (kernels/program/table.cuh and zones.cuh). */
static inline bool ndr_kernel_has_table(ndr_kernel kernel) {
  return kernel == NDR_KERNEL_TABLE_COLUMNS || kernel == NDR_KERNEL_TABLE_TILES;
}

/* Whether the kernel is of the thread family, and so has ndr_params.thread. */
bool ndr_kernel_has_teams(ndr_kernel kernel);

/* What a kernel for the launch may be compiled for: a sum of NDR_FACT_... of params.h. */
unsigned ndr_launch_facts(const ndr_launch *launch);

/* The launch of the plan for an array whose first element is here. */
const ndr_launch *ndr_plan_launch(const ndr_plan *plan, const void *first);

extern const ndr_family ndr_family_tree, ndr_family_thread, ndr_family_tile;

/* The launches in a plan, for its configure, describe and execute. */
ndr_launches *ndr_plan_launches(const ndr_plan *plan);

/* Fills in a family's launch for data that begin on a 16-byte boundary, or for other data. */
typedef void ndr_launch_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch,
                                  bool on_boundary);

/* Completes the plan, whose first two launches are complete: the third, and the workspace, which has the partial states
 * of all operators and is 0 before and after each launch. */
void ndr_launches_end(ndr_plan *plan);

/* Fills in all launches of a family's plan, and its workspace. */
void ndr_launches_configure(ndr_plan *plan, ndr_launch_configure *configure);

/* What kernels divide by a number with. */
ndr_param_divisor ndr_divisor(int64_t by);

/* Completes an axis whose size is set, so that kernels can divide by it. */
void ndr_axis_magic(ndr_param_axis *axis);

static inline int64_t ndr_ceil_div(int64_t whole, int64_t by) {
  return (whole + by - 1) / by;
}

int64_t ndr_gcd(int64_t a, int64_t b);

/* Elements of dtype in a vector. */
int64_t ndr_vector_elements(ndr_dtype dtype);

/* Whether the size of the fastest axis, and the strides of all other axes, are multiples of a vector. */
bool ndr_vectors_aligned(const ndr_canonical *problem, const ndr_axis *fastest);

/* Whether the problem needs what kernels built ahead of time lack: skip_nan, or accumulation in f64 where f32 is the
 * rule. Integers need neither: they have no NaN and accumulate exactly. */
bool ndr_canonical_special(const ndr_canonical *problem);

/* Whether the problem needs that on a device for which nothing can be compiled at run time. Then only tree_strided can
 * run it. */
bool ndr_canonical_uncompiled(const ndr_canonical *problem, const ndr_device *device);
#define NDR_NO_COMPILER                                                                                                \
  "operators of one's own, masks, weights and initial values need run-time compilation (NVRTC), which was not found"
#define NDR_UNCOMPILED "skip_nan and f64 accumulation need run-time compilation (NVRTC), which was not found"

/* Bytes of the array that the problem reads. */
double ndr_canonical_bytes(const ndr_canonical *problem);

/* Fills in what every kernel needs: axes, counts, the kernel, a block of NDR_THREADS for each item, and no splits. */
void ndr_launch_begin(ndr_launch *launch, const ndr_canonical *problem, ndr_kernel kernel);

/* Cuts `units` into splits of at most split_units. A tile has `times` such ranges of units: its runs, or the splits of
 * its columns. Up to one_step splits of a tile are joined in one step. More are joined in groups, and then the groups;
 * a tile has about as many groups as a group has splits. Returns how many splits `units` has. */
int ndr_launch_split(ndr_launch *launch, int64_t units, int64_t split_units, int times, int one_step);

/* The same with splits of exactly split_units, and a last one of what is left of a range. The caller keeps their
 * number, `times` times those of a range, within NDR_MOST_SPLITS. */
int ndr_launch_cut(ndr_launch *launch, int64_t units, int64_t split_units, int times, int one_step);

/* The most splits of a tile of `outputs` outputs that a block joins in one step: a thread loads up to 4 states where
 * the whole block joins one output, and up to 16 where a warp or less joins each of several. */
int ndr_launch_step(int64_t outputs);

/* Threads that join the splits of each of `outputs` outputs. */
int ndr_launch_joiners(int64_t outputs);

/* Batches of loads, one after the other, in which a thread joins the splits of a tile of `outputs` outputs. The first
 * step joins group_splits splits at a time. States are taken to have one word. */
int64_t ndr_join_batches(int64_t outputs, int64_t splits, int64_t group_splits);

/* What splits are chosen for: so many tiles, each of so many bytes and outputs, whose states have so many words. A
 * block reads block_bytes in the time that its start and end take; 0: as much as in kernels built ahead of time. */
typedef struct ndr_tiles {
  int64_t count;
  double bytes;
  int64_t outputs;
  int words;
  double block_bytes;
} ndr_tiles;

/* Returns how many splits of a tile, up to `most`, take the least time. `blocks` blocks run at a time, and up to
 * one_step splits are joined in one step. */
int64_t ndr_best_splits(const ndr_tiles *tiles, int64_t blocks, int64_t most, int64_t one_step);

/* The time that all splits of all tiles take, a block each, in the bytes that one block of `blocks` reads meanwhile. */
double ndr_splits_time(const ndr_tiles *tiles, int64_t blocks, int64_t splits, int64_t one_step);

/* What the length of splits is chosen for: `runs` runs of run_bytes each. A block loads round_steps steps of step_bytes
 * at once. A split has at least `least` steps and, unless that is more, at most `most`. */
typedef struct ndr_rounds {
  int64_t runs;
  double run_bytes, step_bytes;
  int round_steps;
  int64_t least, most;
} ndr_rounds;

/* Returns how many steps of a split, 1 or a multiple of round_steps, take the least time. `blocks` blocks run at a time
 * on each of `multiprocessors`. Its model is fitted to tree_block; ndr_best_splits is for the other kernels. */
int64_t ndr_best_split_steps(const ndr_rounds *rounds, int multiprocessors, int blocks);

/* `splits` of the `units` of each of `tiles` tiles, unless splits would be longer than `longest`: then as few as keep
 * within that and fill whole waves of `blocks` blocks. */
int64_t ndr_bound_splits(int64_t splits, int64_t units, int64_t longest, int64_t tiles, int64_t blocks);

/* `count` threads, a power of 2, with the logarithm that kernels need. */
ndr_param_threads ndr_threads(int count);

/* Completes a launch: the array's extent, the room for partial states, and the grid. On entry params.work is the number
 * of tiles; on return it is the number of items. */
void ndr_launch_end(ndr_launch *launch);

/* What a launch does that takes time (terms.c). Bytes are given as microseconds at the device's bandwidth. */
typedef enum ndr_term {
  NDR_TERM_START,
  NDR_TERM_MEMORY,       /* bytes read from memory */
  NDR_TERM_STRIDED,      /* MEMORY, where neighbouring threads walk rows of their own; else 0 */
  NDR_TERM_FETCHED,      /* bytes read from the second-level cache */
  NDR_TERM_REREADS,      /* FETCHED, where a kept axis has stride 0; else 0 */
  NDR_TERM_SECTORS,      /* bytes of the sectors that loads touch; thread_elements: time beyond that of MEMORY */
  NDR_TERM_WRITTEN,      /* bytes of the sectors that results are written to */
  NDR_TERM_WAVES,        /* waves of blocks, one after the other */
  NDR_TERM_STEPS,        /* loads that a thread awaits one after the other, times waves */
  NDR_TERM_IDLE,         /* such loads, times the fraction of the device that is idle */
  NDR_TERM_STRETCHES,    /* rows or runs that a thread starts, or its rounds in a tile, times waves */
  NDR_TERM_COLUMNS,      /* columns that a thread accumulates, or accumulators that it joins, times waves */
  NDR_TERM_INSTRUCTIONS, /* thousands for each multiprocessor; each kernel counts in a unit of its own */
  NDR_TERM_OUTPUTS,      /* thousands of outputs for each multiprocessor */
  NDR_TERM_JOINS,        /* steps in which splits are joined: 0, 1 or 2 */
  NDR_TERM_JOINING,      /* batches of loads of states that a thread waits for in these steps */
  NDR_TERMS
} ndr_term;
void ndr_launch_terms(const ndr_canonical *problem, const ndr_device *device, const ndr_launch *launch,
                      double terms[NDR_TERMS]);

/* The name of the weights for a launch: its model (cost.c). */
const char *ndr_launch_model(const ndr_launch *launch);

/* What the problem's operator costs for each element, by the model. *op and *dtype become the operator and dtype that
 * were measured in its place. */
double ndr_launch_op_cost(const ndr_canonical *problem, ndr_op *op, ndr_dtype *dtype);

/* Predicted seconds of the launch, by the model that was fitted to measurements. */
double ndr_launch_cost(const ndr_canonical *problem, const ndr_device *device, const ndr_launch *launch);

/* The same of a family's launch for data that begin on a 16-byte boundary. */
double ndr_launches_cost(const ndr_canonical *problem, const ndr_device *device, ndr_launch_configure *configure);

size_t ndr_launch_describe(const ndr_plan *plan, char *text, size_t capacity);

#endif
