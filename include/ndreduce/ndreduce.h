/* ndreduce: reductions over any dims of dense N-d strided arrays, on the CPU or on a GPU.
 *
 *   float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, sums[3];
 *   DLTensor array = ndr_tensor(x, NDR_F32, 2, 3), result = ndr_tensor(sums, NDR_F32, 3);
 *   if (ndreduce(&array, NDR_DIMS(0), NDR_SUM, &result, NULL) != NDR_OK) puts(ndr_last_error());
 *   else printf("%g %g %g\n", sums[0], sums[1], sums[2]); // prints 5 7 9
 *
 * Arrays are DLPack's DLTensor: the caller owns every array, shape and stride that it passes; nothing is kept after
 * a call returns. Strides count elements; NULL strides mean compact row-major. `device.device_type` picks the backend:
 * kDLCPU, or kDLCUDA / kDLCUDAManaged / kDLCUDAHost for a GPU.
 *
 * Every function that can fail returns an ndr_status; ndr_last_error() then has one sentence that names the cause.
 * A failed call writes no result. Functions may be called from any thread at any time unless their text says otherwise.
 *
 * Threads: a call on the CPU does its work in the calling thread, and arrays of a megabyte and more also in threads of
 * the library's own. They are started when they are first wanted, sleep between calls, take no signals, and are ended
 * when the library is unloaded or the program exits. One call has them at a time: calls that overlap do their work
 * alone and wait for no other. After fork() the library can be used in the child, which starts threads of its own; so
 * can plans and accumulators, but for those that another thread was changing. A GPU that was used before cannot (CUDA).
 *
 * Result rules (NumPy's):
 *   sum, prod           of signed integers i64, of bool and unsigned ones u64 (they wrap), else the input's dtype
 *   min, max            the input's dtype; a NaN among the elements gives NaN
 *   ptp                 max - min, in the input's dtype: of integers it wraps, so that it may be negative of signed
 *                       ones
 *   argmin, argmax      i64: row-major index over the reduced dims taken in ascending order; the lowest index of
 *                       equals, the first NaN if there is one
 *   mean, logsumexp     of integers f64, else the input's dtype
 *   var, std, norms     of integers f64, of complex its real type, else the input's dtype; var divides by
 *                       max(n - ddof, 0)
 *   any, all            bool; NaN counts as true
 *   count               i64: number of nonzero elements
 *   valid               i64: number of elements that are not NaN
 *
 * f16, bf16 and f32 are accumulated in f32 or wider and rounded once. Sums are blockwise: their error does not grow
 * with the length of an axis as a plain loop's does. Results of a plan are bitwise equal from run to run on the same
 * device, whatever the number of threads; so are those of ndreduce(), unless something was measured in between (see
 * Measurements).
 *
 * Over no elements: sum 0, prod 1, any false, all true, count and valid 0, norms 0, logsumexp -inf, mean, var and std
 * NaN; min, max, ptp, argmin and argmax fail with NDR_ERR_EMPTY. skip_nan leaves NaN elements out: sum 0, mean NaN, min
 * NaN, argmin -1 where every element is NaN. */
#ifndef NDREDUCE_NDREDUCE_H
#define NDREDUCE_NDREDUCE_H

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __GNUC__
#define NDR_API __attribute__((visibility("default")))
#define NDR_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define NDR_API
#define NDR_PRINTF(text, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define NDR_VERSION_MAJOR 0
#define NDR_VERSION_MINOR 1
#define NDR_VERSION_PATCH 0

#define NDR_MAX_DIMS 32
#define NDR_MAX_OPS 20 /* of one call: each operator once, and room for more */

