/* Attributes of which the words name other variables: these are copied, and the words left that the output has. */
#ifndef NDR_H5_AUXILIARY_NAMES_H
#define NDR_H5_AUXILIARY_NAMES_H

#include "h5/attributes.h"
#include "h5/auxiliary_copy.h"

/* A name that is tied to others: "bounds" and "climatology" are one name; "grid_mapping" is, too, or else of a form
 * that is not carried; of "coordinates" and of "cell_measures", which has keys before the names, those are left that
 * are in the output, and NDR_AUX_MEASURES of other files; "formula_terms" means nothing if not all are. */
typedef enum { NDR_AUX_ONE, NDR_AUX_SOME, NDR_AUX_MEASURES, NDR_AUX_ALL } ndr_aux_naming;

static const char *const ndr_aux_mesh_parts[] = {NDR_MESH_PARTS};

enum { NDR_AUX_MESH_PARTS = sizeof ndr_aux_mesh_parts / sizeof *ndr_aux_mesh_parts };

ndr_status ndr_aux_fail_read(const ndr_h5_dataset *dataset);

ndr_status ndr_aux_put_text(const ndr_aux_context *c, const char *variable, const char *attribute, const char *text);

/* The next of the words that blanks part; false after the last. One that is cut off is no name of anything. */
bool ndr_aux_word(const char **rest, char word[256]);

/* Copies what is named; *left, to be freed, has the names of it in the output. */
ndr_status ndr_aux_copy_list(const ndr_aux_context *c, const char *names, ndr_aux_naming how, int depth, char **left);

/* Copies what is named, and puts the names of it in the output into the attribute of a variable there. */
ndr_status ndr_aux_put(const ndr_aux_context *c, const char *names, const char *attribute, ndr_aux_naming how,
                       int depth, const char *variable);

/* The same of the names that the attribute has of `from`. */
ndr_status ndr_aux_put_of(const ndr_aux_context *c, hid_t from, const char *attribute, ndr_aux_naming how, int depth,
                          const char *variable);

/* The same of the bounds and the parts of a mesh that a copy has. */
ndr_status ndr_aux_put_of_copy(const ndr_aux_context *c, hid_t from, const char *variable);

#endif
