/* ndreduce: reductions over any dims of dense N-d strided arrays, on the CPU or on a GPU.
 *
 *   float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, sums[3];
 *   int64_t shape[] = {2, 3};
 *   DLTensor array = ndr_tensor(x, NDR_F32, 2, shape), result = ndr_tensor(sums, NDR_F32, 1, &shape[1]);
 *   if (ndreduce(&array, NDR_DIMS(0), NDR_SUM, &result, NULL) != NDR_OK) puts(ndr_last_error());
 *   else printf("%g %g %g\n", sums[0], sums[1], sums[2]); // prints 5 7 9
 *
 * This header has arrays, operators and the call. plan.h has problems as text, plans, measurements and accumulators;
 * scan.h running values, and elements that a mask keeps; device.h the memory and the streams of GPUs; h5.h, of a
 * library of its own, datasets of HDF5 and netCDF-4.
 *
 * Arrays are DLPack's DLTensor: the caller owns every array, shape and stride that it passes; nothing is kept after
 * a call returns, unless its text says otherwise. Strides count elements; NULL strides mean compact row-major.
 * `device.device_type` picks the backend: kDLCPU, or kDLCUDA / kDLCUDAManaged / kDLCUDAHost for a GPU.
 * A call may read all memory between an array's lowest and highest element, including what its strides skip. What is
 * there does not change results, and may be written meanwhile.
 *
 * Every function that can fail returns an ndr_status; ndr_last_error() then has one sentence that names the cause.
 * A failed call writes no result, unless its text says otherwise. Functions may be called from any thread at any time
 * unless their text says otherwise.
 *
 * Structs that a caller fills in begin with their size. Start from the struct's ..._INIT. Structs may grow in later
 * versions. Members that a caller's smaller struct lacks count as 0; in a larger one, members that this version does
 * not know must be 0. A size that ends inside a member is refused.
 *
 * Threads: a call on the CPU works in the calling thread; arrays of 256 KiB or more may also be reduced by threads that
 * the library owns. These start when they are first needed, sleep between calls, take no signals except those that a
 * fault raises, and end when the library is unloaded or the program exits; a program whose main thread ends by
 * pthread_exit() must call exit() itself. Each inherits the affinity mask and the priority of the thread whose call
 * starts it: where the first large call comes from a thread that is pinned to one core, they share that core. They
 * serve one call at a time; a call that overlaps with it works in its calling thread alone and waits for no other.
 * While the threads of GNU's OpenMP poll for the program's next parallel region, they do the work of large calls of its
 * first thread instead. All work with the floating-point modes of the calling thread. A call takes up to 128 KiB of its
 * thread's stack, with operands or operators of one's own up to 224 KiB. A signal handler that interrupts a call must
 * return to it, and must not fork. After fork() the child can use the library, which starts new threads there. It can
 * also use plans and accumulators, except those that another thread was changing. It cannot use a GPU that the parent
 * has used (a limit of CUDA).
 *
 * Result rules (NumPy's):
 *   sum, prod           of signed integers i64, of bool and unsigned ones u64 (they wrap), else the input's dtype
 *   min, max            the input's dtype; a NaN among the elements gives NaN
 *   ptp                 max - min, in the input's dtype; integers wrap, so that a signed result may be negative
 *   argmin, argmax      i64: row-major index over the reduced dims taken in ascending order; of equal
 *                       elements the lowest index; the index of the first NaN if there is one
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
 * plan.h, Measurements). Where the array or the results have other strides, the last bits of sums may be others.
 *
 * where leaves elements out: whatever they are has no effect. Weights multiply: sum adds w x, in f64, which is the
 * result's dtype for integers; mean is sum w x / sum w, norm2 the root of sum w |x|^2; ndr_weighting says what they are
 * to var and std. The other operators have no weighted form: beside one of these five they are computed without
 * weights, by themselves they are refused (NDR_ERR_OP); only valid may then stand by itself, too. Where the weights add
 * up to 0, mean, var and std are NaN; a weight of 0 times NaN or infinity is NaN. Weights may be negative for sum, mean
 * and norm2; var and std of negative or infinite weights are not defined. NaN among the weights is refused on the CPU
 * (NDR_ERR_ARGUMENT), also where `where` is false; results may have been written then, and are NaN. On a GPU such
 * weights give NaN.
 *
 * initial counts as one more element, but not for valid, which may stand beside sum, prod, min and max. It is f64; if
 * the result is an integer, it must be a value of the result's dtype. Under skip_nan an initial value that is NaN is
 * left out, too.
 *
 * Over no elements: sum 0, prod 1, any false, all true, count and valid 0, norms 0, logsumexp -inf, mean, var and std
 * NaN; min, max, ptp, argmin and argmax fail with NDR_ERR_EMPTY, but for min and max with initial. skip_nan leaves NaN
 * elements out. Where every element is NaN, it gives sum 0, mean NaN, min NaN and argmin -1. Where `where` is false for
 * all elements, sum is 0, mean NaN and argmin -1; min is inf or the largest integer of its dtype, max -inf or the
 * smallest; under skip_nan floats give NaN instead. Operators of one's own have a result in both cases (operator.h). */