/* What a call came to. The numbers are part of the ABI; gaps leave room. */
typedef enum ndr_status {
  NDR_OK = 0,
  NDR_ERR_ARGUMENT = 10,    /* a null pointer, a bad option, a malformed tensor */
  NDR_ERR_DIMS = 20,        /* a dim out of range or named twice */
  NDR_ERR_DTYPE = 30,       /* an element type that is not known */
  NDR_ERR_OP = 40,          /* an operator that is not known, or not defined for the dtype */
  NDR_ERR_RESULT = 50,      /* the result's shape, dtype or device does not match */
  NDR_ERR_EMPTY = 60,       /* min, max, ptp, argmin, argmax over no elements */
  NDR_ERR_PARSE = 70,       /* text that is not in the problem mini-language */
  NDR_ERR_OVERFLOW = 80,    /* a size, or a distance between elements, of 2^62 bytes or more */
  NDR_ERR_UNSUPPORTED = 90, /* a forced family cannot do this problem, or the build lacks a part */
  NDR_ERR_MEMORY = 100,     /* host or device memory ran out; nothing is lost, the library stays usable */
  NDR_ERR_NO_DEVICE = 110,  /* no such device, no driver, or a build without its backend */
  NDR_ERR_DEVICE = 120,     /* a device call failed; the sentence names it */
  NDR_ERR_FILE = 200,       /* a file cannot be opened, read, understood or written */
  NDR_ERR_CANCELLED = 210   /* the caller asked for the work to stop */
} ndr_status;

/* Element types. bool is one byte, 0 or not 0; f16 is IEEE binary16; complex is real part, then imaginary part. */
typedef enum ndr_dtype {
  NDR_BOOL = 0,
  NDR_I8 = 1,
  NDR_I16 = 2,
  NDR_I32 = 3,
  NDR_I64 = 4,
  NDR_U8 = 5,
  NDR_U16 = 6,
  NDR_U32 = 7,
  NDR_U64 = 8,
  NDR_F16 = 9,
  NDR_BF16 = 10,
  NDR_F32 = 11,
  NDR_F64 = 12,
  NDR_C64 = 13,
  NDR_C128 = 14
} ndr_dtype;
#define NDR_DTYPE_COUNT 15

/* Operators. min, max, ptp, argmin, argmax and logsumexp are not defined for complex. */
typedef enum ndr_op {
  NDR_SUM = 0,
  NDR_PROD = 1,
  NDR_MIN = 2,
  NDR_MAX = 3,
  NDR_ARGMIN = 4,
  NDR_ARGMAX = 5,
  NDR_MEAN = 6,
  NDR_VAR = 7,
  NDR_STD = 8,
  NDR_NORM1 = 9,
  NDR_NORM2 = 10,
  NDR_NORMINF = 11,
  NDR_LOGSUMEXP = 12,
  NDR_ANY = 13,
  NDR_ALL = 14,
  NDR_COUNT = 15,
  NDR_VALID = 16,
  NDR_PTP = 17
} ndr_op;
#define NDR_OP_COUNT 18

typedef enum ndr_accumulate { NDR_ACCUMULATE_DEFAULT = 0, NDR_ACCUMULATE_F64 = 1 } ndr_accumulate;

/* How a plan picks its family: ESTIMATE asks the cost model, MEASURE the clock (see Measurements). Both take what was
 * measured before. */
typedef enum ndr_planning { NDR_ESTIMATE = 0, NDR_MEASURE = 1 } ndr_planning;

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

/* Options. Start from NDR_OPTIONS_INIT, or in C use NDR_OPTIONS; a NULL pointer means the defaults. */
typedef struct ndr_options {
  size_t size;               /* sizeof(ndr_options): lets the struct grow */
  int keepdims;              /* not 0: reduced dims stay in the result with size 1 */
  int skip_nan;              /* not 0: NaN elements are left out (floats and complex) */
  double ddof;               /* var and std divide by n - ddof; default 0 */
  ndr_accumulate accumulate; /* F64: f16, bf16 and f32 are accumulated in f64 */
  ndr_planning planning;
  int threads;              /* CPU threads at most; 0: ndr_thread_count() */
  void *stream;             /* cudaStream_t for GPU work; NULL: the default stream */
  const char *force_family; /* name of the only family allowed, NULL: the planner's choice */
  const ndr_device *device; /* plan for these numbers instead of the real device's; NULL: ask the device */
} ndr_options;
#define NDR_OPTIONS_INIT                                                                                               \
  { sizeof(ndr_options), 0, 0, 0.0, NDR_ACCUMULATE_DEFAULT, NDR_ESTIMATE, 0, NULL, NULL, NULL }

#ifndef __cplusplus
/* A pointer to options of which those are set that are named: NDR_OPTIONS(.skip_nan = 1, .threads = 2). They live as
 * long as the enclosing block. In C++, where they would end with the statement, start from NDR_OPTIONS_INIT. */
#define NDR_OPTIONS(...) (&(ndr_options){.size = sizeof(ndr_options), __VA_ARGS__})

