/* Operators of one's own: a line of text says what is added up, and what becomes of it.
 *
 *   float x[2][3] = {{1, 2, 3}, {4, 5, 6}};
 *   uint64_t counts[3];
 *   int64_t shape[] = {2, 3};
 *   double limit = 2.5;
 *   ndr_op hot, above;
 *   DLTensor array = ndr_tensor(x, NDR_F32, 2, shape), result = ndr_tensor(counts, NDR_U64, 1, &shape[1]);
 *   ndr_status status = ndr_operator_create(&hot, "hot(x; t): n += x > t -> n", NULL, 0);
 *   if (status == NDR_OK) status = ndr_operator_bind(&above, hot, &limit, 1);
 *   if (status == NDR_OK) status = ndreduce(&array, NDR_DIMS(0), above, &result, NULL);
 *   if (status == NDR_OK) printf("%d %d %d\n", (int)counts[0], (int)counts[1], (int)counts[2]); // prints 1 1 2
 *   else puts(ndr_last_error());
 *
 * From then on an operator is used as a built-in one, beside others in one read, in plans, accumulators and problems.
 *
 * The text is  NAME(ARRAYS; PARAMETERS): UPDATES -> RESULT
 *   poly(x; c[4]):  s += poly(x, c) -> s
 *   rmse(x, y):     s += (x - y)**2, n += 1 -> sqrt(s / n)
 *   wet(x):         a += x > 0 ? x : 0, m max= x -> m > 0 ? a / m : 0
 *
 * ARRAYS name the elements of the call's array and of options.with, in their order, at most 1 + NDR_MAX_OPERANDS.
 * PARAMETERS are numbers, or with [COUNT] vectors of numbers, at most 64 numbers in all; "; PARAMETERS" may be missing.
 *
 * UPDATES is a comma list of STATE OP EXPRESSION, at most 8 (7 beside n), with
 *   +=  *=  min=  max=     as sum, prod, min and max fold the expression's values
 *   &=  |=                 as all and any
 * There is at least one. A state's dtype is that of the built-in operator's result. States of slabs and threads are
 * merged as the built-in operator merges its own. Over no elements, or where none counts, += gives 0, *= 1, and min=
 * and max= the largest and the smallest value of their dtype; for floats these are inf and -inf.
 *
 * RESULT is an expression over the states and parameters, n (the number of elements, unless a state has that name;
 * under `where` and skip_nan the number of those that count) and numbers. It is computed in f64 (integers in 64 bits)
 * and rounded once to its dtype.
 *
 * Names have letters, digits and _, and do not begin with a digit. Arrays, parameters and states have different names,
 * and none has that of a function, inf or nan; only a state may be called n. Numbers are written 3, 0.5, 1e-3, inf,
 * nan.
 *
 * Expressions, from loosest to tightest: a ? b : c, || , &&, comparisons (< <= > >= == !=), + -, * /, unary - and !,
 * **. Comparisons do not chain; ** groups from the right, so that -x**2 is -(x**2). Expressions nest at most 64 deep.
 * Functions: sqrt exp log sin cos floor abs isnan, min(a, b), max(a, b), real imag conj, index(d) (of the element along
 * dim d of the whole array), f64(x) (x as f64, or c128), poly(x, c) (c[0] + c[1] x + c[2] x^2 ...), and c[2] for an
 * element of a vector parameter.
 * Of complex numbers there are + - * /, == and !=, ** with a whole number from 0 to 16, abs, isnan, real, imag, conj,
 * poly, and all updates but min= and max=.
 *
 * Dtypes follow NumPy's promotion. Numbers and parameters are as Python's: beside an array they take its dtype, if its
 * kind allows it, and so do expressions of them alone, such as 1 / 3. A whole number beside integers must fit in their
 * dtype, except in comparisons. In the result, n and states that add up numbers (n += 1) count as numbers, so that
 * s / n has the dtype of s; beside integers they have 64 bits. Exceptions: bool counts as i64 in arithmetic; integers
 * give f64 under / and under functions of floats (floor leaves them as they are); f16 and bf16 are computed as f32; a
 * power of integers needs a number of 0 or more as its exponent, else both become f64. Integers
 * wrap in their dtype, as NumPy's do, and products of f32 are rounded to f32 before they are added up. f64(x) - y is
 * the difference of two i16; a variance or a correlation, which subtracts sums of products from each other, needs
 * f64(x) * y.
 *
 * Under skip_nan, places are left out where the element is NaN, or another array that an expression of the operator
 * reads.
 *
 * Kernels for a GPU are compiled when they are first used, and kept on disk for later processes: in $NDREDUCE_CACHE, or
 * else in $XDG_CACHE_HOME/ndreduce or ~/.cache/ndreduce. If NDREDUCE_CACHE is set and empty, none are kept.
 *
 * Functions may be called from any thread at any time. */
#ifndef NDREDUCE_OPERATOR_H
#define NDREDUCE_OPERATOR_H

#include "ndreduce/ndreduce.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most bytes of an operator's text. */
#define NDR_MAX_OPERATOR_TEXT 4096

/* Makes an operator from text; values are those of its parameters in the order of their names, vectors element by
 * element. value_count is their number; with NULL and 0, all are 0 until ndr_operator_bind. Fails with NDR_ERR_PARSE
 * and a sentence that names the column and the cause. The operator lasts until ndr_operator_destroy. */
NDR_API ndr_status ndr_operator_create(ndr_op *op, const char *text, const double *values, int value_count);

/* The same operator with other values of its parameters, given as to ndr_operator_create; compiles nothing. Both are
 * destroyed separately. */
NDR_API ndr_status ndr_operator_bind(ndr_op *bound, ndr_op op, const double *values, int value_count);

/* How many arrays an operator reads, the call's own included; 1 for a built-in one, 0 for a number that is no
 * operator's. */
NDR_API int ndr_operator_arrays(ndr_op op);

/* The number of the array that an operator of one's own calls `name`, 0 for the call's own; -1 if it has none. */
NDR_API int ndr_operator_array(ndr_op op, const char *name);

/* 1 if an expression of the operator reads array number `array`, rather than only naming it; else 0. Built-in ones read
 * array 0. */
NDR_API int ndr_operator_reads(ndr_op op, int array);

/* 1 if an expression of the operator adds, subtracts or compares array number `array` and the call's own, or powers of
 * them, so that both should have the same units: as in x - y, but not in x * y. Else 0, as for any other number. What
 * exp, log, poly or a parameter has made of an array does not count, as these may convert its units. */
NDR_API int ndr_operator_mixes(ndr_op op, int array);

/* How many values ndr_operator_bind takes: one for each number of each parameter. */
NDR_API int ndr_operator_parameters(ndr_op op);

/* Where the parameter `name` begins among these values; -1 if there is none of that name. *count, unless count is NULL,
 * becomes how many values it has. */
NDR_API int ndr_operator_parameter(ndr_op op, const char *name, int *count);

/* Writes the operator's text, in one form for all spellings, so that ndr_operator_create gives the same operator. At
 * most capacity bytes with the final 0; returns the length of the whole text, as snprintf does. Returns 0 for a
 * built-in operator, and for a number that is no operator's. */
NDR_API size_t ndr_operator_print(ndr_op op, char *text, size_t capacity);

/* Forgets an operator of one's own. Plans and accumulators made with it stay valid. Its number is not given to
 * another operator. */
NDR_API void ndr_operator_destroy(ndr_op op);

#ifdef __cplusplus
}
#endif
#endif
