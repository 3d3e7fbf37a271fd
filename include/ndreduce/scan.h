/* Scans: running sums, products, extremes and more along a dim; and what a mask keeps, moved together.
 *
 *   float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, sums[2][3], kept[6];
 *   uint8_t odd[2][3] = {{1, 0, 1}, {0, 1, 0}};
 *   int64_t count, shape[] = {2, 3}, room[] = {6};
 *   DLTensor array = ndr_tensor(x, NDR_F32, 2, shape), result = ndr_tensor(sums, NDR_F32, 2, shape);
 *   DLTensor mask = ndr_tensor(odd, NDR_BOOL, 2, shape), list = ndr_tensor(kept, NDR_F32, 1, room);
 *   ndr_status status = ndr_scan(&array, 1, NDR_SUM, &result, NULL);
 *   if (status == NDR_OK) status = ndr_select(&array, &mask, NDR_SCAN_ALL, &list, &count, NULL);
 *   if (status == NDR_OK) printf("%g %g %g, ", sums[1][0], sums[1][1], sums[1][2]);
 *   if (status == NDR_OK) printf("%d kept: %g %g %g\n", (int)count, kept[0], kept[1], kept[2]);
 *   else puts(ndr_last_error()); // prints 4 9 15, 3 kept: 1 3 5
 *
 * What ndreduce.h says of arrays, errors, threads and structs that start with their size holds here, too. For arrays on
 * a GPU all calls need NVRTC, which compiles their kernels at run time, else they fail with NDR_ERR_UNSUPPORTED.
 *
 * A scan's result at a place is the operator over the elements up to that place: result[i] = x[0] op ... op x[i].
 *
 *   operator            dtype of the result
 *   sum, prod           of signed integers i64, of bool and unsigned ones u64 (they wrap), else the input's
 *   min, max            the input's; from a NaN on everything is NaN
 *   logsumexp           of integers f64, else the input's; not of complex, as min and max
 *   any, all            bool; NaN counts as true
 *   one's own           its result over the elements up to each place (operator.h)
 *
 * The other built-in operators fail with NDR_ERR_OP; an operator of one's own does what they do: the running mean is
 * `mean(x): s += x, n += 1 -> s / n`.
 *
 * Before the first element the value is that of no elements: sum 0, prod 1, any false, all true, logsumexp -inf, min
 * inf or the largest integer of the dtype, max -inf or the smallest; under skip_nan min and max of floats give NaN
 * there, and up to the first element that is not NaN.
 *
 * Running values of f16, bf16 and f32 are f64 and rounded once at each place, so that 2^28 ones in f32 are counted
 * right. Sums add runs of 256 elements, each from its beginning, to the sum of those before. Products of floats, which
 * may overflow in parts where the whole does not, and operators of one's own take one element after the other; there a
 * line is one thread's work. The last bits depend on the elements of a line alone, not on strides, other dims, the
 * number of threads, or the run; only force_family = "scalar" gives others. A running sum of elements that are not
 * negative never decreases.
 *
 * On a GPU all operators combine small groups of elements, then groups of groups, and add what stands before: so a part
 * of a product may overflow there, and with a 0 before it give NaN, where one element after the other would not. The
 * last bits depend on the shape, the strides, the kind of scan and, where lines lie side by side, the model of the GPU,
 * too, but not on the run: they repeat. Where results are rounded from f64 (f16, bf16, f32, c64), they may also depend
 * on where a line begins in memory, modulo 32 bytes. A running sum of elements that are not negative never decreases
 * there if its result is f64 or c128; other results are rounded from f64 sums whose last bits may decrease, so that a
 * value may rarely be one last bit less than the one before. An operator of one's own whose updates hold more than 11
 * numbers, of which a complex one is two, scans lines of up to 256 elements there: longer ones are NDR_ERR_UNSUPPORTED,
 * as the states of a block's elements are more than it has memory for.
 *
 * Functions may be called from any thread at any time. */
#ifndef NDREDUCE_SCAN_H
#define NDREDUCE_SCAN_H

#include "ndreduce/ndreduce.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In place of a dim: all elements, in row-major order. */
#define NDR_SCAN_ALL (-2147483647 - 1)

/* The first group says what is computed, the second changes no result. A NULL pointer to options means the defaults. In
 * C++ the members have their defaults without NDR_SCAN_OPTIONS_INIT. */
