/* The texts of a result's attributes, by the CF conventions (cfconventions.org, sections 2.5.1, 3.1, 7.3 and 8.1).
 * Pure text: label.c writes them. */
#ifndef NDR_H5_CF_ATTRIBUTES_H
#define NDR_H5_CF_ATTRIBUTES_H

#include <stdbool.h>

#include "ndreduce/ndreduce.h"

/* The cell_methods of a result: those of the input (NULL for none), then the reduced dims by name and the method, as in
 * "time: lat: mean", and in brackets what else there is to say (NULL for nothing), its own brackets as %28 and %29.
 * Dims without a name, or with one that no CF text can hold, are left out; if none is left, nothing is added. To be
 * freed; NULL where there is no memory. */
char *ndr_cf_attributes_methods(const char *before, int count, const char *const *names, const char *method,
                                const char *comment);

/* The method of a built-in operator. */
const char *ndr_cf_attributes_method(ndr_op op);

/* Those of operators of one's own have no units, and are of no quantity that is known.
 *
 * The units of a result from the input's (NULL for none), to be freed; *result is NULL where it has none. False where
 * there is no memory. */
bool ndr_cf_attributes_units(const char *units, ndr_op op, char **result);

/* Whether a result is of another quantity, with other units, if it is weighted by weights that have units. */
bool ndr_cf_attributes_has_weights(ndr_op op);

/* The units of such a result from those without weights (NULL for none), to be freed: of a sum the product "K m2".
 * *result is NULL where they cannot be told; so it is if `weights` is "", which stands for units that are not known.
 * False where there is no memory. */
bool ndr_cf_attributes_weigh(const char *units, ndr_op op, const char *weights, char **result);

/* Whether the input's standard_name holds for the result, too: it is a quantity of the same kind. */
bool ndr_cf_attributes_is_quantity(ndr_op op);

/* Whether the result over all elements is that of the same operator over its results for parts of them: of means that
 * of parts of one size. */
bool ndr_cf_attributes_composes(ndr_op op);

/* Whether the result of packed numbers is packed in the same way: one of them, or their mean. */
bool ndr_cf_attributes_is_packed(ndr_op op);

/* Whether an operator gives a number even if all elements are missing, so that the number does not show it. */
bool ndr_cf_attributes_hides_missing(ndr_op op);

#endif