/* A compact row-major tensor over caller-owned host memory: ndr_tensor(pointer, dtype, sizes...). The shape lives as
 * long as the enclosing block, as compound literals do in C. In C++ they end with the statement, so there is no such
 * macro: see ndr_array at the end of this header. */
#define ndr_tensor(pointer, ...)                                                                                       \
  ndr_tensor_compact((pointer), (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)) - 1, (int64_t[]){__VA_ARGS__})

/* The two arguments dim_count, dims. In C++ an array of int serves. */
#define NDR_DIMS(...)                                                                                                  \
  (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)), (const int[]) {                                             \
    __VA_ARGS__                                                                                                        \
  }
#endif
#define NDR_ALL_DIMS -1, NULL

/* What ndr_tensor expands to: dtype_and_shape[0] is the dtype, the ndim sizes follow and must outlive the tensor. */
NDR_API DLTensor ndr_tensor_compact(void *pointer, int ndim, int64_t *dtype_and_shape);

/* The version as text, "major.minor.patch"; static storage. */
NDR_API const char *ndr_version(void);

/* One sentence on the last failure in the calling thread, "" if there was none. Valid until that thread's next call. */
NDR_API const char *ndr_last_error(void);

/* Sets what ndr_last_error() says in the calling thread, as printf would: for libraries on top of this one, whose
 * functions return an ndr_status, too. A sentence that is too long loses its middle. */
NDR_API void ndr_explain_failure(const char *format, ...) NDR_PRINTF(1, 2);

/* A status as a short phrase; static storage, never NULL. */
NDR_API const char *ndr_status_name(ndr_status status);

/* How many CPU threads are used at most where the options do not say: OMP_NUM_THREADS if it is set, else the number of
 * cores that the process may run on, by its affinity mask and the CPU quotas of its control groups. Never more than
 * OMP_THREAD_LIMIT. Found out at the first use, and again in a child of fork(). */
NDR_API int ndr_thread_count(void);

/* Names as in the mini-language ("sum", "f32"). The _name functions return NULL for an unknown value; the _parse
 * functions fail with NDR_ERR_OP or NDR_ERR_DTYPE and leave *out alone. */
NDR_API const char *ndr_op_name(ndr_op op);
NDR_API const char *ndr_op_help(ndr_op op);
NDR_API ndr_status ndr_op_parse(const char *name, ndr_op *out);
NDR_API const char *ndr_dtype_name(ndr_dtype dtype);
NDR_API size_t ndr_dtype_bytes(ndr_dtype dtype);
NDR_API ndr_status ndr_dtype_parse(const char *name, ndr_dtype *out);

/* Between DLPack's description of a type and ours. Fails with NDR_ERR_DTYPE (lanes other than 1, unknown types). */
NDR_API ndr_status ndr_dtype_from_dlpack(DLDataType type, ndr_dtype *out);
NDR_API DLDataType ndr_dtype_to_dlpack(ndr_dtype dtype);

/* Fills in what the result of op over dims must look like: its dtype, and ndim and sizes into result->shape, which must
 * have room for NDR_MAX_DIMS sizes and is the caller's. data, strides and byte_offset are set to 0, device to the
 * array's. Reads no element. Errors: as ndreduce. */
NDR_API ndr_status ndr_result_describe(const DLTensor *array, int dim_count, const int *dims, ndr_op op,
                                       const ndr_options *options, DLTensor *result);

/* Reduces array over dims and writes result.
 *   array    any strides (0 and negative too), up to NDR_MAX_DIMS dims; elements must be aligned to their size
 *   dims     dim_count numbers, negative ones count from the end; dim_count 0 maps each element by itself; -1, NULL:
 *            all of them
 *   result   as ndr_result_describe says, any strides that do not overlap; must not overlap the array
 *   options  NULL for the defaults
 * On a GPU the work is queued on options->stream and may not have finished when the call returns; temporary memory is
 * a workspace that the library lends (see ndr_plan_execute). On the CPU it is done when the call returns. */
NDR_API ndr_status ndreduce(const DLTensor *array, int dim_count, const int *dims, ndr_op op, DLTensor *result,
                            const ndr_options *options);

/* Several statistics from one read of the array: results[i] receives ops[i]. op_count at most NDR_MAX_OPS. */
NDR_API ndr_status ndreduce_many(const DLTensor *array, int dim_count, const int *dims, int op_count, const ndr_op *ops,
                                 DLTensor *const *results, const ndr_options *options);

