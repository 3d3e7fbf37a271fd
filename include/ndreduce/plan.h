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

/* A reduction without its data: everything except the elements that the results depend on. Start from NDR_PROBLEM_INIT;
 * fill it in with ndr_problem_make, ndr_problem_parse or ndr_h5_problem, or by hand: then set strides, too, since a
 * stride of 0 repeats one element. The functions write no more than its size says, and fail with NDR_ERR_UNSUPPORTED if
 * a member beyond that would have to be set.
 *
 * The text form is  OPS DTYPE [SIZE:STRIDE,...] /DIMS OPTIONS
 *   sum f32 [128,64:-1,32] /0,2
 *   mean,var f64 [1000,1000] /all keepdims skipnan ddof=1 acc=f64
 *   mean f32 [128,64] /0 where=bool[1,0] weights=f64[0,1]
 *   {rmse(x, y): s += (x - y)**2, n += 1 -> sqrt(s / n)} f32 [128,64] /0 with=f32[64,1]
 *   sum,{hot(x; t): n += x > t -> n}(303.15) f32 [128,64] /0
 *   min,max i32 [128,64] /0 initial=5
 *   std f32 [128,64] /0 weights=f32[64,1] weighting=reliability
 *   mean f32 [365,64] /0 groups=0:12[0x31,1x28,2x31,...]
 * OPS is a comma list. A stride counts elements; the default is that of a compact row-major array of these sizes. DIMS
 * is a comma list, "all", or nothing for no dims. [] is a 0-d array. Operands follow as options, in their order, each
 * with its dtype and the strides of all dims. An operator of one's own stands in braces (one that is read
 * so is the process's, equal texts the same one: do not destroy it), followed by the values of its
 * parameters, if it has any, in parentheses (operator.h). Groups (groups.h) are listed as DIMS:COUNT[LABELS]: a label
 * 3, a range 0:12 or 0:12:2 with its step, each label 30 times 0:12x30, all of it 5 times 5(0:12x30). Windows are
 * DIMS:{BEGIN:END:WINDOW,...} with a range for each dim. Groups that are read are the process's, too. */
/* What an operand, an array that is read beside the problem's own, is there for. */
typedef enum ndr_role {
  NDR_WHERE = 0,   /* bool: elements where it is false are left out */
  NDR_WEIGHTS = 1, /* f32 or f64 */
  NDR_WITH = 2     /* an array of an operator of one's own: the second, third, ... in the order of operands */
} ndr_role;

/* The layout of an operand. It has the problem's shape; a stride of 0 repeats one element along a dim. */
typedef struct ndr_operand {
  ndr_role role;
  ndr_dtype dtype;
  int64_t strides[NDR_MAX_DIMS]; /* in elements */
} ndr_operand;

typedef struct ndr_problem {
  size_t size;
  ndr_dtype dtype;
  int ndim;
  int64_t shape[NDR_MAX_DIMS];
  int64_t strides[NDR_MAX_DIMS]; /* in elements */
  int dim_count;                 /* of dims; -1: all dims are reduced */
  int dims[NDR_MAX_DIMS];        /* reduced dims; negative ones count from the end */
  int op_count;
  ndr_op ops[NDR_MAX_OPS];
  int keepdims, skip_nan; /* these and the following as in ndr_options */
  ndr_accumulate accumulate;
  double ddof;
  int operand_count; /* at most one with the role where, and one with the role weights */
  ndr_weighting weighting;
  ndr_operand operands[NDR_MAX_OPERANDS];
  int has_initial, group_dim; /* group_dim is 0 where groups is NULL */
  double initial;
  const ndr_groups *groups; /* the caller's; plans and accumulators hold them. Last, so that the struct ends without
                               padding on 64 bits */
} ndr_problem;
#define NDR_PROBLEM_INIT                                                                                               \
  {                                                                                                                    \
    sizeof(ndr_problem), NDR_BOOL, 0, {0}, {0}, 0, {0}, 0, {NDR_SUM}, 0, 0, NDR_ACCUMULATE_DEFAULT, 0.0, 0,            \
        NDR_FREQUENCY, {{NDR_WHERE, NDR_BOOL, {0}}}, 0, 0, 0.0, NULL                                                   \
  }

