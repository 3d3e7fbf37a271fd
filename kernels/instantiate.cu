/* Every ahead-of-time kernel of one dtype. Its entry points are ndr_<kernel>_<op>_<dtype>. It is compiled once for each
 * dtype, with -DNDR_DTYPE=f32 (the name in dtypes.def), -DNDR_ELEMENT=f32 (the storage type), -DNDR_REAL for floats and
 * complex numbers, and -DNDR_COMPLEX for complex numbers. -DNDR_ONLY_OP=sum compiles one operator, to try things out.
 */
#include "columns3.cuh"
#include "dense.cuh"
#include "few.cuh"
#include "listed.cuh"
#include "phased.cuh"
#include "runs.cuh"
#include "staged.cuh"
#include "states.cuh"
#include "thread.cuh"
#include "tile_rows.cuh"
#include "tree.cuh"
#include "vectors.cuh"

#define NDR_JOIN_(a, b, c) ndr_##a##_##b##_##c
#define NDR_JOIN(a, b, c) NDR_JOIN_(a, b, c)
#define NDR_ENTRY(kernel, op, bound, params, ...)                                                                      \
  NDR_KERNEL NDR_BOUNDS(NDR_BLOCK, bound) NDR_JOIN(kernel, op, NDR_DTYPE)(const __grid_constant__ params p) {          \
    machine::begin();                                                                                                  \
    __VA_ARGS__(p);                                                                                                    \
  }

#define NDR_OPERATOR(op) op_##op<NDR_ELEMENT, false, false>
#define NDR_REDUCTION(NAME, name, family, file, loads, light, batch, op)                                               \
  NDR_ENTRY(name, op, (residency<NDR_KERNEL_##NAME, NDR_OPERATOR(op)>::blocks(light)), ndr_params,                     \
            name<NDR_OPERATOR(op)>)
#define NDR_REDUCTIONS(op) NDR_KERNEL_ROWS(NDR_REDUCTION, op)

/* Kernels that plans do not name. A multiprocessor holds NDR_BLOCKS_OTHER blocks of them. */
enum { NDR_BLOCKS_OTHER = 4 };
#define NDR_OTHER(name, op, params, ...) NDR_ENTRY(name, op, NDR_BLOCKS_OTHER, params, __VA_ARGS__)
#define NDR_STATES(op) NDR_OTHER(states, op, ndr_states_params, states<NDR_OPERATOR(op)>)

#ifdef NDR_REAL
#define NDR_SKIPPING_STATES(op) NDR_OTHER(states_skip, op, ndr_states_params, states<op_##op<NDR_ELEMENT, false, true>>)
#define NDR_WIDE(op) NDR_OTHER(tree_wide, op, ndr_params, fold_strided<op_##op<NDR_ELEMENT, true, false>, 1>)
#define NDR_SKIP(op) NDR_OTHER(tree_skip, op, ndr_params, fold_strided<op_##op<NDR_ELEMENT, true, true>, 1>)
#else
#define NDR_SKIPPING_STATES(op)
#define NDR_WIDE(op)
#define NDR_SKIP(op)
#endif

/* States in which NaN means that nothing was seen have rules of their own. */
#define NDR_EVERY(op) NDR_STATES(op) NDR_SKIPPING_STATES(op)

/* Kernels for skip_nan and for accumulation in f64 are compiled at run time. Where that is impossible, one kernel of
 * each serves every layout. Accumulation in f64 changes only operators that round as they accumulate. */
#define NDR_EXACT(op) NDR_REDUCTIONS(op) NDR_SKIP(op)
#define NDR_ROUNDING(op) NDR_EXACT(op) NDR_WIDE(op)

#if defined NDR_NO_KERNELS
#elif defined NDR_ONLY_OP
NDR_EVERY(NDR_ONLY_OP)
NDR_ROUNDING(NDR_ONLY_OP)
#else
#define NDR_DOMAIN_ANY(op) NDR_EVERY(op)
#ifdef NDR_COMPLEX
#define NDR_DOMAIN_ORDERED(op)
#else
#define NDR_DOMAIN_ORDERED(op) NDR_EVERY(op)
#endif
#define OP(NAME, value, name, result, empty, domain, ...) NDR_DOMAIN_##domain(name)
#include "ops.def"

/* The other operators finalize the totals of these in a way of their own (see params.h). `all` under skip_nan cannot.
 */
NDR_SKIP(all)
NDR_EXACT(count)
NDR_EXACT(norminf)
NDR_ROUNDING(sum)
NDR_ROUNDING(prod)
NDR_ROUNDING(mean)
NDR_ROUNDING(var)
NDR_ROUNDING(norm1)
NDR_ROUNDING(norm2)
#ifndef NDR_COMPLEX
NDR_EXACT(min)
NDR_EXACT(max)
NDR_EXACT(ptp)
NDR_EXACT(argmin)
NDR_EXACT(argmax)
NDR_ROUNDING(logsumexp)
#endif
#endif
