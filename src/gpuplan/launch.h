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
  NDR_VECTOR_BYTES = 16,
  NDR_SECTOR_BYTES = 32 /* what caches hand out */
};

/* One kernel launch, but for pointers. */
typedef struct ndr_launch {
  ndr_kernel kernel;
  unsigned grid;
  unsigned threads;
  unsigned shared_bytes; /* dynamic */
  ndr_params params;
} ndr_launch;

/* A family's config: how to launch where the array's first element lies on a 16-byte boundary, where it does not, and
 * for complex ones where it lies on a multiple of its parts' size only, from which no vector is ever reached. */
typedef struct ndr_launches {
  ndr_launch aligned, unaligned, odd;
} ndr_launches;
_Static_assert(sizeof(ndr_launches) <= NDR_CONFIG_BYTES, "a plan has room for its launches");

/* Of a kernel that plans name: its name, and the blocks that a multiprocessor runs at a time. */
const char *ndr_kernel_name(ndr_kernel kernel);
int ndr_kernel_blocks(ndr_kernel kernel);

/* The launch of the plan for an array whose first element is here. */
const ndr_launch *ndr_plan_launch(const ndr_plan *plan, const void *first);

extern const ndr_family ndr_family_tree, ndr_family_thread, ndr_family_tile;

/* The launches in a plan, for its configure, describe and execute. */
ndr_launches *ndr_plan_launches(const ndr_plan *plan);

/* Bytes at the start of the workspace that the counters take: 0 before and after each launch. */
size_t ndr_plan_counter_bytes(const ndr_plan *plan);

/* Completes the plan, whose first two launches are complete: the third, and the workspace, which is counters, then
 * partial states of all operators. */
void ndr_launches_end(ndr_plan *plan);

/* Completes an axis whose size is set, so that kernels can divide by it. */
void ndr_axis_magic(ndr_param_axis *axis);

int64_t ndr_gcd(int64_t a, int64_t b);

/* Elements of dtype in a vector. */
int64_t ndr_vector_elements(ndr_dtype dtype);

/* Whether every stride but the fastest axis's own, and the fastest axis's size, are whole vectors. */
bool ndr_vectors_aligned(const ndr_canonical *problem, const ndr_axis *lane);

/* Whether the problem asks for what the kernels built ahead of time do not know: skip_nan, or accumulation in f64 where
 * that is not the rule. Integers have no NaN and accumulate exactly. */
bool ndr_canonical_special(const ndr_canonical *problem);

/* The same, on a device for which nothing can be compiled at run time: then only tree_strided can run the problem. */
bool ndr_canonical_uncompiled(const ndr_canonical *problem, const ndr_device *device);
#define NDR_UNCOMPILED "skip_nan and f64 accumulation need run-time compilation (NVRTC), which was not found"

/* Bytes of the array that the problem reads. */
double ndr_canonical_bytes(const ndr_canonical *problem);

/* Fills in what every kernel needs: axes, counts, the kernel's name, one block of NDR_THREADS an item, no split. */
void ndr_launch_begin(ndr_launch *launch, const ndr_canonical *problem, ndr_kernel kernel);

/* Cuts `units` into splits of at most split_units, `times` times over: each of a tile's runs, or of the ranges of its
 * columns. Up to one_step splits of a tile are joined at once; more are grouped, about as many groups as splits a
 * group. Returns how many splits `units` has. */
int ndr_launch_split(ndr_launch *launch, int64_t units, int64_t split_units, int times, int one_step);

/* Splits that a block joins in one step, of so many outputs: a thread loads 16 states at most. Several outputs are
 * joined by a warp each, or less; one by the whole block. */
int ndr_launch_step(int64_t outputs);

/* Threads that join the splits of one of so many outputs. */
int ndr_launch_joiners(int64_t outputs);

/* Into how many splits, `most` at most, each of the tiles should be cut, where `slots` blocks run at a time, a tile is
 * so many bytes, and up to one_step splits are joined at once. */
int64_t ndr_best_splits(int64_t tiles, double bytes, int64_t slots, int64_t most, int64_t one_step);

/* So many threads, a power of 2, as kernels take them. */
ndr_param_threads ndr_threads(int count);

/* Sets the grid; params.work holds the number of tiles and becomes that of the items. */
void ndr_launch_end(ndr_launch *launch);

/* What a launch does that takes time (terms.c). Bytes are in microseconds at the device's bandwidth. */
typedef enum ndr_term {
  NDR_TERM_START,
  NDR_TERM_MEMORY,       /* read from memory */
  NDR_TERM_APART,        /* the same, where neighbouring threads walk rows of their own */
  NDR_TERM_FETCHED,      /* read from the second-level cache */
  NDR_TERM_AGAIN,        /* the same, where an axis repeats elements */
  NDR_TERM_TOUCHED,      /* sectors that loads touch; of single elements, more than memory takes as long for */
  NDR_TERM_WRITTEN,      /* sectors of results */
  NDR_TERM_WAVES,        /* of blocks, one after the other */
  NDR_TERM_STEPS,        /* loads that a thread awaits one after the other, times waves */
  NDR_TERM_IDLE,         /* the same, times the share of the device that is idle */
  NDR_TERM_STRETCHES,    /* of rows or runs that a thread starts, or rounds in a tile, times waves */
  NDR_TERM_COLUMNS,      /* that a thread accumulates, or states of its block that it joins, times waves */
  NDR_TERM_INSTRUCTIONS, /* thousands a multiprocessor, in some unit of the kernel's own */
  NDR_TERM_OUTPUTS,      /* thousands a multiprocessor */
  NDR_TERM_JOINS,        /* steps in which splits are joined */
  NDR_TERM_JOINING,      /* states that a thread joins */
  NDR_TERMS
} ndr_term;
void ndr_launch_terms(const ndr_canonical *problem, const ndr_device *device, const ndr_launch *launch,
                      double terms[NDR_TERMS]);

/* The name of the weights that belong to a launch. */
const char *ndr_launch_model(const ndr_launch *launch);

/* What the problem's operator costs, by the model: that of the operator and dtype that were measured in its place. */
double ndr_launch_op_cost(const ndr_canonical *problem, ndr_op *op, ndr_dtype *dtype);

/* Seconds that the launch takes, by the model that is fitted to measurements. */
double ndr_launch_cost(const ndr_canonical *problem, const ndr_device *device, const ndr_launch *launch);

size_t ndr_launch_describe(const ndr_plan *plan, char *text, size_t capacity);

#endif