/* The problem of reducing arrays laid out like `array` over dims by ops, with default options, which may then be set.
 * Dims are written out in ascending order, and strides where the array has none. Reads no element. Errors: as
 * ndreduce. */
NDR_API ndr_status ndr_problem_make(ndr_problem *problem, const DLTensor *array, int dim_count, const int *dims,
                                    int op_count, const ndr_op *ops);

/* Adds an operand that is laid out like `tensor`: with the problem's shape, or broadcasting to it by NumPy's rule (dims
 * are aligned at the end; sizes of 1 and missing dims are repeated). For a problem made with the operator's number of
 * arrays in view, add them in the operator's order. Reads no element. */
NDR_API ndr_status ndr_problem_add_operand(ndr_problem *problem, ndr_role role, const DLTensor *tensor);

/* Parses text; fails with NDR_ERR_PARSE and a sentence that names the column, or as ndreduce would for bad dims. On
 * failure *problem is left as it was. */
NDR_API ndr_status ndr_problem_parse(const char *text, ndr_problem *problem);

/* Prints the problem so that ndr_problem_parse gives it back; strides are printed only where they are not the default.
 * Writes at most capacity bytes with the final 0, and returns the length of the whole text, as snprintf does. Returns
 * 0, with the reason in ndr_last_error(), if a member is not valid. */
NDR_API size_t ndr_problem_print(const ndr_problem *problem, char *text, size_t capacity);

/* The range of the array's elements, as offsets from element 0: *low <= 0 to *high, both included; high < low if the
 * array is empty. A buffer of high - low + 1 elements, with element 0 at index -low, holds the array. Fails with
 * NDR_ERR_OVERFLOW. */
NDR_API ndr_status ndr_problem_extent(const ndr_problem *problem, int64_t *low, int64_t *high);

/* What the result of problem->ops[i] must look like, as ndr_result_describe says it of an array: result->shape has room
 * for NDR_MAX_DIMS sizes and is the caller's. The device is set to the CPU. */
NDR_API ndr_status ndr_problem_result(const ndr_problem *problem, int i, DLTensor *result);

/* ---- Plans: the choice made once, executed often ---------------------------------------------------------------- */

typedef struct ndr_plan ndr_plan;

/* A device as the planner sees it: plain numbers, so that plans can be made for a device that this machine lacks,
 * if the build has its backend. */
typedef struct ndr_device {
  size_t size;       /* sizeof(ndr_device) */
  DLDeviceType type; /* kDLCPU or kDLCUDA */
  int id;
  int units;                      /* streaming multiprocessors, or CPU threads */
  int threads_per_unit;           /* the most threads that a multiprocessor holds; 1 on a CPU */
  int64_t shared_bytes_per_unit;  /* shared memory of a multiprocessor, or first-level data cache of a core */
  int64_t shared_bytes_per_block; /* the most one block may have */
  int64_t l2_bytes;
  double bandwidth; /* bytes per second from main memory */
  int capability;   /* compute capability x 10 (90 is Hopper); 0 on a CPU */
  int compiles;     /* not 0: kernels can be compiled at run time (NVRTC was found); 0 on a CPU */
} ndr_device;

/* Plans a reduction of arrays that are laid out as the problem says, on a device, into results laid out like `results`
 * (NULL: compact). Only the shapes, strides, dtypes and devices of `results` count. Only the second group of options
 * may be set, those that change no result; the others are refused. Under NDR_MEASURE families are timed on
 * options->stream. On success *plan must be given to ndr_plan_destroy; on failure it is NULL. A plan is immutable: any
 * number of threads may execute it. Errors: as ndreduce. */
NDR_API ndr_status ndr_plan_create(ndr_plan **plan, const ndr_problem *problem, DLDevice device,
                                   const DLTensor *const *results, const ndr_options *options);

/* Bytes of workspace that one execute needs, in the memory of the plan's device, aligned to 256; may be 0. */
NDR_API size_t ndr_plan_workspace(const ndr_plan *plan);