#ifndef NDREDUCE_NDREDUCE_H
#define NDREDUCE_NDREDUCE_H

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
#include <initializer_list>
#endif

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
#define NDR_MAX_OPS 20     /* operators of one call */
#define NDR_MAX_OPERANDS 4 /* arrays that a problem reads beside its own */

/* The outcome of a call. The numbers are part of the ABI; gaps leave room. */
typedef enum ndr_status {
  NDR_OK = 0,
  NDR_ERR_ARGUMENT = 10,    /* a null pointer, a bad option, a malformed tensor */
  NDR_ERR_DIMS = 20,        /* a dim out of range or named twice */
  NDR_ERR_DTYPE = 30,       /* an element type that is not known, or not taken there, as a mask of u8 */
  NDR_ERR_OP = 40,          /* an operator that is not known, or not defined for the dtype */
  NDR_ERR_RESULT = 50,      /* the result's shape, dtype or device does not match */
  NDR_ERR_EMPTY = 60,       /* min, max, ptp, argmin, argmax over no elements */
  NDR_ERR_PARSE = 70,       /* text that is not in the problem mini-language, bytes that are no exported states */
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
#ifdef __cplusplus
  ,
  NDR_OP_LARGEST = 0x3fffffff /* so that the type holds operators of one's own; C's enum does anyway */
#endif
} ndr_op;
#define NDR_OP_COUNT 18
#define NDR_OWN_OPS 1024 /* operators of one's own have numbers from here to below NDR_OWN_OPS_END (operator.h) */
#define NDR_OWN_OPS_END 0x3fffffff

/* What weights mean to var and std. With v1 the sum of the weights and v2 that of their squares, the divisor is
 * v1 - ddof for FREQUENCY (a weight says how often a value occurred), and v1 - ddof * v2 / v1 for RELIABILITY (a weight
 * says how far a value can be trusted); both are unbiased with ddof 1. */
typedef enum ndr_weighting { NDR_FREQUENCY = 0, NDR_RELIABILITY = 1 } ndr_weighting;

typedef enum ndr_accumulate { NDR_ACCUMULATE_DEFAULT = 0, NDR_ACCUMULATE_F64 = 1 } ndr_accumulate;

/* How a plan chooses its family: ESTIMATE uses the cost model, MEASURE times the candidates. Both take a choice that
 * was measured before, if there is one (plan.h, Measurements). */
typedef enum ndr_planning { NDR_ESTIMATE = 0, NDR_MEASURE = 1 } ndr_planning;

struct ndr_device;                    /* plan.h */
typedef struct ndr_groups ndr_groups; /* groups.h */

/* In C++ the members of ndr_options have their defaults without NDR_OPTIONS_INIT. */
#ifdef __cplusplus
#define NDR_DEFAULT(value) = value
#else
#define NDR_DEFAULT(value)
#endif

/* The first group says what is computed. Functions that take an ndr_problem (plan.h) read these members from the
 * problem, and refuse options that set them. The second group changes no result. A NULL pointer to options means the
 * defaults. */