typedef struct ndr_scan_options {
  size_t size NDR_DEFAULT(sizeof(ndr_scan_options));

  int exclusive NDR_DEFAULT(0);       /* not 0: a place's own element is left out: result[0] is the value of none */
  int include_initial NDR_DEFAULT(0); /* not 0: the result is longer by one, and begins with the value of no elements,
                                         as in the array API standard; not with exclusive */
  int reverse NDR_DEFAULT(0);         /* not 0: from the last element to the first; include_initial then adds its place
                                         at the end */
  int skip_nan NDR_DEFAULT(0);        /* not 0: NaN elements change nothing (floats and complex) */
  const double *initial NDR_DEFAULT(0); /* sum, prod, min, max: the value of no elements; NULL: as above. If the result
                                           is an integer, it must be a value of its dtype; NaN is none with skip_nan */
  const DLTensor *const *with NDR_DEFAULT(0); /* second and further arrays of an operator of one's own, on the array's
                                                 device; they have its shape or broadcast to it; any strides */
  int with_count NDR_DEFAULT(0);

  int threads NDR_DEFAULT(0);              /* CPU threads at most; 0: ndr_thread_count() */
  void *stream NDR_DEFAULT(0);             /* cudaStream_t for GPU work; NULL: the default stream */
  const char *force_family NDR_DEFAULT(0); /* name of the only family allowed; NULL: the planner's choice */
} ndr_scan_options;
#define NDR_SCAN_OPTIONS_INIT                                                                                          \
  { sizeof(ndr_scan_options), 0, 0, 0, 0, NULL, NULL, 0, 0, NULL, NULL }

/* NDR_SCAN_OPTIONS(.reverse = 1) is a pointer to options, as NDR_OPTIONS makes it. */
#ifdef __cplusplus
#if __cplusplus >= 202002L
#define NDR_SCAN_OPTIONS(...) (&static_cast<const ndr_scan_options &>(ndr_scan_options{__VA_ARGS__}))
#endif
#else
#define NDR_SCAN_OPTIONS(...) (&(ndr_scan_options){.size = sizeof(ndr_scan_options), __VA_ARGS__})
#endif

/* Fills in what the result of a scan must look like, as ndr_result_describe does: result->shape has room for
 * NDR_MAX_DIMS sizes and is the caller's. For NDR_SCAN_ALL that is one dim of all elements. Errors: as ndr_scan. */
NDR_API ndr_status ndr_scan_describe(const DLTensor *array, int dim, ndr_op op, const ndr_scan_options *options,
                                     DLTensor *result);

/* Scans array along dim and writes result.
 *   array    any strides (0 and negative too), up to NDR_MAX_DIMS dims
 *   dim      negative numbers count from the end; NDR_SCAN_ALL: along all elements in row-major order
 *   result   as ndr_scan_describe says, any strides that do not overlap (of that only strides of 0 are noticed). With
 *            NDR_SCAN_ALL it may also have the array's shape, unless include_initial is set. It may be the array itself
 *            where that has the result's dtype: then both have the same address and strides. Any other overlap with an
 *            array that is read is refused (NDR_ERR_ARGUMENT)
 * On a GPU the work is queued on options->stream and may not have finished when the call returns. On the CPU it is
 * done. Errors: NDR_ERR_ARGUMENT, NDR_ERR_DIMS, NDR_ERR_DTYPE; NDR_ERR_OP where the operator has no scan or is not
 * defined for the dtype; NDR_ERR_RESULT where the result's shape, dtype or device is not as described;
 * NDR_ERR_OVERFLOW, NDR_ERR_UNSUPPORTED, NDR_ERR_MEMORY. */
NDR_API ndr_status ndr_scan(const DLTensor *array, int dim, ndr_op op, DLTensor *result,
                            const ndr_scan_options *options);

/* ---- Plans ------------------------------------------------------------------------------------------------------ */

typedef struct ndr_scan_plan ndr_scan_plan;

/* Plans a scan of arrays that are laid out like `array` into results laid out like `result` (NULL: compact, as
 * ndr_scan_describe says), and of the arrays of options->with. Their data is not looked at and not kept. On success
 * *plan must be given to ndr_scan_plan_destroy; on failure it is NULL. A plan is immutable: any number of threads may
 * execute it. Errors: as ndr_scan. */
NDR_API ndr_status ndr_scan_plan_create(ndr_scan_plan **plan, const DLTensor *array, int dim, ndr_op op,
                                        const DLTensor *result, const ndr_scan_options *options);

/* Bytes of workspace that one execute needs, in the memory of the plan's device, aligned to 256; may be 0. */
NDR_API size_t ndr_scan_plan_workspace(const ndr_scan_plan *plan);