/* Runs the plan. data is the address of the array's element 0, byte_offset included; results[i] is the address of
 * element 0 of result i. Each must be aligned to its dtype as in ndreduce.
 *   workspace  the caller's memory: workspace_bytes bytes, at least ndr_plan_workspace(), aligned to 256, with any
 *              content. With NULL and 0 the library lends a workspace.
 *   stream     as in ndr_options; it may be capturing
 *
 * With the caller's workspace nothing is allocated (but see groups.h). On a GPU an execute that splits its reduction
 * clears the ndr_plan_workspace() bytes first, in a node of its own where the stream is capturing. Executes that may
 * overlap (in several threads on the CPU; on several streams, or as parallel branches of a graph, on a GPU) need a
 * workspace each; those on one stream may share one.
 *
 * On a GPU the library keeps a workspace for each of the last 32 streams and lends it. Device memory is allocated by
 * the first execute on a stream, by an execute that needs more than those before it, and by one that overlaps with
 * another thread's on the same stream. While a stream is capturing, a node of the graph allocates the memory at every
 * replay. On the CPU host memory is allocated and freed. Executes that overlap are never lent the same workspace.
 *
 * From compute capability 9.0 and CUDA 12.3 on, kernels are started with programmatic stream serialization, which saves
 * up to 1 us of each. They see all that was queued before them, as ever. In a captured graph the edges between them are
 * programmatic: calls that list edges without their data (cudaGraphGetEdges of CUDA 12) then fail. */
NDR_API ndr_status ndr_plan_execute(const ndr_plan *plan, const void *data, void *const *results, void *workspace,
                                    size_t workspace_bytes, void *stream);

/* As ndr_plan_execute, of a problem with operands: data[0] is the address of the array's element 0, and data[k] that of
 * operand k - 1. */
NDR_API ndr_status ndr_plan_execute_operands(const ndr_plan *plan, const void *const *data, void *const *results,
                                             void *workspace, size_t workspace_bytes, void *stream);

/* Describes the choice, and why the other families lost. Writes at most capacity bytes of text with the final 0, and
 * returns the length of the whole description, as snprintf does. The first line is the problem and the device. The
 * second names the chosen family, the outputs and the elements of each, bytes read and written, and the time of an
 * execute: "predicted" by the cost model, and "measured" if it was. The third line has the family's parameters. Then
 * there is a line for each other family, with the reason. The last line says why NDR_MEASURE timed nothing, if so. With
 * groups, a line after the first says how the labels are used, and the others describe the largest piece. */
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
 * On a GPU a turn is one run, and the array comes from memory: before each run, scratch of twice the size of the
 * second-level cache is read, which also hides the launch. The median of about twenty runs counts; the call waits for
 * them. On a CPU the best turn counts. A turn repeats short runs, and a small array comes from the cache.
 *
 * Where nothing can be timed (options.device describes the device, the stream is capturing, memory for scratch runs
 * out) the cost model decides, and ndr_plan_describe says why. With options.force_family there is nothing to choose,
 * and nothing is timed.
 *
 * The choice is remembered for the process, and from then on every plan of that problem on such a device takes it,
 * under NDR_ESTIMATE too; to measure again, forget. Two problems are the same if their operators, dtype, skip_nan,
 * accumulate, and axes, sorted by stride and merged, are equal; ddof, keepdims and the layout of results do not count.
 * Two GPUs are the same if they have equally many multiprocessors of the same compute capability, two CPUs if they use
 * equally many threads. The last 1024 choices are kept.
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

/* Remembers every line of a text that was exported or written by hand. A line's problem need not be in canonical form,
 * and one family is enough. Blank lines and lines that start with # are skipped. A line replaces what is remembered of
 * its problem; plans that exist stay as they are. A remembered family that cannot run a problem, because of the layout
 * of its results, is ignored when that problem is planned. The call fails with NDR_ERR_PARSE, and a sentence that
 * starts with the line's number, if a line is not in this form, names a backend that this build lacks or an unknown
 * family, or has no valid time, or if there are more than 1024 lines. Then nothing of the text is remembered. */