typedef struct ndr_options {
  size_t size NDR_DEFAULT(sizeof(ndr_options));

  int keepdims NDR_DEFAULT(0); /* not 0: reduced dims stay in the result with size 1 */
  int skip_nan NDR_DEFAULT(0); /* not 0: NaN elements are left out (floats and complex) */
  double ddof NDR_DEFAULT(0);  /* var and std divide by n - ddof */
  ndr_accumulate accumulate NDR_DEFAULT(NDR_ACCUMULATE_DEFAULT); /* F64: f16, bf16 and f32 are accumulated in f64 */
  ndr_weighting weighting NDR_DEFAULT(NDR_FREQUENCY);
  const double *initial NDR_DEFAULT(0); /* sum, prod, min, max: a value that is reduced, too; NULL: none. For valid it
                                           has no effect */

  /* Arrays beside the array, on its device. They have its shape, or broadcast to it by NumPy's rule; any strides. */
  const DLTensor *where NDR_DEFAULT(0);       /* bool: elements where it is false are left out; NULL: all count */
  const DLTensor *weights NDR_DEFAULT(0);     /* f32 or f64, not NaN, for sum, mean, var, std and norm2; NULL: none.
                                                 Others, such as max, may stand beside these, without weights */
  const DLTensor *const *with NDR_DEFAULT(0); /* second and further arrays of an operator of one's own (operator.h) */
  int with_count NDR_DEFAULT(0);

  const ndr_groups *groups NDR_DEFAULT(0); /* labels along a reduced dim (groups.h); NULL: none */
  int group_dim NDR_DEFAULT(0);            /* the dim that the labels lie along; negative ones count from the end */

  ndr_planning planning NDR_DEFAULT(NDR_ESTIMATE);
  int threads NDR_DEFAULT(0);                     /* CPU threads at most; 0: ndr_thread_count() */
  void *stream NDR_DEFAULT(0);                    /* cudaStream_t for GPU work; NULL: the default stream */
  const char *force_family NDR_DEFAULT(0);        /* name of the only family allowed; NULL: the planner's choice */
  const struct ndr_device *device NDR_DEFAULT(0); /* plan for this device; NULL: for that of the array */
} ndr_options;
#define NDR_OPTIONS_INIT                                                                                               \
  {                                                                                                                    \
    sizeof(ndr_options), 0, 0, 0.0, NDR_ACCUMULATE_DEFAULT, NDR_FREQUENCY, NULL, NULL, NULL, NULL, 0, NULL, 0,         \
        NDR_ESTIMATE, 0, NULL, NULL, NULL                                                                              \
  }

/* NDR_OPTIONS(.skip_nan = 1, .threads = 2) is a pointer to options that have these members set and defaults otherwise.
 * In C it is valid until the end of the enclosing block. In C++ it needs C++20, takes the members in their order, and
 * is valid until the end of the statement. Before C++20 write `ndr_options options; options.skip_nan = 1;`.
 *
 * NDR_DIMS(0, 2) stands for the two arguments dim_count, dims. It takes one dim at least, and in C++ needs C++14; for
 * no dims write 0, NULL. NDR_ALL_DIMS stands for two that mean all dims. */
#ifdef __cplusplus
#if __cplusplus >= 202002L
#define NDR_OPTIONS(...) (&static_cast<const ndr_options &>(ndr_options{__VA_ARGS__}))
#endif
#define NDR_DIMS(...)                                                                                                  \
  static_cast<int>(std::initializer_list<int>{__VA_ARGS__}.size()), std::initializer_list<int>{__VA_ARGS__}.begin()
#else
#define NDR_OPTIONS(...) (&(ndr_options){.size = sizeof(ndr_options), __VA_ARGS__})
#define NDR_DIMS(...)                                                                                                  \
  (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)), (const int[]) {                                             \
    __VA_ARGS__                                                                                                        \
  }
#endif
#define NDR_ALL_DIMS -1, NULL

/* A compact row-major tensor over host memory. Data and shape stay the caller's and must outlive the tensor; shape may
 * be NULL where ndim is 0. Checks nothing: the calls that take the tensor do. In C, NDR_SHAPE(2, 3) stands for the two
 * arguments ndim, shape, and lives as long as the enclosing block. */
NDR_API DLTensor ndr_tensor(void *data, ndr_dtype dtype, int ndim, int64_t *shape);
#ifndef __cplusplus
#define NDR_SHAPE(...)                                                                                                 \
  (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]) {                                             \
    __VA_ARGS__                                                                                                        \
  }