/* ---- Plans: the choice made once, executed often ---------------------------------------------------------------- */

typedef struct ndr_plan ndr_plan;

/* Plans the reduction of arrays laid out like `array` into results laid out like `results` (NULL: compact). Only
 * shapes, strides, dtypes and devices count; data pointers may be NULL. Under NDR_MEASURE an array that has data is
 * read, on options->stream, to time the families on; in place of one that has none there is scratch. On success *plan
 * must be given to ndr_plan_destroy; on failure it is NULL. A plan is immutable: any number of threads may execute
 * it. */
NDR_API ndr_status ndr_plan_create(ndr_plan **plan, const DLTensor *array, int dim_count, const int *dims, int op_count,
                                   const ndr_op *ops, const DLTensor *const *results, const ndr_options *options);

/* Bytes of workspace that one execute needs, in the memory of the plan's device, aligned to 256; may be 0. */
NDR_API size_t ndr_plan_workspace(const ndr_plan *plan);

/* Runs the plan: data is the address of element 0 (byte_offset added), results[i] that of result i's element 0, each
 * aligned to its dtype as in ndreduce.
 * stream as in ndr_options; it may be capturing.
 *
 * workspace is NULL, or the caller's: ndr_plan_workspace() bytes, aligned to 256.
 *
 * NULL: the library lends one. On a GPU that is one that it keeps for the stream (for the last 32 streams), so that
 * device memory is allocated by the first execute on a stream and by those that need more than any before them, or
 * that meet another thread's there; while the stream is capturing, a node of the graph allocates it at every replay.
 * On the CPU host memory is taken and freed.
 *
 * The caller's: nothing is allocated. On a GPU it must be zero (cudaMemsetAsync of the whole will do) before the
 * first execute of this plan that uses it, because it starts with counters by which blocks find out who is the last
 * to finish. Each execute leaves them zero, so that the next one of the same plan, or the next replay of a graph,
 * needs nothing. Another plan finds leftovers where its counters are, and so does everyone after an execute that
 * failed: clear it again. On the CPU its content does not matter.
 *
 * Executes that may overlap (in several threads on the CPU; on several streams, or as parallel branches of a graph,
 * on a GPU) need a workspace each; those on one stream may share one. What the library lends is never shared so. */
NDR_API ndr_status ndr_plan_execute(const ndr_plan *plan, const void *data, void *const *results, void *workspace,
                                    void *stream);

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
 * parameters that it would choose for itself. They read the caller's array (ndreduce, ndreduce_many,
 * ndr_accumulator_add, and ndr_plan_create where the array has data) or up to 2 GiB of zeros, and write into scratch,
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

/* Starts a reduction over a whole array of `shape` whose elements will be given slab by slab. device says where the
 * partial states live and where slabs and results must be. Free with ndr_accumulator_destroy. */
NDR_API ndr_status ndr_accumulator_create(ndr_accumulator **accumulator, DLDevice device, ndr_dtype dtype, int ndim,
                                          const int64_t *shape, int dim_count, const int *dims, int op_count,
                                          const ndr_op *ops, const ndr_options *options);

/* Adds a slab: a tensor of the same ndim whose element (0, 0, ...) is element offset[] of the whole. Slabs may come in
 * any order; each element of the whole must be given exactly once (a slab of size 0 is legal). Not thread-safe on one
 * accumulator: give each thread its own and merge. On a GPU the work is queued on the options' stream. */
NDR_API ndr_status ndr_accumulator_add(ndr_accumulator *accumulator, const DLTensor *slab, const int64_t *offset);

/* Adds everything that `from` has seen to `into`; both must have been created alike, but for the GPU that they are on
 * and their stream. `from` is left as it was. On a GPU the work is queued on into's stream, behind what is queued on
 * from's, and what is queued on that later waits for it. */
NDR_API ndr_status ndr_accumulator_merge(ndr_accumulator *into, const ndr_accumulator *from);

/* Writes the results of what has been added so far; the accumulator can go on. results[i] belongs to ops[i].
 * Outputs that no element was given for hold what an empty reduction gives (min and max: the identity; ptp: NaN, of
 * integers 0). */
NDR_API ndr_status ndr_accumulator_finish(const ndr_accumulator *accumulator, DLTensor *const *results);

