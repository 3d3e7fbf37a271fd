/* Problems as values and as text, plans that are made once and executed often, measurements to choose families by, and
 * accumulators for data that arrives in slabs.
 *
 *   ndr_problem problem = NDR_PROBLEM_INIT;
 *   DLDevice cpu = {kDLCPU, 0};
 *   ndr_plan *plan = NULL;
 *   ndr_status status = ndr_problem_parse("sum f32 [2,3] /0", &problem);
 *   if (status == NDR_OK) status = ndr_plan_create(&plan, &problem, cpu, NULL, NULL);
 *   float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, sums[3];
 *   void *results[] = {sums};
 *   if (status == NDR_OK) status = ndr_plan_execute(plan, x, results, NULL, 0, NULL);
 *   if (status == NDR_OK) printf("%g %g %g\n", sums[0], sums[1], sums[2]); // prints 5 7 9
 *   else puts(ndr_last_error());
 *   ndr_plan_destroy(plan);
 *
 * What ndreduce.h says of arrays, errors, threads and structs that start with their size holds here, too. */
#ifndef NDREDUCE_PLAN_H
#define NDREDUCE_PLAN_H

#include "ndreduce/ndreduce.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Problems --------------------------------------------------------------------------------------------------- */

/* A reduction without data: all that its results depend on but the elements. Start from NDR_PROBLEM_INIT; fill it in
 * with ndr_problem_make, ndr_problem_parse or ndr_h5_problem, or by hand. Functions that fill one in write as far as
 * its size says, and fail with NDR_ERR_UNSUPPORTED where that leaves out something that is set.
 *
 * The text form is  OPS DTYPE [SIZE:STRIDE,...] /DIMS OPTIONS
 *   sum f32 [128,64:-1,32] /0,2
 *   mean,var f64 [1000,1000] /all keepdims skipnan ddof=1 acc=f64
 * OPS is a comma list; a stride is in elements and defaults to that of the compact row-major array of the sizes; DIMS
 * is a comma list, "all", or nothing for none; [] is a 0-d array. */
typedef struct ndr_problem {
  size_t size;
  ndr_dtype dtype;
  int ndim;
  int64_t shape[NDR_MAX_DIMS];
  int64_t strides[NDR_MAX_DIMS]; /* in elements */
  int dim_count;                 /* -1: all dims */
  int dims[NDR_MAX_DIMS];        /* negative ones count from the end */
  int op_count;
  ndr_op ops[NDR_MAX_OPS];
  int keepdims, skip_nan; /* these and the following as in ndr_options */
  double ddof;
  ndr_accumulate accumulate;
} ndr_problem;
#define NDR_PROBLEM_INIT                                                                                               \
  { sizeof(ndr_problem), NDR_BOOL, 0, {0}, {0}, 0, {0}, 0, {NDR_SUM}, 0, 0, 0.0, NDR_ACCUMULATE_DEFAULT }

/* The problem of reducing arrays laid out like `array` over dims by ops, with default options, which may then be set.
 * Dims are written out in ascending order, and strides where the array has none. Reads no element. Errors: as
 * ndreduce. */
NDR_API ndr_status ndr_problem_make(ndr_problem *problem, const DLTensor *array, int dim_count, const int *dims,
                                    int op_count, const ndr_op *ops);

/* Parses text; fails with NDR_ERR_PARSE and a sentence that names the column, or as ndreduce would for bad dims. On
 * failure *problem is left as it was. */
NDR_API ndr_status ndr_problem_parse(const char *text, ndr_problem *problem);

/* Prints so that parsing gives the same problem; strides only where they are not the default. At most capacity bytes
 * with the final 0. Returns the length of the whole text, as snprintf does; 0, with the reason in ndr_last_error(),
 * where a member holds what no problem may. */
NDR_API size_t ndr_problem_print(const ndr_problem *problem, char *text, size_t capacity);

/* The elements that the problem touches, relative to element 0: offsets *low <= 0 to *high (inclusive; high < low when
 * empty). A buffer of high - low + 1 elements with element 0 at -low holds it. Fails with NDR_ERR_OVERFLOW. */
NDR_API ndr_status ndr_problem_extent(const ndr_problem *problem, int64_t *low, int64_t *high);

/* What the result of problem->ops[i] must look like, as ndr_result_describe says it of an array: result->shape has room
 * for NDR_MAX_DIMS sizes and is the caller's. The device is set to the CPU. */
NDR_API ndr_status ndr_problem_result(const ndr_problem *problem, int i, DLTensor *result);