NDR_API ndr_status ndr_measurements_import(const char *text);

/* Forgets all choices: plans made from now on are estimated or measured anew. */
NDR_API void ndr_measurements_forget(void);

/* ---- Accumulators: data that arrives in slabs ------------------------------------------------------------------- */

typedef struct ndr_accumulator ndr_accumulator;

/* Starts a reduction of an array of the problem's shape, whose elements will be given slab by slab; the problem's
 * strides do not count. The partial states are kept on `device`, and slabs and results must be there. skip_nan, ddof
 * and operands are those of the problem. Free with ndr_accumulator_destroy.
 *
 *   ndr_problem year = NDR_PROBLEM_INIT;
 *   float means[64];
 *   DLTensor result = ndr_tensor(means, NDR_F32, NDR_SHAPE(64)), *results[] = {&result};
 *   ndr_problem_parse("mean f32 [365,64] /0", &year); // or ndr_problem_make, of a tensor whose data is NULL
 *   year.skip_nan = 1;
 *   ndr_accumulator_create(&a, &year, (DLDevice){kDLCPU, 0}, NULL);
 *   for (int64_t day = 0; day < 365; day++) {
 *     DLTensor slab = ndr_tensor(measured(day), NDR_F32, NDR_SHAPE(1, 64));
 *     ndr_accumulator_add(a, &slab, (int64_t[]){day, 0});
 *   }
 *   ndr_accumulator_finish(a, results); */
NDR_API ndr_status ndr_accumulator_create(ndr_accumulator **accumulator, const ndr_problem *problem, DLDevice device,
                                          const ndr_options *options);

/* Says that the accumulator's array is a part of a larger one, and begins at begin[] of it: index(d) of operators of
 * one's own counts from there on. Indices of argmin and argmax do not. To be called before the first slab is added,
 * which is not checked. */
NDR_API ndr_status ndr_accumulator_begin(ndr_accumulator *accumulator, const int64_t *begin);

/* Empties the accumulator and keeps its memory, so that it can be used again. What ndr_accumulator_begin said
 * stays, what ndr_accumulator_cover said does not. On a GPU the work is queued on the options' stream. */
NDR_API ndr_status ndr_accumulator_reset(ndr_accumulator *accumulator);

/* Adds a slab: a tensor of the same ndim whose element (0, 0, ...) is element offset[] of the whole. Slabs may come in
 * any order; each element of the whole must be given exactly once, which is not checked (a slab of size 0 is legal).
 * Not thread-safe on one accumulator: give each thread its own and merge. On a GPU the work is queued on the options'
 * stream. */
NDR_API ndr_status ndr_accumulator_add(ndr_accumulator *accumulator, const DLTensor *slab, const int64_t *offset);

/* As ndr_accumulator_add, of a problem with operands: operands[k] is the same slab of operand k, with the slab's shape,
 * or broadcasting to it. */
NDR_API ndr_status ndr_accumulator_add_operands(ndr_accumulator *accumulator, const DLTensor *slab,
                                                const DLTensor *const *operands, const int64_t *offset);

/* Adds elements that the caller has added up already, for data that are quicker to add up as they are stored, such as
 * packed integers. sums[i] is the sum of counts[i] elements of output first + i, for 0 <= i < count; outputs are
 * numbered in row-major order of the kept dims. Under skip_nan neither has the elements that are NaN. A count is a
 * whole number from 0 to 2^53. Only sum, mean and valid are made of totals; the other ops stay as they are.
 *
 * Fails with NDR_ERR_UNSUPPORTED unless the accumulator is of f64, without groups and operands, and on the CPU; with
 * NDR_ERR_ARGUMENT for null pointers and outputs that it does not have. Then nothing has been added. Not thread-safe on
 * one accumulator. */
NDR_API ndr_status ndr_accumulator_add_totals(ndr_accumulator *accumulator, int64_t first, int64_t count,
                                              const double *sums, const double *counts);

/* As ndr_accumulator_add, but only to the ops that ndr_accumulator_add_totals leaves as they are: call both for the
 * same elements. If there are no such ops, does nothing, and does not look at the slab. Fails as either of them. */