/* Bytes of partial states that the accumulator holds on its device. */
NDR_API size_t ndr_accumulator_bytes(const ndr_accumulator *accumulator);

NDR_API void ndr_accumulator_destroy(ndr_accumulator *accumulator);

/* ---- Memory of devices -------------------------------------------------------------------------------------------
 *
 * What it takes to bring data to a GPU, without a header of CUDA. `device` is where memory is: kDLCPU, plain host
 * memory; kDLCUDA, the memory of GPU device_id; kDLCUDAHost, pinned host memory, which GPUs copy from and to at full
 * speed while the host goes on. Streams, copies and waits are those of GPU device_id for both of the latter; for kDLCPU
 * streams are NULL, and all is done when a call returns.
 *
 * All fail with NDR_ERR_NO_DEVICE where there is no such device, saying why, with NDR_ERR_MEMORY where memory runs out,
 * and with NDR_ERR_DEVICE where the device refuses, which may be for something that was queued before. */

/* Not 0 if this build has a backend for devices of a type, whether or not there is one. Asks no device, and so takes no
 * time. */
NDR_API int ndr_device_supported(DLDeviceType type);

/* How many devices of a type there are: one CPU. Fails with NDR_ERR_NO_DEVICE where there are none. */
NDR_API ndr_status ndr_device_count(DLDeviceType type, int *count);

/* Memory of at least `bytes` bytes, aligned to 256, its content undefined; to be given to ndr_memory_free with the same
 * device. Pinned memory serves all GPUs. As it takes long to get, up to 256 MiB of it that is freed is kept for
 * later calls. */
NDR_API ndr_status ndr_memory_allocate(DLDevice device, size_t bytes, void **memory);

/* Frees memory, which nothing that is queued may use any more; NULL is allowed. */
NDR_API void ndr_memory_free(DLDevice device, void *memory);

/* A stream (cudaStream_t) that does not wait for the default stream. To be given to ndr_stream_destroy. */
NDR_API ndr_status ndr_stream_create(DLDevice device, void **stream);

/* Destroys a stream once what is queued on it is done, without waiting for that; NULL is allowed. */
NDR_API void ndr_stream_destroy(DLDevice device, void *stream);

/* What is queued on stream from now on begins after all that is queued on leader now, which is a stream of device;
 * stream may be another GPU's. */
NDR_API ndr_status ndr_stream_follow(DLDevice device, void *stream, void *leader);

/* Waits until all that is queued on the stream is done. */
NDR_API ndr_status ndr_stream_wait(DLDevice device, void *stream);

/* Queues a copy between any two places that the host or the device can reach. Where one of them is plain host memory,
 * that may be read or written before or after the call returns: neither touch nor free it until the stream was waited
 * for. */
NDR_API ndr_status ndr_copy(DLDevice device, void *to, const void *from, size_t bytes, void *stream);

/* A number of an element type, exactly: i of signed integers, u of unsigned ones and bool, f of floats. */
typedef union ndr_packed {
  int64_t i;
  uint64_t u;
  double f;
} ndr_packed;

#define NDR_STORED_MISSING 16

/* How an array's elements are stored, where that is not as they are reduced. Start from NDR_STORED_INIT(dtype).
 *
 * Elements lie in chunks, one after the other in row-major order of the grid that they make, and in each chunk in
 * row-major order. The array begins `lead` elements inside the first chunk and may end inside the last: chunks are
 * stored whole. One chunk that is the array is an array that is not chunked.
 *
 * An element x is missing where it equals one of missing[], and under `ranged` unless least <= x <= most (so NaN is).
 * It becomes a quiet NaN, any other x * scale + offset, rounded twice in f64, by 1 and 0 unless `scaled`. What keeps
 * its dtype and is not missing keeps its bits, NaN included. */