/* ---- Plans: the choice made once, executed often ---------------------------------------------------------------- */

typedef struct ndr_plan ndr_plan;

/* A device as the planner sees it: plain numbers, so that plans can be made for a machine that is not there. */
typedef struct ndr_device {
  size_t size;       /* sizeof(ndr_device) */
  DLDeviceType type; /* kDLCPU or kDLCUDA */
  int id;
  int units;                      /* streaming multiprocessors, or CPU threads */
  int threads_per_unit;           /* most resident threads a multiprocessor; 1 on a CPU */
  int64_t shared_bytes_per_unit;  /* shared memory a multiprocessor, or first-level data cache a core */
  int64_t shared_bytes_per_block; /* the most one block may have */
  int64_t l2_bytes;
  double bandwidth; /* bytes per second from main memory */
  int capability;   /* compute capability x 10 (90 is Hopper); 0 on a CPU */
  int compiles;     /* not 0: kernels can be compiled at run time (NVRTC was found); 0 on a CPU */
} ndr_device;

/* Plans the reduction of arrays of a problem on a device into results laid out like `results` (NULL: compact), of which
 * only shapes, strides, dtypes and devices count. Of options those members that change no result; under NDR_MEASURE
 * families are timed on options->stream. On success *plan must be given to ndr_plan_destroy; on failure it is NULL. A
 * plan is immutable: any number of threads may execute it. Errors: as ndreduce. */
NDR_API ndr_status ndr_plan_create(ndr_plan **plan, const ndr_problem *problem, DLDevice device,
                                   const DLTensor *const *results, const ndr_options *options);

/* Bytes of workspace that one execute needs, in the memory of the plan's device, aligned to 256; may be 0. */
NDR_API size_t ndr_plan_workspace(const ndr_plan *plan);

/* Runs the plan: data is the address of element 0 (byte_offset added), results[i] that of result i's element 0, each
 * aligned to its dtype as in ndreduce.
 *   workspace  workspace_bytes bytes of the caller's, at least ndr_plan_workspace() and aligned to 256, whatever they
 *              contain; or NULL and 0: the library lends one
 *   stream     as in ndr_options; it may be capturing
 *
 * With the caller's workspace nothing is allocated. On a GPU an execute that splits its reduction clears a few of the
 * workspace's bytes first, in a node of its own where the stream is capturing. Executes that may overlap (in several
 * threads on the CPU; on several streams, or as parallel branches of a graph, on a GPU) need a workspace each; those on
 * one stream may share one.
 *
 * A workspace that is lent on a GPU is one that the library keeps for the stream (for the last 32 streams), so that
 * device memory is allocated by the first execute on a stream and by those that need more than any before them, or
 * that meet another thread's there; while the stream is capturing, a node of the graph allocates it at every replay. On
 * the CPU host memory is taken and freed. What is lent is never shared by executes that overlap. */
NDR_API ndr_status ndr_plan_execute(const ndr_plan *plan, const void *data, void *const *results, void *workspace,
                                    size_t workspace_bytes, void *stream);

/* Writes the choice and why the other families lost into text, at most capacity bytes with the final 0. Returns the
 * length of the whole description, as snprintf does. The first line is the problem and the device. The second starts
 * with the name of the family that was chosen: outputs and elements an output, bytes, and times per execute, the cost
 * model's ("predicted") and the clock's ("measured", where there is one); the third is how it works. Then comes a
 * line for each other family, with its reason, and, where NDR_MEASURE could not time anything, why. */
NDR_API size_t ndr_plan_describe(const ndr_plan *plan, char *text, size_t capacity);

/* Frees a plan; NULL is allowed. No execute of it may be running. */
NDR_API void ndr_plan_destroy(ndr_plan *plan);

