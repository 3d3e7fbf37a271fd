/* Copies one variable to the output: one that an attribute of another variable names. */
#ifndef NDR_H5_WRITE_CF_COPY_VARIABLE_H
#define NDR_H5_WRITE_CF_COPY_VARIABLE_H

#include "h5/cf/axes.h"
#include "h5/cf/variable.h"
#include "h5/write/cf/cf_copy.h"

/* What copies are made for: the source, the output, and a variable of the output. */
typedef struct ndr_cf_copy_context ndr_cf_copy_context;
struct ndr_cf_copy_context {
  ndr_cf_copies *known;
  ndr_scales *scales;
  const ndr_h5_dataset *source;
  const bool *reduced;
  const char *variable; /* in the output, and where its dims come from */
  int ndim;
  const int *from;
  bool bounds; /* the names are of bounds: in the units of the coordinates, and converted with them */
  ndr_cf_axis axes[NDR_MAX_DIMS]; /* of the source */
  /* Copies what the attributes of a copy name, one step further. */
  ndr_status (*follow)(const ndr_cf_copy_context *c, hid_t from, const char *variable);
  bool itself; /* a variable is copied for its own sake: all of its attributes, and however large it is */
};

ndr_status ndr_cf_copy_fail_memory(const ndr_cf_copy_context *c);

/* *copied is the copy's name in the output, or NULL where no variable of that name may be copied. *absent: the input
 * has none of that name. depth 0: variables that its own attributes name are not copied. */
ndr_status ndr_cf_copy_variable(const ndr_cf_copy_context *c, const char *name, int depth, const char **copied,
                                bool *absent);

/* Copies a variable that has been opened, unless the output has it. *copied is its name there; *is_new: it was not
 * there before. */
ndr_status ndr_cf_copy_itself(const ndr_cf_copy_context *c, const ndr_cf_variable *found, const char **copied,
                              bool *is_new);

/* The name in the output of a scale that is attached to the variable; NULL where it is not there. */
const char *ndr_cf_copy_scale(const ndr_cf_copy_context *c, const char *path);

#endif