typedef struct ndr_stored {
  size_t size;                 /* sizeof(ndr_stored) */
  ndr_dtype dtype, result;     /* stored, and reduced: the same, or f64 of any but bool and complex */
  int swapped;                 /* not 0: in the other byte order than this machine's, complex part by part */
  int shuffled;                /* not 0: a chunk's first bytes of all elements, then all second ones, and so on */
  int ndim;                    /* of the array */
  int64_t shape[NDR_MAX_DIMS]; /* its sizes */
  int64_t chunk[NDR_MAX_DIMS]; /* a chunk's, at least 1 */
  int64_t lead[NDR_MAX_DIMS];  /* 0 .. chunk - 1 */
  int scaled;                  /* not 0: result is f64 */
  double scale, offset;
  int missing_count; /* of dtype: floats, or numbers whose result is f64 */
  ndr_packed missing[NDR_STORED_MISSING];
  int ranged;
  ndr_packed least, most;
} ndr_stored;
#define NDR_STORED_INIT(dtype)                                                                                         \
  {                                                                                                                    \
    sizeof(ndr_stored), (dtype), (dtype), 0, 0, 0, {0}, {0}, {0}, 0, 1.0, 0.0, 0, {{0}}, 0, {0}, {                     \
      0                                                                                                                \
    }                                                                                                                  \
  }

/* Queues the conversion of an array from its stored form at `from`, all chunks of it, into compact row-major elements
 * at `to`, both in memory that GPU device_id can reach, aligned to their dtype, and not overlapping. stored may go when
 * the call returns. Allocates nothing; the first call of a dtype loads its kernel.
 *
 * For GPUs alone: fails with NDR_ERR_UNSUPPORTED for kDLCPU, and where several chunks, or a shuffled one, have 2^31
 * elements or more together; with NDR_ERR_ARGUMENT and NDR_ERR_DTYPE on a description that is wrong. */
NDR_API ndr_status ndr_convert_stored(DLDevice device, const ndr_stored *stored, const void *from, void *to,
                                      void *stream);

/* ---- The problem mini-language ---------------------------------------------------------------------------------- */

/* A reduction problem without data. Text form:  OPS DTYPE [SIZE:STRIDE,...] /DIMS OPTIONS
 *   sum f32 [128,64:-1,32] /0,2
 *   mean,var f64 [1000,1000] /all keepdims skipnan ddof=1 acc=f64
 * OPS is a comma list; a stride is in elements and defaults to that of the compact row-major array of the sizes; DIMS
 * is a comma list, "all", or nothing for none; [] is a 0-d array. */
typedef struct ndr_case {
  int op_count;
  ndr_op ops[NDR_MAX_OPS];
  ndr_dtype dtype;
  int ndim;
  int64_t shape[NDR_MAX_DIMS];
  int64_t strides[NDR_MAX_DIMS];
  int dim_count; /* never -1: "all" is written out */
  int dims[NDR_MAX_DIMS];
  int keepdims, skip_nan;
  double ddof;
  ndr_accumulate accumulate;
} ndr_case;

/* Parses text; fails with NDR_ERR_PARSE and a sentence that names the column, or as ndreduce would for bad dims. */
NDR_API ndr_status ndr_case_parse(const char *text, ndr_case *out);

/* Prints so that parsing gives the same case; strides only where they are not the default. Returns as snprintf; 0, with
 * the reason in ndr_last_error(), where a field holds what no case may. */
NDR_API size_t ndr_case_print(const ndr_case *problem, char *text, size_t capacity);

/* The elements that the case touches, relative to element 0: offsets *low <= 0 to *high (inclusive; high < low when
 * empty). A buffer of high - low + 1 elements with element 0 at -low holds it. Fails with NDR_ERR_OVERFLOW. */
NDR_API ndr_status ndr_case_extent(const ndr_case *problem, int64_t *low, int64_t *high);

#ifdef __cplusplus
}

/* What ndr_tensor is in C: a compact row-major tensor of ndim dims over host memory, which keeps its shape itself.
 *
 *   float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, sums[3];
 *   int dims[] = {0};
 *   ndr_array<2> array(x, NDR_F32, 2, 3);
 *   ndr_array<1> result(sums, NDR_F32, 3);
 *   ndr_status status = ndreduce(&array.tensor, 1, dims, NDR_SUM, &result.tensor, nullptr); */
template <int ndim> struct ndr_array {
  int64_t dtype_and_shape[ndim + 1];
  DLTensor tensor; /* points to the shape above: an ndr_array is not copied */

  template <typename... integers>
  ndr_array(void *data, ndr_dtype dtype, integers... sizes)
      : dtype_and_shape{dtype, static_cast<int64_t>(sizes)...},
        tensor(ndr_tensor_compact(data, ndim, dtype_and_shape)) {
    static_assert(sizeof...(sizes) == ndim, "as many sizes as dims");
  }
  ndr_array(const ndr_array &) = delete;
  ndr_array &operator=(const ndr_array &) = delete;
};
#endif
#endif