#endif

/* The version as text, "major.minor.patch"; static storage. */
NDR_API const char *ndr_version(void);

/* One sentence on the last failure in the calling thread, "" if there was none. Valid until that thread's next call. */
NDR_API const char *ndr_last_error(void);

/* Sets the sentence that ndr_last_error() returns in the calling thread, formatted as by printf. It is for libraries on
 * top of this one whose functions return an ndr_status, too. A sentence that is too long loses its middle. */
NDR_API void ndr_explain_failure(const char *format, ...) NDR_PRINTF(1, 2);

/* A status as a short phrase; static storage, never NULL. */
NDR_API const char *ndr_status_name(ndr_status status);

/* The most CPU threads that a call uses where options.threads is 0: OMP_NUM_THREADS if it is set, else the number of
 * cores that the affinity mask of the calling thread and the CPU quotas of the process's control groups leave. Never
 * more than OMP_THREAD_LIMIT. The number is determined by the first call that needs it, and again in a child of fork().
 */
NDR_API int ndr_thread_count(void);

/* Names as in the mini-language ("sum", "f32"). The _name functions return NULL for an unknown value; the _parse
 * functions fail with NDR_ERR_OP or NDR_ERR_DTYPE and leave *out alone. */
NDR_API const char *ndr_op_name(ndr_op op);
NDR_API const char *ndr_op_help(ndr_op op);
NDR_API ndr_status ndr_op_parse(const char *name, ndr_op *out);
NDR_API const char *ndr_dtype_name(ndr_dtype dtype);
NDR_API size_t ndr_dtype_bytes(ndr_dtype dtype);
NDR_API ndr_status ndr_dtype_parse(const char *name, ndr_dtype *out);

/* 1 if the operator has a weighted form; 0 if it has none, as all operators of one's own (operator.h), and for an
 * unknown value. Where a call has weights, its operators without a weighted form are computed without them. */
NDR_API int ndr_op_is_weighted(ndr_op op);

/* Convert between DLPack's description of a type and ndr_dtype. The first fails with NDR_ERR_DTYPE (lanes other than 1,
 * unknown types). */
NDR_API ndr_status ndr_dtype_from_dlpack(DLDataType type, ndr_dtype *out);
NDR_API DLDataType ndr_dtype_to_dlpack(ndr_dtype dtype);

/* Fills in what the result of op over dims must look like: its dtype, and ndim and sizes into result->shape, which must
 * have room for NDR_MAX_DIMS sizes and is the caller's. data, strides and byte_offset are set to 0, device to the
 * array's. Reads no element. options are those of the call, also of ndreduce_many: arrays of `with` behind those that
 * op reads, and weights if op has no weighted form, are other operators', and are not looked at. Errors: as ndreduce.
 */
NDR_API ndr_status ndr_result_describe(const DLTensor *array, int dim_count, const int *dims, ndr_op op,
                                       const ndr_options *options, DLTensor *result);

/* Reduces array over dims and writes result.
 *   array    any strides (0 and negative too), up to NDR_MAX_DIMS dims; elements must be aligned to their size
 *   dims     dim_count numbers; negative ones count from the end. With dim_count 0 each element is an output of its
 *            own; -1 and NULL mean all dims
 *   result   as ndr_result_describe says, any strides that do not overlap; must not overlap the array, which is not
 *            checked
 *   options  NULL for the defaults
 * On a GPU the work is queued on options->stream and may not have finished when the call returns; temporary memory is
 * a workspace that the library lends (see ndr_plan_execute). On the CPU it is done when the call returns. */
NDR_API ndr_status ndreduce(const DLTensor *array, int dim_count, const int *dims, ndr_op op, DLTensor *result,
                            const ndr_options *options);

/* Several statistics from one read of the array: results[i] receives ops[i]. op_count at most NDR_MAX_OPS. */
NDR_API ndr_status ndreduce_many(const DLTensor *array, int dim_count, const int *dims, int op_count, const ndr_op *ops,
                                 DLTensor *const *results, const ndr_options *options);

#ifdef __cplusplus
}
#endif
#endif