/* Runs the plan. data[0] is the address of the array's element 0, data[k] that of element 0 of with[k - 1], result that
 * of the result's. Each must be aligned to its dtype.
 *   workspace  the caller's memory: workspace_bytes bytes, at least ndr_scan_plan_workspace(), aligned to 256, with any
 *              content; then nothing is allocated. With NULL and 0 the library lends a workspace
 *   stream     as in ndr_scan_options; it may be capturing
 * Executes that may overlap need a workspace each. */
NDR_API ndr_status ndr_scan_plan_execute(const ndr_scan_plan *plan, const void *const *data, void *result,
                                         void *workspace, size_t workspace_bytes, void *stream);

/* Describes the choice. Writes at most capacity bytes of text with the final 0, and returns the length of the whole
 * description, as snprintf does. The first line is the scan and the device, the second the family with its parameters;
 * then comes a line for each other family, with the reason why it was not chosen. */
NDR_API size_t ndr_scan_plan_describe(const ndr_scan_plan *plan, char *text, size_t capacity);

/* Frees a plan; NULL is allowed. No execute of it may be running. */
NDR_API void ndr_scan_plan_destroy(ndr_scan_plan *plan);

/* ---- What a mask keeps ------------------------------------------------------------------------------------------ */

/* Options that change no result. */
typedef struct ndr_select_options {
  size_t size NDR_DEFAULT(sizeof(ndr_select_options));
  int threads NDR_DEFAULT(0);  /* CPU threads at most; 0: ndr_thread_count() */
  void *stream NDR_DEFAULT(0); /* cudaStream_t for GPU work; NULL: the default stream */
} ndr_select_options;
#define NDR_SELECT_OPTIONS_INIT                                                                                        \
  { sizeof(ndr_select_options), 0, NULL }
#ifdef __cplusplus
#if __cplusplus >= 202002L
#define NDR_SELECT_OPTIONS(...) (&static_cast<const ndr_select_options &>(ndr_select_options{__VA_ARGS__}))
#endif
#else
#define NDR_SELECT_OPTIONS(...) (&(ndr_select_options){.size = sizeof(ndr_select_options), __VA_ARGS__})
#endif

/* Copies what the mask keeps, in its order.
 *   array    any dtype and strides
 *   mask     bool, any strides. NDR_SCAN_ALL: of the array's shape, or broadcasting to it by NumPy's rule. A dim: of
 *            that dim's size, with one dim; a size of 1 is repeated
 *   dim      NDR_SCAN_ALL: elements, in row-major order; a dim, where negative numbers count from the end: whole slices
 *   result   the array's dtype; NDR_SCAN_ALL: one dim; a dim: the array's shape, in which that dim may have any size.
 *            Any strides that do not overlap; must not overlap array or mask (NDR_ERR_ARGUMENT)
 *   count    in memory of the array's device, aligned to 8: becomes the number of elements or slices that the mask
 *            keeps; must not lie in array, mask or result, which is not checked
 * The result may have room for more: what lies behind the first *count is not written. If it has room for fewer, the
 * first ones that fit are written, and *count is the number that there are; the CPU then returns NDR_ERR_RESULT, while
 * on a GPU, where the number is not known before the work is done, the caller compares.
 *
 * On a GPU the work is queued on options->stream, which may be capturing, and may not have finished when the call
 * returns; *count is written by the stream, too. It needs memory there for a while: for elements 1/512 byte or so each,
 * for slices of more than 16 bytes 4 bytes more for each that the result has room for (8 where there are 2^32 slices or
 * more). At most 2^44 elements or slices are selected from, else it fails with NDR_ERR_UNSUPPORTED. On the CPU the work
 * is done when the call returns. Errors: as ndr_scan, without NDR_ERR_OP. */
NDR_API ndr_status ndr_select(const DLTensor *array, const DLTensor *mask, int dim, DLTensor *result, int64_t *count,
                              const ndr_select_options *options);

/* As ndr_select, with the elements or slices that the mask does not keep behind the others, in their order, too. The
 * result has the array's shape; with NDR_SCAN_ALL it may also have one dim of all elements. */
NDR_API ndr_status ndr_partition(const DLTensor *array, const DLTensor *mask, int dim, DLTensor *result, int64_t *count,
                                 const ndr_select_options *options);

/* The indices of all elements that are not 0 (NaN is not), in row-major order: result[k][d] is the index of the k-th
 * along dim d. result is i64 of shape [room, ndim]: an element's indices lie together, and the number of elements need
 * not be known. With strides {1, room} it has NumPy's layout, an array for each dim. count and room as in ndr_select.
 */
NDR_API ndr_status ndr_nonzero(const DLTensor *array, DLTensor *result, int64_t *count,
                               const ndr_select_options *options);

#ifdef __cplusplus
}
#endif
#endif