/* ---- Measurements: choices by the clock ---------------------------------------------------------------------------
 *
 * Under NDR_MEASURE the first plan of a problem on a device times the families that can run it, each with the
 * parameters that it would choose for itself. They read the caller's array (ndreduce, ndreduce_many
 * and ndr_accumulator_add), or up to 2 GiB of zeros (ndr_plan_create), and write into scratch,
 * never into the caller's results; all scratch is freed before the call returns. The families run in turns, each once
 * or twice to begin with and those that are not clearly slower again, for about 0.1 s in all beside the loading of
 * kernels, or, where a run takes longer than that, three or four times. Families that the cost model predicts to take
 * 16 times as long as the best are left out. The model's choice stands unless another is more than 3 % faster.
 *
 * On a GPU a turn is one run on an array that comes from memory: before each, scratch of twice the second-level
 * cache's size is read, which also hides the launch. What counts is the median of about twenty; the call waits for
 * them. On a CPU the best turn counts, short runs are repeated in each, and a small array comes from the cache.
 *
 * Where nothing can be timed (options.device describes the device, the stream is capturing, memory for scratch runs
 * out) the cost model decides, and ndr_plan_describe says why. With options.force_family there is nothing to choose,
 * and nothing is timed.
 *
 * The choice is remembered for the process, and from then on every plan of that problem on such a device takes it,
 * under NDR_ESTIMATE too; to measure again, forget. Problems are the same when their canonical forms are: operators,
 * dtype, skip_nan, accumulate, and the axes sorted by stride and merged; where results go, ddof and keepdims do not
 * count. Devices are when they are of one kind and have as many multiprocessors of one compute capability, or use as
 * many threads. The last 1024 choices are kept.
 *
 * Families add in different orders: their results differ in the last bits. A program whose results must be the same
 * in every run either never measures, or imports the same text at every start.
 *
 * All functions here may be called from any thread at any time; threads that measure wait for one another. */

/* Writes what is remembered, oldest first, one line a choice: the problem in the mini-language, the device, and the
 * families that were timed, the chosen one first.
 *   sum f32 [16384,16384] /1 on cuda 132 SMs sm_90: tree 231.4 us, thread 1804 us
 *   mean f64 [1000000,8] /0 on cpu 16 threads: tile 2305 us, rows 9120 us
 * At most capacity bytes with the final 0 (text may be NULL where that is 0). Returns the length of the whole text, as
 * snprintf does; other threads may have measured more before the next call. */
NDR_API size_t ndr_measurements_export(char *text, size_t capacity);

/* Remembers every line of a text that was exported, or written by hand: a line's problem need not be in canonical
 * form, one family is enough, blank lines and lines that start with # are passed over. Replaces what is remembered of
 * the same problems. Plans that exist stay as they are; a choice that cannot run a problem (its results may be laid
 * out so) is passed over when that is planned. A line that is wrong - not in the mini-language, a backend that this
 * build lacks, an unknown family, a time that is none, more than 1024 - fails with NDR_ERR_PARSE and a sentence that
 * starts with its number, and nothing of the text is remembered. */
NDR_API ndr_status ndr_measurements_import(const char *text);

/* Forgets all choices: plans made from now on are estimated or measured anew. */
NDR_API void ndr_measurements_forget(void);

/* ---- Accumulators: data that arrives in slabs ------------------------------------------------------------------- */

typedef struct ndr_accumulator ndr_accumulator;

/* Starts a reduction over a whole array of the problem's shape, whose elements will be given slab by slab; the
 * problem's strides do not count. device says where the partial states live and where slabs and results must be. Free
 * with ndr_accumulator_destroy. */
NDR_API ndr_status ndr_accumulator_create(ndr_accumulator **accumulator, const ndr_problem *problem, DLDevice device,
                                          const ndr_options *options);

/* Adds a slab: a tensor of the same ndim whose element (0, 0, ...) is element offset[] of the whole. Slabs may come in
 * any order; each element of the whole must be given exactly once (a slab of size 0 is legal). Not thread-safe on one
 * accumulator: give each thread its own and merge. On a GPU the work is queued on the options' stream. */
NDR_API ndr_status ndr_accumulator_add(ndr_accumulator *accumulator, const DLTensor *slab, const int64_t *offset);

/* Adds everything that `from` has seen to `into`; both must have been created alike, but for the GPU that they are on
 * and their stream. `from` is left as it was. On a GPU the work is queued on into's stream, behind what is queued on
 * from's, and what is queued on that later waits for it. */
NDR_API ndr_status ndr_accumulator_merge(ndr_accumulator *into, const ndr_accumulator *from);

/* Writes the results of what has been added so far; the accumulator can go on. results[i] belongs to the problem's
 * ops[i]. Outputs that no element was given for hold what an empty reduction gives (min and max: the identity; ptp:
 * NaN, of integers 0). */
NDR_API ndr_status ndr_accumulator_finish(const ndr_accumulator *accumulator, DLTensor *const *results);

/* Bytes of partial states that the accumulator holds on its device. */
NDR_API size_t ndr_accumulator_bytes(const ndr_accumulator *accumulator);

NDR_API void ndr_accumulator_destroy(ndr_accumulator *accumulator);

#ifdef __cplusplus
}
#endif
#endif
