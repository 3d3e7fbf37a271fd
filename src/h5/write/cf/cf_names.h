/* Attributes that are lists of variables' names: the variables are copied, and the attribute is written with the names
 * that the output has. */
#ifndef NDR_H5_WRITE_CF_NAMES_H
#define NDR_H5_WRITE_CF_NAMES_H

#include "h5/file/attributes.h"
#include "h5/write/cf/cf_copy_variable.h"

/* How an attribute lists names.
 *   ONE       a single name: bounds, climatology, grid_mapping. A list, which grid_mapping may be, is not copied.
 *   SOME      the names that the output has are kept: coordinates.
 *   MEASURES  the same, with keys before the names, and names that only other files have are kept: cell_measures.
 *   ALL       means nothing unless all variables are copied: formula_terms. */
typedef enum { NDR_CF_NAMES_ONE, NDR_CF_NAMES_SOME, NDR_CF_NAMES_MEASURES, NDR_CF_NAMES_ALL } ndr_cf_naming;

static const char *const ndr_cf_mesh_parts[] = {NDR_MESH_PARTS};

enum { NDR_CF_MESH_PARTS = sizeof ndr_cf_mesh_parts / sizeof *ndr_cf_mesh_parts };

ndr_status ndr_cf_names_fail_read(const ndr_h5_dataset *dataset);

ndr_status ndr_cf_names_put_text(const ndr_cf_copy_context *c, const char *variable, const char *attribute,
                                 const char *text);

/* The next word of a text; false after the last. A word that is too long for `word` is cut; no variable is called so.
 */
bool ndr_cf_names_next(const char **rest, char word[256]);

/* Copies the variables named; *left, to be freed, is the list of their names in the output, as `variable` there names
 * them. */
ndr_status ndr_cf_names_copy(const ndr_cf_copy_context *c, const char *names, ndr_cf_naming how, int depth,
                             const char *variable, char **left);

/* The same, and writes the list into an attribute of a variable of the output. */
ndr_status ndr_cf_names_put(const ndr_cf_copy_context *c, const char *names, const char *attribute, ndr_cf_naming how,
                            int depth, const char *variable);

/* The same for the names in the attribute of `from`, a dataset of the input. */
ndr_status ndr_cf_names_put_of(const ndr_cf_copy_context *c, hid_t from, const char *attribute, ndr_cf_naming how,
                               int depth, const char *variable);

/* The same for the bounds and the parts of a mesh that `from`, which has been copied, names. */
ndr_status ndr_cf_names_put_of_copy(const ndr_cf_copy_context *c, hid_t from, const char *variable);

#endif