NDR_API ndr_status ndr_accumulator_add_beside_totals(ndr_accumulator *accumulator, const DLTensor *slab,
                                                     const int64_t *offset);

/* Adds everything that was added to `from` to `into`. Both must have been created alike; only their GPUs and streams
 * may differ. What both cover is joined; they must not cover the same numbers. `from` is not changed. On a GPU the work
 * is queued on the stream of `into`. It waits for the work that is queued on the stream of `from`, and work queued
 * there later waits for it. */
NDR_API ndr_status ndr_accumulator_merge(ndr_accumulator *into, const ndr_accumulator *from);

/* Writes the results of what has been added so far; more can be added afterwards. results[i] is that of the problem's
 * ops[i]. An output to which no element was added gets the value of an empty reduction. For min and max that is the
 * identity, for ptp NaN, or 0 for integers, for argmin and argmax -1. */
NDR_API ndr_status ndr_accumulator_finish(const ndr_accumulator *accumulator, DLTensor *const *results);

/* Says that what is added comes from numbers first to first + count - 1 of what the caller has numbered: slabs, files,
 * days. Numbers are told before or after the slabs are added, and are not compared with them. They travel with the
 * states, so that nothing is added twice by ndr_accumulator_merge or ndr_accumulator_import, nor missing unnoticed.
 * Fails with NDR_ERR_ARGUMENT, and covers none of them, if one is covered already, or is negative or above 2^63 - 2. */
NDR_API ndr_status ndr_accumulator_cover(ndr_accumulator *accumulator, int64_t first, int64_t count);

/* Whether a number is covered. *end becomes the next number of which the opposite is true, INT64_MAX if there is none;
 * NULL is allowed. So this names what is missing of 365 days:
 *
 *   for (int64_t day = 0, end; day < 365; day = end)
 *     if (!ndr_accumulator_covered(a, day, &end)) complain(day, end < 365 ? end : 365);
 */
NDR_API int ndr_accumulator_covered(const ndr_accumulator *accumulator, int64_t number, int64_t *end);

/* Writes everything that was added as bytes, for another process or machine: the partial states, what they cover, the
 * problem, and where the array begins (ndr_accumulator_begin). They are the same on every machine, have a version, and
 * end with a checksum. *needed becomes their number. With NULL for bytes nothing else is done. Fails with
 * NDR_ERR_ARGUMENT, and writes nothing, if capacity is less. bytes need no alignment. On a GPU the call waits for the
 * options' stream, which must not be capturing.
 *
 *   ndr_accumulator_export(mine, NULL, 0, &size);
 *   bytes = malloc(size);
 *   ndr_accumulator_export(mine, bytes, size, &size);  // sent or written to a file; where all of them come together:
 *   ndr_accumulator_import(total, bytes, size); */
NDR_API ndr_status ndr_accumulator_export(const ndr_accumulator *accumulator, void *bytes, size_t capacity,
                                          size_t *needed);

/* Adds what was exported to `into`, with the same bits as ndr_accumulator_merge. `into` must have been created for the
 * same problem; devices, streams and the other options may differ, and operators of one's own may have other numbers.
 * On a GPU the merge is queued on the options' stream. The call waits for that stream if `into` has imported before,
 * and ndr_accumulator_destroy does if it has at all. Bytes may come from anywhere: a call that fails adds and covers
 * nothing, unless a device fails. It fails with
 *   NDR_ERR_PARSE        bytes that are no exported accumulator, too few or too many of them, or damaged ones
 *   NDR_ERR_UNSUPPORTED  another version
 *   NDR_ERR_ARGUMENT     another problem or begin, or numbers that `into` covers, too */
NDR_API ndr_status ndr_accumulator_import(ndr_accumulator *into, const void *bytes, size_t byte_count);

/* Bytes of partial states that the accumulator holds on its device. */
NDR_API size_t ndr_accumulator_bytes(const ndr_accumulator *accumulator);

NDR_API void ndr_accumulator_destroy(ndr_accumulator *accumulator);

#ifdef __cplusplus
}
#endif
#endif
